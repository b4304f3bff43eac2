//! The semantic instructions of one file: as text, and as `hognose.dis/1`.
//!
//! ```text
//! shop/cart.py  Python 3.14  3 code objects
//!
//! code0 <module>  line 1
//!   b0:
//!        1:0-1:9       4  Const 0
//! ```
//! One line per instruction: place in the source, byte offset, operation in words. Blocks are those of the control-flow
//! graph. Behind the instructions stand the exception regions.

use crate::document::Document;
use crate::place::SpanRecord;
use hognose_base::Span;
use hognose_ir::{Body, FileIr, Region};
use hognose_pyc::{CodeIndex, CodeObject, PositionTable, Validation, qualnames};
use serde::Serialize;
use std::io::{self, Write};

fn span_text(span: Span) -> String {
    let (Some(line), Some(col)) = (span.known_line(), span.known_col()) else {
        return span
            .known_line()
            .map_or_else(|| "-".to_owned(), |line| line.to_string());
    };
    if span.end_line == line {
        format!("{line}:{col}-{}", span.end_col)
    } else {
        format!("{line}:{col}-{}:{}", span.end_line, span.end_col)
    }
}

fn flag_names(flags: u32) -> String {
    use hognose_pyc::flags as bits;
    let known = [
        (bits::OPTIMIZED, "optimized"),
        (bits::NEWLOCALS, "newlocals"),
        (bits::VARARGS, "varargs"),
        (bits::VARKEYWORDS, "varkeywords"),
        (bits::NESTED, "nested"),
        (bits::GENERATOR, "generator"),
        (bits::COROUTINE, "coroutine"),
        (bits::ITERABLE_COROUTINE, "iterable-coroutine"),
        (bits::ASYNC_GENERATOR, "async-generator"),
    ];
    let names: Vec<&str> = known
        .iter()
        .filter(|(bit, _)| flags & bit != 0)
        .map(|&(_, name)| name)
        .collect();
    names.join(" ")
}

/// Writes the instructions of a file as text.
///
/// # Errors
/// If writing fails.
pub fn write_dis_text(path: &str, ir: &FileIr, out: &mut dyn Write) -> io::Result<()> {
    let module = &ir.module;
    let names = qualnames(module);
    write!(out, "{path}  Python {}", module.version)?;
    if let Some(header) = &module.header {
        write!(out, "  magic {}", header.magic)?;
        match header.validation {
            Validation::Timestamp { mtime, size } => write!(out, "  source mtime {mtime} size {size}")?,
            Validation::Hash { hash, checked } => {
                let how = if checked { "checked" } else { "unchecked" };
                write!(out, "  source hash {hash:#018x} ({how})")?;
            }
        }
    }
    writeln!(out, "  {} code objects", module.objects.code_count())?;
    for (index, code) in module.objects.codes().iter_enumerated() {
        let name = names.get(index).map_or("?", |name| &**name);
        write!(out, "\n{index} {name}  line {}", code.firstlineno)?;
        write!(out, "  stack {}  parameters {}", code.stacksize, code.parameter_count())?;
        let flags = flag_names(code.flags);
        writeln!(out, "{}{flags}", if flags.is_empty() { "" } else { "  " })?;
        code_text(ir, index, code, out)?;
    }
    Ok(())
}

fn code_text(ir: &FileIr, index: CodeIndex, code: &CodeObject, out: &mut dyn Write) -> io::Result<()> {
    let body = &ir.bodies[index];
    if let Some(problem) = &body.problem {
        return writeln!(out, "  left out: {} (at {})", problem.message, problem.offset);
    }
    let text = ir.text(index);
    let table = PositionTable::of(&ir.module.objects, code, ir.module.version);
    for block in body.cfg.blocks.ids() {
        if body.cfg.insts(block).next().is_none() {
            continue;
        }
        let unreachable = if body.cfg.blocks[block].unreachable {
            "  (unreachable)"
        } else {
            ""
        };
        writeln!(out, "  {block}:{unreachable}")?;
        for inst in body.cfg.insts(block) {
            let inst = body.insts[inst];
            let place = span_text(table.span_at(inst.offset));
            writeln!(out, "  {place:>14} {:>6}  {}", inst.offset, inst.op.in_words(&text))?;
        }
    }
    for region in &body.regions {
        let handler = body
            .cfg
            .block_of
            .get(region.handler)
            .map_or_else(String::new, ToString::to_string);
        write!(
            out,
            "  region [{}, {}) -> {handler} at {}",
            region.start, region.end, region.handler_offset
        )?;
        write!(out, ", depth {}, {} items", region.depth, region.pushed)?;
        let lasti = if region.lasti { ", lasti" } else { "" };
        let guard = if region.generator_guard {
            ", generator guard"
        } else {
            ""
        };
        writeln!(out, "{lasti}{guard}")?;
    }
    Ok(())
}

#[derive(Serialize)]
struct CodeRecord<'a> {
    id: u32,
    name: &'a str,
    line: i32,
    parent: Option<u32>,
    flags: u32,
    stack: u32,
    parameters: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a str>,
    instructions: Vec<InstructionRecord>,
    regions: Vec<RegionRecord>,
}

#[derive(Serialize)]
struct InstructionRecord {
    offset: u32,
    ordinal: u8,
    span: SpanRecord,
    /// The exact text form, and the one with names.
    operation: String,
    text: String,
    block: u32,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
}

#[derive(Serialize)]
struct RegionRecord {
    start: u32,
    end: u32,
    handler: u32,
    depth: u32,
    pushed: u32,
    lasti: bool,
    generator_guard: bool,
}

impl From<&Region> for RegionRecord {
    fn from(region: &Region) -> Self {
        Self {
            start: region.start,
            end: region.end,
            handler: region.handler_offset,
            depth: region.depth,
            pushed: region.pushed,
            lasti: region.lasti,
            generator_guard: region.generator_guard,
        }
    }
}

fn instruction_records(ir: &FileIr, index: CodeIndex, body: &Body) -> Vec<InstructionRecord> {
    let text = ir.text(index);
    let table = PositionTable::of(&ir.module.objects, ir.code(index), ir.module.version);
    body.insts
        .iter_enumerated()
        .map(|(id, inst)| InstructionRecord {
            offset: inst.offset,
            ordinal: inst.ordinal,
            span: table.span_at(inst.offset).into(),
            operation: inst.op.to_string(),
            text: inst.op.in_words(&text).to_string(),
            block: body.cfg.block_of.get(id).map_or(0, |block| block.raw()),
            inputs: body.ssa.inputs(id).iter().map(|value| value.raw()).collect(),
            outputs: body.ssa.outputs(id).map(|value| value.raw()).collect(),
        })
        .collect()
}

/// Writes the instructions of a file as JSON.
///
/// # Errors
/// If writing fails.
pub fn write_dis_json(path: &str, ir: &FileIr, out: &mut dyn Write) -> io::Result<()> {
    let names = qualnames(&ir.module);
    let mut document = Document::begin(out, "hognose.dis/1")?;
    document.field("file", &path)?;
    document.field("version", &ir.module.version.to_string())?;
    document.field("magic", &ir.module.header.as_ref().map(|header| header.magic))?;
    let rows = ir.module.objects.codes().iter_enumerated().map(|(index, code)| {
        let body = &ir.bodies[index];
        CodeRecord {
            id: index.raw(),
            name: names.get(index).map_or("?", |name| name),
            line: code.firstlineno,
            parent: code.parent.map(|parent| parent.raw()),
            flags: code.flags,
            stack: code.stacksize,
            parameters: code.parameter_count(),
            problem: body.problem.as_ref().map(|problem| &*problem.message),
            instructions: instruction_records(ir, index, body),
            regions: body.regions.iter().map(RegionRecord::from).collect(),
        }
    });
    document.array("codes", rows)?;
    document.end()
}
