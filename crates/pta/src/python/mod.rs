//! Python's semantics, one file per feature. Each opens with the rule of the Language Reference or data model that it
//! implements.

pub(crate) mod activation;
pub(crate) mod attributes;
pub(crate) mod calls;
pub(crate) mod classes;
pub(crate) mod containers;
pub(crate) mod enumerations;
pub(crate) mod equality;
pub(crate) mod exceptions;
pub(crate) mod externals;
pub(crate) mod forwarding;
pub(crate) mod imports;
pub(crate) mod intrinsics;
pub(crate) mod iteration;
pub(crate) mod metaclasses;
pub(crate) mod names;
pub(crate) mod namespaces;
pub(crate) mod operators;
pub(crate) mod patterns;
pub(crate) mod priority;
pub(crate) mod roots;
pub(crate) mod sharing;
pub(crate) mod supers;
pub(crate) mod well_known;
