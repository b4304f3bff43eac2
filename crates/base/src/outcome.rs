//! Whether a computation reached its end.

use std::collections::BTreeSet;

/// What a limit counts. Time is a safety net only; everything else is deterministic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BudgetKind {
    /// Propagation steps of the points-to solver.
    Steps,
    /// Bytes of our own structures.
    Memory,
    /// Wall-clock seconds.
    Seconds,
    /// The caller asked to stop.
    Cancelled,
}

/// How a computation ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// The fixed point was reached.
    #[default]
    Complete,
    /// These limits were hit; what is there is true but not all.
    Partial(BTreeSet<BudgetKind>),
}

impl Outcome {
    /// Whether the fixed point was reached.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        matches!(self, Self::Complete)
    }
}
