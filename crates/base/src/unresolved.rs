//! Why the analysis does not know: a closed list of reasons, and sets of them.

use std::fmt;

macro_rules! kinds {
    ($($(#[$meta:meta])* $name:ident = $text:literal,)*) => {
        /// Why a site or a value is not fully known. The list is closed; each kind has a test case.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum UnresolvedKind { $($(#[$meta])* $name,)* }

        impl UnresolvedKind {
            /// Every kind, in canonical order.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The kebab-case name used in reports and test cases.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

kinds! {
    /// An attribute whose name is computed, or whose holder lets attributes be made up (`__getattr__` unknown).
    DynamicAttribute = "dynamic-attribute",
    /// An import whose module name is computed.
    ComputedImport = "computed-import",
    /// A callee or value from a module that is not part of the analysis.
    External = "external",
    /// Code made at run time: eval, exec, compile.
    GeneratedCode = "generated-code",
    /// Implemented in a native extension.
    NativeExtension = "native-extension",
    /// A parameter of an entry point: whatever the caller passes.
    EntryParameter = "entry-parameter",
    /// A special method of an operand that is not known.
    Protocol = "protocol",
    /// An element of a container under a key that is not known.
    UnknownKey = "unknown-key",
    /// A base object that is not known.
    UnknownBase = "unknown-base",
    /// An attribute that no known holder has.
    MissingAttribute = "missing-attribute",
    /// A name that nothing known binds.
    UnboundName = "unbound-name",
    /// A value that is not callable as far as it is known.
    NotCallable = "not-callable",
    /// A call whose arguments do not fit the callee's parameters.
    ArityMismatch = "arity-mismatch",
    /// A feature of Python or a builtin whose behaviour is not modelled.
    Unmodelled = "unmodelled",
    /// A limit of the analysis was reached.
    Budget = "budget",
    /// Code that could not be read, compiled or lifted.
    UnreadableCode = "unreadable-code",
}

impl fmt::Display for UnresolvedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of [`UnresolvedKind`]s in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReasonSet(u32);

impl ReasonSet {
    /// No reason: what is known is all there is.
    pub const EMPTY: Self = Self(0);

    /// The set with one kind.
    #[inline]
    #[must_use]
    pub const fn of(kind: UnresolvedKind) -> Self {
        Self(1 << kind as u32)
    }
    /// Whether the set is empty.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// Whether `kind` is in the set.
    #[must_use]
    pub const fn contains(self, kind: UnresolvedKind) -> bool {
        self.0 & Self::of(kind).0 != 0
    }
    /// Union.
    #[inline]
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// What `self` has and `other` lacks.
    #[inline]
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    /// Adds all of `other`; whether anything was new.
    #[inline]
    pub fn insert_all(&mut self, other: Self) -> bool {
        let before = self.0;
        self.0 |= other.0;
        self.0 != before
    }
    /// The kinds in canonical order.
    pub fn iter(self) -> impl Iterator<Item = UnresolvedKind> {
        UnresolvedKind::ALL
            .iter()
            .copied()
            .filter(move |&kind| self.contains(kind))
    }
}

impl From<UnresolvedKind> for ReasonSet {
    fn from(kind: UnresolvedKind) -> Self {
        Self::of(kind)
    }
}
