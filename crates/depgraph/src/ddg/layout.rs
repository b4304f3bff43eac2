//! The numbering of nodes.
//!
//! Each code object has one range: four hubs, its parameters, its instructions, then the values that are neither (phis,
//! caught exceptions, results that are told apart). So a node is found without a table of nodes.

use super::{DdgNode, DdgNodeId};
use hognose_base::{Id, IndexVec};
use hognose_ir::{Body, Def, InstId, Op, Ssa, ValueId};
use hognose_pta::{CodeId, Program};
use rayon::prelude::*;

pub(super) const RETURNED: u32 = 0;
pub(super) const RAISED: u32 = 1;
pub(super) const YIELDED: u32 = 2;
pub(super) const SENT: u32 = 3;
const HUBS: u32 = 4;

#[derive(Debug)]
pub(super) struct Layout {
    rows: IndexVec<CodeId, Row>,
    code_nodes: u32,
}

#[derive(Debug, Default)]
struct Row {
    start: u32,
    parameters: u32,
    insts: u32,
    specials: Vec<(ValueId, Special)>,
    end: u32,
}

#[derive(Clone, Copy, Debug)]
enum Special {
    Phi,
    Caught(hognose_ir::BlockId),
    Output(InstId, u16),
}

impl Layout {
    pub(super) fn new(program: &Program) -> Self {
        let codes: Vec<CodeId> = program.codes.ids().collect();
        let rows: Vec<Row> = codes
            .into_par_iter()
            .map(|code| {
                if program.is_model(code) {
                    return Row::default();
                }
                let body = program.body(code);
                let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
                Row {
                    parameters: count(program.codes[code].signature.parameters.len()),
                    insts: count(body.insts.len()),
                    specials: specials(body),
                    ..Row::default()
                }
            })
            .collect();
        let mut rows: IndexVec<CodeId, Row> = IndexVec::from_raw(rows);
        let mut next = 0_u32;
        for (code, row) in program.codes.ids().zip(rows.iter_mut()) {
            row.start = next;
            if !program.is_model(code) {
                next += HUBS + row.parameters + row.insts + u32::try_from(row.specials.len()).unwrap_or(0);
            }
            row.end = next;
        }
        Self { rows, code_nodes: next }
    }

    pub(super) const fn code_nodes(&self) -> u32 {
        self.code_nodes
    }
    pub(super) fn range(&self, code: CodeId) -> std::ops::Range<u32> {
        self.rows.get(code).map_or(0..0, |row| row.start..row.end)
    }
    pub(super) fn hub(&self, code: CodeId, hub: u32) -> Option<DdgNodeId> {
        let row = self.rows.get(code).filter(|row| row.end > row.start)?;
        Some(DdgNodeId::new(row.start + hub))
    }
    pub(super) fn parameter(&self, code: CodeId, index: u32) -> Option<DdgNodeId> {
        let row = self.rows.get(code).filter(|row| index < row.parameters)?;
        Some(DdgNodeId::new(row.start + HUBS + index))
    }
    pub(super) fn inst(&self, code: CodeId, inst: InstId) -> Option<DdgNodeId> {
        let row = self.rows.get(code).filter(|row| inst.raw() < row.insts)?;
        Some(DdgNodeId::new(row.start + HUBS + row.parameters + inst.raw()))
    }
    /// The node of a value that has one of its own.
    pub(super) fn special(&self, code: CodeId, value: ValueId) -> Option<DdgNodeId> {
        let row = &self.rows[code];
        let at = row.specials.binary_search_by_key(&value, |&(value, _)| value).ok()?;
        Some(DdgNodeId::new(
            row.start + HUBS + row.parameters + row.insts + u32::try_from(at).ok()?,
        ))
    }
    /// The values with nodes of their own.
    pub(super) fn special_values(&self, code: CodeId) -> impl Iterator<Item = ValueId> + '_ {
        self.rows[code].specials.iter().map(|&(value, _)| value)
    }

    pub(super) fn node(&self, node: DdgNodeId) -> DdgNode {
        let rows = self.rows.as_slice();
        // Empty rows start where the next begins, so the last row that starts here is the one with nodes.
        let at = rows.partition_point(|row| row.start <= node.raw()).saturating_sub(1);
        let (code, row) = (CodeId::from_index(at), &rows[at]);
        let mut offset = node.raw() - row.start;
        match offset {
            RETURNED => return DdgNode::Returned(code),
            RAISED => return DdgNode::Raised(code),
            YIELDED => return DdgNode::Yielded(code),
            SENT => return DdgNode::Sent(code),
            _ => offset -= HUBS,
        }
        if offset < row.parameters {
            return DdgNode::Parameter(code, offset);
        }
        offset -= row.parameters;
        if offset < row.insts {
            return DdgNode::Inst(code, InstId::new(offset));
        }
        let (value, special) = row.specials[(offset - row.insts) as usize];
        match special {
            Special::Phi => DdgNode::Phi(code, value),
            Special::Caught(block) => DdgNode::Caught(code, block),
            Special::Output(inst, output) => DdgNode::Output(code, inst, output),
        }
    }

    /// The node that a value of the body is read from; none for constants of the machine (NULL, unbound).
    pub(super) fn value(&self, program: &Program, code: CodeId, value: ValueId) -> Option<DdgNodeId> {
        let body = program.body(code);
        let mut value = value;
        // Each step goes to a value defined earlier; the bound is for bodies made by hand.
        for _ in 0..=body.ssa.values.len() {
            match body.ssa.values[value] {
                Def::Null | Def::Unbound | Def::HandlerItem { .. } => return None,
                Def::Parameter(slot) => {
                    let parameters = &program.codes[code].signature.parameters;
                    let at = parameters.iter().position(|parameter| parameter.slot == slot)?;
                    return self.parameter(code, u32::try_from(at).ok()?);
                }
                Def::Phi { .. } | Def::Caught(_) => return self.special(code, value),
                Def::Refined { of, .. } => value = of,
                Def::Inst { inst, output } => match passed_on(body, inst, output) {
                    Some(Ssa::NULL) => return None,
                    Some(operand) => value = operand,
                    None if matches!(body.insts[inst].op, Op::Yield) => return self.hub(code, SENT),
                    None if is_told_apart(body.insts[inst].op, output) => return self.special(code, value),
                    None => return self.inst(code, inst),
                },
            }
        }
        None
    }
}

/// The operand that an output is, where an instruction hands one on.
fn passed_on(body: &Body, inst: InstId, output: u16) -> Option<ValueId> {
    let inputs = body.ssa.inputs(inst);
    match (body.insts[inst].op, output) {
        // The receiver beside a method.
        (Op::LoadMethod(_) | Op::LoadSpecial(_), 1) => inputs.first().copied(),
        (Op::LoadSuperMethod { .. }, 1) => inputs.get(2).copied(),
        _ => None,
    }
}

/// Whether this result of the operation has a node of its own.
const fn is_told_apart(op: Op, output: u16) -> bool {
    match op {
        Op::UnpackSequence(_) | Op::UnpackStar { .. } => true,
        // What the delegate yields, beside what it returns.
        Op::Send { .. } => output == 1,
        _ => false,
    }
}

fn specials(body: &Body) -> Vec<(ValueId, Special)> {
    body.ssa
        .values
        .iter_enumerated()
        .filter_map(|(value, def)| {
            let special = match *def {
                Def::Phi { .. } => Special::Phi,
                Def::Caught(block) => Special::Caught(block),
                Def::Inst { inst, output } if is_told_apart(body.insts[inst].op, output) => {
                    Special::Output(inst, output)
                }
                _ => return None,
            };
            Some((value, special))
        })
        .collect()
}
