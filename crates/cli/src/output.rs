//! Where reports go.

use anyhow::Context;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes to a file, or to the standard output.
pub(crate) fn write(path: Option<&Path>, report: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    match path {
        Some(path) => {
            let context = || format!("cannot write {}", path.display());
            let mut out = BufWriter::with_capacity(1 << 16, File::create(path).with_context(context)?);
            report(&mut out).and_then(|()| out.flush()).with_context(context)
        }
        None => {
            let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
            report(&mut out).and_then(|()| out.flush())?;
            Ok(())
        }
    }
}

/// Whether whoever reads the standard output has enough, which is no error.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
