//! Loads that read what stores of the same body left.
//!
//! ```python
//! task.action = draft
//! task.action = final
//! task.action()        # calls `final` alone, whatever else is ever stored there
//! ```
//! The heap is updated weakly: a slot holds all that any code ever stores. Where no code can lie between a store and a load
//! ([`hognose_ir::StrongLoads`]), the load reads the stored value instead of the slot. That this is so depends on the receiver: a class
//! that defines `__setattr__`, `__getattribute__` or their like, or a data descriptor under the name, does what it likes (data model
//! 3.3.2), and so does a `__setitem__` that is not a builtin container's. Such receivers are answered from their slots, and the
//! load then reads both. A class may turn out to inherit such a method after instances of it arrived; they are answered anew.

use crate::engine::{Engine, Lookup, Sink};
use crate::ids::{NodeId, ObjId, SiteId};
use crate::python::classes::Base;
use crate::python::names;
use crate::template::Forward;
use hognose_base::Symbol;

/// A receiver that was answered with what was stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForwardedRead {
    object: ObjId,
    name: Symbol,
    sink: Sink,
    site: SiteId,
}

/// Methods with which a class customises access to all of its attributes.
const CUSTOMISING: [Symbol; 4] = [names::SETATTR, names::DELATTR, names::GETATTRIBUTE, names::GETATTR];

impl Engine<'_> {
    /// How the attribute of a site is looked up.
    pub(crate) fn lookup_mode(&self, site: SiteId, special: bool) -> Lookup {
        if special {
            Lookup::Special
        } else if self.forward_at(site).is_some() {
            Lookup::Forwarded
        } else {
            Lookup::Normal
        }
    }

    fn forward_at(&self, site: SiteId) -> Option<Forward> {
        let act = &self.acts[self.site_acts[site]];
        let forwards = &self.templates[act.code].forwards;
        if forwards.is_empty() {
            return None;
        }
        let operation = site.raw() - act.sites.raw();
        let at = forwards.binary_search_by_key(&operation, |forward| forward.operation);
        at.ok().map(|at| forwards[at])
    }

    /// Answers an instance of `class` at a load with what was stored; it hides what the class has under the name, unless that may
    /// be a descriptor that is not seen ([`Engine::may_inherit_unseen`]). `false`: the attribute must be looked up.
    pub(crate) fn forward(&mut self, site: SiteId, class: ObjId, object: ObjId, name: Symbol, sink: Sink) -> bool {
        if !self.gives_what_was_stored(class, name) {
            self.read_slots(site);
            return false;
        }
        let read = ForwardedRead {
            object,
            name,
            sink,
            site,
        };
        self.forwarded_reads.entry(class).or_default().push(read);
        let to = self.sink_node(sink);
        self.forward_unchecked(site, to);
        true
    }

    /// Answers a builtin container at a subscript with what was stored. `false`: the subscript is no such load.
    pub(crate) fn forward_item(&mut self, site: SiteId) -> bool {
        let Some(forward) = self.forward_at(site) else {
            return false;
        };
        let crate::template::Operation::LoadItem { result, .. } = *self.operation(site) else {
            return false;
        };
        let (from, to) = (self.site_node(site, forward.value), self.site_node(site, result));
        self.add_edge(from, to);
        true
    }

    /// Adds what was stored to the result of a load, whatever its receiver.
    pub(crate) fn forward_unchecked(&mut self, site: SiteId, to: NodeId) {
        if let Some(forward) = self.forward_at(site) {
            let from = self.site_node(site, forward.value);
            self.add_edge(from, to);
        }
    }

    /// Records that a load reads slots after all.
    pub(crate) fn read_slots(&mut self, site: SiteId) {
        if let Some(forward) = self.forward_at(site) {
            let code = self.acts[self.site_acts[site]].code;
            self.slot_reads.insert((code, forward.load));
        }
    }

    /// Whether the class has a base that is not part of the program, or not known.
    pub(crate) fn may_inherit_unseen(&self, class: ObjId) -> bool {
        self.classes
            .get(class)
            .is_none_or(|info| info.orders.iter().flatten().any(|base| !matches!(base, Base::Class(_))))
    }

    fn gives_what_was_stored(&self, class: ObjId, name: Symbol) -> bool {
        if self.known.is_scalar(class) || class == self.known.method {
            return false;
        }
        let bound = || self.class_may_have(class, name);
        let any = |info: &crate::python::classes::ClassInfo| !info.any_sources.is_empty();
        !(self.stored_on_classes.contains(&name)
            || self.program.facts.stores.may_bind_descriptor(name) && bound()
            || self.classes.get(class).is_some_and(any))
            && CUSTOMISING.iter().all(|&method| !self.class_may_have(class, method))
    }

    /// Something is stored on a class from outside; it may be a descriptor.
    pub(crate) fn note_store_on_class(&mut self, name: Symbol) {
        if self.stored_on_classes.insert(name) {
            let mut classes: Vec<ObjId> = self.forwarded_reads.keys().copied().collect();
            classes.sort_unstable();
            for class in classes {
                self.settle_forwarded(class);
            }
        }
    }

    /// After a new linearisation of a class, or a store on it: receivers that it makes customise access after all are looked up.
    pub(crate) fn settle_forwarded(&mut self, class: ObjId) {
        let Some(reads) = self.forwarded_reads.remove(&class) else {
            return;
        };
        let mut kept = Vec::new();
        for read in reads {
            if self.gives_what_was_stored(class, read.name) {
                if self.may_inherit_unseen(class) {
                    self.class_members(class, read.object, read.name, read.sink, read.site, Lookup::Normal);
                }
                kept.push(read);
                continue;
            }
            self.read_slots(read.site);
            self.instance_attribute(read.object, read.name, read.sink, read.site, Lookup::Normal);
        }
        if !kept.is_empty() {
            self.forwarded_reads.insert(class, kept);
        }
    }
}
