//! Points-to analysis and call graph, grown together to one fixed point.

mod builtin_names;
mod config;
mod engine;
mod heap;
mod ids;
mod program;
mod python;
mod result;
mod set;
mod solver;
mod stores;
mod tasks;
mod template;
mod vocabulary;

pub use config::{PtaConfig, Roots};

pub use heap::{Allocation, Chain, Field, Heap, Object, Step};
pub use ids::*;
pub use program::*;
pub use python::classes::{Base, ClassInfo, ClassTable};
pub use python::intrinsics::{Intrinsic, RESERVED_MODULE};
pub use result::{Access, CallRecord, PointsTo, ReachedBy, analyze};
pub use set::PtsSet;
pub use solver::SolverStats;
pub use stores::StoreIndex;
pub use vocabulary::{Activation, CallKind, Target};
