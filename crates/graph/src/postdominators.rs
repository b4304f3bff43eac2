//! Post-dominators over a virtual exit.
//!
//! The *virtual exit* stands behind all exits, so that the tree has one root. A region that cannot reach it (an endless
//! loop, a node without successors that is no exit) would have no post-dominators at all; each component of such a region that
//! leads nowhere else gets a *virtual edge* from its smallest node to the virtual exit, so that every node has a place in
//! the tree. See Ferrante, Ottenstein and Warren (1987), "The program dependence graph and its use in optimization"; for
//! graphs without a reachable exit Ranganath et al. (2007), "A new foundation for control dependence and slicing".

use crate::{Components, Csr, Dominators, NodeSet, reachable};
use hognose_base::Id;

/// The post-dominator tree of all nodes of a graph.
#[derive(Clone, Debug)]
pub struct PostDominators<N: Id> {
    tree: Dominators<N>,
    virtual_edges: Vec<N>,
}

impl<N: Id> PostDominators<N> {
    /// The post-dominators of `graph`, in which `exits` lead to the virtual exit.
    #[must_use]
    pub fn new(graph: &Csr<N>, exits: &[N]) -> Self {
        let count = graph.node_count();
        let reversed = graph.reversed();
        let virtual_edges = virtual_edges(graph, &reachable(&reversed, exits.iter().copied()));
        let exit = N::from_index(count);
        let to_exit = exits.iter().chain(&virtual_edges).map(|&node| (node, exit));
        let forward = Csr::from_edges(count + 1, graph.edges().chain(to_exit));
        let tree = Dominators::new(&forward.reversed(), &forward, exit);
        Self { tree, virtual_edges }
    }
    /// The virtual exit: the node behind the last node of the graph.
    #[must_use]
    pub const fn virtual_exit(&self) -> N {
        self.tree.root()
    }
    /// The immediate post-dominator; none if it is the virtual exit.
    #[inline]
    #[must_use]
    pub fn immediate(&self, node: N) -> Option<N> {
        self.tree.immediate(node).filter(|&above| above != self.tree.root())
    }
    /// Whether `a` post-dominates `b` (each node post-dominates itself). Constant time.
    #[inline]
    #[must_use]
    pub fn post_dominates(&self, a: N, b: N) -> bool {
        self.tree.dominates(a, b)
    }
    /// Whether `a` post-dominates `b` and is another node.
    #[inline]
    #[must_use]
    pub fn strictly_post_dominates(&self, a: N, b: N) -> bool {
        self.tree.strictly_dominates(a, b)
    }
    /// `node`, its immediate post-dominator, and so on; without the virtual exit.
    pub fn ancestors(&self, node: N) -> impl Iterator<Item = N> + '_ {
        std::iter::successors(Some(node), |&node| self.immediate(node))
    }
    /// The nodes that got a virtual edge because they cannot reach an exit.
    #[must_use]
    pub fn virtual_edges(&self) -> &[N] {
        &self.virtual_edges
    }
    /// The tree, rooted in the virtual exit.
    #[must_use]
    pub const fn tree(&self) -> &Dominators<N> {
        &self.tree
    }
}

/// The smallest node of each component that leads nowhere else and is not among `reaching` (the nodes that reach an exit).
fn virtual_edges<N: Id>(graph: &Csr<N>, reaching: &NodeSet<N>) -> Vec<N> {
    if reaching.len() == graph.node_count() {
        return Vec::new();
    }
    let components = Components::of(graph);
    let mut sinks: Vec<N> = components
        .ids()
        .filter_map(|component| {
            let members = components.members(component);
            let leaves = |&node: &N| {
                graph
                    .successors(node)
                    .iter()
                    .any(|&to| components.component(to) != component)
            };
            let first = *members.first()?;
            (!reaching.contains(first) && !members.iter().any(leaves)).then_some(first)
        })
        .collect();
    sinks.sort_unstable();
    sinks
}
