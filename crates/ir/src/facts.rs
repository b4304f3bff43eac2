//! What a branch has tested: the meaning of [`Def::Refined`] values.
//!
//! ```python
//! if not isinstance(x, str):   # the true edge: IsInstance { class: str } does not hold of x
//!     return
//! x.upper()                    # the false edge: it holds
//! ```
//! A test is recognised through `not`, truth conversion, and variables that hold the condition. Class patterns are tests by
//! their result, `except` clauses by the exception match.

use crate::body::{Body, Def, EdgeId, EdgeKind, ValueId};
use crate::op::{CommonConstant, CompareOp, InstId, NameId, Op, Test, UnaryOp};
use hognose_pyc::{Object, Objects};

/// What is asked of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TestKind {
    /// `isinstance(value, class)`, a class pattern.
    IsInstance {
        /// The class, or a tuple of classes.
        class: ValueId,
    },
    /// `value is None`
    IsNone,
    /// `value` as a condition.
    Truth,
    /// `callable(value)`
    Callable,
    /// `type(value) is class`, `type(value) == class`
    TypeIs {
        /// The class.
        class: ValueId,
    },
    /// `value == constant`, `value is constant`
    EqualsConst {
        /// The constant.
        constant: ValueId,
    },
    /// `value in constant`
    InConst {
        /// The constant container.
        constant: ValueId,
    },
    /// `except class` of the exception `value`.
    ExceptionMatch {
        /// The class, or a tuple of classes.
        class: ValueId,
    },
}

/// A fact about a value on one edge of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TestFact {
    /// What was tested; reads of variables are seen through.
    pub value: ValueId,
    /// The question.
    pub kind: TestKind,
    /// The answer on this edge.
    pub holds: bool,
    /// The called `isinstance`, `callable` or `type`, by its name: whether it is the builtin is not known here.
    pub callee: Option<ValueId>,
}

impl Body {
    /// What is known on an outgoing edge of a branch whose condition is a recognised test.
    #[must_use]
    pub fn test_of(&self, objects: &Objects, edge: EdgeId) -> Option<TestFact> {
        let edge = self.cfg.edges[edge];
        let on_edge = match edge.kind {
            EdgeKind::True => true,
            EdgeKind::False => false,
            _ => return None,
        };
        let branch = edge.inst?;
        let inputs = self.ssa.inputs(branch);
        match self.insts[branch].op {
            Op::BranchNotExceptionMatch { .. } => {
                let &[exception, class] = inputs else { return None };
                Some(self.fact(exception, TestKind::ExceptionMatch { class }, on_edge))
            }
            Op::Branch {
                test: Test::IsNone(_), ..
            } => {
                let &condition = inputs.first()?;
                if let Some((inst, 0)) = self.instruction(self.source(condition))
                    && let (Op::MatchClass { pushes_bool: false, .. }, &[subject, class, _]) =
                        (self.insts[inst].op, self.ssa.inputs(inst))
                {
                    return Some(self.fact(subject, TestKind::IsInstance { class }, !on_edge));
                }
                Some(self.fact(condition, TestKind::IsNone, on_edge))
            }
            Op::Branch {
                test: Test::Truth(_), ..
            } => self.truth_test(objects, *inputs.first()?, on_edge),
            _ => None,
        }
    }

    fn truth_test(&self, objects: &Objects, condition: ValueId, mut holds: bool) -> Option<TestFact> {
        let mut condition = condition;
        // Each step goes to a value that is defined earlier, so this ends.
        while let Some((inst, output)) = self.instruction(self.source(condition)) {
            let inputs = self.ssa.inputs(inst);
            match (self.insts[inst].op, inputs) {
                (Op::Unary(UnaryOp::Not), &[operand]) => {
                    holds = !holds;
                    condition = operand;
                }
                (Op::Unary(UnaryOp::ToBool), &[operand]) => condition = operand,
                (Op::Call { .. }, _) => match self.call_test(inst, holds) {
                    Some(fact) => return Some(fact),
                    None => break,
                },
                (Op::Is { invert }, &[left, right]) => return self.comparison(objects, left, right, holds != invert),
                (
                    Op::Compare {
                        op: CompareOp::Equal, ..
                    },
                    &[left, right],
                ) => {
                    return self
                        .comparison(objects, left, right, holds)
                        .filter(|fact| fact.kind != TestKind::IsNone);
                }
                (
                    Op::Compare {
                        op: CompareOp::NotEqual,
                        ..
                    },
                    &[left, right],
                ) => {
                    return self
                        .comparison(objects, left, right, !holds)
                        .filter(|fact| fact.kind != TestKind::IsNone);
                }
                (Op::Contains { invert }, &[left, right]) => {
                    let constant = self.source(right);
                    self.constant(constant)?;
                    return Some(self.fact(left, TestKind::InConst { constant }, holds != invert));
                }
                (Op::CheckExceptionMatch, &[exception, class]) => {
                    return Some(self.fact(exception, TestKind::ExceptionMatch { class }, holds));
                }
                (Op::MatchClass { pushes_bool: true, .. }, &[subject, class, _]) if output == 1 => {
                    return Some(self.fact(subject, TestKind::IsInstance { class }, holds));
                }
                _ => break,
            }
        }
        Some(self.fact(condition, TestKind::Truth, holds))
    }

    /// `isinstance(value, class)` or `callable(value)`.
    fn call_test(&self, call: InstId, holds: bool) -> Option<TestFact> {
        let (callee, name, arguments) = self.named_call(call)?;
        let (value, kind) = match (name, arguments) {
            (NameId::ISINSTANCE, [Some(value), Some(class)]) => (value, TestKind::IsInstance { class }),
            (NameId::CALLABLE, [Some(value), None]) => (value, TestKind::Callable),
            _ => return None,
        };
        Some(TestFact {
            callee: Some(callee),
            ..self.fact(value, kind, holds)
        })
    }

    /// `left == right` or `left is right`.
    fn comparison(&self, objects: &Objects, left: ValueId, right: ValueId, holds: bool) -> Option<TestFact> {
        if let Some((inst, _)) = self.instruction(self.source(left))
            && let Some((callee, NameId::TYPE, [Some(subject), None])) = self.named_call(inst)
        {
            let fact = self.fact(subject, TestKind::TypeIs { class: right }, holds);
            return Some(TestFact {
                callee: Some(callee),
                ..fact
            });
        }
        let constant = self.source(right);
        let kind = match self.constant(constant)? {
            Op::CommonConst(CommonConstant::None) => TestKind::IsNone,
            Op::Const(object) if *objects.get(object) == Object::None => TestKind::IsNone,
            _ => TestKind::EqualsConst { constant },
        };
        Some(self.fact(left, kind, holds))
    }

    fn fact(&self, value: ValueId, kind: TestKind, holds: bool) -> TestFact {
        TestFact {
            value: self.through_read(value),
            kind,
            holds,
            callee: None,
        }
    }

    /// A call of a global by its name with one or two positional arguments.
    fn named_call(&self, call: InstId) -> Option<(ValueId, NameId, [Option<ValueId>; 2])> {
        let &[callee, receiver, ref arguments @ ..] = self.ssa.inputs(call) else {
            return None;
        };
        let is_call = matches!(self.insts[call].op, Op::Call { .. });
        if !is_call || self.ssa.keyword_names(call).is_some() {
            return None;
        }
        let (Op::LoadGlobal(name) | Op::LoadName(name)) = self.insts[self.instruction(callee)?.0].op else {
            return None;
        };
        let receiver = Some(receiver).filter(|&receiver| receiver != crate::body::Ssa::NULL);
        let mut all = receiver.into_iter().chain(arguments.iter().copied());
        let result = [all.next(), all.next()];
        all.next().is_none().then_some((callee, name, result))
    }

    /// The instruction that makes a value, with its operation; `None` for parameters, phis and caught exceptions.
    #[must_use]
    pub fn made_by(&self, value: ValueId) -> Option<(InstId, Op)> {
        self.instruction(value).map(|(inst, _)| (inst, self.insts[inst].op))
    }

    fn instruction(&self, value: ValueId) -> Option<(InstId, u16)> {
        match self.ssa.values[value] {
            Def::Inst { inst, output } => Some((inst, output)),
            _ => None,
        }
    }

    fn constant(&self, value: ValueId) -> Option<Op> {
        let (_, op) = self.made_by(value)?;
        matches!(op, Op::Const(_) | Op::SmallInt(_) | Op::CommonConst(_)).then_some(op)
    }

    /// The value of the variable, if `value` is a read of one.
    #[must_use]
    pub fn through_read(&self, value: ValueId) -> ValueId {
        let Some((inst, _)) = self.instruction(value) else {
            return value;
        };
        match (self.insts[inst].op, self.ssa.inputs(inst)) {
            (Op::LoadLocal { .. } | Op::LoadDeref(_) | Op::LoadName(_), &[read])
                if read != crate::body::Ssa::UNBOUND =>
            {
                read
            }
            _ => value,
        }
    }

    /// What `value` is, seen through reads and writes of variables.
    #[must_use]
    pub fn source(&self, value: ValueId) -> ValueId {
        let mut value = value;
        loop {
            let read = self.through_read(value);
            let Some((inst, _)) = self.instruction(read) else {
                return read;
            };
            let next = match (self.insts[inst].op, self.ssa.inputs(inst)) {
                (Op::StoreLocal(_) | Op::StoreDeref(_) | Op::StoreName(_) | Op::StoreGlobal(_), &[stored]) => stored,
                _ => read,
            };
            if next == value {
                return value;
            }
            value = next;
        }
    }
}
