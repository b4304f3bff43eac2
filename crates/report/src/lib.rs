//! Products of an analysis as JSON, DOT and other formats.
//!
//! Every JSON document begins with its schema id (`hognose.cg/1`); a schema only grows within one number. All documents
//! of one analysis share ids: a *function* is a code object of the program, module and class bodies included, and its id
//! is the same in every document. Lines count from 1, columns from 0 in UTF-8 bytes; what the bytecode does not record is
//! absent. No document holds times or sizes of memory, so that equal inputs give equal bytes.
//!
//! Documents are written piece by piece: one line per row, never as a whole in memory.

mod call_graph;
mod cdg;
mod cfg;
mod classes;
mod coverage;
mod ddg;
mod dis;
mod document;
mod dot;
mod models;
mod modules;
mod place;
mod points_to;
mod pycg;
mod ssa;
mod summary;
mod unresolved;

pub use call_graph::{write_call_graph_dot, write_call_graph_json};
pub use cdg::{write_cdg_dot, write_cdg_json};
pub use cfg::{write_cfg_dot, write_cfg_json};
pub use classes::{write_classes_dot, write_classes_json};
pub use coverage::{CoverageRecord, DiagnosticRecord};
pub use ddg::{write_ddg_dot, write_ddg_json};
pub use dis::{write_dis_json, write_dis_text};
pub use document::Document;
pub use models::{ModelSummary, write_models_json, write_models_text};
pub use modules::{write_modules_dot, write_modules_json};
pub use points_to::{points_to_coverage, write_points_to_dot, write_points_to_json};
pub use pycg::{pycg_graph, write_pycg};
pub use ssa::{write_ssa_dot, write_ssa_json};
pub use summary::{DependencyTotals, FileSummary, ProductSummary, Summary};
pub use unresolved::{Cause, CausePlace, KindCauses, Unresolved};
