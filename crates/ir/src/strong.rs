//! Heap strong updates: loads that certainly read what stores of the same body left.
//!
//! ```python
//! def reset(box, table):
//!     box.value = 1        # the store
//!     limit = 3
//!     table["k"] = limit
//!     return box.value     # reads that store and no other
//! ```
//! A *cell* is an attribute or a constant subscript of one base. A load of a cell is *strong* if on every path to it the cell
//! was stored and nothing after that store may have written it; it then reads one of those stores. Two problems are solved at
//! once, forward over blocks (Aho, Lam, Sethi, Ullman, 9.2): which cells were certainly written and not touched since, and
//! which of their stores may be the last. A cell is lost where
//! - the same field is stored or deleted through another base (it may be the same object),
//! - the base is defined anew (a loop came round),
//! - code that is not in sight may run, and may store the field.
//!
//! Facts follow normal and exceptional edges; an exception may leave a block before each operation that can fail, so only
//! what holds at all those points goes along.
//!
//! *Code that is not in sight* runs in a call, an operator, an iteration step, a suspension, and where classes customise
//! access: properties, `__setattr__`, `__getitem__` and their like. What classes there are says the one who asks, as
//! [`Surroundings`].
//!
//! Two expressions have the same base if they are the same value, or if both read the same variable of
//! the module, class or closure just before they use it: other code could bind it anew, but to run, it would have to be called, and
//! that ends what is known.

use crate::{BlockId, Body, Def, EdgeKind, InstId, NameId, Op, ResumeKind, SlotId, Test, UnaryOp, ValueId};
use hognose_base::{IndexVec, Symbol};
use rustc_hash::FxHashMap;

mod cells;
#[cfg(test)]
mod tests;

use cells::{Access, Base, Cell, Field, access_of};

/// What the program as a whole says about an attribute name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttributeFacts {
    /// Instructions of the whole program that store or delete the attribute; `u32::MAX` if a computed name may be it.
    pub stores: u32,
    /// A class may hold a descriptor under this name.
    pub descriptor: bool,
}

/// What classes of the program customise, whatever the attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub struct Hooks {
    /// `__setattr__`, `__delattr__`
    pub stores: bool,
    /// `__getattribute__`, `__getattr__`
    pub loads: bool,
    /// `__getitem__`, `__setitem__`, `__delitem__`, `__missing__`
    pub items: bool,
    /// `__bool__`, `__len__`
    pub truth: bool,
    /// Namespaces of objects or modules may be at hand as mappings (`__dict__`, `globals`), so that items may be attributes.
    pub namespaces: bool,
}

/// A constant subscript. Strings and integers are told apart, as `d["1"]` and `d[1]` are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemKey {
    /// A string.
    Str(Symbol),
    /// An integer.
    Int(i32),
}

/// What must be known beyond the body.
pub struct Surroundings<'a> {
    /// Facts about an attribute.
    pub attribute: &'a dyn Fn(NameId) -> AttributeFacts,
    /// The constant that a subscript is.
    pub key: &'a dyn Fn(ValueId) -> Option<ItemKey>,
    /// What classes customise.
    pub hooks: Hooks,
    /// Whether the one who asks makes sure that the class of each receiver of a strong load customises no access, has no descriptor
    /// under the name, and is a builtin container if the load is a subscript. Accesses to the base of a cell then run no code
    /// on account of [`Hooks`]. If not, no class may have them, and subscripts are never strong.
    pub receivers_checked: bool,
}

/// The strong loads of one body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StrongLoads {
    pairs: Vec<(InstId, InstId)>,
}

/// More stores that may be the last make a load not worth telling apart.
const MAX_STORES: usize = 8;
/// Bits of all states together; beyond, nothing is strong. Real functions have some thousands.
const MAX_BITS: usize = 1 << 26;

impl StrongLoads {
    /// The strong loads of a body.
    #[must_use]
    pub fn of(body: &Body, surroundings: &Surroundings<'_>) -> Self {
        let Some(flow) = Flow::new(body, surroundings) else {
            return Self::default();
        };
        Self { pairs: flow.solve() }
    }

    /// The stores of which a load reads one, in order; none if it is not strong.
    #[must_use]
    pub fn stores_of(&self, load: InstId) -> &[(InstId, InstId)] {
        let start = self.pairs.partition_point(|&(other, _)| other < load);
        let len = self.pairs[start..].partition_point(|&(other, _)| other == load);
        &self.pairs[start..start + len]
    }
    /// All `(load, store)` pairs, sorted.
    #[must_use]
    pub fn pairs(&self) -> &[(InstId, InstId)] {
        &self.pairs
    }
    /// Keeps the loads of which this holds.
    pub fn retain(&mut self, mut keep: impl FnMut(InstId) -> bool) {
        self.pairs.retain(|&(load, _)| keep(load));
    }
    /// What either knows.
    #[must_use]
    pub fn union(mut self, other: &Self) -> Self {
        self.pairs.extend_from_slice(&other.pairs);
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self
    }
}

/// A set of small numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bits(Vec<u64>);

impl Bits {
    fn none(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }
    fn all(count: usize) -> Self {
        Self(vec![u64::MAX; count.div_ceil(64)])
    }
    fn insert(&mut self, at: u32) {
        self.0[at as usize / 64] |= 1 << (at % 64);
    }
    fn remove(&mut self, at: u32) {
        self.0[at as usize / 64] &= !(1 << (at % 64));
    }
    fn contains(&self, at: u32) -> bool {
        self.0[at as usize / 64] >> (at % 64) & 1 == 1
    }
    fn keep(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine &= theirs;
        }
    }
    fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine |= theirs;
        }
    }
    /// Takes away what is in `other`, except what is in `but`.
    fn lose(&mut self, other: &Self, but: Option<&Self>) {
        for (at, mine) in self.0.iter_mut().enumerate() {
            *mine &= !(other.0[at] & !but.map_or(0, |but| but.0[at]));
        }
    }
}

/// What is known at a point.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    /// Cells that hold what a store of the body left.
    written: Bits,
    /// Stores that may be the last of their cell. Those of cells that are not written do not matter.
    last: Bits,
}

impl State {
    fn meet(&mut self, other: &Self) {
        self.written.keep(&other.written);
        self.last.add(&other.last);
    }
}

struct Flow<'a> {
    body: &'a Body,
    surroundings: &'a Surroundings<'a>,
    cells: Vec<Cell>,
    number_of: FxHashMap<Cell, u32>,
    /// The instruction and the cell of each store, in order.
    stores: Vec<(InstId, u32)>,
    stores_of: Vec<Vec<u32>>,
    by_attribute: FxHashMap<NameId, Vec<u32>>,
    attributes: Bits,
    items: Bits,
    by_key: FxHashMap<ItemKey, Vec<u32>>,
    /// Items under integers, and under negative ones, which count from the end of a sequence.
    integers: Bits,
    negative: Bits,
    /// Cells whose base is a name.
    named: Bits,
    /// Attribute and item cells of each base.
    of_base: FxHashMap<Base, (Bits, Bits)>,
    /// Cells whose base this instruction, or the start of this block, defines, or whose variable this is.
    by_definition: FxHashMap<InstId, Vec<u32>>,
    by_block: FxHashMap<BlockId, Vec<u32>>,
    by_name: FxHashMap<NameId, Vec<u32>>,
    by_slot: FxHashMap<SlotId, Vec<u32>>,
    /// Cells that code out of sight may write.
    exposed: Bits,
}

impl<'a> Flow<'a> {
    /// `None` if no load of the body can be strong.
    fn new(body: &'a Body, surroundings: &'a Surroundings<'a>) -> Option<Self> {
        let (cells, stores) = cells::candidates(body, surroundings)?;
        let count = cells.len();
        if (count + stores.len()).saturating_mul(body.cfg.blocks.len()) > MAX_BITS {
            return None;
        }
        let mut flow = Self {
            body,
            surroundings,
            number_of: (0_u32..).zip(&cells).map(|(number, &cell)| (cell, number)).collect(),
            stores_of: vec![Vec::new(); count],
            by_attribute: FxHashMap::default(),
            attributes: Bits::none(count),
            items: Bits::none(count),
            by_key: FxHashMap::default(),
            integers: Bits::none(count),
            negative: Bits::none(count),
            named: Bits::none(count),
            of_base: FxHashMap::default(),
            by_definition: FxHashMap::default(),
            by_block: FxHashMap::default(),
            by_name: FxHashMap::default(),
            by_slot: FxHashMap::default(),
            exposed: Bits::none(count),
            cells,
            stores,
        };
        for (number, &(_, cell)) in (0_u32..).zip(&flow.stores) {
            flow.stores_of[cell as usize].push(number);
        }
        for number in 0..u32::try_from(count).ok()? {
            flow.index(number);
        }
        Some(flow)
    }

    fn index(&mut self, number: u32) {
        let Cell { base, field } = self.cells[number as usize];
        let count = self.cells.len();
        let of_base = self
            .of_base
            .entry(base)
            .or_insert_with(|| (Bits::none(count), Bits::none(count)));
        let alone = match field {
            Field::Attribute(name) => {
                of_base.0.insert(number);
                self.attributes.insert(number);
                self.by_attribute.entry(name).or_default().push(number);
                (self.surroundings.attribute)(name).stores <= 1
            }
            Field::Item(key) => {
                of_base.1.insert(number);
                self.items.insert(number);
                self.by_key.entry(key).or_default().push(number);
                if let ItemKey::Int(index) = key {
                    self.integers.insert(number);
                    if index < 0 {
                        self.negative.insert(number);
                    }
                }
                false
            }
        };
        let fixed = match base {
            Base::Value(value) => {
                match self.body.ssa.values[value] {
                    Def::Inst { inst, .. } => self.by_definition.entry(inst).or_default().push(number),
                    Def::Phi { block, .. } | Def::Caught(block) => self.by_block.entry(block).or_default().push(number),
                    _ => {}
                }
                true
            }
            Base::Name(name) | Base::Global(name) => {
                self.named.insert(number);
                self.by_name.entry(name).or_default().push(number);
                false
            }
            Base::Slot(slot) => {
                self.by_slot.entry(slot).or_default().push(number);
                false
            }
        };
        if !(alone && fixed) {
            self.exposed.insert(number);
        }
    }

    // ---- what an instruction does ------------------------------------------------------------------------------------

    /// Takes away what the instruction ends.
    fn kill(&self, inst: InstId, state: &mut State) {
        let op = self.body.insts[inst].op;
        let written = &mut state.written;
        self.overwrite(inst, op, written);
        match access_of(self.body, inst, self.surroundings) {
            Some(access) => self.run_access(op, access, written),
            None if self.is_quiet(op) => {}
            None => written.lose(&self.exposed, None),
        }
        remove_all(written, self.by_definition.get(&inst));
    }

    /// Cells that the instruction itself may write, or whose variable it binds.
    fn overwrite(&self, inst: InstId, op: Op, written: &mut Bits) {
        let namespaces = self.surroundings.hooks.namespaces;
        match op {
            Op::StoreAttr(name) | Op::DeleteAttr(name) => {
                remove_all(written, self.by_attribute.get(&name));
                // The attribute of a module is a variable.
                remove_all(written, self.by_name.get(&name));
                if namespaces {
                    written.lose(&self.items, None);
                }
            }
            Op::StoreName(name) | Op::DeleteName(name) | Op::StoreGlobal(name) | Op::DeleteGlobal(name) => {
                remove_all(written, self.by_name.get(&name));
                if namespaces {
                    written.lose(&self.items, None);
                }
            }
            Op::StoreDeref(slot)
            | Op::DeleteDeref(slot)
            | Op::StoreLocal(slot)
            | Op::DeleteLocal(slot)
            | Op::LoadLocalAndClear(slot)
            | Op::MakeCell(slot) => remove_all(written, self.by_slot.get(&slot)),
            Op::StoreItem => {
                let key = self
                    .body
                    .ssa
                    .inputs(inst)
                    .get(2)
                    .and_then(|&key| (self.surroundings.key)(key));
                self.overwrite_items(key, written);
            }
            Op::DeleteItem | Op::StoreSlice => self.overwrite_items(None, written),
            _ => {}
        }
    }

    fn overwrite_items(&self, key: Option<ItemKey>, written: &mut Bits) {
        match key {
            None => written.lose(&self.items, None),
            Some(key) => {
                remove_all(written, self.by_key.get(&key));
                match key {
                    ItemKey::Str(_) => {}
                    ItemKey::Int(index) if index < 0 => written.lose(&self.integers, None),
                    ItemKey::Int(_) => written.lose(&self.negative, None),
                }
            }
        }
        if self.surroundings.hooks.namespaces {
            written.lose(&self.attributes, None);
            written.lose(&self.named, None);
        }
    }

    /// The code that an attribute access or a subscript may run.
    fn run_access(&self, op: Op, access: Access, written: &mut Bits) {
        let hooks = self.surroundings.hooks;
        let own = access
            .base
            .filter(|_| self.surroundings.receivers_checked)
            .and_then(|base| self.of_base.get(&base));
        match access.field {
            Some(Field::Attribute(name)) => {
                let store = matches!(op, Op::StoreAttr(_) | Op::DeleteAttr(_));
                if (self.surroundings.attribute)(name).descriptor {
                    written.lose(&self.exposed, None);
                } else if if store { hooks.stores } else { hooks.loads } {
                    written.lose(&self.exposed, own.map(|own| &own.0));
                }
            }
            Some(Field::Item(_)) if hooks.items => written.lose(&self.exposed, own.map(|own| &own.1)),
            Some(Field::Item(_)) => {}
            // A key of the program may have a `__hash__`.
            None => written.lose(&self.exposed, None),
        }
    }

    fn transfer(&self, inst: InstId, state: &mut State) {
        self.kill(inst, state);
        if let Ok(at) = self.stores.binary_search_by_key(&inst, |&(store, _)| store) {
            let cell = self.stores[at].1;
            state.written.insert(cell);
            for &store in &self.stores_of[cell as usize] {
                state.last.remove(store);
            }
            state.last.insert(u32::try_from(at).unwrap_or(0));
        }
    }

    fn enter(&self, block: BlockId, state: &mut State) {
        remove_all(&mut state.written, self.by_block.get(&block));
    }

    // ---- paths -------------------------------------------------------------------------------------------------------

    /// What holds wherever an exception may leave the block from `first` on.
    fn on_exception(&self, block: BlockId, first: Option<InstId>, entry: &State) -> State {
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
        let unknown = State {
            written: Bits::all(self.cells.len()),
            last: Bits::none(self.stores.len()),
        };
        let mut entries: IndexVec<BlockId, State> = IndexVec::from_elem(unknown, cfg.blocks.len());
        if let Some(first) = cfg.blocks.ids().next() {
            entries[first].written = Bits::none(self.cells.len());
        }
        // Cells are only ever lost and stores only ever gained, so this ends; blocks are nearly in topological order.
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
        entries: &mut IndexVec<BlockId, State>,
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
                EdgeKind::Exception { .. } => &self.on_exception(block, edge.inst, &entries[block]),
                _ => &end,
            };
            let before = entries[edge.to].clone();
            entries[edge.to].meet(outgoing);
            if entries[edge.to] != before {
                dirty[edge.to] = true;
                changed = true;
            }
        }
        changed
    }

    fn answers(&self, entries: &IndexVec<BlockId, State>) -> Vec<(InstId, InstId)> {
        let mut pairs = Vec::new();
        for (block, info) in self.body.cfg.blocks.iter_enumerated() {
            if info.unreachable {
                continue;
            }
            let mut state = entries[block].clone();
            self.enter(block, &mut state);
            for inst in self.body.cfg.insts(block) {
                if let Some(cell) = self.cell_of_load(inst)
                    && state.written.contains(cell)
                {
                    let last = self.stores_of[cell as usize]
                        .iter()
                        .filter(|&&store| state.last.contains(store));
                    if last.clone().nth(MAX_STORES).is_none() {
                        pairs.extend(last.map(|&store| (inst, self.stores[store as usize].0)));
                    }
                }
                self.transfer(inst, &mut state);
            }
        }
        pairs.sort_unstable();
        pairs
    }

    fn cell_of_load(&self, inst: InstId) -> Option<u32> {
        if !matches!(
            self.body.insts[inst].op,
            Op::LoadAttr(_) | Op::LoadMethod(_) | Op::LoadItem
        ) {
            return None;
        }
        let access = access_of(self.body, inst, self.surroundings)?;
        let cell = Cell {
            base: access.base?,
            field: access.field?,
        };
        self.number_of.get(&cell).copied()
    }

    /// Operations, other than accesses, that run no code of the program, whatever their operands are.
    fn is_quiet(&self, op: Op) -> bool {
        match op {
            Op::Branch {
                test: Test::Truth(_), ..
            }
            | Op::Unary(UnaryOp::Not | UnaryOp::ToBool) => !self.surroundings.hooks.truth,
            _ => is_quiet(op),
        }
    }
}

fn remove_all(bits: &mut Bits, numbers: Option<&Vec<u32>>) {
    for &number in numbers.into_iter().flatten() {
        bits.remove(number);
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
            | Op::DeleteDeref(_)
            | Op::CopyFreeVars
            | Op::LoadLocals
            | Op::LoadName(_)
            | Op::StoreName(_)
            | Op::DeleteName(_)
            | Op::LoadGlobal(_)
            | Op::StoreGlobal(_)
            | Op::DeleteGlobal(_)
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
            | Op::Branch {
                test: Test::IsNone(_),
                ..
            }
            | Op::Return
            | Op::Resume(ResumeKind::Start)
            | Op::EndSend
            | Op::PushExcInfo
            | Op::SetupBlock
            | Op::PopBlock
    )
}
