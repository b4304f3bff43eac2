//! Builds the SSA form of one body.
//!
//! Vocabulary: a *node* is a block, or one of the two halves of a protected block that changes a variable behind its last
//! raising instruction: the *head* ends before that instruction and has the exception edges, the *tail* has the others, so
//! that every definition is visible on all edges of its node. A *join* has more than one incoming edge from reachable code.
//!
//! Variables get phis on the iterated dominance frontier of their definitions (Cytron et al. 1991; semi-pruned as in Briggs
//! et al. 1998), stack slots get one at every join, and [`finish`](self::finish) removes the trivial and the dead ones, which
//! leaves the minimal pruned form for the reducible graphs that compilers make (Aycock and Horspool 2000).

mod finish;
#[cfg(test)]
mod tests;

use crate::body::{BlockId, Cfg, Def, EdgeId, EdgeKind, Inst, PhiOf, Ssa, ValueId, Var, VarId};
use crate::exec::{Stack, execute, follow_jump};
use crate::op::{InstId, Op, Test};
use crate::prepare::Flow;
use crate::prepare::{Holder, NO_REGION, Prepared, Raise, Source, UNKNOWN_DEPTH, flow};
use crate::vars::{Access, parameter_count};
use hognose_base::{Id, IndexVec, define_id};
use hognose_graph::{Csr, Dominators, dominance_frontiers};

define_id! {
    /// A block or half of one; the first ids are those of the blocks.
    struct Node = "node";
}

/// The form of a body without instructions.
pub(crate) fn empty_ssa(cfg: &Cfg) -> Ssa {
    Ssa {
        values: IndexVec::from_raw(vec![Def::Null, Def::Unbound]),
        input_starts: vec![0],
        phi_starts: vec![0; cfg.blocks.len() + 1],
        ..Ssa::default()
    }
}

/// Builds the form.
pub(crate) fn build(source: Source<'_>, insts: &IndexVec<InstId, Inst>, cfg: &Cfg, prepared: &Prepared) -> Ssa {
    let shape = Shape::new(source, insts, cfg, prepared);
    let graph = shape.graph(cfg);
    let reversed = graph.reversed();
    let dominators = Dominators::new(&graph, &reversed, Node::new(0));
    let placed = place(source, insts, cfg, prepared, &shape, &reversed, &dominators);
    let mut walk = Walk::new(source, insts, cfg, prepared, &shape, &placed);
    walk.all(&dominators);
    finish::finish(walk.draft, insts, cfg)
}

#[derive(Clone, Copy)]
struct NodeInfo {
    block: BlockId,
    start: InstId,
    end: InstId,
    is_head: bool,
    is_tail: bool,
}

/// Facts about the graph that placement and walk share.
struct Shape {
    nodes: IndexVec<Node, NodeInfo>,
    tail: IndexVec<BlockId, Node>,
    /// Number of incoming edges from reachable blocks.
    incoming: IndexVec<BlockId, u32>,
    /// The last of them: the only one, if `incoming` is 1.
    only: IndexVec<BlockId, EdgeId>,
    /// The region whose handler the block is, or [`NO_REGION`].
    handles: IndexVec<BlockId, u32>,
    /// Position of each edge among the predecessors of its target.
    position: IndexVec<EdgeId, u32>,
}

impl Shape {
    fn new(source: Source<'_>, insts: &IndexVec<InstId, Inst>, cfg: &Cfg, prepared: &Prepared) -> Self {
        let count = cfg.blocks.len();
        let mut incoming = IndexVec::from_elem(0_u32, count);
        let mut only = IndexVec::from_elem(EdgeId::new(0), count);
        let mut position = IndexVec::from_elem(0_u32, cfg.edges.len());
        for block in cfg.blocks.ids() {
            for (number, &edge) in (0_u32..).zip(cfg.predecessors(block)) {
                position[edge] = number;
                if !cfg.blocks[cfg.edges[edge].from].unreachable {
                    incoming[block] += 1;
                    only[block] = edge;
                }
            }
        }
        let mut handles = IndexVec::from_elem(NO_REGION, count);
        for (number, region) in (0_u32..).zip(source.regions) {
            handles[cfg.block_of[region.handler]] = number;
        }
        let mut shape = Self {
            nodes: IndexVec::new(),
            tail: IndexVec::new(),
            incoming,
            only,
            handles,
            position,
        };
        for (block, &range) in cfg.blocks.iter_enumerated() {
            let info = NodeInfo {
                block,
                start: range.start,
                end: range.end,
                is_head: true,
                is_tail: true,
            };
            shape.nodes.push(info);
            shape.tail.push(Node::from_index(block.index()));
        }
        for block in cfg.blocks.ids() {
            if let Some(at) = shape.boundary(source, insts, cfg, prepared, block) {
                let head = Node::from_index(block.index());
                let info = shape.nodes[head];
                shape.nodes[head] = NodeInfo {
                    end: at,
                    is_tail: false,
                    ..info
                };
                shape.tail[block] = shape.nodes.push(NodeInfo {
                    start: at,
                    is_head: false,
                    ..info
                });
            }
        }
        shape
    }

    /// Where a block has to be halved: before its last raising instruction, if a variable changes from there on.
    fn boundary(
        &self,
        source: Source<'_>,
        insts: &IndexVec<InstId, Inst>,
        cfg: &Cfg,
        prepared: &Prepared,
        block: BlockId,
    ) -> Option<InstId> {
        if source.regions.is_empty() || cfg.blocks[block].unreachable {
            return None;
        }
        cfg.successors(block)
            .find(|(_, edge)| self.is_protecting(source, edge.to, edge.kind))?;
        let mut changes = false;
        for inst in cfg.insts(block).rev() {
            changes |= matches!(
                source.variables.access(insts[inst].op),
                Access::Write(_) | Access::Clear(_)
            );
            let protected = Prepared::is_protected(prepared.region[inst.index()], source.regions);
            if protected && prepared.raise[inst.index()] != Raise::Never {
                return changes.then_some(inst);
            }
        }
        None
    }

    /// Whether an edge leads to a handler that may look at variables.
    fn is_protecting(&self, source: Source<'_>, to: BlockId, kind: EdgeKind) -> bool {
        matches!(kind, EdgeKind::Exception { .. }) && Prepared::is_protected(self.handles[to], source.regions)
    }

    fn is_join(&self, block: BlockId) -> bool {
        self.incoming[block] > 1
    }

    fn graph(&self, cfg: &Cfg) -> Csr<Node> {
        let head = |block: BlockId| Node::from_index(block.index());
        let halves = self
            .nodes
            .iter()
            .filter(|node| !node.is_head)
            .map(|node| (head(node.block), self.tail[node.block]));
        // An exception edge to the exceptional exit or to a guard may leave from either half.
        let edges = cfg.edges.iter().map(|edge| {
            let early = matches!(edge.kind, EdgeKind::Exception { .. }) && self.handles[edge.to] != NO_REGION;
            (
                if early { head(edge.from) } else { self.tail[edge.from] },
                head(edge.to),
            )
        });
        Csr::from_edges(self.nodes.len(), edges.chain(halves))
    }

    /// What a branch has tested when control enters `block` by its only edge.
    fn tested_before<'p>(&self, cfg: &Cfg, prepared: &'p Prepared, block: BlockId) -> Option<(EdgeId, &'p [Holder])> {
        if self.incoming[block] != 1 || prepared.tested.is_empty() {
            return None;
        }
        let edge = self.only[block];
        Some((edge, tested_on(cfg, prepared, edge)?))
    }
}

/// What holds the value that the branch at the start of an edge has tested.
fn tested_on<'p>(cfg: &Cfg, prepared: &'p Prepared, edge: EdgeId) -> Option<&'p [Holder]> {
    let edge = cfg.edges[edge];
    let branch = edge
        .inst
        .filter(|_| matches!(edge.kind, EdgeKind::True | EdgeKind::False))?;
    let found = prepared
        .tested
        .binary_search_by_key(&branch, |tested| tested.branch)
        .ok()?;
    let tested = prepared.tested[found];
    Some(&prepared.holders[tested.start as usize..tested.end as usize])
}

/// The variables' phis, sorted by block and variable.
struct Placed {
    phis: Vec<(BlockId, VarId)>,
}

fn place(
    source: Source<'_>,
    insts: &IndexVec<InstId, Inst>,
    cfg: &Cfg,
    prepared: &Prepared,
    shape: &Shape,
    reversed: &Csr<Node>,
    dominators: &Dominators<Node>,
) -> Placed {
    let mut phis = Vec::new();
    if shape.incoming.iter().all(|&count| count <= 1) {
        return Placed { phis };
    }
    let (defs, exposed) = definitions(source, insts, cfg, prepared, shape);
    let frontiers = dominance_frontiers(reversed, dominators);
    let mut has_phi = IndexVec::from_elem(VarId::new(u32::MAX), shape.nodes.len());
    let mut work = Vec::new();
    for group in defs.chunk_by(|a, b| a.0 == b.0) {
        let var = group[0].0;
        if !exposed[var] {
            continue;
        }
        work.extend(group.iter().map(|def| def.1));
        while let Some(node) = work.pop() {
            for &join in frontiers.successors(node) {
                if has_phi[join] != var && shape.nodes[join].block != cfg.exceptional_exit {
                    has_phi[join] = var;
                    phis.push((shape.nodes[join].block, var));
                    work.push(join);
                }
            }
        }
    }
    phis.sort_unstable();
    Placed { phis }
}

/// Which nodes define each variable, sorted; and which variables are read in a node before it defines them.
fn definitions(
    source: Source<'_>,
    insts: &IndexVec<InstId, Inst>,
    cfg: &Cfg,
    prepared: &Prepared,
    shape: &Shape,
) -> (Vec<(VarId, Node)>, IndexVec<VarId, bool>) {
    let vars = &source.variables.vars;
    let leaves = !cfg.blocks[cfg.normal_exit].unreachable;
    let mut exposed: IndexVec<VarId, bool> = vars.iter().map(|var| leaves && matches!(var, Var::Name(_))).collect();
    let mut last_def = IndexVec::from_elem(Node::new(u32::MAX), vars.len());
    let mut defs = Vec::new();
    for (node, info) in shape.nodes.iter_enumerated() {
        if cfg.blocks[info.block].unreachable {
            continue;
        }
        let mut define = |var: VarId, last_def: &mut IndexVec<VarId, Node>| {
            if last_def[var] != node {
                last_def[var] = node;
                defs.push((var, node));
            }
        };
        if let Some((_, holders)) = shape.tested_before(cfg, prepared, info.block).filter(|_| info.is_head) {
            for &holder in holders {
                if let Holder::Var(var) = holder {
                    exposed[var] = true;
                    define(var, &mut last_def);
                }
            }
        }
        for at in info.start.raw()..info.end.raw() {
            let access = source.variables.access(insts[InstId::new(at)].op);
            if let Access::Read(var) | Access::ReadMaybe(var) | Access::Clear(var) = access {
                exposed[var] |= last_def[var] != node;
            }
            if let Access::Write(var) | Access::Clear(var) = access {
                define(var, &mut last_def);
            }
        }
    }
    defs.sort_unstable();
    (defs, exposed)
}

/// The form as it is built: values in order of the walk, operands not yet in instruction order.
#[derive(Default)]
struct Draft {
    vars: IndexVec<VarId, Var>,
    values: IndexVec<ValueId, Def>,
    /// All phis in block order, and where those of each block begin.
    phis: Vec<ValueId>,
    phi_starts: Vec<u32>,
    phi_args: Vec<ValueId>,
    inputs: Vec<ValueId>,
    input_ranges: IndexVec<InstId, (u32, u32)>,
    first_output: IndexVec<InstId, ValueId>,
    output_count: IndexVec<InstId, u16>,
    keyword_names: Vec<(InstId, ValueId)>,
    at_normal_exit: IndexVec<VarId, ValueId>,
}

enum Task {
    Enter(Node),
    /// Undo the definitions above this length of the log.
    Leave(usize),
}

/// The walk over the dominator tree that renames.
struct Walk<'a> {
    source: Source<'a>,
    insts: &'a IndexVec<InstId, Inst>,
    cfg: &'a Cfg,
    shape: &'a Shape,
    prepared: &'a Prepared,
    draft: Draft,
    current: IndexVec<VarId, ValueId>,
    undo: Vec<(VarId, ValueId)>,
    stack: Stack<ValueId>,
    /// Stacks with which nodes that are no joins begin: ranges of `saved`.
    entry: IndexVec<Node, (u32, u32)>,
    saved: Vec<ValueId>,
    /// First variable phi of each block among `draft.phis`: the stack's come before.
    var_phis: IndexVec<BlockId, u32>,
    /// Exception edges to handlers of the node at work, by the instruction before which their state is taken.
    captures: Vec<(InstId, EdgeId)>,
}

fn to_u32(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

impl<'a> Walk<'a> {
    fn new(
        source: Source<'a>,
        insts: &'a IndexVec<InstId, Inst>,
        cfg: &'a Cfg,
        prepared: &'a Prepared,
        shape: &'a Shape,
        placed: &Placed,
    ) -> Self {
        let count = insts.len();
        let mut draft = Draft {
            vars: source.variables.vars.clone(),
            input_ranges: IndexVec::from_elem((0, 0), count),
            first_output: IndexVec::from_elem(Ssa::NULL, count),
            output_count: IndexVec::from_elem(0, count),
            at_normal_exit: IndexVec::from_elem(Ssa::UNBOUND, source.variables.vars.len()),
            ..Draft::default()
        };
        draft.values = IndexVec::with_capacity(count + 16);
        draft.values.push(Def::Null);
        draft.values.push(Def::Unbound);
        let parameters = parameter_count(source.code);
        let current = draft.vars.iter().map(|&var| match var {
            Var::Slot(slot) if slot.raw() < parameters => draft.values.push(Def::Parameter(slot)),
            _ => Ssa::UNBOUND,
        });
        let current = current.collect();
        let mut walk = Self {
            source,
            insts,
            cfg,
            shape,
            prepared,
            draft,
            current,
            undo: Vec::new(),
            stack: Stack::new(Ssa::NULL),
            entry: IndexVec::from_elem((0, 0), shape.nodes.len()),
            saved: Vec::new(),
            var_phis: IndexVec::with_capacity(cfg.blocks.len()),
            captures: Vec::new(),
        };
        walk.make_phis(placed);
        walk
    }

    fn make_phis(&mut self, placed: &Placed) {
        let mut of_vars = placed.phis.iter().copied().peekable();
        for block in self.cfg.blocks.ids() {
            self.draft.phi_starts.push(to_u32(self.draft.phis.len()));
            for slot in 0..self.phi_depth(block) {
                self.make_phi(block, PhiOf::Stack(slot));
            }
            self.var_phis.push(to_u32(self.draft.phis.len()));
            while let Some((_, var)) = of_vars.next_if(|phi| phi.0 == block) {
                self.make_phi(block, PhiOf::Var(var));
            }
        }
        self.draft.phi_starts.push(to_u32(self.draft.phis.len()));
    }

    /// How many stack slots a block joins.
    fn phi_depth(&self, block: BlockId) -> u32 {
        if !self.shape.is_join(block) || block >= self.cfg.normal_exit {
            return 0;
        }
        match self.source.regions.get(self.shape.handles[block] as usize) {
            Some(region) => region.depth,
            None => match self.prepared.depth.get(self.cfg.blocks[block].start.index()) {
                Some(&depth) if depth != UNKNOWN_DEPTH => depth,
                _ => 0,
            },
        }
    }

    fn make_phi(&mut self, block: BlockId, what: PhiOf) {
        let args = to_u32(self.draft.phi_args.len());
        self.draft
            .phi_args
            .resize(args as usize + self.cfg.predecessors(block).len(), Ssa::UNBOUND);
        let value = self.draft.values.push(Def::Phi { block, what, args });
        self.draft.phis.push(value);
    }

    fn all(&mut self, dominators: &Dominators<Node>) {
        let mut tasks = vec![Task::Enter(Node::new(0))];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Enter(node) => {
                    tasks.push(Task::Leave(self.undo.len()));
                    self.node(node);
                    tasks.extend(dominators.children(node).iter().rev().map(|&child| Task::Enter(child)));
                }
                Task::Leave(mark) => {
                    while self.undo.len() > mark {
                        if let Some((var, value)) = self.undo.pop() {
                            self.current[var] = value;
                        }
                    }
                }
            }
        }
    }

    fn define(&mut self, var: VarId, value: ValueId) {
        self.undo.push((var, std::mem::replace(&mut self.current[var], value)));
    }

    fn node(&mut self, node: Node) {
        let info = self.shape.nodes[node];
        if info.is_head {
            self.enter(info.block, node);
        } else {
            self.load_stack(node);
        }
        if info.block == self.cfg.normal_exit {
            for var in self.draft.vars.ids() {
                if matches!(self.draft.vars[var], Var::Name(_)) {
                    self.draft.at_normal_exit[var] = self.current[var];
                }
            }
        }
        self.captures.clear();
        for (id, edge) in self.cfg.successors(info.block) {
            if let (EdgeKind::Exception { .. }, Some(inst)) = (edge.kind, edge.inst)
                && edge.to != self.cfg.exceptional_exit
                && info.is_head
            {
                self.captures.push((inst, id));
            }
        }
        let mut last = None;
        for raw in info.start.raw()..info.end.raw() {
            let inst = InstId::new(raw);
            last = Some(inst);
            self.capture(inst);
            self.inst(inst);
        }
        if !info.is_tail {
            // The state before the first instruction of the tail is that of the head's end; handlers may be walked first.
            self.capture(info.end);
            let tail = self.shape.tail[info.block];
            self.entry[tail] = self.save_stack(self.stack.items.len());
        }
        self.leave(info, last);
    }

    fn load_stack(&mut self, node: Node) {
        let (start, end) = self.entry[node];
        self.stack.items.clear();
        self.stack
            .items
            .extend_from_slice(&self.saved[start as usize..end as usize]);
    }

    fn save_stack(&mut self, depth: usize) -> (u32, u32) {
        let start = to_u32(self.saved.len());
        self.saved
            .extend_from_slice(&self.stack.items[..depth.min(self.stack.items.len())]);
        (start, to_u32(self.saved.len()))
    }

    /// Sets up stack and variables at the start of a block.
    fn enter(&mut self, block: BlockId, node: Node) {
        if self.shape.is_join(block) {
            let (start, vars, end) = self.phi_range(block);
            self.stack.items.clear();
            self.stack.items.extend_from_slice(&self.draft.phis[start..vars]);
            for at in vars..end {
                let phi = self.draft.phis[at];
                if let Def::Phi {
                    what: PhiOf::Var(var), ..
                } = self.draft.values[phi]
                {
                    self.define(var, phi);
                }
            }
        } else {
            self.load_stack(node);
        }
        if let Some(region) = self.source.regions.get(self.shape.handles[block] as usize) {
            let pushed = region.pushed;
            // Up to 3.10 the class lies above the exception; both stand for the exception, which is what they are used for.
            let caught_from = if pushed >= 6 {
                pushed - 2
            } else {
                pushed.saturating_sub(1)
            };
            for item in 0..caught_from {
                let item = u16::try_from(item).unwrap_or(u16::MAX);
                self.stack
                    .items
                    .push(self.draft.values.push(Def::HandlerItem { block, item }));
            }
            let caught = self.draft.values.push(Def::Caught(block));
            self.stack.items.extend((caught_from..pushed).map(|_| caught));
        }
        self.refine(block);
    }

    fn phi_range(&self, block: BlockId) -> (usize, usize, usize) {
        let start = self.draft.phi_starts[block.index()] as usize;
        let end = self.draft.phi_starts[block.index() + 1] as usize;
        (start, self.var_phis[block] as usize, end)
    }

    /// Renames what holds the value that the branch before the block has tested.
    fn refine(&mut self, block: BlockId) {
        let Some((edge, holders)) = self.shape.tested_before(self.cfg, self.prepared, block) else {
            return;
        };
        let first = self.draft.values.next_id();
        for &holder in holders {
            let old = match holder {
                Holder::Var(var) => Some(self.current[var]),
                Holder::Stack(slot) => self.stack.items.get(slot as usize).copied(),
            };
            let Some(of) = old.filter(|&old| old != Ssa::UNBOUND && old != Ssa::NULL) else {
                continue;
            };
            let new = self.refined(of, edge, first);
            match holder {
                Holder::Var(var) => self.define(var, new),
                Holder::Stack(slot) => self.stack.items[slot as usize] = new,
            }
        }
    }

    /// Hands the stack before `inst` to the handlers whose edges leave there.
    fn capture(&mut self, inst: InstId) {
        for index in 0..self.captures.len() {
            let (at, edge) = self.captures[index];
            if at != inst {
                continue;
            }
            let to = self.cfg.edges[edge].to;
            if let Some(region) = self.source.regions.get(self.shape.handles[to] as usize) {
                self.pass_stack(edge, region.depth as usize);
            }
        }
    }

    fn pass_stack(&mut self, edge: EdgeId, depth: usize) {
        let to = self.cfg.edges[edge].to;
        if !self.shape.is_join(to) {
            self.entry[Node::from_index(to.index())] = self.save_stack(depth);
            return;
        }
        let (start, vars, _) = self.phi_range(to);
        let position = self.shape.position[edge] as usize;
        for (slot, at) in (start..vars).enumerate() {
            if let (Def::Phi { args, .. }, Some(&value)) =
                (self.draft.values[self.draft.phis[at]], self.stack.items.get(slot))
            {
                self.draft.phi_args[args as usize + position] = value;
            }
        }
    }

    fn pass_vars(&mut self, edge: EdgeId) {
        let to = self.cfg.edges[edge].to;
        let (_, vars, end) = self.phi_range(to);
        let position = self.shape.position[edge] as usize;
        for at in vars..end {
            if let Def::Phi {
                what: PhiOf::Var(var),
                args,
                ..
            } = self.draft.values[self.draft.phis[at]]
            {
                self.draft.phi_args[args as usize + position] = self.current[var];
            }
        }
    }

    /// Where a branch leads straight to a join, the phis take what it has found out (`x or y`, `if x is None: x = y`).
    fn refine_arguments(&mut self, edge: EdgeId) {
        let to = self.cfg.edges[edge].to;
        if !self.shape.is_join(to) {
            return;
        }
        let Some(holders) = tested_on(self.cfg, self.prepared, edge) else {
            return;
        };
        let (start, _, end) = self.phi_range(to);
        let position = self.shape.position[edge] as usize;
        let first = self.draft.values.next_id();
        for at in start..end {
            let Def::Phi { what, args, .. } = self.draft.values[self.draft.phis[at]] else {
                continue;
            };
            let holder = match what {
                PhiOf::Var(var) => Holder::Var(var),
                PhiOf::Stack(slot) => Holder::Stack(slot),
            };
            let of = self.draft.phi_args[args as usize + position];
            if holders.contains(&holder) && of != Ssa::NULL && of != Ssa::UNBOUND {
                self.draft.phi_args[args as usize + position] = self.refined(of, edge, first);
            }
        }
    }

    /// The refinement of `of` on `edge`, if it is among the values since `first`, else a new one.
    fn refined(&mut self, of: ValueId, edge: EdgeId, first: ValueId) -> ValueId {
        let mut recent = (first.index()..self.draft.values.len()).map(ValueId::from_index);
        let known = recent.find(|&value| self.draft.values[value] == Def::Refined { of, edge });
        known.unwrap_or_else(|| self.draft.values.push(Def::Refined { of, edge }))
    }

    fn inst(&mut self, inst: InstId) {
        let op = self.insts[inst].op;
        let access = self.source.variables.access(op);
        let start = self.draft.inputs.len();
        if let Access::Read(var) | Access::Clear(var) = access {
            self.draft.inputs.push(self.current[var]);
        }
        let first = self.draft.values.next_id();
        let values = &mut self.draft.values;
        let mut output = 0;
        let mut fresh = || {
            let value = values.push(Def::Inst { inst, output });
            output = output.saturating_add(1);
            value
        };
        let minor = self.source.minor;
        let names = execute(
            op,
            minor,
            Ssa::NULL,
            &mut self.stack,
            &mut self.draft.inputs,
            &mut fresh,
        );
        match access {
            Access::Write(var) => {
                let value = fresh();
                // To store NULL is to unbind; what is stored may also be a saved value, so the store keeps its own value.
                self.define(var, value);
            }
            Access::Clear(var) => self.define(var, Ssa::UNBOUND),
            Access::ReadMaybe(var) => self.draft.inputs.push(self.current[var]),
            Access::Read(_) | Access::None => {}
        }
        if let Some(names) = names {
            self.draft.keyword_names.push((inst, names));
        }
        self.draft.input_ranges[inst] = (to_u32(start), to_u32(self.draft.inputs.len()));
        let outputs = u16::try_from(self.draft.values.len() - first.index()).unwrap_or(u16::MAX);
        self.draft.first_output[inst] = if outputs == 0 { Ssa::NULL } else { first };
        self.draft.output_count[inst] = outputs;
    }

    /// Hands stack and variables to the successors.
    fn leave(&mut self, info: NodeInfo, last: Option<InstId>) {
        let mut jump = None;
        let op = last.filter(|_| info.is_tail).map(|last| self.insts[last].op);
        let jump_kind = op.filter(|&op| matches!(flow(op), Flow::Branch(_))).map(|op| match op {
            Op::Branch {
                test: Test::Truth(true) | Test::IsNone(true),
                ..
            } => EdgeKind::True,
            _ => EdgeKind::False,
        });
        for (id, edge) in self.cfg.successors(info.block) {
            if edge.to == self.cfg.exceptional_exit {
                continue;
            }
            if let EdgeKind::Exception { .. } = edge.kind {
                if info.is_head {
                    self.pass_vars(id);
                }
            } else if info.is_tail {
                self.pass_vars(id);
                if Some(edge.kind) == jump_kind {
                    jump = Some(id);
                } else if edge.to != self.cfg.normal_exit {
                    self.pass_stack(id, self.stack.items.len());
                    self.refine_arguments(id);
                }
            }
        }
        if let (Some(edge), Some(op), Some(last)) = (jump, op, last) {
            let (start, end) = self.draft.input_ranges[last];
            let operand = self.draft.inputs[start as usize..end as usize].first().copied();
            let output = (self.draft.output_count[last] > 0).then(|| self.draft.first_output[last]);
            follow_jump(op, operand, output, &mut self.stack);
            self.pass_stack(edge, self.stack.items.len());
            self.refine_arguments(edge);
        }
    }
}
