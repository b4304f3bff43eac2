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
use hognose_base::IndexVec;
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
    /// The level or the names are no constants, or the names are too many (hand-made bytecode): what is here is not all.
    pub computed: bool,
}

/// Bytes and parts of the longest module name; no file system has longer paths by far. A damaged file may hold any.
const LONGEST_NAME: usize = 1024;
const MOST_PARTS: usize = 64;
/// Names behind the `from ... import`s of one file; the same long list may stand behind any number of them.
const MOST_NAMES: usize = 1 << 16;

/// Whether there can be a module of this name.
#[must_use]
pub fn may_be_module(name: &str) -> bool {
    name.len() <= LONGEST_NAME && name.bytes().filter(|&byte| byte == b'.').count() < MOST_PARTS
}

/// All import statements of a file that can be reached within their code object, in code-object and instruction order. Those of
/// modules that cannot be are left out.
#[must_use]
pub fn imports(file: &FileIr) -> Vec<ImportRef> {
    let objects = &file.module.objects;
    let possible: IndexVec<NameId, bool> = file.names.iter().map(|name| may_be_module(name)).collect();
    let mut found = Vec::new();
    let mut left = MOST_NAMES;
    for (code, body) in file.bodies.iter_enumerated() {
        for (inst, one) in body.insts.iter_enumerated() {
            if let (Op::ImportName(module), &[level, names]) = (one.op, body.ssa.inputs(inst))
                && possible[module]
            {
                let level = level_of(body, objects, level);
                let names = names_of(body, objects, names, left);
                left -= names.as_ref().and_then(Option::as_ref).map_or(0, Vec::len);
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

fn names_of(body: &Body, objects: &Objects, value: ValueId, most: usize) -> Option<Option<Vec<ObjectId>>> {
    match constant(body, value)? {
        Op::CommonConst(CommonConstant::None) => Some(None),
        Op::Const(object) => match objects.get(object) {
            Object::None => Some(None),
            Object::Tuple(items) if items.len as usize <= most => {
                let short = |&&name: &&ObjectId| objects.text(name).is_none_or(|text| text.len() <= LONGEST_NAME);
                Some(Some(objects.items(*items).iter().filter(short).copied().collect()))
            }
            _ => None,
        },
        _ => None,
    }
}
