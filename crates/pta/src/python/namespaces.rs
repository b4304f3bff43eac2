//! `__dict__`: the attributes of an object as a mapping.
//!
//! Data model 3.2.8 "Instance attributes": attribute assignments update the instance's dictionary, which is readable and
//! writable as `__dict__`. The mapping is an object of its own; each of its constant string keys holds what the attribute
//! of that name holds, in both directions. What is stored under other keys is an attribute whose name is not known. What
//! is read under other keys may be any attribute, which is not tracked: all its elements carry a reason.

use crate::engine::{Engine, NO_NODE, Sink, Task};
use crate::heap::{Allocation, Field, Object};
use crate::ids::{NodeId, ObjId, SiteId};
use crate::python::names;
use hognose_base::{ReasonSet, Symbol, UnresolvedKind};

impl Engine<'_> {
    /// The `__dict__` of an object.
    pub(crate) fn namespace_of(&mut self, owner: ObjId) -> ObjId {
        let namespace = self
            .heap
            .object(Object::Instance(self.known.dict, Allocation::Namespace(owner)));
        if self.heap.slot(namespace, Field::ANY_IN).is_none() {
            let any = self.element_slot(namespace, Field::ANY_IN);
            self.on(any, Task::StoreUnnamed { owner, value: any });
            let all = self.slot(namespace, Field::ALL_OUT);
            self.add_reason(all, UnresolvedKind::Unmodelled);
            let keys = self.slot(namespace, Field::KEYS);
            let text = self.scalar(self.known.str);
            self.add_object(keys, text);
        }
        namespace
    }

    /// `object.__dict__`, unless the class has an attribute of that name itself. Whether it was that.
    pub(crate) fn namespace_attribute(&mut self, object: ObjId, name: Symbol, sink: Sink) -> bool {
        if name != names::DICT || !self.has_namespace(object, name) {
            return false;
        }
        let namespace = self.namespace_of(object);
        let node = self.sink_node(sink);
        self.add_object(node, namespace);
        true
    }

    fn has_namespace(&self, object: ObjId, name: Symbol) -> bool {
        matches!(self.heap.get(object), Object::Instance(class, _)
            if !self.known.is_scalar(class) && !self.known.is_container(class) && !self.class_may_have(class, name))
    }

    /// `object.__dict__ = value`: the keys of the mapping become attributes.
    pub(crate) fn store_namespace(&mut self, object: ObjId, name: Symbol, value: NodeId, site: SiteId) {
        if value != NO_NODE && name == names::DICT && self.has_namespace(object, name) {
            let to = self.namespace_of(object);
            self.on(value, Task::CopyInto { to, site });
        }
    }

    /// Connects a key of a namespace with the attribute.
    pub(crate) fn connect_namespace(&mut self, namespace: ObjId, field: Field, node: NodeId) {
        let Object::Instance(_, Allocation::Namespace(owner)) = self.heap.get(namespace) else {
            return;
        };
        let Some(name) = field.as_str_key() else { return };
        match self.heap.get(owner) {
            Object::Class(..) | Object::DynamicClass(_) | Object::Module(_) => {
                self.store_foreign(owner, name, node);
                let slot = self.attribute_slot(owner, name);
                self.add_edge(slot, node);
            }
            _ => {
                let slot = self.attribute_slot(owner, name);
                self.add_edge(slot, node);
                self.add_edge(node, slot);
            }
        }
    }

    /// Something was stored under a key of a namespace that is not known.
    pub(crate) fn store_unnamed(&mut self, objects: &[ObjId], reasons: ReasonSet, owner: ObjId, value: NodeId) {
        if objects.is_empty() && reasons.is_empty() {
            return;
        }
        let class = match self.heap.get(owner) {
            Object::Class(..) | Object::DynamicClass(_) => Some(owner),
            _ => self.class_of(owner),
        };
        if let Some(class) = class {
            self.store_any_attribute(class, value);
        }
    }
}
