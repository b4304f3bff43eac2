//! The exception table of a code object (3.11+).
//!
//! Each entry says that an exception raised in `[start, end)` cuts the stack to `depth` items, pushes the offset of the
//! raising instruction if `lasti` is set, pushes the exception, and goes on at `target`. Entries are four numbers of
//! 6-bit groups, most significant first, bit 6 set on all groups but the last; bit 7 marks the first byte of an entry.
//! See CPython's `Objects/exception_handling_notes.txt` (later `InternalDocs/exception_handling.md`).

use crate::{CodeObject, Objects};
use thiserror::Error;

/// One protected range. Offsets are in bytes of `co_code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExceptionEntry {
    /// First protected offset.
    pub start: u32,
    /// Offset behind the last protected instruction.
    pub end: u32,
    /// Offset of the handler.
    pub target: u32,
    /// Number of stack items that the handler keeps.
    pub depth: u32,
    /// Whether the offset of the raising instruction is pushed below the exception.
    pub lasti: bool,
}

/// An exception table that no compiler writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("malformed exception table at byte {position}: {problem}")]
pub struct ExceptionTableError {
    /// Position in the table.
    pub position: u32,
    /// What is wrong.
    pub problem: &'static str,
}

/// Reads the exception table of `code`; empty before 3.11.
///
/// Entries come in ascending order and do not overlap, as the interpreter's binary search needs them.
///
/// # Errors
/// If the table is cut off, or an entry lies outside the code or out of order.
pub fn exception_table(objects: &Objects, code: &CodeObject) -> Result<Vec<ExceptionEntry>, ExceptionTableError> {
    let mut reader = Reader {
        table: objects.bytes(code.exceptiontable),
        position: 0,
    };
    let mut entries: Vec<ExceptionEntry> = Vec::new();
    while reader.position < reader.table.len() {
        let position = reader.position;
        let entry = reader.entry()?;
        let fail = |problem| Err(error(position, problem));
        if entry.start >= entry.end {
            return fail("empty range");
        }
        if entry.end > code.code.len || entry.target >= code.code.len {
            return fail("offset outside the code");
        }
        if entries.last().is_some_and(|last| entry.start < last.end) {
            return fail("entries overlap or are not in order");
        }
        entries.push(entry);
    }
    Ok(entries)
}

const START: u8 = 0x80;
const CONTINUED: u8 = 0x40;

struct Reader<'a> {
    table: &'a [u8],
    position: usize,
}

impl Reader<'_> {
    fn entry(&mut self) -> Result<ExceptionEntry, ExceptionTableError> {
        let first = self.table.get(self.position).copied().unwrap_or(0);
        if first & START == 0 {
            return Err(error(self.position, "an entry lacks its start mark"));
        }
        let start = self.number(START)?;
        let size = self.number(0)?;
        let target = self.number(0)?;
        let depth_lasti = self.number(0)?;
        // Numbers have at most 28 bits (see `number`), so nothing overflows.
        Ok(ExceptionEntry {
            start: start * 2,
            end: (start + size) * 2,
            target: target * 2,
            depth: depth_lasti >> 1,
            lasti: depth_lasti & 1 != 0,
        })
    }

    /// A number whose first byte has exactly the mark `mark`.
    fn number(&mut self, mark: u8) -> Result<u32, ExceptionTableError> {
        let mut value = 0_u32;
        let mut mark = mark;
        loop {
            let Some(&byte) = self.table.get(self.position) else {
                return Err(error(self.position, "cut off"));
            };
            if byte & START != mark {
                return Err(error(self.position, "a start mark inside an entry"));
            }
            if value >> 22 != 0 {
                return Err(error(self.position, "number too large"));
            }
            value = value << 6 | u32::from(byte & 0x3f);
            self.position += 1;
            mark = 0;
            if byte & CONTINUED == 0 {
                return Ok(value);
            }
        }
    }
}

fn error(position: usize, problem: &'static str) -> ExceptionTableError {
    ExceptionTableError {
        position: u32::try_from(position).unwrap_or(u32::MAX),
        problem,
    }
}
