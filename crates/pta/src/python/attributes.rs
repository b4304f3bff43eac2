//! Attribute access: `__getattribute__` order, descriptors, binding.
//!
//! Data model 3.3.2 "Customizing attribute access" and the Descriptor HowTo: data descriptors of the type, the instance,
//! other class attributes, `__getattr__`. Special methods are looked up on the type only (3.3.12). CPython:
//! `Objects/object.c`, `_PyObject_GenericGetAttrWithDict`.
//!
//! ```python
//! obj.method()     # one site: receivers grouped by class, each target gets only those that resolve to it
//! obj.method       # a bound-method object per receiver, only here
//! ```

use crate::engine::{CallKind, Engine, GroupKey, Lookup, NO_NODE, Question, RequestId, Sink, SuperSink, Task};
use crate::heap::Object;
use crate::ids::{ModuleId, NodeId, ObjId, SiteId};
use crate::python::names;
use hognose_base::{ReasonSet, Symbol, UnresolvedKind};

impl Engine<'_> {
    /// Objects arrived whose attribute `name` is wanted.
    pub(crate) fn attribute_of(
        &mut self,
        objects: &[ObjId],
        reasons: ReasonSet,
        name: Symbol,
        sink: Sink,
        site: SiteId,
        mode: Lookup,
    ) {
        for &object in objects {
            self.attribute(object, name, sink, site, mode);
        }
        if !reasons.is_empty() {
            self.note_reasons(site, reasons);
            self.sink_reasons(sink, reasons);
            if mode == Lookup::Forwarded {
                let node = self.sink_node(sink);
                self.forward_unchecked(site, node);
            }
        }
    }

    pub(crate) fn attribute(&mut self, object: ObjId, name: Symbol, sink: Sink, site: SiteId, mode: Lookup) {
        match self.heap.get(object) {
            Object::Class(..) | Object::DynamicClass(_) => {
                if mode == Lookup::Forwarded {
                    self.read_slots(site);
                }
                self.class_attribute(object, name, sink, site, mode);
            }
            Object::Module(module) if mode != Lookup::Special => {
                if mode == Lookup::Forwarded {
                    self.read_slots(site);
                }
                self.module_attribute(module, object, name, sink, site);
            }
            Object::Super(class, receiver) if mode != Lookup::Special => {
                self.on_super(class, receiver, name, sink, site);
            }
            Object::External(chain) => {
                let value = self.external_step(chain, name);
                self.plain(sink, value);
                if mode == Lookup::Forwarded {
                    let node = self.sink_node(sink);
                    self.forward_unchecked(site, node);
                }
            }
            Object::Cell(..) => {}
            Object::Bound(function, receiver) if matches!(name, names::FUNC | names::SELF) => {
                let value = if name == names::SELF { receiver } else { function };
                self.plain(sink, value);
            }
            _ => self.instance_attribute(object, name, sink, site, mode),
        }
    }

    fn on_super(&mut self, class: ObjId, receiver: ObjId, name: Symbol, sink: Sink, site: SiteId) {
        self.super_receiver(
            &[receiver],
            ReasonSet::EMPTY,
            class,
            SuperSink::Attribute(name, sink, site),
        );
    }

    pub(crate) fn instance_attribute(&mut self, object: ObjId, name: Symbol, sink: Sink, site: SiteId, mode: Lookup) {
        let Some(class) = self.class_of(object) else { return };
        if name == names::CLASS {
            let node = self.sink_node(sink);
            self.add_object(node, class);
            return;
        }
        if mode == Lookup::Forwarded && self.forward(site, class, object, name, sink) {
            if self.may_inherit_unseen(class) {
                self.class_members(class, object, name, sink, site, Lookup::Normal);
            }
            return;
        }
        if mode != Lookup::Special && self.namespace_attribute(object, name, sink) {
            return;
        }
        self.class_members(class, object, name, sink, site, mode);
        // A bound method shows the attributes of its function; scalars have none of their own.
        let holder = match self.heap.get(object) {
            Object::Bound(function, _) => function,
            _ => object,
        };
        if mode != Lookup::Special
            && !self.known.is_scalar(class)
            && self.program.facts.stored_attributes.contains(&name)
            && !self.is_property(class, name)
        {
            let slot = self.attribute_slot(holder, name);
            let node = self.sink_node(sink);
            self.add_edge(slot, node);
        }
    }

    /// What the class of an instance has under the name, for receivers that share it.
    pub(crate) fn class_members(
        &mut self,
        class: ObjId,
        object: ObjId,
        name: Symbol,
        sink: Sink,
        site: SiteId,
        mode: Lookup,
    ) {
        let getattribute = names::GETATTRIBUTE;
        if matches!(mode, Lookup::Normal | Lookup::Forwarded) && self.class_may_have(class, getattribute) {
            let (receiver, new) = self.group(GroupKey::Sink(sink), class);
            self.add_object(receiver, object);
            if new {
                self.computed_attribute(class, getattribute, name, sink, site, receiver);
                // An AttributeError out of it asks `__getattr__` (CPython: `slot_tp_getattr_hook`). Where it looks in the
                // ordinary way, that fails without a `raise` in sight.
                let getattr = names::GETATTR;
                if self.class_may_have(class, getattr) {
                    self.computed_attribute(class, getattr, name, sink, site, receiver);
                }
            }
            return;
        }
        let found = self.shared_lookup(class, name);
        let (receiver, new) = self.shared_group(GroupKey::Sink(sink), found);
        self.add_object(receiver, object);
        if new {
            let task = Task::Member {
                sink,
                site,
                receiver,
                class: None,
                through_class: false,
            };
            self.subscribe_group(found, task, name, class, mode);
        }
    }

    /// `__getattr__` or `__getattribute__` is asked for the name.
    pub(crate) fn computed_attribute(
        &mut self,
        class: ObjId,
        hook: Symbol,
        name: Symbol,
        sink: Sink,
        site: SiteId,
        receiver: NodeId,
    ) {
        let name_object = self.heap.object(Object::Str(name));
        let name_node = self.single(name_object);
        let result = self.sink_node(sink);
        let request = self.site_request(site, &[name_node], result, CallKind::Protocol(hook));
        let found = self.lookup(class, hook);
        self.on(
            found,
            Task::Member {
                sink: Sink::Call(request),
                site,
                receiver,
                class: Some(class),
                through_class: false,
            },
        );
    }

    fn class_attribute(&mut self, class: ObjId, name: Symbol, sink: Sink, site: SiteId, mode: Lookup) {
        if mode != Lookup::Special {
            let found = self.shared_lookup(class, name);
            let (receiver, new) = self.shared_group(GroupKey::ClassSink(sink), found);
            self.add_object(receiver, class);
            if new {
                self.on(
                    found,
                    Task::Member {
                        sink,
                        site,
                        receiver,
                        class: None,
                        through_class: true,
                    },
                );
            }
        }
        // What the class or a base certainly has comes before what its metaclass has (only data descriptors of a
        // metaclass come first, and `type` has none that matter).
        if mode != Lookup::Special && self.certainly_has(class, name) {
            return;
        }
        // The metaclass sees the class as an ordinary receiver.
        let Some(node) = self.classes.get(class).map(|info| info.metaclass_node) else {
            return;
        };
        if name == names::CLASS {
            let result = self.sink_node(sink);
            self.add_edge(node, result);
            return;
        }
        let (_, new) = self.group(GroupKey::MetaSink(sink), class);
        if new {
            self.on(
                node,
                Task::MetaMember {
                    class,
                    name,
                    sink,
                    site,
                },
            );
        }
    }

    pub(crate) fn meta_member(&mut self, metaclasses: &[ObjId], class: ObjId, name: Symbol, sink: Sink, site: SiteId) {
        for &meta in metaclasses {
            if self.heap.find(&self.heap.get(meta)).is_none() || self.classes.get(meta).is_none() {
                continue;
            }
            let (receiver, new) = self.group(GroupKey::Sink(sink), meta);
            self.add_object(receiver, class);
            if new {
                let found = self.lookup(meta, name);
                self.on(
                    found,
                    Task::Member {
                        sink,
                        site,
                        receiver,
                        class: Some(meta),
                        through_class: false,
                    },
                );
                if self.class_may_have(meta, names::GETATTR) && !self.class_may_have(class, name) {
                    self.questions.push(Question::GetAttr {
                        class: meta,
                        name,
                        receiver,
                        sink,
                        site,
                    });
                }
            }
        }
    }

    fn module_attribute(&mut self, module: ModuleId, object: ObjId, name: Symbol, sink: Sink, site: SiteId) {
        let node = self.sink_node(sink);
        if self.program.modules[module].is_model && !self.program.binds(self.program.module_code(module), name) {
            // A model that lacks the name says nothing about it.
            if let Some(submodule) = self.submodule(module, name) {
                let submodule = self.module_object(submodule);
                self.add_object(node, submodule);
                return;
            }
            let path = self.program.text(self.program.modules[module].name).to_owned();
            let value = self.external_attribute(&path, name);
            self.add_object(node, value);
            return;
        }
        let slot = self.attribute_slot(object, name);
        self.add_edge(slot, node);
        let definite = self.binds_definitely(self.program.module_code(module), name);
        if definite {
            return;
        }
        if let Some(submodule) = self.submodule(module, name) {
            let submodule = self.module_object(submodule);
            self.add_object(node, submodule);
        }
        self.star_external(module, name, node);
        self.questions.push(Question::ModuleAttribute {
            module,
            name,
            sink,
            site,
        });
    }

    // ---- binding ----------------------------------------------------------------------------------------------------

    /// Attributes of a class arrived: binds each to the receivers.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn members(
        &mut self,
        objects: &[ObjId],
        reasons: ReasonSet,
        sink: Sink,
        site: SiteId,
        receiver: NodeId,
        class: Option<ObjId>,
        through_class: bool,
    ) {
        for &object in objects {
            self.member(object, sink, site, receiver, class, through_class);
        }
        if !reasons.is_empty() {
            self.note_reasons(site, reasons);
            self.sink_reasons(sink, reasons);
        }
    }

    fn member(
        &mut self,
        object: ObjId,
        sink: Sink,
        site: SiteId,
        receiver: NodeId,
        class: Option<ObjId>,
        through_class: bool,
    ) {
        match self.heap.get(object) {
            Object::Function(..) | Object::Intrinsic(_) => {
                if let Sink::New(request) = sink {
                    self.apply_call(request, object, receiver);
                } else if through_class {
                    self.plain(sink, object);
                } else {
                    self.bound(sink, object, receiver);
                }
            }
            Object::Instance(kind, _) if self.known.is_scalar(kind) || self.known.is_container(kind) => {
                self.plain(sink, object);
            }
            Object::Instance(kind, _) if kind == self.known.property => {
                if through_class {
                    self.plain(sink, object);
                } else {
                    self.property(object, names::FGET, sink, site, receiver);
                }
            }
            Object::Instance(kind, _) if self.classes.is_subclass(kind, self.known.classmethod) => {
                let function = names::FUNC;
                let slot = self.attribute_slot(object, function);
                let class = self.owner_node(receiver, class, through_class);
                self.on(slot, Task::BindTo { sink, receiver: class });
            }
            Object::Instance(kind, _) if self.classes.is_subclass(kind, self.known.staticmethod) => {
                let function = names::FUNC;
                let slot = self.attribute_slot(object, function);
                let node = self.sink_node(sink);
                self.add_edge(slot, node);
            }
            Object::Instance(kind, _) => {
                self.descriptor(object, kind, sink, site, receiver, class, through_class);
            }
            _ => self.plain(sink, object),
        }
    }

    /// The class through which an attribute was found.
    fn owner_node(&mut self, receiver: NodeId, class: Option<ObjId>, through_class: bool) -> NodeId {
        match class {
            _ if through_class => receiver,
            Some(class) => self.single(class),
            None => self.receiver_types(receiver),
        }
    }

    /// A value as it is.
    pub(crate) fn plain(&mut self, sink: Sink, object: ObjId) {
        match sink {
            Sink::Value(node) => self.add_object(node, object),
            Sink::Call(request) | Sink::New(request) => {
                let node = self.callee_node(request);
                self.add_object(node, object);
            }
        }
    }

    /// A function as a method of the receivers.
    fn bound(&mut self, sink: Sink, function: ObjId, receiver: NodeId) {
        match sink {
            Sink::Call(request) | Sink::New(request) => self.apply_call(request, function, receiver),
            Sink::Value(to) => self.on(receiver, Task::Bind { function, to }),
        }
    }

    /// Each receiver makes a bound method of its own.
    pub(crate) fn bind(&mut self, receivers: &[ObjId], function: ObjId, to: NodeId) {
        for &receiver in receivers {
            let method = self.heap.object(Object::Bound(function, receiver));
            self.add_object(to, method);
        }
    }

    /// Functions arrived that are bound to the receivers of a node (class methods).
    pub(crate) fn bind_to(&mut self, functions: &[ObjId], sink: Sink, receiver: NodeId) {
        for &function in functions {
            match self.heap.get(function) {
                Object::Function(..) | Object::Intrinsic(_) => self.bound(sink, function, receiver),
                _ => self.plain(sink, function),
            }
        }
    }

    fn property(&mut self, property: ObjId, part: Symbol, sink: Sink, site: SiteId, receiver: NodeId) {
        let result = self.sink_node(sink);
        self.property_call(property, part, site, receiver, &[], result);
    }

    fn property_call(
        &mut self,
        property: ObjId,
        part: Symbol,
        site: SiteId,
        receiver: NodeId,
        arguments: &[NodeId],
        result: NodeId,
    ) {
        let slot = self.attribute_slot(property, part);
        let request = self.site_request(site, arguments, result, CallKind::Descriptor);
        self.on(slot, Task::Callee { request, receiver });
    }

    /// An instance in a class namespace: itself, or what its `__get__` gives.
    #[allow(clippy::too_many_arguments)]
    fn descriptor(
        &mut self,
        object: ObjId,
        kind: ObjId,
        sink: Sink,
        site: SiteId,
        receiver: NodeId,
        class: Option<ObjId>,
        through_class: bool,
    ) {
        let get = names::GET;
        if !self.class_may_have(kind, get) {
            self.plain(sink, object);
            return;
        }
        let none = self.scalar(self.known.none);
        let owner = self.owner_node(receiver, class, through_class);
        let instance = if through_class { self.single(none) } else { receiver };
        let result = self.sink_node(sink);
        let descriptor = self.single(object);
        self.method_call(
            kind,
            descriptor,
            get,
            site,
            &[instance, owner],
            result,
            CallKind::Descriptor,
        );
    }

    /// Asks a special method of an object: receivers at `key` that resolve it alike are asked together. Their node, if
    /// they are the first of their kin.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn ask(
        &mut self,
        key: GroupKey,
        class: ObjId,
        name: Symbol,
        object: ObjId,
        site: SiteId,
        arguments: &[NodeId],
        result: NodeId,
    ) -> Option<NodeId> {
        let (receiver, new) = self.kin(key, class, name);
        self.add_object(receiver, object);
        if !new {
            return None;
        }
        let kind = CallKind::Protocol(name);
        self.method_call(class, receiver, name, site, arguments, result, kind);
        Some(receiver)
    }

    /// Calls `name`, looked up on `class`, with the receivers of a node.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn method_call(
        &mut self,
        class: ObjId,
        receiver: NodeId,
        name: Symbol,
        site: SiteId,
        arguments: &[NodeId],
        result: NodeId,
        kind: CallKind,
    ) -> RequestId {
        let key = (site, name, arguments.first().copied().unwrap_or(NO_NODE), result);
        let protocol = kind == CallKind::Protocol(name);
        let request = match self.protocol_requests.get(&key) {
            Some(&request) if protocol => request,
            _ => {
                let request = self.site_request(site, arguments, result, kind);
                if protocol {
                    self.protocol_requests.insert(key, request);
                }
                request
            }
        };
        let found = self.shared_lookup(class, name);
        self.on(
            found,
            Task::Member {
                sink: Sink::Call(request),
                site,
                receiver,
                class: None,
                through_class: false,
            },
        );
        request
    }

    // ---- stores -------------------------------------------------------------------------------------------------------

    /// Holders arrived to whose attribute a value is stored ([`NO_NODE`]: deleted).
    pub(crate) fn store_attribute(
        &mut self,
        objects: &[ObjId],
        reasons: ReasonSet,
        name: Symbol,
        value: NodeId,
        site: SiteId,
        raw: bool,
    ) {
        for &object in objects {
            match self.heap.get(object) {
                Object::Module(_) => self.store_foreign(object, name, value),
                Object::Class(..) | Object::DynamicClass(_) => {
                    self.note_store_on_class(name);
                    self.store_foreign(object, name, value);
                    if !raw {
                        self.class_store_hook(object, name, value, site);
                    }
                }
                Object::External(_) => self.escape_node(value),
                _ => self.store_on_instance(object, name, value, site, raw),
            }
        }
        if !reasons.is_empty() {
            self.note_reasons(site, ReasonSet::of(UnresolvedKind::UnknownBase).union(reasons));
        }
    }

    /// `x.__class__ = C` (data model 3.1: an object's type can change): from here on the value `x` is an instance of `C`
    /// too. Whoever holds the object under another name keeps seeing its old class, which the site's reason tells.
    pub(crate) fn class_store(&mut self, site: SiteId, base: NodeId, class: NodeId) {
        self.note_reasons(site, UnresolvedKind::Unmodelled.into());
        self.on(class, Task::Instantiate { site, result: base });
    }

    fn class_store_hook(&mut self, class: ObjId, name: Symbol, value: NodeId, site: SiteId) {
        let Some(meta) = self.class_of(class) else { return };
        let hook = if value == NO_NODE {
            names::DELATTR
        } else {
            names::SETATTR
        };
        if self.class_may_have(meta, hook) {
            let receiver = self.single(class);
            self.store_hook(meta, receiver, hook, name, value, site);
        }
    }

    fn store_on_instance(&mut self, object: ObjId, name: Symbol, value: NodeId, site: SiteId, raw: bool) {
        let Some(class) = self.class_of(object) else { return };
        let hook = if value == NO_NODE {
            names::DELATTR
        } else {
            names::SETATTR
        };
        if !raw && self.class_may_have(class, hook) {
            let (receiver, new) = self.group(GroupKey::Store(site, name, raw), class);
            self.add_object(receiver, object);
            if new {
                self.store_hook(class, receiver, hook, name, value, site);
            }
            return;
        }
        self.store_namespace(object, name, value, site);
        let found = self.shared_lookup(class, name);
        let (receiver, new) = self.shared_group(GroupKey::Store(site, name, raw), found);
        self.add_object(receiver, object);
        if new {
            self.on(found, Task::StoreMember { site, receiver, value });
        }
        let takes = !self.known.is_scalar(class) && !matches!(self.heap.get(object), Object::Bound(..));
        if value != NO_NODE && takes && !self.is_property(class, name) {
            let slot = self.attribute_slot(object, name);
            self.add_edge(value, slot);
        }
    }

    fn store_hook(&mut self, class: ObjId, receiver: NodeId, hook: Symbol, name: Symbol, value: NodeId, site: SiteId) {
        let name = self.heap.object(Object::Str(name));
        let name = self.single(name);
        let arguments = [name, value];
        let arguments = &arguments[..1 + usize::from(value != NO_NODE)];
        let kind = CallKind::Protocol(hook);
        self.method_call(class, receiver, hook, site, arguments, NO_NODE, kind);
    }

    /// Class attributes that a store meets: properties and descriptors are called.
    pub(crate) fn store_members(&mut self, objects: &[ObjId], site: SiteId, receiver: NodeId, value: NodeId) {
        for &object in objects {
            let Object::Instance(kind, _) = self.heap.get(object) else {
                continue;
            };
            if kind == self.known.property {
                if value == NO_NODE {
                    self.property_call(object, names::FDEL, site, receiver, &[], NO_NODE);
                } else {
                    self.property_call(object, names::FSET, site, receiver, &[value], NO_NODE);
                }
                continue;
            }
            let hook = if value == NO_NODE { names::DELETE } else { names::SET };
            if self.class_may_have(kind, hook) {
                let descriptor = self.single(object);
                let arguments = [receiver, value];
                let arguments = &arguments[..1 + usize::from(value != NO_NODE)];
                self.method_call(kind, descriptor, hook, site, arguments, NO_NODE, CallKind::Descriptor);
            }
        }
    }
}
