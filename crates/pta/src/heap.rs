//! Abstract objects, their fields, and symbolic external values.

use crate::ids::{ActId, ChainId, CodeId, ModuleId, NodeId, ObjId, SiteId};
use crate::python::intrinsics::Intrinsic;
use hognose_base::{IndexVec, Symbol};
use hognose_ir::{InstId, ItemKey, SlotId};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Where an object is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Allocation {
    /// By an operation of an activation.
    Site(SiteId),
    /// By a display or another static instruction of an activation; the number tells several of one instruction apart.
    Inst(ActId, InstId, u8),
    /// One object for the whole program (scalars, `None`).
    Singleton,
    /// A tuple constant of a code object.
    Constant(CodeId, u32),
    /// The `*args` (0) or `**kwargs` (1) object of an activation.
    Variadic(ActId, u8),
    /// What an unknown caller passes: an instance for a root.
    Entry,
    /// The `__dict__` of an object.
    Namespace(ObjId),
    /// The member of an enumeration under this name.
    Member(Symbol),
    /// Cut from a sequence.
    Slice(ObjId),
    /// An exception of a builtin or external class that an operation raised implicitly, as a handler sees it.
    Implicit(SiteId),
}

/// An abstract object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// A module of the program or of the models.
    Module(ModuleId),
    /// A function object: its code, the activation that made it, and where.
    Function(CodeId, ActId, InstId),
    /// A class object: its body and the activation that made it. Classes made by `type(...)` use the site.
    Class(CodeId, ActId),
    /// A class made by a call of `type` or of a metaclass.
    DynamicClass(SiteId),
    /// An instance of a class.
    Instance(ObjId, Allocation),
    /// A string that occurs as a name or key.
    Str(Symbol),
    /// An integer that may be a key.
    Int(i32),
    /// A bound method: function and receiver.
    Bound(ObjId, ObjId),
    /// A cell of an activation.
    Cell(ActId, SlotId),
    /// `super(class, receiver)`
    Super(ObjId, ObjId),
    /// A suspended generator, coroutine or asynchronous generator of an activation.
    Generator(ActId),
    /// The iterator of a builtin container.
    Iterator(ObjId),
    /// The awaitable that `anext` of an asynchronous generator gives.
    AsyncNext(ObjId),
    /// A symbolic external value.
    External(ChainId),
    /// A function of the reserved module, implemented by the engine.
    Intrinsic(Intrinsic),
}

/// A field of an object, packed into 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Field(u32);

impl Field {
    const TAG: u32 = 30;
    /// Stores to every attribute whose name is not known.
    pub const ANY_ATTRIBUTE: Self = Self(3 << Self::TAG);
    /// Elements stored under an unknown key.
    pub const ANY_IN: Self = Self((3 << Self::TAG) | 1);
    /// All elements.
    pub const ALL_OUT: Self = Self((3 << Self::TAG) | 2);
    /// Keys of a mapping.
    pub const KEYS: Self = Self((3 << Self::TAG) | 3);
    /// Contents of a cell.
    pub const CONTENTS: Self = Self((3 << Self::TAG) | 4);
    /// Contents of a cell as stored by code that does not own it.
    pub const FOREIGN_CONTENTS: Self = Self((3 << Self::TAG) | 5);
    /// A positional default of a function, by position from the last parameter.
    const DEFAULT: u32 = 1 << 20;
    /// Keyword-only default by parameter position.
    const KEYWORD_DEFAULT: u32 = 1 << 21;
    /// A name of a module as stored by other code.
    const FOREIGN: u32 = 1 << 29;

    /// An attribute.
    #[must_use]
    pub const fn attribute(name: Symbol) -> Self {
        Self(name.raw())
    }
    /// A name of a namespace as stored by code that does not own it.
    #[must_use]
    pub const fn foreign(name: Symbol) -> Self {
        Self((3 << Self::TAG) | Self::FOREIGN | name.raw())
    }
    /// A submodule of a package, as the import system binds it.
    #[must_use]
    pub const fn submodule(name: Symbol) -> Self {
        Self((3 << Self::TAG) | (1 << 28) | name.raw())
    }
    /// An element under a constant string.
    #[must_use]
    pub const fn str_key(name: Symbol) -> Self {
        Self((1 << Self::TAG) | name.raw())
    }
    /// An element under a constant integer.
    #[must_use]
    pub const fn int_key(key: i32) -> Self {
        #[allow(clippy::cast_sign_loss)]
        Self((2 << Self::TAG) | (key.wrapping_add(1 << 28) as u32 & ((1 << Self::TAG) - 1)))
    }
    /// The default of positional parameter `parameter`.
    #[must_use]
    pub const fn default(parameter: u32) -> Self {
        Self((3 << Self::TAG) | Self::DEFAULT | parameter)
    }
    /// The default of keyword-only parameter `parameter`.
    #[must_use]
    pub const fn keyword_default(parameter: u32) -> Self {
        Self((3 << Self::TAG) | Self::KEYWORD_DEFAULT | parameter)
    }
    /// An element under a constant key; `None` for a negative integer, which counts from the end.
    #[must_use]
    pub const fn of_key(key: ItemKey) -> Option<Self> {
        match key {
            ItemKey::Str(name) => Some(Self::str_key(name)),
            ItemKey::Int(key) if key >= 0 => Some(Self::int_key(key)),
            ItemKey::Int(_) => None,
        }
    }
    /// The attribute name, if it is an attribute.
    #[must_use]
    pub const fn as_attribute(self) -> Option<Symbol> {
        if self.0 >> Self::TAG == 0 {
            Some(Symbol::new(self.0))
        } else {
            None
        }
    }
    /// The string key, if it is one.
    #[must_use]
    pub const fn as_str_key(self) -> Option<Symbol> {
        if self.0 >> Self::TAG == 1 {
            Some(Symbol::new(self.0 & ((1 << Self::TAG) - 1)))
        } else {
            None
        }
    }
    /// The integer key, if it is one.
    #[must_use]
    pub const fn as_int_key(self) -> Option<i32> {
        #[allow(clippy::cast_possible_wrap)]
        if self.0 >> Self::TAG == 2 {
            Some((self.0 & ((1 << Self::TAG) - 1)) as i32 - (1 << 28))
        } else {
            None
        }
    }
    /// Whether it is an element under a constant key.
    #[must_use]
    pub const fn is_key(self) -> bool {
        matches!(self.0 >> Self::TAG, 1 | 2)
    }
    /// The packed number, for keys of tables.
    #[must_use]
    pub const fn raw(self) -> u32 {
        self.0
    }
}

/// One step of a symbolic external value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// `.name`
    Attribute(Symbol),
    /// `()`
    Call,
    /// `[...]`
    Item,
    /// An item of iterating it.
    Iterate,
    /// What `__enter__` gives.
    Enter,
    /// What awaiting it gives.
    Await,
    /// The result of an operator.
    Operator,
    /// Behind the limits: anything.
    Any,
}

/// A symbolic external value: an import path and what was done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Chain {
    /// The value the step was taken from; `None` for a module path.
    pub parent: Option<ChainId>,
    /// The step; for a module path its dotted name as an attribute step.
    pub step: Step,
    /// Steps so far.
    pub depth: u8,
    /// Attributes of the import path, which count as no steps.
    pub path: u8,
}

/// Attributes an import path may have before further ones count as steps.
const MAX_PATH: u8 = 8;

/// Steps a chain may have.
pub(crate) const MAX_STEPS: u8 = 6;
/// Chains with steps that a root may have; attributes of its import path are not counted. The design allows 4,096, but a
/// program that mixes its external values in one table then carries thousands of them everywhere.
pub(crate) const MAX_CHAINS_PER_ROOT: u32 = 96;

/// The table of objects, fields and chains.
#[derive(Debug, Default)]
pub struct Heap {
    objects: IndexSet<Object, FxBuildHasher>,
    slots: FxHashMap<(ObjId, Field), NodeId>,
    /// Key fields that exist on each object, in order of creation.
    pub(crate) keys: FxHashMap<ObjId, Vec<Field>>,
    chains: IndexSet<Chain, FxBuildHasher>,
    roots: IndexVec<ChainId, ChainId>,
    root_sizes: FxHashMap<ChainId, u32>,
    /// Chains that were cut at a limit.
    pub folded_chains: u64,
}

impl Heap {
    /// The id of an object, new if it was not known.
    pub fn object(&mut self, object: Object) -> ObjId {
        let (index, _) = self.objects.insert_full(object);
        <ObjId as hognose_base::Id>::from_index(index)
    }
    /// Makes room for so many fields, so that their table is not copied while it grows.
    pub(crate) fn reserve(&mut self, slots: usize) {
        self.slots.reserve(slots);
        self.objects.reserve(slots / 4);
    }
    /// The id of an object that exists.
    #[must_use]
    pub fn find(&self, object: &Object) -> Option<ObjId> {
        self.objects
            .get_index_of(object)
            .map(<ObjId as hognose_base::Id>::from_index)
    }
    /// What an object is.
    #[inline]
    #[must_use]
    pub fn get(&self, id: ObjId) -> Object {
        self.objects[id.raw() as usize]
    }
    /// Number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.objects.len()
    }
    /// Whether there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }
    /// The node of a field, if it exists.
    #[must_use]
    pub fn slot(&self, object: ObjId, field: Field) -> Option<NodeId> {
        self.slots.get(&(object, field)).copied()
    }
    pub(crate) fn add_slot(&mut self, object: ObjId, field: Field, node: NodeId) {
        self.slots.insert((object, field), node);
        if field.is_key() {
            self.keys.entry(object).or_default().push(field);
        }
    }
    /// Number of fields.
    #[must_use]
    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }
    /// All fields with their nodes, sorted by object and field.
    #[must_use]
    pub fn sorted_slots(&self) -> Vec<(ObjId, Field, NodeId)> {
        #[allow(clippy::iter_over_hash_type)]
        let mut slots: Vec<_> = self
            .slots
            .iter()
            .map(|(&(object, field), &node)| (object, field, node))
            .collect();
        slots.sort_unstable();
        slots
    }

    // ---- chains ----------------------------------------------------------------------------------------------------

    /// The chain of a module path.
    pub fn root_chain(&mut self, path: Symbol) -> ChainId {
        self.chain(
            Chain {
                parent: None,
                step: Step::Attribute(path),
                depth: 0,
                path: 0,
            },
            None,
        )
    }
    /// The chain one step on. Repeated steps fold; behind the limits a chain becomes `root.*`.
    pub fn extend_chain(&mut self, from: ChainId, step: Step) -> ChainId {
        let here = self.chain_at(from);
        if here.step == Step::Any || here.step == step {
            return from;
        }
        if let Some(earlier) = self.earlier(from, step) {
            return earlier;
        }
        let root = self.roots[from];
        let size = self.root_sizes.get(&root).copied().unwrap_or(0);
        let next = Chain {
            parent: Some(from),
            step,
            depth: here.depth + 1,
            path: here.path,
        };
        let known = self.chains.contains(&next);
        if !known && (here.depth >= MAX_STEPS || size >= MAX_CHAINS_PER_ROOT) {
            self.folded_chains += 1;
            return self.any_of_root(from);
        }
        self.chain(next, Some(root))
    }
    /// The chain `root.*`: anything that the root of a chain leads to.
    pub(crate) fn any_of_root(&mut self, chain: ChainId) -> ChainId {
        let root = self.roots[chain];
        self.chain(
            Chain {
                parent: Some(root),
                step: Step::Any,
                depth: MAX_STEPS,
                path: 0,
            },
            Some(root),
        )
    }
    /// The prefix of a chain that already ends in this attribute step: `x.parent.parent` is `x.parent`.
    fn earlier(&self, from: ChainId, step: Step) -> Option<ChainId> {
        if !matches!(step, Step::Attribute(_)) {
            return None;
        }
        let mut at = from;
        loop {
            let chain = self.chain_at(at);
            let parent = chain.parent?;
            if chain.step == step {
                return Some(at);
            }
            at = parent;
        }
    }
    /// The chain of an attribute of a module: part of the import path, so it counts as no step.
    pub fn import_chain(&mut self, from: ChainId, name: Symbol) -> ChainId {
        let here = self.chain_at(from);
        if here.depth > 0 || here.path >= MAX_PATH {
            return self.extend_chain(from, Step::Attribute(name));
        }
        let root = self.roots[from];
        self.chain(
            Chain {
                parent: Some(from),
                step: Step::Attribute(name),
                depth: 0,
                path: here.path + 1,
            },
            Some(root),
        )
    }
    fn chain(&mut self, chain: Chain, root: Option<ChainId>) -> ChainId {
        let (index, new) = self.chains.insert_full(chain);
        let id = <ChainId as hognose_base::Id>::from_index(index);
        if new {
            let root = root.unwrap_or(id);
            self.roots.push(root);
            *self.root_sizes.entry(root).or_insert(0) += u32::from(chain.depth > 0);
        }
        id
    }
    /// What a chain is.
    #[must_use]
    pub fn chain_at(&self, id: ChainId) -> Chain {
        self.chains[id.raw() as usize]
    }
    /// The dotted text of a chain: `sqlite3.connect().cursor`.
    #[must_use]
    pub fn chain_text(&self, id: ChainId, name: &dyn Fn(Symbol) -> String) -> String {
        let chain = self.chain_at(id);
        let Some(parent) = chain.parent else {
            return match chain.step {
                Step::Attribute(path) => name(path),
                _ => String::new(),
            };
        };
        let mut text = self.chain_text(parent, name);
        match chain.step {
            Step::Attribute(symbol) => {
                text.push('.');
                text.push_str(&name(symbol));
            }
            Step::Call => text.push_str("()"),
            Step::Item => text.push_str("[]"),
            Step::Iterate => text.push_str(".<item>"),
            Step::Enter => text.push_str(".<enter>"),
            Step::Await => text.push_str(".<await>"),
            Step::Operator => text.push_str(".<operator>"),
            Step::Any => text.push_str(".*"),
        }
        text
    }
}
