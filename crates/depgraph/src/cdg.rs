//! Control dependence: which decision lets a block run.
//!
//! ```python
//! if ready:        # the decision
//!     start()      # depends on it, outcome true
//! else:
//!     wait()       # depends on it, outcome false
//! log()            # runs either way: does not depend on it
//! ```
//! Vocabulary, after Ferrante, Ottenstein and Warren (1987), "The program dependence graph and its use in optimization":
//! a block *X post-dominates Y* if every path from Y to the exit passes X. *X depends on the edge C → S* if X post-dominates
//! S and does not strictly post-dominate C: taking the edge makes X run, another edge of C may avoid it. The *outcome*
//! is the kind of the edge. One virtual exit stands behind the normal and the exceptional exit.
//!
//! **Endless loops.** A loop that cannot reach an exit (`while True:` without `break`) is given one: coming back to its first
//! block may also end the loop. The artificial decision lies on the way back, not in a block, so nothing depends on it, and
//! the decisions inside the loop are judged for one round:
//! ```python
//! while True:
//!     if odd:      # the decision
//!         left()   # depends on it
//!     step()       # does not
//! ```
//! A call that never returns (`sys.exit()`, endless recursion) is an ordinary call here.
//!
//! # Layers
//! Nearly every Python operation may raise. If each such chance counted as a decision, every statement would depend on
//! all statements before it. [`Layer::Implicit`] does just that: the definition above, on all edges.
//!
//! [`Layer::Outcome`], the default, asks what depends on the decisions of the program: branches, `raise`, and handlers.
//! It assumes that **failures which the program does not write down do not happen, unless something depends on them**:
//!
//! 1. Implicit exception edges are not in the graph. So the two arms of an `if` inside `try` depend on that `if`, and what
//!    stands behind the arms depends on nothing, though each arm may raise.
//! 2. An exception edge into a handler is a decision of the protected block, outcome *exception*. What it makes run is the
//!    handler, up to the point where the code comes back to what would have run without the exception.
//!    ```python
//!    try:
//!        parse()          # the decision
//!    except:
//!        value = None     # depends on it, outcome exception
//!    use(value)           # does not
//!    ```
//! 3. A clause that does not match hands the exception on (the compiler writes a re-raise behind the last clause). That is a
//!    failure going its way as if there were no clause, so the mismatch is not in the graph by which code *behind* is judged;
//!    but the clause's own code depends on its match, outcome *true*:
//!    ```python
//!    try:
//!        parse()          # A
//!    except ValueError:   # B: depends on A, exception
//!        value = None     # depends on B, true
//!    use(value)           # depends on neither
//!    ```
//! 4. "The handler's own code" of rules 2 and 3 is found by the *failure depth* of a block: the least number of exception
//!    edges into handlers on a path from the entry. Code of a smaller depth is never the handler's own.
//! 5. The handler of a `with` statement is an ordinary decision: the truth of what `__exit__` returns decides between going
//!    on behind the statement and raising again.
//! 6. The end of an `async for` arrives as an exception; that edge is an ordinary loop exit.
//!
//! It follows that code behind a handler which leaves (`except KeyError: return None`) does not depend on the protected
//! code in this layer; [`Layer::Implicit`] has that dependence, outcome *normal*.
//!
//! In both layers the `StopIteration` guard around a generator's body (CPython 3.12+) is seen through: an exception edge into
//! it is one to the exceptional exit, so a generator has the same dependences in every version. Unreachable code decides
//! nothing, and the exits are not listed among the blocks that depend on something.

use hognose_base::{Id, IndexVec};
use hognose_graph::{Csr, NodeSet, PostDominators, reachable};
use hognose_ir::{BlockId, Body, Cfg, Edge, EdgeId, EdgeKind, InstId, Op};
use hognose_pyc::CodeIndex;
use std::collections::VecDeque;

#[cfg(test)]
mod tests;

/// Which decisions count. See the module documentation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Branches, explicit raises and handlers.
    #[default]
    Outcome,
    /// Every operation that may raise as well.
    Implicit,
}

/// How a decision went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BranchOutcome {
    /// It went on without an exception.
    Normal,
    /// The test holds.
    True,
    /// The test does not hold.
    False,
    /// An exception.
    Exception,
    /// The frame was resumed.
    Resume,
}

impl BranchOutcome {
    /// The name used in reports and test cases.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::True => "true",
            Self::False => "false",
            Self::Exception => "exception",
            Self::Resume => "resume",
        }
    }
    /// The outcome that an edge stands for.
    #[must_use]
    pub const fn of(kind: EdgeKind) -> Self {
        match kind {
            EdgeKind::Normal => Self::Normal,
            EdgeKind::True => Self::True,
            EdgeKind::False => Self::False,
            EdgeKind::Exception { .. } => Self::Exception,
            EdgeKind::Resume => Self::Resume,
        }
    }
}

/// `block` runs because `branch` was left through `edge`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dependence {
    /// The block that decides.
    pub branch: BlockId,
    /// The edge that was taken.
    pub edge: EdgeId,
    /// What kind of edge it is.
    pub outcome: BranchOutcome,
    /// The block that runs.
    pub block: BlockId,
}

/// The control-dependence graph of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cdg {
    function: CodeIndex,
    layer: Layer,
    ipdom: IndexVec<BlockId, Option<BlockId>>,
    /// Sorted by branch, edge, block.
    dependences: Vec<Dependence>,
    /// Positions in `dependences`, sorted by the block that depends.
    by_block: Vec<u32>,
    /// Those of block `b` are `by_block[block_starts[b]..block_starts[b + 1]]`.
    block_starts: Vec<u32>,
}

impl Cdg {
    /// Computes the graph of a body, which is code object `function` of its file.
    #[must_use]
    pub fn of(function: CodeIndex, body: &Body, layer: Layer) -> Self {
        let cfg = &body.cfg;
        if cfg.blocks.is_empty() {
            return Self::collect(function, layer, IndexVec::new(), Vec::new());
        }
        let roles = Roles::of(body, layer);
        let full = Tree::of(cfg, &roles, |role| role.in_graph());
        let assumed = match layer {
            Layer::Outcome => Some(Tree::of(cfg, &roles, |role| role.in_graph() && role != Role::Mismatch)),
            Layer::Implicit => None,
        };
        let search = Search {
            cfg,
            roles: &roles,
            assumed: assumed.as_ref().unwrap_or(&full),
            full: &full,
        };
        let mut dependences = Vec::new();
        for (id, edge) in cfg.edges.iter_enumerated() {
            search.add_dependences(id, edge, &mut dependences);
        }
        let ipdom = cfg.blocks.ids().map(|block| full.immediate(block)).collect();
        Self::collect(function, layer, ipdom, dependences)
    }

    fn collect(
        function: CodeIndex,
        layer: Layer,
        ipdom: IndexVec<BlockId, Option<BlockId>>,
        mut dependences: Vec<Dependence>,
    ) -> Self {
        dependences.sort_unstable();
        dependences.dedup();
        let mut block_starts = vec![0_u32; ipdom.len() + 1];
        for dependence in &dependences {
            block_starts[dependence.block.index() + 1] += 1;
        }
        for index in 0..ipdom.len() {
            block_starts[index + 1] += block_starts[index];
        }
        let count = u32::try_from(dependences.len()).unwrap_or(u32::MAX);
        let mut by_block: Vec<u32> = (0..count).collect();
        by_block.sort_by_key(|&position| dependences[position as usize].block);
        Self {
            function,
            layer,
            ipdom,
            dependences,
            by_block,
            block_starts,
        }
    }

    /// The function, as code object of its file.
    #[must_use]
    pub const fn function(&self) -> CodeIndex {
        self.function
    }
    /// Which decisions count.
    #[must_use]
    pub const fn layer(&self) -> Layer {
        self.layer
    }
    /// The immediate post-dominator of every block; none if it is the virtual exit.
    #[must_use]
    pub const fn immediate_post_dominators(&self) -> &IndexVec<BlockId, Option<BlockId>> {
        &self.ipdom
    }
    /// All dependences, sorted by branch, edge, block.
    #[must_use]
    pub fn dependences(&self) -> &[Dependence] {
        &self.dependences
    }
    /// What a block depends on, sorted by branch and edge.
    pub fn dependences_of(&self, block: BlockId) -> impl ExactSizeIterator<Item = &Dependence> {
        let index = block.index();
        let range = match (self.block_starts.get(index), self.block_starts.get(index + 1)) {
            (Some(&start), Some(&end)) => start as usize..end as usize,
            _ => 0..0,
        };
        self.by_block[range]
            .iter()
            .map(|&position| &self.dependences[position as usize])
    }
    /// What depends on a block, sorted by edge and block.
    #[must_use]
    pub fn controlled_by(&self, branch: BlockId) -> &[Dependence] {
        let start = self
            .dependences
            .partition_point(|dependence| dependence.branch < branch);
        let end = self
            .dependences
            .partition_point(|dependence| dependence.branch <= branch);
        &self.dependences[start..end]
    }
    /// What the block of an instruction depends on.
    pub fn dependences_of_instruction(&self, body: &Body, inst: InstId) -> impl Iterator<Item = &Dependence> {
        body.cfg
            .block_of
            .get(inst)
            .copied()
            .into_iter()
            .flat_map(|block| self.dependences_of(block))
    }
    /// The instruction that decides: the branch, or the first one that may raise.
    #[must_use]
    pub fn deciding_instruction(body: &Body, dependence: &Dependence) -> Option<InstId> {
        body.cfg.edges.get(dependence.edge)?.inst
    }
}

/// What an edge means for one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Part of the graph, judged by the plain definition.
    Plain,
    /// The match of a clause whose mismatch is a [`Role::Mismatch`].
    Match,
    /// The mismatch of a clause, behind which the exception is raised again whatever happens.
    Mismatch,
    /// An explicit exception to a handler.
    ExplicitToHandler,
    /// An implicit exception to a handler: not part of the graph.
    ImplicitToHandler,
    /// Does not count at all.
    Ignored,
}

impl Role {
    const fn in_graph(self) -> bool {
        !matches!(self, Self::ImplicitToHandler | Self::Ignored)
    }
}

/// What is known about the edges and blocks before post-dominance.
struct Roles {
    of_edge: IndexVec<EdgeId, Role>,
    /// Target of every edge, the generator guard seen through.
    target: IndexVec<EdgeId, BlockId>,
    /// Failure depth; `u32::MAX` where nothing leads. Not used by [`Layer::Implicit`].
    depth: IndexVec<BlockId, u32>,
}

impl Roles {
    fn of(body: &Body, layer: Layer) -> Self {
        let cfg = &body.cfg;
        let mut guards = NodeSet::with_node_count(cfg.blocks.len());
        for region in body.regions.iter().filter(|region| region.generator_guard) {
            if let Some(&block) = cfg.block_of.get(region.handler) {
                guards.insert(block);
            }
        }
        let target: IndexVec<EdgeId, BlockId> = cfg
            .edges
            .iter()
            .map(|edge| {
                if guards.contains(edge.to) {
                    cfg.exceptional_exit
                } else {
                    edge.to
                }
            })
            .collect();
        let mut roles = Self {
            of_edge: IndexVec::new(),
            target,
            depth: IndexVec::new(),
        };
        roles.of_edge = cfg
            .edges
            .iter_enumerated()
            .map(|(id, edge)| match layer {
                Layer::Outcome => outcome_role(body, edge, roles.target[id]),
                Layer::Implicit => Role::Plain,
            })
            .collect();
        if layer == Layer::Outcome {
            roles.mark_mismatches(body);
            roles.measure_depth(cfg);
        }
        roles
    }

    /// Finds the clauses behind whose mismatch nothing but a re-raise of the compiler can come.
    fn mark_mismatches(&mut self, body: &Body) {
        let cfg = &body.cfg;
        let is_mismatch = |edge: &Edge| {
            edge.kind == EdgeKind::False && edge.inst.is_some_and(|inst| tests_exception_match(body, inst))
        };
        if !cfg.edges.iter().any(is_mismatch) {
            return;
        }
        let ends_with =
            |block, test: fn(Op) -> bool| cfg.insts(block).next_back().is_some_and(|i| test(body.insts[i].op));
        let reraises = |block| ends_with(block, |op| matches!(op, Op::Reraise { .. }));
        let raises = |block| ends_with(block, |op| matches!(op, Op::Raise(_)));
        let backward = Csr::from_edges(
            cfg.blocks.len(),
            self.edges(cfg, Role::in_graph)
                .map(|(_, from, to)| (to, from))
                .collect::<Vec<_>>(),
        );
        // Ways that a re-raise does not end: a return, a raise that the program wrote.
        let mut escapes = NodeSet::with_node_count(cfg.blocks.len());
        let mut stack: Vec<BlockId> = cfg
            .blocks
            .ids()
            .filter(|&block| block == cfg.normal_exit || raises(block))
            .collect();
        for &block in &stack {
            escapes.insert(block);
        }
        while let Some(block) = stack.pop() {
            stack.extend(
                backward
                    .successors(block)
                    .iter()
                    .filter(|&&from| !reraises(from) && escapes.insert(from)),
            );
        }
        let handed_on = reachable(&backward, cfg.blocks.ids().filter(|&block| reraises(block)));
        for id in cfg.edges.ids() {
            let target = self.target[id];
            if is_mismatch(&cfg.edges[id]) && handed_on.contains(target) && !escapes.contains(target) {
                self.of_edge[id] = Role::Mismatch;
                let (first, last) = successor_range(cfg, cfg.edges[id].from);
                for sibling in (first..last).map(EdgeId::new) {
                    if cfg.edges[sibling].kind == EdgeKind::True {
                        self.of_edge[sibling] = Role::Match;
                    }
                }
            }
        }
    }

    /// Breadth first, exception edges into handlers count one and all others nothing.
    fn measure_depth(&mut self, cfg: &Cfg) {
        let mut depth = IndexVec::from_elem(u32::MAX, cfg.blocks.len());
        let entry = BlockId::new(0);
        depth[entry] = 0;
        let mut queue = VecDeque::from([(entry, 0)]);
        while let Some((block, found)) = queue.pop_front() {
            if depth[block] < found {
                continue;
            }
            let (first, last) = successor_range(cfg, block);
            for id in (first..last).map(EdgeId::new) {
                let deeper = matches!(self.of_edge[id], Role::ExplicitToHandler | Role::ImplicitToHandler);
                let (target, next) = (self.target[id], found + u32::from(deeper));
                if self.of_edge[id] == Role::Ignored || depth[target] <= next {
                    continue;
                }
                depth[target] = next;
                if deeper {
                    queue.push_back((target, next));
                } else {
                    queue.push_front((target, next));
                }
            }
        }
        self.depth = depth;
    }

    /// The edges whose role passes, as (id, source, target).
    fn edges<'a>(
        &'a self,
        cfg: &'a Cfg,
        keep: impl Fn(Role) -> bool + 'a,
    ) -> impl Iterator<Item = (EdgeId, BlockId, BlockId)> + 'a {
        let kept = cfg
            .edges
            .iter_enumerated()
            .filter(move |&(id, _)| keep(self.of_edge[id]));
        kept.map(|(id, edge)| (id, edge.from, self.target[id]))
    }
}

fn outcome_role(body: &Body, edge: &Edge, target: BlockId) -> Role {
    let EdgeKind::Exception { explicit } = edge.kind else {
        return Role::Plain;
    };
    let ends_async_for = |block| {
        body.cfg
            .insts(block)
            .any(|inst| matches!(body.insts[inst].op, Op::EndAsyncFor))
    };
    let to_exit = target == body.cfg.exceptional_exit;
    if !to_exit && ends_async_for(target) {
        return Role::Plain;
    }
    // Another exception than the end of the iteration passes through: not written down by the program.
    let explicit = explicit && !ends_async_for(edge.from);
    match (explicit, to_exit) {
        (true, true) => Role::Plain,
        (true, false) => Role::ExplicitToHandler,
        (false, true) => Role::Ignored,
        (false, false) => Role::ImplicitToHandler,
    }
}

/// Whether a branch asks if an exception is of a clause's type. From 3.11 on these are two instructions.
fn tests_exception_match(body: &Body, inst: InstId) -> bool {
    let before = inst
        .raw()
        .checked_sub(1)
        .and_then(|raw| body.insts.get(InstId::new(raw)));
    match body.insts.get(inst).map(|inst| inst.op) {
        Some(Op::BranchNotExceptionMatch { .. }) => true,
        Some(Op::Branch { .. }) => before.is_some_and(|inst| matches!(inst.op, Op::CheckExceptionMatch)),
        _ => false,
    }
}

fn successor_range(cfg: &Cfg, block: BlockId) -> (u32, u32) {
    (
        cfg.successor_starts[block.index()],
        cfg.successor_starts[block.index() + 1],
    )
}

/// A post-dominator tree over the blocks and one *way back* node per endless loop.
struct Tree {
    post: PostDominators<BlockId>,
    block_count: usize,
    /// The first blocks of endless loops, ascending; the way back into the one at position `i` is node `block_count + i`.
    endless: Vec<BlockId>,
    /// Blocks of endless loops: only their edges to a first block take the way back.
    in_endless: NodeSet<BlockId>,
}

impl Tree {
    fn of(cfg: &Cfg, roles: &Roles, keep: impl Fn(Role) -> bool) -> Self {
        let block_count = cfg.blocks.len();
        let exits = [cfg.normal_exit, cfg.exceptional_exit];
        let edges: Vec<_> = roles.edges(cfg, keep).map(|(_, from, to)| (from, to)).collect();
        let graph = Csr::from_edges(block_count, edges.iter().copied());
        let post = PostDominators::new(&graph, &exits);
        if post.virtual_edges().is_empty() {
            let in_endless = NodeSet::with_node_count(0);
            return Self {
                post,
                block_count,
                endless: Vec::new(),
                in_endless,
            };
        }
        let endless = post.virtual_edges().to_vec();
        // Nothing leads out of such a loop, so what its first block reaches is the loop.
        let in_endless = reachable(&graph, endless.iter().copied());
        let mut tree = Self {
            post,
            block_count,
            endless,
            in_endless,
        };
        let ways_back = (0..tree.endless.len()).map(|index| BlockId::from_index(block_count + index));
        let exits: Vec<_> = exits.into_iter().chain(ways_back.clone()).collect();
        let edges: Vec<_> = edges
            .into_iter()
            .map(|(from, to)| (from, tree.node_behind(from, to)))
            .chain(ways_back.zip(tree.endless.iter().copied()))
            .collect();
        let graph = Csr::from_edges(block_count + tree.endless.len(), edges);
        tree.post = PostDominators::new(&graph, &exits);
        tree
    }
    /// The node that an edge leads to.
    fn node_behind(&self, from: BlockId, to: BlockId) -> BlockId {
        match self.endless.binary_search(&to) {
            Ok(index) if self.in_endless.contains(from) => BlockId::from_index(self.block_count + index),
            _ => to,
        }
    }
    fn immediate(&self, block: BlockId) -> Option<BlockId> {
        self.post
            .immediate(block)
            .filter(|above| above.index() < self.block_count)
    }
    /// A node and those that post-dominate it, nearest first, as long as they are blocks.
    fn forced_by(&self, node: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        self.post
            .ancestors(node)
            .take_while(|node| node.index() < self.block_count)
    }
}

struct Search<'a> {
    cfg: &'a Cfg,
    roles: &'a Roles,
    /// The whole graph of the layer: says what an edge makes run.
    full: &'a Tree,
    /// The graph without failures that go their way: says what would have run anyway.
    assumed: &'a Tree,
}

impl Search<'_> {
    fn add_dependences(&self, id: EdgeId, edge: &Edge, dependences: &mut Vec<Dependence>) {
        let (branch, target, role) = (edge.from, self.roles.target[id], self.roles.of_edge[id]);
        if role == Role::Ignored || self.cfg.blocks[branch].unreachable {
            return;
        }
        let runs_anyway = |block| self.assumed.post.strictly_post_dominates(block, branch);
        let depth = |block: BlockId| self.roles.depth.get(block).copied().unwrap_or(0);
        let outcome = BranchOutcome::of(edge.kind);
        let first = if role.in_graph() {
            self.full.node_behind(branch, target)
        } else {
            target
        };
        for block in self.full.forced_by(first) {
            let behind = match role {
                Role::Plain | Role::Ignored => runs_anyway(block),
                Role::Match => depth(block) < depth(branch),
                Role::Mismatch => runs_anyway(block) || depth(block) < depth(branch),
                Role::ExplicitToHandler => depth(block) < depth(target),
                Role::ImplicitToHandler => runs_anyway(block) || depth(block) < depth(target),
            };
            if behind {
                break;
            }
            if block != self.cfg.normal_exit && block != self.cfg.exceptional_exit {
                dependences.push(Dependence {
                    branch,
                    edge: id,
                    outcome,
                    block,
                });
            }
        }
    }
}
