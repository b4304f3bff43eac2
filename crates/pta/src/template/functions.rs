//! What calls, function objects and class statements add to the template.

use super::build::{Builder, Resolved};
use super::{Arguments, Callee, CellSource, Constant, FunctionDef, Key, Local, NO_LOCAL, Operation};
use hognose_base::{Id, Symbol};
use hognose_ir::{Def, FunctionPart, FunctionParts, InstId, Intrinsic, Op, ValueId};
use hognose_pyc::Object;

impl Builder<'_> {
    pub(super) fn calls(&mut self, inst: InstId, op: Op, inputs: &[ValueId], raises: Local) {
        match op {
            Op::MakeFunction(parts) => self.make_function(inst, parts, inputs),
            Op::SetFunctionPart(part) => self.set_function_part(part, inputs),
            Op::EnterContext | Op::EnterAsyncContext => {
                let (enter, exit) = if op == Op::EnterContext {
                    ("__enter__", "__exit__")
                } else {
                    ("__aenter__", "__aexit__")
                };
                let base = self.local_at(inputs, 0);
                let (bound, result) = (self.result(inst, 0), self.result(inst, 1));
                self.special_load(base, exit, bound, inst, raises);
                if let Some(name) = self.program.symbols.get(enter) {
                    let call = self.add_call(Arguments::default());
                    let callee = Callee::Attribute {
                        base,
                        name,
                        special: true,
                    };
                    self.emit(Operation::Call { callee, call, result }, inst, raises);
                }
            }
            Op::WithExceptStart => {
                let &[exit, receiver, exception] = inputs else { return };
                let callee = self.callee(exit);
                let mut positional = Vec::new();
                if self.is_argument(receiver) && matches!(callee, Callee::Value(_)) {
                    positional.push(self.local(receiver));
                }
                // The type and the traceback are not tracked.
                positional.extend([NO_LOCAL, self.local(exception), NO_LOCAL]);
                let arguments = Arguments {
                    positional,
                    ..Arguments::default()
                };
                let (call, result) = (self.add_call(arguments), self.last_result(inst));
                self.emit(Operation::Call { callee, call, result }, inst, raises);
            }
            _ => self.call(inst, op, inputs, raises),
        }
    }

    pub(super) fn call(&mut self, inst: InstId, op: Op, inputs: &[ValueId], raises: Local) {
        let mut arguments = Arguments::default();
        // A receiver that does not come with a method load is simply the first argument (decorators from 3.11 on).
        let fused = matches!(self.ssa.values[inputs[0]], Def::Inst { inst: load, .. }
            if self.fused[load.index()] && !matches!(self.body.insts[load].op, Op::LoadAttr(_) | Op::LoadSuperAttr { .. }));
        if let Some(&receiver) = inputs.get(1)
            && !fused
            && self.is_argument(receiver)
        {
            let local = self.local(receiver);
            arguments.positional.push(local);
        }
        if matches!(op, Op::CallStar { .. }) {
            self.star_arguments(&mut arguments, inputs);
        } else {
            let values: Vec<Local> = inputs.iter().skip(2).map(|&value| self.local(value)).collect();
            let names = self.keyword_names(inst);
            let split = values.len().saturating_sub(names.len());
            arguments.positional.extend(&values[..split]);
            arguments
                .keywords
                .extend(names.into_iter().zip(values[split..].iter().copied()));
        }
        let result = self.last_result(inst);
        if self.is_build_class(inputs[0]) {
            self.class_statement(inst, arguments, result, raises);
            return;
        }
        self.format_call(inst, inputs[0], &arguments, raises);
        let callee = self.callee(inputs[0]);
        let call = self.add_call(arguments);
        self.emit(Operation::Call { callee, call, result }, inst, raises);
    }

    /// Whether what lies in the receiver's place of a call is an argument of its own: it is not where a method load left
    /// its receiver, because such a load as a value already gives a bound method.
    pub(super) fn is_argument(&self, receiver: ValueId) -> bool {
        receiver != hognose_ir::Ssa::NULL
            && !matches!(self.ssa.values[receiver], Def::Inst { inst, output: 1 }
            if matches!(
                self.body.insts[inst].op,
                Op::LoadMethod(_) | Op::LoadSpecial(_) | Op::LoadSuperMethod { .. }
            ))
    }

    pub(super) fn keyword_names(&mut self, inst: InstId) -> Vec<Symbol> {
        let Some(id) = self.ssa.keyword_names(inst) else {
            return Vec::new();
        };
        let Object::Tuple(items) = self.objects.get(id) else {
            return Vec::new();
        };
        let items = *items;
        self.objects
            .items(items)
            .iter()
            .filter_map(|&name| self.objects.text(name).and_then(|text| self.program.symbols.get(&text)))
            .collect()
    }

    pub(super) fn star_arguments(&mut self, arguments: &mut Arguments, inputs: &[ValueId]) {
        if let Some(&iterable) = inputs.get(2) {
            match (self.resolve(iterable), self.ssa.values[iterable]) {
                (Resolved::Constant(Constant::Tuple(index)), _) => {
                    for constant in self.template.tuples[index as usize].clone() {
                        let local = self.constant_local(constant);
                        arguments.positional.push(local);
                    }
                }
                (_, Def::Inst { inst, .. }) if matches!(self.body.insts[inst].op, Op::BuildTuple(_)) => {
                    let items: Vec<ValueId> = self.ssa.inputs(inst).to_vec();
                    for item in items {
                        let local = self.local(item);
                        arguments.positional.push(local);
                    }
                }
                _ => match self.spread_list(iterable) {
                    Some((first, sources)) => {
                        for value in first {
                            let local = self.local(value);
                            arguments.positional.push(local);
                        }
                        for source in sources {
                            let local = self.local(source);
                            arguments.star.push(local);
                        }
                    }
                    None => {
                        let local = self.local(iterable);
                        arguments.star.push(local);
                    }
                },
            }
        }
        if let Some(&mapping) = inputs.get(3)
            && mapping != hognose_ir::Ssa::NULL
        {
            let local = self.local(mapping);
            arguments.mappings.push(local);
        }
    }

    /// `f(a, b, *c)` as the compiler leaves it: a list of the first arguments, extended by the iterables, as a tuple.
    fn spread_list(&self, tuple: ValueId) -> Option<(Vec<ValueId>, Vec<ValueId>)> {
        let Def::Inst { inst: end, .. } = self.ssa.values[tuple] else {
            return None;
        };
        if self.body.insts[end].op != Op::Intrinsic(Intrinsic::ListToTuple) {
            return None;
        }
        let &list = self.ssa.inputs(end).first()?;
        let Def::Inst { inst: start, .. } = self.ssa.values[list] else {
            return None;
        };
        if !matches!(self.body.insts[start].op, Op::BuildList(_)) {
            return None;
        }
        let mut sources = Vec::new();
        for raw in start.raw() + 1..end.raw() {
            let inst = InstId::new(raw);
            if self.ssa.inputs(inst).first() != Some(&list) {
                continue;
            }
            match self.body.insts[inst].op {
                Op::ListExtend { .. } => sources.push(*self.ssa.inputs(inst).get(1)?),
                // Arguments behind a spread have no position that is known.
                _ => return None,
            }
        }
        Some((self.ssa.inputs(start).to_vec(), sources))
    }

    pub(super) fn is_build_class(&self, callee: ValueId) -> bool {
        matches!(self.ssa.values[callee], Def::Inst { inst, .. } if self.body.insts[inst].op == Op::LoadBuildClass)
    }

    pub(super) fn class_statement(&mut self, inst: InstId, mut arguments: Arguments, result: Local, raises: Local) {
        let function = arguments.positional.first().copied().unwrap_or(NO_LOCAL);
        let body = self
            .function_of
            .get(&function)
            .map(|&at| self.template.functions[at].code);
        // The first two arguments are the body and the name; the bases follow.
        arguments.positional.drain(..arguments.positional.len().min(2));
        let call = self.add_call(arguments);
        match body {
            Some(body) => self.emit(
                Operation::Class {
                    body,
                    function,
                    call,
                    result,
                },
                inst,
                raises,
            ),
            None => self.emit(Operation::Unmodelled { result }, inst, raises),
        }
    }

    pub(super) fn make_function(&mut self, inst: InstId, parts: FunctionParts, inputs: &[ValueId]) {
        let mut values = inputs.iter().copied();
        let defaults = parts.defaults.then(|| values.next()).flatten();
        let keyword_defaults = parts.keyword_defaults.then(|| values.next()).flatten();
        let _annotations = parts.annotations.then(|| values.next()).flatten();
        let closure = parts.closure.then(|| values.next()).flatten();
        let Some(code) = values.next().and_then(|value| self.code_constant(value)) else {
            return;
        };
        let result = self.last_result(inst);
        if result == NO_LOCAL {
            return;
        }
        self.function_of.insert(result, self.template.functions.len());
        self.template.functions.push(FunctionDef {
            code,
            result,
            defaults: Vec::new(),
            defaults_value: NO_LOCAL,
            keyword_defaults: Vec::new(),
            closure: Vec::new(),
            inst,
        });
        for (part, value) in [
            (FunctionPart::Defaults, defaults),
            (FunctionPart::KeywordDefaults, keyword_defaults),
            (FunctionPart::Closure, closure),
        ] {
            if let Some(value) = value {
                self.attach(result, part, value);
            }
        }
    }

    pub(super) fn set_function_part(&mut self, part: FunctionPart, inputs: &[ValueId]) {
        if let [value, function, ..] = *inputs {
            let function = self.local(function);
            self.attach(function, part, value);
        }
    }

    pub(super) fn attach(&mut self, function: Local, part: FunctionPart, value: ValueId) {
        let Some(&at) = self.function_of.get(&function) else {
            return;
        };
        match part {
            FunctionPart::Defaults => match self.display_items(value) {
                Some(items) => self.template.functions[at].defaults = items,
                None => self.template.functions[at].defaults_value = self.local(value),
            },
            FunctionPart::KeywordDefaults => {
                let local = self.local(value);
                let entries = self
                    .template
                    .displays
                    .iter()
                    .find(|display| display.result == local)
                    .map(|display| {
                        let entry = |&(key, value): &(Key, Local)| match key {
                            Key::Str(name) => Some((name, value)),
                            _ => None,
                        };
                        display.elements.iter().filter_map(entry).collect::<Vec<_>>()
                    });
                self.template.functions[at].keyword_defaults = entries.unwrap_or_default();
            }
            FunctionPart::Closure => self.template.functions[at].closure = self.cells(value),
            FunctionPart::Annotations | FunctionPart::Annotate => {}
        }
    }

    /// The items of a tuple display or constant.
    pub(super) fn display_items(&mut self, value: ValueId) -> Option<Vec<Local>> {
        if let Def::Inst { inst, .. } = self.ssa.values[value]
            && matches!(self.body.insts[inst].op, Op::BuildTuple(_))
        {
            let items: Vec<ValueId> = self.ssa.inputs(inst).to_vec();
            return Some(items.into_iter().map(|item| self.local(item)).collect());
        }
        let Resolved::Constant(Constant::Tuple(index)) = self.resolve(value) else {
            return None;
        };
        let constants = self.template.tuples[index as usize].clone();
        Some(
            constants
                .into_iter()
                .map(|constant| self.constant_local(constant))
                .collect(),
        )
    }

    pub(super) fn cells(&mut self, value: ValueId) -> Vec<CellSource> {
        let Def::Inst { inst, .. } = self.ssa.values[value] else {
            return Vec::new();
        };
        if !matches!(self.body.insts[inst].op, Op::BuildTuple(_)) {
            return Vec::new();
        }
        self.ssa
            .inputs(inst)
            .iter()
            .map(|&cell| match self.ssa.values[cell] {
                Def::Inst { inst, .. } => match self.body.insts[inst].op {
                    Op::LoadCell(slot) => match self.free_cells.get(&slot) {
                        Some(&local) => CellSource::Free(local),
                        None => CellSource::Own(slot),
                    },
                    _ => CellSource::Unknown,
                },
                _ => CellSource::Unknown,
            })
            .collect()
    }

    pub(super) fn code_constant(&self, value: ValueId) -> Option<crate::ids::CodeId> {
        let Def::Inst { inst, .. } = self.ssa.values[value] else {
            return None;
        };
        let Op::Const(id) = self.body.insts[inst].op else {
            return None;
        };
        match self.objects.get(id) {
            Object::Code(index) => Some(self.program.code_id(self.module, *index)),
            _ => None,
        }
    }
}
