//! Constants: what a value is whatever the program does, and what operators on such values give.

use super::build::{Builder, FOLD_DEPTH, Resolved};
use super::{Constant, Local};
use hognose_ir::{BinaryOp, CommonConstant, InstId, Op};
use hognose_pyc::{Object, ObjectId};

impl Builder<'_> {
    /// A variable that holds a constant has a local even if nothing reads it, for those who ask what it is.
    pub(super) fn stored_constants(&mut self) {
        if self.program.is_model(self.code) {
            return;
        }
        for (inst, info) in self.body.insts.iter_enumerated() {
            if !matches!(
                info.op,
                Op::StoreLocal(_) | Op::StoreDeref(_) | Op::StoreName(_) | Op::StoreGlobal(_)
            ) {
                continue;
            }
            for output in self.ssa.outputs(inst) {
                if let Resolved::Constant(constant) = self.resolved[output] {
                    self.constant_local(constant);
                }
            }
        }
    }

    pub(super) fn constant_local(&mut self, constant: Constant) -> Local {
        if let Some(&local) = self.constant_locals.get(&constant) {
            return local;
        }
        let local = self.fresh();
        self.constant_locals.insert(constant, local);
        self.template.constants.push((constant, local));
        local
    }

    /// The scalar that an operator on scalars gives, by its type only.
    pub(super) fn fold(&mut self, inst: InstId) -> Option<Constant> {
        let op = self.body.insts[inst].op;
        let mut operands = [Constant::None; 2];
        let inputs = self.ssa.inputs(inst);
        if inputs.is_empty() || inputs.len() > 2 {
            return None;
        }
        for (at, &input) in inputs.iter().enumerate() {
            match self.resolve(input) {
                Resolved::Constant(constant) if constant.is_scalar() => operands[at] = constant,
                _ => return None,
            }
        }
        match op {
            Op::Compare { .. } => Some(Constant::Bool),
            Op::Unary(_) => Some(generic(operands[0])),
            Op::Binary { op, .. } => fold_binary(op, operands[0], operands[1]),
            _ => None,
        }
    }

    pub(super) fn constant(&mut self, id: ObjectId) -> Resolved {
        match self.constant_of(id) {
            Some(constant) => Resolved::Constant(constant),
            None => Resolved::Nothing,
        }
    }

    pub(super) fn constant_of(&mut self, id: ObjectId) -> Option<Constant> {
        Some(match self.objects.get(id) {
            Object::None => Constant::None,
            Object::True | Object::False => Constant::Bool,
            Object::Ellipsis => Constant::Ellipsis,
            Object::Int(value) => match i32::try_from(*value) {
                Ok(value) if value.unsigned_abs() < 1 << 20 => Constant::Int(value),
                _ => Constant::BigInt,
            },
            Object::BigInt { .. } => Constant::BigInt,
            Object::Float(_) => Constant::Float,
            Object::Complex(..) => Constant::Complex,
            Object::Bytes(_) => Constant::Bytes,
            Object::Str(_) => {
                let symbol = self.objects.text(id).and_then(|text| self.program.symbols.get(&text));
                symbol.map_or(Constant::Str, Constant::Name)
            }
            Object::Slice(_) => Constant::Slice,
            Object::Tuple(items) | Object::FrozenSet(items) | Object::Set(items) | Object::List(items) => {
                let set = matches!(self.objects.get(id), Object::FrozenSet(_) | Object::Set(_));
                let items = *items;
                let index = self.tuple_constant(id, items);
                if set {
                    Constant::FrozenSet(index)
                } else {
                    Constant::Tuple(index)
                }
            }
            Object::Code(_) | Object::Null | Object::StopIteration | Object::Dict(_) | Object::FrozenDict(_) => {
                return None;
            }
        })
    }

    pub(super) fn tuple_constant(&mut self, id: ObjectId, items: hognose_pyc::Items) -> u32 {
        if let Some(&index) = self.tuple_of.get(&id) {
            return index;
        }
        self.depth += 1;
        let members: Vec<ObjectId> = self.objects.items(items).to_vec();
        let constants = if self.depth > FOLD_DEPTH {
            Vec::new()
        } else {
            members
                .into_iter()
                .map(|item| self.constant_of(item).unwrap_or(Constant::None))
                .collect()
        };
        self.depth -= 1;
        #[allow(clippy::cast_possible_truncation)]
        let index = self.template.tuples.len() as u32;
        self.template.tuples.push(constants);
        self.tuple_of.insert(id, index);
        index
    }
}

pub(super) fn common_constant(constant: CommonConstant) -> Constant {
    match constant {
        CommonConstant::None => Constant::None,
        CommonConstant::True | CommonConstant::False => Constant::Bool,
        CommonConstant::MinusOne => Constant::Int(-1),
        CommonConstant::EmptyStr => Constant::Str,
        CommonConstant::AssertionError => Constant::Builtin("AssertionError"),
        CommonConstant::NotImplementedError => Constant::Builtin("NotImplementedError"),
        CommonConstant::Tuple => Constant::Builtin("tuple"),
        CommonConstant::List => Constant::Builtin("list"),
        CommonConstant::Set => Constant::Builtin("set"),
        CommonConstant::All => Constant::Builtin("all"),
        CommonConstant::Any => Constant::Builtin("any"),
    }
}

/// The type of a scalar without its value.
const fn generic(constant: Constant) -> Constant {
    match constant {
        Constant::Int(_) | Constant::Bool => Constant::BigInt,
        Constant::Name(_) => Constant::Str,
        other => other,
    }
}

fn fold_binary(op: BinaryOp, left: Constant, right: Constant) -> Option<Constant> {
    match (generic(left), generic(right)) {
        (Constant::BigInt, Constant::BigInt) if op == BinaryOp::TrueDivide => Some(Constant::Float),
        (Constant::BigInt, Constant::BigInt) => Some(Constant::BigInt),
        (Constant::Float, Constant::BigInt | Constant::Float) | (Constant::BigInt, Constant::Float) => {
            Some(Constant::Float)
        }
        (Constant::Str, _) if op == BinaryOp::Remainder => Some(Constant::Str),
        (Constant::Str, Constant::Str) if op == BinaryOp::Add => Some(Constant::Str),
        (Constant::Str, Constant::BigInt) | (Constant::BigInt, Constant::Str) if op == BinaryOp::Multiply => {
            Some(Constant::Str)
        }
        (Constant::Bytes, Constant::Bytes) if op == BinaryOp::Add => Some(Constant::Bytes),
        _ => None,
    }
}
