//! Exception regions from the exception table of 3.11 and later.

use super::table::OpcodeTable;
use super::{Starts, problem};
use crate::body::{Inst, LiftProblem, Region};
use crate::op::{InstId, Intrinsic, Op};
use hognose_base::IndexVec;
use hognose_pyc::{CodeObject, Objects, exception_table, flags};

/// Code objects whose body runs in a frame that suspends.
pub(super) const SUSPENDS: u32 =
    flags::GENERATOR | flags::COROUTINE | flags::ASYNC_GENERATOR | flags::ITERABLE_COROUTINE;

/// What the handler around a generator body starts with (3.12+).
const GUARD: Op = Op::Intrinsic(Intrinsic::StopIterationError);

/// Entries of the table do not overlap, so the first that contains an offset is the only one.
pub(super) fn from_table(
    objects: &Objects,
    code: &CodeObject,
    table: &OpcodeTable,
    insts: &IndexVec<InstId, Inst>,
    starts: &Starts,
) -> Result<Vec<Region>, LiftProblem> {
    let entries = exception_table(objects, code).map_err(|error| problem(0, error.to_string()))?;
    let may_be_guarded = table.minor >= 12 && code.flags & SUSPENDS != 0;
    let mut regions = Vec::with_capacity(entries.len());
    for entry in entries {
        let handler = starts.handler(entry.target, entry.start)?;
        regions.push(Region {
            start: entry.start,
            end: entry.end,
            handler,
            handler_offset: entry.target,
            depth: entry.depth,
            pushed: 1 + u32::from(entry.lasti),
            lasti: entry.lasti,
            generator_guard: may_be_guarded && insts.get(handler).is_some_and(|inst| inst.op == GUARD),
        });
    }
    Ok(regions)
}
