//! The library models: `hognose.models/1`, and the table that people read.
//!
//! `{"models": [{module, origin, functions, classes}], "diagnostics": [...]}`; the origin is `built-in` or the path of the file.

use crate::coverage::DiagnosticRecord;
use crate::document::Document;
use hognose_base::Diagnostic;
use serde::Serialize;
use std::io::{self, Write};

/// A library model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelSummary {
    /// The module in whose place it is analysed.
    pub module: String,
    /// Where it comes from: `built-in`, or the path of the file as given.
    pub origin: String,
    /// Number of its functions and methods, lambdas not counted.
    pub functions: u64,
    /// Number of its classes.
    pub classes: u64,
}

/// Writes models, and what is wrong with them, as JSON.
///
/// # Errors
/// If writing fails.
pub fn write_models_json(models: &[ModelSummary], diagnostics: &[Diagnostic], out: &mut dyn Write) -> io::Result<()> {
    let mut document = Document::begin(out, "hognose.models/1")?;
    document.array("models", models)?;
    document.array("diagnostics", diagnostics.iter().map(DiagnosticRecord::from))?;
    document.end()
}

/// Writes models as a table.
///
/// # Errors
/// If writing fails.
pub fn write_models_text(models: &[ModelSummary], out: &mut dyn Write) -> io::Result<()> {
    let lengths = models.iter().map(|model| model.module.chars().count());
    let width = lengths.chain(["module".len()]).max().unwrap_or(0);
    writeln!(out, "{:width$}  functions  classes  origin", "module")?;
    for model in models {
        let ModelSummary {
            module,
            origin,
            functions,
            classes,
        } = model;
        writeln!(out, "{module:width$}  {functions:>9}  {classes:>7}  {origin}")?;
    }
    Ok(())
}
