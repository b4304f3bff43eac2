//! The constraint graph and its fixed point: difference propagation over inclusion edges.
//!
//! Knows nodes, sets, edges and listeners, no Python. The engine reacts to what arrives at a listener through
//! [`Solver::step`]. Pearce, Kelly and Hankin (2003), "Online cycle detection and difference propagation for pointer
//! analysis"; Hardekopf and Lin (2007), "The ant and the grasshopper", for lazy cycle detection.

use crate::ids::{NodeId, ObjId};
use crate::set::PtsSet;
use hognose_base::{IndexVec, ReasonSet, UnresolvedKind};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Who wants to know what arrives at a node: a number that means something to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Listener(pub u32);

const END: u32 = u32::MAX;

/// No edge.
const NO_EDGE: u32 = u32::MAX >> 1;

/// Edges from which on a node's edges are looked up in the hash table instead of its list.
const FEW_EDGES: u32 = 6;

/// Members a set must have before its node is searched for cycles.
const CYCLE_SIZE: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Link<T> {
    item: T,
    next: u32,
}

/// What arrived at a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delta {
    /// Objects that are new at the node, sorted once the delta is delivered.
    pub objects: SmallVec<[ObjId; 6]>,
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
    /// Bytes of nodes, sets, edges and listeners at the end, roughly.
    pub bytes: u64,
}

/// All there is to a node, side by side and within one cache line: whoever touches one part touches the others.
#[derive(Debug)]
#[repr(align(32))]
struct Node {
    set: PtsSet,
    reasons: ReasonSet,
    /// First of its edges; the highest bit says that they are more than a few.
    edges: u32,
    /// First of its listeners.
    listeners: u32,
    /// 0, or 1 + place in the pending deltas, or with the highest bit set the node into which it was merged: such a node
    /// has nothing pending.
    state: u32,
}

/// Bit of [`Node::edges`] and [`Node::state`].
const FLAG: u32 = 1 << 31;

impl Node {
    const NEW: Self = Self {
        set: PtsSet::Empty,
        reasons: ReasonSet::EMPTY,
        edges: NO_EDGE,
        listeners: END,
        state: 0,
    };

    /// Whether nobody reads the node yet. What arrives need not be delivered then: whoever comes gets the whole set.
    const fn is_unread(&self) -> bool {
        self.edges == NO_EDGE && self.listeners == END
    }
    /// First of its edges, or [`NO_EDGE`].
    const fn first_edge(&self) -> u32 {
        self.edges & !FLAG
    }
    /// Whether its edges are more than a few, and so in the hash table.
    const fn has_many_edges(&self) -> bool {
        self.edges & FLAG != 0
    }
    /// What it was merged into (union-find).
    const fn parent(&self) -> Option<NodeId> {
        if self.state & FLAG == 0 {
            None
        } else {
            Some(NodeId::new(self.state & !FLAG))
        }
    }
}

/// Nodes, their sets and the edges between them.
#[derive(Debug, Default)]
pub(crate) struct Solver {
    nodes: IndexVec<NodeId, Node>,
    edges: Vec<Link<NodeId>>,
    listeners: Vec<Link<Listener>>,
    /// The edges of nodes with more than a few.
    known_edges: FxHashSet<(NodeId, NodeId)>,
    pending: Pending,
    /// Edges along which cycle detection was tried.
    tried: FxHashSet<(NodeId, NodeId)>,
    /// Objects a node may hold; what comes after is dropped and the node carries the reason *budget*.
    pub limit: usize,
    /// Counters.
    pub stats: SolverStats,
}

/// The worklist and what its nodes have to pass on.
#[derive(Debug, Default)]
struct Pending {
    deltas: Vec<Delta>,
    free: Vec<u32>,
    queue: VecDeque<NodeId>,
}

impl Pending {
    /// The delta of a node that someone reads; the node is put on the worklist if it is not there.
    #[inline]
    fn of(&mut self, node: &mut Node, id: NodeId) -> &mut Delta {
        if node.state == 0 {
            node.state = match self.free.pop() {
                Some(place) => place,
                None => {
                    self.deltas.push(Delta::default());
                    u32::try_from(self.deltas.len()).unwrap_or(u32::MAX)
                }
            };
            self.queue.push_back(id);
        }
        &mut self.deltas[node.state as usize - 1]
    }
}

impl Solver {
    /// Makes room for so many nodes, so that the tables are not copied while they grow.
    pub(crate) fn reserve(&mut self, nodes: usize) {
        self.nodes.reserve(nodes);
        self.edges.reserve(nodes);
        self.listeners.reserve(nodes);
        self.known_edges.reserve(nodes / 8);
    }
    /// A new node.
    pub(crate) fn node(&mut self) -> NodeId {
        self.nodes(1)
    }
    /// So many new nodes in a row; the first.
    pub(crate) fn nodes(&mut self, count: u32) -> NodeId {
        let first = self.nodes.next_id();
        self.nodes
            .extend(std::iter::repeat_with(|| Node::NEW).take(count as usize));
        first
    }
    /// Number of nodes.
    #[must_use]
    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }
    /// The node that stands for `node`.
    #[inline]
    #[must_use]
    pub(crate) fn find(&self, mut node: NodeId) -> NodeId {
        while let Some(parent) = self.nodes[node].parent() {
            node = parent;
        }
        node
    }
    fn find_compress(&mut self, node: NodeId) -> NodeId {
        let root = self.find(node);
        let mut at = node;
        while let Some(parent) = self.nodes[at].parent() {
            self.nodes[at].state = root.raw() | FLAG;
            at = parent;
        }
        root
    }
    /// The points-to set of a node.
    #[must_use]
    pub(crate) fn set(&self, node: NodeId) -> &PtsSet {
        &self.nodes[self.find(node)].set
    }
    /// The reasons at a node.
    #[must_use]
    pub(crate) fn reasons(&self, node: NodeId) -> ReasonSet {
        self.nodes[self.find(node)].reasons
    }

    /// Adds one object.
    pub(crate) fn add_object(&mut self, node: NodeId, object: ObjId) {
        let node = self.find_compress(node);
        self.receive(node, &[object], ReasonSet::EMPTY);
    }
    /// Adds reasons.
    pub(crate) fn add_reasons(&mut self, node: NodeId, reasons: ReasonSet) {
        let node = self.find_compress(node);
        self.receive(node, &[], reasons);
    }

    /// Adds an inclusion edge; what is at `from` flows at once.
    pub(crate) fn add_edge(&mut self, from: NodeId, to: NodeId) {
        let (from, to) = (self.find_compress(from), self.find_compress(to));
        if from != to && !self.knows_edge(from, to) {
            self.link(from, to);
            self.flow_all(from, to);
        }
    }

    /// Adds an edge between nodes that have just been made: it cannot be there yet, and nothing flows.
    pub(crate) fn add_fresh_edge(&mut self, from: NodeId, to: NodeId) {
        if from != to {
            self.link(from, to);
        }
    }

    /// Whether an edge is there already. Most nodes have one or two, which are compared faster than hashed.
    fn knows_edge(&self, from: NodeId, to: NodeId) -> bool {
        let node = &self.nodes[from];
        if node.has_many_edges() {
            return self.known_edges.contains(&(from, to));
        }
        let mut at = node.first_edge();
        while at != NO_EDGE {
            let link = self.edges[at as usize];
            if link.item == to {
                return true;
            }
            at = link.next;
        }
        false
    }

    fn link(&mut self, from: NodeId, to: NodeId) {
        let place = u32::try_from(self.edges.len()).map_or(NO_EDGE, |place| place.min(NO_EDGE));
        self.edges.push(Link {
            item: to,
            next: self.nodes[from].first_edge(),
        });
        self.stats.edges += 1;
        self.put_first(from, place);
    }

    /// Makes an edge the first of a node, and keeps the hash table complete: once a node has many edges, all are in it.
    fn put_first(&mut self, from: NodeId, place: u32) {
        let node = &mut self.nodes[from];
        if node.has_many_edges() {
            node.edges = place | FLAG;
            self.known_edges.insert((from, self.edges[place as usize].item));
            return;
        }
        node.edges = place;
        let mut count = 0;
        let mut at = place;
        while at != NO_EDGE {
            count += 1;
            at = self.edges[at as usize].next;
        }
        if count > FEW_EDGES {
            node.edges = place | FLAG;
            at = place;
            while at != NO_EDGE {
                let link = self.edges[at as usize];
                self.known_edges.insert((from, link.item));
                at = link.next;
            }
        }
    }

    fn flow_all(&mut self, from: NodeId, to: NodeId) {
        let source = &self.nodes[from];
        let reasons = source.reasons;
        if !source.set.is_empty() || !reasons.is_empty() {
            let members: SmallVec<[ObjId; 16]> = source.set.members();
            self.receive(to, &members, reasons);
        }
    }

    /// Adds a group of objects and reasons to a node that stands for itself; whether an object was new.
    fn receive(&mut self, to: NodeId, objects: &[ObjId], mut reasons: ReasonSet) -> bool {
        let node = &mut self.nodes[to];
        let unread = node.is_unread();
        let mut grew = false;
        for &object in objects {
            if self.limit > 0 && node.set.len() >= self.limit {
                if node.set.contains(object) {
                    continue;
                }
                reasons.insert_all(ReasonSet::of(UnresolvedKind::Budget));
                break;
            }
            if node.set.insert(object) {
                grew = true;
                if !unread {
                    self.pending.of(node, to).objects.push(object);
                }
            }
        }
        let fresh = reasons.minus(node.reasons);
        if !fresh.is_empty() {
            node.reasons.insert_all(fresh);
            if !unread {
                self.pending.of(node, to).reasons.insert_all(fresh);
            }
        }
        grew
    }

    /// Subscribes to a node. What is there already must be handed to the listener by the caller (see
    /// [`Solver::current`], which must be asked before).
    pub(crate) fn listen(&mut self, node: NodeId, listener: Listener) {
        let node = self.find_compress(node);
        let place = u32::try_from(self.listeners.len()).unwrap_or(END);
        self.listeners.push(Link {
            item: listener,
            next: self.nodes[node].listeners,
        });
        self.nodes[node].listeners = place;
    }
    /// The listeners of a node, in the order in which they subscribed.
    pub(crate) fn listeners_of(&self, node: NodeId) -> Vec<Listener> {
        let mut listeners = Vec::new();
        self.collect_listeners(self.find(node), &mut listeners);
        listeners
    }
    /// Listeners are linked newest first; the engine wants the order in which they subscribed.
    fn collect_listeners(&self, node: NodeId, listeners: &mut Vec<Listener>) {
        let mut at = self.nodes[node].listeners;
        while at != END {
            let link = self.listeners[at as usize];
            listeners.push(link.item);
            at = link.next;
        }
        listeners.reverse();
    }
    /// What a new listener of a node has missed. What is pending at the node is not part of it: it will be delivered.
    #[must_use]
    pub(crate) fn current(&self, node: NodeId) -> Delta {
        let node = &self.nodes[self.find(node)];
        let mut delta = Delta {
            objects: node.set.members(),
            reasons: node.reasons,
        };
        if node.state != 0 {
            let late = &self.pending.deltas[node.state as usize - 1];
            if late.objects.len() < 16 {
                delta.objects.retain(|object| !late.objects.contains(object));
            } else {
                let late: FxHashSet<ObjId> = late.objects.iter().copied().collect();
                delta.objects.retain(|object| !late.contains(object));
            }
            delta.reasons = delta.reasons.minus(late.reasons);
        }
        delta
    }

    /// Takes one node from the worklist and passes its delta along its edges. Returns the delta and its listeners for
    /// the engine, or `None` when the worklist is empty.
    pub(crate) fn step(&mut self, listeners: &mut Vec<Listener>) -> Option<Delta> {
        listeners.clear();
        let id = self.pending.queue.pop_front()?;
        self.stats.steps += 1;
        let node = &mut self.nodes[id];
        let place = std::mem::take(&mut node.state);
        let size = node.set.len();
        let mut at = node.first_edge();
        let mut delta = std::mem::take(&mut self.pending.deltas[place as usize - 1]);
        delta.objects.sort_unstable();
        self.pending.free.push(place);
        let mut cycle_with = None;
        while at != NO_EDGE {
            let link = self.edges[at as usize];
            at = link.next;
            let to = self.find(link.item);
            if to == id {
                continue;
            }
            self.stats.propagations += 1;
            let grew = self.receive(to, &delta.objects, delta.reasons);
            // Lazy cycle detection: nothing new went along and both ends agree, so they may be on a cycle. Small sets
            // agree by chance more often than not, and a cycle of them costs little.
            if !grew
                && size >= CYCLE_SIZE
                && cycle_with.is_none()
                && !delta.objects.is_empty()
                && self.nodes[to].set.len() == size
                && self.tried.insert((id, to))
            {
                cycle_with = Some(to);
            }
        }
        self.collect_listeners(id, listeners);
        if let Some(to) = cycle_with {
            self.collapse_cycle(to, id);
        }
        Some(delta)
    }

    /// Merges the nodes on paths `from -> ... -> to` when there is an edge `to -> from`. The search is bounded.
    fn collapse_cycle(&mut self, from: NodeId, to: NodeId) {
        const LIMIT: usize = 2000;
        let mut path: Vec<(NodeId, u32)> = vec![(from, self.nodes[from].first_edge())];
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut visited = 0;
        seen.insert(from);
        let mut on_cycle = Vec::new();
        while let Some(&mut (node, ref mut at)) = path.last_mut() {
            if *at == NO_EDGE {
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
                path.push((next, self.nodes[next].first_edge()));
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
        let (one, other) = (&self.nodes[kept], &self.nodes[gone]);
        if one.state != 0 || other.state != 0 || one.reasons != other.reasons || one.set != other.set {
            return;
        }
        self.stats.merged += 1;
        self.nodes[gone].state = kept.raw() | FLAG;
        self.nodes[gone].set = PtsSet::Empty;
        self.append_links(kept, gone);
    }

    fn append_links(&mut self, kept: NodeId, gone: NodeId) {
        let mut at = std::mem::replace(&mut self.nodes[gone].edges, NO_EDGE) & !FLAG;
        while at != NO_EDGE {
            // Linked anew one by one: the table of known edges follows.
            let link = &mut self.edges[at as usize];
            let next = link.next;
            link.next = self.nodes[kept].first_edge();
            self.put_first(kept, at);
            at = next;
        }
        let head = std::mem::replace(&mut self.nodes[gone].listeners, END);
        let mut at = head;
        let mut last = END;
        while at != END {
            last = at;
            at = self.listeners[at as usize].next;
        }
        if last != END {
            self.listeners[last as usize].next = self.nodes[kept].listeners;
            self.nodes[kept].listeners = head;
        }
    }

    /// Gives back what only solving needs; sets and reasons stay.
    pub(crate) fn seal(&mut self) {
        self.stats.bytes = self.bytes() as u64;
        self.edges = Vec::new();
        self.listeners = Vec::new();
        self.known_edges = FxHashSet::default();
        self.tried = FxHashSet::default();
        self.pending = Pending::default();
    }

    /// Bytes of the solver's own structures, roughly.
    #[must_use]
    fn bytes(&self) -> usize {
        self.nodes.len() * size_of::<Node>()
            + self.nodes.iter().map(|node| node.set.heap_bytes()).sum::<usize>()
            + self.edges.len() * size_of::<Link<NodeId>>()
            + self.listeners.len() * size_of::<Link<Listener>>()
            + self.known_edges.capacity() * 9
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    const NODES: u32 = 12;

    /// What happens to the solver: an object arrives, an edge is added, a listener subscribes, a node is processed.
    #[derive(Clone, Debug)]
    enum Event {
        Object(u32, u32),
        Edge(u32, u32),
        Listen(u32),
        Step,
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            (0..NODES, 0u32..40).prop_map(|(node, object)| Event::Object(node, object)),
            (0..NODES, 0..NODES).prop_map(|(from, to)| Event::Edge(from, to)),
            (0..NODES).prop_map(Event::Listen),
            Just(Event::Step),
        ]
    }

    /// Hands a delta to its listeners, checking that none hears of an object twice.
    fn deliver(heard: &mut BTreeMap<Listener, BTreeSet<ObjId>>, listeners: &[Listener], delta: &Delta) {
        for listener in listeners {
            for &object in &delta.objects {
                assert!(
                    heard.entry(*listener).or_default().insert(object),
                    "{object:?} came twice"
                );
            }
        }
    }

    proptest! {
        /// Sets are the closure of what was added over all edges, and every listener hears of each member once,
        /// whatever the order of events.
        #[test]
        fn agrees_with_the_transitive_closure(events in prop::collection::vec(event(), 0..200)) {
            let mut solver = Solver::default();
            let first = solver.nodes(NODES);
            prop_assert_eq!(first.raw(), 0);
            let mut heard: BTreeMap<Listener, BTreeSet<ObjId>> = BTreeMap::new();
            let mut listened: Vec<u32> = Vec::new();
            let mut sets = vec![BTreeSet::new(); NODES as usize];
            let mut edges = Vec::new();
            let mut listeners = Vec::new();
            for event in events {
                match event {
                    Event::Object(node, object) => {
                        solver.add_object(NodeId::new(node), ObjId::new(object));
                        sets[node as usize].insert(ObjId::new(object));
                    }
                    Event::Edge(from, to) => {
                        solver.add_edge(NodeId::new(from), NodeId::new(to));
                        edges.push((from as usize, to as usize));
                    }
                    Event::Listen(node) => {
                        let listener = Listener(u32::try_from(listened.len()).unwrap());
                        let missed = solver.current(NodeId::new(node));
                        solver.listen(NodeId::new(node), listener);
                        deliver(&mut heard, &[listener], &missed);
                        listened.push(node);
                    }
                    Event::Step => {
                        if let Some(delta) = solver.step(&mut listeners) {
                            deliver(&mut heard, &listeners, &delta);
                        }
                    }
                }
            }
            while let Some(delta) = solver.step(&mut listeners) {
                deliver(&mut heard, &listeners, &delta);
            }
            loop {
                let before = sets.clone();
                for &(from, to) in &edges {
                    let members = sets[from].clone();
                    sets[to].extend(members);
                }
                if sets == before {
                    break;
                }
            }
            for (node, expected) in sets.iter().enumerate() {
                let id = NodeId::new(u32::try_from(node).unwrap());
                prop_assert_eq!(&solver.set(id).to_vec().into_iter().collect::<BTreeSet<_>>(), expected);
            }
            for (listener, &node) in listened.iter().enumerate() {
                let listener = Listener(u32::try_from(listener).unwrap());
                prop_assert_eq!(heard.get(&listener).cloned().unwrap_or_default(), sets[node as usize].clone());
            }
        }

        /// A node never holds more than the limit, and says so when something was dropped.
        #[test]
        fn a_full_node_says_so(objects in prop::collection::vec(0u32..30, 0..60)) {
            let mut solver = Solver { limit: 8, ..Solver::default() };
            let (from, to) = (solver.node(), solver.node());
            solver.add_edge(from, to);
            for &object in &objects {
                solver.add_object(from, ObjId::new(object));
            }
            while solver.step(&mut Vec::new()).is_some() {}
            let distinct = objects.iter().collect::<BTreeSet<_>>().len();
            for node in [from, to] {
                prop_assert_eq!(solver.set(node).len(), distinct.min(8));
                prop_assert_eq!(solver.reasons(node).contains(UnresolvedKind::Budget), distinct > 8);
            }
        }
    }
}
