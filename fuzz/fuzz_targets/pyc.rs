//! Whole `.pyc` files. Seeds: `crates/pyc/tests/fixtures/*.pyc`.

#![no_main]

mod walk;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(module) = hognose_pyc::read_pyc(data.into()) {
        walk::walk(&module);
    }
});
