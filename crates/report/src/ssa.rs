//! SSA form: `hognose.ssa/1`.
//!
//! `{"graphs": [{function, name, values: [..], instructions: [..]}]}`. A value has its definition (`kind`: `parameter`,
//! `instruction`, `phi`, `caught`, `handler-item`, `refined`, `null`, `unbound`) and, where it is the value of a variable,
//! that variable's name. An instruction has its offset, its operation in words, its operands and its results.

use crate::document::Document;
use crate::dot::Dot;
use hognose_base::Id;
use hognose_ir::{BodyText, Def, OpNames, PhiOf, Ssa, ValueId, Var, VarId};
use hognose_pta::{CodeId, Program};
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Graph<'a> {
    function: u32,
    name: &'a str,
    values: Vec<Value>,
    instructions: Vec<Instruction>,
}

#[derive(Default, Serialize)]
struct Value {
    id: u32,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edge: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Vec<u32>>,
}

#[derive(Serialize)]
struct Instruction {
    id: u32,
    block: u32,
    offset: u32,
    operation: String,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
}

/// The name of a variable.
pub(crate) fn variable_name(ssa: &Ssa, text: &BodyText<'_>, var: VarId) -> String {
    match ssa.vars[var] {
        Var::Slot(slot) => text.slot(slot),
        Var::Name(name) => text.name(name),
    }
}

fn text_of(program: &Program, code: CodeId) -> BodyText<'_> {
    let info = &program.codes[code];
    program.modules[info.module].ir.text(info.index)
}

fn value(program: &Program, code: CodeId, id: ValueId) -> Value {
    let body = program.body(code);
    let text = text_of(program, code);
    let row = Value {
        id: id.raw(),
        ..Value::default()
    };
    match body.ssa.values[id] {
        Def::Null => Value { kind: "null", ..row },
        Def::Unbound => Value { kind: "unbound", ..row },
        Def::Parameter(slot) => Value {
            kind: "parameter",
            variable: Some(text.slot(slot)),
            ..row
        },
        Def::Inst { inst, .. } => Value {
            kind: "instruction",
            instruction: Some(inst.raw()),
            ..row
        },
        Def::Phi { block, what, args } => {
            let count = body.cfg.predecessors(block).len();
            let arguments = body.ssa.phi_args[args as usize..args as usize + count].iter();
            Value {
                kind: "phi",
                block: Some(block.raw()),
                variable: match what {
                    PhiOf::Var(var) => Some(variable_name(&body.ssa, &text, var)),
                    PhiOf::Stack(_) => None,
                },
                stack: match what {
                    PhiOf::Stack(depth) => Some(depth),
                    PhiOf::Var(_) => None,
                },
                arguments: Some(arguments.map(|value| value.raw()).collect()),
                ..row
            }
        }
        Def::Caught(block) => Value {
            kind: "caught",
            block: Some(block.raw()),
            ..row
        },
        Def::HandlerItem { block, .. } => Value {
            kind: "handler-item",
            block: Some(block.raw()),
            ..row
        },
        Def::Refined { of, edge } => Value {
            kind: "refined",
            of: Some(of.raw()),
            edge: Some(edge.raw()),
            ..row
        },
    }
}

fn instructions(program: &Program, code: CodeId) -> Vec<Instruction> {
    let body = program.body(code);
    let text = text_of(program, code);
    body.insts
        .iter_enumerated()
        .map(|(id, inst)| Instruction {
            id: id.raw(),
            block: body.cfg.block_of.get(id).map_or(0, |block| block.raw()),
            offset: inst.offset,
            operation: inst.op.in_words(&text).to_string(),
            inputs: body.ssa.inputs(id).iter().map(|value| value.raw()).collect(),
            outputs: body.ssa.outputs(id).map(ValueId::raw).collect(),
        })
        .collect()
}

/// Writes the SSA forms of some code objects.
///
/// # Errors
/// If writing fails.
pub fn write_ssa_json(program: &Program, codes: &[CodeId], out: &mut dyn Write) -> io::Result<()> {
    let mut document = Document::begin(out, "hognose.ssa/1")?;
    let rows = codes.iter().map(|&code| Graph {
        function: code.raw(),
        name: program.qualname(code),
        values: program
            .body(code)
            .ssa
            .values
            .ids()
            .map(|id| value(program, code, id))
            .collect(),
        instructions: instructions(program, code),
    });
    document.array("graphs", rows)?;
    document.end()
}

/// Writes the def-use graphs of some code objects as DOT: instructions and phis, edges from definition to use.
///
/// # Errors
/// If writing fails.
pub fn write_ssa_dot(program: &Program, codes: &[CodeId], out: &mut dyn Write) -> io::Result<()> {
    let mut dot = Dot::begin(out, "ssa")?;
    for &code in codes {
        let body = program.body(code);
        let text = text_of(program, code);
        dot.cluster(code, program.qualname(code))?;
        for (id, inst) in body.insts.iter_enumerated() {
            let label = format!("{} {}", inst.offset, inst.op.in_words(&text));
            dot.node(format_args!("{code}_{id}"), &label, "")?;
        }
        let node = |value: ValueId| match body.ssa.values[value] {
            Def::Inst { inst, .. } => format!("{code}_{inst}"),
            _ => format!("{code}_v{}", value.raw()),
        };
        for id in body.ssa.values.ids() {
            let label = match body.ssa.values[id] {
                Def::Inst { .. } | Def::Null | Def::Unbound => continue,
                Def::Parameter(slot) => format!("parameter {}", text.slot(slot)),
                Def::Phi {
                    what: PhiOf::Var(var), ..
                } => format!("phi {}", variable_name(&body.ssa, &text, var)),
                Def::Phi {
                    what: PhiOf::Stack(depth),
                    ..
                } => format!("phi stack[{depth}]"),
                Def::Caught(block) => format!("caught {block}"),
                Def::HandlerItem { item, block } => format!("item {item} of {block}"),
                Def::Refined { edge, .. } => format!("refined on {edge}"),
            };
            dot.node(node(id), &label, ", shape=ellipse")?;
        }
        dot.end_cluster()?;
        let known = |value: ValueId| value.index() > Ssa::UNBOUND.index();
        for id in body.insts.ids() {
            for &input in body.ssa.inputs(id).iter().filter(|&&value| known(value)) {
                dot.edge(node(input), format_args!("{code}_{id}"), "", "")?;
            }
        }
        for (id, def) in body.ssa.values.iter_enumerated() {
            match *def {
                Def::Phi { block, args, .. } => {
                    let count = body.cfg.predecessors(block).len();
                    let arguments = &body.ssa.phi_args[args as usize..args as usize + count];
                    for &argument in arguments.iter().filter(|&&value| known(value)) {
                        dot.edge(node(argument), node(id), "", "")?;
                    }
                }
                Def::Refined { of, .. } => dot.edge(node(of), node(id), "", "style=dotted")?,
                _ => {}
            }
        }
    }
    dot.end()
}
