//! The fixed point as others see it: points-to sets, call graph, heap accesses, coverage.

use crate::config::PtaConfig;
use crate::engine::{Activation, CallKind, Engine, Target};
use crate::heap::{Allocation, Field, Heap, Object};
use crate::ids::{ActId, CodeId, NodeId, ObjId, SiteId};
use crate::program::Program;
use crate::python::classes::{ClassInfo, ClassTable};
use crate::python::intrinsics::Intrinsic;
use crate::python::well_known::WellKnown;
use crate::set::PtsSet;
use crate::solver::{Solver, SolverStats};
use crate::template::{
    Callee, Local, NO_LOCAL, Operation, RAISED, RETURN, SENT, Template, TemplateOptions, YIELDED, build_template,
};
use hognose_base::{Coverage, Id, IndexVec, Outcome, ReasonSet, Symbol};
use hognose_ir::{InstId, StrongLoads, ValueId};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

mod accesses;
mod implied;

pub use accesses::Access;

/// How a function was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReachedBy {
    /// By a call of the program.
    Program,
    /// Only as an entry point.
    Entry,
    /// Not at all (the code that would make it is dead).
    Nothing,
}

/// A call site of the program and everything it can reach, models looked through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRecord {
    /// The code the site stands in.
    pub caller: CodeId,
    /// The instruction.
    pub inst: InstId,
    /// How the call comes about; several kinds at one instruction give several records.
    pub kind: CallKind,
    /// Functions of the program, sorted.
    pub targets: Vec<CodeId>,
    /// Functions that a library model called on behalf of this site, sorted (also in `targets`).
    pub via_models: Vec<CodeId>,
    /// Names of external and modelled callees, sorted.
    pub external: Vec<String>,
    /// Whether it makes an instance of a class of the program or runs a comprehension frame: known, though no function
    /// is its target.
    pub reaches_other_code: bool,
    /// Why the site is not fully known.
    pub unresolved: ReasonSet,
}

impl CallRecord {
    /// Whether anything at all is known of what the site reaches.
    #[must_use]
    pub const fn has_targets(&self) -> bool {
        !self.targets.is_empty() || !self.external.is_empty() || self.reaches_other_code
    }
}

/// The result of one run.
pub struct PointsTo {
    program: Arc<Program>,
    templates: IndexVec<CodeId, Template>,
    solver: Solver,
    heap: Heap,
    classes: ClassTable,
    known: WellKnown,
    acts: IndexVec<ActId, Activation>,
    site_acts: IndexVec<SiteId, ActId>,
    acts_of: IndexVec<CodeId, Vec<ActId>>,
    site_targets: Vec<(SiteId, CallKind, Target)>,
    site_reasons: FxHashMap<SiteId, ReasonSet>,
    /// Loads that do not only read what stores of their body left; `None` if no load does.
    slot_reads: Option<FxHashSet<(CodeId, InstId)>>,
    escaped: Vec<ObjId>,
    outcome: Outcome,
    rounds: u32,
}

impl std::fmt::Debug for PointsTo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PointsTo")
            .field("acts", &self.acts.len())
            .field("objects", &self.heap.len())
            .finish()
    }
}

/// Solves the program to its fixed point.
#[must_use]
pub fn analyze(program: &Arc<Program>, config: &PtaConfig) -> PointsTo {
    let options = TemplateOptions {
        merge_definitions: config.merge_definitions,
    };
    let codes: Vec<CodeId> = program.codes.ids().collect();
    let templates: Vec<Template> = codes
        .par_iter()
        .map(|&code| build_template(program, code, options))
        .collect();
    let templates = IndexVec::from_raw(templates);
    let mut engine = Engine::new(program, &templates, config);
    engine.run();
    let parts = engine.into_parts();
    let mut acts_of: IndexVec<CodeId, Vec<ActId>> = IndexVec::from_elem(Vec::new(), program.codes.len());
    for (id, act) in parts.acts.iter_enumerated() {
        acts_of[act.code].push(id);
    }
    PointsTo {
        program: Arc::clone(program),
        solver: parts.solver,
        heap: parts.heap,
        classes: parts.classes,
        known: parts.known,
        acts: parts.acts,
        site_acts: parts.site_acts,
        acts_of,
        site_targets: parts.site_targets,
        site_reasons: parts.site_reasons,
        slot_reads: (!config.merge_definitions).then_some(parts.slot_reads),
        escaped: parts.escaped,
        outcome: parts.outcome,
        rounds: parts.rounds,
        templates,
    }
}

impl PointsTo {
    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }
    /// The objects, fields and external values.
    #[must_use]
    pub const fn heap(&self) -> &Heap {
        &self.heap
    }
    /// The classes.
    #[must_use]
    pub const fn classes(&self) -> &ClassTable {
        &self.classes
    }
    /// The loads of a code object that read what stores of the same body left, and no slot.
    #[must_use]
    pub fn strong_loads(&self, code: CodeId) -> StrongLoads {
        let stores = &self.program.facts.stores;
        let sure = stores.sure_loads(&self.program, code);
        let Some(slot_reads) = &self.slot_reads else {
            return sure;
        };
        let mut checked = stores.checked_loads(&self.program, code);
        checked.retain(|load| !slot_reads.contains(&(code, load)));
        checked.union(&sure)
    }
    /// How the run ended.
    #[must_use]
    pub const fn outcome(&self) -> &Outcome {
        &self.outcome
    }
    /// Counters of the solver.
    #[must_use]
    pub const fn stats(&self) -> SolverStats {
        self.solver.stats
    }
    /// How often the propagation came to rest and questions of absence were answered.
    #[must_use]
    pub const fn rounds(&self) -> u32 {
        self.rounds
    }
    /// Number of constraint nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.solver.node_count()
    }
    /// Bytes of the solver's structures, roughly.
    #[must_use]
    pub fn bytes(&self) -> usize {
        usize::try_from(self.solver.stats.bytes).unwrap_or(usize::MAX)
    }
    /// All activations.
    #[must_use]
    pub const fn activations(&self) -> &IndexVec<ActId, Activation> {
        &self.acts
    }
    /// The activations of a code object.
    #[must_use]
    pub fn activations_of(&self, code: CodeId) -> &[ActId] {
        &self.acts_of[code]
    }
    /// How a code object was reached.
    #[must_use]
    pub fn reached_by(&self, code: CodeId) -> ReachedBy {
        let acts = &self.acts_of[code];
        if acts.is_empty() {
            ReachedBy::Nothing
        } else if acts.iter().all(|&act| self.acts[act].entry) {
            ReachedBy::Entry
        } else {
            ReachedBy::Program
        }
    }

    fn node(&self, act: ActId, local: Local) -> Option<NodeId> {
        (local != NO_LOCAL).then(|| NodeId::new(self.acts[act].base.raw() + local))
    }
    /// The objects an SSA value of a code object may be, over all its activations, and why that may not be all.
    #[must_use]
    pub fn value(&self, code: CodeId, value: ValueId) -> (Vec<ObjId>, ReasonSet) {
        let local = self.templates[code]
            .value_locals
            .get(value.index())
            .copied()
            .unwrap_or(NO_LOCAL);
        self.local_value(code, local)
    }
    /// Whether anything is known of what an SSA value may be, and why that may not be all.
    #[must_use]
    pub fn value_reasons(&self, code: CodeId, value: ValueId) -> (bool, ReasonSet) {
        let (mut some, mut reasons) = (false, ReasonSet::EMPTY);
        for node in self.value_nodes(code, value) {
            some |= !self.solver.set(node).is_empty();
            reasons.insert_all(self.solver.reasons(node));
        }
        (some, reasons)
    }
    /// Calls `each` for the objects that an SSA value may be; for an object of several activations more than once.
    pub fn for_each_object(&self, code: CodeId, value: ValueId, mut each: impl FnMut(ObjId)) {
        for node in self.value_nodes(code, value) {
            self.solver.set(node).for_each(&mut each);
        }
    }
    fn value_nodes(&self, code: CodeId, value: ValueId) -> impl Iterator<Item = NodeId> + '_ {
        let local = self.templates[code]
            .value_locals
            .get(value.index())
            .copied()
            .unwrap_or(NO_LOCAL);
        self.acts_of[code].iter().filter_map(move |&act| self.node(act, local))
    }
    /// The objects of a parameter.
    #[must_use]
    pub fn parameter(&self, code: CodeId, index: usize) -> (Vec<ObjId>, ReasonSet) {
        let local = self.templates[code].parameters.get(index).copied().unwrap_or(NO_LOCAL);
        self.local_value(code, local)
    }
    /// What a code object returns.
    #[must_use]
    pub fn returned(&self, code: CodeId) -> (Vec<ObjId>, ReasonSet) {
        self.local_value(code, RETURN)
    }
    /// The exceptions that leave a code object.
    #[must_use]
    pub fn raised(&self, code: CodeId) -> (Vec<ObjId>, ReasonSet) {
        self.local_value(code, RAISED)
    }
    /// What a generator yields.
    #[must_use]
    pub fn yielded(&self, code: CodeId) -> (Vec<ObjId>, ReasonSet) {
        self.local_value(code, YIELDED)
    }
    /// What is sent into a generator.
    #[must_use]
    pub fn sent(&self, code: CodeId) -> (Vec<ObjId>, ReasonSet) {
        self.local_value(code, SENT)
    }

    fn local_value(&self, code: CodeId, local: Local) -> (Vec<ObjId>, ReasonSet) {
        let mut objects = Vec::new();
        let mut reasons = ReasonSet::EMPTY;
        for &act in &self.acts_of[code] {
            if let Some(node) = self.node(act, local) {
                self.solver.set(node).for_each(|object| objects.push(object));
                reasons.insert_all(self.solver.reasons(node));
            }
        }
        if self.acts_of[code].len() > 1 {
            objects.sort_unstable();
            objects.dedup();
        }
        (objects, reasons)
    }
    /// Calls `each` for the objects an SSA value of a code object may be, once for each activation that has them.
    pub fn each_object(&self, code: CodeId, value: ValueId, mut each: impl FnMut(ObjId)) {
        let locals = &self.templates[code].value_locals;
        let local = locals.get(value.index()).copied().unwrap_or(NO_LOCAL);
        for &act in &self.acts_of[code] {
            if let Some(node) = self.node(act, local) {
                self.solver.set(node).for_each(&mut each);
            }
        }
    }

    /// The objects of a field.
    #[must_use]
    pub fn field(&self, object: ObjId, field: Field) -> (Vec<ObjId>, ReasonSet) {
        match self.heap.slot(object, field) {
            Some(node) => (self.solver.set(node).to_vec(), self.solver.reasons(node)),
            None => (Vec::new(), ReasonSet::EMPTY),
        }
    }
    /// All non-empty fields, sorted by object and field.
    #[must_use]
    pub fn fields(&self) -> Vec<(ObjId, Field, &PtsSet, ReasonSet)> {
        self.heap
            .sorted_slots()
            .into_iter()
            .map(|(object, field, node)| (object, field, self.solver.set(node), self.solver.reasons(node)))
            .filter(|(_, _, set, reasons)| !set.is_empty() || !reasons.is_empty())
            .collect()
    }
    /// The objects that were handed to code which is not known, sorted.
    #[must_use]
    pub fn escaped(&self) -> &[ObjId] {
        &self.escaped
    }
    /// What an object is.
    #[must_use]
    pub fn object(&self, object: ObjId) -> Object {
        self.heap.get(object)
    }
    /// The attribute names and keys as text.
    #[must_use]
    pub fn symbol(&self, symbol: Symbol) -> &str {
        self.program.text(symbol)
    }

    // ---- call graph -------------------------------------------------------------------------------------------------------

    /// The call site in the program on whose behalf a site of a cloned model acts; itself outside models.
    #[must_use]
    pub fn origin(&self, mut site: SiteId) -> SiteId {
        loop {
            let act = &self.acts[self.site_acts[site]];
            match act.context {
                Some(outer) if self.program.is_model(act.code) => site = outer,
                _ => return site,
            }
        }
    }
    /// Code and instruction of a site.
    #[must_use]
    pub fn site_place(&self, site: SiteId) -> (CodeId, InstId) {
        let act = &self.acts[self.site_acts[site]];
        let index = (site.raw() - act.sites.raw()) as usize;
        (act.code, self.templates[act.code].operation_insts[index])
    }
    fn operation(&self, site: SiteId) -> &Operation {
        let act = &self.acts[self.site_acts[site]];
        &self.templates[act.code].operations[(site.raw() - act.sites.raw()) as usize]
    }

    /// Every call site of the program with what it reaches, sorted by caller, instruction and kind.
    #[must_use]
    pub fn calls(&self) -> Vec<CallRecord> {
        let mut facts: Vec<CallFact> = Vec::with_capacity(self.site_targets.len());
        let through = self.shared_model_targets();
        for &(site, kind, target) in &self.site_targets {
            let origin = self.origin(site);
            let (caller, inst) = self.site_place(origin);
            if self.program.is_model(caller) {
                continue;
            }
            let inside_model = origin != site;
            let kind = if inside_model { self.origin_kind(origin) } else { kind };
            let mut add = |target, via_model| {
                let what = CallFactKind::Target(target, via_model);
                facts.push(CallFact {
                    caller,
                    inst,
                    kind,
                    what,
                });
            };
            add(target, inside_model);
            if let Target::Function(act) = target
                && let Some(more) = through.get(&act)
            {
                more.iter().for_each(|&target| add(target, true));
            }
        }
        self.add_unresolved(&mut facts);
        let facts = sorted_by_code(self.program.codes.len(), &facts, |fact| fact.caller);
        facts
            .chunk_by(|one, other| (one.caller, one.inst, one.kind) == (other.caller, other.inst, other.kind))
            .map(|facts| self.call_record(facts))
            .filter(|record| {
                !record.targets.is_empty()
                    || !record.external.is_empty()
                    || !record.unresolved.is_empty()
                    || record.kind == CallKind::Call
            })
            .collect()
    }

    /// The record of one call site from the facts about it.
    fn call_record(&self, facts: &[CallFact]) -> CallRecord {
        let mut record = empty_record(facts[0].caller, facts[0].inst, facts[0].kind);
        for fact in facts {
            match fact.what {
                CallFactKind::Target(target, via_model) => self.add_target(&mut record, target, via_model),
                CallFactKind::Unresolved(reasons) => {
                    record.unresolved.insert_all(reasons);
                }
                CallFactKind::Site => {}
            }
        }
        record.targets.sort_unstable();
        record.targets.dedup();
        record.via_models.sort_unstable();
        record.via_models.dedup();
        record.external.sort_unstable();
        record.external.dedup();
        record
    }

    fn origin_kind(&self, origin: SiteId) -> CallKind {
        match *self.operation(origin) {
            Operation::Call {
                callee: Callee::Attribute {
                    name, special: true, ..
                },
                ..
            } => CallKind::Protocol(name),
            Operation::LoadAttribute { .. } | Operation::StoreAttribute { .. } | Operation::DeleteAttribute { .. } => {
                CallKind::Descriptor
            }
            _ => CallKind::Call,
        }
    }

    fn add_target(&self, record: &mut CallRecord, target: Target, via_model: bool) {
        match target {
            Target::Function(act) => {
                let code = self.acts[act].code;
                if self.program.is_model(code) {
                    if !via_model {
                        record.external.push(self.model_name(code));
                    }
                } else if self.program.codes[code].is_function() {
                    record.targets.push(code);
                    if via_model {
                        record.via_models.push(code);
                    }
                } else {
                    record.reaches_other_code = true;
                }
            }
            Target::External(chain) => {
                if !via_model {
                    record.external.push(self.chain_text(chain));
                }
            }
            Target::Class(class) => {
                if !self.is_model_class(class) {
                    record.reaches_other_code = true;
                } else if !via_model {
                    record.external.push(self.class_name(class));
                }
            }
            Target::Builtin(object) => {
                if let (Object::Intrinsic(intrinsic), false) = (self.heap.get(object), via_model)
                    && record.kind == CallKind::Call
                {
                    record.external.push(intrinsic_name(intrinsic));
                }
            }
        }
    }

    /// What each shared (not cloned) model activation reaches, transitively through models.
    fn shared_model_targets(&self) -> FxHashMap<ActId, BTreeSet<Target>> {
        let mut direct: BTreeMap<ActId, BTreeSet<Target>> = BTreeMap::new();
        for &(site, _, target) in &self.site_targets {
            let act = self.site_acts[self.origin(site)];
            if self.program.is_model(self.acts[act].code) {
                direct.entry(act).or_default().insert(target);
            }
        }
        let mut closed: FxHashMap<ActId, BTreeSet<Target>> = FxHashMap::default();
        for &start in direct.keys() {
            let mut found = BTreeSet::new();
            let mut seen = BTreeSet::from([start]);
            let mut stack = vec![start];
            while let Some(act) = stack.pop() {
                for &target in direct.get(&act).into_iter().flatten() {
                    match target {
                        Target::Function(inner)
                            if self.program.is_model(self.acts[inner].code) && seen.insert(inner) =>
                        {
                            stack.push(inner);
                        }
                        Target::Function(_) => {
                            found.insert(target);
                        }
                        _ => {}
                    }
                }
            }
            closed.insert(start, found);
        }
        closed
    }

    fn add_unresolved(&self, facts: &mut Vec<CallFact>) {
        // The order of the map is not seen: the facts are sorted.
        #[allow(clippy::iter_over_hash_type)]
        for (&site, &reasons) in &self.site_reasons {
            let site = self.origin(site);
            let (caller, inst) = self.site_place(site);
            if !self.program.is_model(caller) {
                facts.push(CallFact {
                    caller,
                    inst,
                    kind: self.origin_kind(site),
                    what: CallFactKind::Unresolved(reasons),
                });
            }
        }
        // Call expressions that nothing reached are sites too: silent ones.
        for (caller, acts) in self.acts_of.iter_enumerated() {
            if acts.is_empty() || self.program.is_model(caller) {
                continue;
            }
            let template = &self.templates[caller];
            for (operation, &inst) in template.operations.iter().zip(&template.operation_insts) {
                if let Operation::Call { callee, .. } = operation {
                    let kind = match callee {
                        Callee::Attribute {
                            name, special: true, ..
                        } => CallKind::Protocol(*name),
                        _ => CallKind::Call,
                    };
                    facts.push(CallFact {
                        caller,
                        inst,
                        kind,
                        what: CallFactKind::Site,
                    });
                }
            }
        }
    }

    /// Coverage of the call graph over the sites of some code objects.
    #[must_use]
    pub fn coverage(&self, calls: &[CallRecord]) -> Coverage {
        let mut coverage = Coverage::default();
        for call in calls {
            coverage.add_site(call.has_targets(), call.unresolved);
        }
        for (code, info) in self.program.codes.iter_enumerated() {
            if !self.program.is_model(code) && info.is_function() {
                coverage.functions_total += 1;
                coverage.functions_analysed += u64::from(!self.acts_of[code].is_empty());
            }
        }
        coverage
    }

    // ---- names ----------------------------------------------------------------------------------------------------------------

    /// The dotted text of an external value.
    #[must_use]
    pub fn chain_text(&self, chain: crate::ids::ChainId) -> String {
        self.heap
            .chain_text(chain, &|symbol| self.program.text(symbol).to_owned())
    }
    fn model_name(&self, code: CodeId) -> String {
        self.program.qualname(code).to_owned()
    }
    /// Whether a class object comes from a library model.
    #[must_use]
    pub fn is_model_class(&self, class: ObjId) -> bool {
        matches!(self.heap.get(class), Object::Class(code, _) if self.program.is_model(code))
    }
    /// The dotted name of a class object.
    #[must_use]
    pub fn class_name(&self, class: ObjId) -> String {
        match self.heap.get(class) {
            Object::Class(code, _) => self.program.qualname(code).to_owned(),
            Object::DynamicClass(_) => "<class>".to_owned(),
            Object::External(chain) => self.chain_text(chain),
            _ => "?".to_owned(),
        }
    }
    /// The class of an instance-like object.
    #[must_use]
    pub fn class_of(&self, object: ObjId) -> Option<ObjId> {
        match self.heap.get(object) {
            Object::Instance(class, _) => Some(class),
            Object::Str(_) => Some(self.known.str),
            Object::Int(_) => Some(self.known.int),
            _ => None,
        }
    }
    /// Whether a class object is known, and what is known of it.
    #[must_use]
    pub fn class_info(&self, class: ObjId) -> Option<&ClassInfo> {
        self.classes.get(class)
    }
    /// Where an object is allocated: code and instruction, models looked through.
    #[must_use]
    pub fn allocation_place(&self, object: ObjId) -> Option<(CodeId, InstId)> {
        match self.heap.get(object) {
            Object::Instance(_, Allocation::Site(site)) => Some(self.site_place(self.origin(site))),
            Object::Instance(_, Allocation::Inst(act, inst, _)) | Object::Function(_, act, inst) => {
                match self.acts[act]
                    .context
                    .filter(|_| self.program.is_model(self.acts[act].code))
                {
                    Some(site) => Some(self.site_place(self.origin(site))),
                    None => Some((self.acts[act].code, inst)),
                }
            }
            Object::Instance(_, Allocation::Slice(base)) => self.allocation_place(base),
            _ => None,
        }
    }
}

/// One thing that is known of a call site.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CallFact {
    caller: CodeId,
    inst: InstId,
    kind: CallKind,
    what: CallFactKind,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CallFactKind {
    /// That it exists.
    Site,
    /// A target, and whether a model calls it on behalf of the site.
    Target(Target, bool),
    /// Why it is not fully known.
    Unresolved(ReasonSet),
}

/// Rows sorted, by their code first, and without repetition: counting by code leaves small parts to sort.
fn sorted_by_code<T: Copy + Ord>(codes: usize, rows: &[T], code: impl Fn(&T) -> CodeId) -> Vec<T> {
    let mut starts = vec![0_usize; codes + 1];
    for row in rows {
        starts[code(row).index() + 1] += 1;
    }
    for at in 0..codes {
        starts[at + 1] += starts[at];
    }
    let mut sorted = rows.to_vec();
    let mut next = starts.clone();
    for &row in rows {
        let place = &mut next[code(&row).index()];
        sorted[*place] = row;
        *place += 1;
    }
    for part in starts.windows(2) {
        sorted[part[0]..part[1]].sort_unstable();
    }
    sorted.dedup();
    sorted
}

fn empty_record(caller: CodeId, inst: InstId, kind: CallKind) -> CallRecord {
    CallRecord {
        caller,
        inst,
        kind,
        targets: Vec::new(),
        via_models: Vec::new(),
        external: Vec::new(),
        reaches_other_code: false,
        unresolved: ReasonSet::EMPTY,
    }
}

fn intrinsic_name(intrinsic: Intrinsic) -> String {
    let name = match intrinsic {
        Intrinsic::LengthOf => "len",
        Intrinsic::ReprOf => "repr",
        Intrinsic::TextOf => "str",
        Intrinsic::FormatOf => "format",
        Intrinsic::HashOf => "hash",
        Intrinsic::ImportName => "__import__",
        other => other.name(),
    };
    format!("builtins.{name}")
}

/// What remains of the engine when it is done.
pub(crate) struct Parts {
    pub(crate) solver: Solver,
    pub(crate) heap: Heap,
    pub(crate) classes: ClassTable,
    pub(crate) known: WellKnown,
    pub(crate) acts: IndexVec<ActId, Activation>,
    pub(crate) site_acts: IndexVec<SiteId, ActId>,
    pub(crate) site_targets: Vec<(SiteId, CallKind, Target)>,
    pub(crate) site_reasons: FxHashMap<SiteId, ReasonSet>,
    pub(crate) slot_reads: FxHashSet<(CodeId, InstId)>,
    pub(crate) escaped: Vec<ObjId>,
    pub(crate) outcome: Outcome,
    pub(crate) rounds: u32,
}
