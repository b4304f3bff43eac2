//! The whole analysis behind one API.
//!
//! ```no_run
//! use hognose::{Config, Session};
//!
//! # fn main() -> Result<(), hognose::SessionError> {
//! let session = Session::new(Config::default())?;
//! let analysis = session.analyze(&["shop".into()]);
//! for call in analysis.calls() {
//!     println!("{}: {} targets", analysis.program().qualname(call.caller), call.targets.len());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Vocabulary: a [`Session`] is a configuration with what it needs to run (compiler, threads); an [`Analysis`] is what it
//! makes of some inputs; a *product* is one of the results that an analysis can be asked for. Products are computed when
//! they are first asked for, and kept: the fixed point behind the points-to sets, the call graph and everything that
//! builds on them is solved once. What is asked for, and in which order, changes no result.
//!
//! Data flows one way (see `ARCHITECTURE.md`): inputs -> code objects -> semantic IR -> points-to sets and call graph ->
//! dependence graphs -> reports.

mod analysis;
mod config;
mod given_models;
mod lift;
mod meter;
mod model_check;
mod model_signatures;
mod profile;
mod session;
mod summary;
mod workers;

pub use analysis::{AnalysedFile, Analysis, Product};
pub use config::{Config, Sensitivity};
pub use hognose_base as base;
pub use hognose_compile as compile;
pub use hognose_depgraph as depgraph;
pub use hognose_ir as ir;
pub use hognose_project as project;
pub use hognose_pta as pta;
pub use hognose_pyc as pyc;
pub use hognose_report as report;
pub use meter::{Usage, process_cpu, resident_bytes, thread_cpu};
pub use model_check::{ModelCheck, check_models, list_models};
pub use profile::{Profiler, Region, RegionStatus};
pub use session::{Session, SessionError};
