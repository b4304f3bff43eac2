//! Look-ups that classes share.
//!
//! Most classes of a hierarchy inherit most attributes, so most receivers of a site resolve to the same slot: that of the
//! first class in the method resolution order that certainly binds the name. Receivers are therefore grouped by *what
//! their class resolves to*, not by class: a site has one group, and one subscription to the attribute, however many
//! subclasses arrive. Receivers whose class has no such attribute at all share a node that stays empty.
//!
//! A class shares only while that answer is certain. When it gains another linearisation, or attributes under names that
//! are not known, its look-ups become its own, and the sites that had receivers of it are subscribed to them.

use crate::engine::{Engine, Lookup, NO_NODE, Question, Task};
use crate::heap::Field;
use crate::ids::{NodeId, ObjId};
use crate::python::classes::Base;
use hognose_base::{ReasonSet, Symbol, UnresolvedKind};
use rustc_hash::FxHashSet;

impl Engine<'_> {
    /// The node of attribute `name` as the class has it, which other classes may share: receivers that arrive together
    /// with their kin are grouped by it.
    pub(crate) fn shared_lookup(&mut self, class: ObjId, name: Symbol) -> NodeId {
        if let Some(&node) = self.classes.shared.get(&(class, name)) {
            return node;
        }
        let node = match self.sole_answer(class, name) {
            Some(node) => {
                if let Some(info) = self.classes.get_mut(class) {
                    info.shared.push((name, node));
                }
                node
            }
            None => self.lookup(class, name),
        };
        self.classes.shared.insert((class, name), node);
        node
    }

    /// The one slot that every linearisation leads to, or the node for "none", if that is certain.
    fn sole_answer(&mut self, class: ObjId, name: Symbol) -> Option<NodeId> {
        let getattr = self.symbol("__getattr__");
        let info = self.classes.get(class)?;
        if info.orders.is_empty() || !info.any_sources.is_empty() || self.class_may_have(class, getattr) {
            return None;
        }
        let mut answers = info.orders.iter().map(|order| self.first_owner(order, name));
        let first = answers.next()??;
        if answers.any(|answer| answer != Some(first)) {
            return None;
        }
        Some(match first {
            Some(owner) => self.attribute_slot(owner, name),
            None => self.absent(name),
        })
    }

    /// The first class of an order that certainly binds the name (`Some(None)`: no class has it), or `None` if that is not
    /// certain.
    fn first_owner(&self, order: &[Base], name: Symbol) -> Option<Option<ObjId>> {
        let may_be_stored = self.program.facts.stored_attributes.contains(&name);
        for &base in order {
            match base {
                Base::Class(class) => {
                    let code = self.classes.get(class)?.code?;
                    if self.binds_definitely(code, name) {
                        return Some(Some(class));
                    }
                    if may_be_stored
                        || self.program.binds(code, name)
                        || self.heap.slot(class, Field::attribute(name)).is_some()
                    {
                        return None;
                    }
                }
                Base::External(_) if self.is_quiet_protocol(name) => {}
                Base::External(_) | Base::Unknown => return None,
            }
        }
        Some(None)
    }

    fn absent(&mut self, name: Symbol) -> NodeId {
        if let Some(&node) = self.classes.absent.get(&name) {
            return node;
        }
        let node = self.solver.node();
        self.classes.absent.insert(name, node);
        node
    }

    /// Gives a class look-ups of its own, and subscribes the sites that have receivers of it to them.
    pub(crate) fn unshare(&mut self, class: ObjId) {
        let Some(info) = self.classes.get_mut(class) else {
            return;
        };
        let shared = std::mem::take(&mut info.shared);
        for (name, node) in shared {
            let own = self.lookup(class, name);
            self.classes.shared.insert((class, name), own);
            for listener in self.solver.listeners_of(node) {
                let task = self.tasks[listener.0 as usize];
                if self.is_subscribed(class, task) {
                    self.on(own, task);
                }
            }
        }
    }

    /// Whether a subscription to an attribute has receivers of the class.
    fn is_subscribed(&self, class: ObjId, task: Task) -> bool {
        let (receiver, itself) = match task {
            Task::Member {
                receiver,
                through_class,
                ..
            } => (receiver, through_class),
            Task::StoreMember { receiver, .. } => (receiver, false),
            _ => return false,
        };
        let mut found = false;
        self.solver.set(receiver).for_each(|object| {
            found |= if itself {
                object == class
            } else {
                self.class_of(object) == Some(class)
            };
        });
        found
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
                if hook {
                    self.questions.push(Question::GetAttr {
                        class,
                        name,
                        receiver,
                        sink,
                        site,
                    });
                }
                let to = self.sink_node(sink);
                for &source in sources {
                    self.add_edge(source, to);
                }
            }
        }
    }

    /// After a new linearisation of a class.
    pub(crate) fn relinearised(&mut self, class: ObjId) {
        self.unshare(class);
        let getattr = self.symbol("__getattr__");
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
        let mut seen = FxHashSet::from_iter([class]);
        let mut stack = vec![class];
        while let Some(at) = stack.pop() {
            if let Some(info) = self.classes.get_mut(at) {
                info.any_sources.push(node);
                stack.extend(
                    info.subclasses
                        .iter()
                        .copied()
                        .filter(|&subclass| seen.insert(subclass)),
                );
            }
            self.unshare(at);
            self.ask_more(at, false, &[node]);
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
        if !sources.is_empty() {
            let node = self.sink_node(sink);
            for source in sources {
                self.add_edge(source, node);
            }
        }
        if mode == Lookup::Special {
            return;
        }
        let getattr = self.symbol("__getattr__");
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
