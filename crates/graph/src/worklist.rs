//! Worklists that hold each node at most once.

use crate::NodeSet;
use hognose_base::{Id, IndexVec};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// First in, first out. A node that waits already is not added again.
#[derive(Clone, Debug)]
pub struct Worklist<N: Id> {
    queue: VecDeque<N>,
    waiting: NodeSet<N>,
}

impl<N: Id> Worklist<N> {
    /// An empty list for about `node_count` nodes; it grows as needed.
    #[must_use]
    pub fn with_node_count(node_count: usize) -> Self {
        Self {
            queue: VecDeque::new(),
            waiting: NodeSet::with_node_count(node_count),
        }
    }
    /// Adds a node unless it waits already; whether it was added.
    #[inline]
    pub fn push(&mut self, node: N) -> bool {
        let new = self.waiting.insert(node);
        if new {
            self.queue.push_back(node);
        }
        new
    }
    /// Takes the node that has waited longest.
    #[inline]
    pub fn pop(&mut self) -> Option<N> {
        let node = self.queue.pop_front()?;
        self.waiting.remove(node);
        Some(node)
    }
    /// Number of waiting nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }
    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

impl<N: Id> Default for Worklist<N> {
    fn default() -> Self {
        Self::with_node_count(0)
    }
}

impl<N: Id> Extend<N> for Worklist<N> {
    fn extend<I: IntoIterator<Item = N>>(&mut self, nodes: I) {
        for node in nodes {
            self.push(node);
        }
    }
}

/// Smallest rank first, equal ranks by id. A node that waits already is not added again.
///
/// The rank of a node may change while it waits; the change counts from its next `push` on.
#[derive(Clone, Debug)]
pub struct PriorityWorklist<N: Id> {
    heap: BinaryHeap<Reverse<(u32, N)>>,
    waiting: NodeSet<N>,
    ranks: IndexVec<N, u32>,
}

impl<N: Id> PriorityWorklist<N> {
    /// An empty list with a rank per node. Nodes without one come last.
    #[must_use]
    pub fn with_ranks(ranks: IndexVec<N, u32>) -> Self {
        Self {
            heap: BinaryHeap::new(),
            waiting: NodeSet::with_node_count(ranks.len()),
            ranks,
        }
    }
    /// An empty list that follows an order, for instance [`crate::reverse_postorder`]. Nodes outside it come last.
    #[must_use]
    pub fn in_order(node_count: usize, order: &[N]) -> Self {
        let mut ranks = IndexVec::from_elem(u32::MAX, node_count);
        for (rank, &node) in order.iter().enumerate() {
            ranks[node] = u32::try_from(rank).unwrap_or(u32::MAX);
        }
        Self::with_ranks(ranks)
    }
    /// Adds a node unless it waits already; whether it was added.
    #[inline]
    pub fn push(&mut self, node: N) -> bool {
        let new = self.waiting.insert(node);
        if new {
            let rank = self.ranks.get(node).copied().unwrap_or(u32::MAX);
            self.heap.push(Reverse((rank, node)));
        }
        new
    }
    /// Takes the node of smallest rank.
    #[inline]
    pub fn pop(&mut self) -> Option<N> {
        let Reverse((_, node)) = self.heap.pop()?;
        self.waiting.remove(node);
        Some(node)
    }
    /// Gives a node a rank.
    pub fn set_rank(&mut self, node: N, rank: u32) {
        if node.index() >= self.ranks.len() {
            self.ranks.resize(node.index() + 1, u32::MAX);
        }
        self.ranks[node] = rank;
    }
    /// Number of waiting nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }
    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}
