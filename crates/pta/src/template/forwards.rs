//! Which loads read what stores of the same body left.

use super::build::Builder;
use super::{Callee, Forward, NO_LOCAL, Operation};
use hognose_ir::{Def, InstId, ValueId};

impl Builder<'_> {
    /// Connects loads to the stores of the body that they read. Models are left out: they say what a library may do, not
    /// in which order.
    pub(super) fn forwards(&mut self) {
        if self.options.merge_definitions || self.program.is_model(self.code) {
            return;
        }
        let strong = self.program.facts.stores.checked_loads(self.program, self.code);
        if strong.pairs().is_empty() {
            return;
        }
        for operation in 0..self.template.operations.len() {
            let inst = self.template.operation_insts[operation];
            let load = match self.template.operations[operation] {
                Operation::LoadAttribute { special: false, .. } | Operation::LoadItem { .. } => inst,
                Operation::Call {
                    callee: Callee::Attribute { special: false, .. },
                    ..
                } => match self.ssa.inputs(inst).first().map(|&callee| self.ssa.values[callee]) {
                    Some(Def::Inst { inst: load, .. }) => load,
                    _ => continue,
                },
                _ => continue,
            };
            let stored = |store: InstId| self.ssa.inputs(store).first().copied();
            let value = match *strong.stores_of(load) {
                [] => continue,
                [(_, store)] => stored(store).map_or(NO_LOCAL, |value| self.local(value)),
                ref several => {
                    let values: Vec<ValueId> = several.iter().filter_map(|&(_, store)| stored(store)).collect();
                    let merged = self.fresh();
                    values.into_iter().for_each(|value| self.copy(value, merged));
                    merged
                }
            };
            if value != NO_LOCAL {
                self.template.forwards.push(Forward {
                    operation: u32::try_from(operation).unwrap_or(u32::MAX),
                    load,
                    value,
                });
            }
        }
    }
}
