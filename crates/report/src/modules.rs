//! The module graph: `hognose.modules/1`.
//!
//! `{"modules": [{id, name, file?, package, external, dependency?}], "imports": [{from, to, kind, function, site}], "cycles": [[id]]}`.

use crate::document::Document;
use crate::dot::Dot;
use crate::place::{Places, SiteRecord, is_false};
use hognose_depgraph::{ImportKind, ModuleGraph, ModuleNodeId};
use hognose_pta::Program;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::{self, Write};

#[derive(Serialize)]
struct Module<'a> {
    id: u32,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    package: bool,
    external: bool,
    #[serde(skip_serializing_if = "is_false")]
    dependency: bool,
}

#[derive(Serialize)]
struct Import<'a> {
    from: u32,
    to: u32,
    kind: &'static str,
    function: u32,
    site: SiteRecord<'a>,
}

/// Writes the module graph.
///
/// # Errors
/// If writing fails.
pub fn write_modules_json(program: &Program, graph: &ModuleGraph, out: &mut dyn Write) -> io::Result<()> {
    let mut document = Document::begin(out, "hognose.modules/1")?;
    let rows = graph.nodes().iter_enumerated().map(|(id, node)| Module {
        id: id.raw(),
        name: &node.name,
        file: node.module.map(|module| &*program.modules[module].path),
        package: node.is_package,
        external: node.module.is_none(),
        dependency: node.module.is_some_and(|module| program.modules[module].is_dependency),
    });
    document.array("modules", rows)?;
    let mut places = Places::new(program);
    let rows = graph.edges().iter().map(|edge| Import {
        from: edge.from.raw(),
        to: edge.to.raw(),
        kind: edge.kind.name(),
        function: edge.code.raw(),
        site: places.site(edge.code, edge.inst),
    });
    document.array("imports", rows)?;
    let cycles = graph.cycles().iter();
    document.array(
        "cycles",
        cycles.map(|cycle| cycle.iter().map(|id| id.raw()).collect::<Vec<u32>>()),
    )?;
    document.end()
}

/// Writes the module graph as DOT: one edge per pair of modules and kind of import.
///
/// # Errors
/// If writing fails.
pub fn write_modules_dot(graph: &ModuleGraph, out: &mut dyn Write) -> io::Result<()> {
    let mut dot = Dot::begin(out, "modules")?;
    for (id, node) in graph.nodes().iter_enumerated() {
        let style = if node.module.is_none() { ", style=dotted" } else { "" };
        dot.node(id, &node.name, style)?;
    }
    let edges: BTreeSet<(ModuleNodeId, ModuleNodeId, ImportKind)> = graph
        .edges()
        .iter()
        .map(|edge| (edge.from, edge.to, edge.kind))
        .collect();
    for (from, to, kind) in edges {
        let style = if kind == ImportKind::Namespace {
            "style=dashed"
        } else {
            ""
        };
        dot.edge(from, to, kind.name(), style)?;
    }
    dot.end()
}
