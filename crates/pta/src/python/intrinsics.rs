//! The reserved module `_hognose`: what library models need and Python cannot say.
//!
//! A model imports these functions by name. Everything else about the library is ordinary Python in `crates/models`.

use crate::engine::{
    ArgumentSource, CallKind, Engine, Lookup, NO_NODE, Request, RequestId, Sink, SuperSink, Target, Task,
};
use crate::heap::{Field, Object};
use crate::ids::{NodeId, ObjId, SiteId};
use crate::python::classes::Base;
use crate::python::names;
use hognose_base::{ReasonSet, Symbol, UnresolvedKind};
use std::collections::BTreeSet;

/// Name of the reserved module.
pub const RESERVED_MODULE: &str = "_hognose";

macro_rules! intrinsics {
    ($($(#[$meta:meta])* $variant:ident = $name:literal,)*) => {
        /// A function that the engine implements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Intrinsic { $($(#[$meta])* $variant,)* }

        impl Intrinsic {
            /// Every intrinsic.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];
            /// Its name in the reserved module.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

intrinsics! {
    /// `instance(cls)`: an instance of the class, allocated by the call.
    Instance = "instance",
    /// `type_new(cls, obj)` or `type_new(cls, name, bases, namespace)`.
    TypeNew = "type_new",
    /// `type_call(cls, *args, **kwargs)`: what calling a class does.
    TypeCall = "type_call",
    /// `super_new(cls[, class, receiver])`
    SuperNew = "super_new",
    /// `getattr(obj, name[, default])`
    GetAttr = "getattr",
    /// `setattr(obj, name, value)`
    SetAttr = "setattr",
    /// `delattr(obj, name)`
    DelAttr = "delattr",
    /// `raw_getattr(obj, name)`: `object.__getattribute__`.
    RawGetAttr = "raw_getattr",
    /// `raw_setattr(obj, name, value)`: `object.__setattr__`.
    RawSetAttr = "raw_setattr",
    /// `getitem(container, key)`: an element of a builtin container.
    GetItem = "getitem",
    /// `setitem(container, key, value)`
    SetItem = "setitem",
    /// `elements(container)`: any value of a builtin container.
    Elements = "elements",
    /// `keys(mapping)`: any key.
    Keys = "keys",
    /// `store(container, value)`: an element somewhere.
    Store = "store",
    /// `store_key(mapping, key)`: a key without a value.
    StoreKey = "store_key",
    /// `copy_items(to, from)`: the elements, positions and keys kept.
    CopyItems = "copy_items",
    /// `shift(sequence)`: elements change their positions.
    Shift = "shift",
    /// `iter(obj)`
    Iter = "iter",
    /// `next(obj)`
    Next = "next",
    /// `native_iter(container)`: the iterator of a builtin container.
    NativeIter = "native_iter",
    /// `send(generator, value)`
    Send = "send",
    /// `throw(generator, exception)`
    Throw = "throw",
    /// `type_of(obj)`
    TypeOf = "type_of",
    /// `text_of(obj)`: calls `__str__`.
    TextOf = "text_of",
    /// `repr_of(obj)`: calls `__repr__`.
    ReprOf = "repr_of",
    /// `format_of(obj)`: calls `__format__`.
    FormatOf = "format_of",
    /// `hash_of(obj)`
    HashOf = "hash_of",
    /// `length_of(obj)`
    LengthOf = "length_of",
    /// `truth_of(obj)`
    TruthOf = "truth_of",
    /// `find(container, key)`: hashes the key and compares it with the stored ones.
    Find = "find",
    /// `contains(container, item)`
    Contains = "contains",
    /// `import_module(name)`
    ImportModule = "import_module",
    /// `import_name(name, globals, locals, fromlist, level)`: the builtin `__import__`.
    ImportName = "import_name",
    /// `truth()`: some bool.
    Truth = "truth",
    /// `number()`: some int.
    Number = "number",
    /// `real()`: some float.
    Real = "real",
    /// `text()`: some str.
    Text = "text",
    /// `data()`: some bytes.
    Data = "data",
    /// `nothing()`: None.
    Nothing = "nothing",
    /// `not_implemented()`
    NotImplemented = "not_implemented",
    /// `unmodelled()`: a value of which nothing is known.
    Unmodelled = "unmodelled",
    /// `generated_code(...)`: what `eval` and `exec` do.
    GeneratedCode = "generated_code",
    /// `escape(obj)`: the object is used by code that is not known.
    Escape = "escape",
    /// `callback(function)`: called by an unknown caller.
    Callback = "callback",
    /// `isinstance(obj, classes)`
    IsInstance = "isinstance",
    /// `having(obj, name)`: the objects whose class may have the special method.
    Having = "having",
    /// `lacking(obj, name)`: the objects whose class may lack it.
    Lacking = "lacking",
    /// `register(cls, subclass)`: instances of the subclass count as instances of the class.
    Register = "register",
    /// `members(cls)`: the members of an enumeration, which its names are from now on.
    Members = "members",
    /// `globals()`: the namespace of the module of the calling code.
    Globals = "globals",
    /// `only(obj, cls)`: the object where it is an instance of the class.
    Only = "only",
}

/// Constant names that one `getattr` or `setattr` tells apart.
const MAX_NAMES: usize = 16;

/// An attribute access whose name is a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NamedAccess {
    Load {
        holder: NodeId,
        sink: Sink,
        site: SiteId,
        mode: Lookup,
    },
    Store {
        holder: NodeId,
        value: NodeId,
        site: SiteId,
        raw: bool,
    },
}

/// The names that arrived at such an access.
#[derive(Clone, Debug)]
pub(crate) struct NamedAccesses {
    access: NamedAccess,
    waiting: BTreeSet<Symbol>,
    done: usize,
    unknown: bool,
}

impl Engine<'_> {
    /// Binds the functions of the reserved module in its namespace.
    pub(crate) fn reserved_attribute(&mut self, name: &str) -> Option<ObjId> {
        let intrinsic = Intrinsic::ALL
            .iter()
            .copied()
            .find(|intrinsic| intrinsic.name() == name)?;
        Some(self.heap.object(Object::Intrinsic(intrinsic)))
    }

    /// A call of a function of the reserved module.
    pub(crate) fn call_intrinsic(&mut self, request: RequestId, callee: ObjId, intrinsic: Intrinsic, receiver: NodeId) {
        let Request {
            site,
            result,
            raises,
            kind,
            ..
        } = self.requests[request];
        self.target(site, kind, Target::Builtin(callee));
        let nodes = self.argument_nodes(request, receiver);
        let argument = |index: usize| nodes.positional.get(index).copied().unwrap_or(NO_NODE);
        let (first, second, third) = (argument(0), argument(1), argument(2));
        match intrinsic {
            Intrinsic::Instance => self.on(first, Task::Instantiate { site, result }),
            Intrinsic::TypeNew => self.type_new(site, &nodes.positional, result),
            Intrinsic::TypeCall => self.type_call(request, first, receiver == NO_NODE),
            Intrinsic::SuperNew => self.super_new(site, second, third, result),
            Intrinsic::GetAttr | Intrinsic::RawGetAttr => {
                if third != NO_NODE {
                    self.on(
                        second,
                        Task::DefaultNames {
                            holder: first,
                            default: third,
                            result,
                        },
                    );
                }
                let mode = if intrinsic == Intrinsic::RawGetAttr {
                    Lookup::Raw
                } else {
                    Lookup::Normal
                };
                let access = NamedAccess::Load {
                    holder: first,
                    sink: Sink::Value(result),
                    site,
                    mode,
                };
                self.on(second, Task::AttributeName(access));
            }
            Intrinsic::SetAttr | Intrinsic::RawSetAttr => {
                let raw = intrinsic == Intrinsic::RawSetAttr;
                self.on(
                    second,
                    Task::AttributeName(NamedAccess::Store {
                        holder: first,
                        value: third,
                        site,
                        raw,
                    }),
                );
                self.nothing_to(result);
            }
            Intrinsic::DelAttr => {
                let access = NamedAccess::Store {
                    holder: first,
                    value: NO_NODE,
                    site,
                    raw: false,
                };
                self.on(second, Task::AttributeName(access));
                self.nothing_to(result);
            }
            Intrinsic::GetItem => self.on(
                first,
                Task::NativeItem {
                    site,
                    key: second,
                    value: result,
                    load: true,
                },
            ),
            Intrinsic::SetItem => self.on(
                first,
                Task::NativeItem {
                    site,
                    key: second,
                    value: third,
                    load: false,
                },
            ),
            Intrinsic::Elements => self.on(first, Task::Values { result }),
            Intrinsic::Keys => self.on(first, Task::Keys { result }),
            Intrinsic::Store => self.on(
                first,
                Task::StoreElement {
                    value: second,
                    field: Field::ANY_IN,
                },
            ),
            Intrinsic::StoreKey => self.on(
                first,
                Task::StoreElement {
                    value: second,
                    field: Field::KEYS,
                },
            ),
            Intrinsic::CopyItems => self.on(first, Task::CopyFrom { from: second, site }),
            Intrinsic::Shift => self.on(first, Task::Shift),
            Intrinsic::Iter => self.on(first, Task::Iterate { site, result }),
            Intrinsic::Next => {
                self.add_edge(second, result);
                self.on(first, Task::Next { site, result, raises });
            }
            Intrinsic::NativeIter => self.on(first, Task::NativeIterator { result }),
            Intrinsic::Send | Intrinsic::Throw => {
                let throw = (intrinsic == Intrinsic::Throw).then_some(site);
                self.on(first, Task::SendInto { value: second, throw });
                self.on(first, Task::Next { site, result, raises });
            }
            Intrinsic::TypeOf => self.on(first, Task::TypeOf { result }),
            Intrinsic::TextOf | Intrinsic::ReprOf | Intrinsic::FormatOf | Intrinsic::HashOf | Intrinsic::LengthOf => {
                self.conversion(intrinsic, site, first, result);
            }
            Intrinsic::TruthOf => {
                self.on(first, Task::Truth { site });
                self.scalar_to(result, self.known.bool_);
            }
            Intrinsic::ImportModule => self.on(
                first,
                Task::ImportModule {
                    site,
                    result,
                    top: false,
                },
            ),
            Intrinsic::ImportName => {
                // Without names to take from it, the result is the top-level package; those given may be none.
                let listed = nodes.positional.len() > 3
                    || !(nodes.keywords.is_empty() && nodes.star.is_empty() && nodes.mappings.is_empty());
                self.on(
                    first,
                    Task::ImportModule {
                        site,
                        result,
                        top: true,
                    },
                );
                if listed {
                    self.on(
                        first,
                        Task::ImportModule {
                            site,
                            result,
                            top: false,
                        },
                    );
                }
            }
            Intrinsic::Register => self.on(first, Task::Register { subclass: second }),
            Intrinsic::Members => self.on(first, Task::EnumClass { site, result }),
            Intrinsic::Globals => self.globals(site, result),
            Intrinsic::IsInstance => {
                self.on(second, Task::CheckInstance { site, value: first });
                self.scalar_to(result, self.known.bool_);
            }
            Intrinsic::Truth | Intrinsic::Contains => {
                self.scalar_to(result, self.known.bool_);
            }
            Intrinsic::Number => self.scalar_to(result, self.known.int),
            Intrinsic::Real => self.scalar_to(result, self.known.float),
            Intrinsic::Text => self.scalar_to(result, self.known.str),
            Intrinsic::Data => self.scalar_to(result, self.known.bytes),
            Intrinsic::Nothing => self.nothing_to(result),
            Intrinsic::NotImplemented => self.scalar_to(result, self.known.not_implemented),
            Intrinsic::Unmodelled => self.unknown_result(site, result, UnresolvedKind::Unmodelled),
            Intrinsic::GeneratedCode => self.unknown_result(site, result, UnresolvedKind::GeneratedCode),
            Intrinsic::Escape | Intrinsic::Callback => {
                for &node in &nodes.positional {
                    self.escape_node(node);
                }
            }
            Intrinsic::Find => {
                self.on(first, Task::KeyContainers { site, key: second });
                self.scalar_to(result, self.known.bool_);
            }
            Intrinsic::Having | Intrinsic::Lacking => {
                let has = intrinsic == Intrinsic::Having;
                let task = Task::Methods {
                    holder: first,
                    has,
                    result,
                };
                self.on(second, task);
            }
            Intrinsic::Only => self.on(second, Task::OnlyClass { value: first, result }),
        }
    }

    /// Names of a `getattr` with a default arrived: the default is the result for objects that may lack the attribute.
    pub(crate) fn default_names(
        &mut self,
        names: &[ObjId],
        reasons: ReasonSet,
        holder: NodeId,
        default: NodeId,
        result: NodeId,
    ) {
        for &name in names {
            match self.heap.get(name) {
                Object::Str(name) => self.on(holder, Task::DefaultFor { name, default, result }),
                _ => self.add_edge(default, result),
            }
        }
        if !reasons.is_empty() {
            self.add_edge(default, result);
        }
    }

    /// Objects arrived at a `getattr` with a default.
    pub(crate) fn default_for(
        &mut self,
        objects: &[ObjId],
        reasons: ReasonSet,
        name: Symbol,
        default: NodeId,
        result: NodeId,
    ) {
        let lacks = |engine: &Self, object: ObjId| match engine.heap.get(object) {
            Object::Module(module) => !engine.binds_definitely(engine.program.module_code(module), name),
            Object::Class(..) | Object::DynamicClass(_) => !engine.certainly_has(object, name),
            _ => engine.class_of(object).is_none_or(|class| {
                !engine.certainly_has(class, name) || engine.class_may_have(class, names::GETATTRIBUTE)
            }),
        };
        // A property may raise AttributeError.
        let property = self.property_names.contains(&name);
        if !reasons.is_empty() || property && !objects.is_empty() || objects.iter().any(|&object| lacks(self, object)) {
            self.add_edge(default, result);
        }
    }

    /// Names of special methods arrived by which objects are told apart.
    pub(crate) fn methods(&mut self, names: &[ObjId], holder: NodeId, has: bool, result: NodeId) {
        for &name in names {
            if let Object::Str(name) = self.heap.get(name) {
                self.on(holder, Task::Method { name, has, result });
            }
        }
    }

    /// Objects arrived of which those go on whose class may have, or may lack, a special method.
    pub(crate) fn method(&mut self, objects: &[ObjId], reasons: ReasonSet, name: Symbol, has: bool, result: NodeId) {
        for &object in objects {
            let passes = self.class_of(object).is_none_or(|class| {
                if has {
                    self.class_may_have(class, name)
                        || self.classes.has_unknown_base(class)
                        || self.classes.get(class).is_some_and(|info| {
                            // Stored from outside the class body.
                            let mut bases = info.orders.iter().flatten();
                            bases.any(|base| {
                                matches!(*base, Base::Class(base) if base != self.known.object
                                    && self.heap.slot(base, Field::attribute(name)).is_some())
                            })
                        })
                } else {
                    // What every class has from `object` does not count.
                    let binds = |base: &Base| {
                        matches!(*base, Base::Class(base) if base != self.known.object && self.classes.get(base)
                            .and_then(|info| info.code)
                            .is_some_and(|code| self.binds_definitely(code, name)))
                    };
                    !self.classes.get(class).is_some_and(|info| {
                        !info.orders.is_empty() && info.orders.iter().all(|order| order.iter().any(binds))
                    })
                }
            });
            if passes {
                self.add_object(result, object);
            }
        }
        self.add_reasons(result, reasons);
    }

    fn unknown_result(&mut self, site: SiteId, result: NodeId, kind: UnresolvedKind) {
        // The reason belongs to the call in the program, not only to the line in the model.
        let mut at = Some(site);
        while let Some(site) = at {
            self.note_reasons(site, ReasonSet::of(kind));
            at = self.acts[self.site_acts[site]].context;
        }
        self.add_reason(result, kind);
    }

    pub(crate) fn scalar_to(&mut self, node: NodeId, class: ObjId) {
        let value = self.scalar(class);
        self.add_object(node, value);
    }
    fn nothing_to(&mut self, node: NodeId) {
        self.scalar_to(node, self.known.none);
    }

    fn conversion(&mut self, intrinsic: Intrinsic, site: SiteId, value: NodeId, result: NodeId) {
        let (name, class) = match intrinsic {
            Intrinsic::TextOf => (names::STR, self.known.str),
            Intrinsic::ReprOf => (names::REPR, self.known.str),
            Intrinsic::FormatOf => (names::FORMAT, self.known.str),
            Intrinsic::HashOf => (names::HASH, self.known.int),
            _ => (names::LEN, self.known.int),
        };
        self.on(value, Task::Convert { site, name });
        self.scalar_to(result, class);
    }

    /// Classes arrived of which the call makes an instance.
    pub(crate) fn instantiate(&mut self, classes: &[ObjId], site: SiteId, result: NodeId) {
        for &class in classes {
            if matches!(self.heap.get(class), Object::Class(..) | Object::DynamicClass(_)) {
                // An allocation inside the models of a constructor call is named by that call: the instance is the same
                // object whichever way it was made.
                let object = self.instance(class, self.origin_of(site));
                self.add_object(result, object);
            }
        }
    }

    fn type_new(&mut self, site: SiteId, arguments: &[NodeId], result: NodeId) {
        if arguments.len() < 4 {
            if let Some(&object) = arguments.get(1) {
                self.on(object, Task::TypeOf { result });
            }
            return;
        }
        let request = self.site_request(site, &arguments[..4], result, CallKind::Call);
        self.on(arguments[0], Task::NewClass { request });
    }

    /// The class comes first, as the receiver (`super().__call__(*args, **kwargs)` of a metaclass) or as an argument of its
    /// own (`type.__call__(cls, *args, **kwargs)`); the rest are the arguments of the constructor.
    fn type_call(&mut self, request: RequestId, class: NodeId, given: bool) {
        let request = if given {
            self.drop_first_argument(request)
        } else {
            request
        };
        self.on(class, Task::ConstructClass { request });
    }

    fn super_new(&mut self, site: SiteId, class: NodeId, receiver: NodeId, result: NodeId) {
        if class == NO_NODE {
            self.zero_argument_super(site, result);
        } else if receiver != NO_NODE {
            self.on(
                class,
                Task::SuperClass {
                    receiver,
                    sink: SuperSink::Object(result),
                },
            );
        }
    }

    /// Name objects of `getattr` or `setattr` arrived: constant ones wait for quiescence, others make the name unknown.
    pub(crate) fn attribute_named(&mut self, names: &[ObjId], reasons: ReasonSet, access: NamedAccess) {
        let index = match self.named_index.get(&access) {
            Some(&index) => index,
            None => {
                let index = self.named.len();
                self.named.push(NamedAccesses {
                    access,
                    waiting: BTreeSet::new(),
                    done: 0,
                    unknown: false,
                });
                self.named_index.insert(access, index);
                index
            }
        };
        let mut unknown = !reasons.is_empty();
        for &name in names {
            match self.heap.get(name) {
                Object::Str(symbol) => {
                    self.named[index].waiting.insert(symbol);
                }
                _ => unknown = true,
            }
        }
        if unknown {
            self.unknown_name(index);
        }
        if !self.named[index].waiting.is_empty() {
            self.named_waiting.insert(index);
        }
    }

    /// Constant names that arrived since the last time, all together: as many as the limit are told apart, more make the
    /// name unknown. Whether there were any.
    pub(crate) fn settle_names(&mut self) -> bool {
        let waiting = std::mem::take(&mut self.named_waiting);
        for &index in &waiting {
            let names = std::mem::take(&mut self.named[index].waiting);
            if self.named[index].done + names.len() > MAX_NAMES {
                self.unknown_name(index);
                continue;
            }
            self.named[index].done += names.len();
            for name in names {
                match self.named[index].access {
                    NamedAccess::Load {
                        holder,
                        sink,
                        site,
                        mode,
                    } => {
                        self.on(holder, Task::Attribute { name, sink, site, mode });
                    }
                    NamedAccess::Store {
                        holder,
                        value,
                        site,
                        raw,
                    } => {
                        self.on(holder, Task::StoreInto { name, value, site, raw });
                    }
                }
            }
        }
        !waiting.is_empty()
    }

    fn unknown_name(&mut self, index: usize) {
        if std::mem::replace(&mut self.named[index].unknown, true) {
            return;
        }
        match self.named[index].access {
            NamedAccess::Load { sink, site, .. } => self.dynamic_attribute(site, sink),
            NamedAccess::Store {
                holder, value, site, ..
            } => {
                self.note_reasons(site, UnresolvedKind::DynamicAttribute.into());
                self.on(holder, Task::StoreAnywhere { value });
            }
        }
    }

    fn dynamic_attribute(&mut self, site: SiteId, sink: Sink) {
        let reasons = ReasonSet::of(UnresolvedKind::DynamicAttribute);
        self.note_reasons(site, reasons);
        self.sink_reasons(sink, reasons);
    }

    /// Holders arrived to whose attribute of an unknown name a value is stored.
    pub(crate) fn store_anywhere(&mut self, holders: &[ObjId], value: NodeId) {
        for &holder in holders {
            let class = match self.heap.get(holder) {
                Object::Class(..) | Object::DynamicClass(_) => holder,
                _ => match self.class_of(holder) {
                    Some(class) if !self.known.is_scalar(class) => class,
                    _ => continue,
                },
            };
            self.store_any_attribute(class, value);
        }
    }

    /// Classes arrived that are constructed by `type.__call__`.
    pub(crate) fn construct_classes(&mut self, classes: &[ObjId], request: RequestId) {
        for &class in classes {
            if matches!(self.heap.get(class), Object::Class(..) | Object::DynamicClass(_)) {
                self.construct(request, class);
            }
        }
    }

    /// The request without its first positional argument.
    fn drop_first_argument(&mut self, request: RequestId) -> RequestId {
        let mut copy = self.requests[request];
        copy.arguments = match copy.arguments {
            ArgumentSource::Nodes { first, count } if count > 0 => ArgumentSource::Nodes {
                first: first + 1,
                count: count - 1,
            },
            ArgumentSource::Statement { first, count } if count > 0 => ArgumentSource::Statement {
                first: first + 1,
                count: count - 1,
            },
            ArgumentSource::Site => ArgumentSource::SiteRest,
            other => other,
        };
        self.request(copy)
    }

    /// The namespace of the module whose code called `globals()`.
    fn globals(&mut self, site: SiteId, result: NodeId) {
        let code = self.acts[self.site_acts[site]].code;
        let module = self.module_object(self.program.codes[code].module);
        let namespace = self.namespace_of(module);
        self.add_object(result, namespace);
    }

    /// The class objects of what arrived.
    pub(crate) fn types_of(&mut self, objects: &[ObjId], reasons: ReasonSet, result: NodeId) {
        for &object in objects {
            match self.heap.get(object) {
                Object::Class(..) | Object::DynamicClass(_) => {
                    if let Some(node) = self.classes.get(object).map(|info| info.metaclass_node) {
                        self.add_edge(node, result);
                    }
                }
                Object::External(chain) => {
                    let next = self.heap.extend_chain(chain, crate::heap::Step::Call);
                    let value = self.heap.object(Object::External(next));
                    self.add_object(result, value);
                }
                _ => {
                    if let Some(class) = self.class_of(object) {
                        self.add_object(result, class);
                    }
                }
            }
        }
        self.add_reasons(result, reasons);
    }

    /// Iterators of builtin containers.
    pub(crate) fn native_iterators(&mut self, objects: &[ObjId], result: NodeId) {
        for &object in objects {
            // An iterator is its own iterator.
            let iterator = match self.heap.get(object) {
                Object::Iterator(_) | Object::Generator(_) => object,
                _ => self.heap.object(Object::Iterator(object)),
            };
            self.add_object(result, iterator);
        }
    }
}
