//! The whole program as the analysis sees it: files linked into modules, code objects and symbols.
//!
//! Files come in canonical order; per-file name tables are merged in that order, so the same input always gives the same
//! numbers.

use crate::ids::{CodeId, ModuleId};
use crate::python::names;
use crate::stores::StoreIndex;
use hognose_base::{Id, IndexVec, Interner, Symbol};
use hognose_ir::{Body, FileIr, InstId, NameId, Op, Parameter, Signature};
use hognose_pyc::{CodeIndex, CodeObject, Object, flags};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write as _;
use std::sync::Arc;

/// One file to be linked.
#[derive(Debug)]
pub struct SourceUnit {
    /// Dotted module name as Python would import it.
    pub name: String,
    /// Whether it is a package (`__init__`).
    pub is_package: bool,
    /// Whether it is a library model, not part of the analysed program.
    pub is_model: bool,
    /// Whether it is an installed dependency: analysed, but its functions are no entry points.
    pub is_dependency: bool,
    /// Path as shown to the user.
    pub path: String,
    /// Its lifted code.
    pub ir: Arc<FileIr>,
}

/// A linked module.
#[derive(Debug)]
pub struct Module {
    /// Dotted name.
    pub name: Symbol,
    /// Whether it is a package.
    pub is_package: bool,
    /// Whether it is a library model.
    pub is_model: bool,
    /// Whether it is an installed dependency.
    pub is_dependency: bool,
    /// Path as shown to the user.
    pub path: String,
    /// Its lifted code.
    pub ir: Arc<FileIr>,
    /// Program symbol of each file name.
    pub names: Vec<Symbol>,
    /// Code object 0 of the file.
    pub first_code: CodeId,
    /// The constant names of `__all__`.
    pub all: Option<Vec<String>>,
    /// Whether the module mentions `setattr` or another way to store under a computed name.
    pub mentions_dynamic_store: bool,
}

/// What kind of code a code object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CodeKind {
    /// A module body.
    Module,
    /// A class body.
    Class,
    /// A `def` (or `async def`).
    Function,
    /// A lambda.
    Lambda,
    /// A list, set or dict comprehension with a frame of its own.
    Comprehension,
    /// A generator expression.
    GeneratorExpression,
    /// An `__annotate__` function, a type-parameter scope or a lazily evaluated type alias (3.12+, 3.14+).
    Annotation,
}

impl CodeKind {
    /// The name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Class => "class",
            Self::Function => "function",
            Self::Lambda => "lambda",
            Self::Comprehension => "comprehension",
            Self::GeneratorExpression => "generator-expression",
            Self::Annotation => "annotation",
        }
    }
}

/// A linked code object.
#[derive(Debug)]
pub struct Code {
    /// The module it belongs to.
    pub module: ModuleId,
    /// Its number in the file.
    pub index: CodeIndex,
    /// The code object it is a constant of.
    pub parent: Option<CodeId>,
    /// What it is.
    pub kind: CodeKind,
    /// `co_name`
    pub name: Symbol,
    /// Dotted name, module included: `pkg.mod.Class.method`, `mod.f.<lambda1>`.
    pub qualname: Symbol,
    /// `co_flags`
    pub flags: u32,
    /// `co_firstlineno`
    pub line: u32,
    /// Parameters.
    pub signature: Signature<Symbol>,
    /// Names that a module or class body binds by itself, sorted.
    pub bound_names: Vec<Symbol>,
}

impl Code {
    /// Whether a call makes a generator, a coroutine or an asynchronous generator instead of running the body.
    #[must_use]
    pub const fn is_generator_like(&self) -> bool {
        self.flags & (flags::GENERATOR | flags::COROUTINE | flags::ASYNC_GENERATOR) != 0
    }
    /// Whether it is a function in the sense of the call graph (a `def` or a lambda).
    #[must_use]
    pub const fn is_function(&self) -> bool {
        matches!(self.kind, CodeKind::Function | CodeKind::Lambda)
    }
}

/// The linked program.
#[derive(Debug, Default)]
pub struct Program {
    /// All names.
    pub symbols: Interner,
    /// The modules: those of the program first, then models.
    pub modules: IndexVec<ModuleId, Module>,
    /// The code objects.
    pub codes: IndexVec<CodeId, Code>,
    /// Modules by dotted name. A name that two files claim belongs to the first.
    pub by_name: FxHashMap<Symbol, ModuleId>,
    /// What can be said about names without running anything.
    pub facts: ProgramFacts,
}

/// Static facts about the names of a program, each an over-approximation.
#[derive(Debug, Default)]
pub struct ProgramFacts {
    /// Names that some attribute store (or constant string beside a dynamic one) may set on an object.
    pub stored_attributes: FxHashSet<Symbol>,
    /// Names of special methods among them: `C.__lt__ = f` gives a class what its body does not bind.
    pub stored_methods: FxHashSet<Symbol>,
    /// Names that are deleted somewhere.
    pub deleted_attributes: FxHashSet<Symbol>,
    /// Names bound in the body of a class of the program (models excluded).
    pub class_names: FxHashSet<Symbol>,
    /// Who stores attributes, and which classes customise access.
    pub stores: StoreIndex,
    /// External modules that a module imports with a star.
    pub star_externals: IndexVec<ModuleId, Vec<String>>,
    /// Calls of `importlib.import_module` with a constant relative name, and what they import.
    pub relative_imports: FxHashMap<(CodeId, InstId), String>,
    /// What each module exports to a star import.
    star_names: IndexVec<ModuleId, Vec<Symbol>>,
}

impl Program {
    /// Links files in the order given.
    #[must_use]
    pub fn link(units: Vec<SourceUnit>) -> Self {
        let mut program = Self::default();
        for name in names::NAMES {
            program.symbols.intern(name);
        }
        for unit in units {
            program.add(unit);
        }
        program.collect_facts();
        program.collect_stars();
        program.facts.stores = StoreIndex::of(&program);
        program.collect_relative_imports();
        program
    }

    fn add(&mut self, unit: SourceUnit) {
        let module = self.modules.next_id();
        let name = self.symbols.intern(&unit.name);
        let names: Vec<Symbol> = unit.ir.names.iter().map(|text| self.symbols.intern(text)).collect();
        for dotted in unit.ir.names.iter().filter(|text| text.contains('.')) {
            dotted.split('.').for_each(|part| {
                self.symbols.intern(part);
            });
        }
        unit.name.split('.').for_each(|part| {
            self.symbols.intern(part);
        });
        for key in key_strings(&unit.ir) {
            self.symbols.intern(&key);
        }
        let first_code = self.codes.next_id();
        self.by_name.entry(name).or_insert(module);
        self.add_codes(module, name, &names, &unit.ir, first_code);
        self.modules.push(Module {
            name,
            is_package: unit.is_package,
            is_model: unit.is_model,
            is_dependency: unit.is_dependency,
            path: unit.path,
            all: all_names(&unit.ir),
            mentions_dynamic_store: unit
                .ir
                .names
                .iter()
                .any(|name| matches!(&**name, "setattr" | "__setattr__" | "__dict__" | "vars" | "globals")),
            ir: unit.ir,
            names,
            first_code,
        });
    }

    fn add_codes(&mut self, module: ModuleId, module_name: Symbol, names: &[Symbol], ir: &FileIr, first: CodeId) {
        let objects = &ir.module.objects;
        let mut lambdas: FxHashMap<CodeId, u32> = FxHashMap::default();
        for (index, code) in objects.codes().iter_enumerated() {
            let parent = code.parent.map(|parent| CodeId::new(first.raw() + parent.raw()));
            let text = objects.text(code.name).unwrap_or_default().into_owned();
            let kind = kind_of(code, &text, parent.map(|parent| self.codes[parent].kind));
            let qualname = match parent {
                None => module_name,
                Some(parent) => {
                    let scope = self.naming_scope(parent);
                    let mut full = self.symbols.name(self.codes[scope].qualname).to_owned();
                    if kind == CodeKind::Lambda {
                        let count = lambdas.entry(scope).or_insert(0);
                        *count += 1;
                        let _ = write!(full, ".<lambda{count}>");
                    } else {
                        let _ = write!(full, ".{text}");
                    }
                    self.symbols.intern(&full)
                }
            };
            let name = self.symbols.intern(&text);
            self.codes.push(Code {
                module,
                index,
                parent,
                kind,
                name,
                qualname,
                flags: code.flags,
                line: u32::try_from(code.firstlineno).unwrap_or(1),
                signature: signature(code, &ir.bodies[index], names),
                bound_names: bound_names(kind, &ir.bodies[index], names),
            });
        }
    }

    /// The scope whose name stands before that of code nested in `code`: comprehension and annotation frames, which
    /// come and go with the version, do not count.
    fn naming_scope(&self, mut code: CodeId) -> CodeId {
        while matches!(
            self.codes[code].kind,
            CodeKind::Comprehension | CodeKind::GeneratorExpression | CodeKind::Annotation
        ) {
            match self.codes[code].parent {
                Some(parent) => code = parent,
                None => break,
            }
        }
        code
    }

    /// The function, class or module that a person would name as the place of `code`: comprehension and annotation
    /// frames count as their enclosing code.
    #[must_use]
    pub fn enclosing_function(&self, code: CodeId) -> CodeId {
        self.naming_scope(code)
    }

    /// The module body's code.
    #[must_use]
    pub fn module_code(&self, module: ModuleId) -> CodeId {
        self.modules[module].first_code
    }
    /// The lifted body.
    #[must_use]
    pub fn body(&self, code: CodeId) -> &Body {
        let code = &self.codes[code];
        &self.modules[code.module].ir.bodies[code.index]
    }
    /// The code object.
    #[must_use]
    pub fn code_object(&self, code: CodeId) -> &CodeObject {
        let code = &self.codes[code];
        self.modules[code.module].ir.module.objects.code(code.index)
    }
    /// The constant that a body of `module` names.
    #[must_use]
    pub fn constant(&self, module: ModuleId, id: hognose_pyc::ObjectId) -> &Object {
        self.modules[module].ir.module.objects.get(id)
    }
    /// The program's id of code object `index` of `module`.
    #[must_use]
    pub fn code_id(&self, module: ModuleId, index: CodeIndex) -> CodeId {
        CodeId::from_index(self.modules[module].first_code.index() + index.index())
    }
    /// The text of a symbol.
    #[must_use]
    pub fn text(&self, symbol: Symbol) -> &str {
        self.symbols.name(symbol)
    }
    /// The dotted name of a code object.
    #[must_use]
    pub fn qualname(&self, code: CodeId) -> &str {
        self.text(self.codes[code].qualname)
    }
    /// Whether the code belongs to a library model.
    #[must_use]
    pub fn is_model(&self, code: CodeId) -> bool {
        self.modules[self.codes[code].module].is_model
    }
    /// Whether the code belongs to an installed dependency.
    #[must_use]
    pub fn is_dependency(&self, code: CodeId) -> bool {
        self.modules[self.codes[code].module].is_dependency
    }
    /// The package that relative imports of `module` start from.
    #[must_use]
    pub fn package_of(&self, module: ModuleId) -> &str {
        let module = &self.modules[module];
        let name = self.text(module.name);
        if module.is_package {
            name
        } else {
            name.rfind('.').map_or("", |dot| &name[..dot])
        }
    }
    /// The absolute module name that an import statement of `module` names; `None` if it leaves the top-level package, or no module
    /// can have the name.
    #[must_use]
    pub fn absolute_import(&self, module: ModuleId, level: u32, name: &str) -> Option<String> {
        if !hognose_ir::may_be_module(name) {
            return None;
        }
        if level == 0 {
            return Some(name.to_owned());
        }
        let mut base = self.package_of(module);
        for _ in 1..level {
            base = &base[..base.rfind('.')?];
        }
        if base.is_empty() {
            return None;
        }
        Some(if name.is_empty() {
            base.to_owned()
        } else {
            format!("{base}.{name}")
        })
    }
}

impl Program {
    /// Whether a module or class body binds the name by itself.
    #[must_use]
    pub fn binds(&self, code: CodeId, name: Symbol) -> bool {
        self.codes[code].bound_names.binary_search(&name).is_ok()
    }
    /// The module of this dotted name.
    #[must_use]
    pub fn module_named(&self, name: &str) -> Option<ModuleId> {
        self.symbols
            .get(name)
            .and_then(|symbol| self.by_name.get(&symbol))
            .copied()
    }
    /// Whether a module is this package or lies in it.
    #[must_use]
    pub fn is_within(&self, module: ModuleId, package: ModuleId) -> bool {
        let name = self.text(self.modules[module].name);
        name.strip_prefix(self.text(self.modules[package].name))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
    /// The model of `builtins`.
    #[must_use]
    pub fn builtins_module(&self) -> Option<ModuleId> {
        self.module_named("builtins")
            .filter(|&module| self.modules[module].is_model)
    }
    /// The names that `from module import *` binds.
    #[must_use]
    pub fn star_names(&self, module: ModuleId) -> Vec<Symbol> {
        self.facts.star_names[module].clone()
    }

    fn collect_facts(&mut self) {
        let mut facts = ProgramFacts::default();
        // Stored by the analysis itself.
        facts.stored_attributes.extend([names::CAUSE, names::ENUM_VALUE]);
        let dynamic = self.dynamic_store_modules();
        // What models only mention is stored by nobody.
        let mut stored = FxHashSet::default();
        for (code_id, code) in self.codes.iter_enumerated() {
            let body = self.body(code_id);
            let names = &self.modules[code.module].names;
            if code.kind == CodeKind::Class && !self.modules[code.module].is_model {
                facts.class_names.extend(&code.bound_names);
            }
            // Names of special methods are mentioned more often than set: only next to a `setattr` they count.
            let sets = dynamic[code.module]
                && body.insts.iter().any(|info| match info.op {
                    Op::LoadGlobal(name) | Op::LoadName(name) | Op::LoadAttr(name) | Op::LoadMethod(name) => {
                        matches!(self.text(names[name.index()]), "setattr" | "__setattr__")
                    }
                    _ => false,
                });
            for info in &body.insts {
                match info.op {
                    Op::StoreAttr(name) => {
                        facts.stored_attributes.insert(names[name.index()]);
                        stored.insert(names[name.index()]);
                    }
                    Op::DeleteAttr(name) | Op::DeleteName(name) | Op::DeleteGlobal(name) => {
                        facts.deleted_attributes.insert(names[name.index()]);
                    }
                    Op::Const(id) if dynamic[code.module] => {
                        let name = self.dynamic_store(code_id, id, &mut facts);
                        stored.extend(name.filter(|_| sets && !self.modules[code.module].is_model));
                    }
                    _ => {}
                }
            }
        }
        #[allow(clippy::iter_over_hash_type)]
        for name in stored {
            let text = self.text(name);
            let special = text.len() > 4 && text.starts_with("__") && text.ends_with("__");
            if special && ![names::DICT, names::CLASS, names::ANNOTATIONS].contains(&name) {
                facts.stored_methods.insert(name);
            }
        }
        self.facts = facts;
    }

    /// Modules whose constant strings may become attribute names: those that mention `setattr` or import a library model
    /// (other than the builtins) that does.
    fn dynamic_store_modules(&self) -> IndexVec<ModuleId, bool> {
        self.modules
            .iter()
            .map(|module| {
                module.mentions_dynamic_store
                    || hognose_ir::imports(&module.ir).iter().any(|import| {
                        self.module_named(&module.ir.names[import.module]).is_some_and(|found| {
                            let found = &self.modules[found];
                            found.is_model && found.mentions_dynamic_store
                        })
                    })
            })
            .collect()
    }

    /// A constant string in code that mentions `setattr` may be the name of an attribute.
    fn dynamic_store(&self, code: CodeId, id: hognose_pyc::ObjectId, facts: &mut ProgramFacts) -> Option<Symbol> {
        let module = &self.modules[self.codes[code].module];
        let objects = &module.ir.module.objects;
        let symbol = objects.text(id).and_then(|text| self.symbols.get(&text))?;
        facts.stored_attributes.insert(symbol);
        Some(symbol)
    }

    /// Calls that import by a constant relative name.
    fn collect_relative_imports(&mut self) {
        let mut found = FxHashMap::default();
        for (module, info) in self.modules.iter_enumerated() {
            if info.is_model || !info.ir.names.iter().any(|name| &**name == "import_module") {
                continue;
            }
            for import in hognose_ir::dynamic_imports(&info.ir) {
                if (import.level > 0 || import.anchored)
                    && let Some(path) = self.absolute_import(module, import.level, &import.module)
                {
                    found.insert((self.code_id(module, import.code), import.inst), path);
                }
            }
        }
        self.facts.relative_imports = found;
    }

    /// Star imports: what each module exports, and external modules that are imported so.
    fn collect_stars(&mut self) {
        let mut imports: Vec<Vec<String>> = Vec::new();
        for (module, info) in self.modules.iter_enumerated() {
            let mut paths = Vec::new();
            for import in hognose_ir::imports(&info.ir) {
                let objects = &info.ir.module.objects;
                let star = |&name: &hognose_pyc::ObjectId| objects.text(name).is_some_and(|text| text == "*");
                if import.names.iter().flatten().any(star)
                    && let Some(path) = self.absolute_import(module, import.level, &info.ir.names[import.module])
                {
                    paths.push(path);
                }
            }
            imports.push(paths);
        }
        let count = self.modules.len();
        let mut names: Vec<FxHashSet<Symbol>> = (0..count)
            .map(|module| {
                self.codes[self.modules[ModuleId::from_index(module)].first_code]
                    .bound_names
                    .iter()
                    .copied()
                    .collect()
            })
            .collect();
        // Names travel along star imports until nothing is new.
        let mut changed = true;
        while changed {
            changed = false;
            for (importer, paths) in imports.iter().enumerate() {
                for path in paths {
                    if let Some(exporter) = self.module_named(path).map(Id::index)
                        && exporter != importer
                    {
                        let exported: Vec<Symbol> = self.exported(ModuleId::from_index(exporter), &names[exporter]);
                        for name in exported {
                            changed |= names[importer].insert(name);
                        }
                    }
                }
            }
        }
        for (module, paths) in imports.iter().enumerate() {
            let external = paths
                .iter()
                .filter(|path| self.module_named(path).is_none())
                .cloned()
                .collect();
            self.facts.star_externals.push(external);
            let exported = self.exported(ModuleId::from_index(module), &names[module]);
            self.facts.star_names.push(exported);
        }
    }

    /// The names of `__all__` if it is a display of constants, else the public names; sorted.
    fn exported(&self, module: ModuleId, names: &FxHashSet<Symbol>) -> Vec<Symbol> {
        let mut exported: Vec<Symbol> = match &self.modules[module].all {
            Some(all) => all.iter().filter_map(|name| self.symbols.get(name)).collect(),
            None => {
                #[allow(clippy::iter_over_hash_type)]
                let public = names
                    .iter()
                    .copied()
                    .filter(|&name| !self.text(name).starts_with('_'))
                    .collect();
                public
            }
        };
        exported.sort_unstable();
        exported.dedup();
        exported
    }
}

fn signature(code: &CodeObject, body: &Body, names: &[Symbol]) -> Signature<Symbol> {
    let parameters = Signature::of_code(code, &body.slots)
        .parameters
        .into_iter()
        .map(|parameter| Parameter {
            name: names[parameter.name.index()],
            kind: parameter.kind,
            slot: parameter.slot,
            default: parameter.default,
        })
        .collect();
    Signature { parameters }
}

fn bound_names(kind: CodeKind, body: &Body, names: &[Symbol]) -> Vec<Symbol> {
    let mut bound: Vec<Symbol> = body
        .insts
        .iter()
        .filter_map(|inst| match inst.op {
            Op::StoreName(name) => Some(name),
            Op::StoreGlobal(name) if kind == CodeKind::Module => Some(name),
            _ => None,
        })
        .map(|name: NameId| names[name.index()])
        .collect();
    bound.sort_unstable();
    bound.dedup();
    bound
}

/// Constant strings that occur as keys or keyword names, so that they are symbols.
fn key_strings(ir: &FileIr) -> Vec<String> {
    let objects = &ir.module.objects;
    let mut keys = Vec::new();
    for body in &ir.bodies {
        let mut constant = |value| {
            let hognose_ir::Def::Inst { inst, .. } = body.ssa.values[value] else {
                return;
            };
            let Op::Const(id) = body.insts[inst].op else { return };
            match objects.get(id) {
                Object::Str(_) => keys.extend(objects.text(id).map(std::borrow::Cow::into_owned)),
                Object::Tuple(items) => keys.extend(
                    objects
                        .items(*items)
                        .iter()
                        .filter_map(|&item| objects.text(item).map(std::borrow::Cow::into_owned)),
                ),
                _ => {}
            }
        };
        for (inst, info) in body.insts.iter_enumerated() {
            let inputs = body.ssa.inputs(inst);
            match info.op {
                Op::LoadItem | Op::DeleteItem => inputs.get(1).copied().into_iter().for_each(&mut constant),
                Op::StoreItem => inputs.get(2).copied().into_iter().for_each(&mut constant),
                Op::BuildMap(_) => inputs.iter().copied().step_by(2).for_each(&mut constant),
                Op::BuildConstKeyMap(_) | Op::MatchKeys { .. } => {
                    inputs.last().copied().into_iter().for_each(&mut constant);
                }
                Op::MapAdd { .. } => inputs.get(1).copied().into_iter().for_each(&mut constant),
                _ => {}
            }
        }
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The constant names of `__all__`, if the module body stores one display of constants there and nothing else.
fn all_names(ir: &FileIr) -> Option<Vec<String>> {
    let objects = &ir.module.objects;
    let body = ir.bodies.iter().next()?;
    let name = ir.names.iter_enumerated().find(|(_, text)| &***text == "__all__")?.0;
    let mut found = None;
    let mut stores = 0;
    for (inst, info) in body.insts.iter_enumerated() {
        match info.op {
            Op::StoreName(stored) if stored == name => {
                stores += 1;
                found = body
                    .ssa
                    .inputs(inst)
                    .first()
                    .and_then(|&value| strings(body, objects, value));
            }
            Op::LoadName(loaded) if loaded == name => stores += 1,
            _ => {}
        }
    }
    if stores == 1 { found } else { None }
}

fn strings(body: &Body, objects: &hognose_pyc::Objects, value: hognose_ir::ValueId) -> Option<Vec<String>> {
    let text = |id| objects.text(id).map(std::borrow::Cow::into_owned);
    let hognose_ir::Def::Inst { inst, .. } = body.ssa.values[value] else {
        return None;
    };
    match body.insts[inst].op {
        Op::Const(id) => match objects.get(id) {
            Object::Tuple(items) => objects.items(*items).iter().map(|&item| text(item)).collect(),
            _ => None,
        },
        // `[...]` of more than two constants is an empty list extended by a tuple.
        Op::BuildList(0) => {
            let extend = extends(body, value)?;
            let &source = body.ssa.inputs(extend).get(1)?;
            strings(body, objects, source)
        }
        Op::BuildList(_) | Op::BuildTuple(_) => {
            let constant = |&item: &hognose_ir::ValueId| {
                let hognose_ir::Def::Inst { inst, .. } = body.ssa.values[item] else {
                    return None;
                };
                match body.insts[inst].op {
                    Op::Const(id) => text(id),
                    _ => None,
                }
            };
            body.ssa.inputs(inst).iter().map(constant).collect()
        }
        Op::StoreName(_) => body
            .ssa
            .inputs(inst)
            .first()
            .and_then(|&input| strings(body, objects, input)),
        _ => None,
    }
}

fn extends(body: &Body, list: hognose_ir::ValueId) -> Option<InstId> {
    body.insts
        .iter_enumerated()
        .find(|(inst, info)| matches!(info.op, Op::ListExtend { .. }) && body.ssa.inputs(*inst).first() == Some(&list))
        .map(|(inst, _)| inst)
}

/// Tells what a code object is from its flags and the names that CPython's compiler gives (`Python/compile.c`,
/// `compiler_enter_scope`).
fn kind_of(code: &CodeObject, name: &str, parent: Option<CodeKind>) -> CodeKind {
    let own_locals = code.flags & flags::NEWLOCALS != 0;
    match name {
        _ if parent.is_none() => CodeKind::Module,
        "<lambda>" => CodeKind::Lambda,
        "<listcomp>" | "<setcomp>" | "<dictcomp>" => CodeKind::Comprehension,
        "<genexpr>" => CodeKind::GeneratorExpression,
        "__annotate__" | "__annotations__" => CodeKind::Annotation,
        _ if name.starts_with("<generic parameters of ") => CodeKind::Annotation,
        _ if code.flags & flags::OPTIMIZED == 0 && !own_locals => CodeKind::Class,
        _ => CodeKind::Function,
    }
}
