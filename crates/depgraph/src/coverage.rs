//! How much of what loads read is known.
//!
//! ```python
//! def fill(box, item):
//!     box.item = item       # `box` is not known here: the store may be to any box that got out
//! shared = Box()            # a module's name: any importer may hand it to `fill`
//! shared.item = 1
//! print(shared.item)        # reads the store above, and may read that of `fill`: reason `unknown-base`
//! ```
//! A *load* reads a name of a module or class, a cell, an attribute or an element; fast locals are read off SSA and are not
//! counted. Its *definitions* are what the data-dependence graph connects it with. It has *reasons* where there may be others:
//! - its base is not known, with the reasons of the base, or is a value of external code;
//! - no holder of the attribute, or nothing that binds the name, is known;
//! - the field is stored through a base that is not known, and the object may be that base. A base that comes from outside the
//!   program is some object that *escaped* to the outside; one that is unknown for another reason may be any object.
//!
//! What a value *is* plays no part: `x = external()` is the one, exactly known definition of the `x` that is read behind it.
//!
//! **Escaped** are the modules, what the points-to analysis saw handed to unknown code, what unknown callers pass to entry points,
//! and what can be reached from these: through fields, classes and their bases, bound methods, and calls of functions.

use crate::ddg::{DataKind, Ddg};
use fixedbitset::FixedBitSet;
use hognose_base::{Coverage, Id, IndexVec, ReasonSet, Symbol, UnresolvedKind};
use hognose_ir::{Body, InstId, Op, ValueId};
use hognose_pta::{Base, CallRecord, CodeId, Field, ObjId, Object, PointsTo, Program, ReachedBy};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Reasons of values that come from outside the program: such a value is no object, or one that escaped.
const OUTSIDE: [UnresolvedKind; 5] = [
    UnresolvedKind::External,
    UnresolvedKind::EntryParameter,
    UnresolvedKind::NativeExtension,
    UnresolvedKind::GeneratedCode,
    UnresolvedKind::ComputedImport,
];

/// Reasons of a site that say that what it reads was not found.
const NOT_FOUND: [UnresolvedKind; 3] = [
    UnresolvedKind::MissingAttribute,
    UnresolvedKind::DynamicAttribute,
    UnresolvedKind::UnboundName,
];

fn set_of(kinds: &[UnresolvedKind]) -> ReasonSet {
    let mut set = ReasonSet::EMPTY;
    for &kind in kinds {
        set.insert_all(ReasonSet::of(kind));
    }
    set
}

/// Loads of a code object by how much is known of their definitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadCounts {
    /// All definitions are known.
    pub exact: u32,
    /// Some are, and there may be others.
    pub open: u32,
    /// None is known, for a reason.
    pub unresolved: u32,
    /// None is known and there is no reason: nothing is ever stored there.
    pub silent: u32,
}

/// How much is known of the definitions of all loads of a program.
#[derive(Debug)]
pub struct DataCoverage {
    total: Coverage,
    counts: IndexVec<CodeId, LoadCounts>,
    /// Loads with reasons, in order.
    reasons: Vec<(InstId, ReasonSet)>,
    /// Where those of each code object start, and the end.
    starts: IndexVec<CodeId, u32>,
}

impl DataCoverage {
    /// Looks at every load of the program; `calls` are those of the points-to result.
    #[must_use]
    pub fn of(pta: &PointsTo, calls: &[CallRecord], ddg: &Ddg) -> Self {
        let program = pta.program();
        let codes: Vec<CodeId> = program.codes.ids().collect();
        let unknown = UnknownStores::of(pta, &codes);
        let loads = Loads {
            pta,
            program,
            calls,
            ddg,
            incoming: Incoming::of(ddg),
            escaped: if unknown.is_empty() {
                Escaped::default()
            } else {
                Escaped::of(pta)
            },
            unknown,
        };
        let found: Vec<(LoadCounts, Vec<(InstId, ReasonSet)>)> =
            codes.par_iter().map(|&code| loads.of_code(code)).collect();
        let mut coverage = Self {
            total: Coverage::default(),
            counts: IndexVec::with_capacity(codes.len()),
            reasons: Vec::new(),
            starts: IndexVec::from_raw(vec![0]),
        };
        for (code, (counts, reasons)) in codes.into_iter().zip(found) {
            coverage.add(pta, code, counts, &reasons);
        }
        coverage
    }

    fn add(&mut self, pta: &PointsTo, code: CodeId, counts: LoadCounts, reasons: &[(InstId, ReasonSet)]) {
        let program = pta.program();
        if !program.is_model(code) && program.codes[code].is_function() {
            self.total.functions_total += 1;
            self.total.functions_analysed += u64::from(!pta.activations_of(code).is_empty());
        }
        self.total.resolved += u64::from(counts.exact);
        self.total.open += u64::from(counts.open);
        self.total.unresolved += u64::from(counts.unresolved);
        self.total.silent += u64::from(counts.silent);
        for &(inst, set) in reasons {
            for kind in set.iter() {
                *self.total.by_kind.entry(kind).or_insert(0) += 1;
            }
            self.reasons.push((inst, set));
        }
        self.starts.push(u32::try_from(self.reasons.len()).unwrap_or(u32::MAX));
        self.counts.push(counts);
    }

    /// All loads together.
    #[must_use]
    pub const fn total(&self) -> &Coverage {
        &self.total
    }
    /// The loads of one code object.
    #[must_use]
    pub fn of_code(&self, code: CodeId) -> LoadCounts {
        self.counts.get(code).copied().unwrap_or_default()
    }
    /// Why a load may read what the graph does not connect it with; empty for other instructions.
    #[must_use]
    pub fn reasons(&self, code: CodeId, inst: InstId) -> ReasonSet {
        let at = code.index();
        let (Some(&start), Some(&end)) = (self.starts.as_slice().get(at), self.starts.as_slice().get(at + 1)) else {
            return ReasonSet::EMPTY;
        };
        let here = &self.reasons[start as usize..end as usize];
        let found = here.binary_search_by_key(&inst, |&(inst, _)| inst);
        found.map_or(ReasonSet::EMPTY, |at| here[at].1)
    }
}

/// Which objects a store through an unknown base may be to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// None: there is no such store.
    #[default]
    Nothing,
    /// Those that escaped.
    Escaped,
    /// Any.
    Everything,
}

impl Reach {
    /// Of a base with these reasons.
    fn of(reasons: ReasonSet) -> Self {
        if reasons.is_empty() {
            Self::Nothing
        } else if reasons.minus(set_of(&OUTSIDE)).is_empty() {
            Self::Escaped
        } else {
            Self::Everything
        }
    }
}

/// The stores through bases that are not known, by what they store.
#[derive(Debug, Default)]
struct UnknownStores {
    attributes: FxHashMap<Symbol, Reach>,
    any_attribute: Reach,
    keys: FxHashMap<Field, Reach>,
    any_key: Reach,
    /// Of all elements.
    elements: Reach,
}

/// What a store stores to.
#[derive(Clone, Copy)]
enum Stored {
    Attribute(Option<Symbol>),
    Element(Option<Field>),
}

impl UnknownStores {
    fn of(pta: &PointsTo, codes: &[CodeId]) -> Self {
        let found: Vec<Vec<(Stored, Reach)>> = codes.par_iter().map(|&code| unknown_stores(pta, code)).collect();
        let mut stores = Self::default();
        for (stored, reach) in found.into_iter().flatten() {
            stores.add(stored, reach);
        }
        stores
    }
    fn add(&mut self, stored: Stored, reach: Reach) {
        let entry = match stored {
            Stored::Attribute(Some(name)) => self.attributes.entry(name).or_default(),
            Stored::Attribute(None) => &mut self.any_attribute,
            Stored::Element(key) => {
                self.elements = self.elements.max(reach);
                match key {
                    Some(key) => self.keys.entry(key).or_default(),
                    None => &mut self.any_key,
                }
            }
        };
        *entry = (*entry).max(reach);
    }
    fn is_empty(&self) -> bool {
        self.attributes.is_empty() && self.any_attribute == Reach::Nothing && self.elements == Reach::Nothing
    }
    fn attribute(&self, name: Symbol) -> Reach {
        let named = self.attributes.get(&name).copied().unwrap_or_default();
        named.max(self.any_attribute)
    }
    /// Of the elements under a constant key, or of all.
    fn element(&self, key: Option<Field>) -> Reach {
        match key {
            None => self.elements,
            Some(key) => self.keys.get(&key).copied().unwrap_or_default().max(self.any_key),
        }
    }
}

fn unknown_stores(pta: &PointsTo, code: CodeId) -> Vec<(Stored, Reach)> {
    let program = pta.program();
    let mut found = Vec::new();
    if program.is_model(code) {
        return found;
    }
    let body = program.body(code);
    let names = &program.modules[program.codes[code].module].names;
    for (inst, one) in body.insts.iter_enumerated() {
        let (base, stored) = match (one.op, body.ssa.inputs(inst)) {
            (Op::StoreAttr(name), &[_, base]) => (base, Stored::Attribute(Some(names[name.index()]))),
            (Op::StoreItem, &[_, base, key]) => (base, Stored::Element(constant_key(program, code, key))),
            (Op::StoreSlice, &[_, base, ..]) => (base, Stored::Element(None)),
            (Op::Call { .. }, &[callee, _, base, name, _]) if is_setattr(program, code, callee) => {
                let name = constant_key(program, code, name).and_then(Field::as_str_key);
                (base, Stored::Attribute(name))
            }
            _ => continue,
        };
        let reach = Reach::of(pta.value_reasons(code, base).1);
        if reach != Reach::Nothing && !body.cfg.blocks[body.cfg.block_of[inst]].unreachable {
            found.push((stored, reach));
        }
    }
    found
}

/// The builtin `setattr`, by its name.
fn is_setattr(program: &Program, code: CodeId, callee: ValueId) -> bool {
    match program.body(code).made_by(callee) {
        Some((_, Op::LoadName(name) | Op::LoadGlobal(name))) => {
            &*program.modules[program.codes[code].module].ir.names[name] == "setattr"
        }
        _ => false,
    }
}

/// The field of a constant key that has a slot of its own.
fn constant_key(program: &Program, code: CodeId, key: ValueId) -> Option<Field> {
    program.item_key(code, key).and_then(Field::of_key)
}

/// The objects that code outside the program may get hold of.
#[derive(Debug, Default)]
struct Escaped {
    members: FixedBitSet,
    /// A set on the way was cut at a limit: what it lacks may be anything.
    all: bool,
}

impl Escaped {
    fn has(&self, object: ObjId) -> bool {
        self.all || self.members.contains(object.index())
    }

    fn of(pta: &PointsTo) -> Self {
        let mut search = Search {
            pta,
            found: Self {
                members: FixedBitSet::with_capacity(pta.heap().len()),
                all: false,
            },
            called: FixedBitSet::with_capacity(pta.program().codes.len()),
            stack: Vec::new(),
        };
        search.roots();
        if search.found.all {
            return search.found;
        }
        let fields = pta.fields();
        while let Some(object) = search.stack.pop() {
            if search.found.all {
                break;
            }
            search.leads_to(object);
            let start = fields.partition_point(|&(other, ..)| other < object);
            for &(_, _, set, reasons) in fields[start..].iter().take_while(|&&(other, ..)| other == object) {
                search.found.all |= reasons.contains(UnresolvedKind::Budget);
                set.for_each(|object| search.add(object));
            }
        }
        search.found
    }
}

struct Search<'a> {
    pta: &'a PointsTo,
    found: Escaped,
    called: FixedBitSet,
    stack: Vec<ObjId>,
}

impl Search<'_> {
    fn add(&mut self, object: ObjId) {
        if !self.found.members.put(object.index()) {
            self.stack.push(object);
        }
    }
    fn add_all(&mut self, (objects, reasons): (Vec<ObjId>, ReasonSet)) {
        self.found.all |= reasons.contains(UnresolvedKind::Budget);
        objects.into_iter().for_each(|object| self.add(object));
    }

    fn roots(&mut self) {
        let program = self.pta.program();
        for module in program.modules.ids() {
            if let Some(object) = self.pta.heap().find(&Object::Module(module)) {
                self.add(object);
            }
        }
        self.pta.escaped().iter().for_each(|&object| self.add(object));
        for code in program.codes.ids().filter(|&code| !program.is_model(code)) {
            if self.pta.reached_by(code) == ReachedBy::Entry {
                for index in 0..program.codes[code].signature.parameters.len() {
                    self.add_all(self.pta.parameter(code, index));
                }
                self.call(code);
            }
        }
    }

    /// Code outside the program may call this, and gets what comes out. A library function gives out what it was given, or
    /// what is kept in fields; what it gives to the program says nothing about that.
    fn call(&mut self, code: CodeId) {
        if !self.pta.program().is_model(code) && !self.called.put(code.index()) {
            self.add_all(self.pta.returned(code));
            self.add_all(self.pta.raised(code));
            self.add_all(self.pta.yielded(code));
        }
    }

    /// What an object leads to, apart from its fields.
    fn leads_to(&mut self, object: ObjId) {
        match self.pta.object(object) {
            Object::Function(code, ..) => self.call(code),
            Object::Instance(class, _) => self.add(class),
            Object::Class(..) | Object::DynamicClass(_) => {
                let orders = self.pta.class_info(object).map_or(&[][..], |info| &info.orders);
                for base in orders.iter().flatten() {
                    if let Base::Class(base) = *base {
                        self.add(base);
                    }
                }
            }
            Object::Bound(first, second) | Object::Super(first, second) => {
                self.add(first);
                self.add(second);
            }
            Object::Iterator(inner) | Object::AsyncNext(inner) => self.add(inner),
            Object::Generator(act) => self.call(self.pta.activations()[act].code),
            Object::Module(_)
            | Object::Str(_)
            | Object::Int(_)
            | Object::Cell(..)
            | Object::External(_)
            | Object::Intrinsic(_) => {}
        }
    }
}

struct Loads<'a> {
    pta: &'a PointsTo,
    program: &'a Program,
    calls: &'a [CallRecord],
    ddg: &'a Ddg,
    incoming: Incoming,
    unknown: UnknownStores,
    escaped: Escaped,
}

/// What comes in at the instructions, by node: a bit each is much less than the graph turned round.
struct Incoming {
    /// An edge from the very store: a load that certainly reads it, and nothing else.
    strong: FixedBitSet,
    /// An edge of a kind that [`defines`].
    defined: FixedBitSet,
    /// An edge from a name of a module or class.
    global: FixedBitSet,
}

impl Incoming {
    fn of(ddg: &Ddg) -> Self {
        let none = || FixedBitSet::with_capacity(ddg.node_count());
        let (mut strong, mut defined, mut global) = (none(), none(), none());
        for (from, to, kind) in ddg.edges() {
            if kind == DataKind::FieldStore && ddg.is_of_code(from) {
                strong.insert(to.index());
            }
            if kind == DataKind::GlobalLoad {
                global.insert(to.index());
            }
            if defines(kind) {
                defined.insert(to.index());
            }
        }
        Self {
            strong,
            defined,
            global,
        }
    }
}

impl Loads<'_> {
    fn of_code(&self, code: CodeId) -> (LoadCounts, Vec<(InstId, ReasonSet)>) {
        let mut counts = LoadCounts::default();
        let mut open = Vec::new();
        if self.program.is_model(code) || self.pta.activations_of(code).is_empty() {
            return (counts, open);
        }
        let body = self.program.body(code);
        let sites = Sites::of(self.calls, code, body);
        for (inst, one) in body.insts.iter_enumerated() {
            if !is_load(one.op) || body.cfg.blocks[body.cfg.block_of[inst]].unreachable {
                continue;
            }
            let (known, reasons) = self.load(code, inst, one.op, &sites);
            match (known, reasons.is_empty()) {
                (true, true) => counts.exact += 1,
                (true, false) => counts.open += 1,
                (false, false) => counts.unresolved += 1,
                (false, true) => counts.silent += 1,
            }
            if !reasons.is_empty() {
                open.push((inst, reasons));
            }
        }
        (counts, open)
    }

    /// Whether a definition of a load is known, and why there may be others.
    fn load(&self, code: CodeId, inst: InstId, op: Op, sites: &Sites<'_>) -> (bool, ReasonSet) {
        let body = self.program.body(code);
        let node = self.ddg.node_of(code, inst).map_or(usize::MAX, Id::index);
        if self.incoming.strong.contains(node) {
            return (true, ReasonSet::EMPTY);
        }
        let mut known = self.incoming.defined.contains(node);
        let (called, not_found) = sites.at(inst);
        let mut reasons = not_found;
        if !known {
            // No instruction of the program stored it: it is a library's, unless it is nothing.
            let mut external = false;
            for value in body.ssa.outputs(inst) {
                let (some, why) = self.pta.value_reasons(code, value);
                known |= some;
                reasons.insert_all(why);
                external |= some && self.any_object(code, value, |object| self.is_external(object));
            }
            known |= called;
            if external {
                reasons.insert_all(ReasonSet::of(UnresolvedKind::External));
            }
        }
        if self.stored_unseen(code, inst, op, self.incoming.global.contains(node)) {
            reasons.insert_all(ReasonSet::of(UnresolvedKind::UnknownBase));
        }
        if let Some(base) = base_of(op, body.ssa.inputs(inst)) {
            reasons.insert_all(self.pta.value_reasons(code, base).1);
            if self.any_object(code, base, |object| self.is_external(object)) {
                reasons.insert_all(ReasonSet::of(UnresolvedKind::External));
            }
        }
        (known, reasons)
    }

    fn is_external(&self, object: ObjId) -> bool {
        matches!(self.pta.object(object), Object::External(_))
    }
    fn any_object(&self, code: CodeId, value: ValueId, wanted: impl Fn(ObjId) -> bool) -> bool {
        let mut found = false;
        self.pta
            .for_each_object(code, value, |object| found = found || wanted(object));
        found
    }

    /// Whether a store through an unknown base may be to what this load reads.
    fn stored_unseen(&self, code: CodeId, inst: InstId, op: Op, global: bool) -> bool {
        let body = self.program.body(code);
        let names = &self.program.modules[self.program.codes[code].module].names;
        let inputs = body.ssa.inputs(inst);
        match op {
            // Modules always escape.
            Op::LoadName(name) | Op::LoadGlobal(name) => {
                global && self.unknown.attribute(names[name.index()]) != Reach::Nothing
            }
            Op::LoadAttr(name)
            | Op::LoadMethod(name)
            | Op::LoadSuperAttr { name, .. }
            | Op::LoadSuperMethod { name, .. }
            | Op::ImportFrom(name) => {
                let name = names[name.index()];
                self.may_be_base(code, base_of(op, inputs), self.unknown.attribute(name), |object| {
                    self.holder_escaped(object, name)
                })
            }
            Op::LoadItem | Op::ForIter { .. } | Op::UnpackSequence(_) => {
                let key = match (op, inputs) {
                    (Op::LoadItem, &[_, key]) => constant_key(self.program, code, key),
                    _ => None,
                };
                self.may_be_base(code, base_of(op, inputs), self.unknown.element(key), |object| {
                    self.escaped.has(match self.pta.object(object) {
                        Object::Iterator(container) => container,
                        _ => object,
                    })
                })
            }
            _ => false,
        }
    }
    fn may_be_base(&self, code: CodeId, base: Option<ValueId>, reach: Reach, escaped: impl Fn(ObjId) -> bool) -> bool {
        let Some(base) = base else { return false };
        match reach {
            Reach::Nothing => false,
            Reach::Escaped => self.any_object(code, base, escaped),
            Reach::Everything => self.any_object(code, base, |object| !self.is_external(object)),
        }
    }

    /// Whether the object escaped, or its class where the look-up may go on to that.
    fn holder_escaped(&self, object: ObjId, name: Symbol) -> bool {
        if self.escaped.has(object) {
            return !self.is_external(object);
        }
        let Some(class) = self.pta.class_of(object) else {
            return false;
        };
        let own = self.pta.heap().slot(object, Field::attribute(name)).is_some();
        let inherits = || {
            let orders = self.pta.class_info(class).map_or(&[][..], |info| &info.orders);
            orders.iter().flatten().any(|base| match *base {
                Base::Class(base) => {
                    let code = self.pta.class_info(base).and_then(|info| info.code);
                    code.is_some_and(|code| self.program.binds(code, name))
                }
                _ => false,
            })
        };
        self.escaped.has(class) && (!own || inherits())
    }
}

/// The operations that read a variable or a slot.
const fn is_load(op: Op) -> bool {
    matches!(
        op,
        Op::LoadName(_)
            | Op::LoadGlobal(_)
            | Op::LoadDeref(_)
            | Op::LoadAttr(_)
            | Op::LoadMethod(_)
            | Op::LoadSuperAttr { .. }
            | Op::LoadSuperMethod { .. }
            | Op::LoadItem
            | Op::ForIter { .. }
            | Op::UnpackSequence(_)
            | Op::ImportFrom(_)
    )
}

/// The value that holds what is read.
fn base_of(op: Op, inputs: &[ValueId]) -> Option<ValueId> {
    match op {
        Op::LoadAttr(_)
        | Op::LoadMethod(_)
        | Op::LoadItem
        | Op::ForIter { .. }
        | Op::UnpackSequence(_)
        | Op::ImportFrom(_) => inputs.first().copied(),
        Op::LoadSuperAttr { .. } | Op::LoadSuperMethod { .. } => inputs.get(2).copied(),
        _ => None,
    }
}

/// Whether an edge of this kind brings a load what it reads.
const fn defines(kind: DataKind) -> bool {
    !matches!(
        kind,
        DataKind::Base | DataKind::Key | DataKind::Callee | DataKind::Operand | DataKind::Raise
    )
}

/// The call records of one code object, and which loads are part of a call: a method call is one operation.
struct Sites<'a> {
    records: &'a [CallRecord],
    /// Loads with the calls of what they load, sorted.
    users: Vec<(InstId, InstId)>,
}

impl<'a> Sites<'a> {
    fn of(calls: &'a [CallRecord], code: CodeId, body: &Body) -> Self {
        let start = calls.partition_point(|call| call.caller < code);
        let len = calls[start..].partition_point(|call| call.caller == code);
        let mut users = Vec::new();
        for (inst, one) in body.insts.iter_enumerated() {
            if let (Op::Call { .. } | Op::CallStar { .. }, Some(&callee)) = (one.op, body.ssa.inputs(inst).first())
                && let Some((load, op)) = body.made_by(callee)
                && is_load(op)
            {
                users.push((load, inst));
            }
        }
        users.sort_unstable();
        Self {
            records: &calls[start..start + len],
            users,
        }
    }

    /// Whether what a load reads was found as far as the calls of it tell, and what says that it was not.
    fn at(&self, load: InstId) -> (bool, ReasonSet) {
        let start = self.users.partition_point(|&(other, _)| other < load);
        let users = self.users[start..].iter().take_while(|&&(other, _)| other == load);
        let (mut found, mut reasons) = (false, ReasonSet::EMPTY);
        for inst in std::iter::once(load).chain(users.map(|&(_, call)| call)) {
            let start = self.records.partition_point(|record| record.inst < inst);
            for record in self.records[start..].iter().take_while(|record| record.inst == inst) {
                found |= record.has_targets();
                for kind in NOT_FOUND {
                    if record.unresolved.contains(kind) {
                        reasons.insert_all(ReasonSet::of(kind));
                    }
                }
            }
        }
        (found, reasons)
    }
}

#[cfg(test)]
mod tests;
