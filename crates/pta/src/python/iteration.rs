//! Iteration, generators, awaiting, unpacking.
//!
//! Language Reference 8.3 "The for statement", 6.2.9 "Yield expressions", data model 3.3.7 (`__iter__`), 3.4
//! "Coroutines"; an object without `__iter__` is iterated by `__getitem__` with 0, 1, ... A generator object is distinct
//! from what it yields. CPython: `Objects/genobject.c`, `Objects/iterobject.c`.

use crate::engine::{CallKind, Engine, Fallback, GroupKey, KeyWatcher, Question, Task};
use crate::heap::{Allocation, Field, Object, Step};
use crate::ids::{ActId, NodeId, ObjId, SiteId};
use crate::python::names;
use crate::template::{Operation, RAISED, RETURN, SENT, YIELDED};
use hognose_base::ReasonSet;

impl Engine<'_> {
    /// `iter(x)` for what arrived.
    pub(crate) fn iterate(&mut self, objects: &[ObjId], reasons: ReasonSet, site: SiteId, result: NodeId) {
        for &object in objects {
            self.iterate_object(site, object, result);
        }
        if !reasons.is_empty() {
            self.note_reasons(site, reasons);
            self.add_reasons(result, reasons);
        }
    }

    pub(crate) fn iterate_object(&mut self, site: SiteId, object: ObjId, result: NodeId) {
        match self.heap.get(object) {
            Object::Generator(_) | Object::Iterator(_) => self.add_object(result, object),
            Object::Str(_) | Object::Int(_) => {
                let iterator = self.heap.object(Object::Iterator(object));
                self.add_object(result, iterator);
            }
            Object::External(chain) => {
                let next = self.heap.extend_chain(chain, Step::Iterate);
                let iterator = self.heap.object(Object::External(next));
                self.add_object(result, iterator);
            }
            Object::Instance(class, _) if self.known.is_container(class) || self.known.is_scalar(class) => {
                if class != self.known.none {
                    let iterator = self.heap.object(Object::Iterator(object));
                    self.add_object(result, iterator);
                }
            }
            _ => self.iterate_protocol(site, object, result),
        }
    }

    fn iterate_protocol(&mut self, site: SiteId, object: ObjId, result: NodeId) {
        let Some(class) = self.class_of(object) else { return };
        let name = names::ITER;
        let (receiver, new) = self.kin_or_alone(GroupKey::Iterate(site, result), class, name);
        self.add_object(receiver, object);
        if new {
            self.method_call(class, receiver, name, site, &[], result, CallKind::Protocol(name));
            self.questions.push(Question::Fallback {
                class,
                tried: name,
                site,
                then: Fallback::Sequence { receiver, result },
            });
        }
    }

    /// `next(x)` for what arrived.
    pub(crate) fn next(&mut self, objects: &[ObjId], reasons: ReasonSet, site: SiteId, result: NodeId, raises: NodeId) {
        for &object in objects {
            match self.heap.get(object) {
                Object::Generator(act) => {
                    let (yielded, raised) = (self.node(act, YIELDED), self.node(act, RAISED));
                    self.add_edge(yielded, result);
                    self.add_edge(raised, raises);
                }
                Object::Iterator(_) => {
                    let elements = self.elements(object);
                    self.add_edge(elements, result);
                }
                // `iter` of an external value is already its item step.
                Object::External(_) => self.add_object(result, object),
                _ => {
                    let Some(class) = self.class_of(object) else { continue };
                    let name = names::NEXT;
                    let key = GroupKey::Next(site, result);
                    self.ask(key, class, name, object, site, &[], result);
                }
            }
        }
        if !reasons.is_empty() {
            self.note_reasons(site, reasons);
            self.add_reasons(result, reasons);
        }
    }

    /// What the answers of `__getitem__` with 0, 1, ... are, as an iterator: an object whose elements they are.
    pub(crate) fn iterate_sequence(&mut self, class: ObjId, site: SiteId, receiver: NodeId, result: NodeId) {
        let name = names::GETITEM;
        if !self.class_may_have(class, name) {
            return;
        }
        let holder = self
            .heap
            .object(Object::Instance(self.known.list, Allocation::Site(site)));
        let any = self.element_slot(holder, Field::ANY_IN);
        let index = self.scalar(self.known.int);
        let index = self.single(index);
        self.method_call(class, receiver, name, site, &[index], any, CallKind::Protocol(name));
        let iterator = self.heap.object(Object::Iterator(holder));
        self.add_object(result, iterator);
    }

    // ---- asynchronous ------------------------------------------------------------------------------------------------

    /// `aiter(x)` for what arrived.
    pub(crate) fn async_iterate(&mut self, objects: &[ObjId], reasons: ReasonSet, site: SiteId, result: NodeId) {
        for &object in objects {
            if matches!(self.heap.get(object), Object::Generator(_)) {
                self.add_object(result, object);
            } else {
                self.async_step(site, object, names::AITER, result);
            }
        }
        self.async_reasons(site, reasons, result);
    }

    /// `anext(x)`: an awaitable.
    pub(crate) fn async_next(&mut self, objects: &[ObjId], reasons: ReasonSet, site: SiteId, result: NodeId) {
        for &object in objects {
            if matches!(self.heap.get(object), Object::Generator(_)) {
                let awaitable = self.heap.object(Object::AsyncNext(object));
                self.add_object(result, awaitable);
            } else {
                self.async_step(site, object, names::ANEXT, result);
            }
        }
        self.async_reasons(site, reasons, result);
    }

    fn async_reasons(&mut self, site: SiteId, reasons: ReasonSet, result: NodeId) {
        if !reasons.is_empty() {
            self.note_reasons(site, reasons);
            self.add_reasons(result, reasons);
        }
    }

    fn async_step(&mut self, site: SiteId, object: ObjId, name: hognose_base::Symbol, result: NodeId) {
        if let Object::External(chain) = self.heap.get(object) {
            let next = self.heap.extend_chain(chain, Step::Iterate);
            let value = self.heap.object(Object::External(next));
            self.add_object(result, value);
            return;
        }
        let Some(class) = self.class_of(object) else { return };
        let key = GroupKey::Iterate(site, result);
        self.ask(key, class, name, object, site, &[], result);
    }

    /// `await x`: the iterator that drives it.
    pub(crate) fn await_value(&mut self, objects: &[ObjId], reasons: ReasonSet, site: SiteId, result: NodeId) {
        for &object in objects {
            match self.heap.get(object) {
                Object::Generator(_) | Object::AsyncNext(_) => self.add_object(result, object),
                Object::External(chain) => {
                    let next = self.heap.extend_chain(chain, Step::Await);
                    let value = self.heap.object(Object::External(next));
                    self.add_object(result, value);
                }
                _ => self.async_step(site, object, names::AWAIT, result),
            }
        }
        self.async_reasons(site, reasons, result);
    }

    /// `yield from` and the loop of `await`: the delegate's yields are yielded, its return value is the result.
    pub(crate) fn delegate(&mut self, objects: &[ObjId], reasons: ReasonSet, site: SiteId) {
        let Operation::Delegate { sent, result, .. } = *self.operation(site) else {
            return;
        };
        let act = self.site_acts[site];
        let (sent, result) = (self.node(act, sent), self.node(act, result));
        let (yielded, raises) = (self.node(act, YIELDED), self.site_raises(site));
        for &object in objects {
            match self.heap.get(object) {
                Object::Generator(inner) => {
                    let (inner_yield, inner_return) = (self.node(inner, YIELDED), self.node(inner, RETURN));
                    let (inner_sent, inner_raised) = (self.node(inner, SENT), self.node(inner, RAISED));
                    self.add_edge(inner_yield, yielded);
                    self.add_edge(inner_return, result);
                    self.add_edge(sent, inner_sent);
                    if let (Some(thrown), Some(inner_thrown)) = (self.thrown(act), self.thrown(inner)) {
                        self.add_edge(thrown, inner_thrown);
                    }
                    self.add_edge(inner_raised, raises);
                }
                Object::AsyncNext(generator) => {
                    if let Object::Generator(inner) = self.heap.get(generator) {
                        let (item, raised) = (self.node(inner, YIELDED), self.node(inner, RAISED));
                        self.add_edge(item, result);
                        self.add_edge(raised, raises);
                    }
                }
                Object::Iterator(_) => {
                    let elements = self.elements(object);
                    self.add_edge(elements, yielded);
                }
                Object::External(_) => {
                    self.add_object(result, object);
                    self.add_object(yielded, object);
                }
                _ => {
                    let none = self.scalar(self.known.none);
                    self.add_object(result, none);
                    self.next(&[object], ReasonSet::EMPTY, site, yielded, raises);
                }
            }
        }
        if !reasons.is_empty() {
            self.note_reasons(site, reasons);
            self.add_reasons(result, reasons);
            self.add_reasons(yielded, reasons);
        }
    }

    // ---- unpacking ------------------------------------------------------------------------------------------------------

    /// `a, b = x` for what arrived: constant positions of sequences are kept.
    pub(crate) fn unpack(&mut self, objects: &[ObjId], reasons: ReasonSet, site: SiteId) {
        let Operation::Unpack {
            iterator,
            item,
            ref targets,
            star,
            ..
        } = *self.operation(site)
        else {
            return;
        };
        let act = self.site_acts[site];
        let templates = self.templates;
        let pool = &templates[self.acts[act].code].pool[targets.start as usize..targets.end as usize];
        let targets: Vec<NodeId> = pool.iter().map(|&local| self.node(act, local)).collect();
        let (iterator, item) = (self.node(act, iterator), self.node(act, item));
        let mut general = false;
        for &object in objects {
            match self.heap.get(object) {
                Object::Instance(class, _) if class == self.known.tuple || class == self.known.list => {
                    self.unpack_sequence(site, object, &targets, star);
                }
                _ => {
                    general = true;
                    self.iterate_object(site, object, iterator);
                }
            }
        }
        if general {
            for &target in &targets {
                self.add_edge(item, target);
            }
            let raises = self.site_raises(site);
            if self.unpack_general.insert(site) {
                self.on(
                    iterator,
                    Task::Next {
                        site,
                        result: item,
                        raises,
                    },
                );
            }
        }
        if !reasons.is_empty() {
            self.note_reasons(site, reasons);
            for target in targets {
                self.add_reasons(target, reasons);
            }
        }
    }

    fn unpack_sequence(&mut self, site: SiteId, object: ObjId, targets: &[NodeId], star: Option<u32>) {
        let first = star.unwrap_or(0);
        let star = star.map_or(usize::MAX, |star| star as usize);
        let all = self.elements(object);
        for (at, &target) in targets.iter().enumerate() {
            if at == star {
                // The list behind the star has what follows, from its first place on.
                let (act, inst) = (self.site_acts[site], self.site_inst(site));
                let list = Object::Instance(self.known.list, Allocation::Inst(act, inst, 1));
                let target = self.heap.object(list);
                let (from, to) = (
                    self.element_slot(object, Field::ANY_IN),
                    self.element_slot(target, Field::ANY_IN),
                );
                self.add_edge(from, to);
                self.watch_keys(object, KeyWatcher::Rest { target, first });
            } else if at < star {
                let slot = self.element_slot(object, Field::int_key(i32::try_from(at).unwrap_or(i32::MAX)));
                self.add_edge(slot, target);
            } else {
                self.add_edge(all, target);
            }
        }
    }

    // ---- generator methods -----------------------------------------------------------------------------------------------

    /// Generators arrived into which the values of a node are sent or thrown.
    pub(crate) fn send_into(&mut self, objects: &[ObjId], value: NodeId, throw: Option<SiteId>) {
        for &object in objects {
            let Object::Generator(act) = self.heap.get(object) else {
                continue;
            };
            match throw {
                None => {
                    let sent = self.node(act, SENT);
                    self.add_edge(value, sent);
                }
                // What is thrown in is raised at the suspensions: handlers around them see it, or it leaves.
                Some(site) => {
                    let raises = self.thrown(act).unwrap_or_else(|| self.node(act, RAISED));
                    self.on(value, Task::Raise { site, raises });
                }
            }
        }
    }

    /// The node of what is thrown into a generator, if it suspends anywhere.
    fn thrown(&self, act: ActId) -> Option<NodeId> {
        let local = self.templates[self.acts[act].code].thrown?;
        Some(self.node(act, local))
    }
}
