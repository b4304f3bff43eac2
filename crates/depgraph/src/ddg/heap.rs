//! Edges to and from heap slots: displays, element operations, and the accesses that the points-to analysis reports.

use super::DataKind;
use super::context::SlotKey;
use super::local::Builder;
use hognose_ir::{InstId, Op, ValueId};
use hognose_pta::{Access, Field, ObjId, Object};
use hognose_pyc::Object as Constant;

impl Builder<'_> {
    /// The slot of a key: its own if it is a constant, else the one of unknown keys.
    fn key_field(&self, key: ValueId) -> Field {
        let key = self.program.item_key(self.code, key);
        key.and_then(Field::of_key).unwrap_or(Field::ANY_IN)
    }

    /// Displays and the operations that fill them. The items go to the slots themselves, so that items are told apart.
    pub(super) fn display(&mut self, inst: InstId, op: Op, inputs: &[ValueId]) {
        let allocated = |this: &Self| {
            this.body
                .ssa
                .output(inst)
                .map_or_else(Vec::new, |out| this.context.objects(this.code, out))
        };
        let container = |this: &Self| {
            inputs
                .first()
                .map_or_else(Vec::new, |&value| this.context.objects(this.code, value))
        };
        match op {
            Op::BuildTuple(_) | Op::BuildList(_) => {
                for object in allocated(self) {
                    for (index, &item) in (0_i32..).zip(inputs) {
                        self.found.store(
                            self.value(item),
                            (object, Field::int_key(index)),
                            DataKind::ElementStore,
                        );
                    }
                }
            }
            Op::BuildSet(_) => {
                for object in allocated(self) {
                    for &item in inputs {
                        self.found
                            .store(self.value(item), (object, Field::ANY_IN), DataKind::ElementStore);
                    }
                }
            }
            Op::BuildMap(_) => {
                for object in allocated(self) {
                    for pair in inputs.chunks_exact(2) {
                        let field = self.key_field(pair[0]);
                        self.found
                            .store(self.value(pair[1]), (object, field), DataKind::ElementStore);
                        self.found
                            .store(self.value(pair[0]), (object, Field::KEYS), DataKind::ElementStore);
                    }
                }
            }
            Op::BuildConstKeyMap(_) => self.constant_keys(&allocated(self), inputs),
            Op::MapAdd { .. } => {
                for object in container(self) {
                    let field = inputs.get(1).map_or(Field::ANY_IN, |&key| self.key_field(key));
                    let value = inputs.get(2).and_then(|&value| self.value(value));
                    let key = inputs.get(1).and_then(|&key| self.value(key));
                    self.found.store(value, (object, field), DataKind::ElementStore);
                    self.found.store(key, (object, Field::KEYS), DataKind::ElementStore);
                }
            }
            Op::ListAppend { .. } | Op::SetAdd { .. } => {
                let item = inputs.get(1).and_then(|&value| self.value(value));
                for object in container(self) {
                    self.found.store(item, (object, Field::ANY_IN), DataKind::ElementStore);
                }
            }
            _ => self.extend(inst, op, inputs, &container(self)),
        }
    }

    fn constant_keys(&mut self, objects: &[ObjId], inputs: &[ValueId]) {
        let Some((&keys, values)) = inputs.split_last() else {
            return;
        };
        let module = self.program.codes[self.code].module;
        let items = match self.operation(keys) {
            Some((_, Op::Const(id))) => match self.program.constant(module, id) {
                Constant::Tuple(items) => self.program.modules[module].ir.module.objects.items(*items),
                _ => &[],
            },
            _ => &[],
        };
        for &object in objects {
            for (index, &value) in values.iter().enumerate() {
                let key = items
                    .get(index)
                    .and_then(|&key| self.program.constant_item_key(module, key));
                let field = key.and_then(Field::of_key).unwrap_or(Field::ANY_IN);
                self.found
                    .store(self.value(value), (object, field), DataKind::ElementStore);
            }
            self.found
                .store(self.value(keys), (object, Field::KEYS), DataKind::ElementStore);
        }
    }

    /// `[*source]`, `{**source}`: the elements of one container go to another.
    fn extend(&mut self, inst: InstId, op: Op, inputs: &[ValueId], containers: &[ObjId]) {
        let node = self.node(inst);
        let Some(&source) = inputs.get(1) else { return };
        for generator in self.context.generators(self.code, source) {
            self.drive(generator, inst, false);
        }
        let keyed = matches!(op, Op::DictUpdate { .. } | Op::DictMerge { .. });
        let mut reads = Vec::new();
        for object in self.context.objects(self.code, source) {
            let object = self.container_of(object);
            reads.push((object, Field::ALL_OUT));
            if keyed {
                reads.push((object, Field::KEYS));
            }
        }
        self.found.access(&mut reads, node, false, DataKind::ElementLoad);
        let mut writes: Vec<SlotKey> = Vec::new();
        for &object in containers {
            writes.push((object, Field::ANY_IN));
            if keyed {
                writes.push((object, Field::KEYS));
            }
        }
        self.found.access(&mut writes, node, true, DataKind::ElementStore);
    }

    /// The container behind an iterator over it.
    pub(super) fn container_of(&self, object: ObjId) -> ObjId {
        match self.context.pta.object(object) {
            Object::Iterator(container) => container,
            _ => object,
        }
    }

    /// Whether unpacking keeps the positions of this object's elements.
    fn keeps_positions(&self, object: ObjId) -> bool {
        self.context.pta.heap().slot(object, Field::int_key(0)).is_some()
    }

    /// `a, b = source`: the item on top of the stack is the first.
    pub(super) fn unpack(&mut self, inst: InstId, inputs: &[ValueId], count: u32) {
        let Some(&source) = inputs.first() else { return };
        for object in self.context.objects(self.code, source) {
            if self.keeps_positions(object) {
                for (index, output) in (0_u32..).zip(self.body.ssa.outputs(inst)) {
                    let position = i32::try_from(count.saturating_sub(1 + index)).unwrap_or(i32::MAX);
                    self.found.load(
                        (object, Field::int_key(position)),
                        self.value(output),
                        DataKind::ElementLoad,
                    );
                }
            }
        }
        for generator in self.context.generators(self.code, source) {
            self.drive(generator, inst, false);
        }
    }

    /// What the points-to analysis says about slots that instructions read and write.
    pub(super) fn accesses(&mut self) {
        let accesses = self.context.accesses_of(self.code);
        let mut rest = accesses;
        while let Some(first) = rest.first() {
            let len = rest.partition_point(|access| access.inst == first.inst);
            self.accesses_at(first.inst, &rest[..len]);
            rest = &rest[len..];
        }
    }

    /// The field that an instruction reads strongly, if it does: a subscript all that it reads, a method call the attribute that is
    /// looked up as a part of it.
    fn strong_field(&self, inst: InstId) -> Option<Option<Field>> {
        let load = match self.body.insts[inst].op {
            Op::Call { .. } | Op::CallStar { .. } => {
                let &callee = self.body.ssa.inputs(inst).first()?;
                self.operation(callee)?.0
            }
            _ => inst,
        };
        if self.strong.stores_of(load).is_empty() {
            return None;
        }
        match self.body.insts[load].op {
            Op::LoadAttr(name) | Op::LoadMethod(name) => Some(Some(Field::attribute(self.symbol(name)))),
            _ if load == inst => Some(None),
            _ => None,
        }
    }

    fn accesses_at(&mut self, inst: InstId, accesses: &[Access]) {
        if self.body.cfg.blocks[self.body.cfg.block_of[inst]].unreachable {
            return;
        }
        let strong = self.strong_field(inst);
        let unpacks = matches!(self.body.insts[inst].op, Op::UnpackSequence(_));
        // Kinds of both directions, each with its slots.
        let mut groups: [(bool, DataKind, Vec<SlotKey>); 8] = [
            (false, DataKind::FieldLoad, Vec::new()),
            (true, DataKind::FieldStore, Vec::new()),
            (false, DataKind::GlobalLoad, Vec::new()),
            (true, DataKind::GlobalStore, Vec::new()),
            (false, DataKind::CellLoad, Vec::new()),
            (true, DataKind::CellStore, Vec::new()),
            (false, DataKind::ElementLoad, Vec::new()),
            (true, DataKind::ElementStore, Vec::new()),
        ];
        for access in accesses {
            let is_module = matches!(self.context.pta.object(access.object), Object::Module(_));
            let name = access.field.as_attribute();
            let (pair, slot) = match name {
                _ if !access.write && strong.is_some_and(|field| field.is_none_or(|field| field == access.field)) => {
                    continue;
                }
                Some(name) if is_module && access.write => {
                    let slot = (access.object, Field::foreign(name));
                    self.found.between(slot, (access.object, access.field), DataKind::Slot);
                    (1, slot)
                }
                Some(_) => (usize::from(is_module), (access.object, access.field)),
                None if access.field == Field::CONTENTS && access.write => {
                    let slot = (access.object, Field::FOREIGN_CONTENTS);
                    self.found
                        .between(slot, (access.object, Field::CONTENTS), DataKind::Slot);
                    (2, slot)
                }
                None if access.field == Field::CONTENTS => (2, (access.object, access.field)),
                None if unpacks && self.keeps_positions(access.object) => continue,
                None => (3, (self.container_of(access.object), access.field)),
            };
            groups[2 * pair + usize::from(access.write)].2.push(slot);
        }
        for (write, kind, mut slots) in groups {
            self.found.access(&mut slots, self.node(inst), write, kind);
        }
    }
}
