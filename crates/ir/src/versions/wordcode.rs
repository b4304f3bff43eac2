//! Wordcode: two bytes an instruction, `EXTENDED_ARG` prefixes, inline caches.

use super::generated::RawOp;
use super::problem;
use super::table::{JumpKind, OpcodeTable};
use crate::body::LiftProblem;

/// A decoded instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    /// The opcode by name.
    pub op: RawOp,
    /// The opcode's number.
    pub code: u8,
    /// The operand with its prefixes folded in; 0 if the opcode has none.
    pub arg: u32,
    /// How the operand is a jump.
    pub jump: JumpKind,
    /// Byte offset of the first prefix.
    pub start: u32,
    /// Byte offset of the opcode.
    pub offset: u32,
    /// Byte offset behind the caches: what relative jumps count from.
    pub end: u32,
}

/// Decodes one instruction after the other.
pub(super) struct Words<'a> {
    table: &'static OpcodeTable,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    pub(super) const fn new(table: &'static OpcodeTable, bytes: &'a [u8]) -> Self {
        Self { table, bytes, at: 0 }
    }

    fn decode(&mut self) -> Result<Word, LiftProblem> {
        let start = offset(self.at)?;
        let mut prefix = 0_u32;
        loop {
            let here = offset(self.at)?;
            let &[code, byte] = self.bytes.get(self.at..self.at + 2).ok_or_else(|| truncated(here))? else {
                return Err(truncated(here));
            };
            self.at += 2;
            let arg = prefix << 8 | u32::from(byte);
            if code == self.table.extended_arg {
                if arg > 0x00FF_FFFF {
                    return Err(problem(here, "an operand of more than 32 bits"));
                }
                prefix = arg;
                continue;
            }
            let row = self.table.opcodes[usize::from(code)];
            self.at += 2 * usize::from(row.caches);
            if self.at > self.bytes.len() {
                return Err(truncated(here));
            }
            let arg = if code < self.table.have_argument { 0 } else { arg };
            return Ok(Word {
                op: row.op,
                code,
                arg,
                jump: row.jump,
                start,
                offset: here,
                end: offset(self.at)?,
            });
        }
    }
}

impl Iterator for Words<'_> {
    type Item = Result<Word, LiftProblem>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let word = self.decode();
        if word.is_err() {
            self.at = self.bytes.len();
        }
        Some(word)
    }
}

fn truncated(offset: u32) -> LiftProblem {
    problem(offset, "the last instruction is truncated")
}

fn offset(at: usize) -> Result<u32, LiftProblem> {
    // One bit is kept free, so that sums of offsets do not overflow.
    u32::try_from(at)
        .ok()
        .filter(|&at| at <= u32::MAX / 2)
        .ok_or_else(|| problem(u32::MAX, "too much bytecode"))
}
