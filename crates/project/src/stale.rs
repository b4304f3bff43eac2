//! Compiled files beside a source: whether they say that they belong to it.

use crate::ProjectFile;
use crate::folder::Source;
use hognose_base::{Diagnostic, DiagnosticKind, Severity};
use hognose_pyc::{Validation, read_header};

/// Bytes of a `.pyc` header (PEP 552).
const HEADER: usize = 16;

/// A note if an interpreter might run something else than the source that is analysed.
pub(crate) fn check_beside(file: &ProjectFile, source: &dyn Source) -> Option<Diagnostic> {
    file.beside.iter().find_map(|path| {
        let bytes = source.read_start(path, HEADER).ok()?;
        let reason = match read_header(&bytes).ok()?.0.validation {
            Validation::Timestamp { mtime, size } => {
                let (time, length) = source.modified(&file.source_path)?;
                // The header keeps 32 bits of each.
                let same = time & 0xFFFF_FFFF == i64::from(mtime) && length & 0xFFFF_FFFF == u64::from(size);
                (!same).then_some("is older or newer than this source")
            }
            Validation::Hash { checked: false, .. } => Some("is used by Python without a check against this source"),
            Validation::Hash { checked: true, .. } => None,
        }?;
        let message = format!("the compiled file {path} {reason}; the source is analysed");
        Some(Diagnostic {
            severity: Severity::Note,
            ..Diagnostic::error(&file.path, DiagnosticKind::Stale, message)
        })
    })
}
