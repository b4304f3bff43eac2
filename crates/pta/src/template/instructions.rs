//! What each instruction adds to the template.

use super::build::{Builder, Resolved};
use super::{Constant, ImportDef, Key, Local, NO_LOCAL, NameLoad, NameStore, Operation};
use crate::program::CodeKind;
use crate::python::names;
use hognose_base::Id;
use hognose_ir::{BinaryOp, Def, InstId, Intrinsic, NameId, Op, SlotId, SpecialMethod, Test, UnaryOp, ValueId};

/// The name of the special method that `LOAD_SPECIAL` looks up.
pub(super) const fn special_name(which: SpecialMethod) -> &'static str {
    match which {
        SpecialMethod::Enter => "__enter__",
        SpecialMethod::Exit => "__exit__",
        SpecialMethod::AsyncEnter => "__aenter__",
        SpecialMethod::AsyncExit => "__aexit__",
    }
}

impl Builder<'_> {
    /// Adds the constraints of one instruction. `raises` is where its exceptions go.
    pub(super) fn instruction(&mut self, inst: InstId, raises: Local) {
        let op = self.body.insts[inst].op;
        let inputs: smallvec::SmallVec<[ValueId; 8]> = self.ssa.inputs(inst).into();
        match op {
            Op::LoadLocal { .. }
            | Op::LoadDeref(_)
            | Op::LoadClassDeref(_)
            | Op::LoadFromDictOrDeref(_)
            | Op::LoadFromDictOrGlobals(_)
            | Op::LoadName(_)
            | Op::LoadGlobal(_)
            | Op::StoreDeref(_)
            | Op::StoreName(_)
            | Op::StoreGlobal(_)
            | Op::StoreLocal(_)
            | Op::LoadCell(_) => {
                self.variable(inst, op, &inputs);
            }
            Op::LoadAttr(_)
            | Op::LoadMethod(_)
            | Op::LoadSuperAttr { .. }
            | Op::LoadSuperMethod { .. }
            | Op::LoadSpecial(_)
            | Op::StoreAttr(_)
            | Op::DeleteAttr(_) => self.attribute(inst, op, &inputs, raises),
            Op::LoadItem
            | Op::StoreItem
            | Op::DeleteItem
            | Op::LoadSlice
            | Op::StoreSlice
            | Op::ListAppend { .. }
            | Op::SetAdd { .. }
            | Op::MapAdd { .. }
            | Op::ListExtend { .. }
            | Op::SetUpdate { .. }
            | Op::DictUpdate { .. }
            | Op::DictMerge { .. } => self.item(inst, op, &inputs, raises),
            Op::Unary(_)
            | Op::Binary { .. }
            | Op::Compare { .. }
            | Op::Contains { .. }
            | Op::FormatValue { .. }
            | Op::Convert(_)
            | Op::BuildInterpolation { .. }
            | Op::BuildTemplate => {
                self.operator(inst, op, &inputs, raises);
            }
            Op::GetIter
            | Op::GetYieldFromIter
            | Op::ForIter { .. }
            | Op::GetAsyncIter
            | Op::GetAsyncNext
            | Op::GetAwaitable
            | Op::Send { .. }
            | Op::YieldFrom
            | Op::UnpackSequence(_)
            | Op::UnpackStar { .. }
            | Op::Yield => self.iteration(inst, op, &inputs, raises),
            Op::Call { .. }
            | Op::CallStar { .. }
            | Op::MakeFunction(_)
            | Op::SetFunctionPart(_)
            | Op::WithExceptStart
            | Op::EnterContext
            | Op::EnterAsyncContext => self.calls(inst, op, &inputs, raises),
            Op::ImportName(name) => self.import(inst, name, &inputs),
            Op::ImportFrom(name) => {
                let module = self.local_at(&inputs, 0);
                let (name, result) = (self.name(name), self.last_result(inst));
                self.emit(Operation::ImportFrom { module, name, result }, inst, raises);
            }
            Op::Branch {
                test: Test::Truth(_), ..
            } => self.truth(inst, inputs.first().copied(), raises),
            Op::BuildSet(_) | Op::BuildMap(_) => self.hash_display(inst, &inputs, raises),
            Op::Return => {
                let target = self.returned();
                inputs.first().into_iter().for_each(|&value| self.copy(value, target));
            }
            Op::Raise(count) => self.raise(inst, count, &inputs, raises),
            Op::Reraise { .. } | Op::EndAsyncFor => {
                inputs.last().into_iter().for_each(|&value| self.copy(value, raises));
            }
            Op::SetupAnnotations => self.template.setup_annotations = Some(inst),
            Op::CheckGroupMatch => self.group_match(inst, &inputs, raises),
            Op::MatchClass { positional, .. } => self.match_class(inst, positional, &inputs, raises),
            Op::MatchKeys { .. } => self.match_keys(inst, &inputs, raises),
            Op::Intrinsic(intrinsic) => self.intrinsic(inst, intrinsic, &inputs, raises),
            Op::CopyDictWithoutKeys => {
                let (from, to) = (self.local_at(&inputs, 0), self.last_result(inst));
                self.empty_display("dict", to, inst, 0);
                self.emit(Operation::CopyItems { from, to }, inst, raises);
            }
            _ => {}
        }
    }

    pub(super) fn local_at(&mut self, inputs: &[ValueId], index: usize) -> Local {
        inputs.get(index).map_or(NO_LOCAL, |&value| self.local(value))
    }

    // ---- names ---------------------------------------------------------------------------------------------------

    pub(super) fn variable(&mut self, inst: InstId, op: Op, inputs: &[ValueId]) {
        let kind = self.program.codes[self.code].kind;
        match op {
            Op::LoadDeref(slot) => self.load_deref(inst, slot, inputs),
            Op::LoadClassDeref(slot) | Op::LoadFromDictOrDeref(slot) => {
                let result = self.last_result(inst);
                let name = self.name(self.body.slots[slot].name);
                self.template.name_loads.push(NameLoad {
                    name,
                    result,
                    own: true,
                    outer: false,
                });
                self.load_cell(slot, result, inst);
                inputs.last().into_iter().for_each(|&value| self.copy(value, result));
            }
            Op::LoadFromDictOrGlobals(name) => {
                self.load_name(inst, name, true);
                let result = self.last_result(inst);
                inputs.last().into_iter().for_each(|&value| self.copy(value, result));
            }
            Op::LoadName(name) => {
                let unbound = inputs.first().is_none_or(|&value| self.may_be_unbound(value));
                self.load_name(inst, name, unbound);
                let result = self.last_result(inst);
                inputs.first().into_iter().for_each(|&value| self.copy(value, result));
            }
            Op::LoadGlobal(name) if !self.is_outer_load(inst) => {
                let unbound = self.may_be_unbound(inputs[0]);
                self.load_name(inst, name, unbound);
                let result = self.last_result(inst);
                self.copy(inputs[0], result);
            }
            // Made where its value is wanted.
            Op::LoadGlobal(_) => {}
            Op::StoreDeref(slot) => {
                let value = self.local_at(inputs, 0);
                match self.free_cells.get(&slot).copied() {
                    Some(cell) => self.emit(Operation::StoreCell { cell, value }, inst, NO_LOCAL),
                    None => self.template.cell_stores.push((slot, value)),
                }
            }
            Op::StoreName(name) => self.store_name(name, inputs),
            Op::StoreGlobal(name) if kind == CodeKind::Module => self.store_name(name, inputs),
            Op::StoreGlobal(name) => {
                let (name, value) = (self.name(name), self.local_at(inputs, 0));
                self.template.global_stores.push(NameStore { name, value });
            }
            Op::LoadCell(slot) if self.body.slots[slot].kind.is_free() => {}
            Op::LoadCell(slot) => {
                let result = self.last_result(inst);
                self.template.cell_values.push((slot, result));
            }
            _ => {}
        }
    }

    pub(super) fn load_name(&mut self, inst: InstId, name: NameId, outer: bool) {
        let (name, result) = (self.name(name), self.last_result(inst));
        if result != NO_LOCAL {
            self.template.name_loads.push(NameLoad {
                name,
                result,
                own: true,
                outer,
            });
        }
    }

    pub(super) fn store_name(&mut self, name: NameId, inputs: &[ValueId]) {
        let (name, value) = (self.name(name), self.local_at(inputs, 0));
        self.template.name_stores.push(NameStore { name, value });
    }

    pub(super) fn load_deref(&mut self, inst: InstId, slot: SlotId, inputs: &[ValueId]) {
        let result = self.last_result(inst);
        if result == NO_LOCAL {
            return;
        }
        if self.free_cells.contains_key(&slot) {
            self.load_cell(slot, result, inst);
        } else {
            self.template.cell_loads.push((slot, result));
            inputs.first().into_iter().for_each(|&value| self.copy(value, result));
        }
    }

    pub(super) fn load_cell(&mut self, slot: SlotId, result: Local, inst: InstId) {
        match self.free_cells.get(&slot).copied() {
            Some(cell) => self.emit(Operation::LoadCell { cell, result }, inst, NO_LOCAL),
            None => self.template.cell_loads.push((slot, result)),
        }
    }

    // ---- attributes and items -----------------------------------------------------------------------------------

    pub(super) fn attribute(&mut self, inst: InstId, op: Op, inputs: &[ValueId], raises: Local) {
        match op {
            Op::StoreAttr(name) => {
                let (value, base, name) = (self.local_at(inputs, 0), self.local_at(inputs, 1), self.name(name));
                self.emit(Operation::StoreAttribute { base, name, value }, inst, raises);
            }
            Op::DeleteAttr(name) => {
                let (base, name) = (self.local_at(inputs, 0), self.name(name));
                self.emit(Operation::DeleteAttribute { base, name }, inst, raises);
            }
            _ if self.fused[inst.index()] => {}
            Op::LoadSuperAttr { name, .. } | Op::LoadSuperMethod { name, .. } => {
                let callable = self.local_at(inputs, 0);
                let (class, receiver) = (self.local_at(inputs, 1), self.local_at(inputs, 2));
                let (name, result) = (self.name(name), self.result(inst, 0));
                self.emit(
                    Operation::LoadSuper {
                        callable,
                        class,
                        receiver,
                        name,
                        result,
                    },
                    inst,
                    raises,
                );
            }
            Op::LoadAttr(name) | Op::LoadMethod(name) => {
                let (base, name, result) = (self.local_at(inputs, 0), self.name(name), self.result(inst, 0));
                self.emit(
                    Operation::LoadAttribute {
                        base,
                        name,
                        result,
                        special: false,
                    },
                    inst,
                    raises,
                );
            }
            Op::LoadSpecial(which) => {
                let (base, result) = (self.local_at(inputs, 0), self.result(inst, 0));
                self.special_load(base, special_name(which), result, inst, raises);
            }
            _ => {}
        }
    }

    pub(super) fn special_load(&mut self, base: Local, name: &str, result: Local, inst: InstId, raises: Local) {
        if let Some(name) = self.program.symbols.get(name) {
            self.emit(
                Operation::LoadAttribute {
                    base,
                    name,
                    result,
                    special: true,
                },
                inst,
                raises,
            );
        }
    }

    pub(super) fn item(&mut self, inst: InstId, op: Op, inputs: &[ValueId], raises: Local) {
        let base = self.local_at(inputs, 0);
        match op {
            Op::LoadItem => {
                let (key, result) = (self.key(inputs[1]), self.last_result(inst));
                self.emit(Operation::LoadItem { base, key, result }, inst, raises);
            }
            Op::LoadSlice => {
                let (key, result) = (self.slice_key(), self.last_result(inst));
                self.emit(Operation::LoadItem { base, key, result }, inst, raises);
            }
            Op::StoreItem | Op::StoreSlice => {
                let value = base;
                let base = self.local_at(inputs, 1);
                let key = if op == Op::StoreItem {
                    self.key(inputs[2])
                } else {
                    self.slice_key()
                };
                self.emit(Operation::StoreItem { base, key, value }, inst, raises);
            }
            Op::DeleteItem => {
                let key = self.key(inputs[1]);
                self.emit(Operation::DeleteItem { base, key }, inst, raises);
            }
            Op::ListAppend { .. } | Op::SetAdd { .. } => {
                let value = self.local_at(inputs, 1);
                if matches!(op, Op::SetAdd { .. }) {
                    self.hashed(&inputs[1..2], base, inst, raises);
                }
                self.emit(
                    Operation::StoreItem {
                        base,
                        key: Key::Any,
                        value,
                    },
                    inst,
                    raises,
                );
            }
            Op::MapAdd { .. } => {
                let (key, value) = (self.key(inputs[1]), self.local_at(inputs, 2));
                self.emit(Operation::StoreItem { base, key, value }, inst, raises);
            }
            Op::ListExtend { .. } | Op::SetUpdate { .. } => self.extend(inst, inputs, raises),
            _ => {
                let from = self.local_at(inputs, 1);
                self.emit(Operation::CopyItems { from, to: base }, inst, raises);
            }
        }
    }

    pub(super) fn slice_key(&mut self) -> Key {
        Key::Node(self.constant_local(Constant::Slice))
    }

    /// `[*a]`: positions are kept where the list was empty, else the items may be anywhere.
    pub(super) fn extend(&mut self, inst: InstId, inputs: &[ValueId], raises: Local) {
        let (to, from) = (self.local_at(inputs, 0), self.local_at(inputs, 1));
        let empty = matches!(self.ssa.values[inputs[0]], Def::Inst { inst: list, .. }
            if self.body.insts[list].op == Op::BuildList(0) && self.uses[inputs[0].index()] <= 2);
        if empty {
            self.emit(Operation::CopyItems { from, to }, inst, raises);
            return;
        }
        let (iterator, item) = (self.fresh(), self.fresh());
        self.emit(
            Operation::Iterate {
                iterable: from,
                result: iterator,
            },
            inst,
            raises,
        );
        self.emit(Operation::Next { iterator, result: item }, inst, raises);
        if matches!(self.body.insts[inst].op, Op::SetUpdate { .. }) {
            let (operand, container) = (item, to);
            self.emit(Operation::Hash { operand, container }, inst, raises);
        }
        self.emit(
            Operation::StoreItem {
                base: to,
                key: Key::Any,
                value: item,
            },
            inst,
            raises,
        );
    }

    // ---- operators ------------------------------------------------------------------------------------------------

    pub(super) fn scalar(&mut self, value: ValueId) -> bool {
        matches!(self.resolve(value), Resolved::Constant(constant) if constant.is_scalar())
            || self.resolve(value) == Resolved::Nothing
    }

    pub(super) fn truth(&mut self, inst: InstId, operand: Option<ValueId>, raises: Local) {
        let Some(value) = operand else { return };
        if !self.scalar(value) {
            let operand = self.local(value);
            self.emit(Operation::Truth { operand }, inst, raises);
        }
    }

    pub(super) fn operator(&mut self, inst: InstId, op: Op, inputs: &[ValueId], raises: Local) {
        match op {
            Op::Unary(UnaryOp::Not | UnaryOp::ToBool) => self.truth(inst, inputs.first().copied(), raises),
            Op::Unary(op) if self.fold(inst).is_none() => {
                let (operand, result) = (self.local_at(inputs, 0), self.last_result(inst));
                self.emit(Operation::Unary { op, operand, result }, inst, raises);
            }
            Op::Binary {
                op: BinaryOp::Remainder,
                ..
            } if self.constant_text(inputs[0]).is_some() && self.fold(inst).is_none() => {
                self.interpolate(inst, inputs, raises);
            }
            Op::Binary { op, in_place } if self.fold(inst).is_none() => {
                let (left, right) = (self.local_at(inputs, 0), self.local_at(inputs, 1));
                let result = self.last_result(inst);
                self.emit(
                    Operation::Binary {
                        op,
                        in_place,
                        left,
                        right,
                        result,
                    },
                    inst,
                    raises,
                );
            }
            Op::Compare { op, .. } if self.fold(inst).is_none() => {
                let (left, right) = (self.local_at(inputs, 0), self.local_at(inputs, 1));
                let result = self.last_result(inst);
                self.emit(
                    Operation::Compare {
                        op,
                        left,
                        right,
                        result,
                    },
                    inst,
                    raises,
                );
            }
            Op::Contains { .. } if !self.scalar(inputs[1]) => {
                let (item, container) = (self.local_at(inputs, 0), self.local_at(inputs, 1));
                self.emit(Operation::Contains { container, item }, inst, raises);
            }
            Op::FormatValue { conversion, .. } if !self.scalar(inputs[0]) => {
                let operand = self.local_at(inputs, 0);
                self.emit(Operation::Format { operand, conversion }, inst, raises);
            }
            Op::Convert(conversion) if !self.scalar(inputs[0]) => {
                let operand = self.local_at(inputs, 0);
                self.emit(
                    Operation::Format {
                        operand,
                        conversion: Some(conversion),
                    },
                    inst,
                    raises,
                );
            }
            Op::BuildTemplate | Op::BuildInterpolation { .. } => {
                let result = self.last_result(inst);
                self.emit(Operation::Unmodelled { result }, inst, raises);
            }
            _ => {}
        }
    }

    // ---- iteration, generators, unpacking ----------------------------------------------------------------------------

    pub(super) fn iteration(&mut self, inst: InstId, op: Op, inputs: &[ValueId], raises: Local) {
        // Before anything asks for a local of an output: it may be an operand of a display.
        match op {
            Op::UnpackSequence(_) => return self.unpack(inst, inputs, None, raises),
            Op::UnpackStar { before, .. } => return self.unpack(inst, inputs, Some(before), raises),
            _ => {}
        }
        let first = self.local_at(inputs, 0);
        let result = self.last_result(inst);
        match op {
            Op::GetIter | Op::GetYieldFromIter => {
                self.emit(
                    Operation::Iterate {
                        iterable: first,
                        result,
                    },
                    inst,
                    raises,
                );
            }
            Op::ForIter { .. } => self.emit(
                Operation::Next {
                    iterator: first,
                    result,
                },
                inst,
                raises,
            ),
            Op::GetAsyncIter => self.emit(
                Operation::AsyncIterate {
                    iterable: first,
                    result,
                },
                inst,
                raises,
            ),
            Op::GetAsyncNext => self.emit(
                Operation::AsyncNext {
                    iterator: first,
                    result,
                },
                inst,
                raises,
            ),
            Op::GetAwaitable => self.emit(
                Operation::Await {
                    awaitable: first,
                    result,
                },
                inst,
                raises,
            ),
            Op::Send { .. } | Op::YieldFrom => {
                let sent = self.local_at(inputs, 1);
                let thrown = self.thrown();
                if op == Op::YieldFrom && raises != NO_LOCAL {
                    self.template.copies.push((thrown, raises));
                }
                // `Send` has two outputs: what the delegate returned, and what it yielded.
                let result = self.result(inst, 0);
                self.emit(
                    Operation::Delegate {
                        receiver: first,
                        sent,
                        result,
                    },
                    inst,
                    raises,
                );
            }
            Op::Yield => {
                let (yielded, sent) = self.yielded();
                let thrown = self.thrown();
                if raises != NO_LOCAL {
                    self.template.copies.push((thrown, raises));
                }
                let delegated = inputs.first().is_some_and(|&value| {
                    matches!(self.ssa.values[value], Def::Inst { inst, .. }
                        if matches!(self.body.insts[inst].op, Op::Send { .. }))
                });
                if !delegated && first != NO_LOCAL {
                    self.template.copies.push((first, yielded));
                }
                if result != NO_LOCAL {
                    self.template.copies.push((sent, result));
                }
            }
            _ => {}
        }
    }

    /// Item `i` of the iterable is the `i`-th output from the top.
    pub(super) fn unpack(&mut self, inst: InstId, inputs: &[ValueId], star: Option<u32>, raises: Local) {
        let outputs: Vec<ValueId> = self.ssa.outputs(inst).collect();
        let static_tuple = matches!(self.ssa.values[inputs[0]], Def::Inst { inst: display, .. }
            if self.body.insts[display].op == Op::BuildTuple(u32::try_from(outputs.len()).unwrap_or(0)));
        if star.is_none() && static_tuple {
            return;
        }
        let iterable = self.local_at(inputs, 0);
        let (iterator, item) = (self.fresh(), self.fresh());
        #[allow(clippy::cast_possible_truncation)]
        let start = self.template.pool.len() as u32;
        for (at, &output) in outputs.iter().rev().enumerate() {
            let mut target = self.result_of(output);
            if star.is_some_and(|star| star as usize == at) {
                self.empty_display("list", target, inst, 1);
                let element = self.fresh();
                self.emit(
                    Operation::StoreItem {
                        base: target,
                        key: Key::Any,
                        value: element,
                    },
                    inst,
                    raises,
                );
                target = element;
            }
            self.template.pool.push(target);
        }
        #[allow(clippy::cast_possible_truncation)]
        let targets = start..self.template.pool.len() as u32;
        self.emit(
            Operation::Unpack {
                iterable,
                iterator,
                item,
                targets,
                star,
            },
            inst,
            raises,
        );
    }

    // ---- imports, exceptions, patterns --------------------------------------------------------------------------------

    pub(super) fn import(&mut self, inst: InstId, name: NameId, inputs: &[ValueId]) {
        let level = match inputs.first().map(|&value| self.resolve(value)) {
            Some(Resolved::Constant(Constant::Int(level))) => u32::try_from(level).unwrap_or(0),
            _ => 0,
        };
        let from = match inputs.get(1).map(|&value| self.resolve(value)) {
            Some(Resolved::Constant(Constant::Tuple(index))) => {
                let name = |constant: &Constant| match *constant {
                    Constant::Name(symbol) => Some(symbol),
                    _ => None,
                };
                Some(self.template.tuples[index as usize].iter().filter_map(name).collect())
            }
            _ => None,
        };
        let (name, result) = (self.name(name), self.last_result(inst));
        self.template.imports.push(ImportDef {
            level,
            name,
            from,
            result,
            inst,
        });
    }

    pub(super) fn raise(&mut self, inst: InstId, count: u32, inputs: &[ValueId], raises: Local) {
        if count == 0 {
            // The exception that is being handled: any that a handler of this code caught.
            let mut caught: Vec<Local> = self.caught.values().copied().collect();
            caught.sort_unstable();
            self.template.copies.extend(
                caught
                    .into_iter()
                    .filter(|&from| from != raises)
                    .map(|from| (from, raises)),
            );
        } else {
            let value = self.local_at(inputs, 0);
            let operation = u32::try_from(self.template.operations.len()).unwrap_or(u32::MAX);
            self.template.first_raise.get_or_insert(operation);
            if let Some(&cause) = inputs.get(1) {
                let (base, value) = (value, self.local(cause));
                let name = names::CAUSE;
                self.emit(Operation::StoreAttribute { base, name, value }, inst, raises);
            }
            self.emit(Operation::Raise { value }, inst, raises);
        }
    }

    pub(super) fn intrinsic(&mut self, inst: InstId, intrinsic: Intrinsic, inputs: &[ValueId], raises: Local) {
        let result = self.last_result(inst);
        match intrinsic {
            Intrinsic::ImportStar => {
                let module = self.local_at(inputs, 0);
                self.emit(Operation::ImportStar { module }, inst, raises);
            }
            Intrinsic::ListToTuple => {
                let from = self.local_at(inputs, 0);
                self.empty_display("tuple", result, inst, 0);
                self.emit(Operation::CopyItems { from, to: result }, inst, raises);
            }
            Intrinsic::StopIterationError | Intrinsic::AsyncGenWrap | Intrinsic::PrepReraiseStar => {
                inputs.last().into_iter().for_each(|&value| self.copy(value, result));
            }
            Intrinsic::SetFunctionTypeParams | Intrinsic::SetTypeParamDefault => {
                inputs.first().into_iter().for_each(|&value| self.copy(value, result));
            }
            Intrinsic::Print => {}
            _ => self.emit(Operation::Unmodelled { result }, inst, raises),
        }
    }
}
