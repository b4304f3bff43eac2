//! Raw operations to semantic operations: one table for all versions, with the differences next to the opcode they
//! concern.
//!
//! A conditional on `minor` says from which version on an operand is encoded differently; everything else is shared.

use super::generated::RawOp;
use super::table::{JumpKind, OpcodeTable};
use super::wordcode::Word;
use super::{Setup, problem};
use crate::body::{Inst, LiftProblem, Slot};
use crate::op::{
    BinaryOp, CallLayout, CommonConstant, Conversion, FunctionPart, FunctionParts, InstId, Intrinsic, Keep,
    KeywordNames, NameId, Op, ResumeKind, SlotId, Target, Test, UnaryOp,
};
use hognose_base::IndexVec;
use hognose_pyc::ObjectId;

/// What operands index.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    /// `co_consts`
    pub consts: &'a [ObjectId],
    /// `co_names`
    pub names: &'a [NameId],
    /// Locals, cells and free variables.
    pub slots: &'a IndexVec<SlotId, Slot>,
    /// Up to 3.10: the slot of each cell number.
    pub derefs: &'a [u32],
    /// Whether the body runs in a frame that suspends.
    pub suspends: bool,
}

/// Collects the instructions of one code object.
pub(super) struct Adapter<'a> {
    table: &'static OpcodeTable,
    frame: Frame<'a>,
    insts: IndexVec<InstId, Inst>,
    setups: Vec<Setup>,
    /// The names that `KW_NAMES` left for the next call.
    keywords: KeywordNames,
    offset: u32,
    ordinal: u8,
}

type Translation = Result<(), LiftProblem>;

impl<'a> Adapter<'a> {
    pub(super) fn new(table: &'static OpcodeTable, frame: Frame<'a>, words: usize) -> Self {
        let insts = IndexVec::with_capacity(words);
        let keywords = KeywordNames::None;
        let mut adapter = Self {
            table,
            frame,
            insts,
            setups: Vec::new(),
            keywords,
            offset: 0,
            ordinal: 0,
        };
        if table.minor <= 10 {
            adapter.make_cells();
        }
        if table.minor <= 9 && frame.suspends {
            // Nothing in the code says so, as GEN_START does in 3.10.
            adapter.emit2(Op::ReturnGenerator, Op::Pop);
        }
        adapter
    }

    /// Sets the place of what is emitted next. The cells of 3.10 come before the first instruction, at its offset.
    pub(super) fn begin(&mut self, word: Word) {
        if word.offset != self.offset {
            self.ordinal = 0;
        }
        self.offset = word.offset;
    }

    pub(super) fn next_inst(&self) -> InstId {
        self.insts.next_id()
    }

    pub(super) fn finish(self) -> (IndexVec<InstId, Inst>, Vec<Setup>) {
        (self.insts, self.setups)
    }

    pub(super) fn translate(&mut self, word: Word) -> Translation {
        if let Some(op) = plain(word.op) {
            self.emit(op);
            return Ok(());
        }
        if word.jump != JumpKind::None {
            return self.jump(word);
        }
        if self.variable(word)? || self.counted(word)? || self.call(word)? || self.encoded(word)? {
            return Ok(());
        }
        self.emit(Op::Unsupported(word.code));
        Ok(())
    }

    fn emit(&mut self, op: Op) {
        self.insts.push(Inst {
            op,
            offset: self.offset,
            ordinal: self.ordinal,
        });
        self.ordinal = self.ordinal.saturating_add(1);
    }

    fn emit2(&mut self, first: Op, second: Op) {
        self.emit(first);
        self.emit(second);
    }

    fn is(&self, from: u8) -> bool {
        self.table.minor >= from
    }

    fn invalid(&self, word: Word) -> LiftProblem {
        problem(word.offset, format!("{} has no operand {}", word.op.name(), word.arg))
    }

    /// Up to 3.10 the frame makes its cells before the first instruction; from 3.11 on instructions do.
    fn make_cells(&mut self) {
        if self.frame.slots.iter().any(|slot| slot.kind.is_free()) {
            self.emit(Op::CopyFreeVars);
        }
        for (id, slot) in self.frame.slots.iter_enumerated() {
            if slot.kind.is_cell() {
                self.emit(Op::MakeCell(id));
            }
        }
    }

    // ---- operands -----------------------------------------------------------------------------------------

    fn constant(&self, word: Word) -> Result<ObjectId, LiftProblem> {
        self.frame
            .consts
            .get(word.arg as usize)
            .copied()
            .ok_or_else(|| self.invalid(word))
    }

    fn name(&self, word: Word, index: u32) -> Result<NameId, LiftProblem> {
        self.frame
            .names
            .get(index as usize)
            .copied()
            .ok_or_else(|| self.invalid(word))
    }

    fn slot(&self, word: Word, index: u32) -> Result<SlotId, LiftProblem> {
        let id = SlotId::new(index);
        self.frame.slots.get(id).map(|_| id).ok_or_else(|| self.invalid(word))
    }

    /// The slot of a cell or free variable: numbered by itself up to 3.10.
    fn deref(&self, word: Word) -> Result<SlotId, LiftProblem> {
        if self.is(11) {
            return self.slot(word, word.arg);
        }
        let slot = self
            .frame
            .derefs
            .get(word.arg as usize)
            .copied()
            .ok_or_else(|| self.invalid(word))?;
        self.slot(word, slot)
    }

    fn depth(&self, word: Word) -> Result<u16, LiftProblem> {
        u16::try_from(word.arg)
            .ok()
            .filter(|&depth| depth > 0)
            .ok_or_else(|| self.invalid(word))
    }

    fn entry<T: Copy>(&self, word: Word, table: &[T]) -> Result<T, LiftProblem> {
        table.get(word.arg as usize).copied().ok_or_else(|| self.invalid(word))
    }

    /// The target's byte offset; ids replace offsets when all instructions are known.
    fn target(&self, word: Word) -> Result<Target, LiftProblem> {
        let distance = word.arg.checked_mul(self.table.jump_unit());
        let offset = distance.and_then(|distance| match word.jump {
            JumpKind::Forward => word.end.checked_add(distance),
            JumpKind::Backward => word.end.checked_sub(distance),
            JumpKind::Absolute => Some(distance),
            JumpKind::None => None,
        });
        offset
            .map(InstId::new)
            .ok_or_else(|| problem(word.offset, "a jump out of the bytecode"))
    }

    // ---- variables ----------------------------------------------------------------------------------------

    /// Reads a slot. From 3.11 on a cell shares its slot with the argument it came from, so this pushes the cell itself
    /// (3.13 has no `LOAD_CLOSURE` left).
    fn load_slot(&mut self, word: Word, index: u32, may_be_unbound: bool) -> Translation {
        let slot = self.slot(word, index)?;
        let kind = self.frame.slots[slot].kind;
        let is_cell = self.is(11) && (kind.is_cell() || kind.is_free());
        self.emit(if is_cell {
            Op::LoadCell(slot)
        } else {
            Op::LoadLocal { slot, may_be_unbound }
        });
        Ok(())
    }

    fn store_slot(&mut self, word: Word, index: u32) -> Translation {
        let slot = self.slot(word, index)?;
        self.emit(Op::StoreLocal(slot));
        Ok(())
    }

    /// Frame variables and names; false if the opcode is something else.
    fn variable(&mut self, word: Word) -> Result<bool, LiftProblem> {
        let (high, low) = (word.arg >> 4, word.arg & 15);
        match word.op {
            // Before 3.12 the compiler does not say whether a local is bound.
            RawOp::LoadFast => self.load_slot(word, word.arg, !self.is(12))?,
            RawOp::LoadFastCheck => self.load_slot(word, word.arg, true)?,
            RawOp::LoadFastBorrow => self.load_slot(word, word.arg, false)?,
            RawOp::LoadFastLoadFast | RawOp::LoadFastBorrowLoadFastBorrow => {
                self.load_slot(word, high, false)?;
                self.load_slot(word, low, false)?;
            }
            RawOp::StoreFastLoadFast => {
                self.store_slot(word, high)?;
                self.load_slot(word, low, false)?;
            }
            RawOp::StoreFastStoreFast => {
                self.store_slot(word, high)?;
                self.store_slot(word, low)?;
            }
            RawOp::StoreFast => self.store_slot(word, word.arg)?,
            RawOp::LoadFastAndClear => self.emit(Op::LoadLocalAndClear(self.slot(word, word.arg)?)),
            RawOp::DeleteFast => self.emit(Op::DeleteLocal(self.slot(word, word.arg)?)),
            RawOp::MakeCell => self.emit(Op::MakeCell(self.slot(word, word.arg)?)),
            RawOp::CopyFreeVars => self.emit(Op::CopyFreeVars),
            RawOp::LoadClosure => self.emit(Op::LoadCell(self.deref(word)?)),
            RawOp::LoadDeref => self.emit(Op::LoadDeref(self.deref(word)?)),
            RawOp::StoreDeref => self.emit(Op::StoreDeref(self.deref(word)?)),
            RawOp::DeleteDeref => self.emit(Op::DeleteDeref(self.deref(word)?)),
            RawOp::LoadClassderef => self.emit(Op::LoadClassDeref(self.deref(word)?)),
            RawOp::LoadFromDictOrDeref => self.emit(Op::LoadFromDictOrDeref(self.deref(word)?)),
            RawOp::LoadGlobal => self.load_global(word)?,
            RawOp::LoadAttr => self.load_attr(word)?,
            RawOp::LoadSuperAttr => self.load_super_attr(word)?,
            _ => return self.named(word),
        }
        Ok(true)
    }

    /// Opcodes whose operand is just a name.
    fn named(&mut self, word: Word) -> Result<bool, LiftProblem> {
        let make: fn(NameId) -> Op = match word.op {
            RawOp::LoadFromDictOrGlobals => Op::LoadFromDictOrGlobals,
            RawOp::LoadName => Op::LoadName,
            RawOp::StoreName => Op::StoreName,
            RawOp::DeleteName => Op::DeleteName,
            RawOp::StoreGlobal => Op::StoreGlobal,
            RawOp::DeleteGlobal => Op::DeleteGlobal,
            RawOp::LoadMethod => Op::LoadMethod,
            RawOp::StoreAttr => Op::StoreAttr,
            RawOp::DeleteAttr => Op::DeleteAttr,
            RawOp::ImportName => Op::ImportName,
            RawOp::ImportFrom => Op::ImportFrom,
            _ => return Ok(false),
        };
        let name = self.name(word, word.arg)?;
        self.emit(make(name));
        Ok(true)
    }

    /// From 3.11 on the low bit asks for a NULL: below the global up to 3.12, above it from 3.13 on.
    fn load_global(&mut self, word: Word) -> Translation {
        if !self.is(11) {
            self.emit(Op::LoadGlobal(self.name(word, word.arg)?));
            return Ok(());
        }
        let load = Op::LoadGlobal(self.name(word, word.arg >> 1)?);
        match (word.arg & 1 != 0, self.is(13)) {
            (false, _) => self.emit(load),
            (true, false) => self.emit2(Op::PushNull, load),
            (true, true) => self.emit2(load, Op::PushNull),
        }
        Ok(())
    }

    /// From 3.12 on the low bit makes it a method load.
    fn load_attr(&mut self, word: Word) -> Translation {
        let (index, method) = if self.is(12) {
            (word.arg >> 1, word.arg & 1 != 0)
        } else {
            (word.arg, false)
        };
        let name = self.name(word, index)?;
        self.emit(if method {
            Op::LoadMethod(name)
        } else {
            Op::LoadAttr(name)
        });
        Ok(())
    }

    fn load_super_attr(&mut self, word: Word) -> Translation {
        let name = self.name(word, word.arg >> 2)?;
        let two_arguments = word.arg & 2 != 0;
        let method = word.arg & 1 != 0;
        self.emit(if method {
            Op::LoadSuperMethod { name, two_arguments }
        } else {
            Op::LoadSuperAttr { name, two_arguments }
        });
        Ok(())
    }

    // ---- operands that count ------------------------------------------------------------------------------

    /// Opcodes whose operand is a number of values or a distance; false if the opcode is something else.
    fn counted(&mut self, word: Word) -> Result<bool, LiftProblem> {
        let count = word.arg;
        let op = match word.op {
            RawOp::Copy => Op::Copy {
                depth: self.depth(word)?,
            },
            RawOp::Swap => Op::Swap {
                depth: self.depth(word)?,
            },
            RawOp::RotN => Op::Rotate {
                depth: self.depth(word)?,
            },
            RawOp::BuildTuple => Op::BuildTuple(count),
            RawOp::BuildList => Op::BuildList(count),
            RawOp::BuildSet => Op::BuildSet(count),
            RawOp::BuildMap => Op::BuildMap(count),
            RawOp::BuildConstKeyMap => Op::BuildConstKeyMap(count),
            RawOp::BuildString => Op::BuildString(count),
            RawOp::BuildSlice if count == 2 || count == 3 => Op::BuildSlice(count),
            RawOp::ListAppend => Op::ListAppend {
                depth: self.depth(word)?,
            },
            RawOp::SetAdd => Op::SetAdd {
                depth: self.depth(word)?,
            },
            RawOp::MapAdd => Op::MapAdd {
                depth: self.depth(word)?,
            },
            RawOp::ListExtend => Op::ListExtend {
                depth: self.depth(word)?,
            },
            RawOp::SetUpdate => Op::SetUpdate {
                depth: self.depth(word)?,
            },
            RawOp::DictUpdate => Op::DictUpdate {
                depth: self.depth(word)?,
            },
            RawOp::DictMerge => Op::DictMerge {
                depth: self.depth(word)?,
            },
            RawOp::UnpackSequence => Op::UnpackSequence(count),
            RawOp::UnpackEx => Op::UnpackStar {
                before: count & 0xFF,
                after: count >> 8,
            },
            RawOp::MatchKeys => Op::MatchKeys {
                pushes_bool: !self.is(11),
            },
            RawOp::MatchClass => Op::MatchClass {
                positional: count,
                pushes_bool: !self.is(11),
            },
            RawOp::RaiseVarargs if count <= 2 => Op::Raise(count),
            RawOp::Reraise => Op::Reraise {
                lasti: u16::try_from(count).map_err(|_| self.invalid(word))?,
            },
            RawOp::BuildSlice | RawOp::RaiseVarargs => return Err(self.invalid(word)),
            _ => return Ok(false),
        };
        self.emit(op);
        Ok(true)
    }

    // ---- calls and functions ------------------------------------------------------------------------------

    /// Calls, functions; false if the opcode is something else.
    fn call(&mut self, word: Word) -> Result<bool, LiftProblem> {
        let argc = word.arg;
        let layout = if self.is(13) {
            CallLayout::NullAbove
        } else if self.is(11) {
            CallLayout::NullBelow
        } else {
            CallLayout::Callable
        };
        let op = match word.op {
            RawOp::KwNames => {
                self.keywords = KeywordNames::Constant(self.constant(word)?);
                return Ok(true);
            }
            // Prepares the call that follows it (3.11); all of it belongs to the call.
            RawOp::Precall => return Ok(true),
            RawOp::Call => {
                let keywords = std::mem::replace(&mut self.keywords, KeywordNames::None);
                Op::Call { argc, keywords, layout }
            }
            RawOp::CallKw | RawOp::CallFunctionKw => Op::Call {
                argc,
                keywords: KeywordNames::OnStack,
                layout,
            },
            RawOp::CallFunction => Op::Call {
                argc,
                keywords: KeywordNames::None,
                layout,
            },
            RawOp::CallMethod => Op::Call {
                argc,
                keywords: KeywordNames::None,
                layout: CallLayout::NullBelow,
            },
            RawOp::CallFunctionEx if self.is(14) => Op::CallStar {
                mapping: true,
                mapping_or_null: true,
                layout,
            },
            RawOp::CallFunctionEx => Op::CallStar {
                mapping: argc & 1 != 0,
                mapping_or_null: false,
                layout,
            },
            RawOp::MakeFunction => self.make_function(word)?,
            RawOp::SetFunctionAttribute => Op::SetFunctionPart(match word.arg {
                1 => FunctionPart::Defaults,
                2 => FunctionPart::KeywordDefaults,
                4 => FunctionPart::Annotations,
                8 => FunctionPart::Closure,
                16 if self.is(14) => FunctionPart::Annotate,
                _ => return Err(self.invalid(word)),
            }),
            _ => return Ok(false),
        };
        self.emit(op);
        Ok(true)
    }

    /// Up to 3.12 a bit set says which parts lie on the stack; up to 3.10 the qualified name is on top.
    fn make_function(&self, word: Word) -> Result<Op, LiftProblem> {
        if word.arg > 15 {
            return Err(self.invalid(word));
        }
        let has = |bit: u32| word.arg & bit != 0;
        Ok(Op::MakeFunction(FunctionParts {
            defaults: has(1),
            keyword_defaults: has(2),
            annotations: has(4),
            closure: has(8),
            qualname: !self.is(11),
        }))
    }

    // ---- operands with an encoding of their own -----------------------------------------------------------

    /// The rest; false if the opcode is something else.
    fn encoded(&mut self, word: Word) -> Result<bool, LiftProblem> {
        let some = |op: Option<Op>| op.ok_or_else(|| self.invalid(word));
        let op = match word.op {
            RawOp::LoadConst => Op::Const(self.constant(word)?),
            RawOp::LoadSmallInt => Op::SmallInt(i32::try_from(word.arg).map_err(|_| self.invalid(word))?),
            RawOp::LoadCommonConstant => Op::CommonConst(self.entry(word, self.table.common_constants)?),
            RawOp::LoadSpecial => Op::LoadSpecial(self.entry(word, self.table.special_methods)?),
            RawOp::BinaryOp => some(self.entry(word, self.table.binary_ops)?)?,
            RawOp::CallIntrinsic1 => some(self.entry(word, self.table.intrinsics_1)?)?,
            RawOp::CallIntrinsic2 => some(self.entry(word, self.table.intrinsics_2)?)?,
            RawOp::CompareOp => self.compare(word)?,
            RawOp::IsOp => Op::Is {
                invert: self.flag(word)?,
            },
            RawOp::ContainsOp => Op::Contains {
                invert: self.flag(word)?,
            },
            RawOp::FormatValue => Op::FormatValue {
                conversion: self.conversion(word, word.arg & 3)?,
                spec: word.arg & 4 != 0,
            },
            RawOp::ConvertValue => Op::Convert(self.conversion(word, word.arg)?.ok_or_else(|| self.invalid(word))?),
            RawOp::BuildInterpolation => Op::BuildInterpolation {
                conversion: self.conversion(word, word.arg >> 2)?,
                format: word.arg & 1 != 0,
            },
            RawOp::Resume => Op::Resume(match word.arg & 3 {
                0 => ResumeKind::Start,
                1 => ResumeKind::AfterYield,
                2 => ResumeKind::AfterYieldFrom,
                _ => ResumeKind::AfterAwait,
            }),
            _ => return self.split(word),
        };
        self.emit(op);
        Ok(true)
    }

    /// Opcodes that become two operations.
    fn split(&mut self, word: Word) -> Result<bool, LiftProblem> {
        match word.op {
            RawOp::ReturnConst => self.emit2(Op::Const(self.constant(word)?), Op::Return),
            RawOp::DupTopTwo => self.emit2(Op::Copy { depth: 2 }, Op::Copy { depth: 2 }),
            RawOp::PrintExpr => self.emit2(Op::Intrinsic(Intrinsic::Print), Op::Pop),
            RawOp::ImportStar => self.emit2(Op::Intrinsic(Intrinsic::ImportStar), Op::Pop),
            // 3.10: the frame of a generator starts with the first value sent, which this pops.
            RawOp::GenStart => self.emit2(Op::ReturnGenerator, Op::Pop),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn flag(&self, word: Word) -> Result<bool, LiftProblem> {
        if word.arg <= 1 {
            Ok(word.arg == 1)
        } else {
            Err(self.invalid(word))
        }
    }

    /// From 3.12 on the low bits tell the interpreter how to specialise; from 3.13 on one says that the result becomes
    /// a bool.
    fn compare(&self, word: Word) -> Result<Op, LiftProblem> {
        let (arg, to_bool) = match self.table.minor {
            13.. => (word.arg >> 5, word.arg & 16 != 0),
            12 => (word.arg >> 4, false),
            _ => (word.arg, false),
        };
        match self.table.compare_ops.get(arg as usize).copied().flatten() {
            Some(Op::Compare { op, .. }) => Ok(Op::Compare { op, to_bool }),
            Some(other) => Ok(other),
            None => Err(self.invalid(word)),
        }
    }

    fn conversion(&self, word: Word, code: u32) -> Result<Option<Conversion>, LiftProblem> {
        Ok(Some(match code {
            0 => return Ok(None),
            1 => Conversion::Str,
            2 => Conversion::Repr,
            3 => Conversion::Ascii,
            _ => return Err(self.invalid(word)),
        }))
    }

    // ---- jumps --------------------------------------------------------------------------------------------

    fn jump(&mut self, word: Word) -> Translation {
        let target = self.target(word)?;
        let branch = |test| Op::Branch {
            test,
            keep: Keep::Never,
            target,
        };
        let or_pop = |truth| Op::Branch {
            test: Test::Truth(truth),
            keep: Keep::WhenJumping,
            target,
        };
        let op = match word.op {
            RawOp::JumpForward | RawOp::JumpBackward | RawOp::JumpBackwardNoInterrupt | RawOp::JumpAbsolute => {
                Op::Jump { target }
            }
            RawOp::PopJumpIfTrue | RawOp::PopJumpForwardIfTrue | RawOp::PopJumpBackwardIfTrue => {
                branch(Test::Truth(true))
            }
            RawOp::PopJumpIfFalse | RawOp::PopJumpForwardIfFalse | RawOp::PopJumpBackwardIfFalse => {
                branch(Test::Truth(false))
            }
            RawOp::PopJumpIfNone | RawOp::PopJumpForwardIfNone | RawOp::PopJumpBackwardIfNone => {
                branch(Test::IsNone(true))
            }
            RawOp::PopJumpIfNotNone | RawOp::PopJumpForwardIfNotNone | RawOp::PopJumpBackwardIfNotNone => {
                branch(Test::IsNone(false))
            }
            RawOp::JumpIfTrueOrPop => or_pop(true),
            RawOp::JumpIfFalseOrPop => or_pop(false),
            RawOp::JumpIfNotExcMatch => Op::BranchNotExceptionMatch { target },
            RawOp::ForIter => self.for_iter(target),
            RawOp::Send => Op::Send {
                exhausted: target,
                pops_receiver: !self.is(12),
            },
            RawOp::SetupFinally => return self.setup(target, 0),
            RawOp::SetupWith => {
                self.emit(Op::EnterContext);
                return self.setup(target, 1);
            }
            RawOp::SetupAsyncWith => return self.setup(target, 1),
            _ => Op::Unsupported(word.code),
        };
        self.emit(op);
        Ok(())
    }

    /// The exhausted edge skips the instructions that clean up behind a specialised loop: `END_FOR` (3.12),
    /// `END_FOR POP_TOP` (3.13), `END_FOR` before `POP_ITER` (3.14). `FOR_ITER` itself pops the iterator up to 3.13.
    fn for_iter(&self, target: Target) -> Op {
        let skipped = match self.table.minor {
            12 | 14 => 2,
            13 => 4,
            _ => 0,
        };
        let exhausted = InstId::new(target.raw().saturating_add(skipped));
        Op::ForIter {
            exhausted,
            pops_iterator: !self.is(14),
        }
    }

    /// Up to 3.10. The level that a `with` handler restores is below the result of `__enter__`.
    fn setup(&mut self, target: Target, above: u32) -> Translation {
        self.setups.push(Setup {
            inst: self.insts.next_id(),
            handler_offset: target.raw(),
            above,
        });
        self.emit(Op::SetupBlock);
        Ok(())
    }
}

/// Opcodes without an operand that mean the same in every version that has them.
const fn plain(op: RawOp) -> Option<Op> {
    const fn unary(op: UnaryOp) -> Op {
        Op::Unary(op)
    }
    const fn binary(op: BinaryOp) -> Op {
        Op::Binary { op, in_place: false }
    }
    const fn in_place(op: BinaryOp) -> Op {
        Op::Binary { op, in_place: true }
    }
    Some(match op {
        RawOp::Nop | RawOp::NotTaken => Op::Nop,
        RawOp::PopTop | RawOp::PopIter => Op::Pop,
        RawOp::PushNull => Op::PushNull,
        RawOp::DupTop => Op::Copy { depth: 1 },
        RawOp::RotTwo => Op::Rotate { depth: 2 },
        RawOp::RotThree => Op::Rotate { depth: 3 },
        RawOp::RotFour => Op::Rotate { depth: 4 },
        RawOp::LoadBuildClass => Op::LoadBuildClass,
        RawOp::LoadAssertionError => Op::CommonConst(CommonConstant::AssertionError),
        RawOp::LoadLocals => Op::LoadLocals,
        RawOp::BinarySubscr => Op::LoadItem,
        RawOp::StoreSubscr => Op::StoreItem,
        RawOp::DeleteSubscr => Op::DeleteItem,
        RawOp::BinarySlice => Op::LoadSlice,
        RawOp::StoreSlice => Op::StoreSlice,
        RawOp::UnaryNegative => unary(UnaryOp::Negative),
        RawOp::UnaryPositive => unary(UnaryOp::Positive),
        RawOp::UnaryInvert => unary(UnaryOp::Invert),
        RawOp::UnaryNot => unary(UnaryOp::Not),
        RawOp::ToBool => unary(UnaryOp::ToBool),
        RawOp::BinaryAdd => binary(BinaryOp::Add),
        RawOp::BinaryAnd => binary(BinaryOp::And),
        RawOp::BinaryFloorDivide => binary(BinaryOp::FloorDivide),
        RawOp::BinaryLshift => binary(BinaryOp::LeftShift),
        RawOp::BinaryMatrixMultiply => binary(BinaryOp::MatrixMultiply),
        RawOp::BinaryMultiply => binary(BinaryOp::Multiply),
        RawOp::BinaryModulo => binary(BinaryOp::Remainder),
        RawOp::BinaryOr => binary(BinaryOp::Or),
        RawOp::BinaryPower => binary(BinaryOp::Power),
        RawOp::BinaryRshift => binary(BinaryOp::RightShift),
        RawOp::BinarySubtract => binary(BinaryOp::Subtract),
        RawOp::BinaryTrueDivide => binary(BinaryOp::TrueDivide),
        RawOp::BinaryXor => binary(BinaryOp::Xor),
        RawOp::InplaceAdd => in_place(BinaryOp::Add),
        RawOp::InplaceAnd => in_place(BinaryOp::And),
        RawOp::InplaceFloorDivide => in_place(BinaryOp::FloorDivide),
        RawOp::InplaceLshift => in_place(BinaryOp::LeftShift),
        RawOp::InplaceMatrixMultiply => in_place(BinaryOp::MatrixMultiply),
        RawOp::InplaceMultiply => in_place(BinaryOp::Multiply),
        RawOp::InplaceModulo => in_place(BinaryOp::Remainder),
        RawOp::InplaceOr => in_place(BinaryOp::Or),
        RawOp::InplacePower => in_place(BinaryOp::Power),
        RawOp::InplaceRshift => in_place(BinaryOp::RightShift),
        RawOp::InplaceSubtract => in_place(BinaryOp::Subtract),
        RawOp::InplaceTrueDivide => in_place(BinaryOp::TrueDivide),
        RawOp::InplaceXor => in_place(BinaryOp::Xor),
        RawOp::BuildTemplate => Op::BuildTemplate,
        RawOp::FormatSimple => Op::FormatValue {
            conversion: None,
            spec: false,
        },
        RawOp::FormatWithSpec => Op::FormatValue {
            conversion: None,
            spec: true,
        },
        RawOp::GetIter => Op::GetIter,
        RawOp::GetYieldFromIter => Op::GetYieldFromIter,
        RawOp::EndFor => Op::EndFor,
        RawOp::GetAiter => Op::GetAsyncIter,
        RawOp::GetAnext => Op::GetAsyncNext,
        RawOp::EndAsyncFor => Op::EndAsyncFor,
        RawOp::GetAwaitable => Op::GetAwaitable,
        RawOp::GetLen => Op::GetLen,
        RawOp::MatchMapping => Op::MatchMapping,
        RawOp::MatchSequence => Op::MatchSequence,
        RawOp::CopyDictWithoutKeys => Op::CopyDictWithoutKeys,
        RawOp::ListToTuple => Op::Intrinsic(Intrinsic::ListToTuple),
        RawOp::AsyncGenWrap => Op::Intrinsic(Intrinsic::AsyncGenWrap),
        RawOp::PrepReraiseStar => Op::Intrinsic(Intrinsic::PrepReraiseStar),
        RawOp::SetupAnnotations => Op::SetupAnnotations,
        RawOp::ReturnValue => Op::Return,
        RawOp::ReturnGenerator => Op::ReturnGenerator,
        RawOp::YieldValue => Op::Yield,
        RawOp::YieldFrom => Op::YieldFrom,
        RawOp::EndSend => Op::EndSend,
        RawOp::CleanupThrow => Op::CleanupThrow,
        RawOp::PushExcInfo => Op::PushExcInfo,
        RawOp::PopExcept => Op::PopExcept,
        RawOp::CheckExcMatch => Op::CheckExceptionMatch,
        RawOp::CheckEgMatch => Op::CheckGroupMatch,
        RawOp::BeforeWith => Op::EnterContext,
        RawOp::BeforeAsyncWith => Op::EnterAsyncContext,
        RawOp::WithExceptStart => Op::WithExceptStart,
        RawOp::PopBlock => Op::PopBlock,
        _ => return None,
    })
}
