//! Patterns of `match` and `except*`, and what a test says of a value on an edge.

use super::build::{Builder, Resolved};
use super::{Constant, Key, Local, NO_LOCAL, Operation};
use hognose_ir::{EdgeId, InstId, TestKind, ValueId};

impl Builder<'_> {
    pub(super) fn group_match(&mut self, inst: InstId, inputs: &[ValueId], raises: Local) {
        let (exception, class) = (self.local_at(inputs, 0), self.local_at(inputs, 1));
        let (rest, result) = (self.result(inst, 0), self.last_result(inst));
        if rest != NO_LOCAL && exception != NO_LOCAL {
            self.template.copies.push((exception, rest));
        }
        self.emit(
            Operation::Catch {
                exception,
                class,
                result,
                group: true,
            },
            inst,
            raises,
        );
    }

    /// A class pattern: the tuple of attributes gets one target per sub-pattern.
    pub(super) fn match_class(&mut self, inst: InstId, positional: u32, inputs: &[ValueId], raises: Local) {
        let (subject, class) = (self.local_at(inputs, 0), self.local_at(inputs, 1));
        let names = match inputs.get(2).map(|&value| self.resolve(value)) {
            Some(Resolved::Constant(Constant::Tuple(index))) => self.template.tuples[index as usize].clone(),
            _ => Vec::new(),
        };
        let result = self.result(inst, 0);
        let names = self.push_keys(&names);
        let targets = self.tuple_of_targets(inst, result, positional + (names.end - names.start));
        self.emit(
            Operation::MatchClass {
                subject,
                class,
                positional,
                names,
                targets,
            },
            inst,
            raises,
        );
    }

    pub(super) fn match_keys(&mut self, inst: InstId, inputs: &[ValueId], raises: Local) {
        let subject = self.local_at(inputs, 0);
        let keys = match inputs.get(1).map(|&value| self.resolve(value)) {
            Some(Resolved::Constant(Constant::Tuple(index))) => self.template.tuples[index as usize].clone(),
            _ => Vec::new(),
        };
        let result = self.result(inst, 0);
        let keys = self.push_keys(&keys);
        let targets = self.tuple_of_targets(inst, result, keys.end - keys.start);
        self.emit(Operation::MatchKeys { subject, keys, targets }, inst, raises);
    }

    pub(super) fn push_keys(&mut self, constants: &[Constant]) -> std::ops::Range<u32> {
        #[allow(clippy::cast_possible_truncation)]
        let start = self.template.keys.len() as u32;
        self.template
            .keys
            .extend(constants.iter().map(|&constant| Key::of(constant)));
        #[allow(clippy::cast_possible_truncation)]
        let end = self.template.keys.len() as u32;
        start..end
    }

    pub(super) fn tuple_of_targets(&mut self, inst: InstId, result: Local, count: u32) -> std::ops::Range<u32> {
        #[allow(clippy::cast_possible_truncation)]
        let start = self.template.pool.len() as u32;
        let mut elements = Vec::new();
        for at in 0..count {
            let target = self.fresh();
            self.template.pool.push(target);
            elements.push((Key::Int(i32::try_from(at).unwrap_or(i32::MAX)), target));
        }
        self.empty_display("tuple", result, inst, 0);
        if let Some(display) = self.template.displays.last_mut()
            && display.result == result
        {
            display.elements = elements;
        }
        start..start + count
    }

    /// The value as it is known behind a test, where the test says something about its class.
    pub(super) fn refined(&mut self, of: ValueId, edge: EdgeId) -> Option<Resolved> {
        let fact = self.body.test_of(self.objects, edge)?;
        let inst = self.body.cfg.edges[edge].inst?;
        let value = self.known_local(of)?;
        let (operation, result) = match (fact.kind, fact.holds) {
            (TestKind::ExceptionMatch { class }, true) => {
                let (exception, class, result) = (value, self.known_local(class)?, self.fresh());
                let catch = Operation::Catch {
                    exception,
                    class,
                    result,
                    group: false,
                };
                (catch, result)
            }
            (TestKind::IsInstance { class }, holds) => {
                let (class, result) = (self.known_local(class)?, self.fresh());
                let narrow = if holds {
                    Operation::Narrow { value, class, result }
                } else {
                    Operation::NarrowOut { value, class, result }
                };
                (narrow, result)
            }
            (TestKind::IsNone, true) => {
                let result = self.fresh();
                (Operation::OnlyNone { value, result }, result)
            }
            // What is callable or true is not None; what is neither may be anything.
            (TestKind::IsNone, false) | (TestKind::Callable | TestKind::Truth, true) => {
                let result = self.fresh();
                (Operation::NotNone { value, result }, result)
            }
            _ => return None,
        };
        self.emit(operation, inst, NO_LOCAL);
        Some(Resolved::Local(result))
    }

    /// The local of a value, if it has one.
    fn known_local(&mut self, value: ValueId) -> Option<Local> {
        Some(self.local(value)).filter(|&local| local != NO_LOCAL)
    }
}
