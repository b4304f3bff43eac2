//! Functions and places in source text, as documents show them.

use hognose_base::{Id, Span};
use hognose_ir::InstId;
use hognose_pta::{CodeId, Program};
use hognose_pyc::{PositionTable, positions};
use serde::Serialize;

/// A row of a table of functions.
#[derive(Serialize)]
pub(crate) struct FunctionRecord<'a> {
    pub(crate) id: u32,
    pub(crate) name: &'a str,
    pub(crate) file: &'a str,
    pub(crate) line: u32,
    pub(crate) end_line: u32,
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reached_by: Option<&'static str>,
    /// Whether it belongs to an installed dependency.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) dependency: bool,
}

/// Documents say `"dependency": true`, and nothing of what is no dependency.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
pub(crate) const fn is_false(value: &bool) -> bool {
    !*value
}

/// The row of a code object.
pub(crate) fn function_record(program: &Program, code: CodeId) -> FunctionRecord<'_> {
    let info = &program.codes[code];
    let module = &program.modules[info.module];
    let line = info.line.max(1);
    FunctionRecord {
        id: code.raw(),
        name: program.qualname(code),
        file: &module.path,
        line,
        end_line: last_line(program, code).max(line),
        kind: info.kind.name(),
        reached_by: None,
        dependency: module.is_dependency,
    }
}

fn last_line(program: &Program, code: CodeId) -> u32 {
    let module = &program.modules[program.codes[code].module].ir.module;
    positions(&module.objects, program.code_object(code), module.version)
        .filter_map(|range| known(range.span.end_line))
        .max()
        .unwrap_or(0)
}

fn known(number: u32) -> Option<u32> {
    (number != Span::UNKNOWN).then_some(number)
}

/// A span; numbers that are not known are left out.
#[derive(Serialize)]
pub(crate) struct SpanRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    col: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_col: Option<u32>,
}

impl From<Span> for SpanRecord {
    fn from(span: Span) -> Self {
        Self {
            line: known(span.line),
            col: known(span.col),
            end_line: known(span.end_line),
            end_col: known(span.end_col),
        }
    }
}

/// A place in a file.
#[derive(Serialize)]
pub(crate) struct SiteRecord<'a> {
    pub(crate) file: &'a str,
    #[serde(flatten)]
    pub(crate) span: SpanRecord,
    pub(crate) offset: u32,
}

/// Looks positions up; keeps the table of the last code object, because places are asked for in order.
pub(crate) struct Places<'a> {
    program: &'a Program,
    last: Option<(CodeId, PositionTable)>,
}

impl<'a> Places<'a> {
    pub(crate) const fn new(program: &'a Program) -> Self {
        Self { program, last: None }
    }

    /// Offset and span of an instruction.
    pub(crate) fn at(&mut self, code: CodeId, inst: InstId) -> (u32, Span) {
        let offset = self.program.body(code).insts.get(inst).map_or(0, |inst| inst.offset);
        (offset, self.span(code, offset))
    }

    /// The span of an offset.
    pub(crate) fn span(&mut self, code: CodeId, offset: u32) -> Span {
        let program = self.program;
        if self.last.as_ref().is_none_or(|(last, _)| *last != code) {
            let module = &program.modules[program.codes[code].module].ir.module;
            let table = PositionTable::of(&module.objects, program.code_object(code), module.version);
            self.last = Some((code, table));
        }
        self.last
            .as_ref()
            .map_or(Span::NONE, |(_, table)| table.span_at(offset))
    }

    /// The file of a code object.
    pub(crate) fn file(&self, code: CodeId) -> &'a str {
        let program = self.program;
        &program.modules[program.codes[code].module].path
    }

    /// The place of an instruction.
    pub(crate) fn site(&mut self, code: CodeId, inst: InstId) -> SiteRecord<'a> {
        let (offset, span) = self.at(code, inst);
        let program = self.program;
        SiteRecord {
            file: &program.modules[program.codes[code].module].path,
            span: span.into(),
            offset,
        }
    }
}

/// Bodies of the program without library models, in order of their ids.
pub(crate) fn program_codes(program: &Program) -> impl Iterator<Item = CodeId> {
    (0..program.codes.len())
        .map(CodeId::from_index)
        .filter(|&code| !program.is_model(code))
}
