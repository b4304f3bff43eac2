//! Control-dependence graphs: `hognose.cdg/1`.
//!
//! `{"graphs": [{function, name, ipdom: [..], dependences: [{branch, outcome, block, offset}]}]}`; blocks are those of the
//! control-flow graph, `ipdom` has the immediate post-dominator of each (null: the virtual exit), `offset` is the deciding
//! instruction.

use crate::cfg::block_label;
use crate::document::Document;
use crate::dot::Dot;
use hognose_base::IndexVec;
use hognose_depgraph::Cdg;
use hognose_pta::{CodeId, Program};
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Graph<'a> {
    function: u32,
    name: &'a str,
    ipdom: Vec<Option<u32>>,
    dependences: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    branch: u32,
    outcome: &'static str,
    block: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u32>,
}

/// Writes the control-dependence graphs of some code objects.
///
/// # Errors
/// If writing fails.
pub fn write_cdg_json(
    program: &Program,
    cdgs: &IndexVec<CodeId, Cdg>,
    codes: &[CodeId],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut document = Document::begin(out, "hognose.cdg/1")?;
    let rows = codes.iter().filter_map(|&code| {
        let (cdg, body) = (cdgs.get(code)?, program.body(code));
        let dependences = cdg.dependences().iter().map(|dependence| Row {
            branch: dependence.branch.raw(),
            outcome: dependence.outcome.name(),
            block: dependence.block.raw(),
            offset: Cdg::deciding_instruction(body, dependence).map(|inst| body.insts[inst].offset),
        });
        let ipdom = cdg.immediate_post_dominators();
        Some(Graph {
            function: code.raw(),
            name: program.qualname(code),
            ipdom: ipdom.iter().map(|block| block.map(|block| block.raw())).collect(),
            dependences: dependences.collect(),
        })
    });
    document.array("graphs", rows)?;
    document.end()
}

/// Writes the control-dependence graphs as DOT, a cluster per code object.
///
/// # Errors
/// If writing fails.
pub fn write_cdg_dot(
    program: &Program,
    cdgs: &IndexVec<CodeId, Cdg>,
    codes: &[CodeId],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut dot = Dot::begin(out, "cdg")?;
    for &code in codes {
        let (Some(cdg), cfg) = (cdgs.get(code), &program.body(code).cfg) else {
            continue;
        };
        dot.cluster(code, program.qualname(code))?;
        for id in cfg.blocks.ids() {
            dot.node(format_args!("{code}_{id}"), &block_label(program, code, id), "")?;
        }
        dot.end_cluster()?;
        for dependence in cdg.dependences() {
            let ends = (
                format_args!("{code}_{}", dependence.branch),
                format_args!("{code}_{}", dependence.block),
            );
            dot.edge(ends.0, ends.1, dependence.outcome.name(), "")?;
        }
    }
    dot.end()
}
