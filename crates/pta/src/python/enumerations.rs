//! Members of enumerations.
//!
//! Library Reference, `enum`: the values that the body of an enumeration binds become members, one instance of the class each, whose
//! value is what was bound. Functions, descriptors, classes and names with a leading underscore stay what they are. Which classes are
//! enumerations, and when members are made, is said by the library model (`_hognose.members`).

use crate::engine::{Engine, NO_NODE, Task};
use crate::heap::{Allocation, Object};
use crate::ids::{NodeId, ObjId, SiteId};
use crate::python::names;
use hognose_base::Symbol;

impl Engine<'_> {
    /// Classes arrived whose members are made.
    pub(crate) fn enum_classes(&mut self, classes: &[ObjId], site: SiteId, result: NodeId) {
        for &class in classes {
            let Object::Class(body, _) = self.heap.get(class) else {
                continue;
            };
            if self.program.is_model(body) {
                continue;
            }
            let templates = self.templates;
            for store in &templates[body].name_stores {
                if self.program.text(store.name).starts_with('_') {
                    continue;
                }
                let slot = self.attribute_slot(class, store.name);
                let name = store.name;
                let all = result;
                self.on(slot, Task::EnumMember { class, name, site, all });
            }
        }
    }

    /// Values arrived under a name of an enumeration.
    pub(crate) fn enum_member(&mut self, values: &[ObjId], class: ObjId, name: Symbol, site: SiteId, all: NodeId) {
        for &value in values {
            let plain = match self.heap.get(value) {
                Object::Instance(own, Allocation::Member(_)) if own == class => false,
                Object::Instance(own, _) => {
                    ![self.known.property, self.known.classmethod, self.known.staticmethod].contains(&own)
                }
                Object::Str(_) | Object::Int(_) | Object::External(_) => true,
                _ => false,
            };
            if !plain {
                continue;
            }
            let member = self.heap.object(Object::Instance(class, Allocation::Member(name)));
            let (node, given) = (self.single(member), self.single(value));
            self.store_foreign(class, name, node);
            self.add_object(all, member);
            let slot = self.attribute_slot(member, names::ENUM_VALUE);
            self.add_object(slot, value);
            let hook = if self.class_of(value) == Some(self.known.tuple) {
                names::FROM_ITEMS
            } else {
                names::FROM_VALUE
            };
            self.special_call(site, node, hook, &[given], NO_NODE);
        }
    }
}
