//! Depth-first orders.

use crate::Csr;
use fixedbitset::FixedBitSet;
use hognose_base::Id;

/// The nodes reachable from the roots, each behind its depth-first descendants. Successors are visited in edge order.
#[must_use]
pub fn postorder<N: Id>(graph: &Csr<N>, roots: &[N]) -> Vec<N> {
    let mut seen = FixedBitSet::with_capacity(graph.node_count());
    let mut order = Vec::new();
    let mut stack: Vec<(N, usize)> = Vec::new();
    for &root in roots {
        if !seen.put(root.index()) {
            stack.push((root, 0));
        }
        while let Some((node, next)) = stack.last_mut() {
            if let Some(&successor) = graph.successors(*node).get(*next) {
                *next += 1;
                if !seen.put(successor.index()) {
                    stack.push((successor, 0));
                }
            } else {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order
}

/// The nodes reachable from the roots in reverse postorder: in a graph without cycles, a topological order.
#[must_use]
pub fn reverse_postorder<N: Id>(graph: &Csr<N>, roots: &[N]) -> Vec<N> {
    let mut order = postorder(graph, roots);
    order.reverse();
    order
}
