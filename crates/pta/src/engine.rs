//! The fixed point: what the program's operations do when objects arrive at their operands.
//!
//! The main loop takes a delta from the [`Solver`] and hands it to whoever listens: a *site* (an operation of an
//! activation) or a *task* (something a feature wants to do for each object that arrives somewhere). Features live in
//! `python/`, one file each; they add edges, objects, activations and tasks, and never look at a set that may still
//! grow. What only absence can trigger is decided in [`Engine::quiescence`].

use crate::config::PtaConfig;
use crate::heap::{Allocation, Field, Heap, Object};
use crate::ids::{ActId, ChainId, CodeId, ModuleId, NodeId, ObjId, SiteId};
use crate::program::Program;
use crate::python::classes::{ClassMemo, ClassTable};
use crate::python::equality::KeyLookups;
use crate::python::intrinsics::{NamedAccess, NamedAccesses};
use crate::python::metaclasses::MetaclassState;
use crate::python::priority::OperatorState;
use crate::python::well_known::WellKnown;
use crate::solver::{Delta, Listener, Solver};
use crate::template::{Callee, Local, NO_LOCAL, Operation, Template};
use hognose_base::{BudgetKind, IndexVec, Outcome, ReasonSet, Symbol, UnresolvedKind, define_id};
use hognose_ir::Signature;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

pub(crate) use crate::vocabulary::*;

define_id! {
    /// A call that is to be made with every object that arrives as its callee.
    pub struct RequestId = "r";
}

/// No node: an operand that holds nothing, a result nobody wants.
pub(crate) const NO_NODE: NodeId = NodeId::new(u32::MAX);

/// The state of one run.
pub(crate) struct Engine<'p> {
    pub(crate) program: &'p Program,
    pub(crate) templates: &'p IndexVec<CodeId, Template>,
    pub(crate) config: &'p PtaConfig,
    pub(crate) solver: Solver,
    pub(crate) heap: Heap,
    /// The chain of the reserved module.
    pub(crate) reserved: ChainId,
    pub(crate) classes: ClassTable,
    /// Answers of `class_may_have`.
    pub(crate) may_have: ClassMemo,
    /// Answers of `certainly_has`.
    pub(crate) certainly: ClassMemo,
    /// Names that some class body makes a property.
    pub(crate) property_names: FxHashSet<Symbol>,
    pub(crate) known: WellKnown,
    pub(crate) acts: IndexVec<ActId, Activation>,
    act_of: FxHashMap<(CodeId, Option<SiteId>), ActId>,
    /// Whether a code object has an activation.
    pub(crate) reached: IndexVec<CodeId, bool>,
    pub(crate) site_acts: IndexVec<SiteId, ActId>,
    pub(crate) tasks: Vec<Task>,
    /// Keyed elements that watchers of their containers are still to be told of.
    pub(crate) new_keys: VecDeque<(Field, NodeId, KeyWatcher)>,
    /// What new listeners find at their nodes, to be handed to them.
    deferred: VecDeque<(Listener, Delta)>,
    pub(crate) requests: IndexVec<RequestId, Request>,
    /// Arguments of requests that are not those of a call expression.
    pub(crate) request_nodes: Vec<NodeId>,
    /// Receiver groups: (what asks, class) -> node.
    pub(crate) groups: FxHashMap<(GroupKey, ObjId), NodeId>,
    /// Receiver groups of classes that share a look-up: (what asks, node of the look-up) -> node.
    pub(crate) shared_groups: FxHashMap<(GroupKey, NodeId), NodeId>,
    /// Receiver groups that were subscribed to another look-up later.
    pub(crate) followed: FxHashSet<(NodeId, NodeId)>,
    /// Receiver groups that have what is at the node of a look-up without being subscribed to it.
    pub(crate) followers: FxHashMap<NodeId, Vec<Listener>>,
    pub(crate) singles: FxHashMap<ObjId, NodeId>,
    /// The classes of the receivers of a group.
    pub(crate) receiver_types: FxHashMap<NodeId, NodeId>,
    /// Clones that each site outside all clones has led to.
    clones: FxHashMap<SiteId, u32>,
    /// Calls of special methods by site, method, first argument and result: receivers of several classes share one.
    pub(crate) protocol_requests: FxHashMap<(SiteId, Symbol, NodeId, NodeId), RequestId>,
    /// Value nodes of requests: what arrives there is called.
    pub(crate) callee_nodes: FxHashMap<RequestId, NodeId>,
    pub(crate) function_cells: FxHashMap<ObjId, Vec<CellRef>>,
    pub(crate) function_defaults: FxHashMap<ObjId, u32>,
    pub(crate) signatures: FxHashMap<ObjId, Rc<Signature<Symbol>>>,
    /// Function objects in order of creation, for roots.
    pub(crate) function_objects: Vec<ObjId>,
    pub(crate) site_targets: Vec<(SiteId, CallKind, Target)>,
    pub(crate) site_reasons: FxHashMap<SiteId, ReasonSet>,
    pub(crate) questions: Vec<Question>,
    /// What operators have found out about their operands.
    pub(crate) operators: FxHashMap<SiteId, OperatorState>,
    /// Whether a right operand may come before a left one of a class, with the state of the classes it was decided in.
    pub(crate) yielding: FxHashMap<(ObjId, Symbol, bool), (u32, bool)>,
    /// Containers that find their keys by hash, with who looks for what in them.
    pub(crate) key_lookups: FxHashMap<ObjId, KeyLookups>,
    /// Who makes classes with which metaclass.
    pub(crate) metaclasses: MetaclassState,
    /// Subscripts of strings whose index was asked.
    pub(crate) indexed: FxHashSet<SiteId>,
    /// Comparisons that containers make, whose right operands were asked.
    pub(crate) equal_asked: FxHashSet<(SiteId, NodeId)>,
    /// Left operands that some right ones come before and that were asked, by the node of their argument.
    pub(crate) asked_lefts: FxHashSet<NodeId>,
    /// Attribute accesses whose name is a value.
    pub(crate) named: Vec<NamedAccesses>,
    pub(crate) named_index: FxHashMap<NamedAccess, usize>,
    pub(crate) named_waiting: BTreeSet<usize>,
    /// Tuples of classes that a test or handler looked into.
    pub(crate) class_tuples: FxHashSet<(SiteId, ObjId)>,
    pub(crate) unpack_general: FxHashSet<SiteId>,
    pub(crate) entry_instances: FxHashSet<ObjId>,
    pub(crate) missing_reported: bool,
    pub(crate) target_sites: Option<FxHashSet<SiteId>>,
    /// Nodes for which a task without operands was made.
    once: FxHashSet<(NodeId, u8)>,
    pub(crate) spread_seen: FxHashSet<(ActId, NodeId, u32)>,
    pub(crate) copy_seen: FxHashSet<(ObjId, ObjId)>,
    pub(crate) copy_iterators: FxHashMap<(ObjId, SiteId), NodeId>,
    /// Containers whose keyed elements are copied on: source -> targets.
    pub(crate) key_watchers: FxHashMap<ObjId, Vec<KeyWatcher>>,
    /// Receivers of loads that were answered with what was stored, by class.
    pub(crate) forwarded_reads: FxHashMap<ObjId, Vec<crate::python::forwarding::ForwardedRead>>,
    /// Names under which something is stored on a class by code other than its body.
    pub(crate) stored_on_classes: FxHashSet<Symbol>,
    /// Loads for which that is not all.
    pub(crate) slot_reads: FxHashSet<(CodeId, hognose_ir::InstId)>,
    pub(crate) escaped: FxHashSet<ObjId>,
    pub(crate) pending_roots: Vec<ObjId>,
    pub(crate) unbound_names: Vec<(NodeId, ModuleId, Symbol)>,
    pub(crate) outcome: Outcome,
    pub(crate) rounds: u32,
}

impl<'p> Engine<'p> {
    pub(crate) fn new(program: &'p Program, templates: &'p IndexVec<CodeId, Template>, config: &'p PtaConfig) -> Self {
        let mut engine = Self {
            program,
            templates,
            config,
            solver: Solver::default(),
            heap: Heap::default(),
            reserved: ChainId::new(0),
            classes: ClassTable::default(),
            may_have: ClassMemo::default(),
            certainly: ClassMemo::default(),
            property_names: templates
                .iter()
                .flat_map(|template| template.properties.iter().copied())
                .collect(),
            known: WellKnown::default(),
            acts: IndexVec::new(),
            act_of: FxHashMap::default(),
            reached: IndexVec::from_elem(false, program.codes.len()),
            site_acts: IndexVec::new(),
            tasks: Vec::new(),
            deferred: VecDeque::new(),
            new_keys: VecDeque::new(),
            requests: IndexVec::new(),
            request_nodes: Vec::new(),
            groups: FxHashMap::default(),
            shared_groups: FxHashMap::default(),
            followed: FxHashSet::default(),
            followers: FxHashMap::default(),
            singles: FxHashMap::default(),
            receiver_types: FxHashMap::default(),
            clones: FxHashMap::default(),
            protocol_requests: FxHashMap::default(),
            callee_nodes: FxHashMap::default(),
            function_cells: FxHashMap::default(),
            function_defaults: FxHashMap::default(),
            signatures: FxHashMap::default(),
            function_objects: Vec::new(),
            site_targets: Vec::new(),
            site_reasons: FxHashMap::default(),
            questions: Vec::new(),
            operators: FxHashMap::default(),
            yielding: FxHashMap::default(),
            key_lookups: FxHashMap::default(),
            metaclasses: MetaclassState::default(),
            indexed: FxHashSet::default(),
            equal_asked: FxHashSet::default(),
            asked_lefts: FxHashSet::default(),
            named: Vec::new(),
            named_index: FxHashMap::default(),
            named_waiting: BTreeSet::new(),
            class_tuples: FxHashSet::default(),
            unpack_general: FxHashSet::default(),
            entry_instances: FxHashSet::default(),
            missing_reported: false,
            target_sites: None,
            once: FxHashSet::default(),
            spread_seen: FxHashSet::default(),
            copy_seen: FxHashSet::default(),
            copy_iterators: FxHashMap::default(),
            key_watchers: FxHashMap::default(),
            forwarded_reads: FxHashMap::default(),
            stored_on_classes: FxHashSet::default(),
            slot_reads: FxHashSet::default(),
            escaped: FxHashSet::default(),
            pending_roots: Vec::new(),
            unbound_names: Vec::new(),
            outcome: Outcome::Complete,
            rounds: 0,
        };
        let reserved = crate::python::names::HOGNOSE;
        engine.solver.limit = config.max_objects;
        // Room for the activations of the program, and as much again for clones, fields and groups: memory that is not used
        // is not touched.
        let locals: usize = templates.iter().map(|template| template.locals as usize).sum();
        engine.solver.reserve(locals * 3);
        engine.tasks.reserve(locals);
        engine.heap.reserve(locals / 2);
        engine.shared_groups.reserve(locals / 3);
        engine.reserved = engine.heap.root_chain(reserved);
        engine.known = WellKnown::find(&mut engine);
        engine
    }

    /// Runs to the fixed point.
    pub(crate) fn run(&mut self) {
        self.start();
        let mut listeners: Vec<Listener> = Vec::new();
        loop {
            loop {
                if let Some((field, node, watcher)) = self.new_keys.pop_front() {
                    self.spread_key(field, node, watcher);
                    continue;
                }
                if let Some((listener, delta)) = self.deferred.pop_front() {
                    self.task(listener, &delta.objects, delta.reasons);
                    continue;
                }
                let Some(delta) = self.solver.step(&mut listeners) else {
                    break;
                };
                for &listener in &listeners {
                    self.task(listener, &delta.objects, delta.reasons);
                }
                if let Some(budget) = self.exceeded() {
                    self.outcome = Outcome::Partial(std::iter::once(budget).collect());
                    return;
                }
            }
            self.rounds += 1;
            if !self.quiescence() {
                break;
            }
        }
    }

    /// The budget that is used up, if one is.
    fn exceeded(&self) -> Option<BudgetKind> {
        if self
            .config
            .max_steps
            .is_some_and(|limit| self.solver.stats.steps > limit)
        {
            Some(BudgetKind::Steps)
        } else if self
            .config
            .max_edges
            .is_some_and(|limit| self.solver.stats.edges > limit)
        {
            Some(BudgetKind::Memory)
        } else {
            None
        }
    }

    /// What others read when the run is over.
    pub(crate) fn into_parts(mut self) -> crate::result::Parts {
        self.solver.seal();
        let mut site_targets = self.site_targets;
        site_targets.sort_unstable();
        site_targets.dedup();
        #[allow(clippy::iter_over_hash_type)]
        let mut escaped: Vec<ObjId> = self.escaped.into_iter().collect();
        escaped.sort_unstable();
        crate::result::Parts {
            solver: self.solver,
            heap: self.heap,
            classes: self.classes,
            known: self.known,
            acts: self.acts,
            site_acts: self.site_acts,
            site_targets,
            site_reasons: self.site_reasons,
            slot_reads: self.slot_reads,
            escaped,
            outcome: self.outcome,
            rounds: self.rounds,
        }
    }

    /// Decides what only absence can trigger. Whether there is more to do.
    fn quiescence(&mut self) -> bool {
        self.settle_classes()
            || self.settle_metaclasses()
            || self.settle_names()
            || self.answer_questions()
            || self.activate_own_roots()
            || self.settle_unknown_bases()
            || self.report_missing()
    }

    /// Calls entry points. Functions of dependencies are none: nobody but the program and its dependencies calls them.
    fn activate_own_roots(&mut self) -> bool {
        if self.program.modules.iter().any(|module| module.is_dependency) {
            let (program, heap) = (self.program, &self.heap);
            self.function_objects.retain(
                |&object| !matches!(heap.get(object), Object::Function(code, ..) if program.is_dependency(code)),
            );
        }
        self.activate_roots()
    }

    // ---- nodes and sites ---------------------------------------------------------------------------------------------

    /// The node of a local of an activation.
    #[inline]
    pub(crate) fn node(&self, act: ActId, local: Local) -> NodeId {
        if local == NO_LOCAL {
            NO_NODE
        } else {
            NodeId::new(self.acts[act].base.raw() + local)
        }
    }
    /// The node of a local at a site.
    #[inline]
    pub(crate) fn site_node(&self, site: SiteId, local: Local) -> NodeId {
        self.node(self.site_acts[site], local)
    }
    /// The operation of a site.
    pub(crate) fn operation(&self, site: SiteId) -> &'p Operation {
        let act = &self.acts[self.site_acts[site]];
        &self.templates[act.code].operations[(site.raw() - act.sites.raw()) as usize]
    }
    /// Where exceptions of a site go.
    pub(crate) fn site_raises(&self, site: SiteId) -> NodeId {
        let act_id = self.site_acts[site];
        let act = &self.acts[act_id];
        self.node(
            act_id,
            self.templates[act.code].operation_raises[(site.raw() - act.sites.raw()) as usize],
        )
    }

    pub(crate) fn add_object(&mut self, node: NodeId, object: ObjId) {
        if node != NO_NODE {
            self.solver.add_object(node, object);
        }
    }
    pub(crate) fn add_reason(&mut self, node: NodeId, kind: UnresolvedKind) {
        self.add_reasons(node, ReasonSet::of(kind));
    }
    pub(crate) fn add_reasons(&mut self, node: NodeId, reasons: ReasonSet) {
        if node != NO_NODE {
            self.solver.add_reasons(node, reasons);
        }
    }
    pub(crate) fn add_edge(&mut self, from: NodeId, to: NodeId) {
        if from != NO_NODE && to != NO_NODE {
            self.solver.add_edge(from, to);
        }
    }
    /// A node that always holds exactly this object.
    pub(crate) fn single(&mut self, object: ObjId) -> NodeId {
        if let Some(&node) = self.singles.get(&object) {
            return node;
        }
        let node = self.solver.node();
        self.solver.add_object(node, object);
        self.singles.insert(object, node);
        node
    }
    /// The node of a field, made if need be.
    pub(crate) fn slot(&mut self, object: ObjId, field: Field) -> NodeId {
        if let Some(node) = self.heap.slot(object, field) {
            return node;
        }
        let node = self.solver.node();
        self.heap.add_slot(object, field, node);
        if field.is_key() {
            self.connect_key(object, field, node);
        }
        node
    }
    pub(crate) fn attribute_slot(&mut self, object: ObjId, name: Symbol) -> NodeId {
        self.slot(object, Field::attribute(name))
    }
    /// The members of a receiver group; new groups are reported by the flag.
    pub(crate) fn group(&mut self, key: GroupKey, class: ObjId) -> (NodeId, bool) {
        if let Some(&node) = self.groups.get(&(key, class)) {
            return (node, false);
        }
        let node = self.solver.node();
        self.groups.insert((key, class), node);
        (node, true)
    }

    /// The members of a receiver group of classes that share a look-up; new groups are reported by the flag.
    pub(crate) fn shared_group(&mut self, key: GroupKey, found: NodeId) -> (NodeId, bool) {
        if let Some(&node) = self.shared_groups.get(&(key, found)) {
            return (node, false);
        }
        let node = self.solver.node();
        self.shared_groups.insert((key, found), node);
        (node, true)
    }

    /// Does `task` for what is at `node` and for what will come.
    pub(crate) fn on(&mut self, node: NodeId, task: Task) {
        if node == NO_NODE {
            return;
        }
        let id = self.add_task(task);
        let current = self.solver.current(node);
        self.solver.listen(node, id);
        if !current.objects.is_empty() || !current.reasons.is_empty() {
            // Not at once: a task may make tasks, and the stack must not grow with the program.
            self.deferred.push_back((id, current));
        }
    }

    fn add_task(&mut self, task: Task) -> Listener {
        let id = u32::try_from(self.tasks.len()).unwrap_or(u32::MAX);
        self.tasks.push(task);
        Listener(id)
    }

    /// As [`Engine::on`], once for each node.
    pub(crate) fn on_once(&mut self, node: NodeId, task: Task) {
        let kind = u8::from(matches!(task, Task::Escape));
        if node != NO_NODE && self.once.insert((node, kind)) {
            self.on(node, task);
        }
    }

    pub(crate) fn request(&mut self, request: Request) -> RequestId {
        self.requests.push(request)
    }

    /// A call that an operation makes with these arguments; what it raises goes where exceptions of the site go.
    pub(crate) fn site_request(
        &mut self,
        site: SiteId,
        arguments: &[NodeId],
        result: NodeId,
        kind: CallKind,
    ) -> RequestId {
        let raises = self.site_raises(site);
        let first = u32::try_from(self.request_nodes.len()).unwrap_or(u32::MAX);
        let count = u32::try_from(arguments.len()).unwrap_or(0);
        self.request_nodes.extend_from_slice(arguments);
        self.request(Request {
            site,
            arguments: ArgumentSource::Nodes { first, count },
            result,
            raises,
            kind,
        })
    }

    /// A node whose objects are called by the request, without a receiver.
    pub(crate) fn callee_node(&mut self, request: RequestId) -> NodeId {
        if let Some(&node) = self.callee_nodes.get(&request) {
            return node;
        }
        let node = self.solver.node();
        self.callee_nodes.insert(request, node);
        self.on(
            node,
            Task::Callee {
                request,
                receiver: NO_NODE,
            },
        );
        node
    }
    /// The node to which a plain value for this sink goes.
    pub(crate) fn sink_node(&mut self, sink: Sink) -> NodeId {
        match sink {
            Sink::Value(node) => node,
            Sink::Call(request) | Sink::New(request) => self.callee_node(request),
        }
    }
    /// The site reasons arrive at through a sink; values carry them along.
    pub(crate) fn sink_reasons(&mut self, sink: Sink, reasons: ReasonSet) {
        match sink {
            Sink::Value(node) => self.add_reasons(node, reasons),
            Sink::Call(request) | Sink::New(request) => {
                self.call_unknown(request, NO_NODE, reasons);
            }
        }
    }
    /// What is called is not known: so are the result and what is raised, and the arguments escape.
    pub(crate) fn call_unknown(&mut self, request: RequestId, receiver: NodeId, reasons: ReasonSet) {
        if reasons.is_empty() {
            return;
        }
        let Request {
            site, result, raises, ..
        } = self.requests[request];
        self.note_reasons(site, reasons);
        self.add_reasons(result, reasons);
        self.add_reasons(raises, reasons);
        self.escape_arguments(request, receiver);
    }
    /// The instruction of a site.
    pub(crate) fn site_inst(&self, site: SiteId) -> hognose_ir::InstId {
        let act = &self.acts[self.site_acts[site]];
        self.templates[act.code].operation_insts[(site.raw() - act.sites.raw()) as usize]
    }
    /// Records why a site is not fully known.
    pub(crate) fn note_reasons(&mut self, site: SiteId, reasons: ReasonSet) {
        if !reasons.is_empty() {
            self.site_reasons.entry(site).or_default().insert_all(reasons);
        }
    }
    pub(crate) fn target(&mut self, site: SiteId, kind: CallKind, target: Target) {
        self.site_targets.push((site, kind, target));
    }
    /// The symbol of a name that the engine needs; every such name is interned when the program is linked.
    pub(crate) fn symbol(&self, name: &str) -> Symbol {
        self.program.symbols.get(name).unwrap_or(Symbol::new(0))
    }

    // ---- activations ---------------------------------------------------------------------------------------------------

    pub(crate) fn find_act(&self, code: CodeId, context: Option<SiteId>) -> Option<ActId> {
        self.act_of.get(&(code, context)).copied()
    }
    pub(crate) fn add_act(&mut self, act: Activation) -> ActId {
        let key = (act.code, act.context);
        if let Some(site) = act.context {
            *self.clones.entry(self.origin_of(site)).or_default() += 1;
        }
        self.reached[act.code] = true;
        let id = self.acts.push(act);
        self.act_of.insert(key, id);
        id
    }

    /// The context under which a call at `site` runs the code of a function object. Small library models are cloned per
    /// call site; small functions of the program where they are applied to a function or class literal (decorators,
    /// mostly), since one shared activation would mix up all that it is ever applied to. What such a clone defines runs
    /// under its context.
    pub(crate) fn context_for(&self, function: ObjId, code: CodeId, site: SiteId) -> Option<SiteId> {
        if !self.program.is_model(code) {
            if let Some(context) = self.defining_context(function) {
                return Some(context);
            }
            let act = &self.acts[self.site_acts[site]];
            let operation = site.raw() - act.sites.raw();
            if self.config.merge_definitions || self.templates[act.code].applications.binary_search(&operation).is_err()
            {
                return None;
            }
        }
        if !self.templates[code].is_small() {
            return None;
        }
        // A model that is already running up the chain is not cloned again: recursion stays bounded.
        let mut at = Some(site);
        let mut origin = site;
        let mut depth = 0;
        while let Some(site) = at {
            let act = &self.acts[self.site_acts[site]];
            if act.code == code || depth >= self.config.model_depth {
                return None;
            }
            depth += 1;
            origin = site;
            at = act.context;
        }
        if self.find_act(code, Some(site)).is_some() {
            return Some(site);
        }
        // Nor does one call of the program make clones without end: where it may call many models that may call many
        // models, their product is what would be cloned.
        let clones = self.clones.get(&origin).copied().unwrap_or(0);
        if clones >= self.config.max_clones || self.is_crowded(site) {
            return None;
        }
        Some(site)
    }

    /// Whether the operand that decides what a site calls may be so many things that what they are given is mixed up
    /// already: clones would keep apart what is the same everywhere.
    fn is_crowded(&self, site: SiteId) -> bool {
        let (one, other) = match *self.operation(site) {
            Operation::Call {
                callee: Callee::Attribute { base, .. },
                ..
            }
            | Operation::LoadItem { base, .. }
            | Operation::StoreItem { base, .. }
            | Operation::LoadAttribute { base, .. } => (base, NO_LOCAL),
            Operation::Call {
                callee: Callee::Value(callee),
                ..
            } => (callee, NO_LOCAL),
            Operation::Binary { left, right, .. } | Operation::Compare { left, right, .. } => (left, right),
            Operation::Iterate { iterable, .. } => (iterable, NO_LOCAL),
            Operation::Next { iterator, .. } => (iterator, NO_LOCAL),
            Operation::Truth { operand } | Operation::Format { operand, .. } => (operand, NO_LOCAL),
            _ => return false,
        };
        [one, other]
            .into_iter()
            .filter(|&local| local != NO_LOCAL)
            .any(|local| self.solver.set(self.site_node(site, local)).len() > self.config.crowd)
    }

    /// The site outside all clones that led to a site.
    pub(crate) fn origin_of(&self, mut site: SiteId) -> SiteId {
        while let Some(caller) = self.acts[self.site_acts[site]].context {
            site = caller;
        }
        site
    }

    /// The context of the activation that made a function object, if that is a clone of code of the program.
    pub(crate) fn defining_context(&self, function: ObjId) -> Option<SiteId> {
        let Object::Function(_, maker, _) = self.heap.get(function) else {
            return None;
        };
        let maker = &self.acts[maker];
        maker.context.filter(|_| !self.program.is_model(maker.code))
    }

    /// The instance of a class allocated at a site; scalars have one instance each.
    pub(crate) fn instance(&mut self, class: ObjId, site: SiteId) -> ObjId {
        if self.known.is_scalar(class) {
            return self.heap.object(Object::Instance(class, Allocation::Singleton));
        }
        self.heap.object(Object::Instance(class, Allocation::Site(site)))
    }
}
