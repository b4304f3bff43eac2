//! `super()`: attributes behind a class in the receiver's method resolution order.
//!
//! Library Reference, `super`: the search starts right behind the class given; the order is that of the receiver's type
//! (of the receiver itself, if it is a class). CPython: `Objects/typeobject.c`, `super_getattro`.

use crate::engine::{Engine, GroupKey, Sink, SuperSink, Task};
use crate::heap::Object;
use crate::ids::{NodeId, ObjId, SiteId};
use crate::template::FIRST_FREE_LOCAL;
use hognose_base::{ReasonSet, Symbol, UnresolvedKind};

impl Engine<'_> {
    /// A class for `super(class, ...)` arrived.
    pub(crate) fn super_class(&mut self, objects: &[ObjId], reasons: ReasonSet, receiver: NodeId, sink: SuperSink) {
        for &class in objects {
            match self.heap.get(class) {
                Object::Class(..) | Object::DynamicClass(_) => {
                    self.on(receiver, Task::SuperReceiver { class, sink });
                }
                Object::External(_) => self.super_unknown(UnresolvedKind::External.into(), sink),
                _ => {}
            }
        }
        self.super_unknown(reasons, sink);
    }

    /// Class or receiver of a `super()` are not known, or external.
    fn super_unknown(&mut self, reasons: ReasonSet, sink: SuperSink) {
        if reasons.is_empty() {
            return;
        }
        match sink {
            SuperSink::Object(node) => self.add_reasons(node, reasons),
            SuperSink::Attribute(_, sink, site) => {
                self.note_reasons(site, reasons);
                self.sink_reasons(sink, reasons);
            }
        }
    }

    /// A receiver for `super(class, receiver)` arrived.
    pub(crate) fn super_receiver(&mut self, objects: &[ObjId], reasons: ReasonSet, class: ObjId, sink: SuperSink) {
        self.super_unknown(reasons, sink);
        for &receiver in objects {
            if matches!(self.heap.get(receiver), Object::External(_)) {
                self.super_unknown(UnresolvedKind::External.into(), sink);
                continue;
            }
            match sink {
                SuperSink::Object(node) => {
                    let object = self.heap.object(Object::Super(class, receiver));
                    self.add_object(node, object);
                }
                SuperSink::Attribute(name, sink, site) => self.super_attribute(class, receiver, name, sink, site),
            }
        }
    }

    /// `super(class, receiver).name`
    pub(crate) fn super_attribute(&mut self, class: ObjId, receiver: ObjId, name: Symbol, sink: Sink, site: SiteId) {
        let is_class = matches!(self.heap.get(receiver), Object::Class(..) | Object::DynamicClass(_));
        // A class that is no subclass is an instance: `super().__init__` in a metaclass (`supercheck`).
        let through_class = is_class && self.classes.is_subclass(receiver, class);
        let owner = if through_class {
            Some(receiver)
        } else {
            self.class_of(receiver)
        };
        let Some(owner) = owner else { return };
        if !self.classes.is_subclass(owner, class) {
            return;
        }
        let (group, new) = self.group(GroupKey::Super(class, sink), owner);
        self.add_object(group, receiver);
        if new {
            let found = self.lookup_after(owner, Some(class), name);
            self.on(
                found,
                Task::Member {
                    sink,
                    site,
                    receiver: group,
                    class: Some(owner),
                    through_class,
                },
            );
        }
    }

    /// `super()` without arguments: the cell `__class__` and the first parameter of the calling code.
    pub(crate) fn zero_argument_super(&mut self, site: SiteId, result: NodeId) {
        let mut act = self.site_acts[site];
        let program = self.program;
        // A comprehension frame has no receiver of its own; from 3.12 on it is inlined.
        let code = self.acts[act].code;
        if !program.codes[code].is_function()
            && let Some(parent) = program.codes[code].parent
            && let Some(outer) = self.find_act(parent, self.acts[act].context)
        {
            act = outer;
        }
        let code = self.acts[act].code;
        if program.codes[code].signature.parameters.is_empty() {
            return;
        }
        let receiver = self.node(act, FIRST_FREE_LOCAL);
        let module = &program.modules[program.codes[code].module];
        let templates = self.templates;
        for &(slot, local) in &templates[code].free_cells {
            let name = program.body(code).slots[slot].name;
            if &*module.ir.names[name] == "__class__" {
                let cells = self.node(act, local);
                let classes = self.solver.node();
                self.on(cells, Task::CellContents { result: classes });
                self.on(
                    classes,
                    Task::SuperClass {
                        receiver,
                        sink: SuperSink::Object(result),
                    },
                );
            }
        }
    }
}
