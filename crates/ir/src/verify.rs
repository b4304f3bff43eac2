//! Checks that a lifted body holds together.
//!
//! The verifier trusts none of the passes: it recomputes stack depths from [`Op::stack_effect`], which the lifter does not
//! use, dominators from the final graph, and regions from offsets. A body that it accepts can be analysed without further
//! checks.

use crate::body::{BlockId, Body, Def, EdgeId, EdgeKind, PhiOf, Ssa, ValueId};
use crate::op::{InstId, Op, Raises, Test};
use hognose_base::{Id, IndexVec};
use hognose_graph::{Csr, Dominators};
use hognose_pyc::{CodeObject, PythonVersion};
use smallvec::SmallVec;
use std::fmt;

/// Something that cannot be, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Byte offset in `co_code`, if it is at an instruction.
    pub offset: Option<u32>,
    /// What was found.
    pub kind: ViolationKind,
}

/// What the verifier finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViolationKind {
    /// The body could not be lifted.
    Problem(String),
    /// An opcode that the adapter does not know.
    Unsupported(u8),
    /// Blocks do not partition the instructions, or instructions and blocks disagree.
    Partition(BlockId),
    /// A terminator inside a block.
    TerminatorInside(BlockId),
    /// The edge table, its index and the blocks disagree, or edges are out of order.
    EdgeTable(EdgeId),
    /// An edge that the last instruction (or a raising one) does not justify, or one that is missing.
    Edge(BlockId),
    /// A jump to no instruction.
    Jump(u32),
    /// The depth of the stack is below zero.
    NegativeDepth,
    /// The depth exceeds `co_stacksize`.
    TooDeep {
        /// The depth.
        depth: u32,
        /// `co_stacksize`
        limit: u32,
    },
    /// Paths with two depths meet.
    DepthMismatch(BlockId),
    /// A handler restores more than there is.
    HandlerDepth(BlockId),
    /// A phi has not as many arguments as its block has incoming edges.
    PhiArity(ValueId),
    /// A value is used where its definition may not have happened.
    NotDominated {
        /// The value.
        value: ValueId,
        /// The block of the use.
        at: BlockId,
    },
    /// A value or table of the SSA form points nowhere.
    Dangling(ValueId),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(offset) = self.offset {
            write!(f, "at {offset}: ")?;
        }
        write!(f, "{:?}", self.kind)
    }
}

/// Everything that is wrong with a body, in a fixed order; empty for a sound one.
#[must_use]
pub fn verify(body: &Body, code: &CodeObject, version: PythonVersion) -> Vec<Violation> {
    let mut verifier = Verifier {
        body,
        code,
        version,
        found: Vec::new(),
    };
    if let Some(problem) = &body.problem {
        verifier.report(Some(problem.offset), ViolationKind::Problem(problem.message.clone()));
        return verifier.found;
    }
    verifier.partition();
    verifier.edge_table();
    if !verifier.found.is_empty() {
        // The other checks walk these tables.
        return verifier.found;
    }
    verifier.edges();
    verifier.depths();
    verifier.ssa();
    verifier.found
}

/// Whether the jump of a branch is its true edge.
const fn jumps_when_true(op: Op) -> bool {
    matches!(
        op,
        Op::Branch {
            test: Test::Truth(true) | Test::IsNone(true),
            ..
        }
    )
}

struct Verifier<'a> {
    body: &'a Body,
    code: &'a CodeObject,
    version: PythonVersion,
    found: Vec<Violation>,
}

impl Verifier<'_> {
    fn report(&mut self, offset: Option<u32>, kind: ViolationKind) {
        self.found.push(Violation { offset, kind });
    }

    fn offset(&self, inst: InstId) -> Option<u32> {
        self.body.insts.get(inst).map(|inst| inst.offset)
    }

    fn partition(&mut self) {
        let cfg = &self.body.cfg;
        let mut at = 0;
        for (block, range) in cfg.blocks.iter_enumerated() {
            let (start, end) = (range.start.index(), range.end.index());
            let is_exit = block == cfg.normal_exit || block == cfg.exceptional_exit;
            let shape = if is_exit {
                start == end
            } else {
                start < end || block.raw() == 0
            };
            if start != at || end < start || end > self.body.insts.len() || !shape {
                self.report(None, ViolationKind::Partition(block));
                return;
            }
            if (start..end).any(|inst| cfg.block_of.get(InstId::from_index(inst)) != Some(&block)) {
                self.report(None, ViolationKind::Partition(block));
            }
            at = end;
        }
        let exits_last = cfg.exceptional_exit.index() + 1 == cfg.blocks.len()
            && cfg.normal_exit.index() + 1 == cfg.exceptional_exit.index();
        if at != self.body.insts.len() || !exits_last || cfg.block_of.len() != at {
            self.report(None, ViolationKind::Partition(cfg.exceptional_exit));
        }
    }

    fn edge_table(&mut self) {
        let cfg = &self.body.cfg;
        let mut seen = vec![0_u32; cfg.edges.len()];
        for block in cfg.blocks.ids() {
            let out: SmallVec<[EdgeId; 8]> = cfg.successors(block).map(|(id, _)| id).collect();
            for &id in &out {
                seen[id.index()] += 1;
                if cfg.edges[id].from != block || cfg.blocks.get(cfg.edges[id].to).is_none() {
                    self.report(None, ViolationKind::EdgeTable(id));
                }
            }
            if let Some(pair) = out
                .windows(2)
                .find(|pair| cfg.edges[pair[0]].kind > cfg.edges[pair[1]].kind)
            {
                self.report(None, ViolationKind::EdgeTable(pair[1]));
            }
            for &id in cfg.predecessors(block) {
                seen[id.index()] += 1;
                if cfg.edges[id].to != block {
                    self.report(None, ViolationKind::EdgeTable(id));
                }
            }
        }
        if let Some(wrong) = seen.iter().position(|&count| count != 2) {
            self.report(None, ViolationKind::EdgeTable(EdgeId::from_index(wrong)));
        }
    }

    /// Every block has exactly the edges that its instructions call for.
    fn edges(&mut self) {
        let cfg = &self.body.cfg;
        let mut reachable = vec![false; cfg.blocks.len()];
        let mut work = vec![BlockId::new(0)];
        while let Some(block) = work.pop() {
            if !std::mem::replace(&mut reachable[block.index()], true) {
                work.extend(cfg.successors(block).map(|(_, edge)| edge.to));
            }
        }
        for block in cfg.blocks.ids() {
            if cfg.blocks[block].unreachable == reachable[block.index()] {
                self.report(None, ViolationKind::Edge(block));
            }
            let Some(last) = cfg.insts(block).next_back() else {
                continue;
            };
            if cfg
                .insts(block)
                .any(|inst| inst != last && self.body.insts[inst].op.is_terminator())
            {
                self.report(self.offset(last), ViolationKind::TerminatorInside(block));
            }
            self.normal_edges(block, last);
            self.exception_edges(block);
        }
    }

    fn normal_edges(&mut self, block: BlockId, last: InstId) {
        let cfg = &self.body.cfg;
        let op = self.body.insts[last].op;
        let next = BlockId::new(block.raw() + 1);
        let jump = op.target().map(|target| cfg.block_of.get(target).copied());
        if jump == Some(None)
            || jump
                .flatten()
                .is_some_and(|to| Some(cfg.blocks[to].start) != op.target())
        {
            self.report(
                self.offset(last),
                ViolationKind::Jump(op.target().map_or(0, InstId::raw)),
            );
            return;
        }
        let jump = jump.flatten();
        let falls = op.falls_through() && next != cfg.normal_exit;
        let next = falls.then_some(next);
        let mut expected: SmallVec<[(BlockId, EdgeKind); 2]> = SmallVec::new();
        match (op, jump) {
            (Op::Return, _) => expected.push((cfg.normal_exit, EdgeKind::Normal)),
            (Op::Yield | Op::YieldFrom, _) => expected.extend(next.map(|next| (next, EdgeKind::Resume))),
            (Op::Jump { .. }, Some(to)) => expected.push((to, EdgeKind::Normal)),
            (_, Some(to)) => {
                let (jump, fall) = if jumps_when_true(op) {
                    (EdgeKind::True, EdgeKind::False)
                } else {
                    (EdgeKind::False, EdgeKind::True)
                };
                expected.push((to, jump));
                expected.extend(next.map(|next| (next, fall)));
                expected.sort_by_key(|edge| edge.1);
            }
            (_, None) => expected.extend(next.map(|next| (next, EdgeKind::Normal))),
        }
        let is_exception = |kind| matches!(kind, EdgeKind::Exception { .. });
        let found: SmallVec<[(BlockId, EdgeKind); 2]> = cfg
            .successors(block)
            .filter(|(_, edge)| !is_exception(edge.kind))
            .map(|(_, e)| (e.to, e.kind))
            .collect();
        if found != expected {
            self.report(self.offset(last), ViolationKind::Edge(block));
        }
    }

    fn exception_edges(&mut self, block: BlockId) {
        let cfg = &self.body.cfg;
        let edges: SmallVec<[_; 4]> = cfg
            .successors(block)
            .filter(|(_, edge)| matches!(edge.kind, EdgeKind::Exception { .. }))
            .collect();
        let mut wrong = false;
        for (number, (_, edge)) in edges.iter().enumerate() {
            wrong |= edges[..number]
                .iter()
                .any(|(_, other)| (other.to, other.kind) == (edge.to, edge.kind));
            let Some(inst) = edge.inst else {
                wrong = true;
                continue;
            };
            let explicit = self.body.insts[inst].op.raises() == Raises::Always;
            wrong |= cfg.block_of[inst] != block
                || self.body.insts[inst].op.raises() == Raises::Never
                    && !matches!(self.body.insts[inst].op, Op::Yield | Op::YieldFrom)
                || edge.kind != EdgeKind::Exception { explicit }
                || edge.to != self.catches(inst);
        }
        // What always raises has its edge.
        for inst in cfg.insts(block) {
            if self.body.insts[inst].op.raises() == Raises::Always {
                let to = self.catches(inst);
                wrong |= !edges.iter().any(|(_, edge)| edge.to == to && edge.inst == Some(inst));
            }
        }
        if wrong {
            self.report(self.offset(cfg.blocks[block].start), ViolationKind::Edge(block));
        }
    }

    /// Where an exception of an instruction goes.
    fn catches(&self, inst: InstId) -> BlockId {
        let offset = self.body.insts[inst].offset;
        let region = self
            .body
            .regions
            .iter()
            .find(|region| region.start <= offset && offset < region.end);
        region.map_or(self.body.cfg.exceptional_exit, |region| {
            self.body.cfg.block_of[region.handler]
        })
    }

    fn depths(&mut self) {
        let cfg = &self.body.cfg;
        let mut depth: IndexVec<BlockId, Option<u32>> = IndexVec::from_elem(None, cfg.blocks.len());
        depth[BlockId::new(0)] = Some(0);
        let mut work = vec![BlockId::new(0)];
        while let Some(block) = work.pop() {
            let Some(entry) = depth[block] else { continue };
            let Some(at_end) = self.block_depth(block, entry) else {
                continue;
            };
            for (_, edge) in cfg.successors(block) {
                if edge.to == cfg.normal_exit || edge.to == cfg.exceptional_exit {
                    continue;
                }
                let arriving = if let EdgeKind::Exception { .. } = edge.kind {
                    let Some(region) = self.body.handler_region(edge.to) else {
                        continue;
                    };
                    region.depth + region.pushed
                } else {
                    self.edge_depth(block, edge.to, edge.kind, at_end)
                };
                match depth[edge.to] {
                    None => {
                        depth[edge.to] = Some(arriving);
                        work.push(edge.to);
                    }
                    Some(known) if known != arriving => {
                        self.report(
                            self.offset(cfg.blocks[edge.to].start),
                            ViolationKind::DepthMismatch(edge.to),
                        );
                    }
                    Some(_) => {}
                }
            }
        }
    }

    /// Depth before the last instruction of a block.
    fn block_depth(&mut self, block: BlockId, entry: u32) -> Option<u32> {
        let mut depth = entry;
        let last = self.body.cfg.insts(block).next_back();
        let mut edges = self.body.cfg.successors(block);
        let is_watched = edges.any(|(_, edge)| matches!(edge.kind, EdgeKind::Exception { .. }));
        for inst in self.body.cfg.insts(block) {
            let op = self.body.insts[inst].op;
            if let Op::Unsupported(opcode) = op {
                self.report(self.offset(inst), ViolationKind::Unsupported(opcode));
            }
            if is_watched {
                self.check_handlers(block, inst, depth);
            }
            let effect = op.stack_effect(self.version, false);
            let reach = op.reach(self.version).max(effect.pops);
            if reach > depth {
                self.report(self.offset(inst), ViolationKind::NegativeDepth);
                return None;
            }
            let after = depth - effect.pops + effect.pushes;
            // Parts of a fused opcode may go deeper than the opcode.
            let offset = self.offset(inst);
            let is_whole = self.offset(InstId::new(inst.raw() + 1)) != offset;
            if is_whole && after > self.code.stacksize {
                let limit = self.code.stacksize;
                self.report(self.offset(inst), ViolationKind::TooDeep { depth: after, limit });
            }
            if Some(inst) == last {
                return Some(depth);
            }
            depth = after;
        }
        Some(depth)
    }

    /// Checks the handlers whose edges leave at `inst`, before which the stack has this depth.
    fn check_handlers(&mut self, block: BlockId, inst: InstId, depth: u32) {
        for (_, edge) in self
            .body
            .cfg
            .successors(block)
            .filter(|(_, edge)| edge.inst == Some(inst))
        {
            if let (EdgeKind::Exception { .. }, Some(region)) = (edge.kind, self.body.handler_region(edge.to))
                && region.depth > depth
            {
                self.report(self.offset(inst), ViolationKind::HandlerDepth(edge.to));
            }
        }
    }

    fn edge_depth(&self, block: BlockId, to: BlockId, kind: EdgeKind, depth: u32) -> u32 {
        let Some(last) = self.body.cfg.insts(block).next_back() else {
            return depth;
        };
        let op = self.body.insts[last].op;
        let jumps_when = jumps_when_true(op);
        let jumping = match kind {
            EdgeKind::True => jumps_when,
            EdgeKind::False => !jumps_when,
            _ => op.target().is_some_and(|target| self.body.cfg.block_of[target] == to),
        };
        let effect = op.stack_effect(self.version, jumping);
        depth - effect.pops + effect.pushes
    }

    fn ssa(&mut self) {
        let cfg = &self.body.cfg;
        let edges = cfg.edges.iter().map(|edge| (edge.from, edge.to));
        let graph = Csr::from_edges(cfg.blocks.len(), edges);
        let dominators = Dominators::new(&graph, &graph.reversed(), BlockId::new(0));
        if !self.ssa_tables() {
            return;
        }
        let ssa = &self.body.ssa;
        for block in cfg.blocks.ids() {
            if cfg.blocks[block].unreachable {
                let empty = cfg
                    .insts(block)
                    .all(|inst| ssa.inputs(inst).is_empty() && ssa.output(inst).is_none());
                if !empty || !ssa.phis(block).is_empty() {
                    self.report(None, ViolationKind::Partition(block));
                }
                continue;
            }
            for inst in cfg.insts(block) {
                for &value in ssa.inputs(inst) {
                    self.check_use(&dominators, value, block, Some(inst));
                }
            }
            for &phi in ssa.phis(block) {
                self.check_phi(&dominators, phi, block);
            }
        }
        for (_, &def) in ssa.values.iter_enumerated() {
            if let Def::Refined { of, edge } = def {
                self.check_use(&dominators, of, cfg.edges[edge].from, None);
            }
        }
        if !cfg.blocks[cfg.normal_exit].unreachable {
            for &value in &ssa.at_normal_exit {
                self.check_use(&dominators, value, cfg.normal_exit, None);
            }
        }
    }

    /// Whether every number in the tables is in range.
    fn ssa_tables(&mut self) -> bool {
        let Body { cfg, ssa, insts, .. } = self.body;
        let mut dangling = None;
        let mut check = |value: ValueId| {
            if value.index() >= ssa.values.len() {
                dangling = dangling.or(Some(value));
            }
        };
        ssa.inputs
            .iter()
            .chain(&ssa.phi_args)
            .chain(&ssa.phis)
            .copied()
            .for_each(&mut check);
        ssa.at_normal_exit.iter().copied().for_each(&mut check);
        let lengths = ssa.input_starts.len() == insts.len() + 1
            && ssa.first_output.len() == insts.len()
            && ssa.output_count.len() == insts.len()
            && ssa.phi_starts.len() == cfg.blocks.len() + 1
            && ssa.at_normal_exit.len() == ssa.vars.len()
            && ssa.values.as_slice().starts_with(&[Def::Null, Def::Unbound]);
        if !lengths {
            dangling = dangling.or(Some(Ssa::NULL));
        }
        if let (true, None) = (lengths, dangling) {
            for inst in insts.ids() {
                for (number, value) in ssa.outputs(inst).enumerate() {
                    let expected = Def::Inst {
                        inst,
                        output: u16::try_from(number).unwrap_or(u16::MAX),
                    };
                    if ssa.values.get(value) != Some(&expected) {
                        dangling = dangling.or(Some(value));
                    }
                }
            }
        }
        if let Some(value) = dangling {
            self.report(None, ViolationKind::Dangling(value));
        }
        dangling.is_none()
    }

    fn check_phi(&mut self, dominators: &Dominators<BlockId>, phi: ValueId, at: BlockId) {
        let Body { cfg, ssa, .. } = self.body;
        let Def::Phi { block, what, args } = ssa.values[phi] else {
            self.report(None, ViolationKind::Dangling(phi));
            return;
        };
        let count = cfg.predecessors(block).len();
        let known = match what {
            PhiOf::Var(var) => ssa.vars.get(var).is_some(),
            PhiOf::Stack(slot) => slot < self.code.stacksize,
        };
        let Some(args) = ssa.phi_args.get(args as usize..args as usize + count) else {
            self.report(None, ViolationKind::PhiArity(phi));
            return;
        };
        if block != at || count < 2 || !known {
            self.report(None, ViolationKind::PhiArity(phi));
        }
        for (&id, &arg) in cfg.predecessors(block).iter().zip(args) {
            let edge = cfg.edges[id];
            if cfg.blocks[edge.from].unreachable {
                if arg != Ssa::UNBOUND {
                    self.report(None, ViolationKind::PhiArity(phi));
                }
                continue;
            }
            if matches!(ssa.values[arg], Def::Refined { edge: refined, .. } if refined == id) {
                continue;
            }
            // At an exception edge the raising instruction has not happened.
            let before = edge.inst.filter(|_| matches!(edge.kind, EdgeKind::Exception { .. }));
            self.check_use(dominators, arg, edge.from, before);
        }
    }

    /// Whether `value` is defined wherever `before` (or the end of block `at`) is reached.
    fn check_use(&mut self, dominators: &Dominators<BlockId>, value: ValueId, at: BlockId, before: Option<InstId>) {
        let Body { cfg, ssa, .. } = self.body;
        let holds = match ssa.values[value] {
            Def::Null | Def::Unbound | Def::Parameter(_) => true,
            Def::Inst { inst, .. } => {
                let block = cfg.block_of[inst];
                if block == at {
                    before.is_none_or(|before| inst < before)
                } else {
                    dominators.dominates(block, at)
                }
            }
            Def::Phi { block, .. } | Def::Caught(block) | Def::HandlerItem { block, .. } => {
                dominators.dominates(block, at)
            }
            Def::Refined { edge, .. } => {
                let to = cfg.edges[edge].to;
                // The edge must be the only way into its target, but for ways back to it.
                let others = cfg
                    .predecessors(to)
                    .iter()
                    .filter(|&&other| other != edge)
                    .map(|&o| cfg.edges[o].from);
                let mut reachable = others.filter(|&from| !cfg.blocks[from].unreachable);
                dominators.dominates(to, at) && reachable.all(|from| dominators.dominates(to, from))
            }
        };
        if !holds {
            self.report(
                before.and_then(|inst| self.offset(inst)),
                ViolationKind::NotDominated { value, at },
            );
        }
    }
}
