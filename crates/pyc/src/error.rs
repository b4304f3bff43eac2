//! Why compiled code could not be read.

use crate::{MagicInfo, PythonVersion};
use hognose_base::{Diagnostic, DiagnosticKind};
use thiserror::Error;

/// A file that could not be read, with the place where reading stopped.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{kind}")]
pub struct ReadError {
    /// Offset of the first byte of what could not be read.
    pub offset: u64,
    /// What was wrong.
    pub kind: ReadErrorKind,
}

/// What was wrong with compiled code.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReadErrorKind {
    /// There are no bytes.
    #[error("the file is empty")]
    Empty,
    /// More bytes were announced than there are.
    #[error("the data ends too early: {needed} more bytes expected, {available} left")]
    Truncated {
        /// Bytes that were to be read.
        needed: u64,
        /// Bytes that there are.
        available: u64,
    },
    /// The file does not begin like any `.pyc`.
    #[error("not a compiled Python file (no magic number)")]
    NotPyc,
    /// A `.pyc` of a version or implementation that is not read.
    #[error("cannot read this compiled file: {0}")]
    UnsupportedMagic(MagicInfo),
    /// A version outside the supported range was asked for.
    #[error("the code layout of Python {0} is not known (3.8 to 3.15 are)")]
    UnsupportedVersion(PythonVersion),
    /// Bits of the PEP 552 flags that no version defines.
    #[error("invalid flags {0:#x} in the header")]
    InvalidFlags(u32),
    /// Offsets do not fit in 32 bits.
    #[error("the data is too large ({0} bytes)")]
    TooLarge(u64),
    /// Objects are nested deeper than CPython reads them.
    #[error("objects are nested too deeply")]
    TooDeep,
    /// References make the data stand for far more than it holds.
    #[error("shared objects are referred to too often for the size of the data")]
    TooMuchSharing,
    /// A type byte the version does not define.
    #[error("unknown object type {}", show_type(*.0))]
    UnknownType(u8),
    /// A back reference to an object that does not exist or is not complete.
    #[error("invalid reference to object {0}")]
    InvalidReference(u32),
    /// The end-of-dictionary mark stands where an object should.
    #[error("an object is missing")]
    MissingObject,
    /// The outermost object is not a code object.
    #[error("the root object is {found}, not a code object")]
    RootIsNotCode {
        /// What it is.
        found: &'static str,
    },
    /// A field of a code object has the wrong type.
    #[error("field {field} of a code object must be {expected}, found {found}")]
    FieldType {
        /// Name of the field, as CPython calls it.
        field: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// Fields of a code object contradict each other.
    #[error("inconsistent code object: {0}")]
    InconsistentCode(&'static str),
    /// A value whose bytes are not in the form CPython writes.
    #[error("malformed {0}")]
    MalformedValue(&'static str),
}

impl ReadError {
    pub(crate) fn new(offset: usize, kind: ReadErrorKind) -> Self {
        Self {
            offset: offset as u64,
            kind,
        }
    }

    /// The diagnostic for the file at `path`.
    #[must_use]
    pub fn diagnostic(&self, path: impl Into<String>) -> Diagnostic {
        let kind = match self.kind {
            ReadErrorKind::UnsupportedMagic(_) | ReadErrorKind::UnsupportedVersion(_) => {
                DiagnosticKind::UnsupportedVersion
            }
            _ => DiagnosticKind::Malformed,
        };
        Diagnostic::error(path, kind, self.to_string()).at_offset(self.offset)
    }
}

fn show_type(byte: u8) -> String {
    if byte.is_ascii_graphic() {
        format!("{:?}", byte as char)
    } else {
        format!("{byte:#04x}")
    }
}
