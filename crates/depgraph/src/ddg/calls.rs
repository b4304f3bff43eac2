//! Edges of calls: actual to formal, returned to result, raised to handler.

use super::context::{MethodKind, RestSlots};
use super::layout::{RAISED, RETURNED, SENT, YIELDED};
use super::local::{Builder, suspended_handlers};
use super::{DataKind, DdgNodeId};
use hognose_base::{Id, Symbol};
use hognose_ir::{ArgSource, Bindings, CallShape, InstId, Op, ParameterKind, ValueId, bind_arguments};
use hognose_pta::{CallKind, CallRecord, CodeId, CodeKind, Field, Object};
use hognose_pyc::Object as Constant;
use rustc_hash::FxHashSet;

/// The arguments of a call expression, without a receiver.
#[derive(Default)]
struct Actuals {
    positional: Vec<Option<DdgNodeId>>,
    names: Vec<Symbol>,
    keywords: Vec<Option<DdgNodeId>>,
    star: Option<ValueId>,
    mapping: Option<ValueId>,
}

impl Builder<'_> {
    /// Connects all calls; returns the call expressions that reach functions of the program and nothing else.
    pub(super) fn calls(&mut self, records: &[CallRecord]) -> FxHashSet<InstId> {
        let mut transparent = FxHashSet::default();
        let mut rest = records;
        while let Some(first) = rest.first() {
            let inst = first.inst;
            let len = rest.partition_point(|record| record.inst == inst);
            let here = &rest[..len];
            rest = &rest[len..];
            if inst.index() >= self.body.insts.len() {
                continue;
            }
            here.iter().for_each(|record| self.call(record));
            // Beside a constructor of the program, `object.__new__` and its like do nothing with the arguments.
            let open = |record: &CallRecord| {
                let constructs = matches!(record.kind, CallKind::Construct(_));
                !record.unresolved.is_empty() || (!constructs && !record.external.is_empty())
            };
            if here.iter().any(|record| !record.targets.is_empty()) && !here.iter().any(open) {
                transparent.insert(inst);
            }
        }
        transparent
    }

    fn call(&mut self, record: &CallRecord) {
        let inst = record.inst;
        let is_expression = matches!(self.body.insts[inst].op, Op::Call { .. } | Op::CallStar { .. });
        let actuals = self.actuals(inst);
        for &target in &record.targets {
            if record.via_models.binary_search(&target).is_ok() {
                self.all_parameters(inst, target);
                self.results(inst, target);
                continue;
            }
            match record.kind {
                CallKind::Construct(method) if is_expression => {
                    let is_new = self.program.text(method) == "__new__";
                    let callee = self
                        .body
                        .ssa
                        .inputs(inst)
                        .first()
                        .and_then(|&callee| self.value(callee));
                    let receiver = if is_new { callee } else { self.node(inst) };
                    if !self.bind(target, Some(receiver), &actuals) {
                        // `type.__call__(cls, part)`: the arguments of the constructor are not those of the expression.
                        self.all_parameters(inst, target);
                    }
                    if is_new {
                        self.results(inst, target);
                    } else if self.context.functions[target].raises {
                        self.raise(self.hub(target, RAISED), inst);
                    }
                    continue;
                }
                CallKind::Call if is_expression => {
                    for receiver in self.receivers(inst, target) {
                        self.bind(target, receiver, &actuals);
                    }
                }
                CallKind::Protocol(_) if is_expression => match self.protocol_receiver(inst, record.kind) {
                    Some(receiver) => {
                        self.bind(target, Some(receiver), &actuals);
                    }
                    None => self.all_parameters(inst, target),
                },
                _ if self.key_method(inst, target) => {
                    // What it answers is no part of what is loaded or stored.
                    let compares = matches!(self.body.insts[inst].op, Op::Contains { .. });
                    if !compares && self.context.functions[target].raises {
                        self.raise(self.hub(target, RAISED), inst);
                    }
                    if !compares {
                        continue;
                    }
                }
                _ => self.protocol(inst, target),
            }
            self.results(inst, target);
        }
    }

    /// What comes back from a call.
    fn results(&mut self, inst: InstId, target: CodeId) {
        // A call of a generator function makes a generator; what it does shows where it is driven.
        if self.program.codes[target].is_generator_like() {
            return;
        }
        self.found
            .edge(self.hub(target, RETURNED), self.node(inst), DataKind::Return);
        if self.context.functions[target].raises {
            self.raise(self.hub(target, RAISED), inst);
        }
    }

    fn parameter(&self, target: CodeId, index: usize) -> Option<DdgNodeId> {
        self.context.layout.parameter(target, u32::try_from(index).ok()?)
    }
    /// Where it is not known which argument goes where: the instruction stands for all of them.
    fn all_parameters(&mut self, inst: InstId, target: CodeId) {
        for index in 0..self.program.codes[target].signature.parameters.len() {
            self.found
                .edge(self.node(inst), self.parameter(target, index), DataKind::Argument);
        }
    }

    // ---- protocols ------------------------------------------------------------------------------------------------------

    /// The receiver of a special method that a call expression calls.
    fn protocol_receiver(&self, inst: InstId, kind: CallKind) -> Option<Option<DdgNodeId>> {
        let &callee = self.body.ssa.inputs(inst).first()?;
        match (self.operation(callee), kind) {
            // Entering and leaving a `with` statement (3.14+).
            (Some((load, Op::LoadSpecial(_))), _) => Some(
                self.body
                    .ssa
                    .inputs(load)
                    .first()
                    .and_then(|&manager| self.value(manager)),
            ),
            (_, CallKind::Protocol(name)) if self.program.text(name) == "__call__" => Some(self.value(callee)),
            _ => None,
        }
    }

    /// The handler of a `with` statement calls the `__exit__` that was loaded when the statement was entered: a value, which
    /// says what is called whether or not the call is resolved.
    pub(super) fn exit_methods(&mut self, inst: InstId, inputs: &[ValueId]) {
        let Some(&exit) = inputs.first() else { return };
        for object in self.context.objects(self.code, exit) {
            let function = match self.context.pta.object(object) {
                Object::Bound(function, _) => self.context.pta.object(function),
                other => other,
            };
            if let Object::Function(target, ..) = function
                && !self.program.is_model(target)
            {
                self.protocol(inst, target);
                self.results(inst, target);
            }
        }
    }

    /// Methods of keys and items that a container asks for: they are given the keys, and what is in the container.
    fn key_method(&mut self, inst: InstId, target: CodeId) -> bool {
        let name = self.program.text(self.program.codes[target].name);
        if !matches!(name, "__hash__" | "__eq__" | "__index__") {
            return false;
        }
        let inputs = self.body.ssa.inputs(inst);
        let (keys, container): (Vec<ValueId>, Option<ValueId>) = match (self.body.insts[inst].op, inputs) {
            (Op::LoadItem | Op::DeleteItem | Op::SetAdd { .. } | Op::MapAdd { .. }, &[container, key, ..])
            | (Op::StoreItem, &[_, container, key])
            | (Op::Contains { .. }, &[key, container]) => (vec![key], Some(container)),
            (Op::SetUpdate { .. }, &[container, source, ..]) => (vec![source], Some(container)),
            (Op::BuildMap(_), _) => (inputs.iter().step_by(2).copied().collect(), None),
            (Op::BuildSet(_), _) => (inputs.to_vec(), None),
            _ => return false,
        };
        let count = self.program.codes[target].signature.parameters.len().min(2);
        let mut slots = Vec::new();
        if let Some(container) = container.filter(|_| name == "__eq__") {
            for object in self.context.objects(self.code, container) {
                let object = self.container_of(object);
                slots.extend([(object, Field::ALL_OUT), (object, Field::KEYS)]);
            }
        }
        for index in 0..count {
            for &key in &keys {
                self.found
                    .edge(self.value(key), self.parameter(target, index), DataKind::Argument);
            }
            let to = self.parameter(target, index);
            self.found.access(&mut slots.clone(), to, false, DataKind::ElementLoad);
        }
        true
    }

    /// Operands of an implicit call go to the parameters in the order of the method.
    fn protocol(&mut self, inst: InstId, target: CodeId) {
        let inputs = self.body.ssa.inputs(inst);
        let name = self.program.text(self.program.codes[target].name);
        let order: Vec<ValueId> = match (self.body.insts[inst].op, inputs) {
            (Op::Binary { .. }, &[left, right]) if name.starts_with("__r") && !matches!(name, "__rshift__") => {
                vec![right, left]
            }
            (Op::StoreAttr(_), &[value, object]) => vec![object, value],
            (Op::StoreItem, &[value, container, key]) => vec![container, key, value],
            (Op::Contains { .. }, &[item, container]) => vec![container, item],
            (Op::WithExceptStart, &[exit, receiver, exception]) => {
                let receiver = if Self::is_null(receiver) { exit } else { receiver };
                vec![receiver, exception, exception, exception]
            }
            // The other operand of a reflected comparison may be the receiver.
            (Op::Compare { .. }, _) => {
                for &input in inputs {
                    for index in 0..2 {
                        self.found
                            .edge(self.value(input), self.parameter(target, index), DataKind::Argument);
                    }
                }
                return;
            }
            _ => inputs.to_vec(),
        };
        for index in 0..self.program.codes[target].signature.parameters.len() {
            let from = match order.get(index) {
                Some(&operand) => self.value(operand),
                None => self.node(inst),
            };
            self.found.edge(from, self.parameter(target, index), DataKind::Argument);
        }
    }

    // ---- call expressions -------------------------------------------------------------------------------------------------

    /// The implicit first arguments with which a call may reach `target`; an inner `None` is a plain function call.
    fn receivers(&self, inst: InstId, target: CodeId) -> Vec<Option<Option<DdgNodeId>>> {
        let Some(&callee) = self.body.ssa.inputs(inst).first() else {
            return Vec::new();
        };
        let pta = self.context.pta;
        let method = self.context.functions[target].method;
        let (mut with, mut without) = (None, false);
        if let Some((load, op @ (Op::LoadMethod(_) | Op::LoadSuperMethod { .. } | Op::LoadSpecial(_)))) =
            self.operation(callee)
        {
            let inputs = self.body.ssa.inputs(load);
            let base = if matches!(op, Op::LoadSuperMethod { .. }) {
                inputs.get(2)
            } else {
                inputs.first()
            };
            let Some(&base) = base else { return vec![None] };
            let is_super = matches!(op, Op::LoadSuperMethod { .. });
            let objects = self.context.objects(self.code, base);
            let in_class = self.program.codes[target]
                .parent
                .is_some_and(|parent| self.program.codes[parent].kind == CodeKind::Class);
            if objects.is_empty() && in_class && method != MethodKind::Static {
                with = Some(self.value(base));
            }
            without |= objects.is_empty() && with.is_none();
            for object in objects {
                let binds = match (pta.object(object), method) {
                    (_, MethodKind::Static) | (Object::Module(_), _) => false,
                    (Object::Class(..) | Object::DynamicClass(_), MethodKind::Plain) => is_super,
                    // A function kept in an attribute of the object itself is not bound.
                    _ => in_class || method == MethodKind::OfClass,
                };
                if binds {
                    with = Some(self.value(base));
                } else {
                    without = true;
                }
            }
        } else {
            for object in self.context.objects(self.code, callee) {
                match pta.object(object) {
                    Object::Bound(function, _) if matches!(pta.object(function), Object::Function(code, ..) if code == target) =>
                    {
                        with = Some(self.value(callee));
                    }
                    Object::Function(code, ..) if code == target => without = true,
                    // `__call__` of the class of an instance, or of the metaclass of a class.
                    Object::Instance(..) | Object::Class(..) | Object::DynamicClass(_)
                        if method != MethodKind::Static =>
                    {
                        with = Some(self.value(callee));
                    }
                    _ => {}
                }
            }
            without |= with.is_none();
        }
        with.map(Some).into_iter().chain(without.then_some(None)).collect()
    }

    fn actuals(&self, inst: InstId) -> Actuals {
        let inputs = self.body.ssa.inputs(inst);
        let mut actuals = Actuals::default();
        match (self.body.insts[inst].op, inputs) {
            (Op::CallStar { .. }, &[_, receiver, iterable, ref mapping @ ..]) => {
                if !self.is_receiver_or_null(receiver) {
                    actuals.positional.push(self.value(receiver));
                }
                actuals.star = Some(iterable);
                actuals.mapping = mapping.first().copied().filter(|&mapping| !Self::is_null(mapping));
            }
            (Op::Call { .. }, &[_, receiver, ref arguments @ ..]) => {
                if !self.is_receiver_or_null(receiver) {
                    actuals.positional.push(self.value(receiver));
                }
                actuals.names = self.keyword_names(inst);
                let split = arguments.len().saturating_sub(actuals.names.len());
                let (positional, keywords) = arguments.split_at(split);
                actuals
                    .positional
                    .extend(positional.iter().map(|&value| self.value(value)));
                actuals.keywords.extend(keywords.iter().map(|&value| self.value(value)));
            }
            _ => {}
        }
        actuals
    }

    /// Whether the value beside the callee is the receiver that the callee was loaded with; a decorator call has its
    /// argument there.
    fn is_receiver_or_null(&self, value: ValueId) -> bool {
        Self::is_null(value)
            || matches!(
                self.operation(value),
                Some((_, Op::LoadMethod(_) | Op::LoadSuperMethod { .. } | Op::LoadSpecial(_)))
            )
    }

    fn keyword_names(&self, inst: InstId) -> Vec<Symbol> {
        let Some(id) = self.body.ssa.keyword_names(inst) else {
            return Vec::new();
        };
        let module = self.program.codes[self.code].module;
        let objects = &self.program.modules[module].ir.module.objects;
        let Constant::Tuple(items) = objects.get(id) else {
            return Vec::new();
        };
        // A name that is no symbol is no parameter's name.
        let nobody = Symbol::new(u32::MAX);
        let symbol = |&name| {
            objects
                .text(name)
                .and_then(|text| self.program.symbols.get(&text))
                .unwrap_or(nobody)
        };
        objects.items(*items).iter().map(symbol).collect()
    }

    /// Connects arguments with the parameters they are bound to. Whether they fit.
    fn bind(&mut self, target: CodeId, receiver: Option<Option<DdgNodeId>>, actuals: &Actuals) -> bool {
        let with = receiver.is_some();
        let shape = CallShape {
            positional: u32::try_from(actuals.positional.len() + usize::from(with)).unwrap_or(u32::MAX),
            has_star: actuals.star.is_some(),
            keywords: &actuals.names,
            has_double_star: actuals.mapping.is_some(),
        };
        let signature = &self.program.codes[target].signature;
        let Ok(bindings) = bind_arguments(&shape, signature) else {
            return false;
        };
        self.connect(target, receiver, actuals, &bindings);
        true
    }

    fn connect(&mut self, target: CodeId, receiver: Option<Option<DdgNodeId>>, actuals: &Actuals, bindings: &Bindings) {
        let offset = usize::from(receiver.is_some());
        let star = actuals.star.and_then(|star| self.value(star));
        let mapping = actuals.mapping.and_then(|mapping| self.value(mapping));
        let node_of = |source: ArgSource| match source {
            ArgSource::Positional(number) => match (number as usize).checked_sub(offset) {
                None => receiver.flatten(),
                Some(at) => actuals.positional.get(at).copied().flatten(),
            },
            ArgSource::Keyword(number) => actuals.keywords.get(number as usize).copied().flatten(),
            ArgSource::StarElement(_) | ArgSource::StarRest(_) => star,
            ArgSource::DoubleStar => mapping,
            ArgSource::Default => None,
        };
        for (index, parameter) in self.program.codes[target].signature.parameters.iter().enumerate() {
            for (place, &source) in (0_i32..).zip(bindings.of(index)) {
                let from = node_of(source);
                self.found.edge(from, self.parameter(target, index), DataKind::Argument);
                self.spread(target, index, source, actuals);
                let (dicts, field) = match (parameter.kind, source) {
                    (ParameterKind::VarPositional, ArgSource::StarRest(_)) => (false, Field::ANY_IN),
                    (ParameterKind::VarPositional, _) => (false, Field::int_key(place)),
                    (ParameterKind::VarKeyword, ArgSource::Keyword(number)) => {
                        let name = actuals.names.get(number as usize).filter(|name| name.raw() != u32::MAX);
                        (true, name.map_or(Field::ANY_IN, |&name| Field::str_key(name)))
                    }
                    (ParameterKind::VarKeyword, _) => (true, Field::ANY_IN),
                    _ => continue,
                };
                let rest = RestSlots {
                    function: target,
                    dicts,
                    field,
                };
                self.found.store_rest(from, rest, rest.objects(&self.context.functions));
            }
        }
    }

    /// An argument out of a container: what was stored there goes to the parameter. Positions and names are kept.
    fn spread(&mut self, target: CodeId, index: usize, source: ArgSource, actuals: &Actuals) {
        let parameter = self.program.codes[target].signature.parameters[index];
        let (value, field) = match source {
            ArgSource::StarElement(at) => (actuals.star, Field::int_key(i32::try_from(at).unwrap_or(i32::MAX))),
            ArgSource::StarRest(_) => (actuals.star, Field::ALL_OUT),
            ArgSource::DoubleStar if parameter.kind == ParameterKind::VarKeyword => (actuals.mapping, Field::ALL_OUT),
            ArgSource::DoubleStar => (actuals.mapping, Field::str_key(parameter.name)),
            _ => return,
        };
        let Some(value) = value else { return };
        for generator in self.context.generators(self.code, value) {
            let to = self.parameter(target, index);
            self.found.edge(self.hub(generator, YIELDED), to, DataKind::Yield);
        }
        let mut slots: Vec<_> = self
            .context
            .objects(self.code, value)
            .into_iter()
            .map(|object| (self.container_of(object), field))
            .collect();
        let facts = &self.context.functions[target];
        let rest = match parameter.kind {
            ParameterKind::VarPositional => &facts.rest_tuples,
            ParameterKind::VarKeyword => &facts.rest_dicts,
            _ => {
                let to = self.parameter(target, index);
                self.found.access(&mut slots, to, false, DataKind::ElementLoad);
                return;
            }
        };
        for &object in rest {
            for &slot in &slots {
                self.found
                    .between(slot, (object, Field::ANY_IN), DataKind::ElementStore);
            }
        }
    }

    /// Operands of a call expression. What goes to functions of the program goes there through their parameters; what may go
    /// elsewhere flows to the result.
    pub(super) fn call_operands(&mut self, inst: InstId, inputs: &[ValueId], transparent: bool) {
        let node = self.node(inst);
        let Some((&callee, rest)) = inputs.split_first() else {
            return;
        };
        self.found.edge(self.value(callee), node, DataKind::Callee);
        if transparent {
            return;
        }
        for (position, &input) in rest.iter().enumerate() {
            if position > 0 || !self.is_receiver_or_null(input) {
                self.found.edge(self.value(input), node, DataKind::Operand);
            }
        }
        let raised = self.hub(self.code, RAISED);
        for to in self.handlers(inst) {
            if Some(to) != raised {
                self.found.edge(node, Some(to), DataKind::Raise);
            }
        }
        self.drives(inst, callee, rest);
    }

    /// A call outside the program that is handed a generator may drive it.
    fn drives(&mut self, inst: InstId, callee: ValueId, inputs: &[ValueId]) {
        for &input in inputs {
            if !Self::is_null(input) && !self.is_receiver_or_null(input) {
                for generator in self.context.generators(self.code, input) {
                    self.drive(generator, inst, true);
                }
            }
        }
        let Some((load, Op::LoadMethod(name))) = self.operation(callee) else {
            return;
        };
        let Some(&base) = self.body.ssa.inputs(load).first() else {
            return;
        };
        let name = self.program.text(self.symbol(name));
        let sends = matches!(name, "send" | "asend");
        let throws = matches!(name, "throw" | "athrow");
        for generator in self.context.generators(self.code, base) {
            self.drive(generator, inst, false);
            if let (true, Some(&sent)) = (sends, inputs.get(1)) {
                self.found
                    .edge(self.value(sent), self.hub(generator, SENT), DataKind::Send);
            }
            if throws {
                for &thrown in inputs.iter().skip(1) {
                    let from = self.value(thrown);
                    for to in suspended_handlers(self.context, generator) {
                        self.found.edge(from, Some(to), DataKind::Raise);
                    }
                }
            }
        }
    }
}
