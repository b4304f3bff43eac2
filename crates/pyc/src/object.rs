//! The objects of one marshal stream: an arena that keeps the file's bytes and describes them.

use crate::PythonVersion;
use hognose_base::{Id, IndexVec, define_id};
use std::borrow::Cow;
use std::ops::Range;

define_id! {
    /// An object of one marshal stream.
    pub struct ObjectId = "o";
}
define_id! {
    /// A code object of one marshal stream: preorder, the module body is number 0, nested ones in order of constants.
    pub struct CodeIndex = "code";
}

/// A run of bytes of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bytes {
    /// Offset of the first byte.
    pub start: u32,
    /// Number of bytes.
    pub len: u32,
}

/// The members of a container: a run of the arena's child table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Items {
    /// First entry in the child table.
    pub start: u32,
    /// Number of entries.
    pub len: u32,
}

/// One marshalled object.
#[derive(Clone, Debug, PartialEq)]
pub enum Object {
    /// The NULL that ends dictionaries; never a constant.
    Null,
    /// `None`
    None,
    /// `True`
    True,
    /// `False`
    False,
    /// `...`
    Ellipsis,
    /// The `StopIteration` class, a relic of the format.
    StopIteration,
    /// An integer that fits in 64 bits.
    Int(i64),
    /// A larger integer: sign and 15-bit digits, least significant first, as in the stream.
    BigInt {
        /// Whether it is below zero.
        negative: bool,
        /// The digits.
        digits: Box<[u16]>,
    },
    /// A float by its bits, so that NaNs compare.
    Float(u64),
    /// A complex number by its bits.
    Complex(u64, u64),
    /// `bytes`
    Bytes(Bytes),
    /// `str`, WTF-8 (surrogates allowed) or Latin-1/ASCII as in the stream.
    Str(Bytes),
    /// `tuple`
    Tuple(Items),
    /// `list`
    List(Items),
    /// `set`
    Set(Items),
    /// `frozenset`
    FrozenSet(Items),
    /// `dict`: keys and values in turn.
    Dict(Items),
    /// `frozendict` (3.15): keys and values in turn.
    FrozenDict(Items),
    /// `slice` (3.14): start, stop, step.
    Slice([ObjectId; 3]),
    /// A code object.
    Code(CodeIndex),
}

impl Object {
    /// What the object is, in words with an article.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::None => "None",
            Self::True | Self::False => "a bool",
            Self::Ellipsis => "an ellipsis",
            Self::StopIteration => "StopIteration",
            Self::Int(_) | Self::BigInt { .. } => "an int",
            Self::Float(_) => "a float",
            Self::Complex(..) => "a complex",
            Self::Bytes(_) => "bytes",
            Self::Str(_) => "a str",
            Self::Tuple(_) => "a tuple",
            Self::List(_) => "a list",
            Self::Set(_) => "a set",
            Self::FrozenSet(_) => "a frozenset",
            Self::Dict(_) => "a dict",
            Self::FrozenDict(_) => "a frozendict",
            Self::Slice(_) => "a slice",
            Self::Code(_) => "a code object",
        }
    }
}

/// How a name of the frame is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LocalKind(pub u8);

impl LocalKind {
    /// Inlined comprehension variable (3.12+), hidden from `locals()`.
    pub const HIDDEN: u8 = 0x10;
    /// A plain local.
    pub const LOCAL: u8 = 0x20;
    /// A variable captured by inner code.
    pub const CELL: u8 = 0x40;
    /// A variable of an enclosing scope.
    pub const FREE: u8 = 0x80;

    /// Whether the slot holds a cell made by this code.
    #[must_use]
    pub const fn is_cell(self) -> bool {
        self.0 & Self::CELL != 0
    }
    /// Whether the slot holds a cell of the enclosing code.
    #[must_use]
    pub const fn is_free(self) -> bool {
        self.0 & Self::FREE != 0
    }
    /// Whether the slot is a plain local or an argument (possibly also a cell).
    #[must_use]
    pub const fn is_local(self) -> bool {
        self.0 & Self::LOCAL != 0
    }
    /// Whether the slot belongs to an inlined comprehension.
    #[must_use]
    pub const fn is_hidden(self) -> bool {
        self.0 & Self::HIDDEN != 0
    }
}

/// A name of the frame with its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameName {
    /// A `Str` object.
    pub name: ObjectId,
    /// How it is kept.
    pub kind: LocalKind,
}

/// A code object, with the fields of all layouts in one shape.
///
/// The frame's names are unified: one slot per name, locals first, then cells, then free variables, and an argument that
/// is also a cell has ONE slot with both kind bits, as CPython itself lays them out from 3.11 on. For 3.8 to 3.10 the
/// reader builds the same table, and [`CodeObject::deref_slots`] maps that version's cell numbering to it.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeObject {
    /// Number of positional parameters (positional-only ones included).
    pub argcount: u32,
    /// Number of positional-only parameters.
    pub posonlyargcount: u32,
    /// Number of keyword-only parameters.
    pub kwonlyargcount: u32,
    /// Size of the evaluation stack.
    pub stacksize: u32,
    /// `co_flags`
    pub flags: u32,
    /// `co_code`: wordcode, inline caches included.
    pub code: Bytes,
    /// `co_consts`
    pub consts: Items,
    /// `co_names`: each a `Str`.
    pub names: Items,
    /// The frame's names, one slot each.
    pub frame: Box<[FrameName]>,
    /// Slot of each cell number of `*_DEREF` and `LOAD_CLOSURE` (3.8 to 3.10; empty from 3.11 on, where the operand is
    /// the slot itself).
    pub deref_slots: Box<[u32]>,
    /// `co_filename`: a `Str`.
    pub filename: ObjectId,
    /// `co_name`: a `Str`.
    pub name: ObjectId,
    /// `co_qualname`: a `Str` (3.11+).
    pub qualname: Option<ObjectId>,
    /// `co_firstlineno`
    pub firstlineno: i32,
    /// `co_lnotab` (3.8, 3.9), `co_linetable` (3.10+).
    pub linetable: Bytes,
    /// `co_exceptiontable` (3.11+), else empty.
    pub exceptiontable: Bytes,
    /// Offset of the object in the file, for diagnostics.
    pub file_offset: u32,
    /// The code object whose constant this is.
    pub parent: Option<CodeIndex>,
}

impl CodeObject {
    /// Number of parameters: positional, keyword-only, `*args` and `**kwargs`. They are the first slots of the frame.
    #[must_use]
    pub const fn parameter_count(&self) -> u32 {
        let varargs = (self.flags & flags::VARARGS != 0) as u32;
        let varkeywords = (self.flags & flags::VARKEYWORDS != 0) as u32;
        self.argcount + self.kwonlyargcount + varargs + varkeywords
    }
    /// `co_varnames`: names of parameters and locals.
    pub fn varnames(&self) -> impl Iterator<Item = ObjectId> {
        self.frame
            .iter()
            .filter(|slot| slot.kind.is_local())
            .map(|slot| slot.name)
    }
    /// `co_cellvars`
    pub fn cellvars(&self) -> impl Iterator<Item = ObjectId> {
        // Up to 3.10 cells that are arguments stand among the others by name, not by slot.
        let by_number = self
            .deref_slots
            .iter()
            .filter_map(|&slot| self.frame.get(slot as usize));
        let by_slot = if self.deref_slots.is_empty() { &*self.frame } else { &[] };
        by_number
            .chain(by_slot)
            .filter(|slot| slot.kind.is_cell())
            .map(|slot| slot.name)
    }
    /// `co_freevars`
    pub fn freevars(&self) -> impl Iterator<Item = ObjectId> {
        self.frame
            .iter()
            .filter(|slot| slot.kind.is_free())
            .map(|slot| slot.name)
    }
}

/// Bits of `co_flags`.
pub mod flags {
    /// Uses fast locals.
    pub const OPTIMIZED: u32 = 0x1;
    /// Has its own locals.
    pub const NEWLOCALS: u32 = 0x2;
    /// Has `*args`.
    pub const VARARGS: u32 = 0x4;
    /// Has `**kwargs`.
    pub const VARKEYWORDS: u32 = 0x8;
    /// Is nested in a function.
    pub const NESTED: u32 = 0x10;
    /// A generator.
    pub const GENERATOR: u32 = 0x20;
    /// A coroutine.
    pub const COROUTINE: u32 = 0x80;
    /// A generator that can be awaited (`types.coroutine`).
    pub const ITERABLE_COROUTINE: u32 = 0x100;
    /// An asynchronous generator.
    pub const ASYNC_GENERATOR: u32 = 0x200;
}

/// All objects of one marshal stream, with the bytes they describe.
#[derive(Clone, Debug)]
pub struct Objects {
    pub(crate) data: Box<[u8]>,
    pub(crate) objects: IndexVec<ObjectId, Object>,
    pub(crate) children: Vec<ObjectId>,
    pub(crate) codes: IndexVec<CodeIndex, CodeObject>,
}

impl Objects {
    /// The object.
    #[must_use]
    pub fn get(&self, id: ObjectId) -> &Object {
        &self.objects[id]
    }
    /// All objects.
    #[must_use]
    pub const fn objects(&self) -> &IndexVec<ObjectId, Object> {
        &self.objects
    }
    /// All code objects.
    #[must_use]
    pub const fn codes(&self) -> &IndexVec<CodeIndex, CodeObject> {
        &self.codes
    }
    /// The code object.
    #[must_use]
    pub fn code(&self, index: CodeIndex) -> &CodeObject {
        &self.codes[index]
    }
    /// The bytes of a run.
    #[must_use]
    pub fn bytes(&self, bytes: Bytes) -> &[u8] {
        let range: Range<usize> = bytes.start as usize..(bytes.start + bytes.len) as usize;
        &self.data[range]
    }
    /// The members of a container.
    #[must_use]
    pub fn items(&self, items: Items) -> &[ObjectId] {
        &self.children[items.start as usize..(items.start + items.len) as usize]
    }
    /// The text of a `Str` object, lone surrogates replaced; `None` if it is something else.
    #[must_use]
    pub fn text(&self, id: ObjectId) -> Option<Cow<'_, str>> {
        match self.get(id) {
            Object::Str(bytes) => Some(String::from_utf8_lossy(self.bytes(*bytes))),
            _ => None,
        }
    }
    /// The code objects that `index` makes, in the order of its constants (each once, with its first maker).
    pub fn inner_codes(&self, index: CodeIndex) -> impl Iterator<Item = CodeIndex> {
        // In preorder the descendants of a code object stand right behind it.
        let behind = self.codes.as_slice().iter().zip(0_u32..).skip(index.raw() as usize + 1);
        behind
            .take_while(move |(code, _)| code.parent.is_some_and(|parent| parent >= index))
            .filter(move |(code, _)| code.parent == Some(index))
            .map(|(_, number)| CodeIndex::new(number))
    }
    /// Number of code objects.
    #[must_use]
    pub fn code_count(&self) -> usize {
        self.codes.next_id().index()
    }
}

/// A compiled module: what a `.pyc` file or a compiler gives.
#[derive(Clone, Debug)]
pub struct CompiledModule {
    /// The version whose layout and opcodes it uses.
    pub version: PythonVersion,
    /// The header, if it came from a `.pyc` file.
    pub header: Option<crate::PycHeader>,
    /// The objects; code object 0 is the root.
    pub objects: Objects,
}
