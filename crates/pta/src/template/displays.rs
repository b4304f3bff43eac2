//! Displays: `[a, b]`, `{k: v}`, `(a, b)`, and the keys under which their elements are kept.

use super::build::{Builder, Resolved};
use super::{Constant, Display, Key, Local, NO_LOCAL};
use hognose_ir::{InstId, Op, ValueId};

impl Builder<'_> {
    /// The subscript that a value is.
    pub(super) fn key(&mut self, value: ValueId) -> Key {
        match self.resolve(value) {
            Resolved::Constant(Constant::Slice) => self.slice_key(),
            Resolved::Constant(constant) => Key::of(constant),
            Resolved::Nothing | Resolved::Pending => Key::Any,
            Resolved::Local(local) => Key::Node(local),
        }
    }

    pub(super) fn display(&mut self, inst: InstId) -> Resolved {
        let result = self.result(inst, 0);
        if result == NO_LOCAL {
            return Resolved::Nothing;
        }
        let op = self.body.insts[inst].op;
        let inputs: Vec<ValueId> = self.ssa.inputs(inst).to_vec();
        let mut display = Display {
            class: "tuple",
            result,
            elements: Vec::new(),
            keys: Vec::new(),
            constant_keys: Vec::new(),
            inst,
            ordinal: 0,
        };
        match op {
            Op::BuildTuple(_) | Op::BuildList(_) => {
                display.class = if matches!(op, Op::BuildList(_)) {
                    "list"
                } else {
                    "tuple"
                };
                for (at, &input) in inputs.iter().enumerate() {
                    let value = self.local(input);
                    display
                        .elements
                        .push((Key::Int(i32::try_from(at).unwrap_or(i32::MAX)), value));
                }
            }
            Op::BuildSet(_) => {
                display.class = "set";
                for &input in &inputs {
                    let value = self.local(input);
                    display.elements.push((Key::Any, value));
                }
            }
            Op::BuildMap(_) => {
                display.class = "dict";
                for pair in inputs.chunks_exact(2) {
                    self.mapping_entry(&mut display, pair[0], pair[1]);
                }
            }
            _ => {
                display.class = "dict";
                self.constant_key_map(&mut display, &inputs);
            }
        }
        self.template.displays.push(display);
        Resolved::Local(result)
    }

    pub(super) fn mapping_entry(&mut self, display: &mut Display, key: ValueId, value: ValueId) {
        let value = self.local(value);
        if let Resolved::Constant(constant) = self.resolve(key) {
            display.constant_keys.push(constant);
        }
        let key = self.key(key);
        if let Key::Node(local) = key {
            display.keys.push(local);
        }
        display.elements.push((key, value));
    }

    pub(super) fn constant_key_map(&mut self, display: &mut Display, inputs: &[ValueId]) {
        let Some((&keys, values)) = inputs.split_last() else {
            return;
        };
        let keys = match self.resolve(keys) {
            Resolved::Constant(Constant::Tuple(index)) => self.template.tuples[index as usize].clone(),
            _ => Vec::new(),
        };
        for (at, &input) in values.iter().enumerate() {
            let value = self.local(input);
            let key = keys.get(at).copied();
            display.constant_keys.extend(key);
            display.elements.push((key.map_or(Key::Any, Key::of), value));
        }
    }

    pub(super) fn empty_display(&mut self, class: &'static str, result: Local, inst: InstId, ordinal: u8) {
        if result != NO_LOCAL {
            self.template.displays.push(Display {
                class,
                result,
                elements: Vec::new(),
                keys: Vec::new(),
                constant_keys: Vec::new(),
                inst,
                ordinal,
            });
        }
    }
}
