//! Analyses a case and brings the result into the shape of the matcher.
//!
//! Vocabulary: *prologue* instructions set the frame up and stand for nothing in the source, though some versions give them
//! the line of the `def`. The analysis is put together from the crates below the facade, so that models are lifted once.

mod graphs;
mod lines;
mod link;
mod values;

use hognose_depgraph::{ClassGraph, ClassRef, ModuleGraph};
use hognose_pta::{CodeId, PointsTo, Program, PtaConfig};
use hognose_testkit::{Case, ObservedClass, ObservedFacts, ObservedFunction, ObservedSite, Place, Roots, Target};
use lines::Lines;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the analysis finds in a case: from the bytecode of its modules by path, or from its source.
pub(crate) fn observe(case: &Case, target: Target, modules: &BTreeMap<String, &[u8]>) -> Result<ObservedFacts, String> {
    let program = Arc::new(link::link(case, target, modules)?);
    let config = PtaConfig {
        roots: match case.config.roots {
            Roots::Modules => hognose_pta::Roots::Modules,
            Roots::Exports => hognose_pta::Roots::Exports,
        },
        ..PtaConfig::default()
    };
    let pta = hognose_pta::analyze(&program, &config);
    let lines = Lines::of(&program);
    let (functions, numbers) = functions(&program);
    let mut facts = ObservedFacts {
        sites: sites(&pta, &lines, &numbers),
        functions,
        ..ObservedFacts::default()
    };
    for (module, number) in case.modules.iter().zip(0..) {
        for (&line, markers) in &module.markers {
            let place = Place { module: number, line };
            for marker in &markers.points_to {
                if let Some(answer) = values::points_to(case, &pta, &lines, place, &marker.path) {
                    facts.points_to.insert((place, marker.path.clone()), answer);
                }
            }
        }
    }
    graphs::control_flow(&program, &lines, &mut facts);
    graphs::control_dependence(&program, &lines, &mut facts);
    graphs::data_dependence(&pta, &lines, &mut facts);
    facts.classes = classes(&ClassGraph::of(&pta));
    let imports = ModuleGraph::of(&program);
    let name = |node| imports.nodes()[node].name.clone();
    facts.imports = imports
        .edges()
        .iter()
        .map(|edge| (name(edge.from), name(edge.to)))
        .collect();
    Ok(facts)
}

/// A dotted name as cases write it.
fn written(name: &str) -> String {
    let known = name.strip_prefix("main.").or_else(|| name.strip_prefix("builtins."));
    known.unwrap_or(name).to_owned()
}

/// The code objects of the program, models left out.
fn codes(program: &Program) -> impl Iterator<Item = CodeId> {
    program.codes.ids().filter(|&code| !program.is_model(code))
}

/// The line of the `def`, `lambda` or `class` of a code object of the program.
fn definition(program: &Program, code: CodeId) -> Option<Place> {
    let info = &program.codes[code];
    (!program.is_model(code)).then_some(Place {
        module: info.module.raw(),
        line: info.line,
    })
}

fn functions(program: &Program) -> (Vec<ObservedFunction>, FxHashMap<CodeId, u32>) {
    let mut functions = Vec::new();
    let mut numbers = FxHashMap::default();
    for (code, number) in codes(program)
        .filter(|&code| program.codes[code].is_function())
        .zip(0..)
    {
        let Some(at) = definition(program, code) else { continue };
        let name = written(program.qualname(code));
        functions.push(ObservedFunction { name, at });
        numbers.insert(code, number);
    }
    (functions, numbers)
}

fn sites(pta: &PointsTo, lines: &Lines, numbers: &FxHashMap<CodeId, u32>) -> Vec<ObservedSite> {
    let mut sites = Vec::new();
    for call in pta.calls() {
        if let Some(at) = lines.place(call.caller, call.inst) {
            sites.push(ObservedSite {
                at,
                targets: call
                    .targets
                    .iter()
                    .filter_map(|target| numbers.get(target).copied())
                    .collect(),
                unresolved: call.unresolved.iter().collect(),
            });
        }
    }
    sites
}

fn classes(graph: &ClassGraph) -> BTreeMap<String, ObservedClass> {
    let name = |class: &ClassRef| match class {
        ClassRef::Program(object) => graph
            .class(*object)
            .map_or("?".to_owned(), |class| written(&class.name)),
        ClassRef::Library(name) => written(name),
        ClassRef::Unknown => "?".to_owned(),
    };
    let mut classes = BTreeMap::new();
    for class in graph.classes() {
        let of_object = |&object| graph.class(object).map(|class| written(&class.name));
        let observed = ObservedClass {
            mro: class
                .orders
                .first()
                .map_or(Vec::new(), |order| order.iter().map(name).collect()),
            subclasses: class.subclasses.iter().filter_map(of_object).collect(),
        };
        classes.entry(written(&class.name)).or_insert(observed);
    }
    classes
}
