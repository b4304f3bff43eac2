//! Version adapters: CPython wordcode to semantic instructions.
//!
//! ```text
//! 3.12   70 LOAD_ATTR  13 (6, method bit)   ->   LoadMethod n6
//! 3.13   12 STORE_FAST_LOAD_FAST 0x21       ->   StoreLocal l2      (ordinal 0)
//!                                                LoadLocal l1       (ordinal 1)
//! ```
//! Vocabulary: an *opcode* is a number whose meaning changes with the version; a *raw operation* (`RawOp`) is an opcode by
//! its name; `generated/` maps one to the other per version, and one adapter turns raw operations into [`Op`](crate::Op)s. A fused
//! opcode becomes several instructions with one offset, counted by their *ordinal*. Inline *caches* are words behind an
//! instruction that the interpreter writes to; `EXTENDED_ARG` prefixes are folded into the operand.
//!
//! **Invariant:** nothing outside this module names an opcode, a cache size or an operand encoding.
//!
//! Up to 3.10 the interpreter keeps a *block stack* at run time, from 3.11 on there is an exception table; both become
//! [`Region`]s. Up to 3.10 cells are made by the frame, from 3.11 on by instructions; both become [`CopyFreeVars`](crate::Op::CopyFreeVars)
//! and [`MakeCell`](crate::Op::MakeCell) at the start. The same holds for the start of a generator ([`ReturnGenerator`](crate::Op::ReturnGenerator)).
//!
//! Sources: CPython `Python/ceval.c` (3.10, 3.11), `Python/bytecodes.c` (3.12+), `Lib/dis.py`,
//! `Objects/exception_handling_notes.txt`.

mod adapter;
mod blocks;
mod generated;
mod regions;
mod table;
#[cfg(test)]
mod tests;
mod wordcode;

use crate::body::{Inst, LiftProblem, Region, Slot};
use crate::names::NameTable;
use crate::op::{InstId, NameId, SlotId};
use adapter::{Adapter, Frame};
use hognose_base::IndexVec;
use hognose_pyc::{CodeIndex, CodeObject, Objects, PythonVersion};
use table::OpcodeTable;
use wordcode::Words;

/// The instructions of a code object.
#[derive(Clone, Debug, Default)]
pub struct Lifted {
    /// In offset order.
    pub insts: IndexVec<InstId, Inst>,
    /// Protected ranges; the first that contains an offset counts.
    pub regions: Vec<Region>,
    /// The frame's names.
    pub slots: IndexVec<SlotId, Slot>,
}

/// Turns a code object's wordcode into semantic instructions.
///
/// Names that operations use are added to `names`, which must serve this stream only. An opcode that the version does
/// not have becomes [`Unsupported`](crate::Op::Unsupported).
///
/// # Errors
/// If the bytecode is impossible (a jump into the middle of an instruction, an operand that indexes nothing, a truncated
/// instruction) or the version has no adapter.
pub fn lift(
    objects: &Objects,
    code: CodeIndex,
    version: PythonVersion,
    names: &mut NameTable,
) -> Result<Lifted, LiftProblem> {
    let table = table_of(version)?;
    let code = objects.code(code);
    let slots = slots_of(objects, code, names)?;
    let code_names = names_of(objects, code, names)?;
    let frame = Frame {
        consts: objects.items(code.consts),
        names: &code_names,
        slots: &slots,
        derefs: &code.deref_slots,
        suspends: code.flags & regions::SUSPENDS != 0,
    };
    let bytes = objects.bytes(code.code);
    let (mut insts, setups, starts) = translate(table, frame, bytes)?;
    resolve_jumps(&mut insts, &starts)?;
    let regions = if table.minor >= 11 {
        regions::from_table(objects, code, table, &insts, &starts)?
    } else {
        blocks::regions(&insts, &setups, &starts, version)?
    };
    Ok(Lifted { insts, regions, slots })
}

/// The versions that can be lifted.
pub const SUPPORTED: std::ops::RangeInclusive<u8> = 9..=14;

fn table_of(version: PythonVersion) -> Result<&'static OpcodeTable, LiftProblem> {
    generated::TABLES
        .iter()
        .copied()
        .find(|table| version.major == 3 && table.minor == version.minor && SUPPORTED.contains(&table.minor))
        .ok_or_else(|| problem(0, format!("no adapter for the bytecode of Python {version}")))
}

fn problem(offset: u32, message: impl Into<String>) -> LiftProblem {
    LiftProblem {
        offset,
        message: message.into(),
    }
}

fn slots_of(
    objects: &Objects,
    code: &CodeObject,
    names: &mut NameTable,
) -> Result<IndexVec<SlotId, Slot>, LiftProblem> {
    let slot = |frame: &hognose_pyc::FrameName| {
        let name = names
            .intern_object(objects, frame.name)
            .ok_or_else(|| problem(0, "a variable's name is no string"))?;
        Ok(Slot { name, kind: frame.kind })
    };
    code.frame.iter().map(slot).collect()
}

fn names_of(objects: &Objects, code: &CodeObject, names: &mut NameTable) -> Result<Vec<NameId>, LiftProblem> {
    let name = |&object| {
        names
            .intern_object(objects, object)
            .ok_or_else(|| problem(0, "an entry of co_names is no string"))
    };
    objects.items(code.names).iter().map(name).collect()
}

/// The first instruction at each word of the code; [`Starts::NONE`] inside an instruction and on cache words.
struct Starts(Vec<u32>);

impl Starts {
    const NONE: u32 = u32::MAX;

    /// The instruction that starts at this byte offset (at its first `EXTENDED_ARG`, if it has one).
    fn get(&self, offset: u32) -> Option<InstId> {
        if !offset.is_multiple_of(2) {
            return None;
        }
        self.0
            .get(offset as usize / 2)
            .filter(|&&raw| raw != Self::NONE)
            .map(|&raw| InstId::new(raw))
    }

    /// The first instruction of a handler of code at `protected`.
    fn handler(&self, offset: u32, protected: u32) -> Result<InstId, LiftProblem> {
        let missing = || {
            problem(
                protected,
                format!("exception handler at {offset}, where no instruction starts"),
            )
        };
        self.get(offset).ok_or_else(missing)
    }

    /// Byte length of the code.
    fn code_len(&self) -> u32 {
        u32::try_from(self.0.len() * 2).unwrap_or(u32::MAX)
    }

    /// Byte offset and first instruction of every raw instruction, in order.
    fn iter(&self) -> impl Iterator<Item = (u32, InstId)> {
        let present = self.0.iter().enumerate().filter(|&(_, &raw)| raw != Self::NONE);
        present.map(|(word, &raw)| (u32::try_from(word * 2).unwrap_or(u32::MAX), InstId::new(raw)))
    }
}

/// A block setup of 3.8 to 3.10: the instruction that stands for it, its handler, and what lies above the level that the
/// handler restores.
#[derive(Clone, Copy, Debug)]
struct Setup {
    inst: InstId,
    handler_offset: u32,
    above: u32,
}

type Translated = (IndexVec<InstId, Inst>, Vec<Setup>, Starts);

fn translate(table: &'static OpcodeTable, frame: Frame<'_>, bytes: &[u8]) -> Result<Translated, LiftProblem> {
    if bytes.is_empty() {
        return Err(problem(0, "there is no bytecode"));
    }
    let mut starts = Starts(vec![Starts::NONE; bytes.len().div_ceil(2)]);
    let mut adapter = Adapter::new(table, frame, bytes.len() / 2);
    for word in Words::new(table, bytes) {
        let word = word?;
        adapter.begin(word);
        starts.0[word.start as usize / 2] = adapter.next_inst().raw();
        adapter.translate(word)?;
    }
    let (insts, setups) = adapter.finish();
    let end = insts.next_id().raw();
    if let Some(last) = starts
        .0
        .iter_mut()
        .rev()
        .find(|raw| **raw != Starts::NONE)
        .filter(|raw| **raw == end)
    {
        // The last instruction was to be folded into one that does not exist.
        *last = Starts::NONE;
    }
    Ok((insts, setups, starts))
}

/// Replaces byte offsets in targets by instruction ids.
fn resolve_jumps(insts: &mut IndexVec<InstId, Inst>, starts: &Starts) -> Result<(), LiftProblem> {
    for inst in insts.iter_mut() {
        if let Some(target) = inst.op.target() {
            let offset = target.raw();
            let id = starts
                .get(offset)
                .ok_or_else(|| problem(inst.offset, format!("jump to {offset}, where no instruction starts")))?;
            inst.op.set_target(id);
        }
    }
    Ok(())
}
