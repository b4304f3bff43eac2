//! What the program as a whole says about stores: who writes an attribute, and which classes customise access.
//!
//! These are the facts about names that [`hognose_ir::StrongLoads`] needs beyond one body. Each is an over-approximation read off the bodies
//! before anything is solved.

use crate::ids::{CodeId, ModuleId};
use crate::program::{CodeKind, Program};
use hognose_base::{Id, Symbol};
use hognose_ir::{AttributeFacts, Body, Hooks, InstId, ItemKey, Op, StrongLoads, Surroundings, ValueId};
use hognose_pyc::{Object, ObjectId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Facts about attribute names, for a whole program.
#[derive(Clone, Debug, Default)]
pub struct StoreIndex {
    stores: FxHashMap<Symbol, u32>,
    /// Names that a class body may bind to a descriptor.
    descriptors: FxHashSet<Symbol>,
    /// Names under which something that may be a descriptor may be stored on a class from outside.
    assigned: FxHashSet<Symbol>,
    hooks: Hooks,
    /// Whether attributes may be stored under names that are not known.
    dynamic: bool,
}

/// Names of a file that matter wherever they occur.
#[derive(Clone, Copy, Default)]
struct Mention {
    stores_any: bool,
    setattr: bool,
    property: bool,
}

impl StoreIndex {
    /// Reads the index off all bodies. Library models do not count as writers: what they do to objects of the program they do
    /// in a call.
    pub(crate) fn of(program: &Program) -> Self {
        let mut index = Self::default();
        let builtins = program.builtins_module();
        for (module, info) in program.modules.iter_enumerated() {
            let mentions: Vec<Mention> = info.ir.names.iter().map(|name| mention(name)).collect();
            index.hooks.namespaces |= !info.is_model && info.ir.names.iter().any(|name| is_namespace(name));
            if Some(module) == builtins {
                continue;
            }
            for at in 0..info.ir.bodies.len() {
                let code = program.code_id(module, Id::from_index(at));
                if program.codes[code].kind == CodeKind::Class {
                    index.hooks_of(program, code);
                }
                if !info.is_model {
                    index.add(program, code, &mentions);
                }
            }
        }
        index
    }

    /// The facts about one name.
    #[must_use]
    pub fn facts(&self, name: Symbol) -> AttributeFacts {
        AttributeFacts {
            stores: if self.dynamic {
                u32::MAX
            } else {
                self.stores.get(&name).copied().unwrap_or(0)
            },
            descriptor: self.descriptors.contains(&name) || self.assigned.contains(&name),
        }
    }

    /// Whether a class that binds the name in its body may bind it to a descriptor.
    pub(crate) fn may_bind_descriptor(&self, name: Symbol) -> bool {
        self.descriptors.contains(&name)
    }

    fn hooks_of(&mut self, program: &Program, code: CodeId) {
        for &name in &program.codes[code].bound_names {
            match program.text(name) {
                "__setattr__" | "__delattr__" => self.hooks.stores = true,
                "__getattribute__" | "__getattr__" => self.hooks.loads = true,
                "__getitem__" | "__setitem__" | "__delitem__" | "__missing__" => self.hooks.items = true,
                "__bool__" | "__len__" => self.hooks.truth = true,
                _ => {}
            }
        }
    }

    fn add(&mut self, program: &Program, code: CodeId, mentions: &[Mention]) {
        let info = &program.codes[code];
        let module = &program.modules[info.module];
        let body = program.body(code);
        for (inst, one) in body.insts.iter_enumerated() {
            match one.op {
                Op::StoreAttr(name) => {
                    let symbol = module.names[name.index()];
                    self.count(symbol);
                    if may_assign_descriptor(body, inst, mentions) {
                        self.assigned.insert(symbol);
                    }
                }
                Op::DeleteAttr(name) => self.count(module.names[name.index()]),
                Op::StoreName(name) if info.kind == CodeKind::Class => {
                    let value = body.ssa.inputs(inst).first();
                    if !value.is_some_and(|&value| is_plain(body, value)) {
                        self.descriptors.insert(module.names[name.index()]);
                    }
                }
                Op::LoadAttr(name) | Op::LoadMethod(name) | Op::LoadName(name) | Op::LoadGlobal(name) => {
                    let mention = mentions[name.index()];
                    self.dynamic |=
                        mention.stores_any || (mention.setattr && !self.constant_setattr(program, code, inst));
                }
                _ => {}
            }
        }
    }

    fn count(&mut self, name: Symbol) {
        let count = self.stores.entry(name).or_insert(0);
        *count = count.saturating_add(1);
    }

    /// Whether the load of `setattr` is used by calls with a constant name alone; those count as stores of that name.
    fn constant_setattr(&mut self, program: &Program, code: CodeId, load: InstId) -> bool {
        let body = program.body(code);
        let Some(function) = body.ssa.output(load) else {
            return true;
        };
        let objects = &program.modules[program.codes[code].module].ir.module.objects;
        let mut constant = true;
        for (inst, one) in body.insts.iter_enumerated() {
            let inputs = body.ssa.inputs(inst);
            if !inputs.contains(&function) {
                continue;
            }
            let name = match (one.op, inputs) {
                (Op::Call { .. }, &[callee, _, _, name, _]) if callee == function => constant_of(body, name),
                _ => None,
            };
            match name.and_then(|id| objects.text(id)) {
                Some(text) => {
                    if let Some(symbol) = program.symbols.get(&text) {
                        self.count(symbol);
                        self.assigned.insert(symbol);
                    }
                }
                None => constant = false,
            }
        }
        constant
    }

    /// The strong loads of a code object, if the engine looks at the class of each receiver (see
    /// [`Surroundings::receivers_checked`]). Calls end what is known: a name that nobody else stores needs no telling apart.
    #[must_use]
    pub fn checked_loads(&self, program: &Program, code: CodeId) -> StrongLoads {
        let facts = |name| AttributeFacts {
            stores: u32::MAX,
            ..self.facts(name)
        };
        self.loads(program, code, &facts, true)
    }

    /// The strong loads of a code object whatever its receivers are. The name of a store that is the only one in the program
    /// outlasts calls.
    #[must_use]
    pub fn sure_loads(&self, program: &Program, code: CodeId) -> StrongLoads {
        self.loads(program, code, &|name| self.facts(name), false)
    }

    fn loads(
        &self,
        program: &Program,
        code: CodeId,
        facts: &dyn Fn(Symbol) -> AttributeFacts,
        receivers_checked: bool,
    ) -> StrongLoads {
        let module = &program.modules[program.codes[code].module];
        let body = program.body(code);
        StrongLoads::of(
            body,
            &Surroundings {
                attribute: &|name| facts(module.names[name.index()]),
                key: &|value| program.item_key(code, value),
                hooks: self.hooks,
                receivers_checked,
            },
        )
    }
}

fn mention(name: &str) -> Mention {
    Mention {
        stores_any: matches!(name, "vars" | "__dict__" | "__setattr__" | "delattr" | "__delattr__"),
        setattr: name == "setattr",
        property: name == "property",
    }
}

fn is_namespace(name: &str) -> bool {
    matches!(
        name,
        "vars" | "__dict__" | "globals" | "locals" | "f_locals" | "f_globals" | "__globals__"
    )
}

fn constant_of(body: &Body, value: ValueId) -> Option<ObjectId> {
    match body.made_by(value)?.1 {
        Op::Const(id) => Some(id),
        _ => None,
    }
}

impl Program {
    /// The subscript that a value is, if that is a constant string or integer.
    #[must_use]
    pub fn item_key(&self, code: CodeId, value: ValueId) -> Option<ItemKey> {
        match self.body(code).made_by(value)?.1 {
            Op::SmallInt(value) => Some(ItemKey::Int(value)),
            Op::Const(id) => self.constant_item_key(self.codes[code].module, id),
            _ => None,
        }
    }

    /// The subscript that a constant of a module is, if that is a string or integer.
    #[must_use]
    pub fn constant_item_key(&self, module: ModuleId, id: ObjectId) -> Option<ItemKey> {
        let objects = &self.modules[module].ir.module.objects;
        match objects.get(id) {
            Object::Int(value) => i32::try_from(*value).ok().map(ItemKey::Int),
            Object::Str(_) => self.symbols.get(&objects.text(id)?).map(ItemKey::Str),
            _ => None,
        }
    }
}

/// Whether what a class body binds is certainly no descriptor with a `__set__`.
fn is_plain(body: &Body, value: ValueId) -> bool {
    matches!(
        body.made_by(value),
        Some((
            _,
            Op::Const(_)
                | Op::SmallInt(_)
                | Op::CommonConst(_)
                | Op::MakeFunction(_)
                | Op::SetFunctionPart(_)
                | Op::BuildTuple(_)
                | Op::BuildList(_)
                | Op::BuildSet(_)
                | Op::BuildMap(_)
                | Op::BuildConstKeyMap(_)
        ))
    )
}

/// Whether a store may put a descriptor on a class: `property(...)` anywhere, and what is not plain on a base that is read from a name
/// (`Model.field = Field()`), as classes mostly are.
fn may_assign_descriptor(body: &Body, store: InstId, mentions: &[Mention]) -> bool {
    let &[value, base] = body.ssa.inputs(store) else {
        return true;
    };
    let named = matches!(
        body.made_by(base),
        Some((
            _,
            Op::LoadName(_) | Op::LoadGlobal(_) | Op::LoadDeref(_) | Op::LoadAttr(_)
        ))
    );
    if named && !is_plain(body, value) {
        return true;
    }
    let Some((call, Op::Call { .. })) = body.made_by(value) else {
        return false;
    };
    let callee = body.ssa.inputs(call).first().and_then(|&callee| body.made_by(callee));
    matches!(callee, Some((_, Op::LoadName(name) | Op::LoadGlobal(name))) if mentions[name.index()].property)
}
