//! Hashing and comparing that containers do with their items and keys.
//!
//! Language Reference 6.10.2 "Membership test operations": `x in y` compares the items of a sequence or iterator with `==`,
//! the item on the left (from 3.9 on). A dict or set asks the `__hash__` of what is stored or looked up, and compares it by
//! `__eq__` with stored keys of the same hash, the stored one on the left (CPython: `Objects/dictobject.c`,
//! `Objects/setobject.c`). Scalars and classes without an `__eq__` of their own decline, so the other side is asked.
//! Objects whose class has neither method are passed over at once; most keys are strings.

use crate::engine::{CallKind, Engine, GroupKey, NO_NODE, Task};
use crate::heap::Object;
use crate::ids::{NodeId, ObjId, SiteId};
use crate::python::names;

/// The sites that look for keys in a container.
#[derive(Debug, Default)]
pub(crate) struct KeyLookups {
    sites: Vec<(SiteId, NodeId)>,
    /// The keys whose class has an `__eq__` of the program, if there are any.
    special: Option<NodeId>,
}

impl Engine<'_> {
    /// Whether a container finds its keys by their hash.
    pub(crate) fn finds_by_hash(&self, container: ObjId) -> bool {
        let Object::Instance(class, _) = self.heap.get(container) else {
            return false;
        };
        [self.known.dict, self.known.set, self.known.frozenset]
            .iter()
            .any(|&builtin| self.classes.is_subclass(class, builtin))
    }

    /// A site looks for the keys of a node in a container.
    pub(crate) fn look_up(&mut self, site: SiteId, container: ObjId, key: NodeId) {
        if key == NO_NODE || !self.finds_by_hash(container) {
            return;
        }
        let keys = self.elements(container);
        let lookups = self.key_lookups.entry(container).or_default();
        let first = lookups.sites.is_empty();
        lookups.sites.push((site, key));
        let special = lookups.special;
        if first {
            self.on(keys, Task::StoredKeys { container });
        } else if let Some(special) = special {
            self.on(key, Task::LookedUp { site, special, key });
        }
    }

    /// Keys were stored in a container; those that have an `__eq__` are compared with what is looked up.
    pub(crate) fn stored_keys(&mut self, objects: &[ObjId], container: ObjId) {
        let name = names::EQ;
        for &object in objects {
            if !self
                .program_class(object)
                .is_some_and(|class| self.class_may_have(class, name))
            {
                continue;
            }
            let lookups = self.key_lookups.entry(container).or_default();
            let special = match lookups.special {
                Some(special) => special,
                None => {
                    let special = self.solver.node();
                    let lookups = self.key_lookups.entry(container).or_default();
                    lookups.special = Some(special);
                    for (site, right) in lookups.sites.clone() {
                        self.on(
                            right,
                            Task::LookedUp {
                                site,
                                special,
                                key: right,
                            },
                        );
                    }
                    special
                }
            };
            self.add_object(special, object);
        }
    }

    /// Keys arrived that are looked up where some stored keys have an `__eq__`: those are asked, once.
    pub(crate) fn looked_up(&mut self, site: SiteId, special: NodeId, key: NodeId) {
        if self.equal_asked.insert((site, special)) {
            let (left, right) = (NO_NODE, key);
            self.on(special, Task::EqualLeft { site, left, right });
        }
    }

    /// A key is looked up in, or stored to, a container: it is hashed, and compared with the keys that are there.
    pub(crate) fn key_arrived(&mut self, site: SiteId, container: Option<ObjId>, key: ObjId) {
        let Some(class) = self.program_class(key) else { return };
        let (hash, eq) = (names::HASH, names::EQ);
        if self.class_may_have(class, hash) {
            let group = GroupKey::Convert(site, hash);
            self.ask(group, class, hash, key, site, &[], NO_NODE);
        }
        if let Some(container) = container
            && self.class_may_have(class, eq)
        {
            let keys = self.elements(container);
            let group = GroupKey::Equal(site, keys);
            self.ask(group, class, eq, key, site, &[keys], NO_NODE);
        }
    }

    /// Whether membership is asked of the items themselves.
    pub(crate) fn is_sequence(&self, object: ObjId) -> bool {
        match self.heap.get(object) {
            Object::Iterator(_) | Object::Generator(_) => true,
            Object::Instance(class, _) => class == self.known.list || class == self.known.tuple,
            _ => false,
        }
    }

    /// Sequences arrived in which an item is looked for.
    pub(crate) fn look_into(&mut self, site: SiteId, sequence: ObjId, item: NodeId) {
        let items = self.elements(sequence);
        let (left, right) = (items, item);
        if item != NO_NODE {
            self.on(items, Task::EqualLeft { site, left, right });
        }
    }

    /// Left operands of a comparison arrived that a container makes. `left` is their node where the right one may be asked
    /// for them.
    pub(crate) fn equal_left(&mut self, objects: &[ObjId], site: SiteId, left: NodeId, right: NodeId) {
        let name = names::EQ;
        for &object in objects {
            let class = self
                .program_class(object)
                .filter(|&class| self.class_may_have(class, name));
            let Some(class) = class else {
                self.ask_right(site, left, right);
                continue;
            };
            let (receiver, new) = self.kin(GroupKey::Equal(site, right), class, name);
            self.add_object(receiver, object);
            if new {
                let answer = if left == NO_NODE { NO_NODE } else { self.solver.node() };
                self.on(answer, Task::EqualAnswer { site, left, right });
                let kind = CallKind::Protocol(name);
                self.method_call(class, receiver, name, site, &[right], answer, kind);
            }
        }
    }

    /// Answers of the left operand's `__eq__` arrived.
    pub(crate) fn equal_answer(&mut self, objects: &[ObjId], site: SiteId, left: NodeId, right: NodeId) {
        let declines = |&object: &ObjId| matches!(self.heap.get(object), Object::Instance(class, _) if class == self.known.not_implemented);
        if objects.iter().any(declines) {
            self.ask_right(site, left, right);
        }
    }

    /// Asks the `__eq__` of the right operands, once.
    fn ask_right(&mut self, site: SiteId, left: NodeId, right: NodeId) {
        if left != NO_NODE && self.equal_asked.insert((site, left)) {
            self.on(right, Task::EqualRight { site, left });
        }
    }

    /// Right operands arrived of a comparison that a container makes and whose left operand declines.
    pub(crate) fn equal_right(&mut self, objects: &[ObjId], site: SiteId, left: NodeId) {
        let name = names::EQ;
        for &object in objects {
            if let Some(class) = self.program_class(object)
                && self.class_may_have(class, name)
            {
                let group = GroupKey::Equal(site, left);
                self.ask(group, class, name, object, site, &[left], NO_NODE);
            }
        }
    }

    /// Containers arrived in which the keys of a node are looked for.
    pub(crate) fn key_containers(&mut self, objects: &[ObjId], site: SiteId, key: NodeId) {
        for &container in objects {
            if self.finds_by_hash(container) {
                self.look_up(site, container, key);
                let container = Some(container);
                self.on(key, Task::Key { site, container });
            }
        }
    }

    /// Data model 3.3.8: an object with `__index__` is an index of a sequence.
    pub(crate) fn index_arrived(&mut self, site: SiteId, key: ObjId) {
        let name = names::INDEX;
        if let Some(class) = self.program_class(key)
            && self.class_may_have(class, name)
        {
            let group = GroupKey::Convert(site, name);
            self.ask(group, class, name, key, site, &[], NO_NODE);
        }
    }
}
