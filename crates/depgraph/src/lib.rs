//! Dependence graphs over the semantic IR, and the class and module graphs.
//!
//! A block is *control-dependent* on the decision that lets it run ([`Cdg`], [`cdg_of_program`]). An instruction is
//! *data-dependent* on what made the values that it reads ([`Ddg`]); heap reads that certainly see one store are found by
//! [`hognose_ir::StrongLoads`]. [`ClassGraph`] shows what classes inherit, [`ModuleGraph`] what modules import.

mod cdg;
mod classes;
mod coverage;
mod ddg;
mod modules;
mod whole;

pub use cdg::{BranchOutcome, Cdg, Dependence, Layer};
pub use classes::{ClassGraph, ClassNode, ClassRef, MroState};
pub use coverage::{DataCoverage, LoadCounts};
pub use ddg::{DataKind, Ddg, DdgNode, DdgNodeId, Link};
pub use modules::{ImportEdge, ImportKind, ModuleGraph, ModuleNode, ModuleNodeId};
pub use whole::cdg_of_program;

#[cfg(test)]
mod strong_tests;
#[cfg(test)]
mod testing;
