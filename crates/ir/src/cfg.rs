//! Makes the blocks and edges of one body.
//!
//! ```python
//! try:
//!     a = f()      # block 1: the call may raise; the handler sees `a` as it was before
//!     b = g()      # block 2: begins before the next raising instruction, since `a` has changed
//! except E: ...
//! ```
//! An operation that may raise does not end a block: its exception edge is a *side exit*, at most one per block and handler,
//! and in protected code all raising instructions of a block see the same variables ([`crate::body`], `prepare`). An
//! exception that no region catches leaves through one edge to the exceptional exit. The guard around a generator body
//! (3.12+) splits nothing; its edges are told by [`Body::is_guard_edge`]. If the first instruction is the target of a jump, an
//! empty entry block stands before it.

use crate::body::{Block, BlockId, Body, Cfg, Edge, EdgeId, EdgeKind, Inst, Region};
use crate::op::{InstId, Op, Test};
use crate::prepare::{Flow, NO_REGION, Prepared, Raise, flow};
use hognose_base::{Id, IndexVec};

/// The graph of a body that has no instructions: an entry and the two exits.
pub(crate) fn empty_cfg() -> Cfg {
    let mut builder = Builder::default();
    builder.block(InstId::new(0), InstId::new(0));
    builder.finish(0)
}

/// Makes the graph from the leaders and raises that were prepared.
pub(crate) fn build(insts: &IndexVec<InstId, Inst>, regions: &[Region], prepared: &Prepared) -> Cfg {
    let mut builder = Builder::default();
    if prepared.entry_is_target {
        builder.block(InstId::new(0), InstId::new(0));
    }
    let count = insts.len();
    let mut start = 0;
    for at in 1..=count {
        if at == count || prepared.leader[at] {
            builder.block(InstId::from_index(start), InstId::from_index(at));
            start = at;
        }
    }
    builder.exits(count);
    let first = u32::from(prepared.entry_is_target);
    if prepared.entry_is_target {
        builder.edge(BlockId::new(0), BlockId::new(1), EdgeKind::Normal, None);
    }
    for raw in first..builder.normal_exit.raw() {
        let block = BlockId::new(raw);
        normal_edges(&mut builder, insts, block);
        exception_edges(&mut builder, insts, regions, prepared, block);
        builder.sort_row();
    }
    builder.finish(count)
}

fn normal_edges(builder: &mut Builder, insts: &IndexVec<InstId, Inst>, block: BlockId) {
    let last = InstId::new(builder.blocks[block].end.raw() - 1);
    let op = insts[last].op;
    // The code's last block has no block behind it; a path that runs off the end was refused before.
    let next = Some(BlockId::new(block.raw() + 1)).filter(|&next| next != builder.normal_exit);
    let fall_through = |builder: &mut Builder, kind, inst| {
        if let Some(next) = next {
            builder.edge(block, next, kind, inst);
        }
    };
    match flow(op) {
        Flow::Next => fall_through(builder, EdgeKind::Normal, None),
        Flow::Suspend => fall_through(builder, EdgeKind::Resume, Some(last)),
        Flow::Jump(target) => {
            let target = builder.block_of[target];
            builder.edge(block, target, EdgeKind::Normal, Some(last));
        }
        Flow::Return => builder.edge(block, builder.normal_exit, EdgeKind::Normal, Some(last)),
        Flow::Raise => {}
        Flow::Branch(target) => {
            let jumps_when = matches!(
                op,
                Op::Branch {
                    test: Test::Truth(true) | Test::IsNone(true),
                    ..
                }
            );
            let (jump, fall) = if jumps_when {
                (EdgeKind::True, EdgeKind::False)
            } else {
                (EdgeKind::False, EdgeKind::True)
            };
            let target = builder.block_of[target];
            builder.edge(block, target, jump, Some(last));
            fall_through(builder, fall, Some(last));
        }
    }
}

fn exception_edges(
    builder: &mut Builder,
    insts: &IndexVec<InstId, Inst>,
    regions: &[Region],
    prepared: &Prepared,
    block: BlockId,
) {
    let Block { start, end, .. } = builder.blocks[block];
    debug_assert!(end.index() <= insts.len());
    let row = builder.edges.len();
    for at in start.index()..end.index() {
        let explicit = match prepared.raise[at] {
            Raise::Never => continue,
            Raise::Always => true,
            Raise::May | Raise::IfUnbound => false,
        };
        let region = prepared.region[at];
        let target = if region == NO_REGION {
            builder.exceptional_exit
        } else {
            builder.block_of[regions[region as usize].handler]
        };
        let kind = EdgeKind::Exception { explicit };
        if !builder.edges[row..]
            .iter()
            .any(|edge| edge.to == target && edge.kind == kind)
        {
            builder.edge(block, target, kind, Some(InstId::from_index(at)));
        }
    }
}

#[derive(Default)]
struct Builder {
    blocks: IndexVec<BlockId, Block>,
    block_of: IndexVec<InstId, BlockId>,
    edges: Vec<Edge>,
    row_start: usize,
    normal_exit: BlockId,
    exceptional_exit: BlockId,
}

impl Builder {
    fn block(&mut self, start: InstId, end: InstId) {
        let id = self.blocks.push(Block {
            start,
            end,
            unreachable: true,
        });
        self.block_of.resize(end.index(), id);
    }
    fn exits(&mut self, count: usize) {
        let end = InstId::from_index(count);
        self.normal_exit = self.blocks.push(Block {
            start: end,
            end,
            unreachable: true,
        });
        self.exceptional_exit = self.blocks.push(Block {
            start: end,
            end,
            unreachable: true,
        });
    }
    fn edge(&mut self, from: BlockId, to: BlockId, kind: EdgeKind, inst: Option<InstId>) {
        self.edges.push(Edge { from, to, kind, inst });
    }
    /// Puts the edges of the block just done into their order; those of one kind stay as they were made.
    fn sort_row(&mut self) {
        self.edges[self.row_start..].sort_by_key(|edge| edge.kind);
        self.row_start = self.edges.len();
    }
    fn finish(mut self, count: usize) -> Cfg {
        if self.exceptional_exit.raw() == 0 {
            self.exits(count);
        }
        let block_count = self.blocks.len();
        let (successor_starts, _) = group(block_count, &self.edges, |edge| edge.from);
        let (predecessor_starts, predecessors) = group(block_count, &self.edges, |edge| edge.to);
        let mut cfg = Cfg {
            blocks: self.blocks,
            edges: IndexVec::from_raw(self.edges),
            successor_starts,
            predecessors,
            predecessor_starts,
            normal_exit: self.normal_exit,
            exceptional_exit: self.exceptional_exit,
            block_of: self.block_of,
        };
        mark_reachable(&mut cfg);
        cfg
    }
}

/// Counting sort of edges by one end.
fn group(block_count: usize, edges: &[Edge], end: impl Fn(&Edge) -> BlockId) -> (Vec<u32>, Vec<EdgeId>) {
    let mut starts = vec![0_u32; block_count + 1];
    for edge in edges {
        starts[end(edge).index() + 1] += 1;
    }
    for index in 0..block_count {
        starts[index + 1] += starts[index];
    }
    let mut next = starts.clone();
    let mut sorted = vec![EdgeId::new(0); edges.len()];
    for (index, edge) in edges.iter().enumerate() {
        let position = &mut next[end(edge).index()];
        sorted[*position as usize] = EdgeId::from_index(index);
        *position += 1;
    }
    (starts, sorted)
}

fn mark_reachable(cfg: &mut Cfg) {
    let mut work = vec![BlockId::new(0)];
    cfg.blocks[BlockId::new(0)].unreachable = false;
    while let Some(block) = work.pop() {
        let row = cfg.successor_starts[block.index()] as usize..cfg.successor_starts[block.index() + 1] as usize;
        for edge in &cfg.edges.as_slice()[row] {
            if std::mem::take(&mut cfg.blocks[edge.to].unreachable) {
                work.push(edge.to);
            }
        }
    }
}

impl Body {
    /// Whether an edge leads to the guard that turns a StopIteration out of a generator body into a RuntimeError: it
    /// carries no control dependence.
    #[must_use]
    pub fn is_guard_edge(&self, edge: EdgeId) -> bool {
        let Edge { to, kind, .. } = self.cfg.edges[edge];
        matches!(kind, EdgeKind::Exception { .. })
            && self
                .regions
                .iter()
                .any(|region| region.generator_guard && self.cfg.block_of[region.handler] == to)
    }
    /// The region whose handler a block is, if it is one.
    #[must_use]
    pub fn handler_region(&self, block: BlockId) -> Option<&Region> {
        let start = self.cfg.blocks[block].start;
        let is_code = start < self.cfg.blocks[block].end;
        self.regions.iter().find(|region| is_code && region.handler == start)
    }
}
