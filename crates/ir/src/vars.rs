//! The SSA variables of one body, and which instruction reads or writes which of them.
//!
//! ```python
//! def f(a):            # variables: a (contents of a cell), b
//!     b = 1
//!     return lambda: a + b
//! class C:
//!     x = 1            # variable: the name x
//! ```
//! A *variable* is a fast local, the contents of a cell that the body owns, or a name of a module or class body. Free
//! variables belong to another body and are none.

use crate::body::{Slot, Var, VarId};
use crate::op::{NameId, Op, SlotId};
use hognose_base::{Id, IndexVec};
use hognose_pyc::{CodeObject, flags};
use rustc_hash::FxHashMap;

/// What an instruction does to a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    None,
    /// Reads it; the reaching value is the first input.
    Read(VarId),
    /// Reads it as one of several places to look; the reaching value is the last input.
    ReadMaybe(VarId),
    /// Its new value is the operand.
    Write(VarId),
    /// Reads it and unbinds it.
    Clear(VarId),
}

/// The variables of one body.
#[derive(Default)]
pub(crate) struct Variables {
    pub(crate) vars: IndexVec<VarId, Var>,
    of_slot: Vec<Option<VarId>>,
    of_name: FxHashMap<NameId, VarId>,
    slot_names: Vec<NameId>,
    has_names: bool,
    pub(crate) is_module: bool,
    /// Whether `LoadLocalAndClear` occurs, so that a stored value may be NULL.
    pub(crate) clears: bool,
}

impl Variables {
    /// Numbers the variables that `ops` mention.
    pub(crate) fn new(code: &CodeObject, slots: &IndexVec<SlotId, Slot>, ops: impl Iterator<Item = Op>) -> Self {
        let has_names = code.flags & flags::OPTIMIZED == 0;
        let mut this = Self {
            has_names,
            is_module: has_names && code.parent.is_none(),
            ..Self::default()
        };
        for (slot, kind) in slots.iter_enumerated() {
            let own = kind.kind.is_cell() || !kind.kind.is_free();
            this.of_slot.push(own.then(|| this.vars.push(Var::Slot(slot))));
        }
        if has_names {
            this.slot_names.extend(slots.iter().map(|slot| slot.name));
        }
        for op in ops {
            match op {
                Op::LoadLocalAndClear(_) => this.clears = true,
                Op::LoadName(name) | Op::StoreName(name) | Op::DeleteName(name) if has_names => this.add_name(name),
                Op::LoadGlobal(name) | Op::StoreGlobal(name) | Op::DeleteGlobal(name) if this.is_module => {
                    this.add_name(name);
                }
                _ => {}
            }
        }
        this
    }
    fn add_name(&mut self, name: NameId) {
        let vars = &mut self.vars;
        self.of_name.entry(name).or_insert_with(|| vars.push(Var::Name(name)));
    }
    fn slot(&self, slot: SlotId) -> Option<VarId> {
        self.of_slot.get(slot.index()).copied().flatten()
    }
    fn name(&self, name: NameId) -> Option<VarId> {
        self.of_name.get(&name).copied()
    }
    /// What `op` does to a variable.
    #[inline]
    pub(crate) fn access(&self, op: Op) -> Access {
        let read = |var: Option<VarId>| var.map_or(Access::None, Access::Read);
        let read_maybe = |var: Option<VarId>| var.map_or(Access::None, Access::ReadMaybe);
        let write = |var: Option<VarId>| var.map_or(Access::None, Access::Write);
        let clear = |var: Option<VarId>| var.map_or(Access::None, Access::Clear);
        match op {
            Op::LoadLocal { slot, .. } | Op::LoadDeref(slot) => read(self.slot(slot)),
            Op::LoadLocalAndClear(slot) | Op::DeleteLocal(slot) | Op::DeleteDeref(slot) => clear(self.slot(slot)),
            Op::StoreLocal(slot) | Op::StoreDeref(slot) => write(self.slot(slot)),
            Op::LoadClassDeref(slot) | Op::LoadFromDictOrDeref(slot) if self.has_names => {
                let name = self.slot_names.get(slot.index());
                read_maybe(name.and_then(|&name| self.name(name)))
            }
            Op::LoadFromDictOrGlobals(name) if self.has_names => read_maybe(self.name(name)),
            Op::LoadName(name) if self.has_names => read(self.name(name)),
            Op::StoreName(name) if self.has_names => write(self.name(name)),
            Op::DeleteName(name) if self.has_names => clear(self.name(name)),
            Op::LoadGlobal(name) if self.is_module => read(self.name(name)),
            Op::StoreGlobal(name) if self.is_module => write(self.name(name)),
            Op::DeleteGlobal(name) if self.is_module => clear(self.name(name)),
            _ => Access::None,
        }
    }
}

/// Number of parameter slots of a code object: they come first.
pub(crate) fn parameter_count(code: &CodeObject) -> u32 {
    let stars = u32::from(code.flags & flags::VARARGS != 0) + u32::from(code.flags & flags::VARKEYWORDS != 0);
    code.argcount.saturating_add(code.kwonlyargcount).saturating_add(stars)
}
