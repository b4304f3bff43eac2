//! Cells: which accesses of a body are to the same field of the same object.

use super::{ItemKey, Surroundings, is_quiet};
use crate::{Body, Def, InstId, NameId, Op, SlotId, ValueId};
use rustc_hash::FxHashSet;

/// What an access is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Base {
    /// A value of the body.
    Value(ValueId),
    /// A name of the local namespace of a module or class body, read just before.
    Name(NameId),
    /// A global, read just before.
    Global(NameId),
    /// A variable of a closure, read just before.
    Slot(SlotId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Field {
    Attribute(NameId),
    Item(ItemKey),
}

/// A field of one base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Cell {
    pub(super) base: Base,
    pub(super) field: Field,
}

/// An attribute access or a subscript.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// `None` if the base is not the same for more than this access.
    pub(super) base: Option<Base>,
    /// `None` if the subscript is no constant.
    pub(super) field: Option<Field>,
}

/// What an instruction accesses, if that is its work.
pub(super) fn access_of(body: &Body, inst: InstId, surroundings: &Surroundings<'_>) -> Option<Access> {
    let inputs = body.ssa.inputs(inst);
    let (base, field) = match (body.insts[inst].op, inputs) {
        (Op::LoadAttr(name) | Op::LoadMethod(name) | Op::DeleteAttr(name), &[base, ..])
        | (Op::StoreAttr(name), &[_, base]) => (base, Some(Field::Attribute(name))),
        (Op::LoadItem | Op::DeleteItem, &[base, key]) | (Op::StoreItem, &[_, base, key]) => {
            (base, (surroundings.key)(key).map(Field::Item))
        }
        _ => return None,
    };
    Some(Access {
        base: base_of(body, inst, base),
        field,
    })
}

/// A store to a cell, by the cell's number.
pub(super) type Store = (InstId, u32);

/// The cells that the body both stores and loads, and its stores to them, in order.
pub(super) fn candidates(body: &Body, surroundings: &Surroundings<'_>) -> Option<(Vec<Cell>, Vec<Store>)> {
    let stored = |op| matches!(op, Op::StoreAttr(_) | Op::StoreItem);
    if !body.insts.iter().any(|inst| stored(inst.op)) {
        return None;
    }
    let cell_of = |inst| {
        let access = access_of(body, inst, surroundings)?;
        let cell = Cell {
            base: access.base?,
            field: access.field?,
        };
        let strong = surroundings.receivers_checked
            || match cell.field {
                Field::Attribute(name) => {
                    let hooks = surroundings.hooks;
                    !(hooks.stores || hooks.loads || (surroundings.attribute)(name).descriptor)
                }
                Field::Item(_) => false,
            };
        strong.then_some(cell)
    };
    let mut stores: Vec<(InstId, Cell)> = Vec::new();
    for (inst, one) in body.insts.iter_enumerated() {
        if stored(one.op) {
            stores.extend(cell_of(inst).map(|cell| (inst, cell)));
        }
    }
    let written: FxHashSet<Cell> = stores.iter().map(|&(_, cell)| cell).collect();
    let mut cells: Vec<Cell> = Vec::new();
    if !written.is_empty() {
        for (inst, one) in body.insts.iter_enumerated() {
            if matches!(one.op, Op::LoadAttr(_) | Op::LoadMethod(_) | Op::LoadItem) {
                cells.extend(cell_of(inst).filter(|cell| written.contains(cell)));
            }
        }
    }
    if cells.is_empty() {
        return None;
    }
    cells.sort_unstable();
    cells.dedup();
    let stores = stores
        .into_iter()
        .filter_map(|(inst, cell)| {
            let at = cells.binary_search(&cell).ok()?;
            Some((inst, u32::try_from(at).ok()?))
        })
        .collect();
    Some((cells, stores))
}

/// What the operand `value` of `user` is, seen through fast locals, refinements and fresh reads of variables.
pub(super) fn base_of(body: &Body, user: InstId, value: ValueId) -> Option<Base> {
    if let Def::Inst { inst, output: 0 } = body.ssa.values[value] {
        let variable = match body.insts[inst].op {
            Op::LoadName(name) => Some(Base::Name(name)),
            Op::LoadGlobal(name) => Some(Base::Global(name)),
            Op::LoadDeref(slot) => Some(Base::Slot(slot)),
            _ => None,
        };
        if let Some(base) = variable
            && is_fresh(body, inst, user)
        {
            return Some(base);
        }
    }
    let root = root(body, value);
    matches!(
        body.ssa.values[root],
        Def::Parameter(_) | Def::Inst { .. } | Def::Phi { .. } | Def::Caught(_)
    )
    .then_some(Base::Value(root))
}

/// Whether nothing that could bind the variable anew lies between its read and the use.
fn is_fresh(body: &Body, read: InstId, user: InstId) -> bool {
    const NEAR: u32 = 64;
    let binds = |op| {
        matches!(
            op,
            Op::StoreName(_)
                | Op::StoreGlobal(_)
                | Op::DeleteName(_)
                | Op::DeleteGlobal(_)
                | Op::StoreDeref(_)
                | Op::DeleteDeref(_)
                | Op::StoreLocal(_)
                | Op::LoadLocalAndClear(_)
                | Op::MakeCell(_)
        )
    };
    body.cfg.block_of[read] == body.cfg.block_of[user]
        && read < user
        && user.raw() - read.raw() <= NEAR
        && (read.raw() + 1..user.raw()).all(|at| {
            let op = body.insts[InstId::new(at)].op;
            is_quiet(op) && !binds(op)
        })
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
