//! The shape of a version's opcode table; the generated tables fill it.

use super::generated::RawOp;
pub(super) use crate::op::{BinaryOp, CommonConstant, CompareOp, Intrinsic, Op, SpecialMethod, UnaryOp};

/// How an opcode's operand names a jump target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JumpKind {
    /// It is no jump.
    None,
    /// So many units behind the next instruction.
    Forward,
    /// So many units before the next instruction.
    Backward,
    /// The unit with this number.
    Absolute,
}

/// What the decoder knows of one opcode number.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpcodeRow {
    /// The opcode.
    pub op: RawOp,
    /// Inline cache words behind it.
    pub caches: u8,
    /// How its operand is a jump.
    pub jump: JumpKind,
}

/// Facts of one version. Tables that operands index hold the operation they stand for, `None` where the operand is not
/// valid in compiled code.
#[derive(Debug)]
pub(super) struct OpcodeTable {
    /// The version is 3.`minor`.
    pub minor: u8,
    /// Opcodes below this number ignore their operand byte.
    pub have_argument: u8,
    /// The number of `EXTENDED_ARG`.
    pub extended_arg: u8,
    /// Operand of `COMPARE_OP`, version-dependent flag bits removed.
    pub compare_ops: &'static [Option<Op>],
    /// Operand of `BINARY_OP`.
    pub binary_ops: &'static [Option<Op>],
    /// Operand of `CALL_INTRINSIC_1`.
    pub intrinsics_1: &'static [Option<Op>],
    /// Operand of `CALL_INTRINSIC_2`.
    pub intrinsics_2: &'static [Option<Op>],
    /// Operand of `LOAD_SPECIAL`.
    pub special_methods: &'static [SpecialMethod],
    /// Operand of `LOAD_COMMON_CONSTANT`.
    pub common_constants: &'static [CommonConstant],
    /// One row per opcode number.
    pub opcodes: [OpcodeRow; 256],
}

impl OpcodeTable {
    /// Bytes per unit of a jump operand: an instruction word from 3.10 on.
    pub(super) const fn jump_unit(&self) -> u32 {
        if self.minor >= 10 { 2 } else { 1 }
    }
}

/// Spreads the known opcodes over all numbers.
pub(super) const fn rows(known: &[(u8, RawOp, u8, JumpKind)]) -> [OpcodeRow; 256] {
    let mut rows = [OpcodeRow {
        op: RawOp::Invalid,
        caches: 0,
        jump: JumpKind::None,
    }; 256];
    let mut index = 0;
    while index < known.len() {
        let (code, op, caches, jump) = known[index];
        rows[code as usize] = OpcodeRow { op, caches, jump };
        index += 1;
    }
    rows
}
