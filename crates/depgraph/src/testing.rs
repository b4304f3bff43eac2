//! Small programs for tests: source texts compiled by the embedded front end and linked.

use hognose_base::Id;
use hognose_compile::{Embedded, Frontend, SourceFile};
use hognose_ir::{InstId, Op, lift_file};
use hognose_pta::{CodeId, PointsTo, Program, PtaConfig, SourceUnit, analyze};
use std::sync::Arc;

pub(crate) struct Analysed {
    pub(crate) program: Arc<Program>,
    pub(crate) pta: PointsTo,
}

fn unit(name: &str, text: &str, is_model: bool) -> SourceUnit {
    let path = format!("{name}.py");
    let file = SourceFile {
        path: path.clone(),
        filename: path.clone(),
        bytes: text.as_bytes().to_vec(),
    };
    let result = Embedded::default().compiler().compile(&file);
    let module = result
        .module
        .unwrap_or_else(|| panic!("{name}: {:?}", result.diagnostics));
    let package = name.strip_suffix(".__init__");
    SourceUnit {
        name: package.unwrap_or(name).to_owned(),
        is_package: package.is_some(),
        is_model,
        is_dependency: false,
        path,
        ir: Arc::new(lift_file(module)),
    }
}

/// Links modules given as `(name, source)`, and the models of the builtins; a name that ends in `.__init__` is a package.
pub(crate) fn link(sources: &[(&str, &str)]) -> Program {
    let own = sources.iter().map(|&(name, text)| unit(name, text, false));
    let models = ["builtins", "abc"].into_iter();
    let models = models.map(|name| unit(name, hognose_models::source(name).unwrap_or_default(), true));
    Program::link(own.chain(models).collect())
}

pub(crate) fn analysed(sources: &[(&str, &str)]) -> Analysed {
    let program = Arc::new(link(sources));
    // The graphs are tested on all of what a value may be, not on what the default limit keeps.
    let unlimited = PtaConfig {
        max_objects: 0,
        ..PtaConfig::default()
    };
    let pta = analyze(&program, &unlimited);
    Analysed { program, pta }
}

/// The code object with this dotted name.
pub(crate) fn code(program: &Program, name: &str) -> CodeId {
    program
        .codes
        .ids()
        .find(|&code| program.qualname(code) == name)
        .unwrap_or_else(|| panic!("no code object {name}"))
}

/// The instructions of a code object whose operation satisfies `wanted`, given the operation and its name operand.
pub(crate) fn insts(program: &Program, at: CodeId, wanted: impl Fn(Op, &str) -> bool) -> Vec<InstId> {
    let names = &program.modules[program.codes[at].module].ir.names;
    let body = program.body(at);
    let name = |op| match op {
        Op::LoadAttr(name)
        | Op::LoadMethod(name)
        | Op::StoreAttr(name)
        | Op::LoadName(name)
        | Op::StoreName(name)
        | Op::LoadGlobal(name)
        | Op::StoreGlobal(name)
        | Op::ImportName(name)
        | Op::ImportFrom(name) => names[name].to_string(),
        Op::LoadLocal { slot, .. } | Op::StoreLocal(slot) | Op::LoadDeref(slot) | Op::StoreDeref(slot) => body
            .slots
            .get(slot)
            .map_or_else(String::new, |slot| names[slot.name].to_string()),
        _ => String::new(),
    };
    body.insts
        .ids()
        .filter(|inst| inst.index() < body.insts.len() && wanted(body.insts[*inst].op, &name(body.insts[*inst].op)))
        .collect()
}
