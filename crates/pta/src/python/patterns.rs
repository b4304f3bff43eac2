//! Class and mapping patterns.
//!
//! Language Reference 8.6.4 "Patterns": a class pattern reads the attributes that `__match_args__` names for its
//! positional sub-patterns, then those named by keywords; a mapping pattern reads the values of its keys. The classes of
//! builtin scalars and containers match their subject itself as the only positional sub-pattern.

use super::intrinsics::NamedAccess;
use crate::engine::{Engine, Lookup, Sink, Task};
use crate::heap::{Field, Object};
use crate::ids::{NodeId, ObjId, SiteId};
use crate::python::names;
use crate::template::{Key, Operation};
use hognose_base::ReasonSet;

impl Engine<'_> {
    /// Classes of a class pattern arrived.
    pub(crate) fn match_class(&mut self, classes: &[ObjId], site: SiteId) {
        let Operation::MatchClass {
            subject,
            positional,
            ref names,
            ref targets,
            ..
        } = *self.operation(site)
        else {
            return;
        };
        let act = self.site_acts[site];
        let templates = self.templates;
        let template = &templates[self.acts[act].code];
        let targets: Vec<NodeId> = template.pool[targets.start as usize..targets.end as usize]
            .iter()
            .map(|&local| self.node(act, local))
            .collect();
        let names: Vec<Key> = template.keys[names.start as usize..names.end as usize].to_vec();
        let subject = self.node(act, subject);
        for &class in classes {
            let matched = self.solver.node();
            self.on(subject, Task::Match { class, result: matched });
            for (at, name) in names.iter().enumerate() {
                if let (Key::Str(name), Some(&target)) = (*name, targets.get(positional as usize + at)) {
                    self.on(
                        matched,
                        Task::Attribute {
                            name,
                            sink: Sink::Value(target),
                            site,
                            mode: Lookup::Normal,
                        },
                    );
                }
            }
            if positional > 0 {
                self.positional_patterns(class, site, matched, &targets[..positional as usize]);
            }
        }
    }

    fn positional_patterns(&mut self, class: ObjId, site: SiteId, matched: NodeId, targets: &[NodeId]) {
        if self.known.is_scalar(class) || self.known.is_container(class) {
            if let Some(&target) = targets.first() {
                self.add_edge(matched, target);
            }
            return;
        }
        let name = names::MATCH_ARGS;
        let found = self.lookup(class, name);
        for (at, &target) in targets.iter().enumerate() {
            let position = i32::try_from(at).unwrap_or(i32::MAX);
            self.on(
                found,
                Task::MatchArgument {
                    position,
                    matched,
                    target,
                    site,
                },
            );
        }
    }

    /// `__match_args__` tuples arrived.
    pub(crate) fn match_argument(
        &mut self,
        tuples: &[ObjId],
        position: i32,
        matched: NodeId,
        target: NodeId,
        site: SiteId,
    ) {
        for &tuple in tuples {
            let slot = self.element_slot(tuple, Field::int_key(position));
            let sink = Sink::Value(target);
            let access = NamedAccess::Load {
                holder: matched,
                sink,
                site,
                mode: Lookup::Normal,
            };
            self.on(slot, Task::AttributeName(access));
        }
    }

    /// Subjects of a mapping pattern arrived.
    pub(crate) fn match_keys(&mut self, subjects: &[ObjId], reasons: ReasonSet, site: SiteId) {
        let Operation::MatchKeys {
            ref keys, ref targets, ..
        } = *self.operation(site)
        else {
            return;
        };
        let act = self.site_acts[site];
        let templates = self.templates;
        let template = &templates[self.acts[act].code];
        for (index, key) in template.keys[keys.start as usize..keys.end as usize].iter().enumerate() {
            let target = self.node(act, template.pool[targets.start as usize + index]);
            for &subject in subjects {
                if !matches!(self.heap.get(subject), Object::Instance(..)) {
                    continue;
                }
                let slot = match *key {
                    Key::Str(name) => self.element_slot(subject, Field::str_key(name)),
                    Key::Int(value) => self.element_slot(subject, Field::int_key(value)),
                    _ => self.values(subject),
                };
                self.add_edge(slot, target);
            }
            self.add_reasons(target, reasons);
        }
    }
}
