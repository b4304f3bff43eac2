//! Dominators and dominance frontiers.
//!
//! Lengauer and Tarjan (1979), "A fast algorithm for finding dominators in a flowgraph", with path compression:
//! O(edges · log nodes) on every graph. The simpler iterative algorithms are quadratic on long `elif` chains, which generated
//! code has. Frontiers: Cytron et al. (1991), "Efficiently computing static single assignment form", computed upwards from
//! each join as in Cooper, Harvey and Kennedy (2001), "A simple, fast dominance algorithm".

use crate::Csr;
use hognose_base::{Id, IndexVec};

const NONE: u32 = u32::MAX;

/// The dominator tree of the nodes that a root reaches.
#[derive(Clone, Debug)]
pub struct Dominators<N: Id> {
    root: N,
    idom: IndexVec<N, Option<N>>,
    children: Csr<N>,
    /// Position of each node in a preorder of the tree, and behind its last descendant; `(NONE, NONE)` if unreachable.
    interval: IndexVec<N, (u32, u32)>,
}

impl<N: Id> Dominators<N> {
    /// The dominators of `graph` from `root`. `reversed` must be `graph.reversed()`.
    #[must_use]
    pub fn new(graph: &Csr<N>, reversed: &Csr<N>, root: N) -> Self {
        let idom = LengauerTarjan::new(graph, root).run(reversed);
        let nodes = (0..idom.len()).map(N::from_index);
        let edges = nodes.filter_map(|node| Some((idom[node]?, node)));
        let children = Csr::from_edges(graph.node_count(), edges);
        let interval = preorder_intervals(&children, root);
        Self {
            root,
            idom,
            children,
            interval,
        }
    }
    /// The root.
    #[must_use]
    pub const fn root(&self) -> N {
        self.root
    }
    /// The immediate dominator; none for the root and for unreachable nodes.
    #[inline]
    #[must_use]
    pub fn immediate(&self, node: N) -> Option<N> {
        self.idom[node]
    }
    /// Whether the root reaches the node.
    #[inline]
    #[must_use]
    pub fn is_reachable(&self, node: N) -> bool {
        self.interval[node].0 != NONE
    }
    /// Whether `a` dominates `b` (each node dominates itself). False if either is unreachable. Constant time.
    #[inline]
    #[must_use]
    pub fn dominates(&self, a: N, b: N) -> bool {
        let ((start, end), (position, _)) = (self.interval[a], self.interval[b]);
        position != NONE && start <= position && position < end
    }
    /// Whether `a` dominates `b` and is another node.
    #[inline]
    #[must_use]
    pub fn strictly_dominates(&self, a: N, b: N) -> bool {
        a != b && self.dominates(a, b)
    }
    /// The nodes whose immediate dominator is `node`, ascending.
    #[must_use]
    pub fn children(&self, node: N) -> &[N] {
        self.children.successors(node)
    }
    /// The dominator tree as a graph from parents to children.
    #[must_use]
    pub const fn tree(&self) -> &Csr<N> {
        &self.children
    }
    /// `node`, its immediate dominator, and so on up to the root.
    pub fn ancestors(&self, node: N) -> impl Iterator<Item = N> + '_ {
        std::iter::successors(Some(node), |&node| self.idom[node])
    }
}

/// The dominance frontier of every node, as a graph: `f` follows `n` if `n` dominates a predecessor of `f` but does not
/// strictly dominate `f`. Rows are ascending. Time and memory are linear in the edges plus the size of the result.
#[must_use]
pub fn dominance_frontiers<N: Id>(reversed: &Csr<N>, dominators: &Dominators<N>) -> Csr<N> {
    let mut frontier_edges = Vec::new();
    let mut last_join: IndexVec<N, Option<N>> = IndexVec::from_elem(None, reversed.node_count());
    for join in reversed.nodes().filter(|&node| dominators.is_reachable(node)) {
        let stop = dominators.immediate(join);
        for &predecessor in reversed.successors(join) {
            if !dominators.is_reachable(predecessor) {
                continue;
            }
            let mut runner = Some(predecessor);
            while let Some(node) = runner.filter(|_| runner != stop) {
                // If the node has this join already, so have those above it.
                if last_join[node] == Some(join) {
                    break;
                }
                last_join[node] = Some(join);
                frontier_edges.push((node, join));
                runner = dominators.immediate(node);
            }
        }
    }
    Csr::from_edges(reversed.node_count(), frontier_edges)
}

fn preorder_intervals<N: Id>(children: &Csr<N>, root: N) -> IndexVec<N, (u32, u32)> {
    let mut interval = IndexVec::from_elem((NONE, NONE), children.node_count());
    let mut position = 0;
    let mut stack = vec![(root, 0_usize)];
    interval[root].0 = 0;
    while let Some((node, next)) = stack.last_mut() {
        if let Some(&child) = children.successors(*node).get(*next) {
            *next += 1;
            position += 1;
            interval[child].0 = position;
            stack.push((child, 0));
        } else {
            interval[*node].1 = position + 1;
            stack.pop();
        }
    }
    interval
}

/// State of the algorithm; everything but `number` is indexed by depth-first number.
struct LengauerTarjan<N: Id> {
    /// Depth-first number of each node, or `NONE`.
    number: IndexVec<N, u32>,
    node: Vec<N>,
    parent: Vec<u32>,
    semi: Vec<u32>,
    /// Parent in the forest of processed nodes, or `NONE`; shortened by path compression.
    ancestor: Vec<u32>,
    /// The node of smallest semidominator on the forest path that was compressed.
    label: Vec<u32>,
    path: Vec<u32>,
}

impl<N: Id> LengauerTarjan<N> {
    fn new(graph: &Csr<N>, root: N) -> Self {
        let mut number = IndexVec::from_elem(NONE, graph.node_count());
        let mut node: Vec<N> = Vec::new();
        let mut parent: Vec<u32> = Vec::new();
        let mut stack: Vec<(u32, usize)> = Vec::new();
        let mut visit = |at: N, from: u32, stack: &mut Vec<(u32, usize)>, node: &mut Vec<N>| {
            if number[at] == NONE {
                let own = u32::try_from(node.len()).unwrap_or(NONE - 1);
                number[at] = own;
                node.push(at);
                parent.push(from);
                stack.push((own, 0));
            }
        };
        visit(root, 0, &mut stack, &mut node);
        while let Some((at, next)) = stack.last_mut() {
            let from = *at;
            if let Some(&successor) = graph.successors(node[from as usize]).get(*next) {
                *next += 1;
                visit(successor, from, &mut stack, &mut node);
            } else {
                stack.pop();
            }
        }
        let count = u32::try_from(node.len()).unwrap_or(NONE - 1);
        let semi: Vec<u32> = (0..count).collect();
        let ancestor = vec![NONE; node.len()];
        Self {
            number,
            node,
            parent,
            label: semi.clone(),
            semi,
            ancestor,
            path: Vec::new(),
        }
    }

    fn run(mut self, reversed: &Csr<N>) -> IndexVec<N, Option<N>> {
        let count = self.node.len();
        let mut idom = vec![0_u32; count];
        // Nodes waiting for their semidominator `s`, as a list: `first_waiting[s]`, then `next_waiting`.
        let mut first_waiting = vec![NONE; count];
        let mut next_waiting = vec![NONE; count];
        for at in (1..count).rev() {
            for &predecessor in reversed.successors(self.node[at]) {
                let predecessor = self.number[predecessor];
                if predecessor != NONE {
                    let best = self.eval(predecessor);
                    self.semi[at] = self.semi[at].min(self.semi[best as usize]);
                }
            }
            let semi = self.semi[at] as usize;
            let at_number = u32::try_from(at).unwrap_or(NONE - 1);
            next_waiting[at] = std::mem::replace(&mut first_waiting[semi], at_number);
            let parent = self.parent[at];
            self.ancestor[at] = parent;
            let mut waiting = std::mem::replace(&mut first_waiting[parent as usize], NONE);
            while waiting != NONE {
                let best = self.eval(waiting);
                let lower = self.semi[best as usize] < self.semi[waiting as usize];
                idom[waiting as usize] = if lower { best } else { parent };
                waiting = next_waiting[waiting as usize];
            }
        }
        let mut result = IndexVec::from_elem(None, self.number.len());
        for at in 1..count {
            if idom[at] != self.semi[at] {
                idom[at] = idom[idom[at] as usize];
            }
            result[self.node[at]] = Some(self.node[idom[at] as usize]);
        }
        result
    }

    /// The node of smallest semidominator on the forest path from `at` up to, not including, the root of its tree.
    fn eval(&mut self, at: u32) -> u32 {
        if self.ancestor[at as usize] == NONE {
            return self.label[at as usize];
        }
        let mut top = at;
        while self.ancestor[self.ancestor[top as usize] as usize] != NONE {
            self.path.push(top);
            top = self.ancestor[top as usize];
        }
        while let Some(node) = self.path.pop() {
            let (node, above) = (node as usize, self.ancestor[node as usize] as usize);
            let (own, upper) = (self.label[node], self.label[above]);
            if self.semi[upper as usize] < self.semi[own as usize] {
                self.label[node] = upper;
            }
            self.ancestor[node] = self.ancestor[above];
        }
        self.label[at as usize]
    }
}
