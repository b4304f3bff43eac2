//! The import statements of a file, read off the IR.
//!
//! ```python
//! import a.b               # level 0, module "a.b", no names
//! from .. import c, d      # level 2, module "", names c and d
//! from m import *          # level 0, module "m", names "*"
//! ```
//! Calls of `importlib.import_module` and `__import__` with a constant name are listed apart.

use crate::body::{Body, Def, FileIr, Ssa, ValueId};
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
    body.made_by(value).map(|(_, op)| op)
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

/// A call that imports a module by a constant name: `importlib.import_module("a.b")`, `__import__("a")`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DynamicImport {
    /// The code object.
    pub code: CodeIndex,
    /// The call.
    pub inst: InstId,
    /// Number of leading dots; they count from the package that the code belongs to.
    pub level: u32,
    /// The module's name without the dots.
    pub module: String,
    /// The name in the call was relative to a package whose name is a constant; `module` is the full name.
    pub anchored: bool,
}

/// What a name stands for that an import statement bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Importer {
    /// The module `importlib`.
    Library,
    /// Its function `import_module`.
    Function,
}

/// All calls of a file that import by a constant name, in code-object and instruction order. The function is recognised
/// through the import statements that bind it, in the same code or at module level.
#[must_use]
pub fn dynamic_imports(file: &FileIr) -> Vec<DynamicImport> {
    let calls = Calls::new(file);
    let mut found = Vec::new();
    for (code, body) in file.bodies.iter_enumerated() {
        for (inst, one) in body.insts.iter_enumerated() {
            if matches!(one.op, Op::Call { .. })
                && let Some((level, module, anchored)) = calls.import(body, inst)
            {
                found.push(DynamicImport {
                    code,
                    inst,
                    level,
                    module,
                    anchored,
                });
            }
        }
    }
    found
}

/// Recognises the calls of one file.
struct Calls<'f> {
    file: &'f FileIr,
    /// Names that module-level import statements bind.
    globals: Vec<(NameId, Importer)>,
}

impl<'f> Calls<'f> {
    fn new(file: &'f FileIr) -> Self {
        let mut calls = Self {
            file,
            globals: Vec::new(),
        };
        if let Some(body) = file.bodies.iter().next() {
            for (inst, one) in body.insts.iter_enumerated() {
                if let (Op::StoreName(name) | Op::StoreGlobal(name), &[value]) = (one.op, body.ssa.inputs(inst))
                    && let Some(importer) = calls.importer(body, value)
                {
                    calls.globals.push((name, importer));
                }
            }
        }
        calls
    }

    fn text(&self, name: NameId) -> &str {
        &self.file.names[name]
    }

    /// What a value is, if it is `importlib` or its function.
    fn importer(&self, body: &Body, value: ValueId) -> Option<Importer> {
        let Def::Inst { inst, .. } = body.ssa.values[body.source(value)] else {
            return None;
        };
        match (body.insts[inst].op, body.ssa.inputs(inst)) {
            (Op::ImportFrom(name) | Op::LoadAttr(name) | Op::LoadMethod(name), &[base, ..])
                if self.text(name) == "import_module" =>
            {
                (self.bound(body, base)? == Importer::Library).then_some(Importer::Function)
            }
            _ => self.bound(body, value),
        }
    }

    /// What a value is, if an import statement or a name makes it.
    fn bound(&self, body: &Body, value: ValueId) -> Option<Importer> {
        match constant(body, body.source(value))? {
            Op::ImportName(module) => (self.text(module) == "importlib").then_some(Importer::Library),
            Op::LoadName(name) | Op::LoadGlobal(name) => self
                .globals
                .iter()
                .rev()
                .find(|known| known.0 == name)
                .map(|known| known.1),
            _ => None,
        }
    }

    /// Level and name of what a call imports, and whether a constant package made the name absolute.
    fn import(&self, body: &Body, call: InstId) -> Option<(u32, String, bool)> {
        let &[callee, receiver, ref arguments @ ..] = body.ssa.inputs(call) else {
            return None;
        };
        let builtin = matches!(constant(body, callee), Some(Op::LoadName(name) | Op::LoadGlobal(name))
            if self.text(name) == "__import__");
        if !builtin && self.importer(body, callee) != Some(Importer::Function) {
            return None;
        }
        // Beside a method lies what it was loaded from; beside a plain callee there is nothing, or the first argument.
        let loaded = matches!(constant(body, receiver), Some(Op::LoadMethod(_)));
        let beside = Some(receiver).filter(|&value| value != Ssa::NULL && !loaded);
        let mut given = beside.into_iter().chain(arguments.iter().copied());
        let keywords = match body.ssa.keyword_names(call).map(|id| self.file.module.objects.get(id)) {
            Some(Object::Tuple(items)) => self.file.module.objects.items(*items),
            _ => &[],
        };
        let text = self.string(body, given.next()?)?;
        let module = text.trim_start_matches('.');
        let level = u32::try_from(text.len() - module.len()).ok()?;
        if level == 0 {
            // The other arguments of `__import__` may make the name relative.
            let plain = !builtin || (keywords.is_empty() && given.count() < 4);
            return plain.then(|| (0, module.to_owned(), false));
        }
        let package = given.next()?;
        let own = matches!(constant(body, body.source(package)), Some(Op::LoadName(name) | Op::LoadGlobal(name))
            if self.text(name) == "__package__");
        if builtin {
            return None;
        }
        if own {
            return Some((level, module.to_owned(), false));
        }
        // One dot is the package itself, each further one the package around it.
        let package = self.string(body, package)?;
        let mut base = package.as_str();
        for _ in 1..level {
            base = &base[..base.rfind('.')?];
        }
        Some((0, format!("{base}.{module}"), true))
    }

    fn string(&self, body: &Body, value: ValueId) -> Option<String> {
        let objects = &self.file.module.objects;
        match constant(body, body.source(value))? {
            Op::Const(object) if matches!(objects.get(object), Object::Str(_)) => {
                objects.text(object).map(|text| text.to_string())
            }
            _ => None,
        }
    }
}
