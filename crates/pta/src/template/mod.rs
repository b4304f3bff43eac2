//! Points-to constraints of one code object, generated once and instantiated per activation.
//!
//! ```python
//! def make(cb):          # cell `cb` is an object of its own
//!     return lambda: cb()
//! ```
//! Vocabulary: a *template* numbers its variables (*locals*) from zero; an *activation* is a (code object, context) pair
//! with a base offset, so `node = base + local`. An [`Operation`] becomes a *site* of each activation: the solver
//! subscribes it to the growth of its operands. Everything static (copies, constants, displays, function objects) has no
//! site. See Andersen (1994), "Program analysis and specialization for the C programming language".

use crate::ids::CodeId;
use hognose_base::Symbol;
use hognose_ir::{BinaryOp, CompareOp, InstId, SlotId, UnaryOp};
use std::ops::Range;

/// A variable of a template.
pub(crate) type Local = u32;

/// No variable.
pub(crate) const NO_LOCAL: Local = u32::MAX;
/// What the code returns.
pub(crate) const RETURN: Local = 0;
/// The exceptions that leave the code.
pub(crate) const RAISED: Local = 1;
/// What a generator yields.
pub(crate) const YIELDED: Local = 2;
/// What is sent into a generator.
pub(crate) const SENT: Local = 3;
/// First local that is not one of the above.
pub(crate) const FIRST_FREE_LOCAL: Local = 4;

/// A constant as an abstract object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Constant {
    /// `None`
    None,
    /// `True` or `False`: not told apart.
    Bool,
    /// An integer that may be a key.
    Int(i32),
    /// Any other integer.
    BigInt,
    /// A float.
    Float,
    /// A complex number.
    Complex,
    /// Bytes.
    Bytes,
    /// A string that occurs somewhere as a name or key.
    Name(Symbol),
    /// Any other string.
    Str,
    /// `...`
    Ellipsis,
    /// A slice.
    Slice,
    /// A tuple, by its place among the tuples of the template.
    Tuple(u32),
    /// A frozen set, likewise.
    FrozenSet(u32),
    /// `NotImplementedError`, `AssertionError` and other builtins that opcodes name.
    Builtin(&'static str),
}

impl Constant {
    /// Whether it is an immutable scalar, on which operators call no method of the program.
    #[must_use]
    pub(crate) const fn is_scalar(self) -> bool {
        !matches!(
            self,
            Self::Tuple(_) | Self::FrozenSet(_) | Self::Builtin(_) | Self::Slice
        )
    }
}

/// A subscript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// A constant string.
    Str(Symbol),
    /// A constant integer.
    Int(i32),
    /// The value of a variable.
    Node(Local),
    /// Not known (or not told apart).
    Any,
}

impl Key {
    /// The subscript that a constant is.
    pub(crate) const fn of(constant: Constant) -> Self {
        match constant {
            Constant::Name(symbol) => Self::Str(symbol),
            Constant::Int(value) => Self::Int(value),
            _ => Self::Any,
        }
    }
}

/// How the callee of a call is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callee {
    /// A value, with the receiver that lies beside it on the stack or [`NO_LOCAL`].
    Value(Local),
    /// An attribute whose only use is this call.
    Attribute {
        /// Its holder.
        base: Local,
        /// Its name.
        name: Symbol,
        /// Looked up on the type only (special methods).
        special: bool,
    },
    /// `super().name(...)` as one operation (3.12+).
    Super {
        /// The value of the name `super`.
        callable: Local,
        /// The class argument.
        class: Local,
        /// The receiver argument.
        receiver: Local,
        /// The attribute.
        name: Symbol,
    },
}

/// The arguments of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// Positional arguments.
    pub positional: Vec<Local>,
    /// Keyword arguments in order.
    pub keywords: Vec<(Symbol, Local)>,
    /// Iterables spread into positional arguments, behind `positional`.
    pub star: Vec<Local>,
    /// Mappings spread into keyword arguments.
    pub mappings: Vec<Local>,
}

/// An operation that the solver reacts to.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub(crate) enum Operation {
    /// `base.name`
    LoadAttribute {
        base: Local,
        name: Symbol,
        result: Local,
        special: bool,
    },
    /// `super().name` not called at once (3.12+).
    LoadSuper {
        callable: Local,
        class: Local,
        receiver: Local,
        name: Symbol,
        result: Local,
    },
    /// `base.name = value`
    StoreAttribute { base: Local, name: Symbol, value: Local },
    /// `del base.name`
    DeleteAttribute { base: Local, name: Symbol },
    /// A call; `call` indexes [`Template::calls`].
    Call { callee: Callee, call: u32, result: Local },
    /// A class statement.
    Class {
        body: CodeId,
        function: Local,
        call: u32,
        result: Local,
    },
    /// `base[key]`
    LoadItem { base: Local, key: Key, result: Local },
    /// `base[key] = value`
    StoreItem { base: Local, key: Key, value: Local },
    /// `del base[key]`
    DeleteItem { base: Local, key: Key },
    /// `left op right`
    Binary {
        op: BinaryOp,
        in_place: bool,
        left: Local,
        right: Local,
        result: Local,
    },
    /// `left op right`
    Compare {
        op: CompareOp,
        left: Local,
        right: Local,
        result: Local,
    },
    /// `op operand`
    Unary { op: UnaryOp, operand: Local, result: Local },
    /// The truth of a value decides a branch.
    Truth { operand: Local },
    /// `item in container`
    Contains { container: Local, item: Local },
    /// A field of an f-string.
    Format {
        operand: Local,
        conversion: Option<hognose_ir::Conversion>,
    },
    /// `"..." % values` of a constant string.
    Interpolate {
        values: Local,
        conversions: Range<u32>,
        result: Local,
    },
    /// A key or item is hashed, and compared with those of a container.
    Hash { operand: Local, container: Local },
    /// `iter(iterable)`
    Iterate { iterable: Local, result: Local },
    /// `next(iterator)`
    Next { iterator: Local, result: Local },
    /// `aiter(iterable)`
    AsyncIterate { iterable: Local, result: Local },
    /// `anext(iterator)`
    AsyncNext { iterator: Local, result: Local },
    /// `await`: the iterator of an awaitable.
    Await { awaitable: Local, result: Local },
    /// `yield from` and the loop of `await`: what the delegate yields is yielded, its return value is the result.
    Delegate {
        receiver: Local,
        sent: Local,
        result: Local,
    },
    /// Unpacking into `targets`, with a star at position `star` if any.
    Unpack {
        iterable: Local,
        iterator: Local,
        item: Local,
        targets: Range<u32>,
        star: Option<u32>,
    },
    /// The elements of a mapping are added to another.
    CopyItems { from: Local, to: Local },
    /// `from module import name`
    ImportFrom { module: Local, name: Symbol, result: Local },
    /// `from module import *`
    ImportStar { module: Local },
    /// The contents of a cell that comes with the closure.
    LoadCell { cell: Local, result: Local },
    /// A store to such a cell.
    StoreCell { cell: Local, value: Local },
    /// `raise value`
    Raise { value: Local },
    /// The exception as a handler of this class sees it.
    Catch {
        exception: Local,
        class: Local,
        result: Local,
        /// Of `except*`, which sees a group of what it catches.
        group: bool,
    },
    /// The value where it is no instance of a class.
    NarrowOut { value: Local, class: Local, result: Local },
    /// The value where it is not None.
    NotNone { value: Local, result: Local },
    /// The value where it is None.
    OnlyNone { value: Local, result: Local },
    /// The value where it is an instance of a class.
    Narrow { value: Local, class: Local, result: Local },
    /// A class pattern: the attributes of the subject go into a tuple.
    MatchClass {
        subject: Local,
        class: Local,
        positional: u32,
        names: Range<u32>,
        targets: Range<u32>,
    },
    /// A mapping pattern: the values go into a tuple.
    MatchKeys {
        subject: Local,
        keys: Range<u32>,
        targets: Range<u32>,
    },
    /// Something that is not modelled: its result carries the reason.
    Unmodelled { result: Local },
}

/// A function object made by the code.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FunctionDef {
    /// Its code.
    pub code: CodeId,
    /// Where it goes.
    pub result: Local,
    /// Defaults of the last positional parameters.
    pub defaults: Vec<Local>,
    /// A value with the defaults where they are not a display.
    pub defaults_value: Local,
    /// Keyword-only defaults.
    pub keyword_defaults: Vec<(Symbol, Local)>,
    /// The cells of its closure, in the order of its free variables.
    pub closure: Vec<CellSource>,
    /// The instruction.
    pub inst: InstId,
}

/// A cell handed to an inner function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellSource {
    /// A cell of this code.
    Own(SlotId),
    /// A cell of this code's own closure: the local that holds it.
    Free(Local),
    /// Not known.
    Unknown,
}

/// A container display or another object that the code allocates unconditionally where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Display {
    /// Its class, by its name among the builtins.
    pub class: &'static str,
    /// Where it goes.
    pub result: Local,
    /// Elements by key; values may be [`NO_LOCAL`].
    pub elements: Vec<(Key, Local)>,
    /// For mappings: keys that are variables.
    pub keys: Vec<Local>,
    /// Constant keys of a mapping.
    pub constant_keys: Vec<Constant>,
    /// The instruction that allocates it.
    pub inst: InstId,
    /// Tells several objects of one instruction apart.
    pub ordinal: u8,
}

/// A name of a module or class namespace that the body itself binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameStore {
    /// The name.
    pub name: Symbol,
    /// The value.
    pub value: Local,
}

/// A read of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameLoad {
    /// The name.
    pub name: Symbol,
    /// Where the value goes.
    pub result: Local,
    /// Whether the namespace of the body itself is asked first (module and class bodies).
    pub own: bool,
    /// Whether globals and builtins are asked (the own namespace may lack it).
    pub outer: bool,
}

/// An import whose module is resolved when the template is instantiated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImportDef {
    /// Dots of a relative import.
    pub level: u32,
    /// The name in the statement.
    pub name: Symbol,
    /// The names of a `from` import; `None` for a plain import.
    pub from: Option<Vec<Symbol>>,
    /// The module object.
    pub result: Local,
    /// The instruction.
    pub inst: InstId,
}

/// A load of an attribute or item that certainly reads one of some stores of the same body (see
/// [`hognose_ir::StrongLoads`]), if its receiver customises nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forward {
    /// The operation that loads.
    pub operation: u32,
    /// The instruction that loads; of a method call, not the call.
    pub load: InstId,
    /// What was stored.
    pub value: Local,
}

/// The constraints of one code object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Template {
    /// Number of locals.
    pub locals: u32,
    /// Local of each SSA value, or [`NO_LOCAL`].
    pub value_locals: Vec<Local>,
    /// Locals of the parameters, in signature order.
    pub parameters: Vec<Local>,
    /// `(from, to)` copies.
    pub copies: Vec<(Local, Local)>,
    /// Constants that are somebody's operand.
    pub constants: Vec<(Constant, Local)>,
    /// Tuple and frozenset constants.
    pub tuples: Vec<Vec<Constant>>,
    /// Operations; each becomes a site.
    pub operations: Vec<Operation>,
    /// The instruction of each operation.
    pub operation_insts: Vec<InstId>,
    /// Where exceptions of each operation go.
    pub operation_raises: Vec<Local>,
    /// Arguments of calls.
    pub calls: Vec<Arguments>,
    /// Pool for variable-length operands.
    pub pool: Vec<Local>,
    /// Pool for conversions of format strings.
    pub conversions: Vec<formats::Conversion>,
    /// Pool for names of patterns.
    pub keys: Vec<Key>,
    /// Function objects.
    pub functions: Vec<FunctionDef>,
    /// Displays.
    pub displays: Vec<Display>,
    /// Stores to the own namespace (module and class bodies).
    pub name_stores: Vec<NameStore>,
    /// Stores to globals from function and class bodies.
    pub global_stores: Vec<NameStore>,
    /// Reads of names.
    pub name_loads: Vec<NameLoad>,
    /// Imports.
    pub imports: Vec<ImportDef>,
    /// Own cells: slot, local that holds the contents' stores (own), read by others through the cell object.
    pub cell_stores: Vec<(SlotId, Local)>,
    /// Reads of an own cell that others may write: `(slot, result)`.
    pub cell_loads: Vec<(SlotId, Local)>,
    /// Free variables: slot and the local that holds the cell.
    pub free_cells: Vec<(SlotId, Local)>,
    /// Cell sources that the code itself passes on (a class body's `__classcell__`).
    pub cell_values: Vec<(SlotId, Local)>,
    /// Names bound at every normal exit of a module or class body.
    pub definite_names: Vec<Symbol>,
    /// The instruction that makes sure there is an `__annotations__` mapping in the namespace.
    pub setup_annotations: Option<InstId>,
    /// Names of a class body whose value is a property, sorted.
    pub properties: Vec<Symbol>,
    /// Calls that have a function or class made by this code among their arguments, sorted.
    pub applications: Vec<u32>,
    /// Loads that read what stores of the same body left, by operation.
    pub forwards: Vec<Forward>,
    /// What is thrown into a generator: it is raised at every suspension.
    pub thrown: Option<Local>,
    /// The first operation that raises something.
    pub first_raise: Option<u32>,
    /// Whether the code could not be lifted.
    pub is_empty: bool,
}

/// Locals and operations that a library model may have and still be cloned per call.
const SMALL_LOCALS: u32 = 160;
const SMALL_OPERATIONS: usize = 40;

impl Template {
    /// Whether a call does nothing but return what does not depend on its arguments: then no argument need be bound, and
    /// one activation serves every call.
    #[must_use]
    pub(crate) fn is_constant(&self) -> bool {
        self.operations.is_empty()
            && self.displays.is_empty()
            && self.functions.is_empty()
            && self.global_stores.is_empty()
            && self.cell_stores.is_empty()
            && self
                .parameters
                .iter()
                .all(|&parameter| self.copies.iter().all(|&(from, _)| from != parameter))
    }
    /// Whether a library model with this template is cloned for each call.
    #[must_use]
    pub(crate) fn is_small(&self) -> bool {
        self.locals <= SMALL_LOCALS && self.operations.len() <= SMALL_OPERATIONS
    }
}

mod build;
mod constants;
mod displays;
pub(crate) mod formats;
mod forwards;
mod functions;
mod instructions;
mod patterns;
mod protocols;

pub(crate) use build::{TemplateOptions, build_template};
use instructions::special_name;
