//! What library models there are, and what is wrong with those that a user gives.

use crate::given_models::GivenModels;
use crate::model_signatures;
use hognose_base::{Diagnostic, DiagnosticKind, Severity, Span};
use hognose_compile::{InterpreterError, PythonSpec};
use hognose_ir::{Body, Def, FileIr, InstId, Op};
use hognose_models::{Given, Model};
use hognose_pta::{CodeKind, Intrinsic, Program, RESERVED_MODULE, SourceUnit};
use hognose_pyc::{CodeIndex, PositionTable};
use hognose_report::ModelSummary;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a check of a folder of models found.
#[derive(Clone, Debug, Default)]
pub struct ModelCheck {
    /// The models that could be compiled, sorted by module.
    pub models: Vec<ModelSummary>,
    /// What is wrong, sorted by path and place. Errors are files that are not among the models; warnings say what a model has
    /// wrong.
    pub diagnostics: Vec<Diagnostic>,
}

impl ModelCheck {
    /// Whether a file could not be compiled.
    #[must_use]
    pub fn has_failures(&self) -> bool {
        self.diagnostics.iter().any(|one| one.severity == Severity::Error)
    }
    /// Whether a model says what is not so.
    #[must_use]
    pub fn has_findings(&self) -> bool {
        self.diagnostics.iter().any(|one| one.kind == DiagnosticKind::Model)
    }
}

/// The library models of this build and of the given folders, as an analysis with these folders would take them.
#[must_use]
pub fn list_models(folders: &[PathBuf]) -> ModelCheck {
    let mut given = GivenModels::find(folders);
    let mut names: BTreeSet<String> = given.names().map(str::to_owned).collect();
    names.extend(hognose_models::names().map(str::to_owned));
    let models = names.iter().filter_map(|name| {
        let of_user = if given.has(name) { given.load(name) } else { None };
        of_user.or_else(|| hognose_models::built_in(name))
    });
    let models = link(models.collect());
    ModelCheck {
        models: summaries(&models),
        diagnostics: sorted(given.into_diagnostics()),
    }
}

/// Compiles the models of a folder and says what is wrong: files that do not compile, names that the reserved module `_hognose`
/// does not have, and, if there is an interpreter to ask, functions whose parameters are not those of the library.
///
/// The interpreter imports the modules that are modelled, so they must be installed for it, and they run.
///
/// # Errors
/// If there is no such interpreter, or it does not answer.
pub fn check_models(folder: &Path, python: Option<&str>) -> Result<ModelCheck, InterpreterError> {
    let mut given = GivenModels::find(&[folder.to_owned()]);
    let names: Vec<String> = given.names().map(str::to_owned).collect();
    let program = link(names.iter().filter_map(|name| given.load(name)).collect());
    let mut diagnostics = given.into_diagnostics();
    for module in &program.modules {
        diagnostics.extend(unknown_intrinsics(&module.ir, &module.path));
    }
    if let Some(python) = python {
        diagnostics.extend(model_signatures::compare(&program, &PythonSpec::parse(python)?)?);
    }
    Ok(ModelCheck {
        models: summaries(&program),
        diagnostics: sorted(diagnostics),
    })
}

fn sorted(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort();
    diagnostics.dedup();
    diagnostics
}

fn link(models: Vec<Model>) -> Program {
    let unit = |model: Model| SourceUnit {
        name: model.name,
        is_package: model.is_package,
        is_model: true,
        is_dependency: false,
        path: model.path,
        ir: Arc::new(model.ir),
    };
    Program::link(models.into_iter().map(unit).collect())
}

fn summaries(program: &Program) -> Vec<ModelSummary> {
    let mut counts: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    for code in &program.codes {
        let (functions, classes) = counts.entry(code.module).or_default();
        *functions += u64::from(code.kind == CodeKind::Function);
        *classes += u64::from(code.kind == CodeKind::Class);
    }
    let summary = |(id, (functions, classes))| {
        let module: &hognose_pta::Module = &program.modules[id];
        let module_name = program.text(module.name);
        let is_built_in = hognose_models::path(module_name).is_some_and(|path| path == module.path);
        ModelSummary {
            module: module_name.to_owned(),
            origin: if is_built_in {
                "built-in".to_owned()
            } else {
                module.path.clone()
            },
            functions,
            classes,
        }
    };
    counts.into_iter().map(summary).collect()
}

/// The names of the reserved module that a model uses and that do not exist.
fn unknown_intrinsics(ir: &FileIr, path: &str) -> Vec<Diagnostic> {
    let known: BTreeSet<&str> = Intrinsic::ALL.iter().map(|intrinsic| intrinsic.name()).collect();
    let mut used: Vec<(CodeIndex, InstId, String)> = Vec::new();
    for import in hognose_ir::imports(ir) {
        if &*ir.names[import.module] == RESERVED_MODULE {
            let names = import.names.iter().flatten();
            let names = names.filter_map(|&name| ir.module.objects.text(name));
            used.extend(names.map(|name| (import.code, import.inst, name.into_owned())));
        }
    }
    let aliases = aliases(ir);
    for (code, body) in ir.bodies.iter_enumerated() {
        for (inst, one) in body.insts.iter_enumerated() {
            if let (Op::LoadAttr(name) | Op::LoadMethod(name), &[base, ..]) = (one.op, body.ssa.inputs(inst))
                && let Def::Inst { inst: source, .. } = body.ssa.values[body.source(base)]
                && is_reserved(ir, body, source, &aliases)
            {
                used.push((code, inst, ir.names[name].to_string()));
            }
        }
    }
    used.retain(|(_, _, name)| name != "*" && !known.contains(&**name));
    let unknown = used.into_iter().map(|(code, inst, name)| {
        let message = format!("`{RESERVED_MODULE}` has no function `{name}`");
        let diagnostic = Diagnostic::warning(path, DiagnosticKind::Model, message);
        at(ir, code, inst, diagnostic)
    });
    unknown.collect()
}

/// The names that import statements of a file bind to the reserved module.
fn aliases(ir: &FileIr) -> BTreeSet<hognose_ir::NameId> {
    let mut found = BTreeSet::new();
    for body in &ir.bodies {
        for (inst, one) in body.insts.iter_enumerated() {
            if let (Op::StoreName(name) | Op::StoreGlobal(name), &[value, ..]) = (one.op, body.ssa.inputs(inst))
                && let Def::Inst { inst: source, .. } = body.ssa.values[body.source(value)]
                && is_reserved(ir, body, source, &BTreeSet::new())
            {
                found.insert(name);
            }
        }
    }
    found
}

/// Whether an instruction gives the reserved module.
fn is_reserved(ir: &FileIr, body: &Body, inst: InstId, aliases: &BTreeSet<hognose_ir::NameId>) -> bool {
    match body.insts.get(inst).map(|one| one.op) {
        Some(Op::ImportName(name)) => &*ir.names[name] == RESERVED_MODULE,
        Some(Op::LoadName(name) | Op::LoadGlobal(name)) => aliases.contains(&name),
        _ => false,
    }
}

/// A diagnostic at the place of an instruction.
fn at(ir: &FileIr, code: CodeIndex, inst: InstId, diagnostic: Diagnostic) -> Diagnostic {
    let Some(one) = ir.bodies[code].insts.get(inst) else {
        return diagnostic;
    };
    let objects = &ir.module.objects;
    let span = PositionTable::of(objects, objects.code(code), ir.module.version).span_at(one.offset);
    if span.line == Span::UNKNOWN {
        return diagnostic;
    }
    diagnostic.at(span.line, if span.col == Span::UNKNOWN { 0 } else { span.col })
}
