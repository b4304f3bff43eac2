//! From operations to listeners, and from arrivals to features.

use crate::engine::{ArgumentSource, CallKind, Engine, NO_NODE, Request, Sink, SuperSink, Task};
use crate::heap::{Field, Object};
use crate::ids::{ObjId, SiteId};
use crate::python::names;
use crate::solver::Listener;
use crate::template::{Callee, Operation};
use hognose_base::{ReasonSet, UnresolvedKind};

impl Engine<'_> {
    /// Subscribes an operation of a new activation to its operands.
    pub(crate) fn subscribe(&mut self, site: SiteId) {
        let act = self.site_acts[site];
        let at = |engine: &Self, local| engine.node(act, local);
        match *self.operation(site) {
            Operation::LoadAttribute {
                base,
                name,
                result,
                special,
            } => {
                let (base, sink) = (at(self, base), Sink::Value(at(self, result)));
                if result != crate::template::NO_LOCAL {
                    let mode = self.lookup_mode(site, special);
                    self.on(base, Task::Attribute { name, sink, site, mode });
                }
            }
            Operation::LoadSuper {
                class,
                receiver,
                name,
                result,
                ..
            } => {
                let (class, receiver) = (at(self, class), at(self, receiver));
                let sink = SuperSink::Attribute(name, Sink::Value(at(self, result)), site);
                self.on(class, Task::SuperClass { receiver, sink });
            }
            Operation::StoreAttribute { base, name, value } => {
                let (base, value) = (at(self, base), at(self, value));
                if value != NO_NODE && name == names::CLASS {
                    self.class_store(site, base, value);
                }
                if value != NO_NODE {
                    self.on(
                        base,
                        Task::StoreInto {
                            name,
                            value,
                            site,
                            raw: false,
                        },
                    );
                }
            }
            Operation::DeleteAttribute { base, name } => {
                let base = at(self, base);
                self.on(
                    base,
                    Task::StoreInto {
                        name,
                        value: NO_NODE,
                        site,
                        raw: false,
                    },
                );
            }
            Operation::Call { callee, result, .. } => self.subscribe_call(site, callee, at(self, result)),
            Operation::Class {
                body, function, call, ..
            } => {
                self.class_statement(site, body, function, call);
            }
            Operation::LoadItem { base, .. }
            | Operation::StoreItem { base, .. }
            | Operation::DeleteItem { base, .. } => {
                let base = at(self, base);
                self.on(base, Task::ItemBase { site });
            }
            Operation::Binary { left, .. } | Operation::Compare { left, .. } => {
                let left = at(self, left);
                self.on(left, Task::LeftOperand { site });
            }
            Operation::Unary { operand, .. } => {
                let operand = at(self, operand);
                self.on(operand, Task::UnaryOperand { site });
            }
            Operation::Truth { operand } => {
                let operand = at(self, operand);
                self.on(operand, Task::Truth { site });
            }
            Operation::Contains { container, .. } => {
                let container = at(self, container);
                self.on(container, Task::Container { site });
            }
            Operation::Format { operand, .. } => {
                let operand = at(self, operand);
                self.on(operand, Task::Format { site });
            }
            _ => self.subscribe_flow(site),
        }
    }

    fn subscribe_call(&mut self, site: SiteId, callee: Callee, result: crate::ids::NodeId) {
        let raises = self.site_raises(site);
        let request = self.request(Request {
            site,
            arguments: ArgumentSource::Site,
            result,
            raises,
            kind: CallKind::Call,
        });
        match callee {
            Callee::Value(callee) => {
                let callee = self.local_node(site, callee);
                self.on(
                    callee,
                    Task::Callee {
                        request,
                        receiver: NO_NODE,
                    },
                );
            }
            Callee::Attribute { base, name, special } => {
                if special {
                    self.requests[request].kind = CallKind::Protocol(name);
                }
                let base = self.local_node(site, base);
                let mode = self.lookup_mode(site, special);
                self.on(
                    base,
                    Task::Attribute {
                        name,
                        sink: Sink::Call(request),
                        site,
                        mode,
                    },
                );
            }
            Callee::Super {
                class, receiver, name, ..
            } => {
                let (class, receiver) = (self.local_node(site, class), self.local_node(site, receiver));
                let sink = SuperSink::Attribute(name, Sink::Call(request), site);
                self.on(class, Task::SuperClass { receiver, sink });
            }
        }
    }

    /// Iteration, imports, exceptions, patterns.
    fn subscribe_flow(&mut self, site: SiteId) {
        let act = self.site_acts[site];
        let at = |engine: &Self, local| engine.node(act, local);
        let raises = self.site_raises(site);
        match *self.operation(site) {
            Operation::Iterate { iterable, result } => {
                let (iterable, result) = (at(self, iterable), at(self, result));
                self.on(iterable, Task::Iterate { site, result });
            }
            Operation::Next { iterator, result } => {
                let (iterator, result) = (at(self, iterator), at(self, result));
                self.on(iterator, Task::Next { site, result, raises });
            }
            Operation::AsyncIterate { iterable, result } => {
                let (iterable, result) = (at(self, iterable), at(self, result));
                self.on(iterable, Task::AsyncIterate { site, result });
            }
            Operation::AsyncNext { iterator, result } => {
                let (iterator, result) = (at(self, iterator), at(self, result));
                self.on(iterator, Task::AsyncNext { site, result });
            }
            Operation::Await { awaitable, result } => {
                let (awaitable, result) = (at(self, awaitable), at(self, result));
                self.on(awaitable, Task::Await { site, result });
            }
            Operation::Delegate { receiver, .. } => {
                let receiver = at(self, receiver);
                self.on(receiver, Task::Delegate { site });
            }
            Operation::Unpack { iterable, .. } => {
                let iterable = at(self, iterable);
                self.on(iterable, Task::Unpack { site });
            }
            Operation::Hash { operand, container } => {
                let (key, container) = (at(self, operand), at(self, container));
                if container == NO_NODE {
                    let container = None;
                    self.on(key, Task::Key { site, container });
                } else {
                    self.on(container, Task::KeyContainers { site, key });
                }
            }
            Operation::Interpolate { values, result, .. } => {
                let (values, result) = (at(self, values), at(self, result));
                let text = self.scalar(self.known.str);
                self.add_object(result, text);
                self.on(values, Task::Interpolate { site });
            }
            Operation::CopyItems { from, to } => {
                let (from, to) = (at(self, from), at(self, to));
                self.on(to, Task::CopyFrom { from, site });
            }
            Operation::ImportFrom { module, name, result } => {
                let (module, result) = (at(self, module), at(self, result));
                self.on(module, Task::ImportFrom { site, name, result });
            }
            Operation::ImportStar { module } => {
                let module = at(self, module);
                self.on(module, Task::ImportStar { site });
            }
            Operation::LoadCell { cell, result } => {
                let (cell, result) = (at(self, cell), at(self, result));
                self.on(cell, Task::CellContents { result });
            }
            Operation::StoreCell { cell, value } => {
                let (cell, value) = (at(self, cell), at(self, value));
                if value != NO_NODE {
                    self.on(cell, Task::CellStore { value });
                }
            }
            Operation::Raise { value } => {
                let value = at(self, value);
                self.on(value, Task::Raise { site, raises });
            }
            Operation::Catch { class, .. } => {
                let class = at(self, class);
                self.on(class, Task::CatchClass { site });
            }
            Operation::Narrow { class, .. } => {
                let class = at(self, class);
                self.on(class, Task::NarrowClass { site });
            }
            Operation::NarrowOut { class, .. } => {
                let class = at(self, class);
                self.on(class, Task::NarrowOutClass { site });
            }
            Operation::NotNone { value, result } => {
                let (value, result) = (at(self, value), at(self, result));
                self.on(value, Task::NotNone { result });
            }
            Operation::OnlyNone { value, result } => {
                let (value, result) = (at(self, value), at(self, result));
                self.on(value, Task::OnlyNone { result });
            }
            Operation::MatchClass { class, .. } => {
                let class = at(self, class);
                self.on(class, Task::Pattern { site });
            }
            Operation::MatchKeys { subject, .. } => {
                let subject = at(self, subject);
                self.on(subject, Task::MappingPattern { site });
            }
            Operation::Unmodelled { result } => {
                let result = at(self, result);
                self.note_reasons(site, UnresolvedKind::Unmodelled.into());
                self.add_reason(result, UnresolvedKind::Unmodelled);
            }
            _ => {}
        }
    }

    /// Objects and reasons arrived at a listener's node.
    pub(crate) fn task(&mut self, listener: Listener, objects: &[ObjId], reasons: ReasonSet) {
        match self.tasks[listener.0 as usize] {
            Task::LeftOperand { site } => self.left_operand(site, objects, reasons),
            Task::UnaryOperand { site } => self.unary(site, objects, reasons),
            Task::Truth { site } => self.truth(objects, site),
            Task::Container { site } => self.contains(objects, reasons, site),
            Task::Format { site } => self.format(objects, site),
            Task::ItemBase { site } => self.item_base(site, objects, reasons),
            Task::Iterate { site, result } => self.iterate(objects, reasons, site, result),
            Task::Next { site, result, raises } => self.next(objects, reasons, site, result, raises),
            Task::AsyncIterate { site, result } => self.async_iterate(objects, reasons, site, result),
            Task::AsyncNext { site, result } => self.async_next(objects, reasons, site, result),
            Task::Await { site, result } => self.await_value(objects, reasons, site, result),
            Task::Delegate { site } => self.delegate(objects, reasons, site),
            Task::Unpack { site } => self.unpack(objects, reasons, site),
            Task::ImportFrom { site, name, result } => self.import_from(objects, reasons, name, result, site),
            Task::ImportStar { site } => self.import_star(objects, site),
            Task::Raise { site, raises } => self.raise(objects, reasons, site, raises),
            Task::CatchClass { site } => self.catch(objects, reasons, site),
            Task::Pattern { site } => self.match_class(objects, site),
            Task::MappingPattern { site } => self.match_keys(objects, reasons, site),
            Task::NarrowOutClass { site } => self.narrow_out(objects, reasons, site),
            Task::NarrowClass { site } => self.narrow(objects, reasons, site),
            Task::Callee { request, receiver } => self.callees(request, receiver, objects, reasons),
            Task::Attribute { name, sink, site, mode } => {
                self.attribute_of(objects, reasons, name, sink, site, mode);
            }
            Task::Member {
                sink,
                site,
                receiver,
                class,
                through_class,
            } => {
                self.members(objects, reasons, sink, site, receiver, class, through_class);
            }
            Task::MetaMember {
                class,
                name,
                sink,
                site,
            } => self.meta_member(objects, class, name, sink, site),
            Task::Bind { function, to } => self.bind(objects, function, to),
            Task::BindTo { sink, receiver } => self.bind_to(objects, sink, receiver),
            Task::Initialise { request, class } => self.initialise(objects, request, class),
            Task::ConstructClass { request } => self.construct_classes(objects, request),
            Task::StoreMember { site, receiver, value } => self.store_members(objects, site, receiver, value),
            Task::StoreInto { name, value, site, raw } => {
                self.store_attribute(objects, reasons, name, value, site, raw);
            }
            Task::StoreAnywhere { value } => self.store_anywhere(objects, value),
            Task::AttributeName(access) => self.attribute_named(objects, reasons, access),
            Task::SpreadPositional { act, first } => self.spread_positional(objects, reasons, act, first),
            Task::SpreadKeywords { act, positional } => self.spread_keywords(objects, reasons, act, positional),
            Task::SuperClass { receiver, sink } => self.super_class(objects, reasons, receiver, sink),
            Task::SuperReceiver { class, sink } => self.super_receiver(objects, reasons, class, sink),
            Task::Base { class, position } => self.base_arrived(class, position, objects, reasons),
            Task::Metaclass { class } => self.metaclass_arrived(class, objects),
            task => self.data_task(task, objects, reasons),
        }
    }

    /// Containers, operators, patterns, the outside.
    fn data_task(&mut self, task: Task, objects: &[ObjId], reasons: ReasonSet) {
        match task {
            Task::Namespace { class } => self.namespace(objects, class),
            Task::Instantiate { site, result } => self.instantiate(objects, site, result),
            Task::TypeOf { result } => self.types_of(objects, reasons, result),
            Task::StoreUnnamed { owner, value } => self.store_unnamed(objects, reasons, owner, value),
            Task::CreateClass { site, class } => self.create_class(objects, site, class),
            Task::MadeClass { site } => self.made_class(objects, reasons, site),
            Task::EnumMember { class, name, site, all } => self.enum_member(objects, class, name, site, all),
            Task::EnumClass { site, result } => self.enum_classes(objects, site, result),
            Task::CheckInstance { site, value } => self.check_instance(objects, site, value),
            Task::Leaves { site, leaves } => self.leaves(objects, reasons, site, leaves),
            Task::DefaultNames {
                holder,
                default,
                result,
            } => self.default_names(objects, reasons, holder, default, result),
            Task::DefaultFor { name, default, result } => self.default_for(objects, reasons, name, default, result),
            Task::Register { subclass } => {
                for &class in objects {
                    self.on(subclass, Task::RegisterWith { class });
                }
            }
            Task::RegisterWith { class } => self.register_subclasses(objects, class),
            Task::NewClass { request } => self.new_class(objects, reasons, request),
            Task::NamespaceReasons { site } => self.namespace_reasons(objects, reasons, site),
            Task::NoteReasons { site } => self.note_reasons(site, reasons),
            Task::Objects { to } => self.objects_only(objects, to),
            Task::FillClass { request } => self.fill_class(objects, request),
            Task::EntryInit { instance } => self.entry_init(objects, instance),
            Task::Subscript { site, base, load, node } => self.subscript(objects, reasons, site, base, load, node),
            Task::NativeItem { site, key, value, load } => {
                for &base in objects {
                    if self.has_elements(base) {
                        self.look_up(site, base, key);
                        self.on(
                            key,
                            Task::Subscript {
                                site: Some(site),
                                base,
                                load,
                                node: value,
                            },
                        );
                    }
                }
            }
            Task::CopyFrom { from, site } => self.copy_targets(objects, from, site),
            Task::CopyInto { to, site } => self.copy_sources(objects, reasons, to, site),
            Task::Elements { result } => {
                for &object in objects {
                    let elements = self.elements(object);
                    self.add_edge(elements, result);
                }
                self.add_reasons(result, reasons);
            }
            Task::Values { result } => {
                for &object in objects {
                    let values = self.values(object);
                    self.add_edge(values, result);
                }
                self.add_reasons(result, reasons);
            }
            Task::Keys { result } => {
                for &object in objects {
                    let keys = self.slot(object, Field::KEYS);
                    self.add_edge(keys, result);
                }
                self.add_reasons(result, reasons);
            }
            Task::StoreElement { value, field } => {
                for &object in objects {
                    if self.has_elements(object) {
                        let slot = self.element_slot(object, field);
                        self.add_edge(value, slot);
                    }
                }
            }
            Task::Shift => {
                for &object in objects {
                    let (all, any) = (self.values(object), self.element_slot(object, Field::ANY_IN));
                    self.add_edge(all, any);
                }
            }
            Task::NativeIterator { result } => self.native_iterators(objects, result),
            Task::SendInto { value, throw } => self.send_into(objects, value, throw),
            Task::CellContents { result } => {
                for &object in objects {
                    if matches!(self.heap.get(object), Object::Cell(..)) {
                        let contents = self.slot(object, Field::CONTENTS);
                        self.add_edge(contents, result);
                    }
                }
            }
            Task::CellStore { value } => {
                for &object in objects {
                    if matches!(self.heap.get(object), Object::Cell(..)) {
                        let contents = self.slot(object, Field::CONTENTS);
                        let foreign = self.slot(object, Field::FOREIGN_CONTENTS);
                        self.add_edge(value, contents);
                        self.add_edge(value, foreign);
                    }
                }
            }
            Task::RightOperand { site } => self.right_operand(objects, reasons, site),
            Task::Accept { site, result } => self.accept(objects, reasons, site, result),
            Task::Convert { site, name } => self.convert(objects, site, name),
            Task::Match { class, result } => self.match_exception(objects, reasons, class, result),
            Task::NoMatch { class, result } => self.no_match(objects, reasons, class, result),
            Task::NotNone { result } => {
                for &object in objects {
                    if self.class_of(object) != Some(self.known.none) {
                        self.add_object(result, object);
                    }
                }
                self.add_reasons(result, reasons);
            }
            Task::OnlyNone { result } => {
                // Of a value that is not known, None is all that passes.
                let open = !reasons.is_empty()
                    || objects.iter().any(|&object| match self.heap.get(object) {
                        Object::External(_) => true,
                        _ => self.class_of(object) == Some(self.known.none),
                    });
                if open {
                    let none = self.scalar(self.known.none);
                    self.add_object(result, none);
                }
            }
            Task::MatchExternal { result } => self.match_external(objects, reasons, result),
            Task::MatchArgument {
                position,
                matched,
                target,
                site,
            } => {
                self.match_argument(objects, position, matched, target, site);
            }
            Task::OnlyClass { value, result } => {
                for &class in objects {
                    self.on(value, Task::Match { class, result });
                }
            }
            Task::StoredKeys { container } => self.stored_keys(objects, container),
            Task::LookedUp { site, special, key } => self.looked_up(site, special, key),
            Task::Key { site, container } => objects.iter().for_each(|&key| self.key_arrived(site, container, key)),
            Task::KeyContainers { site, key } => self.key_containers(objects, site, key),
            Task::Index { site } => objects.iter().for_each(|&key| self.index_arrived(site, key)),
            Task::EqualLeft { site, left, right } => self.equal_left(objects, site, left, right),
            Task::EqualAnswer { site, left, right } => self.equal_answer(objects, site, left, right),
            Task::EqualRight { site, left } => self.equal_right(objects, site, left),
            Task::Interpolate { site } => self.interpolate(objects, site),
            Task::Methods { holder, has, result } => self.methods(objects, holder, has, result),
            Task::Method { name, has, result } => self.method(objects, reasons, name, has, result),
            Task::Escape => self.escape(objects),
            Task::EscapeElements => self.escape_elements(objects),
            Task::ImportModule { site, result, top } => self.import_named(objects, reasons, site, result, top),
            _ => {}
        }
    }

    fn has_elements(&self, object: ObjId) -> bool {
        matches!(self.heap.get(object), Object::Instance(class, _) if !self.known.is_scalar(class))
    }
}
