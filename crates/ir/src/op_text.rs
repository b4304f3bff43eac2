//! The text form of operations.
//!
//! ```text
//! StoreLocal l2                    plain: ids, exact, read back by `str::parse::<Op>()`
//! Call 2 keywords=o7 null-above
//! StoreLocal value                 in words: names in the place of ids, without what a reader does not need
//! Call 2 keywords=o7
//! ```
//! An operation is its mnemonic, the name of the [`Op`] variant, and its operands in the order in which the variant declares
//! them. An operand that is absent, false or the default leaves no trace; the words of optional operands differ from
//! each other, so that the text is unambiguous.

use crate::op::{
    BinaryOp, CallLayout, CommonConstant, CompareOp, Conversion, FunctionPart, FunctionParts, InstId, Intrinsic, Keep,
    KeywordNames, NameId, Op, ResumeKind, SlotId, SpecialMethod, Test, UnaryOp,
};
use hognose_pyc::ObjectId;
use std::fmt::{self, Display};
use std::str::FromStr;

/// Names of what operations refer to, for [`Op::in_words`].
pub trait OpNames {
    /// The text of a name.
    fn name(&self, id: NameId) -> String;
    /// The name of a slot.
    fn slot(&self, id: SlotId) -> String;
    /// A constant as source text.
    fn constant(&self, id: ObjectId) -> String;
    /// A jump target.
    fn target(&self, id: InstId) -> String;
}

/// An operation shown with names; see [`Op::in_words`].
#[derive(Clone, Copy)]
pub struct InWords<'a> {
    op: Op,
    names: &'a dyn OpNames,
}

impl fmt::Debug for InWords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl Display for InWords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.op.write(&mut Sink {
            out: f,
            names: Some(self.names),
        })
    }
}

impl Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(&mut Sink { out: f, names: None })
    }
}

/// A text that is no operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpTextError {
    /// The text.
    pub text: String,
}

impl Display for OpTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not an operation: {}", self.text)
    }
}

impl std::error::Error for OpTextError {}

impl FromStr for Op {
    type Err = OpTextError;

    fn from_str(text: &str) -> Result<Self, OpTextError> {
        let mut words = text.split(' ');
        let op = words.next().and_then(|mnemonic| {
            let mut words = Words { rest: words.collect() };
            words.rest.reverse();
            Self::read(mnemonic, &mut words).filter(|_| words.rest.is_empty())
        });
        op.ok_or_else(|| OpTextError { text: text.to_owned() })
    }
}

impl Op {
    /// Shows the operation with names in the place of ids, and without the layout of calls.
    #[must_use]
    pub fn in_words(self, names: &dyn OpNames) -> InWords<'_> {
        InWords { op: self, names }
    }
}

/// Where operands are written to.
struct Sink<'a, 'b> {
    out: &'a mut fmt::Formatter<'b>,
    names: Option<&'a dyn OpNames>,
}

impl Sink<'_, '_> {
    fn word(&mut self, word: impl Display) -> fmt::Result {
        write!(self.out, " {word}")
    }

    /// An id, or what `name` makes of it if there are names.
    fn id<T: Display + Copy>(&mut self, id: T, name: fn(&dyn OpNames, T) -> String) -> fmt::Result {
        match self.names {
            Some(names) => self.word(name(names, id)),
            None => self.word(id),
        }
    }
}

/// Operand words, the next one last.
struct Words<'a> {
    rest: Vec<&'a str>,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        self.rest.pop()
    }

    /// Takes the next word if it is this one.
    fn take(&mut self, word: &str) -> bool {
        let found = self.rest.last() == Some(&word);
        if found {
            self.rest.pop();
        }
        found
    }

    fn id<T>(&mut self, prefix: &str, make: fn(u32) -> T) -> Option<T> {
        self.next()?.strip_prefix(prefix)?.parse().ok().map(make)
    }
}

/// An operand of an operation. `field` is the name it has in [`Op`].
trait Operand: Sized {
    fn write(&self, field: &'static str, sink: &mut Sink<'_, '_>) -> fmt::Result;
    fn read(field: &'static str, words: &mut Words<'_>) -> Option<Self>;
    /// Some value, chosen by `pick(n)`, a number below `n`.
    #[cfg(test)]
    fn sample(pick: &mut dyn FnMut(u32) -> u32) -> Self;
}

macro_rules! number_operands {
    ($($type:ty),*) => {$(
        impl Operand for $type {
            fn write(&self, _: &'static str, sink: &mut Sink<'_, '_>) -> fmt::Result {
                sink.word(self)
            }
            fn read(_: &'static str, words: &mut Words<'_>) -> Option<Self> {
                words.next()?.parse().ok()
            }
            #[cfg(test)]
            #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, trivial_numeric_casts)]
            fn sample(pick: &mut dyn FnMut(u32) -> u32) -> Self {
                pick(u32::MAX) as Self
            }
        }
    )*};
}
number_operands!(u8, u16, u32, i32);

macro_rules! id_operands {
    ($($type:ident $prefix:literal $name:ident,)*) => {$(
        impl Operand for $type {
            fn write(&self, _: &'static str, sink: &mut Sink<'_, '_>) -> fmt::Result {
                sink.id(*self, |names, id| names.$name(id))
            }
            fn read(_: &'static str, words: &mut Words<'_>) -> Option<Self> {
                words.id($prefix, $type::new)
            }
            #[cfg(test)]
            fn sample(pick: &mut dyn FnMut(u32) -> u32) -> Self {
                Self::new(pick(u32::MAX))
            }
        }
    )*};
}
id_operands! {
    NameId "n" name,
    SlotId "l" slot,
    ObjectId "o" constant,
    InstId "i" target,
}

/// Flags that tell versions apart; not shown in words.
const LAYOUT_FLAGS: [&str; 6] = [
    "may_be_unbound",
    "pops_iterator",
    "pops_receiver",
    "pushes_bool",
    "mapping_or_null",
    "qualname",
];

/// A flag is its name, or nothing.
impl Operand for bool {
    fn write(&self, field: &'static str, sink: &mut Sink<'_, '_>) -> fmt::Result {
        let hidden = sink.names.is_some() && LAYOUT_FLAGS.contains(&field);
        if *self && !hidden { sink.word(field) } else { Ok(()) }
    }
    fn read(field: &'static str, words: &mut Words<'_>) -> Option<Self> {
        Some(words.take(field))
    }
    #[cfg(test)]
    fn sample(pick: &mut dyn FnMut(u32) -> u32) -> Self {
        pick(2) == 1
    }
}

macro_rules! word_operands {
    ($($type:ident { $($variant:ident $word:literal,)* })*) => {$(
        impl Operand for $type {
            fn write(&self, _: &'static str, sink: &mut Sink<'_, '_>) -> fmt::Result {
                sink.word(match self { $(Self::$variant => $word,)* })
            }
            fn read(_: &'static str, words: &mut Words<'_>) -> Option<Self> {
                match words.next()? { $($word => Some(Self::$variant),)* _ => None }
            }
            #[cfg(test)]
            fn sample(pick: &mut dyn FnMut(u32) -> u32) -> Self {
                let all = [$(Self::$variant,)*];
                all[pick(u32::try_from(all.len()).unwrap()) as usize]
            }
        }
    )*};
}
word_operands! {
    CommonConstant {
        None "None", True "True", False "False", MinusOne "-1", EmptyStr "''", AssertionError "AssertionError",
        NotImplementedError "NotImplementedError", Tuple "tuple", List "list", Set "set", All "all", Any "any",
    }
    UnaryOp { Negative "-", Positive "+", Invert "~", Not "not", ToBool "bool", }
    BinaryOp {
        Add "+", And "&", FloorDivide "//", LeftShift "<<", MatrixMultiply "@", Multiply "*", Remainder "%", Or "|",
        Power "**", RightShift ">>", Subtract "-", TrueDivide "/", Xor "^",
    }
    CompareOp { Less "<", LessEqual "<=", Equal "==", NotEqual "!=", Greater ">", GreaterEqual ">=", }
    ResumeKind {
        Start "start", AfterYield "after-yield", AfterYieldFrom "after-yield-from", AfterAwait "after-await",
    }
    SpecialMethod {
        Enter "__enter__", Exit "__exit__", AsyncEnter "__aenter__", AsyncExit "__aexit__",
    }
    FunctionPart {
        Defaults "defaults", KeywordDefaults "keyword-defaults", Annotations "annotations", Closure "closure",
        Annotate "annotate",
    }
    Conversion { Str "str", Repr "repr", Ascii "ascii", }
    Intrinsic {
        Print "print", ImportStar "import-star", StopIterationError "stop-iteration-error",
        AsyncGenWrap "async-gen-wrap", ListToTuple "list-to-tuple", TypeVar "type-var", ParamSpec "param-spec",
        TypeVarTuple "type-var-tuple", SubscriptGeneric "subscript-generic", TypeAlias "type-alias",
        PrepReraiseStar "prep-reraise-star", TypeVarWithBound "type-var-with-bound",
        TypeVarWithConstraints "type-var-with-constraints", SetFunctionTypeParams "set-function-type-params",
        SetTypeParamDefault "set-type-param-default",
    }
}

impl Operand for Option<Conversion> {
    fn write(&self, field: &'static str, sink: &mut Sink<'_, '_>) -> fmt::Result {
        self.map_or(Ok(()), |conversion| conversion.write(field, sink))
    }
    fn read(field: &'static str, words: &mut Words<'_>) -> Option<Self> {
        let is_conversion = words
            .rest
            .last()
            .is_some_and(|word| matches!(*word, "str" | "repr" | "ascii"));
        if is_conversion {
            Conversion::read(field, words).map(Some)
        } else {
            Some(None)
        }
    }
    #[cfg(test)]
    fn sample(pick: &mut dyn FnMut(u32) -> u32) -> Self {
        (pick(2) == 1).then(|| Conversion::sample(pick))
    }
}

impl Operand for Test {
    fn write(&self, _: &'static str, sink: &mut Sink<'_, '_>) -> fmt::Result {
        sink.word(match self {
            Self::Truth(true) => "if-true",
            Self::Truth(false) => "if-false",
            Self::IsNone(true) => "if-none",
            Self::IsNone(false) => "if-not-none",
        })
    }
    fn read(_: &'static str, words: &mut Words<'_>) -> Option<Self> {
        Some(match words.next()? {
            "if-true" => Self::Truth(true),
            "if-false" => Self::Truth(false),
            "if-none" => Self::IsNone(true),
            "if-not-none" => Self::IsNone(false),
            _ => return None,
        })
    }
    #[cfg(test)]
    fn sample(pick: &mut dyn FnMut(u32) -> u32) -> Self {
        let flag = pick(2) == 1;
        if pick(2) == 1 {
            Self::Truth(flag)
        } else {
            Self::IsNone(flag)
        }
    }
}

impl Operand for Keep {
    fn write(&self, _: &'static str, sink: &mut Sink<'_, '_>) -> fmt::Result {
        matches!(self, Self::WhenJumping).write("or-pop", sink)
    }
    fn read(_: &'static str, words: &mut Words<'_>) -> Option<Self> {
        Some(if words.take("or-pop") {
            Self::WhenJumping
        } else {
            Self::Never
        })
    }
    #[cfg(test)]
    fn sample(pick: &mut dyn FnMut(u32) -> u32) -> Self {
        if pick(2) == 1 { Self::WhenJumping } else { Self::Never }
    }
}

impl Operand for KeywordNames {
    fn write(&self, _: &'static str, sink: &mut Sink<'_, '_>) -> fmt::Result {
        match (*self, sink.names) {
            (Self::None, _) => Ok(()),
            (Self::OnStack, _) => sink.word("keywords"),
            (Self::Constant(object), None) => sink.word(format_args!("keywords={object}")),
            (Self::Constant(object), Some(names)) => sink.word(format_args!("keywords={}", names.constant(object))),
        }
    }
    fn read(_: &'static str, words: &mut Words<'_>) -> Option<Self> {
        if words.take("keywords") {
            return Some(Self::OnStack);
        }
        if words.rest.last().is_some_and(|word| word.starts_with("keywords=")) {
            return words.id("keywords=o", ObjectId::new).map(Self::Constant);
        }
        Some(Self::None)
    }
    #[cfg(test)]
    fn sample(pick: &mut dyn FnMut(u32) -> u32) -> Self {
        match pick(3) {
            0 => Self::None,
            1 => Self::OnStack,
            _ => Self::Constant(ObjectId::sample(pick)),
        }
    }
}

/// Not shown in words: a reader of one version sees the same everywhere.
impl Operand for CallLayout {
    fn write(&self, _: &'static str, sink: &mut Sink<'_, '_>) -> fmt::Result {
        if sink.names.is_some() {
            return Ok(());
        }
        sink.word(match self {
            Self::Callable => "callable",
            Self::NullBelow => "null-below",
            Self::NullAbove => "null-above",
        })
    }
    fn read(_: &'static str, words: &mut Words<'_>) -> Option<Self> {
        Some(match words.next()? {
            "callable" => Self::Callable,
            "null-below" => Self::NullBelow,
            "null-above" => Self::NullAbove,
            _ => return None,
        })
    }
    #[cfg(test)]
    fn sample(pick: &mut dyn FnMut(u32) -> u32) -> Self {
        [Self::Callable, Self::NullBelow, Self::NullAbove][pick(3) as usize]
    }
}

macro_rules! function_parts {
    ($($field:ident),*) => {
        impl Operand for FunctionParts {
            fn write(&self, _: &'static str, sink: &mut Sink<'_, '_>) -> fmt::Result {
                $(self.$field.write(stringify!($field), sink)?;)*
                Ok(())
            }
            fn read(_: &'static str, words: &mut Words<'_>) -> Option<Self> {
                Some(Self { $($field: Operand::read(stringify!($field), words)?),* })
            }
            #[cfg(test)]
            fn sample(pick: &mut dyn FnMut(u32) -> u32) -> Self {
                Self { $($field: Operand::sample(pick)),* }
            }
        }
    };
}
function_parts!(defaults, keyword_defaults, annotations, closure, qualname);

/// Writes and reads every variant of [`Op`]; a variant that is missing here does not compile.
macro_rules! op_forms {
    ($($variant:ident $(($item:ident))? $({ $($field:ident),* })?,)*) => {
        impl Op {
            /// The name of the operation, without operands.
            #[must_use]
            pub const fn mnemonic(self) -> &'static str {
                match self { $(Self::$variant { .. } => stringify!($variant),)* }
            }

            fn write(self, sink: &mut Sink<'_, '_>) -> fmt::Result {
                sink.out.write_str(self.mnemonic())?;
                match self {
                    $(Self::$variant $(($item))? $({ $($field),* })? => {
                        $($item.write(stringify!($item), sink)?;)?
                        $($($field.write(stringify!($field), sink)?;)*)?
                    })*
                }
                Ok(())
            }

            fn read(mnemonic: &str, words: &mut Words<'_>) -> Option<Self> {
                $(if mnemonic == stringify!($variant) {
                    return Some(Self::$variant
                        $((Operand::read(stringify!($item), words)?))?
                        $({ $($field: Operand::read(stringify!($field), words)?),* })?);
                })*
                None
            }

            /// Every variant once, with some operands.
            #[cfg(test)]
            pub(crate) fn samples(pick: &mut dyn FnMut(u32) -> u32) -> Vec<Self> {
                vec![$(Self::$variant
                    $(({ stringify!($item); Operand::sample(pick) }))?
                    $({ $($field: Operand::sample(pick)),* })?,)*]
            }
        }
    };
}

op_forms! {
    Nop,
    Pop,
    Copy { depth },
    Swap { depth },
    Rotate { depth },
    PushNull,
    Const(constant),
    SmallInt(value),
    CommonConst(constant),
    LoadBuildClass,
    LoadLocal { slot, may_be_unbound },
    LoadLocalAndClear(slot),
    StoreLocal(slot),
    DeleteLocal(slot),
    MakeCell(slot),
    LoadCell(slot),
    LoadDeref(slot),
    StoreDeref(slot),
    DeleteDeref(slot),
    CopyFreeVars,
    LoadClassDeref(slot),
    LoadFromDictOrDeref(slot),
    LoadFromDictOrGlobals(name),
    LoadLocals,
    LoadName(name),
    StoreName(name),
    DeleteName(name),
    LoadGlobal(name),
    StoreGlobal(name),
    DeleteGlobal(name),
    LoadAttr(name),
    LoadMethod(name),
    LoadSuperAttr { name, two_arguments },
    LoadSuperMethod { name, two_arguments },
    StoreAttr(name),
    DeleteAttr(name),
    LoadItem,
    StoreItem,
    DeleteItem,
    LoadSlice,
    StoreSlice,
    Unary(op),
    Binary { op, in_place },
    Compare { op, to_bool },
    Is { invert },
    Contains { invert },
    BuildTuple(count),
    BuildList(count),
    BuildSet(count),
    BuildMap(pairs),
    BuildConstKeyMap(count),
    BuildString(count),
    BuildSlice(count),
    BuildTemplate,
    BuildInterpolation { format, conversion },
    ListAppend { depth },
    SetAdd { depth },
    MapAdd { depth },
    ListExtend { depth },
    SetUpdate { depth },
    DictUpdate { depth },
    DictMerge { depth },
    FormatValue { conversion, spec },
    Convert(conversion),
    UnpackSequence(count),
    UnpackStar { before, after },
    GetIter,
    GetYieldFromIter,
    ForIter { exhausted, pops_iterator },
    EndFor,
    GetAsyncIter,
    GetAsyncNext,
    EndAsyncFor,
    GetAwaitable,
    GetLen,
    MatchMapping,
    MatchSequence,
    MatchKeys { pushes_bool },
    MatchClass { positional, pushes_bool },
    CopyDictWithoutKeys,
    Call { argc, keywords, layout },
    CallStar { mapping, mapping_or_null, layout },
    MakeFunction(parts),
    SetFunctionPart(part),
    ImportName(name),
    ImportFrom(name),
    Intrinsic(intrinsic),
    SetupAnnotations,
    Jump { target },
    Branch { test, keep, target },
    BranchNotExceptionMatch { target },
    Return,
    ReturnGenerator,
    Resume(kind),
    Yield,
    Send { exhausted, pops_receiver },
    YieldFrom,
    EndSend,
    CleanupThrow,
    Raise(count),
    Reraise { lasti },
    PushExcInfo,
    PopExcept,
    CheckExceptionMatch,
    CheckGroupMatch,
    EnterContext,
    EnterAsyncContext,
    LoadSpecial(method),
    WithExceptStart,
    SetupBlock,
    PopBlock,
    Unsupported(code),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    struct Names;

    impl OpNames for Names {
        fn name(&self, id: NameId) -> String {
            format!("name{}", id.raw())
        }
        fn slot(&self, id: SlotId) -> String {
            format!("slot{}", id.raw())
        }
        fn constant(&self, id: ObjectId) -> String {
            format!("constant{}", id.raw())
        }
        fn target(&self, id: InstId) -> String {
            format!("to {}", id.raw())
        }
    }

    #[test]
    fn texts_read_well() {
        let call = Op::Call {
            argc: 2,
            keywords: KeywordNames::None,
            layout: CallLayout::NullBelow,
        };
        assert_eq!(call.to_string(), "Call 2 null-below");
        assert_eq!(call.in_words(&Names).to_string(), "Call 2");
        assert_eq!(
            Op::StoreLocal(SlotId::new(3)).in_words(&Names).to_string(),
            "StoreLocal slot3"
        );
        assert_eq!(Op::EnterContext.to_string(), "EnterContext");
        let branch = Op::Branch {
            test: Test::Truth(false),
            keep: Keep::Never,
            target: InstId::new(7),
        };
        assert_eq!(branch.to_string(), "Branch if-false i7");
        assert_eq!(branch.in_words(&Names).to_string(), "Branch if-false to 7");
        assert_eq!(
            Op::Binary {
                op: BinaryOp::Add,
                in_place: true
            }
            .to_string(),
            "Binary + in_place"
        );
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "Fly",
            "Pop 1",
            "Copy",
            "Copy x",
            "StoreLocal n1",
            "Call 2",
            "Call 2 null-below x",
            "Copy  1",
        ] {
            assert_eq!(text.parse::<Op>(), Err(OpTextError { text: text.to_owned() }));
        }
    }

    #[test]
    fn mnemonics_differ() {
        let all = Op::samples(&mut |_| 0);
        let distinct: BTreeSet<&str> = all.iter().map(|op| op.mnemonic()).collect();
        assert_eq!(distinct.len(), all.len());
    }

    proptest! {
        #[test]
        fn a_text_reads_back_as_its_operation(seeds in prop::collection::vec(any::<u32>(), 64)) {
            let mut at = 0;
            let mut pick = |below: u32| {
                at += 1;
                seeds[at % seeds.len()] % below
            };
            for op in Op::samples(&mut pick) {
                prop_assert_eq!(op.to_string().parse::<Op>(), Ok(op));
            }
        }
    }
}
