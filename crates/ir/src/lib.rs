//! Semantic IR: operations without opcodes, control-flow graph, SSA.
//!
//! [`lift_file`] turns a compiled module into a [`FileIr`] with one [`Body`] per code object. The way of a body:
//! `versions` (wordcode to [`Op`]s and [`Region`]s) -> `prepare` (stack depths, what raises, where to split; `assign`: definite
//! assignment) -> `cfg` (blocks and edges) -> `ssa` (values). `exec` says once what each operation does to the stack.
//! [`StrongLoads`] says which loads of attributes and items certainly read stores of the same body.
//! [`verify`] checks the result, [`FileIr::text`] shows it, [`Body::test_of`] explains refined values, [`imports`] lists import
//! statements, and [`bind_arguments`] is the one implementation of Python's argument binding.
//!
//! **Invariant:** raw opcodes and inline caches stay below `versions/`; nothing else names one.

mod assign;
mod body;
mod cfg;
mod effects;
mod exec;
mod facts;
mod imports;
mod lift;
mod names;
mod op;
mod op_text;
mod prepare;
mod print;
mod signature;
mod ssa;
mod strong;
mod vars;
mod verify;
pub mod versions;

pub use body::*;
pub use facts::{TestFact, TestKind};
pub use imports::{DynamicImport, ImportRef, dynamic_imports, imports, may_be_module};
pub use lift::{LiftStage, lift_code, lift_file, lift_file_observed};
pub use names::NameTable;
pub use op::*;
pub use op_text::{InWords, OpNames, OpTextError};
pub use print::BodyText;
pub use signature::{
    ArgSource, Bindings, CallShape, HasDefault, Parameter, ParameterKind, Signature, Unbindable, bind_arguments,
};
pub use strong::{AttributeFacts, Hooks, ItemKey, StrongLoads, Surroundings};
pub use verify::{Violation, ViolationKind, verify};
