//! Strongly connected components.
//!
//! Tarjan (1972), "Depth-first search and linear graph algorithms", in the form of Pearce (2016), "A space-efficient
//! algorithm for finding strongly connected components": one number per node, which is first its visit number and then its
//! component's. The recursion is an explicit stack.

use crate::Csr;
use fixedbitset::FixedBitSet;
use hognose_base::{Id, IndexVec, define_id};

define_id! {
    /// A strongly connected component. Edges between components go from larger numbers to smaller ones.
    pub struct Component = "scc";
}

/// The strongly connected components of a graph, in reverse topological order.
#[derive(Clone, Debug)]
pub struct Components<N: Id> {
    component_of: IndexVec<N, Component>,
    /// Members of each component, ascending.
    members: Csr<N>,
    /// Components of one node without a self loop are not in here.
    cyclic: FixedBitSet,
}

impl<N: Id> Components<N> {
    /// The components of a graph.
    #[must_use]
    pub fn of(graph: &Csr<N>) -> Self {
        Self::of_successors(graph.node_count(), |node, successors| {
            successors.extend_from_slice(graph.successors(node));
        })
    }

    /// The components of a graph given by a function that appends the successors of a node to the vector.
    ///
    /// The function is called once per node. Successors outside `0..node_count` are ignored.
    #[must_use]
    pub fn of_successors(node_count: usize, append_successors: impl FnMut(N, &mut Vec<N>)) -> Self {
        let mut search = Search {
            number: vec![0; node_count],
            next_visit: 1,
            next_component: u32::MAX,
            finished: Vec::new(),
            frames: Vec::new(),
            pending: Vec::new(),
            self_loops: FixedBitSet::with_capacity(node_count),
            append_successors,
        };
        for index in 0..node_count {
            if search.number[index] == 0 {
                search.run(N::from_index(index));
            }
        }
        Self::collect(&search.number, u32::MAX - search.next_component, &search.self_loops)
    }

    fn collect(number: &[u32], count: u32, self_loops: &FixedBitSet) -> Self {
        let count = count as usize;
        let component_of: IndexVec<N, Component> =
            number.iter().map(|&number| Component::new(u32::MAX - number)).collect();
        // Rows of `Csr` are indexed by node type; a component has the same dense form and never a larger number.
        let edges = component_of
            .iter_enumerated()
            .map(|(node, &component)| (N::from_index(component.index()), node));
        let members = Csr::from_edges(number.len(), edges.collect::<Vec<_>>());
        let mut cyclic = FixedBitSet::with_capacity(count);
        for component in 0..count {
            let members = members.successors(N::from_index(component));
            cyclic.set(
                component,
                members.len() > 1 || members.iter().any(|node| self_loops.contains(node.index())),
            );
        }
        Self {
            component_of,
            members,
            cyclic,
        }
    }

    /// Number of components.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cyclic.len()
    }
    /// Whether the graph has no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// All components, successors before predecessors.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = Component> + ExactSizeIterator + use<N> {
        (0..self.len()).map(Component::from_index)
    }
    /// The component of a node.
    #[inline]
    #[must_use]
    pub fn component(&self, node: N) -> Component {
        self.component_of[node]
    }
    /// The nodes of a component, ascending.
    #[must_use]
    pub fn members(&self, component: Component) -> &[N] {
        self.members.successors(N::from_index(component.index()))
    }
    /// Whether a node of the component lies on a cycle (more than one node, or a self loop).
    #[must_use]
    pub fn is_cyclic(&self, component: Component) -> bool {
        self.cyclic.contains(component.index())
    }
    /// The graph of components, without self loops and parallel edges.
    #[must_use]
    pub fn condensation(&self, graph: &Csr<N>) -> Csr<Component> {
        let edges = graph
            .edges()
            .map(|(from, to)| (self.component(from), self.component(to)))
            .filter(|(from, to)| from != to);
        Csr::from_edges(self.len(), edges).simple()
    }
}

/// A node that is being visited.
struct Frame<N> {
    node: N,
    /// Its successors not yet looked at are `pending[first_pending..]` as long as it is the top frame.
    first_pending: usize,
    /// No successor reaches a node visited earlier, so far.
    is_root: bool,
}

struct Search<N, F> {
    /// 0 = not visited; else the smallest visit number known to be reachable; else `u32::MAX - component`.
    number: Vec<u32>,
    next_visit: u32,
    next_component: u32,
    /// Visited nodes whose component is not complete.
    finished: Vec<N>,
    frames: Vec<Frame<N>>,
    pending: Vec<N>,
    self_loops: FixedBitSet,
    append_successors: F,
}

impl<N: Id, F: FnMut(N, &mut Vec<N>)> Search<N, F> {
    fn run(&mut self, start: N) {
        self.enter(start);
        while let Some(frame) = self.frames.last_mut() {
            if self.pending.len() > frame.first_pending {
                let Some(next) = self.pending.pop() else { break };
                let node = frame.node;
                if next.index() >= self.number.len() {
                    continue;
                }
                if next == node {
                    self.self_loops.insert(node.index());
                } else if self.number[next.index()] == 0 {
                    self.enter(next);
                } else {
                    self.relax(next);
                }
            } else if let Some(frame) = self.frames.pop() {
                self.leave(&frame);
                if !self.frames.is_empty() {
                    self.relax(frame.node);
                }
            }
        }
    }

    fn enter(&mut self, node: N) {
        self.number[node.index()] = self.next_visit;
        self.next_visit += 1;
        let first_pending = self.pending.len();
        (self.append_successors)(node, &mut self.pending);
        self.frames.push(Frame {
            node,
            first_pending,
            is_root: true,
        });
    }

    /// The top frame has an edge to `next`, which has been visited. Numbers of complete components are larger than any
    /// visit number.
    fn relax(&mut self, next: N) {
        if let Some(frame) = self.frames.last_mut() {
            let reached = self.number[next.index()];
            let own = &mut self.number[frame.node.index()];
            if reached < *own {
                *own = reached;
                frame.is_root = false;
            }
        }
    }

    fn leave(&mut self, frame: &Frame<N>) {
        if !frame.is_root {
            self.finished.push(frame.node);
            return;
        }
        let root_number = self.number[frame.node.index()];
        self.next_visit -= 1;
        while let Some(&top) = self.finished.last() {
            if self.number[top.index()] < root_number {
                break;
            }
            self.finished.pop();
            self.number[top.index()] = self.next_component;
            self.next_visit -= 1;
        }
        self.number[frame.node.index()] = self.next_component;
        self.next_component -= 1;
    }
}
