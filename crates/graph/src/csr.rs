//! Compressed sparse rows.

use hognose_base::Id;
use std::fmt;

/// A directed graph: the successors of each node are one slice of a shared array.
///
/// Parallel edges and self loops are kept; the order of a node's edges is their order in the edge list.
#[derive(Clone, PartialEq, Eq)]
pub struct Csr<N> {
    /// Successors of node `n` are `targets[starts[n]..starts[n + 1]]`.
    starts: Vec<u32>,
    targets: Vec<N>,
}

impl<N: Id> Csr<N> {
    /// The graph with `node_count` nodes and these edges, built by counting sort in linear time.
    ///
    /// # Panics
    /// If an edge names a node outside `0..node_count`, or there are more than `u32::MAX` edges.
    #[must_use]
    pub fn from_edges<I>(node_count: usize, edges: I) -> Self
    where
        I: IntoIterator<Item = (N, N)>,
        I::IntoIter: Clone,
    {
        let edges = edges.into_iter();
        let mut starts = vec![0_u32; node_count + 1];
        let mut total = 0_usize;
        let mut anything = None;
        for (from, to) in edges.clone() {
            assert!(to.index() < node_count, "edge to a node outside the graph");
            starts[from.index() + 1] += 1;
            total += 1;
            anything = Some(to);
        }
        assert!(u32::try_from(total).is_ok(), "too many edges");
        for index in 0..node_count {
            starts[index + 1] += starts[index];
        }
        let mut targets = anything.map_or_else(Vec::new, |filler| vec![filler; total]);
        // `starts[n]` serves as the write position of row `n`; afterwards it is the row's end, so it is moved by one.
        for (from, to) in edges {
            let position = &mut starts[from.index()];
            targets[*position as usize] = to;
            *position += 1;
        }
        starts.copy_within(0..node_count, 1);
        starts[0] = 0;
        Self { starts, targets }
    }

    /// Number of nodes.
    #[inline]
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.starts.len() - 1
    }
    /// Number of edges, parallel ones counted.
    #[inline]
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.targets.len()
    }
    /// All nodes in order.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = N> + ExactSizeIterator + use<N> {
        (0..self.node_count()).map(N::from_index)
    }
    /// Successors of a node.
    #[inline]
    #[must_use]
    pub fn successors(&self, node: N) -> &[N] {
        let index = node.index();
        &self.targets[self.starts[index] as usize..self.starts[index + 1] as usize]
    }
    /// All edges, sorted by source.
    pub fn edges(&self) -> impl Iterator<Item = (N, N)> + Clone + '_ {
        (0..self.node_count())
            .map(N::from_index)
            .flat_map(|from| self.successors(from).iter().map(move |&to| (from, to)))
    }
    /// The graph with every edge turned round.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self::from_edges(self.node_count(), self.edges().map(|(from, to)| (to, from)))
    }
    /// The graph with sorted rows and without parallel edges.
    #[must_use]
    pub fn simple(&self) -> Self {
        // Turning round twice sorts the rows in linear time.
        let sorted = self.reversed().reversed();
        let mut starts = Vec::with_capacity(sorted.starts.len());
        let mut targets: Vec<N> = Vec::with_capacity(sorted.targets.len());
        starts.push(0);
        for node in sorted.nodes() {
            let row_start = targets.len();
            for &to in sorted.successors(node) {
                if targets.len() == row_start || targets.last() != Some(&to) {
                    targets.push(to);
                }
            }
            starts.push(u32::try_from(targets.len()).unwrap_or(u32::MAX));
        }
        Self { starts, targets }
    }
}

impl<N: Id> fmt::Debug for Csr<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.nodes().map(|node| (node, self.successors(node))))
            .finish()
    }
}
