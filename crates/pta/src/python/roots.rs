//! Entry points, and what is decided at quiescence.
//!
//! Module bodies run. Under `--roots exports` every function that nothing reached is called by an unknown caller: its
//! parameters carry the reason *entry parameter*, a method gets an entry instance of its class.

use crate::config::Roots;
use crate::engine::{Engine, Fallback, NO_NODE, Question, Sink, Task};
use crate::heap::{Allocation, Object};
use crate::ids::{ActId, NodeId, ObjId};
use crate::program::CodeKind;
use crate::python::names;
use crate::template::Operation;
use hognose_base::{ReasonSet, UnresolvedKind};
use rustc_hash::FxHashSet;

impl Engine<'_> {
    /// Runs the module bodies: the builtins first, then the program in canonical order, then the other models.
    pub(crate) fn start(&mut self) {
        let mut modules: Vec<_> = self.known.module.into_iter().collect();
        modules.extend(
            self.program
                .modules
                .ids()
                .filter(|&module| Some(module) != self.known.module),
        );
        for module in modules {
            let object = self.module_object(module);
            let code = self.program.module_code(module);
            self.activate(code, None, Some(object));
        }
    }

    /// Answers questions about absence, all together in the order they were asked.
    pub(crate) fn answer_questions(&mut self) -> bool {
        let questions = std::mem::take(&mut self.questions);
        let any = !questions.is_empty();
        for question in questions {
            self.answer(&question);
        }
        any
    }

    fn answer(&mut self, question: &Question) {
        match *question {
            Question::GetAttr {
                class,
                name,
                receiver,
                sink,
                site,
            } => {
                let hook = names::GETATTR;
                if !self.class_may_have(class, hook) {
                    return;
                }
                let found = self.lookup(class, name);
                if self.solver.set(found).is_empty() && !self.instances_have(receiver, name) {
                    self.computed_attribute(class, hook, name, sink, site, receiver);
                }
            }
            Question::Fallback {
                class,
                tried,
                site,
                then,
            } => {
                let found = self.shared_lookup(class, tried);
                if !self.solver.set(found).is_empty() {
                    return;
                }
                match then {
                    Fallback::Method {
                        name,
                        request,
                        receiver,
                    } => {
                        let class_found = self.lookup(class, name);
                        self.on(
                            class_found,
                            Task::Member {
                                sink: Sink::Call(request),
                                site,
                                receiver,
                                class: Some(class),
                                through_class: false,
                            },
                        );
                        self.questions.push(Question::Fallback {
                            class,
                            tried: name,
                            site,
                            then: Fallback::Reflected,
                        });
                    }
                    Fallback::Reflected => {
                        if let Some(operands) = self.operands(site) {
                            self.ask_reflected(site, &operands);
                        }
                    }
                    Fallback::Sequence { receiver, result } => {
                        self.iterate_sequence(class, site, receiver, result);
                    }
                    Fallback::Iterate {
                        receiver,
                        raises,
                        wanted,
                    } => {
                        let iterator = self.solver.node();
                        let item = self.solver.node();
                        self.on(receiver, Task::Iterate { site, result: iterator });
                        self.on(
                            iterator,
                            Task::Next {
                                site,
                                result: item,
                                raises,
                            },
                        );
                        if wanted != NO_NODE {
                            let (left, right) = (item, wanted);
                            self.on(item, Task::EqualLeft { site, left, right });
                        }
                    }
                }
            }
            Question::ModuleAttribute {
                module,
                name,
                sink,
                site,
            } => {
                let object = self.module_object(module);
                let slot = self.attribute_slot(object, name);
                if self.solver.set(slot).is_empty() {
                    self.module_getattr(module, name, sink, site);
                }
            }
        }
    }

    fn instances_have(&self, receiver: NodeId, name: hognose_base::Symbol) -> bool {
        let field = crate::heap::Field::attribute(name);
        self.solver.set(receiver).to_vec().iter().any(|&object| {
            self.heap
                .slot(object, field)
                .is_some_and(|slot| !self.solver.set(slot).is_empty())
        })
    }

    /// Calls escaped functions, and under `exports` functions that nothing reached. Whether there were any.
    pub(crate) fn activate_roots(&mut self) -> bool {
        let mut roots = std::mem::take(&mut self.pending_roots);
        roots.retain(|&object| {
            self.root_function(object)
                .is_some_and(|code| !self.program.is_model(code))
        });
        let mut any = false;
        for object in roots {
            any |= self.enter(object, UnresolvedKind::External);
        }
        if any || self.config.roots == Roots::Modules {
            return any;
        }
        let mut candidates: Vec<ObjId> = self
            .function_objects
            .iter()
            .copied()
            .filter(|&object| match self.root_function(object) {
                Some(code) => {
                    let kind = self.program.codes[code].kind;
                    !self.program.is_model(code)
                        && (self.program.codes[code].is_function() || kind == CodeKind::GeneratorExpression)
                        && !self.reached[code]
                }
                None => false,
            })
            .collect();
        candidates.sort_unstable();
        candidates.dedup();
        for object in candidates {
            any |= self.enter(object, UnresolvedKind::EntryParameter);
        }
        any
    }

    fn root_function(&self, object: ObjId) -> Option<crate::ids::CodeId> {
        match self.heap.get(object) {
            Object::Function(code, ..) => Some(code),
            Object::Bound(function, _) => match self.heap.get(function) {
                Object::Function(code, ..) => Some(code),
                _ => None,
            },
            _ => None,
        }
    }

    /// An unknown caller calls the function.
    fn enter(&mut self, object: ObjId, reason: UnresolvedKind) -> bool {
        let (function, receiver) = match self.heap.get(object) {
            Object::Bound(function, receiver) => (function, Some(receiver)),
            _ => (object, None),
        };
        let Object::Function(code, maker, _) = self.heap.get(function) else {
            return false;
        };
        let context = self.defining_context(function);
        let fresh = self.find_act(code, context).is_none();
        let act = self.activate(code, context, None);
        if fresh {
            self.acts[act].entry = true;
        }
        self.connect_closure(function, act);
        let templates = self.templates;
        let parameters = templates[code].parameters.clone();
        let mut first = 0;
        if let Some(receiver) = receiver {
            if let Some(&local) = parameters.first() {
                let node = self.node(act, local);
                self.add_object(node, receiver);
                first = 1;
            }
        } else if let Some(class) = self.acts[maker].namespace.filter(|_| self.is_class_body(maker)) {
            first = self.entry_receiver(code, class, act, &parameters);
        }
        self.variadics(act);
        for &local in &parameters[first.min(parameters.len())..] {
            let node = self.node(act, local);
            self.solver.add_reasons(node, ReasonSet::of(reason));
        }
        self.entry_defaults(function, act, &parameters);
        let sent = self.node(act, crate::template::SENT);
        if self.program.codes[code].is_generator_like() {
            self.solver.add_reasons(sent, ReasonSet::of(reason));
        }
        fresh || receiver.is_some()
    }

    fn entry_defaults(&mut self, function: ObjId, act: ActId, parameters: &[u32]) {
        for (at, &local) in parameters.iter().enumerate() {
            let position = u32::try_from(at).unwrap_or(0);
            for field in [
                crate::heap::Field::default(position),
                crate::heap::Field::keyword_default(position),
            ] {
                if let Some(slot) = self.heap.slot(function, field) {
                    let node = self.node(act, local);
                    self.add_edge(slot, node);
                }
            }
        }
    }

    fn is_class_body(&self, act: ActId) -> bool {
        self.program.codes[self.acts[act].code].kind == CodeKind::Class
    }

    /// The first parameter of a method: an entry instance of the class (the class itself for `__new__` and its kin).
    fn entry_receiver(&mut self, code: crate::ids::CodeId, class: ObjId, act: ActId, parameters: &[u32]) -> usize {
        let Some(&local) = parameters.first() else { return 0 };
        let node = self.node(act, local);
        let name = self.program.text(self.program.codes[code].name);
        let decorated = self.decorated(class, code);
        if name == "__new__"
            || name == "__init_subclass__"
            || name == "__class_getitem__"
            || decorated == Some("classmethod")
        {
            self.add_object(node, class);
            return 1;
        }
        if decorated == Some("staticmethod") {
            return 0;
        }
        let instance = self.entry_instance(class);
        self.add_object(node, instance);
        // Inherited methods run on instances of subclasses too.
        let mut subclasses: Vec<ObjId> = self
            .classes
            .get(class)
            .map(|info| info.subclasses.clone())
            .unwrap_or_default();
        subclasses.sort_unstable();
        subclasses.dedup();
        for subclass in subclasses {
            let instance = self.entry_instance(subclass);
            self.add_object(node, instance);
        }
        1
    }

    /// An instance that an unknown caller made: its `__init__` ran.
    pub(crate) fn entry_instance(&mut self, class: ObjId) -> ObjId {
        let instance = self.heap.object(Object::Instance(class, Allocation::Entry));
        if self.entry_instances.insert(instance) {
            let name = names::INIT;
            let found = self.lookup(class, name);
            self.on(found, Task::EntryInit { instance });
        }
        instance
    }

    /// Constructors of an entry instance arrived.
    pub(crate) fn entry_init(&mut self, functions: &[ObjId], instance: ObjId) {
        for &function in functions {
            if matches!(self.heap.get(function), Object::Function(code, ..) if !self.program.is_model(code)) {
                let bound = self.heap.object(Object::Bound(function, instance));
                self.enter(bound, UnresolvedKind::EntryParameter);
            }
        }
    }

    /// Whether the class namespace holds the function inside a class method or static method.
    fn decorated(&self, class: ObjId, code: crate::ids::CodeId) -> Option<&'static str> {
        let name = self.program.codes[code].name;
        let slot = self.heap.slot(class, crate::heap::Field::attribute(name))?;
        let mut found = None;
        self.solver.set(slot).for_each(|object| {
            if let Object::Instance(kind, _) = self.heap.get(object) {
                if kind == self.known.classmethod {
                    found = Some("classmethod");
                } else if kind == self.known.staticmethod {
                    found = Some("staticmethod");
                }
            }
        });
        found
    }

    /// At the very end: attribute and call sites with receivers but without an answer get a reason.
    pub(crate) fn report_missing(&mut self) -> bool {
        let mut changed = false;
        for (node, _, _) in std::mem::take(&mut self.unbound_names) {
            if self.solver.set(node).is_empty() && self.solver.reasons(node).is_empty() {
                self.add_reason(node, UnresolvedKind::UnboundName);
                changed = true;
            }
        }
        if self.missing_reported {
            return changed;
        }
        self.missing_reported = true;
        for site in self.site_acts.ids() {
            let (base, result) = match *self.operation(site) {
                Operation::LoadAttribute { base, result, .. } | Operation::LoadItem { base, result, .. } => {
                    (base, result)
                }
                Operation::Call {
                    callee: crate::template::Callee::Attribute { base, .. },
                    result,
                    ..
                } => (base, result),
                Operation::Call {
                    callee: crate::template::Callee::Value(callee),
                    result,
                    ..
                } => (callee, result),
                Operation::LoadSuper { receiver, result, .. }
                | Operation::Call {
                    callee: crate::template::Callee::Super { receiver, .. },
                    result,
                    ..
                } => (receiver, result),
                _ => continue,
            };
            let (base, result) = (self.site_node(site, base), self.site_node(site, result));
            if base == NO_NODE || result == NO_NODE {
                continue;
            }
            let silent = self.solver.set(result).is_empty()
                && self.solver.reasons(result).is_empty()
                && !self.solver.set(base).is_empty();
            let kind = match *self.operation(site) {
                Operation::LoadAttribute { .. } | Operation::LoadSuper { .. } => UnresolvedKind::MissingAttribute,
                Operation::LoadItem { .. } => UnresolvedKind::UnknownKey,
                _ if self.has_target(site) => continue,
                Operation::Call {
                    callee: crate::template::Callee::Attribute { .. } | crate::template::Callee::Super { .. },
                    ..
                } => UnresolvedKind::MissingAttribute,
                _ => UnresolvedKind::NotCallable,
            };
            if silent {
                self.note_reasons(site, kind.into());
                self.add_reason(result, kind);
                changed = true;
            }
        }
        changed
    }

    fn has_target(&mut self, site: crate::ids::SiteId) -> bool {
        if self.target_sites.is_none() {
            #[allow(clippy::iter_over_hash_type)]
            let sites: FxHashSet<_> = self.site_targets.iter().map(|&(site, ..)| site).collect();
            self.target_sites = Some(sites);
        }
        self.target_sites.as_ref().is_some_and(|sites| sites.contains(&site))
    }
}
