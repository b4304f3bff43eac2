//! Compiles or reads the modules of a case and links them with the models they need.

use hognose_compile::{Embedded, Frontend as _, SourceFile};
use hognose_ir::{FileIr, lift_file};
use hognose_pta::{Program, SourceUnit};
use hognose_pyc::{CompiledModule, PythonVersion, read_marshal};
use hognose_testkit::{Case, CaseModule, Target};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock};

/// The case's modules in their order, so that [`hognose_pta::ModuleId`] is the position in the case; then models.
pub(super) fn link(case: &Case, target: Target, bytecode: &BTreeMap<String, &[u8]>) -> Result<Program, String> {
    let mut units = Vec::new();
    for module in &case.modules {
        let compiled = compiled(module, target, bytecode).map_err(|error| format!("{}: {error}", module.path))?;
        let ir = lift_file(compiled);
        if let Some(problem) = ir.bodies.iter().find_map(|body| body.problem.as_ref()) {
            return Err(format!("{} cannot be lifted: {}", module.path, problem.message));
        }
        units.push(SourceUnit {
            name: module.name.clone(),
            is_package: module.path.ends_with("__init__.py"),
            is_model: false,
            is_dependency: false,
            path: module.path.clone(),
            ir: Arc::new(ir),
        });
    }
    add_models(&mut units);
    Ok(Program::link(units))
}

fn compiled(module: &CaseModule, target: Target, found: &BTreeMap<String, &[u8]>) -> Result<CompiledModule, String> {
    if let Some(minor) = target.minor() {
        let bytes = found.get(&module.path).ok_or("no bytecode")?;
        return read_marshal((*bytes).into(), PythonVersion::new(minor)).map_err(|error| error.to_string());
    }
    let source = SourceFile {
        path: module.path.clone(),
        filename: module.path.clone(),
        bytes: module.text.clone().into_bytes(),
    };
    let result = Embedded::default().compiler().compile(&source);
    let why = || {
        result
            .diagnostics
            .iter()
            .map(|one| one.message.as_str())
            .collect::<Vec<_>>()
            .join("; ")
    };
    result.module.ok_or_else(why)
}

fn add_models(units: &mut Vec<SourceUnit>) {
    let mut imports = BTreeSet::new();
    for unit in &*units {
        for import in hognose_ir::imports(&unit.ir)
            .into_iter()
            .filter(|import| import.level == 0)
        {
            let module = &*unit.ir.names[import.module];
            let objects = &unit.ir.module.objects;
            let names = import.names.iter().flatten().filter_map(|&name| objects.text(name));
            imports.extend(names.map(|name| format!("{module}.{name}")));
            imports.insert(module.to_owned());
        }
    }
    let own: BTreeSet<String> = units.iter().map(|unit| unit.name.clone()).collect();
    for model in models(&imports).iter() {
        if model.name == "builtins" || !own.contains(&model.name) {
            units.push(SourceUnit {
                name: model.name.clone(),
                is_package: model.is_package,
                is_model: true,
                is_dependency: false,
                path: hognose_models::path(&model.name).unwrap_or_default(),
                ir: Arc::clone(&model.ir),
            });
        }
    }
}

struct Model {
    name: String,
    is_package: bool,
    ir: Arc<FileIr>,
}

type Models = Arc<Vec<Model>>;

/// The models behind some imports, lifted once for all cases.
fn models(imports: &BTreeSet<String>) -> Models {
    static BY_IMPORTS: OnceLock<Mutex<BTreeMap<Vec<String>, Models>>> = OnceLock::new();
    let known: BTreeSet<&str> = hognose_models::names().collect();
    let modelled = |import: &str| {
        let mut prefixes = import.match_indices('.').map(|(dot, _)| &import[..dot]).chain([import]);
        prefixes.any(|prefix| known.contains(prefix))
    };
    let key: Vec<String> = imports.iter().filter(|import| modelled(import)).cloned().collect();
    let mut cache = BY_IMPORTS
        .get_or_init(Mutex::default)
        .lock()
        .expect("no panic while lifting models");
    let found = cache.entry(key).or_insert_with_key(|key| {
        let closure = hognose_models::closure(key.iter().map(String::as_str)).into_iter();
        let model = |(name, is_package, ir)| Model {
            name,
            is_package,
            ir: Arc::new(ir),
        };
        Arc::new(closure.map(model).collect())
    });
    Arc::clone(found)
}
