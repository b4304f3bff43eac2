//! Raising and catching.
//!
//! Language Reference 7.8 "The raise statement" (a class is instantiated first), 8.4 "The try statement" (a clause catches
//! instances of its class, or of any class of its tuple). What operations of builtins raise implicitly is not tracked by
//! origin: a handler of a builtin or external class receives an instance made where it is caught.

use crate::engine::{CallKind, Engine, GroupKey, NO_NODE, Task};
use crate::heap::{Allocation, Field, Object, Step};
use crate::ids::{NodeId, ObjId, SiteId};
use crate::python::names;
use crate::template::Operation;
use hognose_base::ReasonSet;

impl Engine<'_> {
    /// Values to be raised arrived.
    pub(crate) fn raise(&mut self, objects: &[ObjId], reasons: ReasonSet, site: SiteId, raises: NodeId) {
        for &object in objects {
            match self.heap.get(object) {
                Object::Class(..) | Object::DynamicClass(_) => {
                    let request = self.site_request(site, &[], raises, CallKind::Call);
                    self.apply_call(request, object, NO_NODE);
                }
                Object::External(chain) => {
                    let next = self.heap.extend_chain(chain, Step::Call);
                    let value = self.heap.object(Object::External(next));
                    self.add_object(raises, value);
                }
                _ => self.add_object(raises, object),
            }
        }
        if !reasons.is_empty() {
            self.note_reasons(site, reasons);
            self.add_reasons(raises, reasons);
        }
    }

    /// Classes of a handler arrived.
    pub(crate) fn catch(&mut self, objects: &[ObjId], reasons: ReasonSet, site: SiteId) {
        let Operation::Catch {
            exception,
            result,
            group,
            ..
        } = *self.operation(site)
        else {
            return;
        };
        let (mut exception, mut result) = (self.site_node(site, exception), self.site_node(site, result));
        if group {
            (exception, result) = self.group_parts(site, exception, result);
        }
        for &class in objects {
            match self.heap.get(class) {
                Object::Class(..) | Object::DynamicClass(_) => {
                    self.on(exception, Task::Match { class, result });
                    if self.is_library_class(class) {
                        let implicit = self.heap.object(Object::Instance(class, Allocation::Implicit(site)));
                        self.add_object(result, implicit);
                    }
                }
                Object::Instance(tuple, _) if tuple == self.known.tuple => {
                    // A tuple that holds itself is looked into once.
                    let fresh = self.class_tuples.insert((site, class));
                    let elements = if fresh { self.elements(class) } else { NO_NODE };
                    self.on(elements, Task::CatchClass { site });
                }
                Object::External(chain) => {
                    let next = self.heap.extend_chain(chain, Step::Call);
                    let value = self.heap.object(Object::External(next));
                    self.add_object(result, value);
                    self.on(exception, Task::MatchExternal { result });
                }
                _ => {}
            }
        }
        if !reasons.is_empty() {
            self.note_reasons(site, reasons);
            self.add_reasons(result, reasons);
            self.add_edge(exception, result);
        }
    }

    /// Language Reference 8.4.2: `except*` looks at the exceptions of the group that was raised, and sees a group of those it
    /// catches. The leaves that are looked at, and where caught ones go.
    fn group_parts(&mut self, site: SiteId, exception: NodeId, result: NodeId) -> (NodeId, NodeId) {
        let Some(class) = self.known.named("ExceptionGroup") else {
            return (exception, result);
        };
        let caught = self.heap.object(Object::Instance(class, Allocation::Implicit(site)));
        let parts = self
            .heap
            .object(Object::Instance(self.known.tuple, Allocation::Implicit(site)));
        let (leaves, new) = self.group(GroupKey::Leaves(site), class);
        let matched = self.element_slot(parts, Field::ANY_IN);
        if new {
            self.add_object(result, caught);
            let slot = self.attribute_slot(caught, names::EXCEPTIONS);
            self.add_object(slot, parts);
            self.on(exception, Task::Leaves { site, leaves });
        }
        (leaves, matched)
    }

    /// Exceptions arrived at an `except*`: those of groups count one by one.
    pub(crate) fn leaves(&mut self, objects: &[ObjId], reasons: ReasonSet, site: SiteId, leaves: NodeId) {
        for &object in objects {
            let group = self.known.named("BaseExceptionGroup");
            let of_group = group
                .zip(self.class_of(object))
                .is_some_and(|(group, own)| self.classes.is_subclass(own, group));
            if !of_group {
                self.add_object(leaves, object);
                continue;
            }
            // A group that holds itself is looked into once.
            let (parts, new) = self.group(GroupKey::Leaves(site), object);
            if new {
                let slot = self.attribute_slot(object, names::EXCEPTIONS);
                self.on(slot, Task::Elements { result: parts });
                self.on(parts, Task::Leaves { site, leaves });
            }
        }
        self.add_reasons(leaves, reasons);
    }

    /// Classes of an `isinstance` test arrived: the value is an instance of one of them.
    pub(crate) fn narrow(&mut self, objects: &[ObjId], reasons: ReasonSet, site: SiteId) {
        let Operation::Narrow { value, result, .. } = *self.operation(site) else {
            return;
        };
        let (value, result) = (self.site_node(site, value), self.site_node(site, result));
        for &class in objects {
            match self.heap.get(class) {
                Object::Class(..) | Object::DynamicClass(_) if self.decides_instances(class) => {
                    self.add_edge(value, result);
                }
                Object::Class(..) | Object::DynamicClass(_) => self.on(value, Task::Match { class, result }),
                Object::Instance(tuple, _) if tuple == self.known.tuple => {
                    // A tuple that holds itself is looked into once.
                    let fresh = self.class_tuples.insert((site, class));
                    let elements = if fresh { self.elements(class) } else { NO_NODE };
                    self.on(elements, Task::NarrowClass { site });
                }
                _ => self.add_edge(value, result),
            }
        }
        if !reasons.is_empty() {
            self.add_edge(value, result);
        }
    }

    /// Classes of an `isinstance` test that failed arrived. Where the class may be one of several, the value fails at
    /// least one of them; a tuple of classes excludes nothing.
    pub(crate) fn narrow_out(&mut self, objects: &[ObjId], reasons: ReasonSet, site: SiteId) {
        let Operation::NarrowOut { value, result, .. } = *self.operation(site) else {
            return;
        };
        let (value, result) = (self.site_node(site, value), self.site_node(site, result));
        for &class in objects {
            match self.heap.get(class) {
                Object::Class(..) | Object::DynamicClass(_) => self.on(value, Task::NoMatch { class, result }),
                _ => self.add_edge(value, result),
            }
        }
        if !reasons.is_empty() {
            self.add_edge(value, result);
        }
    }

    /// Values arrived that are no instances of the class; what may be one is passed on as well.
    pub(crate) fn no_match(&mut self, objects: &[ObjId], reasons: ReasonSet, class: ObjId, result: NodeId) {
        for &object in objects {
            let certain = self
                .class_of(object)
                .is_some_and(|own| self.classes.certainly_subclass(own, class));
            if !certain {
                self.add_object(result, object);
            }
        }
        self.add_reasons(result, reasons);
    }

    /// Whether the class comes from a library model: operations may raise it without a `raise` in sight.
    fn is_library_class(&self, class: ObjId) -> bool {
        matches!(self.heap.get(class), Object::Class(code, _) if self.program.is_model(code))
    }

    /// What is not known may be an instance of the class that a test or clause names; it stays unknown beside that, for it may
    /// be one of a subclass, too.
    fn unknown_instance(&mut self, class: ObjId, result: NodeId) {
        if self.known.is_scalar(class) {
            self.scalar_to(result, class);
        } else if matches!(self.heap.get(class), Object::Class(code, _) if !self.program.is_model(code)) {
            let instance = self.entry_instance(class);
            self.add_object(result, instance);
        }
    }

    /// Values arrived at a test for a class or at a clause of one.
    pub(crate) fn match_exception(&mut self, objects: &[ObjId], reasons: ReasonSet, class: ObjId, result: NodeId) {
        for &object in objects {
            let matches = match self.heap.get(object) {
                Object::External(_) => true,
                _ => self
                    .class_of(object)
                    .is_some_and(|own| self.classes.is_subclass(own, class) || self.classes.has_unknown_base(own)),
            };
            if matches || self.passes_by_registration(object, class, result) {
                self.add_object(result, object);
            }
        }
        if !reasons.is_empty() {
            self.add_reasons(result, reasons);
            self.unknown_instance(class, result);
        }
    }

    /// Exceptions arrived at a clause of an external class: external ones and those of subclasses of external classes.
    pub(crate) fn match_external(&mut self, objects: &[ObjId], reasons: ReasonSet, result: NodeId) {
        for &object in objects {
            let matches = match self.heap.get(object) {
                Object::External(_) => true,
                _ => self
                    .class_of(object)
                    .is_some_and(|own| self.classes.has_unknown_base(own)),
            };
            if matches {
                self.add_object(result, object);
            }
        }
        self.add_reasons(result, reasons);
    }
}
