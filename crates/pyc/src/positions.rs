//! Position tables: which place in the source an instruction stands for.
//!
//! Three formats share one reading. In `lnotab` (3.8, 3.9; `Objects/lnotab_notes.txt`) a pair of bytes adds to the
//! offset and then to the line. In the line table of 3.10 (PEP 626) a pair gives the length of a range and the line
//! delta of that range, −128 meaning no line. In the location table (3.11+; PEP 657, `Objects/locations.md`) an entry
//! of one to twelve bytes covers one to eight code units and gives lines and columns.
//!
//! The interpreter trusts these tables, and so a damaged one is no error here: reading stops, and what is behind has no
//! position.

use crate::{CodeObject, Objects, PythonVersion};
use hognose_base::Span;

/// A range of bytecode with one place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositionRange {
    /// First offset in `co_code`.
    pub start: u32,
    /// Offset behind the range.
    pub end: u32,
    /// The place; [`Span::NONE`] if there is none.
    pub span: Span,
}

/// The ranges of `code` in ascending order, without gaps, none empty, none beyond the end of the code.
#[must_use]
pub fn positions<'a>(objects: &'a Objects, code: &CodeObject, version: PythonVersion) -> Positions<'a> {
    let format = match version.minor {
        ..=9 => Format::Lnotab,
        10 => Format::LineTable,
        _ => Format::Locations,
    };
    Positions {
        table: objects.bytes(code.linetable),
        format,
        line: i64::from(code.firstlineno),
        offset: 0,
        end: code.code.len,
    }
}

/// Iterator over the position table of a code object, see [`positions`].
#[derive(Clone, Debug)]
pub struct Positions<'a> {
    /// What is left of the table.
    table: &'a [u8],
    format: Format,
    /// The line that deltas are added to.
    line: i64,
    /// Where the next range starts.
    offset: u32,
    /// Length of the code.
    end: u32,
}

#[derive(Clone, Copy, Debug)]
enum Format {
    Lnotab,
    LineTable,
    Locations,
}

impl Iterator for Positions<'_> {
    type Item = PositionRange;

    fn next(&mut self) -> Option<PositionRange> {
        while self.offset < self.end {
            let start = self.offset;
            let (length, span) = match self.format {
                Format::Lnotab => self.lnotab(),
                Format::LineTable => self.line_table()?,
                Format::Locations => self.location()?,
            };
            self.offset = start.saturating_add(length).min(self.end);
            if self.offset > start {
                return Some(PositionRange {
                    start,
                    end: self.offset,
                    span,
                });
            }
        }
        None
    }
}

impl Positions<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.table.split_first()?;
        self.table = rest;
        Some(first)
    }

    /// The line deltas up to the next offset delta belong to this range; the last range reaches to the end.
    fn lnotab(&mut self) -> (u32, Span) {
        while let [length, delta, rest @ ..] = self.table {
            if *length > 0 {
                let (length, delta) = (*length, *delta);
                let span = Span::of_line(known(self.line));
                self.line += i64::from(delta.cast_signed());
                self.table = rest;
                return (u32::from(length), span_or_none(span));
            }
            self.line += i64::from(delta.cast_signed());
            self.table = rest;
        }
        self.table = &[];
        (self.end - self.offset, span_or_none(Span::of_line(known(self.line))))
    }

    fn line_table(&mut self) -> Option<(u32, Span)> {
        const NO_LINE: i8 = -128;
        let length = self.byte()?;
        let delta = self.byte()?.cast_signed();
        if delta == NO_LINE {
            return Some((u32::from(length), Span::NONE));
        }
        self.line += i64::from(delta);
        Some((u32::from(length), span_or_none(Span::of_line(known(self.line)))))
    }

    fn location(&mut self) -> Option<(u32, Span)> {
        const START: u8 = 0x80;
        let first = self.byte().filter(|byte| byte & START != 0)?;
        let length = (u32::from(first & 7) + 1) * 2;
        let kind = (first >> 3) & 15;
        let span = match kind {
            // Short form: same line, columns in one more byte.
            0..=9 => {
                let second = self.byte()?;
                let col = u32::from(kind) << 3 | u32::from(second >> 4);
                self.on_one_line(col, col + u32::from(second & 15))
            }
            // One line, given by its delta.
            10..=12 => {
                self.line += i64::from(kind - 10);
                let col = self.byte()?;
                let end_col = self.byte()?;
                self.on_one_line(col.into(), end_col.into())
            }
            13 => {
                self.line += self.signed()?;
                span_or_none(Span::of_line(known(self.line)))
            }
            14 => {
                self.line += self.signed()?;
                let end_line = self.line + self.unsigned()?;
                // Columns are stored plus one, nought meaning none.
                let col = known(self.unsigned()? - 1);
                let end_col = known(self.unsigned()? - 1);
                Span {
                    line: known(self.line),
                    col,
                    end_line: known(end_line),
                    end_col,
                }
            }
            _ => Span::NONE,
        };
        Some((length, span))
    }

    fn on_one_line(&self, col: u32, end_col: u32) -> Span {
        let line = known(self.line);
        Span {
            line,
            col,
            end_line: line,
            end_col,
        }
    }

    /// A number of 6-bit groups, least significant first.
    fn unsigned(&mut self) -> Option<i64> {
        let mut value = 0_i64;
        let mut shift = 0;
        loop {
            let byte = self.byte()?;
            value |= i64::from(byte & 0x3f) << shift;
            if byte & 0x40 == 0 {
                // A real number has 32 bits; the sum of all such numbers in a table fits in 64.
                return (value <= i64::from(u32::MAX)).then_some(value);
            }
            shift += 6;
            if shift > 36 {
                return None;
            }
        }
    }

    fn signed(&mut self) -> Option<i64> {
        let value = self.unsigned()?;
        Some(if value & 1 == 0 { value >> 1 } else { -(value >> 1) })
    }
}

/// A line or column, [`Span::UNKNOWN`] if it is not one.
fn known(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(Span::UNKNOWN)
}

fn span_or_none(span: Span) -> Span {
    if span.line == Span::UNKNOWN { Span::NONE } else { span }
}

/// The position table of one code object, for look-ups by offset.
#[derive(Clone, Debug, Default)]
pub struct PositionTable {
    /// Starts of ranges and their spans, ascending; a range reaches to the next start.
    ranges: Vec<(u32, Span)>,
    end: u32,
}

impl PositionTable {
    /// Reads the table of `code`.
    #[must_use]
    pub fn of(objects: &Objects, code: &CodeObject, version: PythonVersion) -> Self {
        let mut ranges: Vec<(u32, Span)> = Vec::new();
        let mut end = 0;
        for range in positions(objects, code, version) {
            end = range.end;
            if ranges.last().is_none_or(|&(_, span)| span != range.span) {
                ranges.push((range.start, range.span));
            }
        }
        Self { ranges, end }
    }
    /// The place of the instruction at `offset`; [`Span::NONE`] if the table does not say.
    #[must_use]
    pub fn span_at(&self, offset: u32) -> Span {
        if offset >= self.end {
            return Span::NONE;
        }
        match self.ranges.partition_point(|&(start, _)| start <= offset) {
            0 => Span::NONE,
            behind => self.ranges[behind - 1].1,
        }
    }
    /// Start offsets of maximal ranges with one span, ascending.
    #[must_use]
    pub fn ranges(&self) -> &[(u32, Span)] {
        &self.ranges
    }
}
