//! Reachability as bit sets.

use crate::{Component, Components, Csr};
use fixedbitset::FixedBitSet;
use hognose_base::{Id, IndexVec};
use std::fmt;
use std::marker::PhantomData;

/// A set of nodes, one bit per node of the graph.
#[derive(Clone, PartialEq, Eq)]
pub struct NodeSet<N> {
    bits: FixedBitSet,
    marker: PhantomData<fn(N)>,
}

impl<N: Id> NodeSet<N> {
    /// The empty set, with room for `node_count` nodes.
    #[must_use]
    pub fn with_node_count(node_count: usize) -> Self {
        Self {
            bits: FixedBitSet::with_capacity(node_count),
            marker: PhantomData,
        }
    }
    /// Adds a node, growing as needed; whether it was new.
    #[inline]
    pub fn insert(&mut self, node: N) -> bool {
        let index = node.index();
        if index >= self.bits.len() {
            self.bits.grow((index + 1).next_power_of_two());
        }
        !self.bits.put(index)
    }
    /// Takes a node out; whether it was in.
    #[inline]
    pub fn remove(&mut self, node: N) -> bool {
        let present = self.contains(node);
        if present {
            self.bits.set(node.index(), false);
        }
        present
    }
    /// Whether the node is in the set.
    #[inline]
    #[must_use]
    pub fn contains(&self, node: N) -> bool {
        self.bits.contains(node.index())
    }
    /// Number of nodes in the set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bits.count_ones(..)
    }
    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bits.is_clear()
    }
    /// The nodes, ascending.
    pub fn iter(&self) -> impl Iterator<Item = N> + '_ {
        self.bits.ones().map(N::from_index)
    }
    /// Adds all nodes of another set.
    pub fn union_with(&mut self, other: &Self) {
        self.bits.union_with(&other.bits);
    }
    /// Keeps only the nodes that are in the other set too.
    pub fn intersect_with(&mut self, other: &Self) {
        self.bits.intersect_with(&other.bits);
    }
    /// Takes all nodes out.
    pub fn clear(&mut self) {
        self.bits.clear();
    }
}

impl<N: Id> fmt::Debug for NodeSet<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<N: Id> FromIterator<N> for NodeSet<N> {
    fn from_iter<I: IntoIterator<Item = N>>(nodes: I) -> Self {
        let mut set = Self::with_node_count(0);
        for node in nodes {
            set.insert(node);
        }
        set
    }
}

/// The nodes that `starts` reach, themselves included.
#[must_use]
pub fn reachable<N: Id>(graph: &Csr<N>, starts: impl IntoIterator<Item = N>) -> NodeSet<N> {
    let mut seen = NodeSet::with_node_count(graph.node_count());
    let mut stack: Vec<N> = starts.into_iter().filter(|&start| seen.insert(start)).collect();
    while let Some(node) = stack.pop() {
        stack.extend(graph.successors(node).iter().copied().filter(|&next| seen.insert(next)));
    }
    seen
}

/// Which node reaches which, for all pairs: one bit set per component, so memory is components × nodes bits.
///
/// Purdom (1970), "A transitive closure algorithm".
#[derive(Clone, Debug)]
pub struct TransitiveClosure<N: Id> {
    components: Components<N>,
    rows: IndexVec<Component, NodeSet<N>>,
}

impl<N: Id> TransitiveClosure<N> {
    /// The closure of a graph.
    #[must_use]
    pub fn of(graph: &Csr<N>) -> Self {
        let components = Components::of(graph);
        let condensed = components.condensation(graph);
        let mut rows: IndexVec<Component, NodeSet<N>> = IndexVec::with_capacity(components.len());
        // Components come in reverse topological order, so the rows of all successors are complete.
        for component in components.ids() {
            let mut row = NodeSet::with_node_count(graph.node_count());
            for &next in condensed.successors(component) {
                row.union_with(&rows[next]);
                for &member in components.members(next) {
                    row.insert(member);
                }
            }
            if components.is_cyclic(component) {
                for &member in components.members(component) {
                    row.insert(member);
                }
            }
            rows.push(row);
        }
        Self { components, rows }
    }
    /// The nodes at the end of a path of at least one edge from `node`.
    #[must_use]
    pub fn reached_from(&self, node: N) -> &NodeSet<N> {
        &self.rows[self.components.component(node)]
    }
    /// Whether a path of at least one edge leads from `from` to `to`.
    #[must_use]
    pub fn reaches(&self, from: N, to: N) -> bool {
        self.reached_from(from).contains(to)
    }
    /// The components of the graph.
    #[must_use]
    pub const fn components(&self) -> &Components<N> {
        &self.components
    }
}
