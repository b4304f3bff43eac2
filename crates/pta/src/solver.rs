//! The constraint graph and its fixed point: difference propagation over inclusion edges.
//!
//! Knows nodes, sets, edges and listeners, no Python. The engine reacts to what arrives at a listener through
//! [`Solver::step`]. Pearce, Kelly and Hankin (2003), "Online cycle detection and difference propagation for pointer
//! analysis"; Hardekopf and Lin (2007), "The ant and the grasshopper", for lazy cycle detection.

use crate::ids::{NodeId, ObjId};
use crate::set::PtsSet;
use hognose_base::{IndexVec, ReasonSet, UnresolvedKind};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Who wants to know what arrives at a node: a number that means something to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Listener(pub u32);

const END: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Link<T> {
    item: T,
    next: u32,
}

/// What arrived at a node.
#[derive(Debug, Default)]
pub(crate) struct Delta {
    /// Objects that are new at the node.
    pub objects: Vec<ObjId>,
    /// Reasons that are new at the node.
    pub reasons: ReasonSet,
}

/// Counters of the solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SolverStats {
    /// Nodes taken from the worklist.
    pub steps: u64,
    /// Set unions along edges.
    pub propagations: u64,
    /// Edges.
    pub edges: u64,
    /// Nodes merged into another.
    pub merged: u64,
}

/// Nodes, their sets and the edges between them.
#[derive(Debug, Default)]
pub(crate) struct Solver {
    sets: IndexVec<NodeId, PtsSet>,
    reasons: IndexVec<NodeId, ReasonSet>,
    /// Union-find over merged nodes.
    parent: IndexVec<NodeId, NodeId>,
    edge_heads: IndexVec<NodeId, u32>,
    edges: Vec<Link<NodeId>>,
    listener_heads: IndexVec<NodeId, u32>,
    listeners: Vec<Link<Listener>>,
    known_edges: FxHashSet<(NodeId, NodeId)>,
    /// 1 + place in `deltas`, or 0.
    pending: IndexVec<NodeId, u32>,
    deltas: Vec<Delta>,
    free_deltas: Vec<u32>,
    queue: VecDeque<NodeId>,
    /// Edges along which cycle detection was tried.
    tried: FxHashSet<(NodeId, NodeId)>,
    /// Objects a node may hold; what comes after is dropped and the node carries the reason *budget*.
    pub limit: usize,
    /// Counters.
    pub stats: SolverStats,
}

impl Solver {
    /// A new node.
    pub(crate) fn node(&mut self) -> NodeId {
        self.nodes(1)
    }
    /// So many new nodes in a row; the first.
    pub(crate) fn nodes(&mut self, count: u32) -> NodeId {
        let first = self.sets.next_id();
        let total = self.sets.len() + count as usize;
        self.sets.resize(total, PtsSet::Empty);
        self.reasons.resize(total, ReasonSet::EMPTY);
        self.parent.extend((first.raw()..first.raw() + count).map(NodeId::new));
        self.edge_heads.resize(total, END);
        self.listener_heads.resize(total, END);
        self.pending.resize(total, 0);
        first
    }
    /// Number of nodes.
    #[must_use]
    pub(crate) fn node_count(&self) -> usize {
        self.sets.len()
    }
    /// The node that stands for `node`.
    #[inline]
    #[must_use]
    pub(crate) fn find(&self, mut node: NodeId) -> NodeId {
        while self.parent[node] != node {
            node = self.parent[node];
        }
        node
    }
    fn find_compress(&mut self, node: NodeId) -> NodeId {
        let root = self.find(node);
        let mut at = node;
        while self.parent[at] != root {
            at = std::mem::replace(&mut self.parent[at], root);
        }
        root
    }
    /// The points-to set of a node.
    #[must_use]
    pub(crate) fn set(&self, node: NodeId) -> &PtsSet {
        &self.sets[self.find(node)]
    }
    /// The reasons at a node.
    #[must_use]
    pub(crate) fn reasons(&self, node: NodeId) -> ReasonSet {
        self.reasons[self.find(node)]
    }

    /// Adds one object.
    pub(crate) fn add_object(&mut self, node: NodeId, object: ObjId) {
        let node = self.find_compress(node);
        if self.is_full(node) {
            if !self.sets[node].contains(object) {
                self.add_reasons(node, ReasonSet::of(UnresolvedKind::Budget));
            }
        } else if self.sets[node].insert(object) {
            self.delta(node).objects.push(object);
        }
    }
    /// Whether a node takes no more objects: a value that may be hundreds of things says nothing, and costs its size
    /// wherever it flows.
    fn is_full(&self, node: NodeId) -> bool {
        self.limit > 0 && self.sets[node].len() >= self.limit
    }
    /// Adds reasons.
    pub(crate) fn add_reasons(&mut self, node: NodeId, reasons: ReasonSet) {
        let node = self.find_compress(node);
        let fresh = reasons.minus(self.reasons[node]);
        if !fresh.is_empty() {
            self.reasons[node].insert_all(fresh);
            self.delta(node).reasons.insert_all(fresh);
        }
    }

    fn delta(&mut self, node: NodeId) -> &mut Delta {
        let mut place = self.pending[node];
        if place == 0 {
            place = match self.free_deltas.pop() {
                Some(place) => place,
                None => {
                    self.deltas.push(Delta::default());
                    u32::try_from(self.deltas.len()).unwrap_or(u32::MAX)
                }
            };
            self.pending[node] = place;
            self.queue.push_back(node);
        }
        &mut self.deltas[place as usize - 1]
    }

    /// Adds an inclusion edge; what is at `from` flows at once.
    pub(crate) fn add_edge(&mut self, from: NodeId, to: NodeId) {
        let (from, to) = (self.find_compress(from), self.find_compress(to));
        if from == to || !self.known_edges.insert((from, to)) {
            return;
        }
        self.link(from, to);
        self.flow_all(from, to);
    }

    fn link(&mut self, from: NodeId, to: NodeId) {
        let place = u32::try_from(self.edges.len()).unwrap_or(END);
        self.edges.push(Link {
            item: to,
            next: self.edge_heads[from],
        });
        self.edge_heads[from] = place;
        self.stats.edges += 1;
    }

    fn flow_all(&mut self, from: NodeId, to: NodeId) {
        if !self.sets[from].is_empty() {
            let members = self.sets[from].to_vec();
            self.receive(to, &members, ReasonSet::EMPTY);
        }
        let reasons = self.reasons[from];
        if !reasons.is_empty() {
            self.add_reasons(to, reasons);
        }
    }

    /// Adds a group of objects; whether anything was new.
    fn receive(&mut self, to: NodeId, objects: &[ObjId], reasons: ReasonSet) -> bool {
        let mut fresh = Vec::new();
        if self.is_full(to) {
            if !reasons.contains(UnresolvedKind::Budget)
                && objects.iter().any(|&object| !self.sets[to].contains(object))
            {
                self.add_reasons(to, ReasonSet::of(UnresolvedKind::Budget));
            }
        } else {
            self.sets[to].insert_all(objects, &mut fresh);
        }
        let new = !fresh.is_empty();
        if new {
            let delta = self.delta(to);
            if delta.objects.is_empty() {
                delta.objects = fresh;
            } else {
                delta.objects.append(&mut fresh);
            }
        }
        let fresh_reasons = reasons.minus(self.reasons[to]);
        if !fresh_reasons.is_empty() {
            self.add_reasons(to, fresh_reasons);
        }
        new
    }

    /// Subscribes to a node. What is there already must be handed to the listener by the caller (see
    /// [`Solver::current`]).
    pub(crate) fn listen(&mut self, node: NodeId, listener: Listener) {
        let node = self.find_compress(node);
        let place = u32::try_from(self.listeners.len()).unwrap_or(END);
        self.listeners.push(Link {
            item: listener,
            next: self.listener_heads[node],
        });
        self.listener_heads[node] = place;
    }
    /// The listeners of a node, in the order in which they subscribed.
    pub(crate) fn listeners_of(&self, node: NodeId) -> Vec<Listener> {
        let mut listeners = Vec::new();
        let mut at = self.listener_heads[self.find(node)];
        while at != END {
            let link = self.listeners[at as usize];
            listeners.push(link.item);
            at = link.next;
        }
        listeners.reverse();
        listeners
    }
    /// What a new listener of a node has missed. What is pending at the node is not part of it: it will be delivered.
    #[must_use]
    pub(crate) fn current(&self, node: NodeId) -> Delta {
        let node = self.find(node);
        let mut objects = self.sets[node].to_vec();
        let mut reasons = self.reasons[node];
        let place = self.pending[node];
        if place != 0 {
            let pending = &self.deltas[place as usize - 1];
            if !pending.objects.is_empty() {
                let late: FxHashSet<ObjId> = pending.objects.iter().copied().collect();
                objects.retain(|object| !late.contains(object));
            }
            reasons = reasons.minus(pending.reasons);
        }
        Delta { objects, reasons }
    }

    /// Takes one node from the worklist and passes its delta along its edges. Returns the delta and its listeners for
    /// the engine, or `None` when the worklist is empty.
    pub(crate) fn step(&mut self, listeners: &mut Vec<Listener>) -> Option<Delta> {
        listeners.clear();
        let node = loop {
            let node = self.queue.pop_front()?;
            if self.pending[node] != 0 {
                break node;
            }
        };
        self.stats.steps += 1;
        let place = std::mem::take(&mut self.pending[node]);
        let mut delta = std::mem::take(&mut self.deltas[place as usize - 1]);
        delta.objects.sort_unstable();
        self.free_deltas.push(place);
        let mut cycle_with = None;
        let mut at = self.edge_heads[node];
        while at != END {
            let link = self.edges[at as usize];
            at = link.next;
            let to = self.find(link.item);
            if to == node {
                continue;
            }
            self.stats.propagations += 1;
            let grew = self.receive(to, &delta.objects, delta.reasons);
            // Lazy cycle detection: nothing new went along and both ends agree, so they may be on a cycle.
            if !grew
                && !delta.objects.is_empty()
                && cycle_with.is_none()
                && self.sets[to].len() == self.sets[node].len()
                && self.tried.insert((node, to))
            {
                cycle_with = Some(to);
            }
        }
        let mut at = self.listener_heads[node];
        while at != END {
            let link = self.listeners[at as usize];
            listeners.push(link.item);
            at = link.next;
        }
        // Listeners are linked newest first; the engine wants the order in which they subscribed.
        listeners.reverse();
        if let Some(to) = cycle_with {
            self.collapse_cycle(to, node);
        }
        Some(delta)
    }

    /// Merges the nodes on paths `from -> ... -> to` when there is an edge `to -> from`. The search is bounded.
    fn collapse_cycle(&mut self, from: NodeId, to: NodeId) {
        const LIMIT: usize = 2000;
        let mut path: Vec<(NodeId, u32)> = vec![(from, self.edge_heads[from])];
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut visited = 0;
        seen.insert(from);
        let mut on_cycle = Vec::new();
        while let Some(&mut (node, ref mut at)) = path.last_mut() {
            if *at == END {
                path.pop();
                continue;
            }
            let link = self.edges[*at as usize];
            *at = link.next;
            let next = self.find(link.item);
            if next == to {
                on_cycle.extend(path.iter().map(|&(node, _)| node));
                break;
            }
            visited += 1;
            if visited > LIMIT {
                break;
            }
            if next != node && seen.insert(next) {
                path.push((next, self.edge_heads[next]));
            }
        }
        for node in on_cycle {
            let (a, b) = (self.find(to), self.find(node));
            if a != b {
                self.merge(a.min(b), a.max(b));
            }
        }
    }

    /// Merges `gone` into `kept`, if both have settled on the same set: then no listener misses or repeats anything.
    fn merge(&mut self, kept: NodeId, gone: NodeId) {
        let settled = self.pending[kept] == 0 && self.pending[gone] == 0;
        if !settled
            || self.reasons[kept] != self.reasons[gone]
            || self.sets[kept].len() != self.sets[gone].len()
            || self.sets[kept].to_vec() != self.sets[gone].to_vec()
        {
            return;
        }
        self.stats.merged += 1;
        self.parent[gone] = kept;
        self.sets[gone] = PtsSet::Empty;
        self.append_links(kept, gone);
    }

    fn append_links(&mut self, kept: NodeId, gone: NodeId) {
        let head = std::mem::replace(&mut self.edge_heads[gone], END);
        let mut at = head;
        let mut last = END;
        while at != END {
            last = at;
            let to = self.edges[at as usize].item;
            self.known_edges.insert((kept, to));
            at = self.edges[at as usize].next;
        }
        if last != END {
            self.edges[last as usize].next = self.edge_heads[kept];
            self.edge_heads[kept] = head;
        }
        let head = std::mem::replace(&mut self.listener_heads[gone], END);
        let mut at = head;
        let mut last = END;
        while at != END {
            last = at;
            at = self.listeners[at as usize].next;
        }
        if last != END {
            self.listeners[last as usize].next = self.listener_heads[kept];
            self.listener_heads[kept] = head;
        }
    }

    /// Bytes of the solver's own structures, roughly.
    #[must_use]
    pub(crate) fn bytes(&self) -> usize {
        let per_node = size_of::<PtsSet>() + size_of::<ReasonSet>() + 4 * 4;
        self.sets.len() * per_node
            + self.sets.iter().map(PtsSet::heap_bytes).sum::<usize>()
            + self.edges.capacity() * size_of::<Link<NodeId>>()
            + self.listeners.capacity() * size_of::<Link<Listener>>()
            + self.known_edges.capacity() * 9
    }
}
