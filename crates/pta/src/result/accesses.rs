//! Which heap slots the instructions of the program read and write.

use super::{PointsTo, sorted_by_code};
use crate::heap::{Field, Object};
use crate::ids::{ActId, CodeId, ObjId, SiteId};
use crate::template::{Callee, Key, Local, Operation};
use crate::vocabulary::Target;
use hognose_ir::InstId;
use smallvec::SmallVec;

/// A read or write of a heap slot by an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// The code.
    pub code: CodeId,
    /// The instruction; for what a cloned library model does, the call in the program.
    pub inst: InstId,
    /// The object.
    pub object: ObjId,
    /// The field. Elements under an unknown key are [`Field::ANY_IN`] when stored, [`Field::ALL_OUT`] when loaded.
    pub field: Field,
    /// Whether it writes.
    pub write: bool,
}

/// Where an operation of an activation counts as being.
#[derive(Clone, Copy)]
struct OperationAt {
    code: CodeId,
    inst: InstId,
    act: ActId,
    site: SiteId,
}

impl PointsTo {
    /// Reads and writes of heap slots by instructions of the program, sorted and without repetition.
    #[must_use]
    pub fn accesses(&self) -> Vec<Access> {
        let mut accesses = Vec::new();
        let intrinsics = self.intrinsic_sites();
        for (id, act) in self.acts.iter_enumerated() {
            // What a cloned model does, it does at the call in the program.
            let place = if !self.program.is_model(act.code) {
                None
            } else if let Some(outer) = act.context {
                let place = self.site_place(self.origin(outer));
                if self.program.is_model(place.0) {
                    continue;
                }
                Some(place)
            } else {
                continue;
            };
            let template = &self.templates[act.code];
            let mut rest = &intrinsics[intrinsics.partition_point(|&site| site < act.sites)..];
            let insts = template.operation_insts.iter();
            for ((site, operation), &inst) in (act.sites.raw()..).zip(&template.operations).zip(insts) {
                let intrinsic = rest.first().is_some_and(|at| at.raw() == site);
                rest = &rest[usize::from(intrinsic)..];
                let (code, inst) = place.unwrap_or((act.code, inst));
                let at = OperationAt {
                    code,
                    inst,
                    act: id,
                    site: SiteId::new(site),
                };
                self.operation_accesses(at, operation, intrinsic, &mut accesses);
            }
        }
        sorted_by_code(self.program.codes.len(), &accesses, |access| access.code)
    }

    fn operation_accesses(&self, at: OperationAt, operation: &Operation, intrinsic: bool, accesses: &mut Vec<Access>) {
        let OperationAt { code, inst, act, site } = at;
        let mut report = |object, field, write| {
            let (object, field) = self.owned(object, field);
            accesses.push(Access {
                code,
                inst,
                object,
                field,
                write,
            });
        };
        let mut add = |base: Local, field: Field, write: bool, existing: bool| {
            let Some(node) = self.node(act, base) else { return };
            self.solver.set(node).for_each(|object| {
                if !existing || self.heap.slot(object, field).is_some() {
                    report(object, field, write);
                }
            });
        };
        match *operation {
            // A load means the object's own slot if there is one; else it reads the class.
            Operation::LoadAttribute { base, name, .. } => add(base, Field::attribute(name), false, true),
            Operation::StoreAttribute { base, name, .. } => add(base, Field::attribute(name), true, false),
            Operation::LoadItem { base, key, .. } => {
                self.item_fields(act, key, false, &mut |field| add(base, field, false, false));
            }
            Operation::StoreItem { base, key, .. } => {
                self.item_fields(act, key, true, &mut |field| add(base, field, true, false));
            }
            Operation::CopyItems { from, to } => {
                add(from, Field::ALL_OUT, false, false);
                add(to, Field::ANY_IN, true, false);
            }
            Operation::Next { iterator: base, .. } | Operation::Unpack { iterable: base, .. } => {
                add(base, Field::ALL_OUT, false, false);
            }
            Operation::LoadCell { cell, .. } => add(cell, Field::CONTENTS, false, false),
            Operation::StoreCell { cell, .. } => add(cell, Field::CONTENTS, true, false),
            Operation::Call { callee, call, .. } => {
                if let Callee::Attribute { base, name, .. } = callee {
                    add(base, Field::attribute(name), false, true);
                }
                if intrinsic {
                    self.call_accesses(site, callee, call, &mut report);
                }
            }
            Operation::MatchClass { .. } | Operation::MatchKeys { .. } => {
                self.pattern_accesses(act, operation, &mut report);
            }
            _ => {}
        }
    }

    /// The sites that call a function of the reserved module.
    fn intrinsic_sites(&self) -> Vec<SiteId> {
        let mut sites: Vec<SiteId> = Vec::new();
        for &(site, _, target) in &self.site_targets {
            if let Target::Builtin(object) = target
                && matches!(self.heap.get(object), Object::Intrinsic(_))
                && sites.last() != Some(&site)
            {
                sites.push(site);
            }
        }
        sites
    }

    /// Calls `each` for the fields that an access under a key means.
    pub(super) fn item_fields(&self, act: ActId, key: Key, write: bool, each: &mut dyn FnMut(Field)) {
        let unknown = if write { Field::ANY_IN } else { Field::ALL_OUT };
        match key {
            Key::Str(name) => each(Field::str_key(name)),
            Key::Int(value) if value >= 0 => each(Field::int_key(value)),
            Key::Int(_) | Key::Any => each(unknown),
            Key::Node(local) => {
                let mut fields: SmallVec<[Field; 8]> = SmallVec::new();
                let mut all = false;
                if let Some(node) = self.node(act, local) {
                    all = self.solver.reasons(node).is_empty();
                    self.solver.set(node).for_each(|key| match self.heap.get(key) {
                        Object::Str(name) => fields.push(Field::str_key(name)),
                        Object::Int(value) if value >= 0 => fields.push(Field::int_key(value)),
                        _ => all = false,
                    });
                }
                if all && !fields.is_empty() {
                    fields.into_iter().for_each(each);
                } else {
                    each(unknown);
                }
            }
        }
    }
}
