//! Dependence graphs over the semantic IR, and the class and module graphs.
//!
//! A block is *control-dependent* on the decision that lets it run ([`Cdg`], [`cdg_of_program`]). An instruction is
//! *data-dependent* on what made the values that it reads ([`Ddg`]); heap reads that certainly see one store are found by
//! [`StrongLoads`]. [`ClassGraph`] shows what classes inherit, [`ModuleGraph`] what modules import.

mod cdg;
mod classes;
mod ddg;
mod modules;
mod strong;
mod whole;

pub use cdg::{BranchOutcome, Cdg, Dependence, Layer};
pub use classes::{ClassGraph, ClassNode, ClassRef, MroState};
pub use ddg::{DataKind, Ddg, DdgNode, DdgNodeId, Link};
pub use modules::{ImportEdge, ImportKind, ModuleGraph, ModuleNode, ModuleNodeId};
pub use strong::{AttributeFacts, StoreIndex, StrongLoads, strong_load};
pub use whole::cdg_of_program;

#[cfg(test)]
mod testing;
