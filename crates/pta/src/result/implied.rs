//! Heap accesses that no operation spells out: what the functions of the reserved module do, and what patterns read.
//!
//! ```python
//! queue.append(item)           # the model of `list.append` stores by `_hognose.store(self, item)`
//! setattr(hooks, "run", main)  # a store of the attribute `run`
//! case Circle(radius): ...     # a load of the attributes that `Circle.__match_args__` names
//! ```

use super::PointsTo;
use crate::engine::{CallKind, Target};
use crate::heap::{Allocation, Field, Object};
use crate::ids::{ActId, ObjId, SiteId};
use crate::python::classes::Base;
use crate::python::intrinsics::Intrinsic;
use crate::template::{Callee, Key, Local, NO_LOCAL, Operation};
use hognose_base::Symbol;

/// Reports an access of a field of an object; the flag says whether it writes.
type Report<'r> = &'r mut dyn FnMut(ObjId, Field, bool);

impl PointsTo {
    /// Accesses of a call, through the function of the reserved module that it reaches (as `getattr`, or inside a model).
    pub(super) fn call_accesses(&self, site: SiteId, callee: Callee, call: u32, report: Report<'_>) {
        let act = self.site_acts[site];
        let arguments = &self.templates[self.acts[act].code].calls[call as usize].positional;
        for (intrinsic, bound) in self.intrinsics_at(site) {
            let receivers = match bound {
                Some(receiver) => Some(vec![receiver]),
                None => self.receivers(act, callee),
            };
            let shift = usize::from(receivers.is_some());
            let argument = |index: usize| -> Local {
                let at = index.checked_sub(shift);
                at.and_then(|at| arguments.get(at)).copied().unwrap_or(NO_LOCAL)
            };
            let first = receivers.unwrap_or_else(|| self.objects(act, argument(0)));
            let second = argument(1);
            self.intrinsic_accesses(act, intrinsic, &first, second, report);
        }
    }

    fn intrinsic_accesses(
        &self,
        act: ActId,
        intrinsic: Intrinsic,
        objects: &[ObjId],
        second: Local,
        report: Report<'_>,
    ) {
        let mut all = |objects: &[ObjId], field: Field, write: bool| {
            objects.iter().for_each(|&object| report(object, field, write));
        };
        match intrinsic {
            Intrinsic::Store => all(objects, Field::ANY_IN, true),
            Intrinsic::StoreKey => all(objects, Field::KEYS, true),
            Intrinsic::SetItem | Intrinsic::GetItem => {
                let write = intrinsic == Intrinsic::SetItem;
                let key = if second == NO_LOCAL {
                    Key::Any
                } else {
                    Key::Node(second)
                };
                for field in self.fields_of_key(act, key, write) {
                    all(objects, field, write);
                }
            }
            Intrinsic::CopyItems => {
                all(objects, Field::ANY_IN, true);
                all(&self.objects(act, second), Field::ALL_OUT, false);
            }
            Intrinsic::Shift => {
                all(objects, Field::ALL_OUT, false);
                all(objects, Field::ANY_IN, true);
            }
            Intrinsic::Elements | Intrinsic::Next => all(objects, Field::ALL_OUT, false),
            Intrinsic::Keys => all(objects, Field::KEYS, false),
            Intrinsic::GetAttr | Intrinsic::RawGetAttr => {
                for name in self.names(act, second).into_iter().flatten() {
                    for &object in objects {
                        if let Some(field) = self.attribute_field(object, name) {
                            report(object, field, false);
                        }
                    }
                }
            }
            Intrinsic::SetAttr | Intrinsic::RawSetAttr => {
                for name in self.names(act, second) {
                    all(objects, name.map_or(Field::ANY_ATTRIBUTE, Field::attribute), true);
                }
            }
            _ => {}
        }
    }

    /// A key of a `__dict__` is an attribute of the object.
    pub(super) fn owned(&self, object: ObjId, field: Field) -> (ObjId, Field) {
        match (self.heap.get(object), field.as_str_key()) {
            (Object::Instance(_, Allocation::Namespace(owner)), Some(name)) => (owner, Field::attribute(name)),
            _ => (object, field),
        }
    }

    /// The slot that a load of an attribute means, if the object has one of its own; else the load reads the class.
    fn attribute_field(&self, object: ObjId, name: Symbol) -> Option<Field> {
        Some(Field::attribute(name)).filter(|&field| self.heap.slot(object, field).is_some())
    }

    fn fields_of_key(&self, act: ActId, key: Key, write: bool) -> Vec<Field> {
        let mut fields = Vec::new();
        self.item_fields(act, key, write, &mut |field| fields.push(field));
        fields
    }

    /// The names that a local may be; `None` for those that are no constants.
    fn names(&self, act: ActId, local: Local) -> Vec<Option<Symbol>> {
        let mut names: Vec<Option<Symbol>> = self
            .objects(act, local)
            .into_iter()
            .map(|object| match self.heap.get(object) {
                Object::Str(name) => Some(name),
                _ => None,
            })
            .collect();
        let open = self
            .node(act, local)
            .is_some_and(|node| !self.solver.reasons(node).is_empty());
        names.extend(open.then_some(None));
        names.sort_unstable();
        names.dedup();
        names
    }

    fn objects(&self, act: ActId, local: Local) -> Vec<ObjId> {
        self.node(act, local)
            .map_or_else(Vec::new, |node| self.solver.set(node).to_vec())
    }

    /// The functions of the reserved module that a call reaches, each with the receiver it is bound to if it came as a
    /// bound method.
    fn intrinsics_at(&self, site: SiteId) -> Vec<(Intrinsic, Option<ObjId>)> {
        let start = self.site_targets.partition_point(|&(at, ..)| at < site);
        let here = self.site_targets[start..].iter().take_while(|&&(at, ..)| at == site);
        let mut found = Vec::new();
        for &(_, kind, target) in here {
            let (Target::Builtin(object), CallKind::Call) = (target, kind) else {
                continue;
            };
            let Object::Intrinsic(intrinsic) = self.heap.get(object) else {
                continue;
            };
            let before = found.len();
            if let Operation::Call {
                callee: Callee::Value(callee),
                ..
            } = *self.operation(site)
            {
                for callee in self.objects(self.site_acts[site], callee) {
                    match self.heap.get(callee) {
                        Object::Bound(function, receiver) if function == object => {
                            found.push((intrinsic, Some(receiver)));
                        }
                        _ if callee == object => found.push((intrinsic, None)),
                        _ => {}
                    }
                }
            }
            if found.len() == before {
                found.push((intrinsic, None));
            }
        }
        found
    }

    /// The receivers that a call of an attribute passes first; `None` if what it finds is not bound.
    fn receivers(&self, act: ActId, callee: Callee) -> Option<Vec<ObjId>> {
        let base = match callee {
            Callee::Value(_) => return None,
            Callee::Attribute { base, .. } => base,
            Callee::Super { receiver, .. } => receiver,
        };
        let receivers: Vec<ObjId> = self
            .objects(act, base)
            .into_iter()
            .filter_map(|object| match self.heap.get(object) {
                Object::Super(_, receiver) => Some(receiver),
                Object::External(_) | Object::Module(_) => None,
                Object::Class(..) | Object::DynamicClass(_) if !matches!(callee, Callee::Super { .. }) => None,
                _ => Some(object),
            })
            .collect();
        (!receivers.is_empty()).then_some(receivers)
    }

    /// What a class pattern reads of its subject: the attributes of its keywords, and those that `__match_args__` names.
    pub(super) fn pattern_accesses(&self, act: ActId, operation: &Operation, report: Report<'_>) {
        let template = &self.templates[self.acts[act].code];
        match *operation {
            Operation::MatchClass {
                subject,
                class,
                positional,
                ref names,
                ..
            } => {
                let keywords = template.keys[names.start as usize..names.end as usize].iter();
                let mut read: Vec<Symbol> = keywords
                    .filter_map(|key| match *key {
                        Key::Str(name) => Some(name),
                        _ => None,
                    })
                    .collect();
                for class in self.objects(act, class) {
                    self.match_arguments(class, positional, &mut read);
                }
                for object in self.objects(act, subject) {
                    for &name in &read {
                        if let Some(field) = self.attribute_field(object, name) {
                            report(object, field, false);
                        }
                    }
                }
            }
            Operation::MatchKeys { subject, ref keys, .. } => {
                for object in self.objects(act, subject) {
                    for &key in &template.keys[keys.start as usize..keys.end as usize] {
                        for field in self.fields_of_key(act, key, false) {
                            report(object, field, false);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// The names in the `__match_args__` tuples along the orders of a class.
    fn match_arguments(&self, class: ObjId, count: u32, read: &mut Vec<Symbol>) {
        let (Some(info), Some(name)) = (self.classes.get(class), self.program.symbols.get("__match_args__")) else {
            return;
        };
        for &base in info.orders.iter().flatten() {
            let Base::Class(base) = base else { continue };
            let (tuples, _) = self.field(base, Field::attribute(name));
            for tuple in tuples {
                for at in 0..count {
                    let (names, _) = self.field(tuple, Field::int_key(i32::try_from(at).unwrap_or(i32::MAX)));
                    read.extend(names.into_iter().filter_map(|name| match self.heap.get(name) {
                        Object::Str(name) => Some(name),
                        _ => None,
                    }));
                }
            }
        }
    }
}
