//! The semantic operations: what an instruction does, whatever the version that encoded it.
//!
//! Stack operands are listed from the deepest to the top. A comment `a b -> c` means: takes `a` and `b` (`b` on top),
//! pushes `c`.

use hognose_base::define_id;
use hognose_pyc::ObjectId;

define_id! {
    /// A name of one file (see [`crate::FileIr::names`]).
    pub struct NameId = "n";
}
define_id! {
    /// A slot of the frame: local, cell or free variable.
    pub struct SlotId = "l";
}
define_id! {
    /// An instruction of one body; two ids may share an offset, because fused opcodes are split.
    pub struct InstId = "i";
}

/// An instruction to jump to, as the id of the target. Adapters first give byte offsets; the lifter resolves them.
pub type Target = InstId;

/// Constants that opcodes name directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CommonConstant {
    None,
    True,
    False,
    MinusOne,
    EmptyStr,
    AssertionError,
    NotImplementedError,
    Tuple,
    List,
    Set,
    All,
    Any,
}

/// Unary operators and conversions that call a special method of their operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Negative,
    Positive,
    Invert,
    /// `not x`: truth, then negated; the result is always a bool.
    Not,
    /// Truth as a value (`TO_BOOL`).
    ToBool,
}

/// Binary arithmetic operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    And,
    FloorDivide,
    LeftShift,
    MatrixMultiply,
    Multiply,
    Remainder,
    Or,
    Power,
    RightShift,
    Subtract,
    TrueDivide,
    Xor,
}

/// Rich comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CompareOp {
    Less,
    LessEqual,
    Equal,
    NotEqual,
    Greater,
    GreaterEqual,
}

/// What a conditional jump tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// Jumps when the operand's truth is this.
    Truth(bool),
    /// Jumps when the operand is `None` (true) or is not (false).
    IsNone(bool),
}

/// What a conditional jump leaves on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Keep {
    /// The operand is popped on both edges.
    Never,
    /// The operand stays on the edge that jumps (`JUMP_IF_TRUE_OR_POP`, up to 3.11).
    WhenJumping,
}

/// How a call's operands lie on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallLayout {
    /// `callable args...` (`CALL_FUNCTION`, 3.10).
    Callable,
    /// `NULL callable args...` or `method self args...` (`CALL_METHOD` of 3.10, `CALL` of 3.11 and 3.12).
    NullBelow,
    /// `callable NULL args...` or `method self args...` (3.13+).
    NullAbove,
}

/// Where the names of keyword arguments come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeywordNames {
    /// There are no keyword arguments.
    None,
    /// A tuple constant (`KW_NAMES` before the call, 3.11 and 3.12; folded into the call by the adapter).
    Constant(ObjectId),
    /// A tuple constant pushed on top of the arguments (`CALL_FUNCTION_KW` of 3.10, `CALL_KW` of 3.13+).
    OnStack,
}

/// Why a generator-like frame resumes here (`RESUME`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ResumeKind {
    Start,
    AfterYield,
    AfterYieldFrom,
    AfterAwait,
}

/// A special method that `LOAD_SPECIAL` looks up on the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum SpecialMethod {
    Enter,
    Exit,
    AsyncEnter,
    AsyncExit,
}

/// A part attached to a function by `MAKE_FUNCTION` or `SET_FUNCTION_ATTRIBUTE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum FunctionPart {
    /// Tuple of positional defaults.
    Defaults,
    /// Dict of keyword-only defaults.
    KeywordDefaults,
    /// Tuple or dict of annotations.
    Annotations,
    /// Tuple of cells.
    Closure,
    /// The `__annotate__` function (3.14+).
    Annotate,
}

/// Which parts `MAKE_FUNCTION` finds on the stack, in stack order: defaults, keyword defaults, annotations, closure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct FunctionParts {
    pub defaults: bool,
    pub keyword_defaults: bool,
    pub annotations: bool,
    pub closure: bool,
    /// 3.8 to 3.10: the qualified name lies on top of the code object.
    pub qualname: bool,
}

/// Conversions of an f-string field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Conversion {
    Str,
    Repr,
    Ascii,
}

/// `CALL_INTRINSIC_1` and `_2` (and the opcodes of older versions that do the same).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Intrinsic {
    /// `a -> none`: interactive expression statement.
    Print,
    /// `module -> none`: `from m import *`.
    ImportStar,
    /// `exception -> exception`: StopIteration in a generator becomes RuntimeError.
    StopIterationError,
    AsyncGenWrap,
    ListToTuple,
    TypeVar,
    ParamSpec,
    TypeVarTuple,
    SubscriptGeneric,
    TypeAlias,
    /// `original exceptions -> rest`: `except*` epilogue.
    PrepReraiseStar,
    TypeVarWithBound,
    TypeVarWithConstraints,
    /// `function params -> function`
    SetFunctionTypeParams,
    SetTypeParamDefault,
}

/// A semantic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    // ---- stack shuffles: no value of their own ------------------------------------------------------------
    /// Does nothing (NOP, CACHE, NOT_TAKEN, EXTENDED_ARG is folded away).
    Nop,
    /// `a ->`
    Pop,
    /// Pushes a copy of the value `depth` below the top (1 = top).
    Copy {
        /// Distance from the top, from 1.
        depth: u16,
    },
    /// Swaps the top with the value `depth` from the top (2 = next).
    Swap {
        /// Distance from the top, from 1.
        depth: u16,
    },
    /// Moves the top down to position `depth` (ROT_TWO = 2, ROT_THREE = 3, ...; 3.8 to 3.10).
    Rotate {
        /// How many values take part.
        depth: u16,
    },
    /// `-> NULL`
    PushNull,

    // ---- constants ---------------------------------------------------------------------------------------
    /// `-> constant`
    Const(ObjectId),
    /// `-> int` (`LOAD_SMALL_INT`)
    SmallInt(i32),
    /// `-> constant` named by the opcode.
    CommonConst(CommonConstant),
    /// `-> builtins.__build_class__`
    LoadBuildClass,

    // ---- frame variables ---------------------------------------------------------------------------------
    /// `-> value` of a fast local.
    LoadLocal {
        /// The slot.
        slot: SlotId,
        /// Whether the compiler could not prove that it is bound (always true before 3.12).
        may_be_unbound: bool,
    },
    /// `-> old value or NULL`, the slot becomes unbound (inlined comprehensions). On a cell slot: saves the cell.
    LoadLocalAndClear(SlotId),
    /// `value ->`. NULL unbinds. On a cell slot: restores a saved cell.
    StoreLocal(SlotId),
    /// `del x`
    DeleteLocal(SlotId),
    /// Makes a cell of the slot, its value (if bound) becomes the contents.
    MakeCell(SlotId),
    /// `-> the cell itself` (to build a closure).
    LoadCell(SlotId),
    /// `-> contents of the cell`
    LoadDeref(SlotId),
    /// `value ->`
    StoreDeref(SlotId),
    /// `del x` of a cell.
    DeleteDeref(SlotId),
    /// The cells of the closure arrive in the free slots.
    CopyFreeVars,
    /// `-> value`: the class namespace first, then the cell (`LOAD_CLASSDEREF`; 3.8 to 3.11).
    LoadClassDeref(SlotId),
    /// `mapping -> value`: the mapping first, then the cell (3.12+).
    LoadFromDictOrDeref(SlotId),
    /// `mapping -> value`: the mapping first, then globals and builtins (3.12+).
    LoadFromDictOrGlobals(NameId),
    /// `-> the local namespace`
    LoadLocals,
    /// `-> value`: local namespace, globals, builtins.
    LoadName(NameId),
    /// `value ->`
    StoreName(NameId),
    /// `del x` of a name.
    DeleteName(NameId),
    /// `-> value`: globals, builtins.
    LoadGlobal(NameId),
    /// `value ->`
    StoreGlobal(NameId),
    /// `del x` of a global.
    DeleteGlobal(NameId),

    // ---- attributes and items ----------------------------------------------------------------------------
    /// `object -> value`
    LoadAttr(NameId),
    /// `object -> method self` or `object -> value NULL`, in the order (callable, self or NULL) whatever the version's
    /// layout; the only use of both is a call.
    LoadMethod(NameId),
    /// `super class self -> value` (3.12+; the global `super` was looked up before).
    LoadSuperAttr {
        /// The attribute.
        name: NameId,
        /// Whether `super` was called with two arguments in the source.
        two_arguments: bool,
    },
    /// `super class self -> method self` or `value NULL`.
    LoadSuperMethod {
        /// The attribute.
        name: NameId,
        /// Whether `super` was called with two arguments in the source.
        two_arguments: bool,
    },
    /// `value object ->`
    StoreAttr(NameId),
    /// `object ->`
    DeleteAttr(NameId),
    /// `container key -> value`
    LoadItem,
    /// `value container key ->`
    StoreItem,
    /// `container key ->`
    DeleteItem,
    /// `container start stop -> value`
    LoadSlice,
    /// `value container start stop ->`
    StoreSlice,

    // ---- operators ---------------------------------------------------------------------------------------
    /// `a -> value`
    Unary(UnaryOp),
    /// `a b -> value`
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Whether it is an augmented assignment (`__iadd__` first).
        in_place: bool,
    },
    /// `a b -> value`
    Compare {
        /// The comparison.
        op: CompareOp,
        /// Whether the result is converted to bool (3.13+, before a branch).
        to_bool: bool,
    },
    /// `a b -> bool`
    Is {
        /// `is not`
        invert: bool,
    },
    /// `a b -> bool`: `a in b`
    Contains {
        /// `not in`
        invert: bool,
    },

    // ---- building values ---------------------------------------------------------------------------------
    /// `items... -> tuple`
    BuildTuple(u32),
    /// `items... -> list`
    BuildList(u32),
    /// `items... -> set`
    BuildSet(u32),
    /// `key value ... -> dict`, so many pairs.
    BuildMap(u32),
    /// `values... keys -> dict`: the keys are a tuple constant on top.
    BuildConstKeyMap(u32),
    /// `strings... -> str`
    BuildString(u32),
    /// `start stop [step] -> slice`
    BuildSlice(u32),
    /// `strings interpolations -> template` (3.14+)
    BuildTemplate,
    /// `value text [format] -> interpolation` (3.14+)
    BuildInterpolation {
        /// Whether a format specification lies on top.
        format: bool,
        /// The conversion.
        conversion: Option<Conversion>,
    },
    /// `... item -> ...`: appends to the list `depth` below (after the item is popped).
    ListAppend {
        /// Distance of the container from the top after the item is popped, from 1.
        depth: u16,
    },
    /// `... item -> ...`
    SetAdd {
        /// Distance of the container.
        depth: u16,
    },
    /// `... key value -> ...`
    MapAdd {
        /// Distance of the container.
        depth: u16,
    },
    /// `... iterable -> ...`
    ListExtend {
        /// Distance of the container.
        depth: u16,
    },
    /// `... iterable -> ...`
    SetUpdate {
        /// Distance of the container.
        depth: u16,
    },
    /// `... mapping -> ...`
    DictUpdate {
        /// Distance of the container.
        depth: u16,
    },
    /// `... mapping -> ...`: as `DictUpdate`, for `**kwargs` of a call (duplicate keys raise).
    DictMerge {
        /// Distance of the container.
        depth: u16,
    },
    /// `value -> str`: one f-string field with optional conversion and format.
    FormatValue {
        /// The conversion.
        conversion: Option<Conversion>,
        /// Whether a format specification lies on top of the value.
        spec: bool,
    },
    /// `value -> str` (`CONVERT_VALUE`, 3.13+)
    Convert(Conversion),

    // ---- unpacking, iteration, patterns --------------------------------------------------------------------
    /// `iterable -> items...`: the first item ends on top.
    UnpackSequence(u32),
    /// `iterable -> before... list after...`: the first item ends on top.
    UnpackStar {
        /// Items before the starred one.
        before: u32,
        /// Items behind it.
        after: u32,
    },
    /// `iterable -> iterator`
    GetIter,
    /// `iterable -> iterator`, generators and coroutines as they are.
    GetYieldFromIter,
    /// `iterator -> iterator item` on the normal edge; on the exhausted edge (to `exhausted`) the iterator is popped if
    /// `pops_iterator`, else it stays for a later pop. The edge's target is behind END_FOR where there is one.
    ForIter {
        /// Where control goes when the iterator is exhausted.
        exhausted: Target,
        /// Whether the exhausted edge pops the iterator.
        pops_iterator: bool,
    },
    /// `a ->` (END_FOR reached by nobody, kept for completeness of the listing).
    EndFor,
    /// `object -> async iterator`
    GetAsyncIter,
    /// `async iterator -> async iterator awaitable`
    GetAsyncNext,
    /// `async iterator [exception parts] ->`: pops all when the exception is StopAsyncIteration, else re-raises.
    EndAsyncFor,
    /// `object -> awaitable`
    GetAwaitable,
    /// `subject -> subject length`
    GetLen,
    /// `subject -> subject bool`
    MatchMapping,
    /// `subject -> subject bool`
    MatchSequence,
    /// `subject keys -> subject keys values-or-None` (3.11+; 3.10 pushes a bool as well, see `pushes_bool`).
    MatchKeys {
        /// 3.10: a bool follows.
        pushes_bool: bool,
    },
    /// `subject class names -> attributes-or-None` (3.11+), `subject class names -> attributes bool` (3.10).
    MatchClass {
        /// Number of positional sub-patterns.
        positional: u32,
        /// 3.10: a bool follows.
        pushes_bool: bool,
    },
    /// `dict ... -> dict ...` copy without keys (`COPY_DICT_WITHOUT_KEYS`, 3.10): `subject keys -> subject rest`.
    CopyDictWithoutKeys,

    // ---- calls, functions, classes, imports ----------------------------------------------------------------
    /// Calls with positional and keyword arguments, `argc` in all (names not counted).
    Call {
        /// Number of arguments, keyword arguments included, `self` excluded.
        argc: u32,
        /// Names of the last arguments.
        keywords: KeywordNames,
        /// Operand order.
        layout: CallLayout,
    },
    /// Calls with an iterable of positional arguments and maybe a mapping of keyword arguments.
    CallStar {
        /// Whether a mapping lies on top.
        mapping: bool,
        /// 3.14+: a mapping or NULL always lies on top.
        mapping_or_null: bool,
        /// Operand order.
        layout: CallLayout,
    },
    /// `parts... code -> function`
    MakeFunction(FunctionParts),
    /// `part function -> function` (3.13+)
    SetFunctionPart(FunctionPart),
    /// `level fromlist -> module`
    ImportName(NameId),
    /// `module -> module attribute`
    ImportFrom(NameId),
    /// Another intrinsic function; see [`Intrinsic`] for its operands.
    Intrinsic(Intrinsic),
    /// Makes sure that `__annotations__` exists.
    SetupAnnotations,

    // ---- control -----------------------------------------------------------------------------------------
    /// Goes on at `target`.
    Jump {
        /// Where.
        target: Target,
    },
    /// `a ->` (see [`Keep`]): goes to `target` if the test holds, else on.
    Branch {
        /// What is tested.
        test: Test,
        /// What stays on the stack.
        keep: Keep,
        /// Where the jump goes.
        target: Target,
    },
    /// `3.8 to 3.10 JUMP_IF_NOT_EXC_MATCH`: `exception type ->`, jumps if it does not match.
    BranchNotExceptionMatch {
        /// Where the jump goes.
        target: Target,
    },
    /// `value ->`: leaves the frame.
    Return,
    /// Makes the generator object and returns it; `-> generator` in the generated frame it pushes a value that is popped.
    ReturnGenerator,
    /// Start of the frame or behind a suspension.
    Resume(ResumeKind),
    /// `value -> sent value`: suspends.
    Yield,
    /// `receiver value -> receiver result`, or when the receiver is exhausted jumps to `exhausted` with
    /// `receiver result` (3.12+) or `result` (3.11) on the stack.
    Send {
        /// Where control goes with the delegate's return value.
        exhausted: Target,
        /// 3.11: the exhausted edge pops the receiver.
        pops_receiver: bool,
    },
    /// `receiver value -> result` (`YIELD_FROM`, 3.8 to 3.10): suspends until the delegate is exhausted.
    YieldFrom,
    /// `receiver value -> value` (3.12+)
    EndSend,
    /// `... sub-iterator last-sent exception -> none value`: a StopIteration thrown in becomes a result, else it is
    /// raised again (3.12+).
    CleanupThrow,

    // ---- exceptions --------------------------------------------------------------------------------------
    /// Raises: 0 = again, 1 = `exception`, 2 = `exception cause`.
    Raise(u32),
    /// Raises the caught exception again. Pops the exception (3.11+) or its three parts (up to 3.10); `lasti` says
    /// whether a saved instruction offset lies below it and is restored.
    Reraise {
        /// Operand of the opcode; not 0: restores `lasti` from that stack position.
        lasti: u16,
    },
    /// `exception -> previous exception` (3.11+)
    PushExcInfo,
    /// Ends a handler. Pops the previous exception (3.11+) or three values (up to 3.10).
    PopExcept,
    /// `exception type -> exception bool` (3.11+); 3.10's `COMPARE_OP exception match` is not emitted there.
    CheckExceptionMatch,
    /// `exceptions type -> rest match` (3.11+)
    CheckGroupMatch,
    /// `manager -> exit result-of-enter` (up to 3.13)
    EnterContext,
    /// `manager -> exit awaitable` (up to 3.13)
    EnterAsyncContext,
    /// `object -> method self` or `value NULL` (3.14+)
    LoadSpecial(SpecialMethod),
    /// Calls `__exit__` with the caught exception: `exit ... exception -> exit ... exception result`.
    WithExceptStart,
    /// Pushes a block on the 3.8 to 3.10 block stack; regions carry the meaning, so nothing happens here.
    SetupBlock,
    /// Pops a block; as above.
    PopBlock,
    /// `-> AssertionError` is [`Op::CommonConst`]; this is an opcode that the adapter does not know.
    Unsupported(u8),
}

/// What an operation does to the operand stack on one edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StackEffect {
    /// Values taken from the top.
    pub pops: u32,
    /// Values pushed.
    pub pushes: u32,
}

/// Whether an operation may raise by itself (not counting KeyboardInterrupt and MemoryError between instructions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Raises {
    /// Never.
    Never,
    /// It may (an implicit exception).
    May,
    /// It always does (raise, reraise).
    Always,
}
