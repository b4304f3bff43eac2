//! The call graph: `hognose.cg/1`.
//!
//! Edges carry their site. The *kind* of a call says how it comes about: a call expression, a special method that other
//! syntax calls (`protocol`), a property or descriptor (`descriptor`), a constructor of a call of a class (`construct`).

use crate::coverage::CoverageRecord;
use crate::document::Document;
use crate::dot::Dot;
use crate::place::{FunctionRecord, Places, SiteRecord, function_record, program_codes};
use hognose_base::{Coverage, UnresolvedKind};
use hognose_pta::{CallKind, CallRecord, CodeId, PointsTo, ReachedBy};
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::{self, Write};

#[derive(Serialize)]
struct Call<'a> {
    caller: u32,
    site: SiteRecord<'a>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<&'a str>,
    targets: Vec<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    via_models: Vec<u32>,
    external: &'a [String],
    candidates: [u32; 0],
    unresolved: Vec<Reason>,
}

#[derive(Serialize)]
struct Reason {
    kind: &'static str,
    detail: String,
}

/// The name of a kind of call, and the special method it means.
pub(crate) fn call_kind(points_to: &PointsTo, kind: CallKind) -> (&'static str, Option<&str>) {
    match kind {
        CallKind::Call => ("call", None),
        CallKind::Protocol(name) => ("protocol", Some(points_to.symbol(name))),
        CallKind::Descriptor => ("descriptor", None),
        CallKind::Construct(name) => ("construct", Some(points_to.symbol(name))),
    }
}

fn ids(codes: &[CodeId]) -> Vec<u32> {
    codes.iter().map(|code| code.raw()).collect()
}

/// Writes the call graph.
///
/// `functions` limits it to calls in or of these; none means all.
///
/// # Errors
/// If writing fails.
pub fn write_call_graph_json(
    points_to: &PointsTo,
    calls: &[CallRecord],
    functions: Option<&[CodeId]>,
    coverage: &Coverage,
    out: &mut dyn Write,
) -> io::Result<()> {
    let program = points_to.program();
    let selected = Selection::new(functions, calls);
    let mut document = Document::begin(out, "hognose.cg/1")?;
    let rows = program_codes(program)
        .filter(|&code| selected.shows(code))
        .map(|code| FunctionRecord {
            reached_by: Some(match points_to.reached_by(code) {
                ReachedBy::Program => "program",
                ReachedBy::Entry => "entry",
                ReachedBy::Nothing => "nothing",
            }),
            ..function_record(program, code)
        });
    document.array("functions", rows)?;
    document.array("contexts", [0_u32; 0])?;
    let mut places = Places::new(program);
    let rows = calls.iter().filter(|call| selected.has(call)).map(|call| {
        let (kind, protocol) = call_kind(points_to, call.kind);
        Call {
            caller: call.caller.raw(),
            site: places.site(call.caller, call.inst),
            kind,
            protocol,
            targets: ids(&call.targets),
            via_models: ids(&call.via_models),
            external: &call.external,
            candidates: [],
            unresolved: reasons(points_to, call),
        }
    });
    document.array("calls", rows)?;
    document.field("coverage", &CoverageRecord::from(coverage))?;
    document.end()
}

fn reasons(points_to: &PointsTo, call: &CallRecord) -> Vec<Reason> {
    let reason = |kind: UnresolvedKind| Reason {
        kind: kind.name(),
        detail: operation(points_to, call),
    };
    call.unresolved.iter().map(reason).collect()
}

/// The operation of a call site, with names.
fn operation(points_to: &PointsTo, call: &CallRecord) -> String {
    let program = points_to.program();
    let code = &program.codes[call.caller];
    let ir = &program.modules[code.module].ir;
    let text = ir.text(code.index);
    program
        .body(call.caller)
        .insts
        .get(call.inst)
        .map(|inst| inst.op.in_words(&text).to_string())
        .unwrap_or_default()
}

/// Which functions and calls are shown.
struct Selection {
    chosen: Option<BTreeSet<CodeId>>,
    shown: BTreeSet<CodeId>,
}

impl Selection {
    fn new(functions: Option<&[CodeId]>, calls: &[CallRecord]) -> Self {
        let chosen: Option<BTreeSet<CodeId>> = functions.map(|codes| codes.iter().copied().collect());
        let mut selection = Self {
            shown: chosen.clone().unwrap_or_default(),
            chosen,
        };
        if selection.chosen.is_some() {
            for call in calls {
                if selection.has(call) {
                    selection.shown.insert(call.caller);
                    selection.shown.extend(&call.targets);
                }
            }
        }
        selection
    }
    fn has(&self, call: &CallRecord) -> bool {
        self.chosen.as_ref().is_none_or(|chosen| {
            chosen.contains(&call.caller) || call.targets.iter().any(|target| chosen.contains(target))
        })
    }
    fn shows(&self, code: CodeId) -> bool {
        self.chosen.is_none() || self.shown.contains(&code)
    }
}

/// Writes the call graph as DOT: one edge per caller and callee, dashed where the call is implicit.
///
/// # Errors
/// If writing fails.
pub fn write_call_graph_dot(
    points_to: &PointsTo,
    calls: &[CallRecord],
    functions: Option<&[CodeId]>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let program = points_to.program();
    let selected = Selection::new(functions, calls);
    let mut explicit = BTreeSet::new();
    let mut implicit = BTreeSet::new();
    for call in calls.iter().filter(|call| selected.has(call)) {
        let edges = if call.kind == CallKind::Call {
            &mut explicit
        } else {
            &mut implicit
        };
        edges.extend(call.targets.iter().map(|&target| (call.caller, target)));
    }
    let ends: BTreeSet<CodeId> = explicit
        .iter()
        .chain(&implicit)
        .flat_map(|&(from, to)| [from, to])
        .collect();
    let mut dot = Dot::begin(out, "cg")?;
    for code in program_codes(program) {
        if ends.contains(&code) || program.codes[code].is_function() && selected.shows(code) {
            dot.node(code, program.qualname(code), "")?;
        }
    }
    for &(from, to) in &explicit {
        dot.edge(from, to, "", "")?;
    }
    for (from, to) in implicit.difference(&explicit) {
        dot.edge(from, to, "", "style=dashed")?;
    }
    dot.end()
}
