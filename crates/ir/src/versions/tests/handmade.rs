//! Impossible bytecode, and bytecode at random.

use super::code_object;
use crate::names::NameTable;
use crate::op::Op;
use crate::versions::generated::{RawOp, TABLES};
use crate::versions::{LiftProblem, Lifted, SUPPORTED, lift};
use hognose_base::Id;
use hognose_pyc::{CodeIndex, CompiledModule, PythonVersion};
use proptest::prelude::*;

fn lift_module(module: &CompiledModule) -> Result<Lifted, LiftProblem> {
    lift(
        &module.objects,
        CodeIndex::new(0),
        module.version,
        &mut NameTable::default(),
    )
}

fn lift_code(minor: u8, code: &[u8]) -> Result<Lifted, LiftProblem> {
    lift_module(&code_object(minor, 0, code, &[]))
}

/// Assembles `(opcode, operand)` pairs, caches included.
fn assemble(minor: u8, code: &[(RawOp, u8)]) -> Vec<u8> {
    let table = TABLES.iter().find(|table| table.minor == minor).unwrap();
    let mut bytes = Vec::new();
    for &(op, arg) in code {
        let number = table.opcodes.iter().position(|row| row.op == op).unwrap();
        bytes.extend([u8::try_from(number).unwrap(), arg]);
        bytes.resize(bytes.len() + 2 * usize::from(table.opcodes[number].caches), 0);
    }
    bytes
}

#[track_caller]
fn check(minor: u8, code: &[(RawOp, u8)], expected: &[&str]) {
    let lifted = lift_code(minor, &assemble(minor, code)).unwrap();
    assert_eq!(
        lifted.insts.iter().map(|inst| inst.op.to_string()).collect::<Vec<_>>(),
        expected
    );
}

#[track_caller]
fn check_problem(minor: u8, code: &[u8], offset: u32, message: &str) {
    let problem = lift_code(minor, code).unwrap_err();
    assert_eq!((problem.offset, problem.message.as_str()), (offset, message));
}

#[test]
fn fused_opcodes_are_split() {
    check(
        13,
        &[(RawOp::StoreFastLoadFast, 0x10), (RawOp::ReturnValue, 0)],
        &["StoreLocal l1", "LoadLocal l0", "Return"],
    );
    check(
        14,
        &[(RawOp::LoadFastBorrowLoadFastBorrow, 0x01), (RawOp::ReturnValue, 0)],
        &["LoadLocal l0", "LoadLocal l1", "Return"],
    );
    check(12, &[(RawOp::ReturnConst, 0)], &["Const o1", "Return"]);
}

#[test]
fn nulls_come_in_the_order_of_the_version() {
    check(10, &[(RawOp::LoadGlobal, 0)], &["LoadGlobal n3"]);
    check(12, &[(RawOp::LoadGlobal, 1)], &["PushNull", "LoadGlobal n3"]);
    check(13, &[(RawOp::LoadGlobal, 1)], &["LoadGlobal n3", "PushNull"]);
    check(
        12,
        &[(RawOp::LoadAttr, 1), (RawOp::LoadAttr, 2)],
        &["LoadMethod n3", "LoadAttr n4"],
    );
    check(
        11,
        &[(RawOp::LoadMethod, 1), (RawOp::LoadAttr, 1)],
        &["LoadMethod n4", "LoadAttr n4"],
    );
}

#[test]
fn a_fast_load_of_a_cell_is_the_cell() {
    check(
        13,
        &[(RawOp::LoadFast, 0), (RawOp::LoadFast, 2), (RawOp::LoadFast, 3)],
        &["LoadLocal l0", "LoadCell l2", "LoadCell l3"],
    );
}

#[test]
fn operands_of_several_bytes_are_folded() {
    let code = assemble(12, &[(RawOp::ExtendedArg, 1), (RawOp::BuildList, 2)]);
    let lifted = lift_code(12, &code).unwrap();
    assert_eq!(lifted.insts.as_slice()[0].op, Op::BuildList(258));
    assert_eq!(lifted.insts.as_slice()[0].offset, 2);
}

#[test]
fn impossible_bytecode_is_a_problem() {
    // The caches of the last instruction are missing.
    let call = assemble(12, &[(RawOp::Call, 0)]);
    check_problem(12, &call[..4], 0, "the last instruction is truncated");
    check_problem(
        12,
        &assemble(12, &[(RawOp::ExtendedArg, 0)]),
        2,
        "the last instruction is truncated",
    );
    let wide = [(RawOp::ExtendedArg, 1); 4]
        .into_iter()
        .chain([(RawOp::BuildList, 0)])
        .collect::<Vec<_>>();
    check_problem(12, &assemble(12, &wide), 6, "an operand of more than 32 bits");
    check_problem(
        12,
        &assemble(12, &[(RawOp::LoadConst, 4)]),
        0,
        "LOAD_CONST has no operand 4",
    );
    check_problem(
        12,
        &assemble(12, &[(RawOp::LoadFast, 9)]),
        0,
        "LOAD_FAST has no operand 9",
    );
    check_problem(
        12,
        &assemble(12, &[(RawOp::BinaryOp, 26)]),
        0,
        "BINARY_OP has no operand 26",
    );
    check_problem(12, &assemble(12, &[(RawOp::Copy, 0)]), 0, "COPY has no operand 0");
    check_problem(
        12,
        &assemble(12, &[(RawOp::JumpForward, 7)]),
        0,
        "jump to 16, where no instruction starts",
    );
    check_problem(
        12,
        &assemble(12, &[(RawOp::JumpBackward, 9)]),
        0,
        "a jump out of the bytecode",
    );
    // Onto a cache word of the call.
    check_problem(
        12,
        &assemble(12, &[(RawOp::JumpForward, 1), (RawOp::Call, 0)]),
        0,
        "jump to 4, where no instruction starts",
    );
    // Between a prefix and its opcode.
    let middle = [(RawOp::JumpForward, 1), (RawOp::ExtendedArg, 0), (RawOp::BuildList, 0)];
    check_problem(12, &assemble(12, &middle), 0, "jump to 4, where no instruction starts");
    // The names of keyword arguments without a call behind them.
    check_problem(
        12,
        &assemble(12, &[(RawOp::JumpForward, 0), (RawOp::KwNames, 0)]),
        0,
        "jump to 2, where no instruction starts",
    );
}

#[test]
fn versions_without_an_adapter_are_a_problem() {
    let problem = lift_code(15, &[0, 0]).unwrap_err();
    assert_eq!(problem.message, "no adapter for the bytecode of Python 3.15");
}

#[test]
fn an_unknown_opcode_is_unsupported() {
    let lifted = lift_code(12, &[200, 0]).unwrap();
    assert_eq!(lifted.insts.as_slice()[0].op, Op::Unsupported(200));
}

#[test]
fn handlers_start_at_instructions() {
    let code = assemble(12, &[(RawOp::Nop, 0), (RawOp::LoadGlobal, 0), (RawOp::ReturnConst, 0)]);
    let lift_with = |table: &[u8]| lift_module(&code_object(12, 0, &code, table));
    let region = lift_with(&[0x80, 1, 6, 1]).unwrap().regions[0];
    assert_eq!(
        (
            region.start,
            region.end,
            region.handler_offset,
            region.depth,
            region.lasti
        ),
        (0, 2, 12, 0, true)
    );
    let problem = lift_with(&[0x80, 1, 2, 0]).unwrap_err();
    assert_eq!(problem.message, "exception handler at 4, where no instruction starts");
}

#[test]
fn wrong_block_stacks_are_a_problem() {
    let lift_blocks = |code: &[(RawOp, u8)]| lift_code(10, &assemble(10, code)).map(|lifted| lifted.regions.len());
    let (setup, pop) = ((RawOp::SetupFinally, 1), (RawOp::PopBlock, 0));
    let leave = [(RawOp::LoadConst, 0), (RawOp::ReturnValue, 0)];
    let code = |head: &[(RawOp, u8)]| [head, leave.as_slice()].concat();
    assert_eq!(
        lift_blocks(&code(&[setup, (RawOp::JumpForward, 0), (RawOp::Nop, 0)]))
            .unwrap_err()
            .message,
        "paths with different stacks or block stacks meet"
    );
    assert_eq!(
        lift_blocks(&code(&[setup, (RawOp::PopExcept, 0)])).unwrap_err().message,
        "a block of the wrong kind is popped"
    );
    assert_eq!(
        lift_blocks(&code(&[(RawOp::SetupFinally, 3), pop, pop]))
            .unwrap_err()
            .message,
        "no block to pop"
    );
    assert_eq!(
        lift_blocks(&code(&[(RawOp::SetupFinally, 9)])).unwrap_err().message,
        "exception handler at 20, where no instruction starts"
    );
    assert_eq!(
        lift_blocks(&[(RawOp::SetupFinally, 2), pop, leave[0], leave[1]])
            .unwrap_err()
            .message,
        "paths with different stacks or block stacks meet"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Whatever the bytes, there is a result, and every id in it exists.
    #[test]
    fn random_bytecode_never_panics(
        minor in *SUPPORTED.start()..=*SUPPORTED.end(),
        words in prop::collection::vec((any::<u8>(), prop_oneof![9 => 0_u8..6, 1 => any::<u8>()]), 1..40),
        exceptions in prop::collection::vec(any::<u8>(), 0..8),
        flags in any::<u8>(),
    ) {
        let code: Vec<u8> = words.into_iter().flat_map(|(opcode, arg)| [opcode, arg]).collect();
        if let Ok(lifted) = lift_module(&code_object(minor, u32::from(flags), &code, &exceptions)) {
            let count = lifted.insts.len();
            let version = PythonVersion::new(minor);
            for inst in &lifted.insts {
                prop_assert!((inst.offset as usize) < code.len());
                prop_assert!(inst.op.target().is_none_or(|target| target.index() < count));
                prop_assert!(inst.op.stack_effect(version, true).pops <= inst.op.reach(version));
            }
            for region in &lifted.regions {
                prop_assert!(region.start < region.end && region.end as usize <= code.len());
                prop_assert!(region.handler.index() < count);
            }
        }
    }
}
