//! Heap strong updates: attribute loads that certainly read one store of the same body.
//!
//! ```python
//! def reset(box):
//!     box.value = 1        # the store
//!     limit = 3
//!     return box.value     # reads that store and no other
//! ```
//! A load `v.f` is *strong* if one store `v.f = w` on the same SSA base lies on every path to it and nothing between them may
//! write `f` of `v`. The problem is "available expressions" over blocks (Aho, Lam, Sethi, Ullman, 9.2.6), with a fact per
//! store. A fact ends where
//! - any attribute `f` is stored or deleted, whatever the base (it may be the same object),
//! - the base is defined anew (a loop came round),
//! - code that is not in sight may run, and may store `f`.
//!
//! Facts follow normal and exceptional edges; an exception may leave a block before each operation that can fail, so only
//! what holds at all those points goes along.
//!
//! *Code that is not in sight* runs in a call, an operator, an iteration step, a suspension. It cannot store `f` if the
//! whole program has no store of `f` but the one (see [`AttributeFacts::stores`]). Properties, `__setattr__` and
//! `__getattribute__` make an attribute access mean something else, and computed names may be any name.
//!
//! The functions here need a [`Body`] and facts about names, nothing else.

use hognose_base::{Id, IndexVec, Symbol};
use hognose_ir::{BlockId, Body, Def, EdgeKind, InstId, NameId, Op, ResumeKind, SlotId, ValueId};
use hognose_pta::{CodeId, CodeKind, Program};
use rustc_hash::{FxHashMap, FxHashSet};

#[cfg(test)]
mod tests;

/// What the program as a whole says about an attribute name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttributeFacts {
    /// Instructions of the whole program that store or delete the attribute; `u32::MAX` if a computed name may be it.
    pub stores: u32,
    /// A class may hold a descriptor under this name, or intercept stores and loads of all names.
    pub hooked: bool,
    /// A load of this name may run code: [`Self::hooked`], or a class computes attributes (`__getattr__`).
    pub runs_code: bool,
}

/// Attribute facts by name, for a whole program.
#[derive(Clone, Debug, Default)]
pub struct StoreIndex {
    stores: FxHashMap<Symbol, u32>,
    descriptors: FxHashSet<Symbol>,
    intercepts: bool,
    computes: bool,
    dynamic: bool,
}

impl StoreIndex {
    /// Reads the index off all bodies of the program. Library models are not counted: what they do to objects of the
    /// program they do in a call.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        let mut index = Self::default();
        for code in program.codes.ids() {
            if !program.is_model(code) {
                index.add(program, code);
            }
        }
        index
    }

    /// The facts about one name.
    #[must_use]
    pub fn facts(&self, name: Symbol) -> AttributeFacts {
        let hooked = self.intercepts || self.descriptors.contains(&name);
        let stores = if self.dynamic {
            u32::MAX
        } else {
            self.stores.get(&name).copied().unwrap_or(0)
        };
        AttributeFacts {
            stores,
            hooked,
            runs_code: hooked || self.computes,
        }
    }

    fn add(&mut self, program: &Program, code: CodeId) {
        let info = &program.codes[code];
        let module = &program.modules[info.module];
        let body = program.body(code);
        for (inst, one) in body.insts.iter_enumerated() {
            match one.op {
                Op::StoreAttr(name) => {
                    let symbol = module.names[name.index()];
                    self.count(symbol);
                    if body
                        .ssa
                        .inputs(inst)
                        .first()
                        .is_some_and(|&value| is_property_call(program, code, value))
                    {
                        self.descriptors.insert(symbol);
                    }
                }
                Op::DeleteAttr(name) => self.count(module.names[name.index()]),
                Op::StoreName(name) if info.kind == CodeKind::Class => {
                    self.class_member(program, code, inst, module.names[name.index()]);
                }
                Op::LoadAttr(name) | Op::LoadMethod(name) | Op::LoadName(name) | Op::LoadGlobal(name) => {
                    let text = &*module.ir.names[name];
                    self.dynamic |= matches!(text, "vars" | "__dict__" | "__setattr__" | "delattr" | "__delattr__")
                        || (text == "setattr" && !self.constant_setattr(program, code, inst));
                }
                _ => {}
            }
        }
    }

    fn count(&mut self, name: Symbol) {
        let count = self.stores.entry(name).or_insert(0);
        *count = count.saturating_add(1);
    }

    fn class_member(&mut self, program: &Program, code: CodeId, store: InstId, name: Symbol) {
        match program.text(name) {
            "__setattr__" | "__getattribute__" | "__delattr__" => self.intercepts = true,
            "__getattr__" => self.computes = true,
            _ => {}
        }
        let body = program.body(code);
        let plain = body
            .ssa
            .inputs(store)
            .first()
            .is_some_and(|&value| match body.ssa.values[value] {
                Def::Inst { inst, .. } => matches!(
                    body.insts[inst].op,
                    Op::Const(_)
                        | Op::SmallInt(_)
                        | Op::CommonConst(_)
                        | Op::MakeFunction(_)
                        | Op::SetFunctionPart(_)
                        | Op::BuildTuple(_)
                        | Op::BuildList(_)
                        | Op::BuildSet(_)
                        | Op::BuildMap(_)
                        | Op::BuildConstKeyMap(_)
                ),
                _ => false,
            });
        if !plain {
            self.descriptors.insert(name);
        }
    }

    /// Whether the load of `setattr` is used by calls with a constant name alone; those count as stores of that name.
    fn constant_setattr(&mut self, program: &Program, code: CodeId, load: InstId) -> bool {
        let body = program.body(code);
        let Some(function) = body.ssa.output(load) else {
            return true;
        };
        let objects = &program.modules[program.codes[code].module].ir.module.objects;
        let mut constant = true;
        for (inst, one) in body.insts.iter_enumerated() {
            let inputs = body.ssa.inputs(inst);
            if !inputs.contains(&function) {
                continue;
            }
            let name = match (one.op, inputs) {
                (Op::Call { .. }, &[callee, _, _, name, _]) if callee == function => constant_of(body, name),
                _ => None,
            };
            let text = name.and_then(|id| objects.text(id));
            match text {
                Some(text) => {
                    if let Some(symbol) = program.symbols.get(&text) {
                        self.count(symbol);
                    }
                }
                None => constant = false,
            }
        }
        constant
    }
}

fn constant_of(body: &Body, value: ValueId) -> Option<hognose_pyc::ObjectId> {
    match body.ssa.values[value] {
        Def::Inst { inst, .. } => match body.insts[inst].op {
            Op::Const(id) => Some(id),
            _ => None,
        },
        _ => None,
    }
}

/// `property(...)` by its name.
fn is_property_call(program: &Program, code: CodeId, value: ValueId) -> bool {
    let body = program.body(code);
    let Def::Inst { inst, .. } = body.ssa.values[value] else {
        return false;
    };
    let (Op::Call { .. }, Some(&callee)) = (body.insts[inst].op, body.ssa.inputs(inst).first()) else {
        return false;
    };
    let Def::Inst { inst, .. } = body.ssa.values[callee] else {
        return false;
    };
    match body.insts[inst].op {
        Op::LoadName(name) | Op::LoadGlobal(name) => {
            &*program.modules[program.codes[code].module].ir.names[name] == "property"
        }
        _ => false,
    }
}

/// The strong loads of one body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StrongLoads {
    pairs: Vec<(InstId, InstId)>,
}

impl StrongLoads {
    /// The strong loads of a code object of the program.
    #[must_use]
    pub fn of_code(program: &Program, code: CodeId, index: &StoreIndex) -> Self {
        let names = &program.modules[program.codes[code].module].names;
        Self::of(program.body(code), &|name| index.facts(names[name.index()]))
    }

    /// The strong loads of a body, given what is known of its attribute names.
    #[must_use]
    pub fn of(body: &Body, facts: &dyn Fn(NameId) -> AttributeFacts) -> Self {
        let stores = candidates(body, facts);
        if stores.is_empty() {
            return Self::default();
        }
        let flow = Flow::new(body, facts, stores);
        Self { pairs: flow.solve() }
    }

    /// The one store that an attribute load reads.
    #[must_use]
    pub fn store_of(&self, load: InstId) -> Option<InstId> {
        self.pairs
            .binary_search_by_key(&load, |&(load, _)| load)
            .ok()
            .map(|at| self.pairs[at].1)
    }
    /// All `(load, store)` pairs, sorted.
    #[must_use]
    pub fn pairs(&self) -> &[(InstId, InstId)] {
        &self.pairs
    }
}

/// The store that the attribute load `inst` certainly reads. To ask for many loads of a body, use [`StrongLoads`].
#[must_use]
pub fn strong_load(body: &Body, inst: InstId, facts: &dyn Fn(NameId) -> AttributeFacts) -> Option<InstId> {
    StrongLoads::of(body, facts).store_of(inst)
}

/// What a value is, seen through fast locals and refinements. Names and cells may change behind the body's back.
fn root(body: &Body, mut value: ValueId) -> ValueId {
    let fast = |slot: SlotId| {
        body.slots
            .get(slot)
            .is_some_and(|slot| !slot.kind.is_cell() && !slot.kind.is_free())
    };
    // Each step goes to a value defined earlier; the bound is for bodies made by hand.
    for _ in 0..body.ssa.values.len() {
        let next = match body.ssa.values[value] {
            Def::Refined { of, .. } => Some(of),
            Def::Inst { inst, output: 0 } => match body.insts[inst].op {
                Op::LoadLocal { slot, .. } | Op::StoreLocal(slot) if fast(slot) => {
                    body.ssa.inputs(inst).first().copied()
                }
                _ => None,
            },
            _ => None,
        };
        match next {
            Some(next) => value = next,
            None => break,
        }
    }
    value
}

#[derive(Clone, Copy)]
struct Store {
    inst: InstId,
    name: NameId,
    base: ValueId,
    facts: AttributeFacts,
}

/// Name and base of an attribute load.
fn load_of(body: &Body, inst: InstId) -> Option<(NameId, ValueId)> {
    match body.insts[inst].op {
        Op::LoadAttr(name) | Op::LoadMethod(name) => {
            body.ssa.inputs(inst).first().map(|&base| (name, root(body, base)))
        }
        _ => None,
    }
}

/// The stores that a load of the same body could read.
fn candidates(body: &Body, facts: &dyn Fn(NameId) -> AttributeFacts) -> Vec<Store> {
    let mut stores = Vec::new();
    for (inst, one) in body.insts.iter_enumerated() {
        if let (Op::StoreAttr(name), &[_, base]) = (one.op, body.ssa.inputs(inst)) {
            let base = root(body, base);
            let known = matches!(
                body.ssa.values[base],
                Def::Parameter(_) | Def::Inst { .. } | Def::Phi { .. } | Def::Caught(_)
            );
            let facts = facts(name);
            if known && !facts.hooked {
                stores.push(Store {
                    inst,
                    name,
                    base,
                    facts,
                });
            }
        }
    }
    if stores.is_empty() {
        return stores;
    }
    let mut loads: Vec<(NameId, ValueId)> = body.insts.ids().filter_map(|inst| load_of(body, inst)).collect();
    loads.sort_unstable();
    stores.retain(|store| loads.binary_search(&(store.name, store.base)).is_ok());
    stores
}

/// A set of stores, by number.
#[derive(Clone, PartialEq, Eq)]
struct Facts(Vec<u64>);

impl Facts {
    fn none(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }
    fn all(count: usize) -> Self {
        Self(vec![u64::MAX; count.div_ceil(64)])
    }
    fn insert(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }
    fn remove(&mut self, at: usize) {
        self.0[at / 64] &= !(1 << (at % 64));
    }
    fn contains(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }
    fn keep(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine &= theirs;
        }
    }
}

struct Flow<'a> {
    body: &'a Body,
    facts: &'a dyn Fn(NameId) -> AttributeFacts,
    stores: Vec<Store>,
    by_name: FxHashMap<NameId, Vec<u32>>,
    /// Stores whose base this instruction, or the start of this block, defines.
    by_base: FxHashMap<InstId, Vec<u32>>,
    by_block: FxHashMap<BlockId, Vec<u32>>,
    /// Stores that code out of sight may undo.
    exposed: Vec<u32>,
}

impl<'a> Flow<'a> {
    fn new(body: &'a Body, facts: &'a dyn Fn(NameId) -> AttributeFacts, stores: Vec<Store>) -> Self {
        let mut by_name: FxHashMap<NameId, Vec<u32>> = FxHashMap::default();
        let mut by_base: FxHashMap<InstId, Vec<u32>> = FxHashMap::default();
        let mut by_block: FxHashMap<BlockId, Vec<u32>> = FxHashMap::default();
        let mut exposed = Vec::new();
        for (number, store) in (0_u32..).zip(&stores) {
            by_name.entry(store.name).or_default().push(number);
            match body.ssa.values[store.base] {
                Def::Inst { inst, .. } => by_base.entry(inst).or_default().push(number),
                Def::Phi { block, .. } | Def::Caught(block) => by_block.entry(block).or_default().push(number),
                _ => {}
            }
            if store.facts.stores > 1 {
                exposed.push(number);
            }
        }
        Self {
            body,
            facts,
            stores,
            by_name,
            by_base,
            by_block,
            exposed,
        }
    }

    /// Takes away what the instruction ends.
    fn kill(&self, inst: InstId, state: &mut Facts) {
        let op = self.body.insts[inst].op;
        if let Op::StoreAttr(name) | Op::DeleteAttr(name) = op {
            remove_all(state, self.by_name.get(&name));
        }
        if self.runs_code(op) {
            self.exposed.iter().for_each(|&number| state.remove(number as usize));
        }
        remove_all(state, self.by_base.get(&inst));
    }

    fn transfer(&self, inst: InstId, state: &mut Facts) {
        self.kill(inst, state);
        if let Ok(at) = self.stores.binary_search_by_key(&inst, |store| store.inst) {
            state.insert(at);
        }
    }

    /// Whether the operation may run code that is not in the body.
    fn runs_code(&self, op: Op) -> bool {
        match op {
            Op::LoadAttr(name) | Op::LoadMethod(name) => (self.facts)(name).runs_code,
            Op::StoreAttr(name) | Op::DeleteAttr(name) => (self.facts)(name).hooked,
            _ => !is_quiet(op),
        }
    }

    fn enter(&self, block: BlockId, state: &mut Facts) {
        remove_all(state, self.by_block.get(&block));
    }

    /// What holds wherever an exception may leave the block from `first` on.
    fn on_exception(&self, block: BlockId, first: Option<InstId>, entry: &Facts) -> Facts {
        let mut state = entry.clone();
        self.enter(block, &mut state);
        for inst in self.body.cfg.insts(block) {
            if first.is_some_and(|first| inst < first) {
                self.transfer(inst, &mut state);
            } else {
                self.kill(inst, &mut state);
            }
        }
        state
    }

    fn solve(&self) -> Vec<(InstId, InstId)> {
        let cfg = &self.body.cfg;
        let count = self.stores.len();
        let mut entries: IndexVec<BlockId, Facts> = IndexVec::from_elem(Facts::all(count), cfg.blocks.len());
        if let Some(first) = cfg.blocks.ids().next() {
            entries[first] = Facts::none(count);
        }
        // Facts only ever shrink, so this ends; blocks are nearly in topological order.
        let mut dirty: IndexVec<BlockId, bool> = IndexVec::from_elem(true, cfg.blocks.len());
        let mut changed = true;
        while changed {
            changed = false;
            for block in cfg.blocks.ids() {
                if std::mem::take(&mut dirty[block]) && !cfg.blocks[block].unreachable {
                    changed |= self.push(block, &mut entries, &mut dirty);
                }
            }
        }
        self.answers(&entries)
    }

    /// Hands the facts of a block to its successors.
    fn push(
        &self,
        block: BlockId,
        entries: &mut IndexVec<BlockId, Facts>,
        dirty: &mut IndexVec<BlockId, bool>,
    ) -> bool {
        let mut end = entries[block].clone();
        self.enter(block, &mut end);
        self.body
            .cfg
            .insts(block)
            .for_each(|inst| self.transfer(inst, &mut end));
        let mut changed = false;
        for (_, edge) in self.body.cfg.successors(block) {
            let outgoing = match edge.kind {
                EdgeKind::Exception { .. } => self.on_exception(block, edge.inst, &entries[block]),
                _ => end.clone(),
            };
            let before = entries[edge.to].clone();
            entries[edge.to].keep(&outgoing);
            if entries[edge.to] != before {
                dirty[edge.to] = true;
                changed = true;
            }
        }
        changed
    }

    fn answers(&self, entries: &IndexVec<BlockId, Facts>) -> Vec<(InstId, InstId)> {
        let mut pairs = Vec::new();
        for (block, info) in self.body.cfg.blocks.iter_enumerated() {
            if info.unreachable {
                continue;
            }
            let mut state = entries[block].clone();
            self.enter(block, &mut state);
            for inst in self.body.cfg.insts(block) {
                if let Some((name, base)) = load_of(self.body, inst) {
                    let of_name = self.by_name.get(&name).map_or(&[][..], Vec::as_slice);
                    let store = of_name
                        .iter()
                        .map(|&number| number as usize)
                        .find(|&number| state.contains(number) && self.stores[number].base == base);
                    pairs.extend(store.map(|number| (inst, self.stores[number].inst)));
                }
                self.transfer(inst, &mut state);
            }
        }
        pairs.sort_unstable();
        pairs
    }
}

fn remove_all(state: &mut Facts, numbers: Option<&Vec<u32>>) {
    for &number in numbers.into_iter().flatten() {
        state.remove(number as usize);
    }
}

/// Operations that run no code of the program, whatever their operands are.
const fn is_quiet(op: Op) -> bool {
    matches!(
        op,
        Op::Nop
            | Op::Pop
            | Op::Copy { .. }
            | Op::Swap { .. }
            | Op::Rotate { .. }
            | Op::PushNull
            | Op::Const(_)
            | Op::SmallInt(_)
            | Op::CommonConst(_)
            | Op::LoadBuildClass
            | Op::LoadLocal { .. }
            | Op::LoadLocalAndClear(_)
            | Op::StoreLocal(_)
            | Op::MakeCell(_)
            | Op::LoadCell(_)
            | Op::LoadDeref(_)
            | Op::StoreDeref(_)
            | Op::CopyFreeVars
            | Op::LoadLocals
            | Op::LoadName(_)
            | Op::StoreName(_)
            | Op::LoadGlobal(_)
            | Op::StoreGlobal(_)
            | Op::Is { .. }
            | Op::BuildTuple(_)
            | Op::BuildList(_)
            | Op::BuildString(_)
            | Op::BuildSlice(_)
            | Op::ListAppend { .. }
            | Op::EndFor
            | Op::MakeFunction(_)
            | Op::SetFunctionPart(_)
            | Op::Jump { .. }
            | Op::Return
            | Op::Resume(ResumeKind::Start)
            | Op::EndSend
            | Op::PushExcInfo
            | Op::SetupBlock
            | Op::PopBlock
    )
}
