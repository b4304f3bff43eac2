//! Builds the template of one code object from its SSA form.

use super::constants::common_constant;
use super::{
    Arguments, Callee, Constant, FIRST_FREE_LOCAL, Local, NO_LOCAL, NameLoad, Operation, RAISED, RETURN, SENT,
    Template, YIELDED,
};
use crate::ids::{CodeId, ModuleId};
use crate::program::{CodeKind, Program};
use hognose_base::{Id, IndexVec, Symbol};
use hognose_ir::{BlockId, Body, Def, EdgeKind, InstId, NameId, Op, SlotId, Ssa, UnaryOp, ValueId, Var};
use hognose_pyc::{ObjectId, Objects};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a value is known to be while the template is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resolved {
    /// Not looked at yet.
    Pending,
    /// No object (NULL, unbound, opaque).
    Nothing,
    /// A constant without a local of its own yet.
    Constant(Constant),
    /// A local.
    Local(Local),
}

/// Switches that change what is generated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TemplateOptions {
    /// Merge all definitions of a variable (the `insensitive` policy).
    pub merge_definitions: bool,
}

/// Generates the template of `code`.
#[must_use]
pub(crate) fn build_template(program: &Program, code: CodeId, options: TemplateOptions) -> Template {
    let body = program.body(code);
    let mut builder = Builder::new(program, code, body, options);
    if body.problem.is_some() || body.insts.is_empty() {
        builder.parameters();
        builder.template.is_empty = true;
        builder.template.locals = builder.next_local;
        return builder.template;
    }
    builder.run();
    builder.template
}

pub(super) struct Builder<'a> {
    pub(super) program: &'a Program,
    pub(super) code: CodeId,
    pub(super) module: ModuleId,
    pub(super) body: &'a Body,
    pub(super) ssa: &'a Ssa,
    pub(super) objects: &'a Objects,
    pub(super) names: &'a [Symbol],
    pub(super) options: TemplateOptions,
    pub(super) template: Template,
    pub(super) next_local: u32,
    pub(super) resolved: IndexVec<ValueId, Resolved>,
    pub(super) constant_locals: FxHashMap<Constant, Local>,
    pub(super) tuple_of: FxHashMap<ObjectId, u32>,
    /// Uses of each value, saturating.
    pub(super) uses: Vec<u8>,
    /// Attribute loads that their call performs.
    pub(super) fused: Vec<bool>,
    /// Local of the exception that each handler block catches.
    pub(super) caught: FxHashMap<BlockId, Local>,
    /// One local per variable under `merge_definitions`.
    merged: Vec<Local>,
    pub(super) function_of: FxHashMap<Local, usize>,
    pub(super) free_cells: FxHashMap<SlotId, Local>,
    /// What loads of names of the enclosing scopes give: every load of one sees the same.
    pub(super) outer_names: FxHashMap<NameId, Local>,
    pub(super) depth: u32,
}

/// How deep operands are followed before a value is taken as not static.
pub(super) const FOLD_DEPTH: u32 = 400;

impl<'a> Builder<'a> {
    fn new(program: &'a Program, code: CodeId, body: &'a Body, options: TemplateOptions) -> Self {
        let module = program.codes[code].module;
        let ir = &program.modules[module].ir;
        Self {
            program,
            code,
            module,
            body,
            ssa: &body.ssa,
            objects: &ir.module.objects,
            names: &program.modules[module].names,
            options,
            template: Template::default(),
            next_local: FIRST_FREE_LOCAL,
            resolved: IndexVec::from_elem(Resolved::Pending, body.ssa.values.len()),
            constant_locals: FxHashMap::default(),
            tuple_of: FxHashMap::default(),
            uses: Vec::new(),
            fused: vec![false; body.insts.len()],
            caught: FxHashMap::default(),
            merged: vec![NO_LOCAL; body.ssa.vars.len()],
            function_of: FxHashMap::default(),
            free_cells: FxHashMap::default(),
            outer_names: FxHashMap::default(),
            depth: 0,
        }
    }

    fn run(&mut self) {
        self.count_uses();
        self.parameters();
        self.handlers_and_phis();
        self.free_variables();
        self.mark_fused();
        for (block, info) in self.body.cfg.blocks.iter_enumerated() {
            if info.unreachable {
                continue;
            }
            let raises = self.raise_target(block);
            for inst in self.body.cfg.insts(block) {
                self.instruction(inst, raises);
            }
        }
        self.forwards();
        self.phi_copies();
        self.namespace();
        for value in self.ssa.values.ids() {
            self.resolve(value);
        }
        self.stored_constants();
        self.template.value_locals = self
            .resolved
            .iter()
            .map(|resolved| match *resolved {
                Resolved::Local(local) => local,
                Resolved::Constant(constant) => self.constant_locals.get(&constant).copied().unwrap_or(NO_LOCAL),
                _ => NO_LOCAL,
            })
            .collect();
        self.properties();
        self.applications();
        self.template.locals = self.next_local;
    }

    /// Finds the calls that are given a function or class made here, directly or by another such call (`@a @b def f`).
    fn applications(&mut self) {
        let template = &mut self.template;
        let mut made: FxHashSet<Local> = template.functions.iter().map(|def| def.result).collect();
        for (at, operation) in template.operations.iter().enumerate() {
            match *operation {
                Operation::Class { result, .. } => {
                    made.insert(result);
                }
                Operation::Call { call, result, .. } => {
                    let arguments = &template.calls[call as usize];
                    let keywords = arguments.keywords.iter().map(|(_, local)| local);
                    if arguments
                        .positional
                        .iter()
                        .chain(keywords)
                        .any(|local| made.contains(local))
                    {
                        made.insert(result);
                        template.applications.push(u32::try_from(at).unwrap_or(u32::MAX));
                    }
                }
                _ => {}
            }
        }
    }

    /// Names of a class body that hold what `property(...)`, `@property` or `@name.setter` gives.
    fn properties(&mut self) {
        if self.program.codes[self.code].kind != CodeKind::Class {
            return;
        }
        let text = |symbol: Symbol| self.program.text(symbol);
        let named: Vec<Local> = self
            .template
            .name_loads
            .iter()
            .filter(|load| text(load.name) == "property")
            .map(|load| load.result)
            .collect();
        let made: Vec<Local> = self
            .template
            .operations
            .iter()
            .filter_map(|operation| match *operation {
                Operation::Call {
                    callee: Callee::Value(callee),
                    result,
                    ..
                } if named.contains(&callee) => Some(result),
                Operation::Call {
                    callee: Callee::Attribute { name, .. },
                    result,
                    ..
                }
                | Operation::LoadAttribute { name, result, .. }
                    if matches!(text(name), "setter" | "getter" | "deleter") =>
                {
                    Some(result)
                }
                _ => None,
            })
            .collect();
        // A decorator that is an attribute load is the callee of a plain call.
        let through: Vec<Local> = self
            .template
            .operations
            .iter()
            .filter_map(|operation| match *operation {
                Operation::Call {
                    callee: Callee::Value(callee),
                    result,
                    ..
                } if made.contains(&callee) => Some(result),
                _ => None,
            })
            .collect();
        let mut names: Vec<Symbol> = self
            .template
            .name_stores
            .iter()
            .filter(|store| made.contains(&store.value) || through.contains(&store.value))
            .map(|store| store.name)
            .collect();
        names.sort_unstable();
        names.dedup();
        self.template.properties = names;
    }

    /// A new local.
    pub(super) fn fresh(&mut self) -> Local {
        let local = self.next_local;
        self.next_local += 1;
        local
    }

    pub(super) fn name(&self, name: NameId) -> Symbol {
        self.names[name.index()]
    }

    fn count_uses(&mut self) {
        self.uses = vec![0; self.ssa.values.len()];
        for value in self.ssa.inputs.iter().chain(&self.ssa.phi_args) {
            let uses = &mut self.uses[value.index()];
            *uses = uses.saturating_add(1);
        }
    }

    fn parameters(&mut self) {
        for _ in &self.program.codes[self.code].signature.parameters {
            let local = self.fresh();
            self.template.parameters.push(local);
        }
    }

    fn handlers_and_phis(&mut self) {
        for (value, def) in self.ssa.values.iter_enumerated() {
            match *def {
                Def::Caught(block) => {
                    let local = self.fresh();
                    self.caught.insert(block, local);
                    self.resolved[value] = Resolved::Local(local);
                }
                Def::Phi { what, .. } => {
                    let local = match what {
                        hognose_ir::PhiOf::Var(var) if self.options.merge_definitions => self.merged_local(var),
                        _ => self.fresh(),
                    };
                    self.resolved[value] = Resolved::Local(local);
                }
                Def::Parameter(slot) => {
                    self.resolved[value] = match self.parameter_local(slot) {
                        Some(local) => Resolved::Local(local),
                        None => Resolved::Nothing,
                    };
                }
                Def::Null | Def::Unbound | Def::HandlerItem { .. } => self.resolved[value] = Resolved::Nothing,
                _ => {}
            }
        }
    }

    fn merged_local(&mut self, var: hognose_ir::VarId) -> Local {
        if self.merged[var.index()] == NO_LOCAL {
            self.merged[var.index()] = self.fresh();
        }
        self.merged[var.index()]
    }

    fn parameter_local(&self, slot: SlotId) -> Option<Local> {
        let signature = &self.program.codes[self.code].signature;
        let position = signature
            .parameters
            .iter()
            .position(|parameter| parameter.slot == slot)?;
        self.template.parameters.get(position).copied()
    }

    fn free_variables(&mut self) {
        for (slot, info) in self.body.slots.iter_enumerated() {
            if info.kind.is_free() {
                let local = self.fresh();
                self.template.free_cells.push((slot, local));
                self.free_cells.insert(slot, local);
            }
        }
    }

    /// Where exceptions of a block go: the handler's value, or out of the code.
    fn raise_target(&self, block: BlockId) -> Local {
        self.body
            .cfg
            .successors(block)
            .filter(|(_, edge)| matches!(edge.kind, EdgeKind::Exception { .. }))
            .find_map(|(_, edge)| self.caught.get(&edge.to).copied())
            .unwrap_or(RAISED)
    }

    /// Finds attribute loads that only feed a call.
    fn mark_fused(&mut self) {
        for (inst, info) in self.body.insts.iter_enumerated() {
            if !matches!(info.op, Op::Call { .. } | Op::CallStar { .. }) {
                continue;
            }
            let Some(&callee) = self.ssa.inputs(inst).first() else {
                continue;
            };
            let Def::Inst { inst: load, .. } = self.ssa.values[callee] else {
                continue;
            };
            self.fused[load.index()] = match self.body.insts[load].op {
                Op::LoadMethod(_) | Op::LoadSuperMethod { .. } | Op::LoadSpecial(_) => true,
                Op::LoadAttr(_) | Op::LoadSuperAttr { .. } => self.uses[callee.index()] == 1,
                _ => false,
            };
        }
    }

    fn phi_copies(&mut self) {
        for (value, def) in self.ssa.values.iter_enumerated() {
            let Def::Phi { block, args, .. } = *def else { continue };
            let Resolved::Local(target) = self.resolved[value] else {
                continue;
            };
            let count = self.body.cfg.predecessors(block).len();
            for index in args as usize..args as usize + count {
                let from = self.local(self.ssa.phi_args[index]);
                if from != NO_LOCAL && from != target {
                    self.template.copies.push((from, target));
                }
            }
        }
    }

    /// Own names that the body leaves bound, for look-ups that may stop there.
    fn namespace(&mut self) {
        if !matches!(self.program.codes[self.code].kind, CodeKind::Module | CodeKind::Class) {
            return;
        }
        for (var, &value) in self.ssa.at_normal_exit.iter_enumerated() {
            if let Var::Name(name) = self.ssa.vars[var]
                && !self.may_be_unbound(value)
            {
                let symbol = self.name(name);
                self.template.definite_names.push(symbol);
            }
        }
        self.template.definite_names.sort_unstable();
        self.template.definite_names.dedup();
    }

    /// Whether Unbound may reach this value.
    pub(super) fn may_be_unbound(&self, value: ValueId) -> bool {
        let mut seen = Vec::new();
        let mut stack = vec![value];
        while let Some(value) = stack.pop() {
            match self.ssa.values[value] {
                Def::Unbound => return true,
                Def::Refined { of, .. } => stack.push(of),
                Def::Phi { block, args, .. } => {
                    if seen.contains(&value) {
                        continue;
                    }
                    seen.push(value);
                    if seen.len() > 64 {
                        return true;
                    }
                    let count = self.body.cfg.predecessors(block).len();
                    stack.extend(&self.ssa.phi_args[args as usize..args as usize + count]);
                }
                Def::Inst { inst, .. }
                    if matches!(self.body.insts[inst].op, Op::DeleteName(_) | Op::DeleteGlobal(_)) =>
                {
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    // ---- values ----------------------------------------------------------------------------------------------

    /// The local of a value, made if it is a constant; [`NO_LOCAL`] if it is nothing.
    pub(super) fn local(&mut self, value: ValueId) -> Local {
        match self.resolve(value) {
            Resolved::Local(local) => local,
            Resolved::Constant(constant) => self.constant_local(constant),
            _ => NO_LOCAL,
        }
    }

    /// The local of output `output` of an instruction, made if need be; [`NO_LOCAL`] if there is no such output.
    pub(super) fn result(&mut self, inst: InstId, output: usize) -> Local {
        let Some(value) = self.ssa.outputs(inst).nth(output) else {
            return NO_LOCAL;
        };
        self.result_of(value)
    }

    pub(super) fn result_of(&mut self, value: ValueId) -> Local {
        match self.resolved[value] {
            Resolved::Local(local) => local,
            _ => {
                let local = self.fresh();
                self.resolved[value] = Resolved::Local(local);
                local
            }
        }
    }

    /// The local of the last output of an instruction.
    pub(super) fn last_result(&mut self, inst: InstId) -> Local {
        match self.ssa.outputs(inst).len() {
            0 => NO_LOCAL,
            count => self.result(inst, count - 1),
        }
    }

    /// What a value is: follows loads, stores and passed-through operands to where the value was made.
    pub(super) fn resolve(&mut self, value: ValueId) -> Resolved {
        if self.resolved[value] != Resolved::Pending {
            return self.resolved[value];
        }
        if self.depth > FOLD_DEPTH {
            let local = self.fresh();
            self.resolved[value] = Resolved::Local(local);
            return Resolved::Local(local);
        }
        self.depth += 1;
        let resolved = match self.ssa.values[value] {
            Def::Inst { inst, output } => self.resolve_output(inst, usize::from(output)),
            Def::Refined { of, edge } => self.resolve_refined(of, edge),
            _ => Resolved::Nothing,
        };
        self.depth -= 1;
        // Making the operation may have given the value its local already.
        if self.resolved[value] == Resolved::Pending {
            self.resolved[value] = resolved;
        }
        self.resolved[value]
    }

    fn resolve_output(&mut self, inst: InstId, output: usize) -> Resolved {
        let op = self.body.insts[inst].op;
        let inputs = self.ssa.inputs(inst);
        match op {
            Op::StoreLocal(slot) | Op::StoreDeref(slot) if self.options.merge_definitions => {
                self.merge_into(Var::Slot(slot), inputs.first().copied())
            }
            Op::StoreName(name) | Op::StoreGlobal(name) if self.options.merge_definitions => {
                self.merge_into(Var::Name(name), inputs.first().copied())
            }
            Op::LoadLocal { .. }
            | Op::StoreLocal(_)
            | Op::StoreName(_)
            | Op::StoreGlobal(_)
            | Op::StoreDeref(_)
            | Op::LoadLocalAndClear(_)
            | Op::MakeCell(_) => match inputs.first() {
                Some(&input) if !(matches!(op, Op::LoadLocalAndClear(_)) && output > 0) => self.resolve(input),
                _ => Resolved::Nothing,
            },
            Op::Const(id) => self.constant(id),
            Op::SmallInt(value) => Resolved::Constant(Constant::Int(value)),
            Op::CommonConst(constant) => Resolved::Constant(common_constant(constant)),
            Op::PushExcInfo => match (output, inputs.last()) {
                (1, Some(&exception)) => self.resolve(exception),
                _ => Resolved::Nothing,
            },
            Op::EndSend => match inputs.last() {
                Some(&result) => self.resolve(result),
                None => Resolved::Nothing,
            },
            Op::SetFunctionPart(_) => match inputs.last() {
                Some(&function) => self.resolve(function),
                None => Resolved::Nothing,
            },
            Op::BuildTuple(_) | Op::BuildList(_) | Op::BuildSet(_) | Op::BuildMap(_) | Op::BuildConstKeyMap(_) => {
                self.display(inst)
            }
            Op::BuildString(_) | Op::FormatValue { .. } | Op::Convert(_) => Resolved::Constant(Constant::Str),
            Op::BuildSlice(_) => Resolved::Constant(Constant::Slice),
            Op::Is { .. } | Op::Contains { .. } | Op::MatchMapping | Op::MatchSequence | Op::CheckExceptionMatch => {
                Resolved::Constant(Constant::Bool)
            }
            Op::Unary(UnaryOp::Not | UnaryOp::ToBool) => Resolved::Constant(Constant::Bool),
            Op::GetLen => Resolved::Constant(Constant::BigInt),
            Op::Unary(_) | Op::Binary { .. } | Op::Compare { .. } => match self.fold(inst) {
                Some(constant) => Resolved::Constant(constant),
                None => self.opaque(inst, output),
            },
            Op::LoadGlobal(name) if self.is_outer_load(inst) => Resolved::Local(self.outer_name(name)),
            Op::UnpackSequence(count) => match self.unpacked_operand(inst, count, output) {
                Some(value) => self.resolve(value),
                None => self.opaque(inst, output),
            },
            Op::DeleteLocal(_) | Op::DeleteName(_) | Op::DeleteGlobal(_) | Op::DeleteDeref(_) => Resolved::Nothing,
            _ => self.opaque(inst, output),
        }
    }

    fn merge_into(&mut self, var: Var, input: Option<ValueId>) -> Resolved {
        let Some(id) = self
            .ssa
            .vars
            .iter_enumerated()
            .find(|(_, other)| **other == var)
            .map(|(id, _)| id)
        else {
            return input.map_or(Resolved::Nothing, |input| self.resolve(input));
        };
        let target = self.merged_local(id);
        if let Some(input) = input {
            let from = self.local(input);
            if from != NO_LOCAL && from != target {
                self.template.copies.push((from, target));
            }
        }
        Resolved::Local(target)
    }

    fn opaque(&mut self, inst: InstId, output: usize) -> Resolved {
        Resolved::Local(self.result(inst, output))
    }

    fn resolve_refined(&mut self, of: ValueId, edge: hognose_ir::EdgeId) -> Resolved {
        self.refined(of, edge).unwrap_or_else(|| self.resolve(of))
    }

    /// Whether a load of a global is by code that does not keep track of it.
    pub(super) fn is_outer_load(&self, inst: InstId) -> bool {
        self.program.codes[self.code].kind != CodeKind::Module || self.ssa.inputs(inst).is_empty()
    }

    /// The local of a name of the enclosing scopes.
    fn outer_name(&mut self, name: NameId) -> Local {
        if let Some(&local) = self.outer_names.get(&name) {
            return local;
        }
        let result = self.fresh();
        self.outer_names.insert(name, result);
        let name = self.name(name);
        self.template.name_loads.push(NameLoad {
            name,
            result,
            own: false,
            outer: true,
        });
        result
    }

    /// `a, b = x, y` as the compiler leaves it: output of the unpacking is an operand of the display.
    fn unpacked_operand(&self, inst: InstId, count: u32, output: usize) -> Option<ValueId> {
        let &iterable = self.ssa.inputs(inst).first()?;
        let Def::Inst { inst: display, .. } = self.ssa.values[iterable] else {
            return None;
        };
        match self.body.insts[display].op {
            Op::BuildTuple(length) if length == count => {
                self.ssa.inputs(display).get(count as usize - 1 - output).copied()
            }
            _ => None,
        }
    }

    // ---- displays ----------------------------------------------------------------------------------------------

    // ---- emission ------------------------------------------------------------------------------------------------

    pub(super) fn emit(&mut self, operation: Operation, inst: InstId, raises: Local) {
        self.template.operations.push(operation);
        self.template.operation_insts.push(inst);
        self.template.operation_raises.push(raises);
    }

    pub(super) fn add_call(&mut self, arguments: Arguments) -> u32 {
        #[allow(clippy::cast_possible_truncation)]
        let index = self.template.calls.len() as u32;
        self.template.calls.push(arguments);
        index
    }

    pub(super) fn copy(&mut self, from: ValueId, to: Local) {
        let from = self.local(from);
        if from != NO_LOCAL && to != NO_LOCAL && from != to {
            self.template.copies.push((from, to));
        }
    }

    /// The callee of a call whose first input is `callee`.
    pub(super) fn callee(&mut self, callee: ValueId) -> Callee {
        if let Def::Inst { inst: load, .. } = self.ssa.values[callee]
            && self.fused[load.index()]
        {
            let inputs: Vec<ValueId> = self.ssa.inputs(load).to_vec();
            match (self.body.insts[load].op, inputs.as_slice()) {
                (Op::LoadMethod(name) | Op::LoadAttr(name), [base, ..]) => {
                    return Callee::Attribute {
                        base: self.local(*base),
                        name: self.name(name),
                        special: false,
                    };
                }
                (Op::LoadSpecial(which), [base, ..]) => {
                    if let Some(name) = self.program.symbols.get(super::special_name(which)) {
                        return Callee::Attribute {
                            base: self.local(*base),
                            name,
                            special: true,
                        };
                    }
                }
                (
                    Op::LoadSuperMethod { name, .. } | Op::LoadSuperAttr { name, .. },
                    [callable, class, receiver, ..],
                ) => {
                    return Callee::Super {
                        callable: self.local(*callable),
                        class: self.local(*class),
                        receiver: self.local(*receiver),
                        name: self.name(name),
                    };
                }
                _ => {}
            }
        }
        Callee::Value(self.local(callee))
    }

    pub(super) fn yielded(&self) -> (Local, Local) {
        (YIELDED, SENT)
    }
    /// What is thrown into the generator.
    pub(super) fn thrown(&mut self) -> Local {
        if let Some(thrown) = self.template.thrown {
            return thrown;
        }
        let thrown = self.fresh();
        self.template.thrown = Some(thrown);
        thrown
    }
    pub(super) fn returned(&self) -> Local {
        RETURN
    }
}
