//! Operators, comparisons, truth, membership, formatting.
//!
//! Data model 3.3.8 "Emulating numeric types": `x + y` asks `type(x).__add__`, then `type(y).__radd__` if the first is
//! missing or gives NotImplemented; a subclass on the right goes first; `x += y` asks `__iadd__` before. Comparisons
//! reflect likewise (3.3.1); `in` falls back to iteration; truth to `__len__`. What only a missing method triggers is
//! decided at quiescence. Builtin scalars decline operands of the program's own classes, which is known at once.

use crate::engine::{CallKind, Engine, Fallback, GroupKey, NO_NODE, Question, Task};
use crate::heap::{Field, Object, Step};
use crate::ids::{NodeId, ObjId, SiteId};
use crate::python::names;
use crate::template::{Operation, formats};
use hognose_base::{ReasonSet, Symbol};
use hognose_ir::{BinaryOp, CompareOp, Conversion, UnaryOp};

/// The special methods of an operator: direct, reflected, in place.
const fn binary_methods(op: BinaryOp) -> (Symbol, Symbol, Symbol) {
    match op {
        BinaryOp::Add => (names::ADD, names::RADD, names::IADD),
        BinaryOp::And => (names::AND, names::RAND, names::IAND),
        BinaryOp::FloorDivide => (names::FLOORDIV, names::RFLOORDIV, names::IFLOORDIV),
        BinaryOp::LeftShift => (names::LSHIFT, names::RLSHIFT, names::ILSHIFT),
        BinaryOp::MatrixMultiply => (names::MATMUL, names::RMATMUL, names::IMATMUL),
        BinaryOp::Multiply => (names::MUL, names::RMUL, names::IMUL),
        BinaryOp::Remainder => (names::MOD, names::RMOD, names::IMOD),
        BinaryOp::Or => (names::OR, names::ROR, names::IOR),
        BinaryOp::Power => (names::POW, names::RPOW, names::IPOW),
        BinaryOp::RightShift => (names::RSHIFT, names::RRSHIFT, names::IRSHIFT),
        BinaryOp::Subtract => (names::SUB, names::RSUB, names::ISUB),
        BinaryOp::TrueDivide => (names::TRUEDIV, names::RTRUEDIV, names::ITRUEDIV),
        BinaryOp::Xor => (names::XOR, names::RXOR, names::IXOR),
    }
}

/// The special method of a comparison and its reflection.
const fn compare_methods(op: CompareOp) -> (Symbol, Symbol) {
    match op {
        CompareOp::Less => (names::LT, names::GT),
        CompareOp::LessEqual => (names::LE, names::GE),
        CompareOp::Equal => (names::EQ, names::EQ),
        CompareOp::NotEqual => (names::NE, names::NE),
        CompareOp::Greater => (names::GT, names::LT),
        CompareOp::GreaterEqual => (names::GE, names::LE),
    }
}

/// The operands and methods of a binary site.
pub(crate) struct Operands {
    left: NodeId,
    pub(crate) right: NodeId,
    pub(crate) result: NodeId,
    pub(crate) direct: Symbol,
    pub(crate) reflected: Symbol,
    pub(crate) in_place: Option<Symbol>,
    /// Whether it is a comparison.
    pub(crate) compares: bool,
}

impl Engine<'_> {
    pub(crate) fn operands(&self, site: SiteId) -> Option<Operands> {
        let node = |local| self.site_node(site, local);
        Some(match *self.operation(site) {
            Operation::Binary {
                op,
                in_place,
                left,
                right,
                result,
            } => {
                let (direct, reflected, augmented) = binary_methods(op);
                Operands {
                    left: node(left),
                    right: node(right),
                    result: node(result),
                    direct,
                    reflected,
                    in_place: in_place.then_some(augmented),
                    compares: false,
                }
            }
            Operation::Compare {
                op,
                left,
                right,
                result,
            } => {
                let (direct, reflected) = compare_methods(op);
                let (left, right, result) = (node(left), node(right), node(result));
                Operands {
                    left,
                    right,
                    result,
                    direct,
                    reflected,
                    in_place: None,
                    compares: true,
                }
            }
            _ => return None,
        })
    }

    /// Left operands arrived.
    pub(crate) fn left_operand(&mut self, site: SiteId, objects: &[ObjId], reasons: ReasonSet) {
        let Some(operands) = self.operands(site) else { return };
        for &object in objects {
            match self.heap.get(object) {
                Object::External(chain) => {
                    let next = self.heap.extend_chain(chain, Step::Operator);
                    let value = self.heap.object(Object::External(next));
                    self.add_object(operands.result, value);
                }
                _ => self.left_object(site, object, &operands),
            }
        }
        if !reasons.is_empty() {
            self.note_reasons(site, reasons);
            self.add_reasons(operands.result, reasons);
        }
    }

    fn left_object(&mut self, site: SiteId, object: ObjId, operands: &Operands) {
        let Some(class) = self.class_of(object) else { return };
        if self.known.is_scalar(class) {
            self.scalar_result(site, class, operands.result);
            self.scalar_left(site, operands);
            return;
        }
        if operands.compares {
            let direct = self.compared_by(class, operands.direct);
            if !self.class_may_have(class, direct) {
                // `object` compares by identity, and asks the other side first.
                let truth = self.scalar(self.known.bool_);
                self.add_object(operands.result, truth);
                self.ask_reflected(site, operands);
                return;
            }
        }
        if !self.left_goes_first(site, object, class, operands) {
            return;
        }
        let first = self.compared_by(class, operands.in_place.unwrap_or(operands.direct));
        let (receiver, new) = if operands.in_place.is_some() {
            self.kin_or_alone(GroupKey::Left(site), class, first)
        } else {
            self.kin(GroupKey::Left(site), class, first)
        };
        self.add_object(receiver, object);
        if !new {
            return;
        }
        let kind = CallKind::Protocol(first);
        let partial = self.declining(site, operands.result);
        let request = self.method_call(class, receiver, first, site, &[operands.right], partial, kind);
        if operands.in_place.is_some() {
            self.questions.push(Question::Fallback {
                class,
                tried: first,
                site,
                then: Fallback::Method {
                    name: operands.direct,
                    request,
                    receiver,
                },
            });
        } else {
            self.questions.push(Question::Fallback {
                class,
                tried: first,
                site,
                then: Fallback::Reflected,
            });
        }
    }

    /// `object.__ne__` asks `__eq__` and negates (data model 3.3.1), so a class without `__ne__` is compared by `__eq__`.
    pub(crate) fn compared_by(&self, class: ObjId, name: Symbol) -> Symbol {
        if name == names::NE && !self.class_may_have(class, name) {
            names::EQ
        } else {
            name
        }
    }

    /// A node for the answer of a method that may give NotImplemented, which is no result.
    pub(crate) fn declining(&mut self, site: SiteId, result: NodeId) -> NodeId {
        let known = self.operators.entry(site).or_default();
        if let Some(node) = known.answers {
            return node;
        }
        let node = self.solver.node();
        known.answers = Some(node);
        self.on(node, Task::Accept { site, result });
        node
    }

    /// Answers of an operator method arrived: NotImplemented asks the reflected method, all else is the result.
    pub(crate) fn accept(&mut self, objects: &[ObjId], reasons: ReasonSet, site: SiteId, result: NodeId) {
        for &object in objects {
            match self.heap.get(object) {
                Object::Instance(class, _) if class == self.known.not_implemented => {
                    if let Some(operands) = self.operands(site) {
                        self.ask_reflected(site, &operands);
                        self.ask_waiting_lefts(site, &operands);
                    }
                }
                _ => self.add_object(result, object),
            }
        }
        self.add_reasons(result, reasons);
    }

    /// Right operands arrived whose reflected method is asked.
    pub(crate) fn reflected(&mut self, objects: &[ObjId], site: SiteId, operands: &Operands) {
        for &object in objects {
            let Some(class) = self.class_of(object) else { continue };
            let name = self.compared_by(class, operands.reflected);
            if self.known.is_scalar(class) || operands.compares && !self.class_may_have(class, name) {
                continue;
            }
            let partial = self.declining(site, operands.result);
            let arguments = &[operands.left];
            self.ask(GroupKey::Right(site), class, name, object, site, arguments, partial);
        }
    }

    /// Right operands of a builtin scalar arrived.
    pub(crate) fn reflected_scalar(&mut self, objects: &[ObjId], site: SiteId, operands: &Operands) {
        for &object in objects {
            match self.class_of(object) {
                Some(class) if self.known.is_scalar(class) => self.scalar_result(site, class, operands.result),
                _ => self.reflected(&[object], site, operands),
            }
        }
        if matches!(
            *self.operation(site),
            Operation::Binary {
                op: BinaryOp::Remainder,
                ..
            }
        ) {
            self.formatted(objects, site);
        }
    }

    /// Values arrived that `"..." % values` of a constant string converts: a tuple gives one value to each conversion, a
    /// mapping those it names, anything else is the only value.
    pub(crate) fn interpolate(&mut self, objects: &[ObjId], site: SiteId) {
        let Operation::Interpolate { ref conversions, .. } = *self.operation(site) else {
            return;
        };
        let templates = self.templates;
        let template = &templates[self.acts[self.site_acts[site]].code];
        let conversions = &template.conversions[conversions.start as usize..conversions.end as usize];
        for &object in objects {
            let is_tuple =
                matches!(self.class_of(object), Some(class) if self.classes.is_subclass(class, self.known.tuple));
            for (field, name) in conversions {
                let name = self.symbol(name);
                let values = match field {
                    formats::Field::Position(place) if is_tuple => {
                        let place = i32::try_from(*place).unwrap_or(i32::MAX);
                        self.element_slot(object, Field::int_key(place))
                    }
                    formats::Field::Position(_) => {
                        self.convert(&[object], site, name);
                        continue;
                    }
                    formats::Field::Name(key) if self.finds_by_hash(object) => match self.program.symbols.get(key) {
                        Some(key) => self.element_slot(object, Field::str_key(key)),
                        None => self.values(object),
                    },
                    formats::Field::Name(_) => continue,
                };
                self.on(values, Task::Convert { site, name });
            }
        }
    }

    /// `"..." % values` of a string that is not known converts the values in either way.
    fn formatted(&mut self, objects: &[ObjId], site: SiteId) {
        for &object in objects {
            if self.class_of(object) == Some(self.known.tuple) {
                let elements = self.elements(object);
                for name in [names::STR, names::REPR] {
                    self.on(elements, Task::Convert { site, name });
                }
            } else {
                for name in [names::STR, names::REPR] {
                    self.convert(&[object], site, name);
                }
            }
        }
    }

    /// The type of an operator on a scalar: that of either operand (a float for true division, a bool for comparisons).
    fn scalar_result(&mut self, site: SiteId, class: ObjId, result: NodeId) {
        let class = match *self.operation(site) {
            Operation::Compare { .. } => self.known.bool_,
            Operation::Binary {
                op: BinaryOp::TrueDivide,
                ..
            } if class == self.known.int => self.known.float,
            Operation::Binary { .. } if class == self.known.bool_ => self.known.int,
            _ => class,
        };
        if class != self.known.none && class != self.known.ellipsis {
            let value = self.scalar(class);
            self.add_object(result, value);
        }
    }

    /// Operands of a unary operator arrived.
    pub(crate) fn unary(&mut self, site: SiteId, objects: &[ObjId], reasons: ReasonSet) {
        let Operation::Unary { op, result, .. } = *self.operation(site) else {
            return;
        };
        let result = self.site_node(site, result);
        let name = match op {
            UnaryOp::Negative => names::NEG,
            UnaryOp::Positive => names::POS,
            _ => names::INVERT,
        };
        for &object in objects {
            if let Object::External(chain) = self.heap.get(object) {
                let next = self.heap.extend_chain(chain, Step::Operator);
                let value = self.heap.object(Object::External(next));
                self.add_object(result, value);
                continue;
            }
            let Some(class) = self.class_of(object) else { continue };
            if self.known.is_scalar(class) {
                let value = self.scalar(class);
                self.add_object(result, value);
                continue;
            }
            self.ask(GroupKey::Left(site), class, name, object, site, &[], result);
        }
        if !reasons.is_empty() {
            self.note_reasons(site, reasons);
            self.add_reasons(result, reasons);
        }
    }

    /// Values arrived whose truth decides.
    pub(crate) fn truth(&mut self, objects: &[ObjId], site: SiteId) {
        let (truth, length) = (names::BOOL, names::LEN);
        for &object in objects {
            let Some(class) = self.program_class(object) else {
                continue;
            };
            let name = if self.class_may_have(class, truth) {
                truth
            } else if self.class_may_have(class, length) {
                length
            } else {
                continue;
            };
            self.ask(GroupKey::Truth(site), class, name, object, site, &[], NO_NODE);
        }
    }

    /// The class of an object if it is one of the program (models included), not a scalar or builtin container.
    pub(crate) fn program_class(&self, object: ObjId) -> Option<ObjId> {
        match self.heap.get(object) {
            Object::Instance(class, _) if !self.known.is_scalar(class) && !self.known.is_container(class) => {
                Some(class)
            }
            Object::Class(..) | Object::DynamicClass(_) => {
                self.class_of(object).filter(|&meta| meta != self.known.type_)
            }
            _ => None,
        }
    }

    /// Containers arrived that are asked for membership.
    pub(crate) fn contains(&mut self, objects: &[ObjId], reasons: ReasonSet, site: SiteId) {
        let Operation::Contains { item, .. } = *self.operation(site) else {
            return;
        };
        let item = self.site_node(site, item);
        let name = names::CONTAINS;
        for &object in objects {
            if matches!(self.heap.get(object), Object::External(_)) {
                self.note_reasons(site, hognose_base::UnresolvedKind::External.into());
                continue;
            }
            let Some(class) = self.program_class(object) else {
                if self.finds_by_hash(object) {
                    self.key_containers(&[object], site, item);
                } else if self.is_sequence(object) {
                    self.look_into(site, object, item);
                }
                continue;
            };
            let asked = self.ask(GroupKey::Left(site), class, name, object, site, &[item], NO_NODE);
            if let Some(receiver) = asked {
                let raises = self.site_raises(site);
                self.questions.push(Question::Fallback {
                    class,
                    tried: name,
                    site,
                    then: Fallback::Iterate {
                        receiver,
                        raises,
                        wanted: item,
                    },
                });
            }
        }
        self.note_reasons(site, reasons);
    }

    /// Values of an f-string field arrived.
    pub(crate) fn format(&mut self, objects: &[ObjId], site: SiteId) {
        let Operation::Format { conversion, .. } = *self.operation(site) else {
            return;
        };
        let name = match conversion {
            None => names::FORMAT,
            Some(Conversion::Str) => names::STR,
            Some(Conversion::Repr | Conversion::Ascii) => names::REPR,
        };
        self.convert(objects, site, name);
    }

    /// Calls a conversion method of objects of the program. `object.__format__` and `object.__str__` of the model lead
    /// on to `__str__` and `__repr__`.
    pub(crate) fn convert(&mut self, objects: &[ObjId], site: SiteId, name: Symbol) {
        for &object in objects {
            let Some(class) = self.program_class(object) else {
                self.convert_elements(object, site, name);
                continue;
            };
            // `object` has the methods that make text, and no others.
            if matches!(name, names::INT | names::FLOAT | names::INDEX) && !self.class_may_have(class, name) {
                continue;
            }
            // `__format__` is given the format specification.
            let specification;
            let arguments: &[NodeId] = if name == names::FORMAT {
                let text = self.scalar(self.known.str);
                specification = [self.single(text)];
                &specification
            } else {
                &[]
            };
            let key = GroupKey::Convert(site, name);
            self.ask(key, class, name, object, site, arguments, NO_NODE);
        }
    }

    /// The text of a container is made of the `__repr__` of its elements, the hash of an immutable one of their hashes (CPython:
    /// `list_repr`, `dict_repr`, `tuple_hash`).
    fn convert_elements(&mut self, object: ObjId, site: SiteId, name: Symbol) {
        let inner = match name {
            names::STR | names::REPR | names::FORMAT => names::REPR,
            names::HASH => names::HASH,
            _ => return,
        };
        let Some(class) = self.class_of(object).filter(|&class| self.known.is_container(class)) else {
            return;
        };
        if inner == names::HASH && class != self.known.tuple && class != self.known.frozenset {
            return;
        }
        // A container that holds itself is looked into once.
        let (_, new) = self.group(GroupKey::Convert(site, inner), object);
        if new {
            let values = self.values(object);
            self.on(values, Task::Convert { site, name: inner });
            if self.is_mapping(object) {
                let keys = self.slot(object, Field::KEYS);
                self.on(keys, Task::Convert { site, name: inner });
            }
        }
    }
}
