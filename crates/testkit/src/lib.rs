//! Literate test cases: Python programs in Markdown with the facts that hold about them, see `tests/cases/README.md`.
//!
//! Vocabulary: a *case* is one heading with its program and facts. A *marker* is a fact in a trailing comment
//! (`# calls: f`), bound to its line. A *fact* of the facts block speaks about lines by their *labels*. *Observed facts* are
//! what an analysis found, in a small shape of their own, so that the matcher knows no analysis. A *fixture* holds the
//! bytecode of every case for every version, so that tests need no interpreter.
//!
//! ```text
//! file.md -> parse_cases -> Case --+--> check_case -> [Mismatch]   (HOGNOSE_UPDATE=1: update_markers)
//! file.hogfix -> Fixture::decode -> bytecode -> analysis -> ObservedFacts --+
//! ```

mod case;
mod facts;
mod fixture;
mod markdown;
mod marker;
mod matcher;
mod observed;
mod scan;
mod update;

pub use case::{
    Case, CaseConfig, CaseError, CaseFile, CaseModule, Label, LineMarkers, MarkerSource, Place, Roots, Target,
};
pub use facts::{CfgDestination, EdgeKind, Fact, FactKind, Outcome};
pub use fixture::{Fixture, FixtureEntry, FixtureError, source_hash};
pub use markdown::{find_case_files, parse_cases};
pub use marker::{CallsMarker, Located, PointsToMarker, VariablePath, VariableStep};
pub use matcher::{Mismatch, Verdict, check_case, judge};
pub use observed::{
    ObservedBlock, ObservedClass, ObservedEdge, ObservedFacts, ObservedFunction, ObservedSite, Pointee, PointsToAnswer,
};
pub use update::update_markers;
