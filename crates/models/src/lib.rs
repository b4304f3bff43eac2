//! What libraries do to objects and calls, said in Python.
//!
//! Vocabulary: a *model* is a Python module in `python/` that the analysis reads in place of a library module of the same
//! name. It is never run. Its functions do, in ordinary Python, what the library does with the objects given to it:
//!
//! ```python
//! class partial:                                   # functools.py
//!     def __init__(self, func, /, *args, **keywords):
//!         self.func, self.args, self.keywords = func, args, keywords
//!     def __call__(self, /, *args, **keywords):
//!         return self.func(*self.args, *args, **self.keywords, **keywords)
//! ```
//!
//! What Python cannot say is said with the *intrinsics* of the reserved module `_hognose`
//! ([`Intrinsic`](hognose_pta::Intrinsic)). A name that a model lacks is an external value, as if there were no model.
//!
//! The models are compiled ahead of time by the embedded front end; the compiled file is part of the crate. After a change
//! in `python/` run `cargo xtask models build`.
//!
//! **Invariant:** a model takes the arguments that the library takes, for a call that does not fit is reported as such.

pub mod archive;

use hognose_ir::FileIr;
use hognose_pyc::{PythonVersion, read_marshal};
use std::collections::BTreeSet;

/// The version whose code the embedded front end emits.
const VERSION: PythonVersion = PythonVersion::new(14);

static COMPILED: &[u8] = include_bytes!("../data/models.bin");

/// A model's text.
struct Source {
    name: &'static str,
    is_package: bool,
    text: &'static str,
}

macro_rules! sources {
    ($($name:literal = $path:literal,)*) => {
        /// Sorted by name.
        static SOURCES: &[Source] = &[$(Source {
            name: $name,
            is_package: matches!($path.as_bytes(), [.., b'/', b'_', b'_', b'i', b'n', b'i', b't', b'_', b'_', b'.', b'p', b'y']),
            text: include_str!(concat!("../python/", $path)),
        },)*];
    };
}

sources! {
    "abc" = "abc.py",
    "asyncio" = "asyncio/__init__.py",
    "builtins" = "builtins.py",
    "collections" = "collections/__init__.py",
    "collections.abc" = "collections/abc.py",
    "concurrent" = "concurrent/__init__.py",
    "concurrent.futures" = "concurrent/futures/__init__.py",
    "contextlib" = "contextlib.py",
    "copy" = "copy.py",
    "dataclasses" = "dataclasses.py",
    "enum" = "enum.py",
    "functools" = "functools.py",
    "importlib" = "importlib/__init__.py",
    "itertools" = "itertools.py",
    "operator" = "operator.py",
    "threading" = "threading.py",
    "types" = "types.py",
    "typing" = "typing.py",
}

fn find(name: &str) -> Option<&'static Source> {
    let at = SOURCES.binary_search_by(|source| source.name.cmp(name)).ok()?;
    Some(&SOURCES[at])
}

/// The modules that have a model, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    SOURCES.iter().map(|source| source.name)
}

/// The Python text of a model.
#[must_use]
pub fn source(name: &str) -> Option<&'static str> {
    find(name).map(|source| source.text)
}

/// Whether the model is a package (`__init__.py`).
#[must_use]
pub fn is_package(name: &str) -> bool {
    find(name).is_some_and(|source| source.is_package)
}

/// The path of a model as it is shown to people: `<models>/collections/abc.py`.
#[must_use]
pub fn path(name: &str) -> Option<String> {
    let source = find(name)?;
    let end = if source.is_package { "/__init__.py" } else { ".py" };
    Some(format!("<models>/{}{end}", name.replace('.', "/")))
}

/// The lifted code of a model.
#[must_use]
pub fn load(name: &str) -> Option<FileIr> {
    let entry = archive::decode(COMPILED).find(|entry| entry.name == name)?;
    let module = read_marshal(entry.marshal.into(), VERSION).ok()?;
    Some(hognose_ir::lift_file(module))
}

/// A model with its lifted code.
#[derive(Debug)]
pub struct Model {
    /// Module name.
    pub name: String,
    /// Whether it is a package.
    pub is_package: bool,
    /// Its path as it is shown to people.
    pub path: String,
    /// Its code.
    pub ir: FileIr,
}

/// Models that somebody gives beside those of this crate; one of the same name counts before ours.
pub trait Given {
    /// Whether there is one of this name.
    fn has(&self, name: &str) -> bool;
    /// The model of this name; `None` if it cannot be had, and then ours counts. Asked once for a name.
    fn load(&mut self, name: &str) -> Option<Model>;
}

/// No other models.
struct Nothing;

impl Given for Nothing {
    fn has(&self, _name: &str) -> bool {
        false
    }
    fn load(&mut self, _name: &str) -> Option<Model> {
        None
    }
}

/// The models that a program needs: `builtins`, those of the modules it imports and of the packages these are in, and
/// those that models import. Name, whether it is a package, and code; `builtins` first, the others sorted by name.
///
/// The imports are absolute dotted names. `from a import b` may import the module `a.b`; a name without a model adds
/// nothing, so both may be given.
pub fn closure<'a>(imports: impl Iterator<Item = &'a str>) -> Vec<(String, bool, FileIr)> {
    let models = closure_with(imports, &mut Nothing).into_iter();
    models.map(|model| (model.name, model.is_package, model.ir)).collect()
}

/// The same with models that are given beside ours.
pub fn closure_with<'a>(imports: impl Iterator<Item = &'a str>, given: &mut dyn Given) -> Vec<Model> {
    let mut wanted: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut want = |wanted: &mut Vec<String>, given: &dyn Given, import: &str| {
        let parents = import.match_indices('.').map(|(dot, _)| &import[..dot]);
        for name in parents.chain([import]) {
            if (given.has(name) || find(name).is_some()) && seen.insert(name.to_owned()) {
                wanted.push(name.to_owned());
            }
        }
    };
    want(&mut wanted, given, "builtins");
    imports.for_each(|import| want(&mut wanted, given, import));
    let mut loaded = Vec::new();
    while let Some(name) = wanted.pop() {
        let of_user = if given.has(&name) { given.load(&name) } else { None };
        let Some(model) = of_user.or_else(|| built_in(&name)) else {
            continue;
        };
        for import in absolute_imports(&model) {
            want(&mut wanted, given, &import);
        }
        loaded.push(model);
    }
    loaded.sort_by(|left, right| (left.name != "builtins", &left.name).cmp(&(right.name != "builtins", &right.name)));
    loaded
}

/// The model of this crate.
#[must_use]
pub fn built_in(name: &str) -> Option<Model> {
    Some(Model {
        name: name.to_owned(),
        is_package: is_package(name),
        path: path(name)?,
        ir: load(name)?,
    })
}

/// The modules that a model imports.
fn absolute_imports(model: &Model) -> Vec<String> {
    let mut found = Vec::new();
    for import in hognose_ir::imports(&model.ir) {
        let Some(module) = absolute(model, import.level, &model.ir.names[import.module]) else {
            continue;
        };
        for &name in import.names.iter().flatten() {
            if let Some(name) = model.ir.module.objects.text(name) {
                found.push(format!("{module}.{name}"));
            }
        }
        found.push(module);
    }
    found
}

/// The module that a relative import of a model means (Python Language Reference, 5.7); `None` beyond the top.
fn absolute(model: &Model, level: u32, module: &str) -> Option<String> {
    if level == 0 {
        return Some(module.to_owned());
    }
    let mut package = &*model.name;
    for _ in u32::from(model.is_package)..level {
        package = package.rsplit_once('.')?.0;
    }
    Some(if module.is_empty() {
        package.to_owned()
    } else {
        format!("{package}.{module}")
    })
}
