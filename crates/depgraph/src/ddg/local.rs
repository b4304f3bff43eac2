//! Edges inside one code object, and to the hubs of its own results and names.

use super::context::{Context, Found, function_made, made_code};
use super::layout::{RAISED, RETURNED, SENT, YIELDED};
use super::{DataKind, DdgNodeId};
use hognose_base::{Id, Symbol};
use hognose_ir::{
    BlockId, Body, Def, EdgeKind, FunctionPart, InstId, Intrinsic, NameId, Op, ParameterKind, SlotId, Ssa, StrongLoads,
    ValueId,
};
use hognose_pta::{CodeId, CodeKind, Field, ObjId, Object, Program};
use hognose_pyc::Object as Constant;
use rustc_hash::FxHashSet;

/// Builds the edges of one code object.
pub(super) struct Builder<'c> {
    pub(super) context: &'c Context<'c>,
    pub(super) program: &'c Program,
    pub(super) code: CodeId,
    pub(super) body: &'c Body,
    pub(super) strong: StrongLoads,
    /// Caught values by handler, sorted.
    caught: Vec<(BlockId, DdgNodeId)>,
    pub(super) found: Found,
}

/// All edges of one code object.
pub(super) fn edges_of(context: &Context<'_>, code: CodeId) -> Found {
    let program = context.program;
    if program.is_model(code) {
        return Found::default();
    }
    let mut builder = Builder {
        context,
        program,
        code,
        body: program.body(code),
        strong: context.pta.strong_loads(code),
        caught: caught(context, code),
        found: Found::default(),
    };
    builder.phis();
    builder.parameters();
    let calls = context.calls_of(code);
    let transparent = builder.calls(calls);
    for inst in builder.body.insts.ids() {
        if !builder.body.cfg.blocks[builder.body.cfg.block_of[inst]].unreachable {
            builder.instruction(inst, &transparent);
        }
    }
    builder.accesses();
    builder.found
}

fn caught(context: &Context<'_>, code: CodeId) -> Vec<(BlockId, DdgNodeId)> {
    let body = context.program.body(code);
    let mut caught: Vec<(BlockId, DdgNodeId)> = context
        .layout
        .special_values(code)
        .filter_map(|value| match body.ssa.values[value] {
            Def::Caught(block) => Some((block, context.layout.special(code, value)?)),
            _ => None,
        })
        .collect();
    caught.sort_unstable();
    caught
}

/// Where an exception at an instruction goes: caught values (given by handler, sorted), or the hub of what leaves the code.
fn handlers_at(context: &Context<'_>, code: CodeId, caught: &[(BlockId, DdgNodeId)], inst: InstId) -> Vec<DdgNodeId> {
    let cfg = &context.program.body(code).cfg;
    let mut found = Vec::new();
    for (_, edge) in cfg.successors(cfg.block_of[inst]) {
        let inside = edge.inst.is_none_or(|first| first <= inst);
        if !matches!(edge.kind, EdgeKind::Exception { .. }) || !inside {
            continue;
        }
        if edge.to == cfg.exceptional_exit {
            found.extend(context.layout.hub(code, RAISED));
            continue;
        }
        let start = caught.partition_point(|&(block, _)| block < edge.to);
        let here = caught[start..].iter().take_while(|&&(block, _)| block == edge.to);
        found.extend(here.map(|&(_, node)| node));
    }
    found
}

/// Where what is thrown into a generator goes: it is raised where the generator is suspended.
pub(super) fn suspended_handlers(context: &Context<'_>, generator: CodeId) -> Vec<DdgNodeId> {
    let body = context.program.body(generator);
    let caught = caught(context, generator);
    let mut found: Vec<DdgNodeId> = body
        .insts
        .iter_enumerated()
        .filter(|(_, inst)| matches!(inst.op, Op::Yield | Op::YieldFrom))
        .flat_map(|(inst, _)| handlers_at(context, generator, &caught, inst))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

impl<'c> Builder<'c> {
    pub(super) fn value(&self, value: ValueId) -> Option<DdgNodeId> {
        self.context.layout.value(self.program, self.code, value)
    }
    pub(super) fn node(&self, inst: InstId) -> Option<DdgNodeId> {
        self.context.layout.inst(self.code, inst)
    }
    pub(super) fn hub(&self, code: CodeId, hub: u32) -> Option<DdgNodeId> {
        self.context.layout.hub(code, hub)
    }
    pub(super) fn symbol(&self, name: NameId) -> Symbol {
        self.program.modules[self.program.codes[self.code].module].names[name.index()]
    }
    pub(super) fn kind(&self) -> CodeKind {
        self.program.codes[self.code].kind
    }
    pub(super) fn operation(&self, value: ValueId) -> Option<(InstId, Op)> {
        self.body.made_by(value)
    }

    fn phis(&mut self) {
        for value in self.context.layout.special_values(self.code) {
            let node = self.context.layout.special(self.code, value);
            match self.body.ssa.values[value] {
                Def::Phi { block, args, .. } => {
                    let count = self.body.cfg.predecessors(block).len();
                    for &argument in self.body.ssa.phi_args.iter().skip(args as usize).take(count) {
                        self.found.edge(self.value(argument), node, DataKind::DefUse);
                    }
                }
                Def::Inst { inst, .. } => self.found.edge(self.node(inst), node, DataKind::Operand),
                _ => {}
            }
        }
    }

    /// Parameters that inner code captures are stores to their cells.
    fn parameters(&mut self) {
        for (index, parameter) in (0_u32..).zip(&self.program.codes[self.code].signature.parameters) {
            if self
                .body
                .slots
                .get(parameter.slot)
                .is_some_and(|slot| slot.kind.is_cell())
            {
                let node = self.context.layout.parameter(self.code, index);
                self.store_cell(node, parameter.slot);
            }
        }
    }

    /// The cell objects of a slot that this code owns.
    fn cells(&self, slot: SlotId) -> Vec<ObjId> {
        let pta = self.context.pta;
        let acts = pta.activations_of(self.code).iter();
        acts.filter_map(|&act| pta.heap().find(&Object::Cell(act, slot)))
            .collect()
    }
    fn store_cell(&mut self, node: Option<DdgNodeId>, slot: SlotId) {
        for cell in self.cells(slot) {
            self.found.store(node, (cell, Field::CONTENTS), DataKind::CellStore);
        }
    }

    fn instruction(&mut self, inst: InstId, transparent: &FxHashSet<InstId>) {
        let op = self.body.insts[inst].op;
        let node = self.node(inst);
        let inputs = self.body.ssa.inputs(inst);
        match op {
            Op::Call { .. } | Op::CallStar { .. } => self.call_operands(inst, inputs, transparent.contains(&inst)),
            _ => self.operands(inst, op, inputs),
        }
        match op {
            Op::Return => self.found.edge(node, self.hub(self.code, RETURNED), DataKind::Return),
            Op::Yield => self.found.edge(node, self.hub(self.code, YIELDED), DataKind::Yield),
            Op::Raise(_) | Op::Reraise { .. } => self.raise(node, inst),
            Op::ForIter { .. } | Op::Send { .. } | Op::YieldFrom => self.iterate(inst, inputs),
            Op::StoreName(_) | Op::StoreGlobal(_) | Op::LoadName(_) | Op::LoadGlobal(_) => self.name(inst, op),
            Op::LoadFromDictOrGlobals(name) => {
                let slot = self.context.global(self.code, Field::attribute(self.symbol(name)));
                self.load_global(slot, inst);
            }
            // A free variable has no cell of its own here; its stores come with the heap accesses.
            Op::StoreDeref(slot) => self.store_cell(node, slot),
            Op::LoadDeref(slot) => {
                for cell in self.cells(slot) {
                    self.found
                        .load((cell, Field::FOREIGN_CONTENTS), node, DataKind::CellLoad);
                }
            }
            Op::LoadAttr(_) | Op::LoadMethod(_) | Op::LoadSuperAttr { .. } | Op::LoadSuperMethod { .. } => {
                self.load_attribute(inst, op, inputs);
            }
            Op::LoadItem => {
                self.load_strongly(inst, DataKind::ElementStore);
            }
            Op::ImportFrom(name) => self.import_from(inst, inputs, name),
            Op::Intrinsic(Intrinsic::ImportStar) => self.import_star(inputs),
            Op::MakeFunction(parts) => {
                let mut given = inputs.iter();
                let defaults = if parts.defaults { given.next() } else { None };
                let keywords = if parts.keyword_defaults { given.next() } else { None };
                let target = made_code(self.program, self.code, self.body, inst);
                self.defaults(target, defaults.copied(), keywords.copied());
            }
            Op::SetFunctionPart(part) => {
                let target = inputs
                    .last()
                    .and_then(|&function| function_made(self.program, self.code, function));
                match part {
                    FunctionPart::Defaults => self.defaults(target, inputs.first().copied(), None),
                    FunctionPart::KeywordDefaults => self.defaults(target, None, inputs.first().copied()),
                    _ => {}
                }
            }
            Op::BuildTuple(_)
            | Op::BuildList(_)
            | Op::BuildSet(_)
            | Op::BuildMap(_)
            | Op::BuildConstKeyMap(_)
            | Op::ListAppend { .. }
            | Op::SetAdd { .. }
            | Op::MapAdd { .. }
            | Op::ListExtend { .. }
            | Op::SetUpdate { .. }
            | Op::DictUpdate { .. }
            | Op::DictMerge { .. } => self.display(inst, op, inputs),
            Op::WithExceptStart => self.exit_methods(inst, inputs),
            Op::UnpackSequence(count) => self.unpack(inst, inputs, count),
            _ => {}
        }
    }

    fn operands(&mut self, inst: InstId, op: Op, inputs: &[ValueId]) {
        for (position, &input) in inputs.iter().enumerate() {
            // What is sent goes to the delegate, not to the result; of what lies on the stack when an exception was thrown
            // into an `await`, the exception alone makes the result (it carries what the delegate returned).
            let aside =
                matches!(op, Op::Send { .. }) && position == 1 || matches!(op, Op::CleanupThrow) && position < 2;
            if !aside {
                let kind = self.input_kind(op, position, input);
                self.found.edge(self.value(input), self.node(inst), kind);
            }
        }
    }

    fn input_kind(&self, op: Op, position: usize, input: ValueId) -> DataKind {
        use DataKind::{Base, DefUse, Key, Operand};
        match (op, position) {
            (
                Op::LoadAttr(_)
                | Op::LoadMethod(_)
                | Op::DeleteAttr(_)
                | Op::LoadItem
                | Op::DeleteItem
                | Op::LoadSlice
                | Op::ForIter { .. }
                | Op::GetIter
                | Op::GetYieldFromIter
                | Op::GetAsyncIter
                | Op::GetAsyncNext
                | Op::GetAwaitable
                | Op::Send { .. }
                | Op::YieldFrom
                | Op::UnpackSequence(_)
                | Op::UnpackStar { .. }
                | Op::EnterContext
                | Op::EnterAsyncContext
                | Op::LoadSpecial(_)
                | Op::ListAppend { .. }
                | Op::SetAdd { .. }
                | Op::MapAdd { .. }
                | Op::ListExtend { .. }
                | Op::SetUpdate { .. }
                | Op::DictUpdate { .. }
                | Op::DictMerge { .. },
                0,
            )
            | (Op::StoreAttr(_) | Op::StoreItem | Op::StoreSlice, 1)
            | (Op::LoadSuperAttr { .. } | Op::LoadSuperMethod { .. }, _) => Base,
            (Op::LoadItem | Op::DeleteItem | Op::MapAdd { .. }, 1) | (Op::StoreItem, 2) => Key,
            (Op::LoadSlice | Op::StoreSlice, _) if position > 0 => Key,
            (Op::WithExceptStart, 0 | 1) => DataKind::Callee,
            (Op::StoreLocal(_) | Op::StoreDeref(_) | Op::StoreName(_) | Op::StoreGlobal(_), _) => {
                match self.operation(input) {
                    Some((_, Op::ImportName(_) | Op::ImportFrom(_))) => DataKind::Import,
                    _ => DefUse,
                }
            }
            (
                Op::LoadLocal { .. }
                | Op::LoadLocalAndClear(_)
                | Op::LoadDeref(_)
                | Op::LoadName(_)
                | Op::LoadGlobal(_)
                | Op::DeleteLocal(_)
                | Op::DeleteDeref(_)
                | Op::DeleteName(_)
                | Op::Branch { .. }
                | Op::Return
                | Op::Raise(_)
                | Op::Reraise { .. }
                | Op::Yield
                | Op::StoreAttr(_)
                | Op::StoreItem
                | Op::StoreSlice,
                _,
            ) => DefUse,
            (Op::ImportFrom(_), _) => DataKind::Import,
            _ => Operand,
        }
    }

    /// Where an exception at an instruction goes: caught values, or the hub of what leaves the code.
    pub(super) fn handlers(&self, inst: InstId) -> Vec<DdgNodeId> {
        handlers_at(self.context, self.code, &self.caught, inst)
    }
    pub(super) fn raise(&mut self, from: Option<DdgNodeId>, inst: InstId) {
        for to in self.handlers(inst) {
            self.found.edge(from, Some(to), DataKind::Raise);
        }
    }

    /// What a generator hands to the instruction that drives it.
    pub(super) fn drive(&mut self, generator: CodeId, inst: InstId, returns: bool) {
        let node = self.node(inst);
        self.found.edge(self.hub(generator, YIELDED), node, DataKind::Yield);
        if returns {
            self.found.edge(self.hub(generator, RETURNED), node, DataKind::Return);
        }
        if self.context.functions[generator].raises {
            self.raise(self.hub(generator, RAISED), inst);
        }
    }

    fn iterate(&mut self, inst: InstId, inputs: &[ValueId]) {
        let Some(&receiver) = inputs.first() else { return };
        let node = self.node(inst);
        let op = self.body.insts[inst].op;
        for generator in self.context.generators(self.code, receiver) {
            let hub = |hub| self.context.layout.hub(generator, hub);
            match op {
                Op::Send { .. } => {
                    let yielded = self.body.ssa.outputs(inst).nth(1).and_then(|value| self.value(value));
                    let sent = inputs.get(1).and_then(|&value| self.value(value));
                    self.found.edge(hub(YIELDED), yielded, DataKind::Yield);
                    self.found.edge(hub(RETURNED), node, DataKind::Return);
                    self.found.edge(sent, hub(SENT), DataKind::Send);
                }
                Op::YieldFrom => {
                    self.found
                        .edge(hub(YIELDED), self.hub(self.code, YIELDED), DataKind::Yield);
                    self.found.edge(hub(RETURNED), node, DataKind::Return);
                    self.found.edge(self.hub(self.code, SENT), hub(SENT), DataKind::Send);
                }
                _ => self.found.edge(hub(YIELDED), node, DataKind::Yield),
            }
            if self.context.functions[generator].raises {
                self.raise(hub(RAISED), inst);
            }
        }
        if matches!(op, Op::YieldFrom) {
            self.found.edge(node, self.hub(self.code, YIELDED), DataKind::Yield);
        }
    }

    // ---- names ----------------------------------------------------------------------------------------------------------

    fn name(&mut self, inst: InstId, op: Op) {
        let node = self.node(inst);
        let module_body = self.kind() == CodeKind::Module;
        match op {
            Op::StoreName(name) if self.kind() == CodeKind::Class => {
                let field = Field::attribute(self.symbol(name));
                for &class in self.context.classes_of(self.code) {
                    self.found.store(node, (class, field), DataKind::FieldStore);
                }
            }
            Op::StoreName(name) | Op::StoreGlobal(name) => {
                let name = self.symbol(name);
                let field = if module_body {
                    Field::attribute(name)
                } else {
                    Field::foreign(name)
                };
                if let Some(slot) = self.context.global(self.code, field) {
                    self.found.store(node, slot, DataKind::GlobalStore);
                    if !module_body {
                        self.found
                            .between(slot, (slot.0, Field::attribute(name)), DataKind::Slot);
                    }
                }
            }
            Op::LoadName(name) | Op::LoadGlobal(name) => {
                let name = self.symbol(name);
                let field = if module_body {
                    Field::foreign(name)
                } else {
                    Field::attribute(name)
                };
                let own_only = self.kind() == CodeKind::Class
                    && self
                        .body
                        .ssa
                        .inputs(inst)
                        .first()
                        .is_some_and(|&value| !self.may_be_unbound(value));
                if !own_only {
                    let slot = self.context.global(self.code, field);
                    self.load_global(slot, inst);
                }
            }
            _ => {}
        }
    }
    fn load_global(&mut self, slot: Option<super::context::SlotKey>, inst: InstId) {
        if let Some(slot) = slot {
            self.found.load(slot, self.node(inst), DataKind::GlobalLoad);
        }
    }

    fn may_be_unbound(&self, value: ValueId) -> bool {
        let mut seen = FxHashSet::default();
        let mut stack = vec![value];
        while let Some(value) = stack.pop() {
            match self.body.ssa.values[value] {
                Def::Unbound => return true,
                Def::Refined { of, .. } => stack.push(of),
                Def::Phi { block, args, .. } if seen.insert(value) => {
                    let count = self.body.cfg.predecessors(block).len();
                    stack.extend(self.body.ssa.phi_args.iter().skip(args as usize).take(count));
                }
                _ => {}
            }
        }
        false
    }

    // ---- attributes and imports -------------------------------------------------------------------------------------------

    /// Reads of class attributes, through instances, classes and `super()`; what objects themselves hold comes with the
    /// heap accesses.
    fn load_attribute(&mut self, inst: InstId, op: Op, inputs: &[ValueId]) {
        if self.load_strongly(inst, DataKind::FieldStore) {
            return;
        }
        let (Op::LoadAttr(name)
        | Op::LoadMethod(name)
        | Op::LoadSuperAttr { name, .. }
        | Op::LoadSuperMethod { name, .. }) = op
        else {
            return;
        };
        let name = self.symbol(name);
        let pta = self.context.pta;
        let mut slots = Vec::new();
        let mut classes: Vec<(ObjId, Option<ObjId>)> = Vec::new();
        if let (Op::LoadSuperAttr { .. } | Op::LoadSuperMethod { .. }, &[_, class, receiver]) = (op, inputs) {
            let starts = self.context.objects(self.code, class);
            for object in self.context.objects(self.code, receiver) {
                let class = pta.class_of(object).unwrap_or(object);
                classes.extend(starts.iter().map(|&start| (class, Some(start))));
            }
        } else if let Some(&base) = inputs.first() {
            for object in self.context.objects(self.code, base) {
                match pta.object(object) {
                    Object::Instance(class, _) => classes.push((class, None)),
                    Object::Class(..) | Object::DynamicClass(_) => classes.push((object, None)),
                    Object::Super(start, receiver) => {
                        classes.push((pta.class_of(receiver).unwrap_or(receiver), Some(start)));
                    }
                    _ => {}
                }
            }
        }
        classes.sort_unstable();
        classes.dedup();
        for (class, start) in classes {
            self.context.members(class, start, name, &mut slots);
        }
        self.found
            .access(&mut slots, self.node(inst), false, DataKind::FieldLoad);
    }

    /// Connects a strong load to the stores that it may read.
    fn load_strongly(&mut self, inst: InstId, kind: DataKind) -> bool {
        let stores = self.strong.stores_of(inst);
        for &(_, store) in stores {
            let (from, to) = (
                self.context.layout.inst(self.code, store),
                self.context.layout.inst(self.code, inst),
            );
            self.found.edge(from, to, kind);
        }
        !stores.is_empty()
    }

    fn import_from(&mut self, inst: InstId, inputs: &[ValueId], name: NameId) {
        let Some(&module) = inputs.first() else { return };
        let field = Field::attribute(self.symbol(name));
        for object in self.context.objects(self.code, module) {
            if matches!(self.context.pta.object(object), Object::Module(_)) {
                self.found.load((object, field), self.node(inst), DataKind::Import);
            }
        }
    }

    fn import_star(&mut self, inputs: &[ValueId]) {
        let Some(&module) = inputs.first() else { return };
        for object in self.context.objects(self.code, module) {
            let Object::Module(module) = self.context.pta.object(object) else {
                continue;
            };
            for name in self.program.star_names(module) {
                let Some(slot) = self.context.global(self.code, Field::foreign(name)) else {
                    continue;
                };
                self.found
                    .between((object, Field::attribute(name)), slot, DataKind::Import);
                self.found
                    .between(slot, (slot.0, Field::attribute(name)), DataKind::Slot);
            }
        }
    }

    // ---- defaults ------------------------------------------------------------------------------------------------------------

    fn defaults(&mut self, target: Option<CodeId>, positional: Option<ValueId>, keywords: Option<ValueId>) {
        let Some(target) = target else { return };
        let signature = &self.program.codes[target].signature;
        let parameter = |index: usize| {
            self.context
                .layout
                .parameter(target, u32::try_from(index).unwrap_or(u32::MAX))
        };
        if let Some(value) = positional {
            let count = signature.positional_count();
            let (given, items) = self.tuple_items(value);
            let first = given.map_or(0, |given| count.saturating_sub(given));
            for index in first..count {
                let item = items.get(index - first).copied().unwrap_or(value);
                self.found.edge(self.value(item), parameter(index), DataKind::Default);
            }
        }
        if let Some(value) = keywords {
            for (index, one) in signature.parameters.iter().enumerate() {
                if one.kind == ParameterKind::KeywordOnly {
                    self.found.edge(self.value(value), parameter(index), DataKind::Default);
                }
            }
        }
    }

    /// Length and, for displays, the items of a tuple.
    fn tuple_items(&self, value: ValueId) -> (Option<usize>, &'c [ValueId]) {
        match self.operation(value) {
            Some((inst, Op::BuildTuple(_))) => {
                let items = self.body.ssa.inputs(inst);
                (Some(items.len()), items)
            }
            Some((_, Op::Const(id))) => match self.program.constant(self.program.codes[self.code].module, id) {
                Constant::Tuple(items) => (Some(items.len as usize), &[]),
                _ => (None, &[]),
            },
            _ => (None, &[]),
        }
    }

    pub(super) fn is_null(value: ValueId) -> bool {
        value == Ssa::NULL || value == Ssa::UNBOUND
    }
}
