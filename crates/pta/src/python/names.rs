//! Names that the semantics refer to.

use hognose_base::Symbol;

/// Names that always have the same symbols: a program is linked with them before any file.
macro_rules! names {
    ($($constant:ident = $text:literal,)*) => {
        /// The texts, in the order of their symbols.
        pub(crate) const NAMES: &[&str] = &[$($text),*];

        // Templates find some of them by their text.
        #[allow(dead_code, non_camel_case_types, clippy::upper_case_acronyms)]
        enum Place {
            $($constant,)*
        }

        $(#[allow(dead_code)]
        pub(crate) const $constant: Symbol = Symbol::new(Place::$constant as u32);)*
    };
}

names! {
    UNKNOWN = "?",
    HOGNOSE = "_hognose",
    BUILTINS = "builtins",
    METACLASS = "metaclass",
    ANNOTATIONS = "__annotations__",
    CLASS = "__class__",
    DICT = "__dict__",
    NEW = "__new__",
    INSTANCECHECK = "__instancecheck__",
    SUBCLASSHOOK = "__subclasshook__",
    ENUM_VALUE = "_value_",
    FROM_ITEMS = "_from_items_",
    FROM_VALUE = "_from_value_",
    PREPARE = "__prepare__",
    INIT = "__init__",
    CALL = "__call__",
    SET_NAME = "__set_name__",
    INIT_SUBCLASS = "__init_subclass__",
    CLASS_GETITEM = "__class_getitem__",
    GET = "__get__",
    SET = "__set__",
    DELETE = "__delete__",
    GETATTR = "__getattr__",
    GETATTRIBUTE = "__getattribute__",
    SETATTR = "__setattr__",
    DELATTR = "__delattr__",
    GETITEM = "__getitem__",
    SETITEM = "__setitem__",
    DELITEM = "__delitem__",
    ITER = "__iter__",
    NEXT = "__next__",
    AITER = "__aiter__",
    ANEXT = "__anext__",
    AWAIT = "__await__",
    ENTER = "__enter__",
    EXIT = "__exit__",
    AENTER = "__aenter__",
    AEXIT = "__aexit__",
    BOOL = "__bool__",
    LEN = "__len__",
    CONTAINS = "__contains__",
    STR = "__str__",
    REPR = "__repr__",
    FORMAT = "__format__",
    HASH = "__hash__",
    INDEX = "__index__",
    INT = "__int__",
    FLOAT = "__float__",
    NEG = "__neg__",
    POS = "__pos__",
    INVERT = "__invert__",
    MATCH_ARGS = "__match_args__",
    CAUSE = "__cause__",
    EXCEPTIONS = "exceptions",
    FUNC = "__func__",
    SELF = "__self__",
    FGET = "fget",
    FSET = "fset",
    FDEL = "fdel",
    LT = "__lt__",
    LE = "__le__",
    EQ = "__eq__",
    NE = "__ne__",
    GT = "__gt__",
    GE = "__ge__",
    ADD = "__add__",
    RADD = "__radd__",
    IADD = "__iadd__",
    AND = "__and__",
    RAND = "__rand__",
    IAND = "__iand__",
    FLOORDIV = "__floordiv__",
    RFLOORDIV = "__rfloordiv__",
    IFLOORDIV = "__ifloordiv__",
    LSHIFT = "__lshift__",
    RLSHIFT = "__rlshift__",
    ILSHIFT = "__ilshift__",
    MATMUL = "__matmul__",
    RMATMUL = "__rmatmul__",
    IMATMUL = "__imatmul__",
    MUL = "__mul__",
    RMUL = "__rmul__",
    IMUL = "__imul__",
    MOD = "__mod__",
    RMOD = "__rmod__",
    IMOD = "__imod__",
    OR = "__or__",
    ROR = "__ror__",
    IOR = "__ior__",
    POW = "__pow__",
    RPOW = "__rpow__",
    IPOW = "__ipow__",
    RSHIFT = "__rshift__",
    RRSHIFT = "__rrshift__",
    IRSHIFT = "__irshift__",
    SUB = "__sub__",
    RSUB = "__rsub__",
    ISUB = "__isub__",
    TRUEDIV = "__truediv__",
    RTRUEDIV = "__rtruediv__",
    ITRUEDIV = "__itruediv__",
    XOR = "__xor__",
    RXOR = "__rxor__",
    IXOR = "__ixor__",
}

#[cfg(test)]
mod tests {
    use super::*;
    use hognose_base::Interner;

    #[test]
    fn a_new_interner_gives_the_names_their_symbols() {
        let mut symbols = Interner::default();
        for name in NAMES {
            symbols.intern(name);
        }
        assert_eq!(symbols.name(INIT), "__init__");
        assert_eq!(symbols.get("__ixor__"), Some(IXOR));
    }
}
