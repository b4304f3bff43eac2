//! Look-ups that classes share.
//!
//! Most classes of a hierarchy inherit most attributes, so most receivers of a site resolve to the same slots: those of
//! the classes in the method resolution order that have the name, up to the first that certainly binds it. Receivers are
//! therefore grouped by *what their class resolves to*, not by class: a site has one group, and one subscription to the
//! attribute, however many subclasses arrive. Receivers whose class has no such attribute share a node that stays empty.
//!
//! When a class gains another linearisation, a base the attribute, or either attributes under names that are not known,
//! the class resolves anew, and the sites that had receivers of it are subscribed to what it resolves to now.

use crate::engine::{CallKind, Engine, GroupKey, Lookup, NO_NODE, Question, Sink, Task};
use crate::heap::{Field, Object, Step};
use crate::ids::{ChainId, CodeId, NodeId, ObjId};
use crate::python::classes::Base;
use crate::python::names;
use crate::solver::Listener;
use hognose_base::{ReasonSet, Symbol, UnresolvedKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A part of what the look-up of an attribute reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    /// The attribute of this class.
    Slot(ObjId),
    /// The attribute of an external base.
    External(ChainId),
    /// A base that is not known.
    Unknown,
    /// What is stored under names that are not known.
    Any(NodeId),
}

/// Classes whose look-ups changed, by the node of what they resolved to before, with that of what they resolve to now.
type Moved = BTreeMap<NodeId, FxHashMap<ObjId, NodeId>>;

/// The receivers of a subscription to an attribute of their class, and whether they are classes asked for their own.
const fn receiver_group(task: Task) -> Option<(NodeId, bool)> {
    match task {
        Task::Member {
            receiver,
            through_class,
            ..
        } => Some((receiver, through_class)),
        Task::StoreMember { receiver, .. } => Some((receiver, false)),
        _ => None,
    }
}

impl Engine<'_> {
    /// The node of attribute `name` as the class has it, which other classes may share: receivers that arrive together
    /// with their kin are grouped by it.
    pub(crate) fn shared_lookup(&mut self, class: ObjId, name: Symbol) -> NodeId {
        if let Some(&node) = self.classes.shared.get(&(class, name)) {
            return node;
        }
        let node = match self.resolution(class, name) {
            Some(parts) => {
                if let Some(info) = self.classes.get_mut(class) {
                    info.shared.push(name);
                }
                self.resolved(name, parts)
            }
            None => self.lookup(class, name),
        };
        self.classes.shared.insert((class, name), node);
        node
    }

    /// The group of the receivers at `key` that resolve `name` as `class` does; new groups are reported by the flag.
    pub(crate) fn kin(&mut self, key: GroupKey, class: ObjId, name: Symbol) -> (NodeId, bool) {
        let found = self.shared_lookup(class, name);
        self.shared_group(key, found)
    }

    /// As [`Engine::kin`], for sites that ask a class without the method for another one: such classes stand alone.
    pub(crate) fn kin_or_alone(&mut self, key: GroupKey, class: ObjId, name: Symbol) -> (NodeId, bool) {
        let found = self.shared_lookup(class, name);
        if self.classes.absent.get(&name) == Some(&found) {
            self.group(key, class)
        } else {
            self.shared_group(key, found)
        }
    }

    /// What a look-up of the name on the class reads, if classes may share it: a class that is not linearised yet, or
    /// whose `__getattr__` is asked for what is missing, has look-ups of its own.
    fn resolution(&self, class: ObjId, name: Symbol) -> Option<Vec<Part>> {
        let info = self.classes.get(class)?;
        if info.orders.is_empty() || self.class_may_have(class, names::GETATTR) {
            return None;
        }
        let mut parts: Vec<Part> = info.any_sources.iter().map(|&node| Part::Any(node)).collect();
        for order in &info.orders {
            for &base in order {
                match base {
                    Base::Class(class) => {
                        let code = self.classes.get(class).and_then(|info| info.code);
                        if self.may_hold(class, code, name) {
                            parts.push(Part::Slot(class));
                        }
                        if code.is_some_and(|code| self.binds_definitely(code, name)) {
                            break;
                        }
                    }
                    Base::External(_) if self.is_quiet_protocol(name) => {}
                    Base::External(chain) => parts.push(Part::External(chain)),
                    Base::Unknown => parts.push(Part::Unknown),
                }
            }
        }
        parts.sort_unstable();
        parts.dedup();
        Some(parts)
    }

    /// Whether a class itself may have the name: its body binds it, or something was stored there ([`Engine::class_gains`]
    /// says when that changes).
    pub(crate) fn may_hold(&self, class: ObjId, code: Option<CodeId>, name: Symbol) -> bool {
        code.is_none_or(|code| self.program.binds(code, name))
            || self.heap.slot(class, Field::attribute(name)).is_some()
    }

    /// The node of a resolution.
    fn resolved(&mut self, name: Symbol, parts: Vec<Part>) -> NodeId {
        match parts[..] {
            [] => return self.absent(name),
            [Part::Slot(class)] => return self.attribute_slot(class, name),
            _ => {}
        }
        let key = (name, parts);
        if let Some(&node) = self.classes.resolutions.get(&key) {
            return node;
        }
        let node = self.solver.node();
        for &part in &key.1 {
            match part {
                Part::Slot(class) => {
                    let slot = self.attribute_slot(class, name);
                    self.add_edge(slot, node);
                }
                Part::External(chain) => {
                    let next = self.heap.extend_chain(chain, Step::Attribute(name));
                    let object = self.heap.object(Object::External(next));
                    self.add_object(node, object);
                }
                Part::Unknown => self.add_reason(node, UnresolvedKind::UnknownBase),
                // Goes to the sinks of receiver groups, where nothing is bound: see `subscribe_group`.
                Part::Any(_) => {}
            }
        }
        self.classes.resolutions.insert(key, node);
        node
    }

    fn absent(&mut self, name: Symbol) -> NodeId {
        if let Some(&node) = self.classes.absent.get(&name) {
            return node;
        }
        let node = self.solver.node();
        self.classes.absent.insert(name, node);
        node
    }

    /// Resolves names of classes anew (all names, or one), and subscribes the sites that have receivers of them to what
    /// they resolve to now. `sources` are new stores under names that are not known.
    fn resolve_anew(&mut self, classes: &[ObjId], only: Option<Symbol>, sources: &[NodeId]) {
        let mut moved: Moved = BTreeMap::new();
        for &class in classes {
            let names: Vec<Symbol> = match (only, self.classes.get_mut(class)) {
                (Some(name), Some(info)) => {
                    let Some(at) = info.shared.iter().position(|&known| known == name) else {
                        continue;
                    };
                    info.shared.swap_remove(at);
                    vec![name]
                }
                (None, Some(info)) => std::mem::take(&mut info.shared),
                (_, None) => continue,
            };
            for name in names {
                if let Some(old) = self.classes.shared.remove(&(class, name)) {
                    let new = self.shared_lookup(class, name);
                    if new != old {
                        moved.entry(old).or_default().insert(class, new);
                    }
                }
            }
        }
        self.follow(moved, sources, true);
    }

    /// The same when the classes gained nothing but a store under names that are not known: what the groups are subscribed
    /// to still gives all that the classes have under the name. They only have to be found when there is more.
    fn resolve_with_source(&mut self, classes: &[ObjId], source: NodeId) {
        let mut moved: Moved = BTreeMap::new();
        let mut anew: FxHashMap<NodeId, NodeId> = FxHashMap::default();
        for &class in classes {
            let Some(info) = self.classes.get_mut(class) else {
                continue;
            };
            for name in std::mem::take(&mut info.shared) {
                let Some(old) = self.classes.shared.remove(&(class, name)) else {
                    continue;
                };
                // Classes that had the same look-up have the same one again.
                let new = match anew.get(&old) {
                    Some(&new) => {
                        self.classes.shared.insert((class, name), new);
                        if let Some(info) = self.classes.get_mut(class) {
                            info.shared.push(name);
                        }
                        new
                    }
                    None => {
                        let new = self.shared_lookup(class, name);
                        anew.insert(old, new);
                        new
                    }
                };
                if new != old {
                    moved.entry(old).or_default().insert(class, new);
                }
            }
        }
        self.follow(moved, &[source], false);
    }

    /// Receiver groups follow their classes to what these resolve to now: they subscribe to it, or only can be found by it.
    fn follow(&mut self, moved: Moved, sources: &[NodeId], subscribe: bool) {
        for (old, moved) in moved {
            for listener in self.groups_at(old) {
                let task = self.tasks[listener.0 as usize];
                let Some((receiver, itself)) = receiver_group(task) else {
                    continue;
                };
                let places = self.places(receiver, itself, &moved);
                for &place in &places {
                    if !self.followed.insert((receiver, place)) {
                        continue;
                    }
                    if subscribe {
                        self.on(place, task);
                    } else {
                        self.followers.entry(place).or_default().push(listener);
                    }
                }
                if !places.is_empty()
                    && let Task::Member { sink, .. } = task
                {
                    self.feed(sources, sink);
                }
            }
        }
    }

    /// The receiver groups that have what is at the node of a look-up.
    fn groups_at(&self, found: NodeId) -> Vec<Listener> {
        let mut groups = self.solver.listeners_of(found);
        groups.extend(self.followers.get(&found).into_iter().flatten());
        groups
    }

    /// What those classes of a receiver group that moved resolve to now.
    fn places(&self, receiver: NodeId, itself: bool, moved: &FxHashMap<ObjId, NodeId>) -> SmallVec<[NodeId; 4]> {
        let mut places: SmallVec<[NodeId; 4]> = SmallVec::new();
        self.solver.set(receiver).for_each(|object| {
            let class = if itself { Some(object) } else { self.class_of(object) };
            if let Some(&place) = class.and_then(|class| moved.get(&class))
                && !places.contains(&place)
            {
                places.push(place);
            }
        });
        places
    }

    /// Values that are stored under names that are not known go to a sink.
    fn feed(&mut self, sources: &[NodeId], sink: Sink) {
        if !sources.is_empty() {
            let to = self.sink_node(sink);
            for &source in sources {
                self.add_edge(source, to);
            }
        }
    }

    /// Something is stored for the first time to a name of a namespace; look-ups read it if that is a class.
    pub(crate) fn class_gains(&mut self, class: ObjId, name: Symbol) {
        if self.classes.get(class).is_none() {
            return;
        }
        self.classes.generation += 1;
        let affected = self.with_subclasses(class);
        for &class in &affected {
            self.reconnect(class, name);
        }
        self.resolve_anew(&affected, Some(name), &[]);
        if name == names::NEW {
            affected.iter().for_each(|&class| self.construct_anew(class));
        }
    }

    /// A class and all classes below it.
    pub(crate) fn with_subclasses(&self, class: ObjId) -> Vec<ObjId> {
        let mut seen = FxHashSet::from_iter([class]);
        let mut all = vec![class];
        let mut at = 0;
        while let Some(&next) = all.get(at) {
            at += 1;
            if let Some(info) = self.classes.get(next) {
                all.extend(
                    info.subclasses
                        .iter()
                        .copied()
                        .filter(|&subclass| seen.insert(subclass)),
                );
            }
        }
        all
    }

    /// A class that had no `__getattr__` has one, or a base of which something is stored under names that are not known:
    /// the sites with receivers of it have more to ask.
    fn ask_more(&mut self, class: ObjId, hook: bool, sources: &[NodeId]) {
        for (name, node) in self.classes.own_lookups(class) {
            for listener in self.solver.listeners_of(node) {
                let Task::Member {
                    sink,
                    site,
                    receiver,
                    through_class: false,
                    ..
                } = self.tasks[listener.0 as usize]
                else {
                    continue;
                };
                if let Sink::Call(request) = sink
                    && matches!(self.requests[request].kind, CallKind::Protocol(_))
                {
                    // Special methods are looked up on the type, and its hooks are not asked.
                    continue;
                }
                if hook {
                    self.questions.push(Question::GetAttr {
                        class,
                        name,
                        receiver,
                        sink,
                        site,
                    });
                }
                self.feed(sources, sink);
            }
        }
    }

    /// After a new linearisation of a class.
    pub(crate) fn relinearised(&mut self, class: ObjId) {
        self.classes.generation += 1;
        let getattr = names::GETATTR;
        let may_have = self.class_may_have(class, getattr);
        let Some(info) = self.classes.get(class) else { return };
        let mut fresh: Vec<NodeId> = info
            .orders
            .iter()
            .flatten()
            .filter_map(|base| match *base {
                Base::Class(base) => self.heap.slot(base, Field::ANY_ATTRIBUTE),
                _ => None,
            })
            .filter(|source| !info.any_sources.contains(source))
            .collect();
        fresh.sort_unstable();
        fresh.dedup();
        let hook = may_have && !info.asks;
        if let Some(info) = self.classes.get_mut(class) {
            info.asks |= may_have;
            info.any_sources.extend(&fresh);
        }
        self.resolve_anew(&[class], None, &fresh);
        self.construct_anew(class);
        self.settle_forwarded(class);
        if hook || !fresh.is_empty() {
            self.ask_more(class, hook, &fresh);
        }
    }

    /// The node of what is stored on a class, or on instances of it, under names that are not known. Every attribute of
    /// the class and its subclasses may be that.
    pub(crate) fn any_attribute(&mut self, class: ObjId) -> NodeId {
        if let Some(node) = self.heap.slot(class, Field::ANY_ATTRIBUTE) {
            return node;
        }
        let node = self.slot(class, Field::ANY_ATTRIBUTE);
        let affected = self.with_subclasses(class);
        for &class in &affected {
            if let Some(info) = self.classes.get_mut(class) {
                info.any_sources.push(node);
            }
        }
        self.resolve_with_source(&affected, node);
        for &class in &affected {
            self.construct_anew(class);
            self.settle_forwarded(class);
            self.ask_more(class, false, &[node]);
        }
        node
    }

    /// The classes of the receivers of a node.
    pub(crate) fn receiver_types(&mut self, receiver: NodeId) -> NodeId {
        if receiver == NO_NODE {
            return NO_NODE;
        }
        if let Some(&node) = self.receiver_types.get(&receiver) {
            return node;
        }
        let node = self.solver.node();
        self.receiver_types.insert(receiver, node);
        self.on(receiver, Task::TypeOf { result: node });
        node
    }

    /// Subscribes a new receiver group to what the look-up of its attribute finds.
    pub(crate) fn subscribe_group(&mut self, found: NodeId, task: Task, name: Symbol, class: ObjId, mode: Lookup) {
        self.on(found, task);
        let Task::Member {
            sink, site, receiver, ..
        } = task
        else {
            return;
        };
        let sources = match self.classes.get(class) {
            Some(info) if !info.any_sources.is_empty() => info.any_sources.clone(),
            _ => Vec::new(),
        };
        self.feed(&sources, sink);
        if mode == Lookup::Special {
            return;
        }
        let getattr = names::GETATTR;
        if self.class_may_have(class, getattr) {
            if let Some(info) = self.classes.get_mut(class) {
                info.asks = true;
            }
            self.questions.push(Question::GetAttr {
                class,
                name,
                receiver,
                sink,
                site,
            });
        }
    }

    /// Marks a store under a name that is not known.
    pub(crate) fn store_any_attribute(&mut self, class: ObjId, value: NodeId) {
        let slot = self.any_attribute(class);
        self.add_edge(value, slot);
        self.add_reasons(slot, ReasonSet::of(UnresolvedKind::DynamicAttribute));
    }
}
