//! The places of instructions.

use super::codes;
use hognose_base::Id;
use hognose_ir::{InstId, Op, ResumeKind};
use hognose_pta::{CodeId, Program};
use hognose_pyc::PositionTable;
use hognose_testkit::Place;

/// Places of all instructions of the program.
pub(super) struct Lines {
    by_code: Vec<Vec<Option<Place>>>,
}

impl Lines {
    pub(super) fn of(program: &Program) -> Self {
        let mut by_code: Vec<Vec<Option<Place>>> = Vec::new();
        for code in codes(program) {
            let info = &program.codes[code];
            let file = &program.modules[info.module].ir.module;
            let table = PositionTable::of(&file.objects, program.code_object(code), file.version);
            let place = |line| Place {
                module: info.module.raw(),
                line,
            };
            let body = program.body(code);
            by_code.resize_with(code.index(), Vec::new);
            by_code.push(
                body.insts
                    .iter()
                    .map(|inst| {
                        let line = table.span_at(inst.offset).known_line().filter(|&line| line > 0);
                        line.filter(|_| !is_prologue(inst.op)).map(place)
                    })
                    .collect(),
            );
        }
        Self { by_code }
    }
    /// Where an instruction stands; none for artificial ones and prologues.
    pub(super) fn place(&self, code: CodeId, inst: InstId) -> Option<Place> {
        *self.by_code.get(code.index())?.get(inst.index())?
    }
}

const fn is_prologue(op: Op) -> bool {
    matches!(
        op,
        Op::Resume(ResumeKind::Start) | Op::MakeCell(_) | Op::CopyFreeVars | Op::ReturnGenerator
    )
}
