//! What the engine and the features say to each other: requests, tasks, questions.

use crate::engine::RequestId;
use crate::heap::Field;
use crate::ids::{ActId, ChainId, CodeId, ModuleId, NodeId, ObjId, SiteId};
use crate::python::intrinsics::NamedAccess;
use hognose_base::Symbol;
use std::hash::{Hash, Hasher};

/// How a call comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallKind {
    /// A call expression (decorators included).
    Call,
    /// A special method called by other syntax; its name.
    Protocol(Symbol),
    /// A property or descriptor read, written or deleted.
    Descriptor,
    /// `__new__` or `__init__` of a constructor call.
    Construct(Symbol),
}

/// Where the arguments of a request come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ArgumentSource {
    /// The call expression of the site.
    Site,
    /// The same without its first positional argument.
    SiteRest,
    /// Positional ones of `Engine::request_nodes`, and the keywords of the class statement but `metaclass`.
    Statement {
        /// The first of them.
        first: u32,
        /// How many there are.
        count: u32,
    },
    /// These of `Engine::request_nodes`, all positional.
    Nodes {
        /// The first of them.
        first: u32,
        /// How many there are.
        count: u32,
    },
}

/// A call to be made with every callee that arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) site: SiteId,
    pub(crate) arguments: ArgumentSource,
    pub(crate) result: NodeId,
    pub(crate) raises: NodeId,
    pub(crate) kind: CallKind,
}

/// What is done with an attribute that a look-up finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sink {
    /// It flows to a node.
    Value(NodeId),
    /// It is called.
    Call(RequestId),
    /// It is called with the class as first argument and not bound (`__new__`).
    New(RequestId),
}

/// How an attribute is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Lookup {
    /// As an attribute expression does.
    Normal,
    /// The same, at a load that reads what stores of the same body left: instances of classes that customise nothing give
    /// that instead of what their slot holds.
    Forwarded,
    /// On the type only: special methods.
    Special,
    /// As `object.__getattribute__` does, whatever the class overrides.
    Raw,
}

/// What is done for the objects that arrive at a node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Task {
    // ---- operations of the program
    LeftOperand {
        site: SiteId,
    },
    UnaryOperand {
        site: SiteId,
    },
    Truth {
        site: SiteId,
    },
    Container {
        site: SiteId,
    },
    Format {
        site: SiteId,
    },
    ItemBase {
        site: SiteId,
    },
    Iterate {
        site: SiteId,
        result: NodeId,
    },
    Next {
        site: SiteId,
        result: NodeId,
        raises: NodeId,
    },
    AsyncIterate {
        site: SiteId,
        result: NodeId,
    },
    AsyncNext {
        site: SiteId,
        result: NodeId,
    },
    Await {
        site: SiteId,
        result: NodeId,
    },
    Delegate {
        site: SiteId,
    },
    Unpack {
        site: SiteId,
    },
    ImportFrom {
        site: SiteId,
        name: Symbol,
        result: NodeId,
    },
    ImportStar {
        site: SiteId,
    },
    CellContents {
        result: NodeId,
    },
    CellStore {
        value: NodeId,
    },
    Raise {
        site: SiteId,
        raises: NodeId,
    },
    CatchClass {
        site: SiteId,
    },
    Pattern {
        site: SiteId,
    },
    MappingPattern {
        site: SiteId,
    },
    NarrowClass {
        site: SiteId,
    },
    // ---- calls and attributes
    /// Call it, with a receiver in front or [`NO_NODE`].
    Callee {
        request: RequestId,
        receiver: NodeId,
    },
    /// An attribute of each object.
    Attribute {
        name: Symbol,
        sink: Sink,
        site: SiteId,
        mode: Lookup,
    },
    /// An attribute of a class, found for these receivers.
    Member {
        sink: Sink,
        site: SiteId,
        receiver: NodeId,
        /// The class, if all receivers have the same.
        class: Option<ObjId>,
        through_class: bool,
    },
    /// Metaclasses through which an attribute of a class is looked up.
    MetaMember {
        class: ObjId,
        name: Symbol,
        sink: Sink,
        site: SiteId,
    },
    /// A receiver for which a function becomes a bound method.
    Bind {
        function: ObjId,
        to: NodeId,
    },
    /// A function found in a class method: bind it to the class.
    BindTo {
        sink: Sink,
        receiver: NodeId,
    },
    /// An instance that `__new__` gave: initialise it.
    Initialise {
        request: RequestId,
        class: ObjId,
    },
    /// Classes that `type.__call__` constructs.
    ConstructClass {
        request: RequestId,
    },
    /// Class attributes that a store to an attribute meets.
    StoreMember {
        site: SiteId,
        receiver: NodeId,
        value: NodeId,
    },
    /// Holders to whose attribute the value goes.
    StoreInto {
        name: Symbol,
        value: NodeId,
        site: SiteId,
        raw: bool,
    },
    /// Holders to an attribute of which, whose name is not known, the value goes.
    StoreAnywhere {
        value: NodeId,
    },
    /// A name object of `getattr` or `setattr`.
    AttributeName(NamedAccess),
    /// Iterables spread into positional parameters from `first` on.
    SpreadPositional {
        act: ActId,
        first: u32,
    },
    /// Mappings spread into parameters.
    SpreadKeywords {
        act: ActId,
        positional: u32,
    },
    /// `super(class, receiver)`: classes.
    SuperClass {
        receiver: NodeId,
        sink: SuperSink,
    },
    /// `super(class, receiver)`: receivers.
    SuperReceiver {
        class: ObjId,
        sink: SuperSink,
    },
    // ---- classes
    Base {
        class: ObjId,
        position: u32,
    },
    Metaclass {
        class: ObjId,
    },
    Namespace {
        class: ObjId,
    },
    Instantiate {
        site: SiteId,
        result: NodeId,
    },
    TypeOf {
        result: NodeId,
    },
    /// What is stored under an unknown key of the `__dict__` of an object.
    StoreUnnamed {
        owner: ObjId,
        value: NodeId,
    },
    /// Metaclasses of a class statement, which are called.
    CreateClass {
        site: SiteId,
        class: ObjId,
    },
    /// What the `__new__` of a metaclass gives at a class statement.
    MadeClass {
        site: SiteId,
    },
    /// Values that the body of an enumeration binds to a name; all members go to the node `all`.
    EnumMember {
        class: ObjId,
        name: Symbol,
        site: SiteId,
        all: NodeId,
    },
    /// Enumerations whose members are made.
    EnumClass {
        site: SiteId,
        result: NodeId,
    },
    /// Classes with which others are registered.
    Register {
        subclass: NodeId,
    },
    /// Classes that are registered with one.
    RegisterWith {
        class: ObjId,
    },
    /// Exceptions at an `except*`, whose leaves go to a node.
    Leaves {
        site: SiteId,
        leaves: NodeId,
    },
    /// Names of a `getattr` with a default.
    DefaultNames {
        holder: NodeId,
        default: NodeId,
        result: NodeId,
    },
    /// Objects that may lack the attribute of a `getattr` with a default.
    DefaultFor {
        name: Symbol,
        default: NodeId,
        result: NodeId,
    },
    /// Classes of an `isinstance` test.
    CheckInstance {
        site: SiteId,
        value: NodeId,
    },
    /// Metaclasses for which `type.__new__` makes a class.
    NewClass {
        request: RequestId,
    },
    /// Mappings given to `type.__new__`, whose unknown elements the site tells of.
    NamespaceReasons {
        site: SiteId,
    },
    /// Reasons that the site tells of.
    NoteReasons {
        site: SiteId,
    },
    /// Objects that go on without the reasons beside them.
    Objects {
        to: NodeId,
    },
    /// Classes that get what is in the namespace given to `type.__new__`.
    FillClass {
        request: RequestId,
    },
    /// Constructors of an entry instance.
    EntryInit {
        instance: ObjId,
    },
    // ---- containers
    /// Key objects of a subscript of one container.
    Subscript {
        /// The site that asks; none for displays.
        site: Option<SiteId>,
        base: ObjId,
        load: bool,
        node: NodeId,
    },
    /// Containers whose element under the keys of a node is loaded or stored.
    NativeItem {
        site: SiteId,
        key: NodeId,
        value: NodeId,
        load: bool,
    },
    /// Containers into which the elements of a node's containers go.
    CopyFrom {
        from: NodeId,
        site: SiteId,
    },
    /// Containers whose elements go to another.
    CopyInto {
        to: ObjId,
        site: SiteId,
    },
    /// What iterating gives.
    Elements {
        result: NodeId,
    },
    /// Values, whatever the key.
    Values {
        result: NodeId,
    },
    /// Keys of mappings.
    Keys {
        result: NodeId,
    },
    /// Containers into a field of which the value goes.
    StoreElement {
        value: NodeId,
        field: Field,
    },
    /// Sequences whose elements change their positions.
    Shift,
    /// Builtin containers whose iterators go to the node.
    NativeIterator {
        result: NodeId,
    },
    /// Generators into which values are sent or thrown.
    SendInto {
        value: NodeId,
        throw: Option<SiteId>,
    },
    // ---- what containers ask of keys and items
    /// Keys stored in a container.
    StoredKeys {
        container: ObjId,
    },
    /// Keys that are looked up in a container some of whose stored keys have an `__eq__`.
    LookedUp {
        site: SiteId,
        special: NodeId,
        key: NodeId,
    },
    /// Keys that are hashed, and looked for in the container if there is one.
    Key {
        site: SiteId,
        container: Option<ObjId>,
    },
    /// Containers in which the keys of a node are looked for.
    KeyContainers {
        site: SiteId,
        key: NodeId,
    },
    /// Indices of a sequence.
    Index {
        site: SiteId,
    },
    /// Left operands of a comparison; `left` is their node, or [`NO_NODE`] if the right ones are not asked for them.
    ///
    /// [`NO_NODE`]: crate::engine::NO_NODE
    EqualLeft {
        site: SiteId,
        left: NodeId,
        right: NodeId,
    },
    EqualAnswer {
        site: SiteId,
        left: NodeId,
        right: NodeId,
    },
    EqualRight {
        site: SiteId,
        left: NodeId,
    },
    /// Values that `"..." % values` formats.
    Interpolate {
        site: SiteId,
    },
    // ---- operators
    RightOperand {
        site: SiteId,
    },
    /// Answers of operator methods that may decline.
    Accept {
        site: SiteId,
        result: NodeId,
    },
    /// Objects one of whose conversion methods is called.
    Convert {
        site: SiteId,
        name: Symbol,
    },
    // ---- exceptions, patterns, narrowing
    Match {
        class: ObjId,
        result: NodeId,
    },
    MatchExternal {
        result: NodeId,
    },
    /// Classes of which a value is known to be no instance.
    NarrowOutClass {
        site: SiteId,
    },
    NoMatch {
        class: ObjId,
        result: NodeId,
    },
    NotNone {
        result: NodeId,
    },
    OnlyNone {
        result: NodeId,
    },
    MatchArgument {
        position: i32,
        matched: NodeId,
        target: NodeId,
        site: SiteId,
    },
    OnlyClass {
        value: NodeId,
        result: NodeId,
    },
    /// Names of special methods by which the objects of a node are told apart.
    Methods {
        holder: NodeId,
        has: bool,
        result: NodeId,
    },
    /// Objects of which those go on whose class may have (or lack) the special method.
    Method {
        name: Symbol,
        has: bool,
        result: NodeId,
    },
    // ---- the outside
    Escape,
    EscapeElements,
    ImportModule {
        site: SiteId,
        result: NodeId,
        /// Whether it gives the top-level package.
        top: bool,
    },
}

/// What becomes of a `super(...)` object.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SuperSink {
    /// It is a value.
    Object(NodeId),
    /// One attribute of it is wanted at once.
    Attribute(Symbol, Sink, SiteId),
}

/// An activation of a code object.
#[derive(Clone, Debug)]
pub struct Activation {
    /// The code.
    pub code: CodeId,
    /// The model call it is cloned for, if it is.
    pub context: Option<SiteId>,
    /// Node of local 0.
    pub base: NodeId,
    /// First site; sites are consecutive.
    pub sites: SiteId,
    /// The namespace that the body fills: a module or class.
    pub namespace: Option<ObjId>,
    /// How it was reached first.
    pub entry: bool,
}

/// A target of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// A function of the program or of a model.
    Function(ActId),
    /// An external value.
    External(ChainId),
    /// A class without a constructor of its own in the program.
    Class(ObjId),
    /// A function that the engine implements, by its object.
    Builtin(ObjId),
}

/// The cell that a function object hands to its code.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CellRef {
    Object(ObjId),
    Node(NodeId),
}

/// A question that only the end of the propagation can answer.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    /// Does the class have no attribute `name` for this receiver group? Then `__getattr__`.
    GetAttr {
        class: ObjId,
        name: Symbol,
        receiver: NodeId,
        sink: Sink,
        site: SiteId,
    },
    /// Does the first special method exist? If not (or if it may decline) the next is tried.
    Fallback {
        class: ObjId,
        tried: Symbol,
        site: SiteId,
        then: Fallback,
    },
    /// Does the module bind the name?
    ModuleAttribute {
        module: ModuleId,
        name: Symbol,
        sink: Sink,
        site: SiteId,
    },
}

/// What to do when a special method is missing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fallback {
    /// Call this one with the same request, then the reflected one.
    Method {
        name: Symbol,
        request: RequestId,
        receiver: NodeId,
    },
    /// Call the reflected method of the right operand's objects.
    Reflected,
    /// `__getitem__` with 0, 1, ...: the results are the items.
    Sequence { receiver: NodeId, result: NodeId },
    /// Membership by iteration.
    Iterate {
        receiver: NodeId,
        raises: NodeId,
        wanted: NodeId,
    },
}

/// Whom the keyed elements of a container go to as well.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KeyWatcher {
    Container(ObjId),
    /// A list that takes the elements from a position on.
    Rest {
        target: ObjId,
        first: u32,
    },
    Keywords {
        act: ActId,
        positional: u32,
    },
    Positional {
        act: ActId,
        first: u32,
    },
}

/// Who a receiver group belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupKey {
    Sink(Sink),
    ClassSink(Sink),
    MetaSink(Sink),
    Super(ObjId, Sink),
    Store(SiteId, Symbol, bool),
    Initialise(RequestId),
    Call(RequestId),
    Item(SiteId),
    Iterate(SiteId, NodeId),
    Next(SiteId, NodeId),
    Left(SiteId),
    Right(SiteId),
    Truth(SiteId),
    Convert(SiteId, Symbol),
    /// The other operands of a comparison that a container makes.
    Equal(SiteId, NodeId),
    /// Metaclasses asked by `isinstance`.
    Check(SiteId),
    /// Exceptions that an `except*` looks at.
    Leaves(SiteId),
}

impl Sink {
    /// A number that tells sinks apart.
    const fn packed(self) -> u64 {
        let (tag, id) = match self {
            Self::Value(node) => (0, node.raw()),
            Self::Call(request) => (1, request.raw()),
            Self::New(request) => (2, request.raw()),
        };
        tag << 32 | id as u64
    }
}

/// Groups are looked up more often than anything else, so a key is hashed as one or two words.
impl Hash for GroupKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (tag, word, more) = match *self {
            Self::Sink(sink) => (0, sink.packed(), 0),
            Self::ClassSink(sink) => (1, sink.packed(), 0),
            Self::MetaSink(sink) => (2, sink.packed(), 0),
            Self::Super(class, sink) => (3, sink.packed(), class.raw()),
            Self::Store(site, name, raw) => (4, u64::from(site.raw()), name.raw() << 1 | u32::from(raw)),
            Self::Initialise(request) => (5, u64::from(request.raw()), 0),
            Self::Call(request) => (6, u64::from(request.raw()), 0),
            Self::Item(site) => (7, u64::from(site.raw()), 0),
            Self::Iterate(site, node) => (8, u64::from(site.raw()), node.raw()),
            Self::Next(site, node) => (9, u64::from(site.raw()), node.raw()),
            Self::Left(site) => (10, u64::from(site.raw()), 0),
            Self::Right(site) => (11, u64::from(site.raw()), 0),
            Self::Truth(site) => (12, u64::from(site.raw()), 0),
            Self::Convert(site, name) => (13, u64::from(site.raw()), name.raw()),
            Self::Equal(site, node) => (14, u64::from(site.raw()), node.raw()),
            Self::Check(site) => (15, u64::from(site.raw()), 0),
            Self::Leaves(site) => (16, u64::from(site.raw()), 0),
        };
        state.write_u64(word | tag << 40);
        if more != 0 {
            state.write_u32(more);
        }
    }
}
