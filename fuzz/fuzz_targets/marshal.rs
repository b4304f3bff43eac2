//! Bare marshalled code objects; the first byte selects the version.

#![no_main]

mod walk;

use hognose_pyc::{PythonVersion, read_marshal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&selector, data)) = data.split_first() else {
        return;
    };
    if let Ok(module) = read_marshal(data.into(), PythonVersion::new(8 + selector % 8)) {
        walk::walk(&module);
    }
});
