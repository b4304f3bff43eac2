//! What formatting and hashing add to the template.

use super::build::Builder;
use super::formats::{Conversion, Field, brace_conversions, percent_conversions};
use super::{Arguments, Local, NO_LOCAL, Operation};
use hognose_ir::{Conversion as Converted, Def, InstId, Op, ValueId};
use hognose_pyc::Object;

impl Builder<'_> {
    /// `"..." % values` of a constant string.
    pub(super) fn interpolate(&mut self, inst: InstId, inputs: &[ValueId], raises: Local) {
        let format = self.constant_text(inputs[0]).unwrap_or_default();
        let (values, result) = (self.local_at(inputs, 1), self.last_result(inst));
        let conversions = self.push_conversions(percent_conversions(&format));
        self.emit(
            Operation::Interpolate {
                values,
                conversions,
                result,
            },
            inst,
            raises,
        );
    }

    /// `"...".format(...)` of a constant string: the fields with a conversion. The model does the rest.
    pub(super) fn format_call(&mut self, inst: InstId, callee: ValueId, arguments: &Arguments, raises: Local) {
        let Def::Inst { inst: load, .. } = self.ssa.values[callee] else {
            return;
        };
        let (Op::LoadMethod(name) | Op::LoadAttr(name)) = self.body.insts[load].op else {
            return;
        };
        let name = self.name(name);
        let Some(format) = self.ssa.inputs(load).first().and_then(|&base| self.constant_text(base)) else {
            return;
        };
        if self.program.text(name) != "format" {
            return;
        }
        for (field, method) in brace_conversions(&format) {
            let operand = match field {
                Field::Position(place) => arguments.positional.get(place as usize).copied(),
                Field::Name(name) => {
                    let mut keywords = arguments.keywords.iter();
                    let named = keywords.find(|&&(keyword, _)| self.program.text(keyword) == name);
                    named.map(|&(_, local)| local)
                }
            };
            if let Some(operand) = operand.filter(|&operand| operand != NO_LOCAL) {
                let conversion = Some(if method == "__str__" {
                    Converted::Str
                } else {
                    Converted::Repr
                });
                self.emit(Operation::Format { operand, conversion }, inst, raises);
            }
        }
    }

    /// The text of a constant string.
    pub(super) fn constant_text(&self, value: ValueId) -> Option<String> {
        let Def::Inst { inst, .. } = self.ssa.values[value] else {
            return None;
        };
        match self.body.insts[inst].op {
            Op::Const(id) if matches!(self.objects.get(id), Object::Str(_)) => {
                self.objects.text(id).map(|text| text.to_string())
            }
            _ => None,
        }
    }

    fn push_conversions(&mut self, conversions: Vec<Conversion>) -> std::ops::Range<u32> {
        #[allow(clippy::cast_possible_truncation)]
        let start = self.template.conversions.len() as u32;
        self.template.conversions.extend(conversions);
        #[allow(clippy::cast_possible_truncation)]
        let end = self.template.conversions.len() as u32;
        start..end
    }

    /// The keys of a display, or what is added to a set, are hashed; one that is not alone is compared as well.
    pub(super) fn hashed(&mut self, operands: &[ValueId], container: Local, inst: InstId, raises: Local) {
        for &value in operands {
            if !self.scalar(value) {
                let operand = self.local(value);
                self.emit(Operation::Hash { operand, container }, inst, raises);
            }
        }
    }

    /// `{a, b}` and `{a: x, b: y}`
    pub(super) fn hash_display(&mut self, inst: InstId, inputs: &[ValueId], raises: Local) {
        let keys: Vec<ValueId> = match self.body.insts[inst].op {
            Op::BuildMap(_) => inputs.iter().step_by(2).copied().collect(),
            _ => inputs.to_vec(),
        };
        if keys.iter().all(|&key| self.scalar(key)) {
            return;
        }
        let container = if keys.len() > 1 {
            self.last_result_of_display(inst)
        } else {
            NO_LOCAL
        };
        self.hashed(&keys, container, inst, raises);
    }

    fn last_result_of_display(&mut self, inst: InstId) -> Local {
        let display = self.ssa.outputs(inst).last();
        display.map_or(NO_LOCAL, |value| self.local(value))
    }
}
