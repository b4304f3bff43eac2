//! The import statements of a file, read off the IR.
//!
//! ```python
//! import a.b               # level 0, module "a.b", no names
//! from .. import c, d      # level 2, module "", names c and d
//! from m import *          # level 0, module "m", names "*"
//! ```
//! Only statements are listed; a call of `importlib.import_module` is an ordinary call.

use crate::body::{Body, Def, FileIr, ValueId};
use crate::op::{CommonConstant, InstId, NameId, Op};
use hognose_pyc::{CodeIndex, Object, ObjectId, Objects};

/// One import statement (or one module of it).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportRef {
    /// The code object.
    pub code: CodeIndex,
    /// The `ImportName` instruction.
    pub inst: InstId,
    /// Its byte offset.
    pub offset: u32,
    /// Number of leading dots.
    pub level: u32,
    /// The module's name without the dots; may be empty.
    pub module: NameId,
    /// The names behind `from ... import`, each a `Str`; `None` for a plain `import`.
    pub names: Option<Vec<ObjectId>>,
    /// The level or the names are no constants (hand-made bytecode): what is here is not all.
    pub computed: bool,
}

/// All import statements of a file that can be reached within their code object, in code-object and instruction order.
#[must_use]
pub fn imports(file: &FileIr) -> Vec<ImportRef> {
    let objects = &file.module.objects;
    let mut found = Vec::new();
    for (code, body) in file.bodies.iter_enumerated() {
        for (inst, one) in body.insts.iter_enumerated() {
            if let (Op::ImportName(module), &[level, names]) = (one.op, body.ssa.inputs(inst)) {
                let level = level_of(body, objects, level);
                let names = names_of(body, objects, names);
                found.push(ImportRef {
                    code,
                    inst,
                    offset: one.offset,
                    level: level.unwrap_or(0),
                    module,
                    computed: level.is_none() || names.is_none(),
                    names: names.flatten(),
                });
            }
        }
    }
    found
}

fn constant(body: &Body, value: ValueId) -> Option<Op> {
    match body.ssa.values[value] {
        Def::Inst { inst, .. } => Some(body.insts[inst].op),
        _ => None,
    }
}

fn level_of(body: &Body, objects: &Objects, value: ValueId) -> Option<u32> {
    match constant(body, value)? {
        Op::SmallInt(level) => u32::try_from(level).ok(),
        Op::Const(object) => match objects.get(object) {
            Object::Int(level) => u32::try_from(*level).ok(),
            _ => None,
        },
        _ => None,
    }
}

fn names_of(body: &Body, objects: &Objects, value: ValueId) -> Option<Option<Vec<ObjectId>>> {
    match constant(body, value)? {
        Op::CommonConst(CommonConstant::None) => Some(None),
        Op::Const(object) => match objects.get(object) {
            Object::None => Some(None),
            Object::Tuple(items) => Some(Some(objects.items(*items).to_vec())),
            _ => None,
        },
        _ => None,
    }
}
