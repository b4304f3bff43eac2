//! Control flow, control dependence and data dependence by line.

use super::codes;
use super::lines::Lines;
use hognose_base::Id;
use hognose_depgraph::{BranchOutcome, Cdg, DataCoverage, Ddg, DdgNode, Dependence, Layer};
use hognose_ir::{BlockId, Def, EdgeKind as CfgEdgeKind, InstId, Op};
use hognose_pta::{CodeId, PointsTo, Program};
use hognose_testkit::{EdgeKind, ObservedBlock, ObservedEdge, ObservedFacts, Outcome, Place};
use std::collections::BTreeSet;

/// The lines of a block in order of first appearance. Instructions that do nothing count only where there is no other.
fn block_lines(program: &Program, lines: &Lines, code: CodeId, block: BlockId) -> Vec<Place> {
    let body = program.body(code);
    let mut found: [Vec<Place>; 2] = Default::default();
    for inst in body.cfg.insts(block) {
        let Some(place) = lines.place(code, inst) else { continue };
        let idle = matches!(body.insts[inst].op, Op::Nop | Op::SetupBlock | Op::PopBlock);
        let list = &mut found[usize::from(idle)];
        if !list.contains(&place) {
            list.push(place);
        }
    }
    let [busy, idle] = found;
    if busy.is_empty() { idle } else { busy }
}

pub(super) fn control_flow(program: &Program, lines: &Lines, facts: &mut ObservedFacts) {
    for code in codes(program) {
        let body = program.body(code);
        let cfg = &body.cfg;
        let first = facts.blocks.len();
        for (block, info) in cfg.blocks.iter_enumerated() {
            let mut observed = ObservedBlock {
                lines: block_lines(program, lines, code, block),
                reachable: !info.unreachable,
                edges: Vec::new(),
            };
            for (id, edge) in cfg.successors(block) {
                let exit = edge.to == cfg.normal_exit || edge.to == cfg.exceptional_exit || body.is_guard_edge(id);
                let to = u32::try_from(first + edge.to.index()).ok().filter(|_| !exit);
                observed.edges.push(ObservedEdge {
                    kind: kind(edge.kind),
                    to,
                });
            }
            if !info.unreachable {
                facts
                    .reachable
                    .extend(cfg.insts(block).filter_map(|inst| lines.place(code, inst)));
            }
            facts.blocks.push(observed);
        }
    }
}

const fn kind(kind: CfgEdgeKind) -> EdgeKind {
    match kind {
        CfgEdgeKind::Normal => EdgeKind::Normal,
        CfgEdgeKind::True => EdgeKind::True,
        CfgEdgeKind::False => EdgeKind::False,
        CfgEdgeKind::Exception { explicit: true } => EdgeKind::Explicit,
        CfgEdgeKind::Exception { explicit: false } => EdgeKind::Implicit,
        CfgEdgeKind::Resume => EdgeKind::Resume,
    }
}

pub(super) fn control_dependence(program: &Program, lines: &Lines, facts: &mut ObservedFacts) {
    for code in codes(program) {
        let body = program.body(code);
        let cdg = Cdg::of(program.codes[code].index, body, Layer::Outcome);
        for dependence in cdg.dependences() {
            let all = || block_lines(program, lines, code, dependence.branch);
            let outcome = outcome(dependence.outcome);
            // Any operation of a protected block may be the one that fails; a branch stands on one line.
            let mut branches: BTreeSet<Place> = match outcome {
                Outcome::Exception => all().into_iter().collect(),
                _ => tested(program, lines, code, dependence),
            };
            if branches.is_empty() {
                branches.extend(all().pop());
            }
            for place in block_lines(program, lines, code, dependence.block) {
                facts
                    .control
                    .extend(branches.iter().map(|&branch| (branch, outcome, place)));
            }
        }
    }
}

/// Where the operands of a branch are computed, as far as that is in the same block: a condition over several lines is
/// one decision, and which of its lines the branch itself has differs by version.
fn tested(program: &Program, lines: &Lines, code: CodeId, dependence: &Dependence) -> BTreeSet<Place> {
    let body = program.body(code);
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut stack: Vec<InstId> = Cdg::deciding_instruction(body, dependence).into_iter().collect();
    while let Some(inst) = stack.pop() {
        if body.cfg.block_of[inst] != dependence.branch || !seen.insert(inst) {
            continue;
        }
        found.extend(lines.place(code, inst));
        let reads_variable = matches!(
            body.insts[inst].op,
            Op::LoadLocal { .. } | Op::LoadDeref(_) | Op::LoadName(_) | Op::LoadGlobal(_) | Op::ForIter { .. }
        );
        if !reads_variable {
            stack.extend(
                body.ssa
                    .inputs(inst)
                    .iter()
                    .filter_map(|&input| match body.ssa.values[input] {
                        Def::Inst { inst, .. } => Some(inst),
                        _ => None,
                    }),
            );
        }
    }
    found
}

const fn outcome(outcome: BranchOutcome) -> Outcome {
    match outcome {
        BranchOutcome::Normal => Outcome::Normal,
        BranchOutcome::True => Outcome::True,
        BranchOutcome::False => Outcome::False,
        BranchOutcome::Exception => Outcome::Exception,
        BranchOutcome::Resume => Outcome::Resume,
    }
}

/// Only instructions stand on a line; parameters, phis, slots and other hubs lie between lines.
pub(super) fn data_dependence(pta: &PointsTo, lines: &Lines, facts: &mut ObservedFacts) {
    let ddg = Ddg::of(pta);
    let coverage = DataCoverage::of(pta, &pta.calls(), &ddg);
    for code in codes(pta.program()) {
        for inst in pta.program().body(code).insts.ids() {
            if let Some(place) = lines.place(code, inst) {
                let reasons = coverage.reasons(code, inst).iter();
                facts.unresolved_loads.extend(reasons.map(|kind| (place, kind)));
            }
        }
    }
    facts.data_nodes = ddg
        .nodes()
        .map(|node| match ddg.node(node) {
            DdgNode::Inst(code, inst) | DdgNode::Output(code, inst, _) => lines.place(code, inst),
            _ => None,
        })
        .collect();
    facts.data_edges = ddg.edges().map(|(from, to, _)| (from.raw(), to.raw())).collect();
}
