//! The models as a whole: complete, fresh, and about things that exist.

use hognose_ir::{FileIr, Op};
use hognose_models::archive;
use hognose_pyc::CodeIndex;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Names that a class body binds by itself.
const IMPLICIT: &[&str] = &[
    "__module__",
    "__qualname__",
    "__firstlineno__",
    "__static_attributes__",
    "__classcell__",
    "__classdictcell__",
    "__doc__",
    "__annotate_func__",
];

#[test]
fn every_file_is_listed_and_every_listed_file_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("python");
    let files: BTreeSet<String> = walkdir::WalkDir::new(&root)
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "py"))
        .map(|path| {
            path.strip_prefix(&root)
                .unwrap()
                .with_extension("")
                .to_string_lossy()
                .replace(['/', '\\'], ".")
        })
        .map(|name| name.strip_suffix(".__init__").unwrap_or(&name).to_owned())
        .collect();
    let listed: BTreeSet<String> = hognose_models::names().map(str::to_owned).collect();
    assert_eq!(files, listed);
    assert!(hognose_models::names().is_sorted());
}

#[test]
fn the_compiled_models_are_fresh() {
    let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/models.bin")).unwrap();
    let compiled: Vec<(&str, u64)> = archive::decode(&bytes).map(|entry| (entry.name, entry.hash)).collect();
    let sources: Vec<(&str, u64)> = hognose_models::names()
        .map(|name| (name, archive::hash_of(hognose_models::source(name).unwrap())))
        .collect();
    assert_eq!(compiled, sources, "run `cargo xtask models build`");
}

#[test]
fn every_model_is_lifted_without_problems() {
    for name in hognose_models::names() {
        let ir = hognose_models::load(name).unwrap_or_else(|| panic!("{name} cannot be read"));
        for (code, body) in ir.bodies.iter_enumerated() {
            assert_eq!(body.problem, None, "{name} {code:?}");
        }
    }
}

#[test]
fn the_closure_has_parents_and_what_models_import() {
    let closure = |imports: &[&str]| -> Vec<(String, bool)> {
        hognose_models::closure(imports.iter().copied())
            .into_iter()
            .map(|(name, package, _)| (name, package))
            .collect()
    };
    let owned = |names: &[(&str, bool)]| -> Vec<(String, bool)> {
        names
            .iter()
            .map(|&(name, package)| (name.to_owned(), package))
            .collect()
    };
    assert_eq!(closure(&[]), owned(&[("builtins", false)]));
    assert_eq!(
        closure(&["no.such.module", "copy"]),
        owned(&[("builtins", false), ("copy", false)])
    );
    assert_eq!(
        closure(&["concurrent.futures.thread"]),
        owned(&[("builtins", false), ("concurrent", true), ("concurrent.futures", true)])
    );
    let collections = [
        ("builtins", false),
        ("abc", false),
        ("collections", true),
        ("collections.abc", false),
    ];
    assert_eq!(closure(&["collections"]), owned(&collections));
    assert_eq!(closure(&["collections.abc", "abc"]), owned(&collections));
}

/// One model under many names, of which `dataclasses` cannot be had.
struct Renamed(BTreeSet<&'static str>, Vec<String>);

impl hognose_models::Given for Renamed {
    fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
    fn load(&mut self, name: &str) -> Option<hognose_models::Model> {
        self.1.push(name.to_owned());
        if name == "dataclasses" {
            return None;
        }
        Some(hognose_models::Model {
            name: name.to_owned(),
            path: format!("mine/{name}"),
            ..hognose_models::built_in("concurrent.futures")?
        })
    }
}

#[test]
fn given_models_count_before_ours() {
    let mut given = Renamed(["copy", "mine", "dataclasses", "unused"].into(), Vec::new());
    let models = hognose_models::closure_with(["copy", "mine.sub", "dataclasses"].into_iter(), &mut given);
    let paths: Vec<&str> = models.iter().map(|model| &*model.path).collect();
    for path in [
        "<models>/builtins.py",
        "mine/copy",
        "mine/mine",
        "<models>/dataclasses.py",
    ] {
        assert!(paths.contains(&path), "{path} of {paths:?}");
    }
    assert!(!paths.contains(&"<models>/copy.py"));
    given.1.sort();
    assert_eq!(given.1, ["copy", "dataclasses", "mine"]);
}

/// Names that a code object stores in its namespace.
fn stored(ir: &FileIr, code: CodeIndex) -> BTreeSet<&str> {
    ir.bodies[code]
        .insts
        .iter()
        .filter_map(|inst| match inst.op {
            Op::StoreName(name) => Some(&*ir.names[name]),
            _ => None,
        })
        .collect()
}

fn is_private(name: &str) -> bool {
    name.starts_with('_') && !name.starts_with("__")
}

/// What a model has that CPython has not.
fn unknown_names(module: &str, real: &Value) -> Vec<String> {
    let ir = hognose_models::load(module).expect("a listed model");
    let has = |members: &Value, name: &str| {
        members
            .as_array()
            .is_some_and(|list| list.iter().any(|one| one == name))
    };
    let object = real["builtins"]["object"].clone();
    // Classes that CPython does not name are modelled in `builtins`.
    let find = |name: &str| {
        real[module]
            .get(name)
            .or_else(|| real["<hidden>"].get(name).filter(|_| module == "builtins"))
    };
    let mut unknown = Vec::new();
    for name in stored(&ir, CodeIndex::new(0)) {
        if !is_private(name) && name != "__doc__" && find(name).is_none() {
            unknown.push(format!("{module}.{name}"));
        }
    }
    for (index, code) in ir.module.objects.codes().iter_enumerated() {
        let class = ir.module.objects.text(code.name).unwrap_or_default();
        let Some(members) = find(&class) else { continue };
        if code.parent != Some(CodeIndex::new(0)) || members.is_null() {
            continue;
        }
        for name in stored(&ir, index) {
            let known = is_private(name) || IMPLICIT.contains(&name) || has(members, name) || has(&object, name);
            if !known {
                unknown.push(format!("{module}.{class}.{name}"));
            }
        }
    }
    unknown
}

/// `data/names.json` is what CPython 3.14 says: see `data/names.py`.
fn real_names() -> Value {
    serde_json::from_str(include_str!("../data/names.json")).expect("JSON")
}

#[test]
fn every_name_exists_in_cpython() {
    let real = real_names();
    let unknown: Vec<String> = hognose_models::names()
        .flat_map(|module| unknown_names(module, &real))
        .collect();
    assert_eq!(unknown, Vec::<String>::new());
}

/// Names of `builtins` that are external on purpose or keywords.
const ABSENT: &[&str] = &[
    "copyright",
    "credits",
    "help",
    "license",
    "open",
    "True",
    "False",
    "None",
];

#[test]
fn builtins_is_complete() {
    let real = real_names();
    let ir = hognose_models::load("builtins").unwrap();
    let modelled = stored(&ir, CodeIndex::new(0));
    let public = real["builtins"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .filter(|name| !name.starts_with('_'));
    let missing: Vec<&str> = public
        .filter(|name| !modelled.contains(name) && !ABSENT.contains(name))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}
