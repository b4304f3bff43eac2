//! Prints the call graph of a folder of Python files: a tool for work on the engine.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use hognose_compile::{Embedded, Frontend, SourceFile, Threads};
use hognose_pta::{Program, PtaConfig, Roots, SourceUnit, analyze};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "py") {
            found.push(path);
        }
    }
}

fn units(root: &Path, is_model: bool) -> Vec<SourceUnit> {
    let mut paths = Vec::new();
    let base = if root.is_file() {
        paths.push(root.to_owned());
        root.parent().unwrap().to_owned()
    } else {
        files(root, &mut paths);
        if root.join("__init__.py").exists() {
            root.parent().unwrap().to_owned()
        } else {
            root.to_owned()
        }
    };
    let sources: Vec<SourceFile> = paths
        .iter()
        .map(|path| SourceFile {
            path: path.display().to_string(),
            filename: path.display().to_string(),
            bytes: std::fs::read(path).unwrap(),
        })
        .collect();
    let results = Embedded::default().compile(&sources, Threads::default());
    let mut units = Vec::new();
    for (path, result) in paths.iter().zip(results) {
        let Some(module) = result.module else {
            println!("{:?}", result.diagnostics);
            continue;
        };
        let name = path
            .strip_prefix(&base)
            .unwrap()
            .with_extension("")
            .display()
            .to_string()
            .replace('/', ".");
        let is_package = name == "__init__" || name.ends_with(".__init__");
        let name = name.strip_suffix(".__init__").unwrap_or(&name).to_owned();
        let ir = Arc::new(hognose_ir::lift_file(module));
        units.push(SourceUnit {
            name,
            is_package,
            is_model,
            path: path.display().to_string(),
            ir,
        });
    }
    units.sort_by(|a, b| a.name.cmp(&b.name));
    units
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let modules_only = arguments.iter().any(|argument| argument == "--modules");
    let quiet = arguments.iter().any(|argument| argument == "--quiet");
    arguments.retain(|argument| !argument.starts_with("--"));
    let start = std::time::Instant::now();
    let mut all = units(Path::new(&arguments[0]), false);
    println!("compile+lift {:?}", start.elapsed());
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/python");
    if models.exists() {
        all.extend(units(&models, true));
    }
    let start = std::time::Instant::now();
    let program = Arc::new(Program::link(all));
    println!("link {:?} codes {}", start.elapsed(), program.codes.len());
    let start = std::time::Instant::now();
    let config = PtaConfig {
        roots: if modules_only { Roots::Modules } else { Roots::Exports },
        max_objects: std::env::var("LIMIT")
            .ok()
            .and_then(|limit| limit.parse().ok())
            .unwrap_or(PtaConfig::default().max_objects),
        max_steps: std::env::var("STEPS").ok().and_then(|steps| steps.parse().ok()),
        ..PtaConfig::default()
    };
    let result = analyze(&program, &config);
    println!(
        "pta {:?} nodes {} objects {} acts {} rounds {} stats {:?} MB {}",
        start.elapsed(),
        result.node_count(),
        result.heap().len(),
        result.activations().len(),
        result.rounds(),
        result.stats(),
        result.bytes() >> 20
    );
    let mut counts: Vec<(usize, &str)> = program
        .codes
        .ids()
        .map(|code| (result.activations_of(code).len(), program.qualname(code)))
        .collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    println!("most activations {:?}", &counts[..counts.len().min(12)]);
    let mut sizes: Vec<(usize, String)> = Vec::new();
    for code in program.codes.ids() {
        for index in 0..program.codes[code].signature.parameters.len() {
            let (objects, _) = result.parameter(code, index);
            sizes.push((objects.len(), format!("{} parameter {index}", program.qualname(code))));
        }
    }
    for (object, field, set, _) in result.fields() {
        if set.len() > 300 {
            sizes.push((
                set.len(),
                format!("{:?} {} {field:?}", result.object(object), result.class_name(object)),
            ));
        }
    }
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    for (size, what) in sizes.iter().take(if quiet { 14 } else { 0 }) {
        println!("{size} {what}");
    }
    if quiet {
        let mut kinds: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
        for code in program.codes.ids() {
            if std::env::var("SHOW").is_ok_and(|show| show == program.qualname(code)) {
                for object in result.parameter(code, 1).0 {
                    let text = match result.object(object) {
                        hognose_pta::Object::Instance(class, _) => format!("Instance {}", result.class_name(class)),
                        hognose_pta::Object::External(chain) => {
                            let text = result.chain_text(chain);
                            format!("External {}", text.split(['.', '(']).next().unwrap_or(""))
                        }
                        other => format!("{other:?}").split('(').next().unwrap_or("").to_owned(),
                    };
                    *kinds.entry(text).or_default() += 1;
                }
            }
        }
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.1));
        println!("{kinds:?}");
    }
    let calls = result.calls();
    println!("coverage {:?}", result.coverage(&calls));
    if quiet {
        return;
    }
    for call in &calls {
        let body = program.body(call.caller);
        let objects = &program.modules[program.codes[call.caller].module].ir.module;
        let table = hognose_pyc::PositionTable::of(&objects.objects, program.code_object(call.caller), objects.version);
        let span = table.span_at(body.insts[call.inst].offset);
        let names: Vec<&str> = call.targets.iter().map(|&code| program.qualname(code)).collect();
        println!(
            "{}:{}:{} {:?} -> {:?} ext {:?} unresolved {:?}",
            program.qualname(call.caller),
            span.line,
            span.col,
            match call.kind {
                hognose_pta::CallKind::Protocol(name) => program.text(name).to_owned(),
                other => format!("{other:?}"),
            },
            names,
            call.external,
            call.unresolved.iter().map(|kind| kind.name()).collect::<Vec<_>>()
        );
    }
}
