//! Vocabulary shared by every crate: dense ids, spans, diagnostics, unresolved reasons, coverage, outcomes.
//!
//! Knows no Python. A *dense id* is a `u32` that counts from zero inside one table ([`IndexVec`]); a name appears only
//! where something is shown to a person.

mod coverage;
mod diagnostic;
mod index;
mod interner;
mod outcome;
mod span;
mod unresolved;

pub use coverage::{Coverage, CoverageLevel};
pub use diagnostic::{Diagnostic, DiagnosticKind, Severity};
pub use index::{Id, IndexVec};
pub use interner::{Interner, Symbol};
pub use outcome::{BudgetKind, Outcome};
pub use span::{FileId, LineCol, Span};
pub use unresolved::{ReasonSet, UnresolvedKind};
