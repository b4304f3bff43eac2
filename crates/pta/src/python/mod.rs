//! Python's semantics, one file per feature. Each opens with the rule of the Language Reference or data model that it
//! implements.

pub(crate) mod activation;
pub(crate) mod attributes;
pub(crate) mod calls;
pub(crate) mod classes;
pub(crate) mod containers;
pub(crate) mod equality;
pub(crate) mod exceptions;
pub(crate) mod externals;
pub(crate) mod forwarding;
pub(crate) mod imports;
pub(crate) mod intrinsics;
pub(crate) mod iteration;
pub(crate) mod namespaces;
pub(crate) mod operators;
pub(crate) mod patterns;
pub(crate) mod priority;
pub(crate) mod roots;
pub(crate) mod sharing;
pub(crate) mod supers;
pub(crate) mod well_known;

/// Names that the semantics refer to; interned before any file so that they always are symbols.
pub(crate) const NAMES: &[&str] = &[
    "?",
    "_hognose",
    "builtins",
    "metaclass",
    "__annotations__",
    "__class__",
    "__dict__",
    "__new__",
    "__init__",
    "__call__",
    "__set_name__",
    "__init_subclass__",
    "__class_getitem__",
    "__get__",
    "__set__",
    "__delete__",
    "__getattr__",
    "__getattribute__",
    "__setattr__",
    "__delattr__",
    "__getitem__",
    "__setitem__",
    "__delitem__",
    "__iter__",
    "__next__",
    "__aiter__",
    "__anext__",
    "__await__",
    "__enter__",
    "__exit__",
    "__aenter__",
    "__aexit__",
    "__bool__",
    "__len__",
    "__contains__",
    "__str__",
    "__repr__",
    "__format__",
    "__hash__",
    "__index__",
    "__int__",
    "__float__",
    "__neg__",
    "__pos__",
    "__invert__",
    "__match_args__",
    "__func__",
    "__self__",
    "fget",
    "fset",
    "fdel",
    "__lt__",
    "__le__",
    "__eq__",
    "__ne__",
    "__gt__",
    "__ge__",
    "__add__",
    "__radd__",
    "__iadd__",
    "__and__",
    "__rand__",
    "__iand__",
    "__floordiv__",
    "__rfloordiv__",
    "__ifloordiv__",
    "__lshift__",
    "__rlshift__",
    "__ilshift__",
    "__matmul__",
    "__rmatmul__",
    "__imatmul__",
    "__mul__",
    "__rmul__",
    "__imul__",
    "__mod__",
    "__rmod__",
    "__imod__",
    "__or__",
    "__ror__",
    "__ior__",
    "__pow__",
    "__rpow__",
    "__ipow__",
    "__rshift__",
    "__rrshift__",
    "__irshift__",
    "__sub__",
    "__rsub__",
    "__isub__",
    "__truediv__",
    "__rtruediv__",
    "__itruediv__",
    "__xor__",
    "__rxor__",
    "__ixor__",
];
