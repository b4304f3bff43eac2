//! A lifted code object: instructions, control-flow graph, SSA form.

use crate::op::{InstId, NameId, Op, SlotId};
use hognose_base::{IndexVec, define_id};
use hognose_pyc::{CodeIndex, CompiledModule, LocalKind, ObjectId};

define_id! {
    /// A basic block of one body. Block 0 is the entry.
    pub struct BlockId = "b";
}
define_id! {
    /// A control-flow edge of one body.
    pub struct EdgeId = "e";
}
define_id! {
    /// An SSA variable of one body.
    pub struct VarId = "v";
}
define_id! {
    /// An SSA value of one body.
    pub struct ValueId = "%";
}

/// All code objects of one file, lifted. Depends on the file's bytes only.
#[derive(Debug)]
pub struct FileIr {
    /// The compiled module the bodies were lifted from.
    pub module: CompiledModule,
    /// The names that operations use: the well-known ones ([`NameId::ISINSTANCE`] and its kin), then the others in order of
    /// first use in code-object preorder.
    pub names: IndexVec<NameId, Box<str>>,
    /// One body per code object, in the order of `module.objects`.
    pub bodies: IndexVec<CodeIndex, Body>,
}

/// A slot of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its name.
    pub name: NameId,
    /// How it is kept.
    pub kind: LocalKind,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// Byte offset of the opcode in `co_code` (behind any EXTENDED_ARG).
    pub offset: u32,
    /// Number among the instructions of this offset (fused opcodes are split).
    pub ordinal: u8,
}

/// A protected range: an exception at an instruction of it goes to the handler.
///
/// Inner regions come first; the first region that contains an offset is the one that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First protected byte offset.
    pub start: u32,
    /// Offset behind the last protected instruction.
    pub end: u32,
    /// First instruction of the handler.
    pub handler: InstId,
    /// Byte offset of the handler.
    pub handler_offset: u32,
    /// Stack depth that is restored before the items are pushed.
    pub depth: u32,
    /// Number of items pushed at the handler (exception, and `lasti` below it): 1 or 2 from 3.11 on, 6 for 3.8 to 3.10.
    pub pushed: u32,
    /// Whether the offset of the raising instruction is pushed (3.11+).
    pub lasti: bool,
    /// The StopIteration guard around a generator body (3.12+): no splits, no control dependences.
    pub generator_guard: bool,
}

/// Why control passes along an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// Falls through or jumps.
    Normal,
    /// The condition of the branch holds in the source sense: the operand is true (for `IsNone` tests: is None; for an
    /// iterator: there is an item; for an exception match: it matches).
    True,
    /// It does not hold (an iterator is exhausted).
    False,
    /// An exception: to a handler, or to the exceptional exit.
    Exception {
        /// From `raise`, `assert` or a re-raise, not from an operation that may fail.
        explicit: bool,
    },
    /// A suspended frame goes on.
    Resume,
}

/// A control-flow edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Source block.
    pub from: BlockId,
    /// Target block.
    pub to: BlockId,
    /// Why.
    pub kind: EdgeKind,
    /// The instruction that decides: the terminator, or for exceptions the first instruction that may raise.
    pub inst: Option<InstId>,
}

/// A basic block: instructions `start..end` in id order. An operation that may raise does not end it: see [`EdgeKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// First instruction.
    pub start: InstId,
    /// Behind the last instruction; equal to `start` for the exits.
    pub end: InstId,
    /// No path from the entry leads here.
    pub unreachable: bool,
}

/// The control-flow graph. Deterministic: blocks in offset order (an empty entry block first, if the first instruction is a
/// jump target), then the normal exit, then the exceptional exit.
#[derive(Clone, Debug, Default)]
pub struct Cfg {
    /// The blocks; the entry is block 0.
    pub blocks: IndexVec<BlockId, Block>,
    /// The edges, sorted by source block, then in the order normal, true, false, exception, resume.
    pub edges: IndexVec<EdgeId, Edge>,
    /// `edges` of block `b` are `successor_starts[b]..successor_starts[b + 1]`.
    pub successor_starts: Vec<u32>,
    /// Incoming edges sorted by target; those of block `b` are `predecessor_starts[b]..predecessor_starts[b + 1]`.
    pub predecessors: Vec<EdgeId>,
    /// See `predecessors`.
    pub predecessor_starts: Vec<u32>,
    /// Where returns go.
    pub normal_exit: BlockId,
    /// Where uncaught exceptions go.
    pub exceptional_exit: BlockId,
    /// Block of every instruction.
    pub block_of: IndexVec<InstId, BlockId>,
}

/// What an SSA variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Var {
    /// A fast local, or the contents of a cell that this body owns (parameters that are cells included).
    Slot(SlotId),
    /// A name of a module or class body.
    Name(NameId),
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Def {
    /// The NULL that `PushNull` pushes and missing parts of a call.
    Null,
    /// An unbound variable.
    Unbound,
    /// What a parameter slot holds at entry.
    Parameter(SlotId),
    /// Output number `output` of an instruction (stack outputs from the deepest; a store has one: the new value of its
    /// variable).
    Inst {
        /// The instruction.
        inst: InstId,
        /// Which output.
        output: u16,
    },
    /// A phi; its arguments are parallel to the incoming edges of the block.
    Phi {
        /// Where control joins.
        block: BlockId,
        /// What is joined.
        what: PhiOf,
        /// First argument in [`Ssa::phi_args`].
        args: u32,
    },
    /// The exception that a handler receives.
    Caught(BlockId),
    /// Another item pushed at a handler (`lasti`, 3.10 traceback parts): opaque.
    HandlerItem {
        /// The handler.
        block: BlockId,
        /// Position among the pushed items, from the deepest.
        item: u16,
    },
    /// The value `of` as it is known on one outgoing edge of a branch that tested it; see `Body::test_of`. Where the edge
    /// leads to a join, it is an argument of the join's phis for that edge.
    Refined {
        /// The value before the test.
        of: ValueId,
        /// The edge.
        edge: EdgeId,
    },
}

/// What a phi joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PhiOf {
    /// A variable.
    Var(VarId),
    /// The stack slot at this depth (0 = bottom).
    Stack(u32),
}

/// SSA over the operand stack, fast locals, own cells, and the names of module and class bodies.
///
/// - Stack shuffles (`Copy`, `Swap`, `Pop`, ...) have no outputs; their operands are passed through.
/// - `LoadLocal`, `LoadDeref` of an own cell, and `LoadName` are instructions with one output; their first input is the
///   reaching value of the variable ([`Def::Unbound`] if none). A free variable's `LoadDeref` has no input.
/// - Stores have the stored value as input and one output, the variable's new value, which is not on the stack.
/// - A call's inputs are `callee, self-or-NULL, arguments...` whatever the version's order; for `CallStar`
///   `callee, self-or-NULL, iterable, mapping-or-NULL`. Names of keyword arguments are in [`Ssa::keyword_names`].
/// - `LoadMethod`, `LoadSuperMethod`, `LoadSpecial` have outputs 0 = callable and 1 = self-or-NULL in every version.
/// - `DeleteLocal`, `DeleteDeref`, `DeleteName` have the reaching value as input and unbind the variable.
/// - `LoadLocalAndClear` has the reaching value as input, which its output passes on; the variable is unbound behind it.
/// - `LoadClassDeref` and `LoadFromDictOr...` of a class body have the reaching value of the name, if the body stores it, as
///   last input.
/// - `Send` has outputs 0 = what the receiver returns (on the exhausted edge) and 1 = what it yields (on the other).
/// - `WithExceptStart` has the inputs `exit, self-or-NULL, exception`; `Reraise` and `EndAsyncFor` see the exception alone.
/// - In a handler of 3.8 to 3.10 the class on top and the exception below it are both [`Def::Caught`].
/// - `StoreGlobal` and `StoreDeref` of what is no variable of the body have no output.
/// - `ListAppend` and its kin have the container as first input, then the item(s).
/// - Unreachable blocks have no values: their instructions have no inputs and no outputs.
#[derive(Clone, Debug, Default)]
pub struct Ssa {
    /// The variables.
    pub vars: IndexVec<VarId, Var>,
    /// The values.
    pub values: IndexVec<ValueId, Def>,
    /// Operands of instruction `i` are `inputs[input_starts[i]..input_starts[i + 1]]`.
    pub inputs: Vec<ValueId>,
    /// See `inputs`.
    pub input_starts: Vec<u32>,
    /// First output of instruction `i`; its outputs are consecutive values up to `output_starts[i + 1]`... see
    /// [`Ssa::outputs`].
    pub first_output: IndexVec<InstId, ValueId>,
    /// Number of outputs of each instruction.
    pub output_count: IndexVec<InstId, u16>,
    /// Arguments of all phis, one per incoming edge of the block, in the order of [`Cfg::predecessors`]. An edge from an
    /// unreachable block has [`Def::Unbound`].
    pub phi_args: Vec<ValueId>,
    /// The phis of each block, sorted by block.
    pub phis: Vec<ValueId>,
    /// `phis` of block `b` are `phi_starts[b]..phi_starts[b + 1]`.
    pub phi_starts: Vec<u32>,
    /// Keyword-name tuples of calls that have them, sorted by instruction.
    pub keyword_names: Vec<(InstId, ObjectId)>,
    /// Value of every name at the normal exit, if it is reached (module and class namespaces); unbound for slots.
    pub at_normal_exit: IndexVec<VarId, ValueId>,
}

/// A code object's problem: it is kept, its instructions are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiftProblem {
    /// Byte offset in `co_code`.
    pub offset: u32,
    /// What is wrong.
    pub message: String,
}

/// A lifted code object.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The frame's names.
    pub slots: IndexVec<SlotId, Slot>,
    /// The instructions in offset order.
    pub insts: IndexVec<InstId, Inst>,
    /// Protected ranges, inner ones first.
    pub regions: Vec<Region>,
    /// The control-flow graph.
    pub cfg: Cfg,
    /// The SSA form.
    pub ssa: Ssa,
    /// Why there is no more than this, if the bytecode is impossible; then `insts` may be empty.
    pub problem: Option<LiftProblem>,
}

impl Cfg {
    /// Outgoing edges of a block.
    pub fn successors(&self, block: BlockId) -> impl Iterator<Item = (EdgeId, &Edge)> {
        let index = block.raw() as usize;
        (self.successor_starts[index]..self.successor_starts[index + 1]).map(|raw| {
            let id = EdgeId::new(raw);
            (id, &self.edges[id])
        })
    }
    /// Incoming edges of a block.
    #[must_use]
    pub fn predecessors(&self, block: BlockId) -> &[EdgeId] {
        let index = block.raw() as usize;
        &self.predecessors[self.predecessor_starts[index] as usize..self.predecessor_starts[index + 1] as usize]
    }
    /// The instructions of a block.
    pub fn insts(&self, block: BlockId) -> impl DoubleEndedIterator<Item = InstId> + use<> {
        let block = self.blocks[block];
        (block.start.raw()..block.end.raw()).map(InstId::new)
    }
}

impl Ssa {
    /// [`Def::Null`]
    pub const NULL: ValueId = ValueId::new(0);
    /// [`Def::Unbound`]
    pub const UNBOUND: ValueId = ValueId::new(1);

    /// Operands of an instruction.
    #[must_use]
    pub fn inputs(&self, inst: InstId) -> &[ValueId] {
        let index = inst.raw() as usize;
        &self.inputs[self.input_starts[index] as usize..self.input_starts[index + 1] as usize]
    }
    /// Outputs of an instruction.
    pub fn outputs(&self, inst: InstId) -> impl ExactSizeIterator<Item = ValueId> + use<> {
        let first = self.first_output[inst].raw();
        (first..first + u32::from(self.output_count[inst])).map(ValueId::new)
    }
    /// The first output of an instruction, if it has one.
    #[must_use]
    pub fn output(&self, inst: InstId) -> Option<ValueId> {
        (self.output_count[inst] > 0).then(|| self.first_output[inst])
    }
    /// Phis of a block.
    #[must_use]
    pub fn phis(&self, block: BlockId) -> &[ValueId] {
        let index = block.raw() as usize;
        &self.phis[self.phi_starts[index] as usize..self.phi_starts[index + 1] as usize]
    }
    /// The tuple constant with the keyword names of a call.
    #[must_use]
    pub fn keyword_names(&self, inst: InstId) -> Option<ObjectId> {
        self.keyword_names
            .binary_search_by_key(&inst, |&(at, _)| at)
            .ok()
            .map(|at| self.keyword_names[at].1)
    }
}
