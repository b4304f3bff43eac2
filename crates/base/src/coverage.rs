//! How much of a product is known.

use crate::{ReasonSet, UnresolvedKind};
use std::collections::BTreeMap;

/// The lattice of coverage: a join is the worst of its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoverageLevel {
    /// Every site is resolved to concrete targets.
    #[default]
    ConcreteOnly,
    /// Some sites carry typed reasons.
    TypedUnresolved,
    /// Something was given up without a bound (a budget, unreadable code).
    ConservativeTop,
}

impl CoverageLevel {
    /// The name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ConcreteOnly => "concrete-only",
            Self::TypedUnresolved => "typed-unresolved",
            Self::ConservativeTop => "conservative-top",
        }
    }
    /// The level of one site with these reasons.
    #[must_use]
    pub const fn of_reasons(reasons: ReasonSet) -> Self {
        if reasons.contains(UnresolvedKind::Budget) || reasons.contains(UnresolvedKind::UnreadableCode) {
            Self::ConservativeTop
        } else if reasons.is_empty() {
            Self::ConcreteOnly
        } else {
            Self::TypedUnresolved
        }
    }
}

/// Counted coverage of one product over some part of the program.
///
/// A site is *resolved* (targets, no reason), *open* (targets and reasons), *unresolved* (reasons only) or *silent*
/// (neither; dead or a defect of the analysis).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Sites with targets and no reason.
    pub resolved: u64,
    /// Sites with targets and reasons.
    pub open: u64,
    /// Sites with reasons only.
    pub unresolved: u64,
    /// Sites with neither.
    pub silent: u64,
    /// Functions that were analysed.
    pub functions_analysed: u64,
    /// Functions there are.
    pub functions_total: u64,
    /// Sites per kind of reason; a site with two reasons counts twice.
    pub by_kind: BTreeMap<UnresolvedKind, u64>,
}

impl Coverage {
    /// Counts one site.
    pub fn add_site(&mut self, has_targets: bool, reasons: ReasonSet) {
        match (has_targets, reasons.is_empty()) {
            (true, true) => self.resolved += 1,
            (true, false) => self.open += 1,
            (false, false) => self.unresolved += 1,
            (false, true) => self.silent += 1,
        }
        for kind in reasons.iter() {
            *self.by_kind.entry(kind).or_insert(0) += 1;
        }
    }
    /// Joins the counts of another part.
    pub fn join(&mut self, other: &Self) {
        self.resolved += other.resolved;
        self.open += other.open;
        self.unresolved += other.unresolved;
        self.silent += other.silent;
        self.functions_analysed += other.functions_analysed;
        self.functions_total += other.functions_total;
        for (&kind, count) in &other.by_kind {
            *self.by_kind.entry(kind).or_insert(0) += count;
        }
    }
    /// All sites.
    #[must_use]
    pub const fn sites(&self) -> u64 {
        self.resolved + self.open + self.unresolved + self.silent
    }
    /// The level of the whole.
    #[must_use]
    pub fn level(&self) -> CoverageLevel {
        let top = [UnresolvedKind::Budget, UnresolvedKind::UnreadableCode];
        if top.iter().any(|kind| self.by_kind.contains_key(kind)) || self.functions_analysed < self.functions_total {
            CoverageLevel::ConservativeTop
        } else if self.by_kind.is_empty() {
            CoverageLevel::ConcreteOnly
        } else {
            CoverageLevel::TypedUnresolved
        }
    }
}
