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

/// The models that a program needs: `builtins`, those of the modules it imports and of the packages these are in, and
/// those that models import. Name, whether it is a package, and code; `builtins` first, the others sorted by name.
///
/// The imports are absolute dotted names. `from a import b` may import the module `a.b`; a name without a model adds
/// nothing, so both may be given.
pub fn closure<'a>(imports: impl Iterator<Item = &'a str>) -> Vec<(String, bool, FileIr)> {
    let mut wanted: Vec<&'static Source> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut want = |wanted: &mut Vec<&'static Source>, import: &str| {
        let parents = import.match_indices('.').map(|(dot, _)| &import[..dot]);
        for source in parents.chain([import]).filter_map(find) {
            if seen.insert(source.name) {
                wanted.push(source);
            }
        }
    };
    want(&mut wanted, "builtins");
    imports.for_each(|import| want(&mut wanted, import));
    let mut loaded = Vec::new();
    while let Some(source) = wanted.pop() {
        let Some(ir) = load(source.name) else { continue };
        for import in absolute_imports(&ir) {
            want(&mut wanted, &import);
        }
        loaded.push((source.name.to_owned(), source.is_package, ir));
    }
    loaded.sort_by(|(left, ..), (right, ..)| (left != "builtins", left).cmp(&(right != "builtins", right)));
    loaded
}

/// The modules that a model imports; models have no relative imports.
fn absolute_imports(ir: &FileIr) -> Vec<String> {
    let mut found = Vec::new();
    for import in hognose_ir::imports(ir) {
        let module = &*ir.names[import.module];
        found.push(module.to_owned());
        for &name in import.names.iter().flatten() {
            if let Some(name) = ir.module.objects.text(name) {
                found.push(format!("{module}.{name}"));
            }
        }
    }
    found
}
