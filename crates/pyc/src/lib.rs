//! Reads compiled Python: `.pyc` header, marshal, line and exception tables.
//!
//! Vocabulary: a *magic number* names the bytecode version of a file; *marshal* is the serialisation of the code
//! objects behind the header; a *code object* is the compiled body of one module, class, function, lambda or
//! comprehension; its *position table* maps bytecode offsets to places in the source; its *exception table* (3.11+)
//! maps ranges of offsets to handlers.
//!
//! ```
//! # fn show(data: Box<[u8]>) -> Result<(), hognose_pyc::ReadError> {
//! let module = hognose_pyc::read_pyc(data)?;
//! for (index, code) in module.objects.codes().iter_enumerated() {
//!     let table = hognose_pyc::PositionTable::of(&module.objects, code, module.version);
//!     let _ = (index, table.span_at(0));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Nothing here panics, recurses on its input or allocates more than a fixed multiple of the input's size.

mod display;
mod error;
mod exception_table;
mod header;
mod magic;
mod marshal;
mod object;
mod positions;
mod qualname;

pub use display::{display_constant, display_text};
pub use error::{ReadError, ReadErrorKind};
pub use exception_table::{ExceptionEntry, ExceptionTableError, exception_table};
pub use header::{read_header, sniff_magic};
pub use magic::{Family, MagicInfo, identify_magic, known_magics};
pub use object::{
    Bytes, CodeIndex, CodeObject, CompiledModule, FrameName, Items, LocalKind, Object, ObjectId, Objects, flags,
};
pub use positions::{PositionRange, PositionTable, Positions, positions};
pub use qualname::qualnames;

/// Reads a `.pyc` file: header and code object.
///
/// As in CPython, bytes behind the code object are ignored.
///
/// # Errors
/// If the file was written by a version that is not read, or is damaged.
pub fn read_pyc(data: Box<[u8]>) -> Result<CompiledModule, ReadError> {
    let (header, version) = read_header(&data)?;
    let objects = marshal::read(data, header::HEADER_LEN, version)?;
    Ok(CompiledModule {
        version,
        header: Some(header),
        objects,
    })
}

/// Reads a bare marshalled code object, as `marshal.dumps` of that version makes it.
///
/// # Errors
/// If the version is not read, or the data is not a code object in that version's layout.
pub fn read_marshal(data: Box<[u8]>, version: PythonVersion) -> Result<CompiledModule, ReadError> {
    if !version.is_supported() {
        return Err(ReadError::new(0, ReadErrorKind::UnsupportedVersion(version)));
    }
    if data.is_empty() {
        return Err(ReadError::new(0, ReadErrorKind::Empty));
    }
    let objects = marshal::read(data, 0, version)?;
    Ok(CompiledModule {
        version,
        header: None,
        objects,
    })
}

/// A CPython feature version, such as 3.12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PythonVersion {
    /// 3
    pub major: u8,
    /// 8 to 15
    pub minor: u8,
}

impl PythonVersion {
    /// CPython 3.`minor`.
    #[must_use]
    pub const fn new(minor: u8) -> Self {
        Self { major: 3, minor }
    }
    /// Whether the code layout of the version is known.
    #[must_use]
    pub const fn is_supported(self) -> bool {
        self.major == 3 && self.minor >= 8 && self.minor <= 15
    }
    /// Whether the version is 3.`minor` or newer.
    #[must_use]
    pub const fn at_least(self, minor: u8) -> bool {
        self.major > 3 || self.major == 3 && self.minor >= minor
    }
}

impl std::fmt::Display for PythonVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The header of a `.pyc` file (PEP 552).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PycHeader {
    /// The magic number (first two bytes).
    pub magic: u16,
    /// How the file says it may be checked against its source.
    pub validation: Validation,
}

/// How a `.pyc` says it may be checked against its source (PEP 552).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validation {
    /// By the source's modification time and size (both modulo 2^32).
    Timestamp {
        /// Seconds since the epoch.
        mtime: u32,
        /// Bytes.
        size: u32,
    },
    /// By the SipHash of the source.
    Hash {
        /// The hash.
        hash: u64,
        /// Whether the interpreter checks it on import.
        checked: bool,
    },
}
