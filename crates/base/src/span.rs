//! Places in source text.

crate::define_id! {
    /// An input file of the analysis, in canonical order.
    pub struct FileId = "file";
}

/// A point in a source text: lines from 1, columns from 0 in UTF-8 bytes as CPython counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineCol {
    /// Line, from 1.
    pub line: u32,
    /// Column in UTF-8 bytes, from 0.
    pub col: u32,
}

/// A region of source text as a code object records it.
///
/// Up to CPython 3.10 only `line` is known; from 3.11 on all four numbers may be. A number that is not known is
/// [`Span::UNKNOWN`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First line, from 1.
    pub line: u32,
    /// Column of the first byte, from 0.
    pub col: u32,
    /// Last line.
    pub end_line: u32,
    /// Column behind the last byte.
    pub end_col: u32,
}

impl Span {
    /// Stands for a number that the code object does not record.
    pub const UNKNOWN: u32 = u32::MAX;
    /// No position at all (an artificial instruction).
    pub const NONE: Self = Self {
        line: Self::UNKNOWN,
        col: Self::UNKNOWN,
        end_line: Self::UNKNOWN,
        end_col: Self::UNKNOWN,
    };

    /// A span of which only the line is known.
    #[must_use]
    pub const fn of_line(line: u32) -> Self {
        Self {
            line,
            col: Self::UNKNOWN,
            end_line: line,
            end_col: Self::UNKNOWN,
        }
    }
    /// The line, if known.
    #[must_use]
    pub fn known_line(self) -> Option<u32> {
        (self.line != Self::UNKNOWN).then_some(self.line)
    }
    /// The column, if known.
    #[must_use]
    pub fn known_col(self) -> Option<u32> {
        (self.col != Self::UNKNOWN).then_some(self.col)
    }
}
