//! Algorithms on directed graphs whose nodes are dense ids. Knows no Python.
//!
//! Vocabulary: a *graph* is a [`Csr`] (compressed sparse rows): the successors of a node are one slice. A *component* is a
//! strongly connected component; components are numbered in *reverse topological order*, so an edge between two components
//! always goes from the larger number to the smaller. `a` *dominates* `b` if every path from the root to `b` passes `a`;
//! it *post-dominates* `b` if every path from `b` to the exit passes `a`.
//!
//! Nothing here recurses, so the depth of a graph is bounded by memory alone; and every result is a function of the graph
//! and the order of its edges.

mod csr;
mod dominators;
mod order;
mod postdominators;
mod reach;
mod scc;
mod union_find;
mod worklist;

pub use csr::Csr;
pub use dominators::{Dominators, dominance_frontiers};
pub use order::{postorder, reverse_postorder};
pub use postdominators::PostDominators;
pub use reach::{NodeSet, TransitiveClosure, reachable};
pub use scc::{Component, Components};
pub use union_find::UnionFind;
pub use worklist::{PriorityWorklist, Worklist};
