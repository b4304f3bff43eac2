//! Coverage and diagnostics as documents show them.

use hognose_base::{Coverage, Diagnostic, Severity};
use serde::Serialize;
use std::collections::BTreeMap;

/// Counted coverage of a product.
#[derive(Clone, Debug, Serialize)]
pub struct CoverageRecord {
    level: &'static str,
    resolved: u64,
    open: u64,
    unresolved: u64,
    silent: u64,
    functions_analysed: u64,
    functions_total: u64,
    by_kind: BTreeMap<&'static str, u64>,
}

impl From<&Coverage> for CoverageRecord {
    fn from(coverage: &Coverage) -> Self {
        Self {
            level: coverage.level().name(),
            resolved: coverage.resolved,
            open: coverage.open,
            unresolved: coverage.unresolved,
            silent: coverage.silent,
            functions_analysed: coverage.functions_analysed,
            functions_total: coverage.functions_total,
            by_kind: coverage
                .by_kind
                .iter()
                .map(|(kind, &count)| (kind.name(), count))
                .collect(),
        }
    }
}

/// A diagnostic.
#[derive(Clone, Debug, Serialize)]
pub struct DiagnosticRecord<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    col: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    severity: &'static str,
    kind: &'static str,
    message: &'a str,
}

impl<'a> From<&'a Diagnostic> for DiagnosticRecord<'a> {
    fn from(diagnostic: &'a Diagnostic) -> Self {
        Self {
            path: &diagnostic.path,
            line: diagnostic.at.map(|at| at.line),
            col: diagnostic.at.map(|at| at.col),
            offset: diagnostic.offset,
            severity: match diagnostic.severity {
                Severity::Note => "note",
                Severity::Warning => "warning",
                Severity::Error => "error",
            },
            kind: diagnostic.kind.name(),
            message: &diagnostic.message,
        }
    }
}
