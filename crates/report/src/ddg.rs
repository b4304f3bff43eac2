//! The data-dependence graph: `hognose.ddg/1`.
//!
//! `{"nodes": [{id, kind, function?, offset?, span?, ..}], "edges": [{from, to, kind}], "counts": {kind: edges}, "loads":
//! [{function, exact, open, unresolved, silent}], "coverage": {..}}`. A node is an instruction, a value where control joins, a parameter, a hub of what a function returns, raises, yields or is sent, or
//! a heap slot (`object` and `field` as in `hognose.pta/1`). Nodes without edges are left out. Edges go from what is
//! depended on to what depends on it. A load that may read what the graph does not connect it with says why (`unresolved`);
//! `loads` counts, for each function with any, those of which all definitions are known, some, none for a reason, and none.

use crate::coverage::CoverageRecord;
use crate::document::Document;
use crate::dot::Dot;
use crate::place::{Places, SpanRecord, program_codes};
use crate::points_to::{describe, field_text};
use hognose_base::UnresolvedKind;
use hognose_depgraph::{DataCoverage, DataKind, Ddg, DdgNode, DdgNodeId, LoadCounts};
use hognose_pta::{CodeId, PointsTo};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

#[derive(Default, Serialize)]
struct Node {
    id: u32,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span: Option<SpanRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unresolved: Vec<&'static str>,
}

#[derive(Serialize)]
struct Loads {
    function: u32,
    exact: u32,
    open: u32,
    unresolved: u32,
    silent: u32,
}

#[derive(Serialize)]
struct Edge {
    from: u32,
    to: u32,
    kind: &'static str,
}

fn node(points_to: &PointsTo, (ddg, coverage): (&Ddg, &DataCoverage), places: &mut Places<'_>, id: DdgNodeId) -> Node {
    let of = |kind, code: CodeId| Node {
        id: id.raw(),
        kind,
        function: Some(code.raw()),
        ..Node::default()
    };
    let mut at = |kind, code, inst| {
        let (offset, span) = places.at(code, inst);
        Node {
            offset: Some(offset),
            span: Some(span.into()),
            ..of(kind, code)
        }
    };
    match ddg.node(id) {
        DdgNode::Returned(code) => of("returned", code),
        DdgNode::Raised(code) => of("raised", code),
        DdgNode::Yielded(code) => of("yielded", code),
        DdgNode::Sent(code) => of("sent", code),
        DdgNode::Parameter(code, index) => Node {
            parameter: Some(index),
            ..of("parameter", code)
        },
        DdgNode::Inst(code, inst) => Node {
            unresolved: coverage.reasons(code, inst).iter().map(UnresolvedKind::name).collect(),
            ..at("instruction", code, inst)
        },
        DdgNode::Output(code, inst, output) => Node {
            output: Some(output),
            ..at("output", code, inst)
        },
        DdgNode::Phi(code, value) => Node {
            value: Some(value.raw()),
            ..of("phi", code)
        },
        DdgNode::Caught(code, block) => Node {
            block: Some(block.raw()),
            ..of("caught", code)
        },
        DdgNode::Slot(object, field) => Node {
            id: id.raw(),
            kind: "slot",
            object: Some(object.raw()),
            field: Some(field_text(points_to, field)),
            ..Node::default()
        },
        DdgNode::Join(_) => Node {
            id: id.raw(),
            kind: "join",
            ..Node::default()
        },
    }
}

/// The edges to show: all, or those that touch a node of one of the code objects.
fn edges<'a>(
    ddg: &'a Ddg,
    functions: Option<&'a [CodeId]>,
) -> impl Iterator<Item = (DdgNodeId, DdgNodeId, DataKind)> + 'a {
    let inside = move |node: DdgNodeId| {
        functions.is_none_or(|codes| codes.iter().any(|&code| ddg.nodes_of(code).contains(&node.raw())))
    };
    ddg.edges().filter(move |&(from, to, _)| inside(from) || inside(to))
}

/// Writes the graph, or the part of it that touches some code objects.
///
/// # Errors
/// If writing fails.
pub fn write_ddg_json(
    points_to: &PointsTo,
    ddg: &Ddg,
    coverage: &DataCoverage,
    functions: Option<&[CodeId]>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut document = Document::begin(out, "hognose.ddg/1")?;
    let mut places = Places::new(points_to.program());
    match functions {
        None => {
            let linked = ddg
                .nodes()
                .filter(|&node| !ddg.edges_from(node).is_empty() || !ddg.edges_to(node).is_empty());
            document.array(
                "nodes",
                linked.map(|id| node(points_to, (ddg, coverage), &mut places, id)),
            )?;
        }
        Some(_) => {
            let shown: BTreeSet<DdgNodeId> = edges(ddg, functions).flat_map(|(from, to, _)| [from, to]).collect();
            document.array(
                "nodes",
                shown
                    .into_iter()
                    .map(|id| node(points_to, (ddg, coverage), &mut places, id)),
            )?;
        }
    }
    let rows = edges(ddg, functions).map(|(from, to, kind)| Edge {
        from: from.raw(),
        to: to.raw(),
        kind: kind.name(),
    });
    document.array("edges", rows)?;
    let counts: BTreeMap<&str, usize> = ddg.counts().map(|(kind, count)| (kind.name(), count)).collect();
    document.field("counts", &counts)?;
    let counted = |&code: &CodeId| coverage.of_code(code) != LoadCounts::default();
    let of_code = |code: CodeId| {
        let counts = coverage.of_code(code);
        Loads {
            function: code.raw(),
            exact: counts.exact,
            open: counts.open,
            unresolved: counts.unresolved,
            silent: counts.silent,
        }
    };
    match functions {
        None => document.array("loads", program_codes(points_to.program()).filter(counted).map(of_code))?,
        Some(codes) => document.array("loads", codes.iter().copied().filter(counted).map(of_code))?,
    }
    document.field("coverage", &CoverageRecord::from(coverage.total()))?;
    document.end()
}

/// Writes the graph, or the part of it that touches some code objects, as DOT.
///
/// # Errors
/// If writing fails.
pub fn write_ddg_dot(
    points_to: &PointsTo,
    ddg: &Ddg,
    functions: Option<&[CodeId]>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut dot = Dot::begin(out, "ddg")?;
    let shown: BTreeSet<DdgNodeId> = edges(ddg, functions).flat_map(|(from, to, _)| [from, to]).collect();
    for id in shown {
        dot.node(id, &label(points_to, ddg.node(id)), "")?;
    }
    for (from, to, kind) in edges(ddg, functions) {
        dot.edge(from, to, kind.name(), "")?;
    }
    dot.end()
}

fn label(points_to: &PointsTo, node: DdgNode) -> String {
    let program = points_to.program();
    let name = |code| program.qualname(code);
    match node {
        DdgNode::Returned(code) => format!("{} returns", name(code)),
        DdgNode::Raised(code) => format!("{} raises", name(code)),
        DdgNode::Yielded(code) => format!("{} yields", name(code)),
        DdgNode::Sent(code) => format!("{} is sent", name(code)),
        DdgNode::Parameter(code, index) => format!("{} parameter {index}", name(code)),
        DdgNode::Inst(code, inst) | DdgNode::Output(code, inst, _) => {
            let info = &program.codes[code];
            let text = program.modules[info.module].ir.text(info.index);
            let inst = program.body(code).insts[inst];
            format!("{}\n{} {}\n", name(code), inst.offset, inst.op.in_words(&text))
        }
        DdgNode::Phi(code, value) => format!("{} phi {value}", name(code)),
        DdgNode::Caught(code, block) => format!("{} caught {block}", name(code)),
        DdgNode::Slot(object, field) => {
            let (kind, text) = describe(points_to, object);
            format!("{kind} {text}{}", field_text(points_to, field))
        }
        DdgNode::Join(number) => format!("join {number}"),
    }
}
