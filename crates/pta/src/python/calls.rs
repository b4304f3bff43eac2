//! Calls: what happens when a callee arrives at a call.
//!
//! Language Reference 6.3.4 "Calls": functions, bound methods (the receiver goes in front), classes (`__new__`, then
//! `__init__` if the result is an instance), instances with `__call__`. A metaclass's `__call__` comes before all of that
//! (data model 3.3.3.7; CPython: `Objects/typeobject.c`, `type_call`).

use crate::engine::{
    ArgumentSource, CallKind, CellRef, Engine, GroupKey, KeyWatcher, Lookup, NO_NODE, Request, RequestId, Sink, Target,
    Task,
};
use crate::heap::{Allocation, Field, Object};
use crate::ids::{ActId, NodeId, ObjId, SiteId};
use crate::python::classes::Base;
use crate::python::names;
use crate::template::{Operation, RAISED, RETURN};
use hognose_base::{ReasonSet, Symbol, UnresolvedKind};
use hognose_ir::{ArgSource, Bindings, CallShape, ParameterKind, Signature, bind_arguments};
use smallvec::SmallVec;
use std::rc::Rc;

/// The arguments of a request as nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArgumentNodes {
    pub(crate) positional: SmallVec<[NodeId; 6]>,
    pub(crate) keywords: SmallVec<[(Symbol, NodeId); 2]>,
    pub(crate) star: SmallVec<[NodeId; 1]>,
    pub(crate) mappings: SmallVec<[NodeId; 1]>,
}

/// Positions of `*args`, and of copied sequences, that are told apart.
const MAX_SPREAD: i32 = 8;

/// Whether a parameter can be given by its name.
const fn takes_keyword(kind: ParameterKind) -> bool {
    matches!(kind, ParameterKind::PositionalOrKeyword | ParameterKind::KeywordOnly)
}

impl Engine<'_> {
    /// The arguments of a request, the receiver in front.
    pub(crate) fn argument_nodes(&self, request: RequestId, receiver: NodeId) -> ArgumentNodes {
        let request = &self.requests[request];
        let mut nodes = ArgumentNodes::default();
        if receiver != NO_NODE {
            nodes.positional.push(receiver);
        }
        match request.arguments {
            ArgumentSource::Nodes { first, count } => {
                let range = first as usize..(first + count) as usize;
                nodes.positional.extend_from_slice(&self.request_nodes[range]);
            }
            ArgumentSource::Statement { first, count } => {
                let range = first as usize..(first + count) as usize;
                nodes.positional.extend_from_slice(&self.request_nodes[range]);
                let act = self.site_acts[request.site];
                if let Operation::Class { call, .. } = *self.operation(request.site) {
                    let arguments = &self.templates[self.acts[act].code].calls[call as usize];
                    let others = arguments.keywords.iter().filter(|&&(name, _)| name != names::METACLASS);
                    nodes
                        .keywords
                        .extend(others.map(|&(name, local)| (name, self.node(act, local))));
                    nodes
                        .mappings
                        .extend(arguments.mappings.iter().map(|&local| self.node(act, local)));
                }
            }
            ArgumentSource::Site | ArgumentSource::SiteRest => {
                let act = self.site_acts[request.site];
                let (Operation::Call { call, .. } | Operation::Class { call, .. }) = self.operation(request.site)
                else {
                    return nodes;
                };
                let arguments = &self.templates[self.acts[act].code].calls[*call as usize];
                let skip = usize::from(matches!(request.arguments, ArgumentSource::SiteRest));
                let positional = arguments.positional.iter().skip(skip);
                nodes.positional.extend(positional.map(|&local| self.node(act, local)));
                nodes.keywords.extend(
                    arguments
                        .keywords
                        .iter()
                        .map(|&(name, local)| (name, self.node(act, local))),
                );
                nodes
                    .star
                    .extend(arguments.star.iter().map(|&local| self.node(act, local)));
                nodes
                    .mappings
                    .extend(arguments.mappings.iter().map(|&local| self.node(act, local)));
            }
        }
        nodes
    }

    /// Callees arrived.
    pub(crate) fn callees(&mut self, request: RequestId, receiver: NodeId, objects: &[ObjId], reasons: ReasonSet) {
        for &object in objects {
            self.apply_call(request, object, receiver);
        }
        self.call_unknown(request, receiver, reasons);
    }

    /// One callee.
    pub(crate) fn apply_call(&mut self, request: RequestId, callee: ObjId, receiver: NodeId) {
        match self.heap.get(callee) {
            Object::Function(code, ..) => self.call_function(request, callee, code, receiver),
            Object::Bound(function, bound) => {
                // A bound method in a class namespace is no descriptor, so a receiver found on the way does not count.
                let bound = self.single(bound);
                self.apply_call(request, function, bound);
            }
            Object::Class(..) | Object::DynamicClass(_) => self.call_class(request, callee),
            Object::Intrinsic(intrinsic) => self.call_intrinsic(request, callee, intrinsic, receiver),
            Object::External(chain) => self.call_external(request, chain, receiver),
            Object::Instance(class, _) if !self.known.is_scalar(class) => self.call_instance(request, callee, class),
            Object::Module(_)
            | Object::Generator(_)
            | Object::Iterator(_)
            | Object::Super(..)
            | Object::AsyncNext(_)
            | Object::Str(_)
            | Object::Int(_)
            | Object::Cell(..)
            | Object::Instance(..) => {}
        }
    }

    fn call_instance(&mut self, request: RequestId, object: ObjId, class: ObjId) {
        let name = names::CALL;
        let found = self.shared_lookup(class, name);
        let (receiver, new) = self.shared_group(GroupKey::Call(request), found);
        self.add_object(receiver, object);
        if new {
            let site = self.requests[request].site;
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
        }
    }

    // ---- functions -----------------------------------------------------------------------------------------------------

    fn call_function(&mut self, request: RequestId, function: ObjId, code: crate::ids::CodeId, receiver: NodeId) {
        let Request {
            site,
            result,
            raises,
            kind,
            ..
        } = self.requests[request];
        let nodes = self.argument_nodes(request, receiver);
        let keywords: SmallVec<[Symbol; 4]> = nodes.keywords.iter().map(|&(name, _)| name).collect();
        let shape = CallShape {
            positional: u32::try_from(nodes.positional.len()).unwrap_or(u32::MAX),
            has_star: !nodes.star.is_empty(),
            keywords: &keywords,
            has_double_star: !nodes.mappings.is_empty(),
        };
        let signature = self.function_signature(function, code);
        let bindings = match bind_arguments(&shape, &signature) {
            Ok(bindings) => bindings,
            // The metaclass may have kept keywords of the statement to itself.
            Err(_) if self.config.ignore_arity || kind == CallKind::Protocol(names::INIT_SUBCLASS) => {
                self.lenient_bindings(&shape, &signature)
            }
            Err(_) => {
                self.note_reasons(site, ReasonSet::of(UnresolvedKind::ArityMismatch));
                self.add_reason(result, UnresolvedKind::ArityMismatch);
                return;
            }
        };
        let constant = self.program.is_model(code) && self.templates[code].is_constant();
        let context = if constant {
            None
        } else {
            self.context_for(function, code, self.clone_site(request))
        };
        let act = self.activate(code, context, None);
        self.target(site, kind, Target::Function(act));
        if !constant {
            self.connect_closure(function, act);
            self.bind_parameters(act, function, &nodes, &bindings);
        }
        if self.program.codes[code].is_generator_like() {
            let generator = self.heap.object(Object::Generator(act));
            self.add_object(result, generator);
        } else {
            let returned = self.node(act, RETURN);
            self.add_edge(returned, result);
            let raised = self.node(act, RAISED);
            self.add_edge(raised, raises);
        }
    }

    /// The site by which the clones that a call makes are told apart. Classes that the statements of one activation raise
    /// without calling them share their constructors, which are given nothing but the new instance: test suites are full
    /// of `assert`.
    fn clone_site(&self, request: RequestId) -> SiteId {
        let Request { site, arguments, .. } = self.requests[request];
        let act = &self.acts[self.site_acts[site]];
        match (arguments, self.templates[act.code].first_raise) {
            (ArgumentSource::Nodes { count: 0, .. }, Some(first))
                if matches!(self.operation(site), Operation::Raise { .. }) =>
            {
                SiteId::new(act.sites.raw() + first)
            }
            _ => site,
        }
    }

    /// The signature of a function object: its code's, with the defaults it was made with.
    fn function_signature(&mut self, function: ObjId, code: crate::ids::CodeId) -> Rc<Signature<Symbol>> {
        if let Some(signature) = self.signatures.get(&function) {
            return Rc::clone(signature);
        }
        let plain = &self.program.codes[code].signature;
        let positional = self.function_defaults.get(&function).copied().unwrap_or(0) as usize;
        let keywords: Vec<Symbol> = plain
            .parameters
            .iter()
            .enumerate()
            .filter(|(at, _)| {
                let field = Field::keyword_default(u32::try_from(*at).unwrap_or(0));
                self.heap.slot(function, field).is_some()
            })
            .map(|(_, parameter)| parameter.name)
            .collect();
        let signature = Rc::new(plain.clone().with_defaults(positional, &keywords));
        self.signatures.insert(function, Rc::clone(&signature));
        signature
    }

    /// As many arguments as fit, for the projection that does not reject calls.
    fn lenient_bindings(&self, shape: &CallShape<'_, Symbol>, signature: &Signature<Symbol>) -> Bindings {
        let known: Vec<Symbol> = shape
            .keywords
            .iter()
            .copied()
            .filter(|name| signature.parameters.iter().any(|parameter| parameter.name == *name))
            .collect();
        let positional = shape
            .positional
            .min(u32::try_from(signature.positional_count()).unwrap_or(u32::MAX));
        let shape = CallShape {
            positional,
            has_star: true,
            keywords: &known,
            has_double_star: true,
        };
        bind_arguments(&shape, signature).unwrap_or_default()
    }

    /// Hands the cells of a function object to its code.
    pub(crate) fn connect_closure(&mut self, function: ObjId, act: ActId) {
        let Some(cells) = self.function_cells.get(&function).cloned() else {
            return;
        };
        let templates = self.templates;
        let template = &templates[self.acts[act].code];
        for (&(_, local), cell) in template.free_cells.iter().zip(cells) {
            let node = self.node(act, local);
            match cell {
                CellRef::Object(object) => self.add_object(node, object),
                CellRef::Node(from) => self.add_edge(from, node),
            }
        }
    }

    fn bind_parameters(&mut self, act: ActId, function: ObjId, nodes: &ArgumentNodes, bindings: &Bindings) {
        let templates = self.templates;
        let template = &templates[self.acts[act].code];
        let program = self.program;
        let signature = &program.codes[self.acts[act].code].signature;
        let (args, kwargs) = self.variadics(act);
        for (at, (sources, parameter)) in bindings.iter().zip(&signature.parameters).enumerate() {
            match parameter.kind {
                ParameterKind::VarPositional => self.bind_rest(args, nodes, sources),
                ParameterKind::VarKeyword => self.bind_other_keywords(kwargs, nodes, sources),
                _ => {
                    let node = self.node(act, template.parameters[at]);
                    self.bind_parameter(at, parameter.kind, function, node, nodes, sources);
                }
            }
        }
        self.bind_spreads(act, nodes);
    }

    fn bind_parameter(
        &mut self,
        at: usize,
        kind: ParameterKind,
        function: ObjId,
        node: NodeId,
        nodes: &ArgumentNodes,
        sources: &[ArgSource],
    ) {
        let mut default = self.config.always_bind_defaults;
        for source in sources {
            match *source {
                ArgSource::Positional(index) => {
                    let from = nodes.positional.get(index as usize).copied().unwrap_or(NO_NODE);
                    self.add_edge(from, node);
                }
                ArgSource::Keyword(index) => {
                    let from = nodes.keywords.get(index as usize).map_or(NO_NODE, |&(_, node)| node);
                    self.add_edge(from, node);
                }
                ArgSource::Default => default = true,
                ArgSource::StarElement(_) | ArgSource::StarRest(_) | ArgSource::DoubleStar => {}
            }
        }
        if default {
            let position = u32::try_from(at).unwrap_or(0);
            let field = if kind == ParameterKind::KeywordOnly {
                Field::keyword_default(position)
            } else {
                Field::default(position)
            };
            let from = self.slot(function, field);
            self.add_edge(from, node);
        }
    }

    /// `*args` is a tuple object of the activation.
    fn bind_rest(&mut self, args: Option<ObjId>, nodes: &ArgumentNodes, sources: &[ArgSource]) {
        let Some(args) = args else { return };
        let mut at = 0;
        for source in sources {
            if let ArgSource::Positional(index) = *source {
                let slot = self.element_slot(args, Field::int_key(at));
                let from = nodes.positional.get(index as usize).copied().unwrap_or(NO_NODE);
                self.add_edge(from, slot);
                at += 1;
            }
        }
    }

    /// `**kwargs` is a dict object of the activation.
    fn bind_other_keywords(&mut self, kwargs: Option<ObjId>, nodes: &ArgumentNodes, sources: &[ArgSource]) {
        let Some(kwargs) = kwargs else { return };
        for source in sources {
            if let ArgSource::Keyword(index) = *source
                && let Some(&(name, value)) = nodes.keywords.get(index as usize)
            {
                let slot = self.element_slot(kwargs, Field::str_key(name));
                self.add_edge(value, slot);
                let key = self.heap.object(Object::Str(name));
                let keys = self.slot(kwargs, Field::KEYS);
                self.add_object(keys, key);
            }
        }
    }

    /// The `*args` and `**kwargs` objects of an activation, at their parameters.
    pub(crate) fn variadics(&mut self, act: ActId) -> (Option<ObjId>, Option<ObjId>) {
        let code = self.acts[act].code;
        let templates = self.templates;
        let program = self.program;
        let mut found = (None, None);
        for (at, parameter) in program.codes[code].signature.parameters.iter().enumerate() {
            let (class, ordinal) = match parameter.kind {
                ParameterKind::VarPositional => (self.known.tuple, 0),
                ParameterKind::VarKeyword => (self.known.dict, 1),
                _ => continue,
            };
            let object = self
                .heap
                .object(Object::Instance(class, Allocation::Variadic(act, ordinal)));
            let node = self.node(act, templates[code].parameters[at]);
            self.add_object(node, object);
            if ordinal == 0 {
                found.0 = Some(object);
            } else {
                found.1 = Some(object);
            }
        }
        found
    }

    /// Spread arguments: elements of the iterables go to the parameters behind the positional arguments, values of the
    /// mappings to the parameters of their names.
    fn bind_spreads(&mut self, act: ActId, nodes: &ArgumentNodes) {
        let positional = u32::try_from(nodes.positional.len()).unwrap_or(0);
        for &star in &nodes.star {
            if self.spread_seen.insert((act, star, positional)) {
                self.on(star, Task::SpreadPositional { act, first: positional });
            }
        }
        for &mapping in &nodes.mappings {
            if self.spread_seen.insert((act, mapping, positional | 1 << 31)) {
                self.on(mapping, Task::SpreadKeywords { act, positional });
            }
        }
    }

    /// Iterables arrived whose elements are positional arguments from `first` on.
    pub(crate) fn spread_positional(&mut self, objects: &[ObjId], reasons: ReasonSet, act: ActId, first: u32) {
        for &object in objects {
            let watcher = KeyWatcher::Positional { act, first };
            self.watch_keys(object, watcher);
            let code = self.acts[act].code;
            let positional = self.program.codes[code].signature.positional_count();
            let templates = self.templates;
            let rest = self.unkeyed_elements(object);
            for at in first as usize..positional {
                let node = self.node(act, templates[code].parameters[at]);
                self.add_edge(rest, node);
            }
            if let (Some(args), _) = self.variadics(act) {
                let any = self.element_slot(args, Field::ANY_IN);
                self.add_edge(rest, any);
            }
        }
        self.spread_reasons(act, first as usize, reasons);
    }

    fn spread_reasons(&mut self, act: ActId, first: usize, reasons: ReasonSet) {
        if reasons.is_empty() {
            return;
        }
        let code = self.acts[act].code;
        let templates = self.templates;
        for &local in templates[code].parameters.iter().skip(first) {
            let node = self.node(act, local);
            self.add_reasons(node, reasons);
        }
    }

    /// Mappings arrived whose values are keyword arguments.
    pub(crate) fn spread_keywords(&mut self, objects: &[ObjId], reasons: ReasonSet, act: ActId, positional: u32) {
        for &object in objects {
            self.watch_keys(object, KeyWatcher::Keywords { act, positional });
            let rest = self.unkeyed_elements(object);
            let code = self.acts[act].code;
            let program = self.program;
            let templates = self.templates;
            for (at, parameter) in program.codes[code].signature.parameters.iter().enumerate() {
                if takes_keyword(parameter.kind) && at >= positional as usize {
                    let node = self.node(act, templates[code].parameters[at]);
                    self.add_edge(rest, node);
                }
            }
            if let (_, Some(kwargs)) = self.variadics(act) {
                let any = self.element_slot(kwargs, Field::ANY_IN);
                self.add_edge(rest, any);
                if let Some(keys) = self.heap.slot(object, Field::KEYS) {
                    let to = self.slot(kwargs, Field::KEYS);
                    self.add_edge(keys, to);
                }
            }
        }
        self.spread_reasons(act, positional as usize, reasons);
    }

    /// A keyed element of a spread container goes to its parameter.
    pub(crate) fn spread_key(&mut self, field: Field, node: NodeId, watcher: KeyWatcher) {
        let program = self.program;
        let templates = self.templates;
        match watcher {
            KeyWatcher::Positional { act, first } => {
                let Some(key) = field.as_int_key().and_then(|key| usize::try_from(key).ok()) else {
                    return;
                };
                let code = self.acts[act].code;
                let positional = program.codes[code].signature.positional_count();
                let at = first as usize + key;
                if at < positional {
                    let parameter = self.node(act, templates[code].parameters[at]);
                    self.add_edge(node, parameter);
                } else if let (Some(args), _) = self.variadics(act) {
                    // A recursive `f(x, *args)` moves each element one place on every time.
                    let field = match i32::try_from(at - positional) {
                        Ok(index) if index < MAX_SPREAD => Field::int_key(index),
                        _ => Field::ANY_IN,
                    };
                    let slot = self.element_slot(args, field);
                    self.add_edge(node, slot);
                }
            }
            KeyWatcher::Keywords { act, positional } => {
                let Some(name) = field.as_str_key() else { return };
                let code = self.acts[act].code;
                let found = program.codes[code]
                    .signature
                    .parameters
                    .iter()
                    .enumerate()
                    .find(|(at, parameter)| {
                        takes_keyword(parameter.kind) && parameter.name == name && *at >= positional as usize
                    });
                if let Some((at, _)) = found {
                    let parameter = self.node(act, templates[code].parameters[at]);
                    self.add_edge(node, parameter);
                } else if let (_, Some(kwargs)) = self.variadics(act) {
                    let slot = self.element_slot(kwargs, field);
                    self.add_edge(node, slot);
                }
            }
            KeyWatcher::Rest { target, first } => {
                let place = field.as_int_key().map(|key| i64::from(key) - i64::from(first));
                let field = match place.and_then(|place| i32::try_from(place).ok()) {
                    Some(place) if place < 0 => return,
                    Some(place) if place < MAX_SPREAD => Field::int_key(place),
                    _ => Field::ANY_IN,
                };
                let slot = self.element_slot(target, field);
                self.add_edge(node, slot);
            }
            KeyWatcher::Container(target) => {
                // A copy tells the first positions apart: copies of copies multiply what a long sequence holds.
                let far = field.as_int_key().is_some_and(|index| index >= MAX_SPREAD) && !self.is_mapping(target);
                let field = if far { Field::ANY_IN } else { field };
                let slot = self.element_slot(target, field);
                self.add_edge(node, slot);
            }
        }
    }

    // ---- classes ----------------------------------------------------------------------------------------------------------

    fn call_class(&mut self, request: RequestId, class: ObjId) {
        let name = names::CALL;
        let custom = self.program.facts.class_names.contains(&name);
        if custom && let Some(info) = self.classes.get_mut(class) {
            // A metaclass may answer the call; `type.__call__` is what it falls back to.
            info.callers.push(request);
            let metas: SmallVec<[ObjId; 2]> = info.metaclasses.iter().copied().collect();
            self.meta_call(&metas, class, request);
            return;
        }
        self.construct(request, class);
    }

    /// The class was called, and these are metaclasses of it.
    pub(crate) fn meta_call(&mut self, metas: &[ObjId], class: ObjId, request: RequestId) {
        let name = names::CALL;
        for &meta in metas {
            if meta != self.known.type_ && self.class_may_have(meta, name) {
                let receiver = self.single(class);
                let site = self.requests[request].site;
                let found = self.lookup(meta, name);
                let sink = Sink::Call(request);
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
            } else if meta == self.known.type_ && !self.has_custom_meta_call(class) {
                self.construct(request, class);
            }
        }
    }

    fn has_custom_meta_call(&self, class: ObjId) -> bool {
        let name = names::CALL;
        self.classes.get(class).is_some_and(|info| {
            info.metaclasses
                .iter()
                .any(|&meta| meta != self.known.type_ && self.class_may_have(meta, name))
        })
    }

    /// `type.__call__`: `__new__`, then `__init__` on an instance of the class.
    pub(crate) fn construct(&mut self, request: RequestId, class: ObjId) {
        let call = self.requests[request];
        self.target(call.site, CallKind::Call, Target::Class(class));
        self.metaclass_called(class);
        let init = self.request(Request {
            result: NO_NODE,
            kind: CallKind::Construct(names::INIT),
            ..call
        });
        if self.customises_new(class) {
            self.construct_by_new(request, init, class);
            return;
        }
        let object = self.instance(class, call.site);
        self.add_object(call.result, object);
        self.initialise(&[object], init, class);
        if let Some(info) = self.classes.get_mut(class) {
            info.constructed.push((request, init));
        }
    }

    /// Whether something other than `object.__new__` may make the instances of a class.
    fn customises_new(&self, class: ObjId) -> bool {
        let Some(info) = self.classes.get(class) else {
            return true;
        };
        let stored = || {
            self.program.facts.stored_attributes.contains(&names::NEW)
                && (!info.any_sources.is_empty()
                    || info.orders.iter().flatten().any(|base| match *base {
                        Base::Class(base) if base != self.known.object => {
                            self.heap.slot(base, Field::attribute(names::NEW)).is_some()
                        }
                        _ => false,
                    }))
        };
        info.orders.is_empty() || self.class_may_have(class, names::NEW) || stored()
    }

    /// More is known of a class: if it has a `__new__` now, the calls that made instances without one ask it too.
    pub(crate) fn construct_anew(&mut self, class: ObjId) {
        if self.classes.get(class).is_none_or(|info| info.constructed.is_empty()) || !self.customises_new(class) {
            return;
        }
        let Some(info) = self.classes.get_mut(class) else {
            return;
        };
        for (request, init) in std::mem::take(&mut info.constructed) {
            self.construct_by_new(request, init, class);
        }
    }

    fn construct_by_new(&mut self, request: RequestId, init: RequestId, class: ObjId) {
        let call = self.requests[request];
        let site = call.site;
        let instances = self.solver.node();
        self.add_edge(instances, call.result);
        let new = self.request(Request {
            result: instances,
            kind: CallKind::Construct(names::NEW),
            ..call
        });
        let receiver = self.single(class);
        let found = self.lookup(class, names::NEW);
        self.on(
            found,
            Task::Member {
                sink: Sink::New(new),
                site,
                receiver,
                class: Some(class),
                through_class: true,
            },
        );
        if self.classes.has_unknown_base(class) {
            let object = self.instance(class, site);
            self.add_object(instances, object);
        }
        self.on(instances, Task::Initialise { request: init, class });
    }

    /// Instances that `__new__` gave.
    pub(crate) fn initialise(&mut self, objects: &[ObjId], request: RequestId, class: ObjId) {
        let name = names::INIT;
        for &object in objects {
            let own = match self.class_of(object) {
                Some(own) if self.classes.is_subclass(own, class) || own == class => own,
                _ => continue,
            };
            if self.known.is_scalar(own) {
                continue;
            }
            let found = self.shared_lookup(own, name);
            let (receiver, new) = self.shared_group(GroupKey::Initialise(request), found);
            self.add_object(receiver, object);
            if new {
                let site = self.requests[request].site;
                let sink = Sink::Call(request);
                self.on(
                    found,
                    Task::Member {
                        sink,
                        site,
                        receiver,
                        class: None,
                        through_class: false,
                    },
                );
            }
        }
    }

    /// Calls a special method of whatever arrives at `receiver`.
    pub(crate) fn special_call(
        &mut self,
        site: SiteId,
        receiver: NodeId,
        name: Symbol,
        arguments: &[NodeId],
        result: NodeId,
    ) -> RequestId {
        let request = self.site_request(site, arguments, result, CallKind::Protocol(name));
        self.on(
            receiver,
            Task::Attribute {
                name,
                sink: Sink::Call(request),
                site,
                mode: Lookup::Special,
            },
        );
        request
    }
}
