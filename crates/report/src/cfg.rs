//! Control-flow graphs: `hognose.cfg/1`.
//!
//! `{"graphs": [{function, name, entry, exits: {normal, exceptional}, blocks: [..], edges: [..]}]}`; the blocks' `start`
//! and `end` are byte offsets, half open, and `instructions` the offsets of their instructions (fused opcodes repeat one).

use crate::document::Document;
use crate::dot::Dot;
use hognose_ir::{BlockId, Body, EdgeKind};
use hognose_pta::{CodeId, Program};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write};

#[derive(Serialize)]
struct Graph<'a> {
    function: u32,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a str>,
    entry: u32,
    exits: Exits,
    blocks: Vec<Block>,
    edges: Vec<Edge>,
}

#[derive(Serialize)]
struct Exits {
    normal: u32,
    exceptional: u32,
}

#[derive(Serialize)]
struct Block {
    id: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<u32>,
    instructions: Vec<u32>,
    unreachable: bool,
}

#[derive(Serialize)]
struct Edge {
    from: u32,
    to: u32,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    explicit: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u32>,
}

/// The name of a kind of edge.
pub(crate) const fn edge_kind(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Normal => "normal",
        EdgeKind::True => "true",
        EdgeKind::False => "false",
        EdgeKind::Exception { .. } => "exception",
        EdgeKind::Resume => "resume",
    }
}

fn block(body: &Body, id: BlockId) -> Block {
    let instructions: Vec<u32> = body.cfg.insts(id).map(|inst| body.insts[inst].offset).collect();
    // An instruction is one code unit; caches and prefixes belong to the space between.
    Block {
        id: id.raw(),
        start: instructions.first().copied(),
        end: instructions.last().map(|last| last + 2),
        unreachable: body.cfg.blocks[id].unreachable,
        instructions,
    }
}

fn graph(program: &Program, code: CodeId) -> Graph<'_> {
    let body = program.body(code);
    let cfg = &body.cfg;
    Graph {
        function: code.raw(),
        name: program.qualname(code),
        problem: body.problem.as_ref().map(|problem| &*problem.message),
        entry: 0,
        exits: Exits {
            normal: cfg.normal_exit.raw(),
            exceptional: cfg.exceptional_exit.raw(),
        },
        blocks: cfg.blocks.ids().map(|id| block(body, id)).collect(),
        edges: cfg
            .edges
            .iter()
            .map(|edge| Edge {
                from: edge.from.raw(),
                to: edge.to.raw(),
                kind: edge_kind(edge.kind),
                explicit: match edge.kind {
                    EdgeKind::Exception { explicit } => Some(explicit),
                    _ => None,
                },
                offset: edge.inst.map(|inst| body.insts[inst].offset),
            })
            .collect(),
    }
}

/// Writes the control-flow graphs of some code objects.
///
/// # Errors
/// If writing fails.
pub fn write_cfg_json(program: &Program, codes: &[CodeId], out: &mut dyn Write) -> io::Result<()> {
    let mut document = Document::begin(out, "hognose.cfg/1")?;
    document.array("graphs", codes.iter().map(|&code| graph(program, code)))?;
    document.end()
}

/// Text of a block's instructions.
pub(crate) fn block_label(program: &Program, code: CodeId, id: BlockId) -> String {
    let info = &program.codes[code];
    let ir = &program.modules[info.module].ir;
    let body = program.body(code);
    let text = ir.text(info.index);
    let mut label = match () {
        () if id == body.cfg.normal_exit => format!("{id}: exit\n"),
        () if id == body.cfg.exceptional_exit => format!("{id}: exceptional exit\n"),
        () => format!("{id}:\n"),
    };
    for inst in body.cfg.insts(id) {
        let inst = body.insts[inst];
        let _ = writeln!(label, "{:>5} {}", inst.offset, inst.op.in_words(&text));
    }
    label
}

/// Writes the control-flow graphs as DOT, a cluster per code object.
///
/// # Errors
/// If writing fails.
pub fn write_cfg_dot(program: &Program, codes: &[CodeId], out: &mut dyn Write) -> io::Result<()> {
    let mut dot = Dot::begin(out, "cfg")?;
    for &code in codes {
        let cfg = &program.body(code).cfg;
        dot.cluster(code, program.qualname(code))?;
        for id in cfg.blocks.ids() {
            let style = if cfg.blocks[id].unreachable {
                ", style=dotted"
            } else {
                ""
            };
            dot.node(format_args!("{code}_{id}"), &block_label(program, code, id), style)?;
        }
        dot.end_cluster()?;
        for edge in &cfg.edges {
            let (label, style) = match edge.kind {
                EdgeKind::Normal => ("", ""),
                EdgeKind::Exception { explicit: true } => ("exception", "color=red"),
                EdgeKind::Exception { explicit: false } => ("exception", "color=red, style=dashed"),
                kind => (edge_kind(kind), ""),
            };
            let ends = (format_args!("{code}_{}", edge.from), format_args!("{code}_{}", edge.to));
            dot.edge(ends.0, ends.1, label, style)?;
        }
    }
    dot.end()
}
