//! What went wrong with an input, as data: the rest of the work goes on.

use crate::LineCol;
use std::fmt;

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something a person may want to know; nothing is missing from the result.
    Note,
    /// The result may be less exact than it could be.
    Warning,
    /// A file, or part of it, is not in the result.
    Error,
}

/// Stable machine-readable kinds of diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiagnosticKind {
    /// The file system refused (not found, permission, directory loop).
    Io,
    /// The source is not valid in its declared encoding.
    Encoding,
    /// The source is not Python.
    Syntax,
    /// The compiler gave up (nesting, size, a defect of the front end).
    Compile,
    /// The file is compiled code of a version or implementation that is not read.
    UnsupportedVersion,
    /// The compiled file is damaged.
    Malformed,
    /// A compiled file and its source do not agree, or which of two files counts had to be chosen.
    Stale,
    /// The bytecode of one code object is impossible (stack, jump, opcode).
    InvalidBytecode,
    /// A worker process did not do what it was asked for.
    Worker,
    /// Two files claim the same module name, or a name is no identifier.
    Project,
    /// A limit stopped the analysis before its end.
    Budget,
    /// A configuration value is wrong.
    Config,
    /// A library model says what is not so.
    Model,
}

impl DiagnosticKind {
    /// The kebab-case name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::Encoding => "encoding",
            Self::Syntax => "syntax",
            Self::Compile => "compile",
            Self::UnsupportedVersion => "unsupported-version",
            Self::Malformed => "malformed",
            Self::Stale => "stale",
            Self::InvalidBytecode => "invalid-bytecode",
            Self::Worker => "worker",
            Self::Project => "project",
            Self::Budget => "budget",
            Self::Config => "config",
            Self::Model => "model",
        }
    }
}

/// One thing that went wrong, with its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Diagnostic {
    /// Path of the file as it is shown to the user.
    pub path: String,
    /// Place in the source text, if there is one.
    pub at: Option<LineCol>,
    /// Byte offset in the file (compiled files) or in the bytecode, if there is one.
    pub offset: Option<u64>,
    /// How much it matters.
    pub severity: Severity,
    /// Machine-readable kind.
    pub kind: DiagnosticKind,
    /// What happened, one sentence without a full stop.
    pub message: String,
}

impl Diagnostic {
    /// An error about the whole file.
    #[must_use]
    pub fn error(path: impl Into<String>, kind: DiagnosticKind, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            at: None,
            offset: None,
            severity: Severity::Error,
            kind,
            message: message.into(),
        }
    }
    /// A warning about the whole file.
    #[must_use]
    pub fn warning(path: impl Into<String>, kind: DiagnosticKind, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(path, kind, message)
        }
    }
    /// The same, at a place in the text.
    #[must_use]
    pub fn at(self, line: u32, col: u32) -> Self {
        Self {
            at: Some(LineCol { line, col }),
            ..self
        }
    }
    /// The same, at a byte offset.
    #[must_use]
    pub fn at_offset(self, offset: u64) -> Self {
        Self {
            offset: Some(offset),
            ..self
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some(at) = self.at {
            write!(f, ":{}:{}", at.line, at.col)?;
        } else if let Some(offset) = self.offset {
            write!(f, "@{offset}")?;
        }
        let severity = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        if !self.path.is_empty() {
            f.write_str(": ")?;
        }
        write!(f, "{severity}[{}]: {}", self.kind.name(), self.message)
    }
}
