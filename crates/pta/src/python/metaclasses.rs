//! Metaclasses: what a class statement asks beside running its body, and classes made by calls.
//!
//! Data model 3.3.3: the namespace is what the metaclass's `__prepare__` gives; behind the body the metaclass is called with
//! name, bases, namespace and the other keywords of the statement, so its `__new__` and `__init__` run. `type.__new__` makes the
//! class. A call of a metaclass, or of `type` with three arguments, does the same without a statement. CPython:
//! `Python/bltinmodule.c` (`builtin___build_class__`), `Objects/typeobject.c` (`type_new`).
//!
//! ```python
//! class Registry(type):
//!     def __new__(mcs, name, bases, namespace):
//!         made = super().__new__(mcs, name, bases, namespace)   # the classes of all statements with this metaclass
//!         ...
//! ```
//! A class made on behalf of a statement *is* the class object of the statement. Which statement a `type.__new__` works for is
//! not told apart: it gives the classes of all statements whose metaclass arrives as its first argument. It makes a class of its
//! own only for metaclasses that some call creates classes with.

use crate::engine::{ArgumentSource, CallKind, Engine, GroupKey, Lookup, NO_NODE, Request, RequestId, Sink, Task};
use crate::heap::{Allocation, Field, Object};
use crate::ids::{NodeId, ObjId, SiteId};
use crate::python::classes::Base;
use crate::python::names;
use crate::template::Operation;
use hognose_base::{ReasonSet, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

/// Who makes classes with which metaclass.
#[derive(Debug, Default)]
pub(crate) struct MetaclassState {
    /// The classes of the statements of a metaclass.
    statements: FxHashMap<ObjId, NodeId>,
    /// Statements whose metaclass was not known when the class was made.
    unborn: Vec<ObjId>,
    /// Classes that their statements have handed out.
    born: FxHashSet<ObjId>,
    /// The classes of all those statements.
    made: FxHashSet<ObjId>,
    /// Metaclasses that are called.
    called: FxHashSet<ObjId>,
    /// Classes registered with abstract ones.
    registered: FxHashSet<(ObjId, ObjId)>,
    /// Objects that failed a test for an abstract class, and where they would go.
    refused: FxHashMap<ObjId, Vec<(ObjId, NodeId)>>,
    /// Calls of `type.__new__` for a metaclass that is not called so far.
    makers: FxHashMap<ObjId, Vec<RequestId>>,
}

impl Engine<'_> {
    /// A call that a class statement makes: these arguments and the keywords of the statement but `metaclass`.
    pub(crate) fn statement_request(
        &mut self,
        site: SiteId,
        arguments: &[NodeId],
        result: NodeId,
        kind: CallKind,
    ) -> RequestId {
        let request = self.site_request(site, arguments, result, kind);
        if let ArgumentSource::Nodes { first, count } = self.requests[request].arguments {
            self.requests[request].arguments = ArgumentSource::Statement { first, count };
        }
        request
    }

    /// The metaclasses of a class statement are called.
    pub(crate) fn ask_metaclasses(&mut self, site: SiteId, class: ObjId) {
        if let Some(metas) = self.classes.get(class).map(|info| info.metaclass_node) {
            self.on(metas, Task::CreateClass { site, class });
            self.metaclasses.unborn.push(class);
        }
    }

    /// Classes without a metaclass, because nothing arrived as their base, are of class `type`. Whether there were any.
    pub(crate) fn settle_metaclasses(&mut self) -> bool {
        let mut changed = false;
        for class in std::mem::take(&mut self.metaclasses.unborn) {
            if let Some(info) = self.classes.get(class)
                && info.metaclasses.is_empty()
            {
                let (node, type_) = (info.metaclass_node, self.known.type_);
                self.add_object(node, type_);
                changed = true;
            }
        }
        changed
    }

    /// The class is what its statement gives once its metaclass is known: what operations on it mean depends on that.
    fn give_birth(&mut self, site: SiteId, class: ObjId) {
        if self.metaclasses.born.insert(class) {
            let result = self.statement_result(site);
            self.add_object(result, class);
        }
    }

    /// Metaclasses of a class statement arrived.
    pub(crate) fn create_class(&mut self, metas: &[ObjId], site: SiteId, class: ObjId) {
        self.give_birth(site, class);
        for &meta in metas {
            if meta == self.known.type_ {
                continue;
            }
            let statements = self.statements_of(meta);
            self.metaclasses.made.insert(class);
            self.add_object(statements, class);
            if matches!(self.heap.get(meta), Object::Class(..) | Object::DynamicClass(_)) {
                self.create_by_class(site, class, meta);
            } else {
                // Any callable may stand for a metaclass.
                let arguments = self.creation_arguments(site, class, NO_NODE);
                let result = self.statement_result(site);
                let request = self.statement_request(site, &arguments, result, CallKind::Call);
                self.apply_call(request, meta, NO_NODE);
            }
        }
    }

    fn create_by_class(&mut self, site: SiteId, class: ObjId, meta: ObjId) {
        let prepared = self.prepare(site, class, meta);
        let (new, init) = (names::NEW, names::INIT);
        if self.meta_defines(meta, new) {
            let arguments = self.creation_arguments(site, class, prepared);
            let made = self.solver.node();
            self.on(made, Task::MadeClass { site });
            let request = self.statement_request(site, &arguments, made, CallKind::Protocol(new));
            let (found, receiver) = (self.lookup(meta, new), self.single(meta));
            self.on(
                found,
                Task::Member {
                    sink: Sink::New(request),
                    site,
                    receiver,
                    class: Some(meta),
                    through_class: true,
                },
            );
        }
        if self.meta_defines(meta, init) {
            let arguments = self.creation_arguments(site, class, prepared);
            let request = self.statement_request(site, &arguments, NO_NODE, CallKind::Protocol(init));
            let (found, receiver) = (self.lookup(meta, init), self.single(class));
            self.on(
                found,
                Task::Member {
                    sink: Sink::Call(request),
                    site,
                    receiver,
                    class: Some(meta),
                    through_class: false,
                },
            );
        }
    }

    /// Whether a class of the metaclass's order other than `type` and `object` may have the name.
    fn meta_defines(&self, meta: ObjId, name: Symbol) -> bool {
        let has = |class: ObjId| {
            class != self.known.type_
                && class != self.known.object
                && (self.heap.slot(class, Field::attribute(name)).is_some()
                    || self
                        .classes
                        .get(class)
                        .is_some_and(|info| info.code.is_none_or(|code| self.program.binds(code, name))))
        };
        has(meta)
            || self.classes.get(meta).is_some_and(|info| {
                info.orders.iter().flatten().any(|base| match *base {
                    Base::Class(class) => has(class),
                    Base::External(_) | Base::Unknown => true,
                })
            })
    }

    /// What the `__new__` of a metaclass gives at a class statement. It works for all statements, so the classes of the others
    /// are among it; they are not what this one makes.
    pub(crate) fn made_class(&mut self, objects: &[ObjId], reasons: ReasonSet, site: SiteId) {
        let result = self.statement_result(site);
        for &object in objects {
            if !self.metaclasses.made.contains(&object) {
                self.add_object(result, object);
            }
        }
        self.add_reasons(result, reasons);
    }

    /// What `__prepare__` of the metaclass gives; the names of the body are stored there.
    fn prepare(&mut self, site: SiteId, class: ObjId, meta: ObjId) -> NodeId {
        let name = names::PREPARE;
        if !self.meta_defines(meta, name) {
            return NO_NODE;
        }
        let [text, bases, _] = self.creation_arguments(site, class, NO_NODE);
        let prepared = self.solver.node();
        let request = self.statement_request(site, &[text, bases], prepared, CallKind::Protocol(name));
        self.attribute(meta, name, Sink::Call(request), site, Lookup::Normal);
        if let Object::Class(body, _) = self.heap.get(class) {
            let templates = self.templates;
            for store in &templates[body].name_stores {
                let key = self.heap.object(Object::Str(store.name));
                let (key, value) = (self.single(key), self.attribute_slot(class, store.name));
                self.special_call(site, prepared, names::SETITEM, &[key, value], NO_NODE);
            }
        }
        prepared
    }

    /// Name, bases and namespace.
    fn creation_arguments(&mut self, site: SiteId, class: ObjId, prepared: NodeId) -> [NodeId; 3] {
        let text = match self.heap.get(class) {
            Object::Class(body, _) => self.heap.object(Object::Str(self.program.codes[body].name)),
            _ => self.scalar(self.known.str),
        };
        let bases = self.bases_tuple(site);
        let namespace = self.namespace_of(class);
        let space = if prepared == NO_NODE {
            self.single(namespace)
        } else {
            let both = self.solver.node();
            self.add_object(both, namespace);
            self.add_edge(prepared, both);
            both
        };
        [self.single(text), self.single(bases), space]
    }

    fn statement_result(&self, site: SiteId) -> NodeId {
        match *self.operation(site) {
            Operation::Class { result, .. } => self.node(self.site_acts[site], result),
            _ => NO_NODE,
        }
    }

    /// The tuple of the bases of a class statement.
    fn bases_tuple(&mut self, site: SiteId) -> ObjId {
        let tuple = self
            .heap
            .object(Object::Instance(self.known.tuple, Allocation::Site(site)));
        let Operation::Class { call, .. } = *self.operation(site) else {
            return tuple;
        };
        let act = self.site_acts[site];
        let templates = self.templates;
        let bases = &templates[self.acts[act].code].calls[call as usize].positional;
        for (&base, at) in bases.iter().zip(0_i32..) {
            let (base, slot) = (self.node(act, base), self.element_slot(tuple, Field::int_key(at)));
            self.add_edge(base, slot);
        }
        tuple
    }

    fn statements_of(&mut self, meta: ObjId) -> NodeId {
        if let Some(&node) = self.metaclasses.statements.get(&meta) {
            return node;
        }
        let node = self.solver.node();
        self.metaclasses.statements.insert(meta, node);
        node
    }

    /// A metaclass is called by an expression: what its `type.__new__` makes is no class of a statement only.
    pub(crate) fn metaclass_called(&mut self, meta: ObjId) {
        if self.classes.is_subclass(meta, self.known.type_) && self.metaclasses.called.insert(meta) {
            for request in self.metaclasses.makers.remove(&meta).unwrap_or_default() {
                self.make_class(request, meta);
            }
        }
    }

    /// `type.__new__(meta, name, bases, namespace)`: metaclasses arrived.
    pub(crate) fn new_class(&mut self, metas: &[ObjId], reasons: ReasonSet, request: RequestId) {
        let Request { result, .. } = self.requests[request];
        for &meta in metas {
            let is_class = matches!(self.heap.get(meta), Object::Class(..) | Object::DynamicClass(_));
            if meta == self.known.type_ || !is_class {
                self.make_class(request, meta);
                continue;
            }
            let statements = self.statements_of(meta);
            self.add_edge(statements, result);
            self.on(statements, Task::FillClass { request });
            if self.metaclasses.called.contains(&meta) {
                self.make_class(request, meta);
            } else {
                self.metaclasses.makers.entry(meta).or_default().push(request);
            }
        }
        if !reasons.is_empty() {
            self.make_class(request, self.known.type_);
        }
    }

    /// A class that no statement makes, one for each call of `type.__new__`.
    fn make_class(&mut self, request: RequestId, meta: ObjId) {
        let Request { site, result, .. } = self.requests[request];
        let class = self.heap.object(Object::DynamicClass(site));
        if self.classes.get(class).is_none() {
            let arguments = self.argument_nodes(request, NO_NODE).positional;
            let bases = self.solver.node();
            self.add_class(class, None, &[bases], arguments[0]);
            self.metaclass_arrived(class, &[meta]);
            self.on(arguments[2], Task::Elements { result: bases });
            self.fill_class(&[class], request);
        }
        self.add_object(result, class);
    }

    /// Classes get what is in the namespace given to `type.__new__`.
    pub(crate) fn fill_class(&mut self, classes: &[ObjId], request: RequestId) {
        let namespace = self.argument_nodes(request, NO_NODE).positional[3];
        let site = self.requests[request].site;
        self.on(namespace, Task::NamespaceReasons { site });
        for &class in classes {
            self.on(namespace, Task::Namespace { class });
        }
    }

    /// A mapping arrived whose keys become attributes of a class. The namespace of a class statement is what the class has
    /// anyway, and no other class has it.
    pub(crate) fn namespace(&mut self, mappings: &[ObjId], class: ObjId) {
        for &mapping in mappings {
            let of_statement = match self.heap.get(mapping) {
                Object::Instance(_, Allocation::Namespace(owner)) => {
                    matches!(self.heap.get(owner), Object::Class(..))
                        && matches!(self.heap.get(class), Object::Class(..))
                }
                _ => false,
            };
            if of_statement {
                continue;
            }
            for field in self.heap.keys.get(&mapping).cloned().unwrap_or_default() {
                if let (Some(name), Some(node)) = (field.as_str_key(), self.heap.slot(mapping, field)) {
                    self.store_foreign(class, name, node);
                }
            }
            let any = self.element_slot(mapping, Field::ANY_IN);
            let to = self.any_attribute(class);
            if matches!(self.heap.get(class), Object::Class(..)) {
                // Mostly a copy of the namespace, whose names the class has: what may be unknown about it is said where the
                // class is made, not at every attribute of every class.
                self.on(any, Task::Objects { to });
            } else {
                self.add_edge(any, to);
            }
        }
    }

    /// Mappings arrived at a `type.__new__`: what is not known of their elements.
    pub(crate) fn namespace_reasons(&mut self, mappings: &[ObjId], reasons: ReasonSet, site: SiteId) {
        self.note_reasons(site, reasons);
        for &mapping in mappings {
            if !matches!(self.heap.get(mapping), Object::Instance(_, Allocation::Namespace(_))) {
                let any = self.element_slot(mapping, Field::ANY_IN);
                self.on(any, Task::NoteReasons { site });
            }
        }
    }

    /// Objects arrived that go on without the reasons beside them.
    pub(crate) fn objects_only(&mut self, objects: &[ObjId], to: NodeId) {
        for &object in objects {
            self.add_object(to, object);
        }
    }

    // ---- what metaclasses say about instances ------------------------------------------------------------------------

    /// Data model 3.3.4: `isinstance(value, C)` asks `type(C).__instancecheck__`; that of `ABCMeta` asks
    /// `C.__subclasshook__`.
    pub(crate) fn check_instance(&mut self, classes: &[ObjId], site: SiteId, value: NodeId) {
        for &class in classes {
            match self.heap.get(class) {
                Object::Class(..) | Object::DynamicClass(_) => {
                    let name = names::INSTANCECHECK;
                    if let Some(meta) = self.class_of(class).filter(|&meta| self.program_defines(meta, name)) {
                        self.ask(GroupKey::Check(site), meta, name, class, site, &[value], NO_NODE);
                    }
                    let hook = names::SUBCLASSHOOK;
                    if self.program_defines(class, hook) {
                        let types = self.solver.node();
                        self.on(value, Task::TypeOf { result: types });
                        let request = self.site_request(site, &[types], NO_NODE, CallKind::Protocol(hook));
                        self.attribute(class, hook, Sink::Call(request), site, Lookup::Normal);
                    }
                }
                Object::Instance(tuple, _) if tuple == self.known.tuple && self.class_tuples.insert((site, class)) => {
                    let elements = self.elements(class);
                    self.on(elements, Task::CheckInstance { site, value });
                }
                _ => {}
            }
        }
    }

    /// Whether what `isinstance` says of the class is for the program to decide: a `__instancecheck__` or a `__subclasshook__`
    /// of its own.
    pub(crate) fn decides_instances(&self, class: ObjId) -> bool {
        self.program_defines(class, names::SUBCLASSHOOK)
            || self
                .class_of(class)
                .is_some_and(|meta| self.program_defines(meta, names::INSTANCECHECK))
    }

    /// Whether a class of the program in the order of `class` binds the name.
    fn program_defines(&self, class: ObjId, name: Symbol) -> bool {
        self.program.facts.class_names.contains(&name)
            && self.classes.get(class).is_some_and(|info| {
                info.orders.iter().flatten().any(|base| match *base {
                    Base::Class(base) => matches!(self.heap.get(base), Object::Class(code, _)
                        if !self.program.is_model(code) && self.program.binds(code, name)),
                    _ => false,
                })
            })
    }

    /// `ABCMeta.register(cls, subclass)`: subclasses arrived. Instances of them are instances of the class from now on.
    pub(crate) fn register_subclasses(&mut self, classes: &[ObjId], abstract_class: ObjId) {
        for &class in classes {
            if !self.metaclasses.registered.insert((class, abstract_class)) {
                continue;
            }
            let waiting = self
                .metaclasses
                .refused
                .get(&abstract_class)
                .cloned()
                .unwrap_or_default();
            for (object, result) in waiting {
                if self.is_registered(object, abstract_class) {
                    self.add_object(result, object);
                }
            }
        }
    }

    /// Whether the class of an object, or a base of it, was registered with a class or a subclass of that.
    fn is_registered(&self, object: ObjId, class: ObjId) -> bool {
        let Some(own) = self.class_of(object) else { return false };
        #[allow(clippy::iter_over_hash_type)]
        for &(virtual_class, abstract_class) in &self.metaclasses.registered {
            if self.classes.is_subclass(own, virtual_class) && self.classes.is_subclass(abstract_class, class) {
                return true;
            }
        }
        false
    }

    /// An object that failed a test for a class, unless its class is registered there; it is asked again when one is.
    pub(crate) fn passes_by_registration(&mut self, object: ObjId, class: ObjId, result: NodeId) -> bool {
        if self.class_of(class).is_none_or(|meta| meta == self.known.type_) {
            return false;
        }
        if self.is_registered(object, class) {
            return true;
        }
        self.metaclasses
            .refused
            .entry(class)
            .or_default()
            .push((object, result));
        false
    }
}
