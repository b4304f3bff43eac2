//! The summary of an analysis: `hognose.analyze/1`, and the table that people read.

use crate::coverage::{CoverageRecord, DiagnosticRecord};
use crate::document::Document;
use crate::place::is_false;
use hognose_base::{Coverage, Diagnostic};
use serde::Serialize;
use std::io::{self, Write};

/// A file of the analysis.
#[derive(Clone, Debug, Serialize)]
pub struct FileSummary {
    /// Path as shown to the user.
    pub path: String,
    /// Dotted module name.
    pub module: String,
    /// Version of its bytecode; none if it could not be loaded.
    pub version: Option<String>,
    /// Number of code objects.
    pub code_objects: u64,
    /// Number of instructions.
    pub instructions: u64,
    /// Whether it belongs to an installed dependency.
    #[serde(rename = "dependency", skip_serializing_if = "is_false")]
    pub is_dependency: bool,
}

/// Sizes of a product, and how much of it is known.
#[derive(Clone, Debug)]
pub struct ProductSummary {
    /// The product's name on the command line.
    pub name: &'static str,
    /// What is counted, in order.
    pub sizes: Vec<(&'static str, u64)>,
    /// Its coverage.
    pub coverage: Coverage,
}

/// What was analysed of installed dependencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DependencyTotals {
    /// Their modules that the program imports, directly or not.
    pub modules: u64,
    /// Code objects of these.
    pub code_objects: u64,
    /// Functions among them.
    pub functions: u64,
    /// Functions that a call of the program or of a dependency reaches.
    pub reached_by_program: u64,
    /// Functions that only an unknown caller reaches.
    pub reached_by_entry: u64,
    /// Instructions.
    pub instructions: u64,
}

/// The summary of an analysis.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The files in canonical order.
    pub files: Vec<FileSummary>,
    /// Modules of the project that were analysed.
    pub modules: u64,
    /// Code objects.
    pub code_objects: u64,
    /// Functions among them.
    pub functions: u64,
    /// Functions that a call of the program reaches.
    pub reached_by_program: u64,
    /// Functions that only an unknown caller reaches.
    pub reached_by_entry: u64,
    /// Instructions.
    pub instructions: u64,
    /// Library models that the program uses.
    pub models: u64,
    /// What was analysed of installed dependencies; in none of the figures above.
    pub dependencies: DependencyTotals,
    /// The products, of project and dependencies together.
    pub products: Vec<ProductSummary>,
}

#[derive(Serialize)]
struct Totals {
    modules: u64,
    code_objects: u64,
    functions: u64,
    reached_by_program: u64,
    reached_by_entry: u64,
    instructions: u64,
    models: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dependencies: Option<DependencyTotals>,
}

#[derive(Serialize)]
struct Product<'a> {
    name: &'a str,
    sizes: serde_json::Map<String, serde_json::Value>,
    coverage: CoverageRecord,
}

impl Summary {
    /// Writes the summary as JSON.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_json(&self, diagnostics: &[Diagnostic], partial: bool, out: &mut dyn Write) -> io::Result<()> {
        let mut document = Document::begin(out, "hognose.analyze/1")?;
        document.field("status", &if partial { "partial" } else { "complete" })?;
        document.field(
            "totals",
            &Totals {
                modules: self.modules,
                code_objects: self.code_objects,
                functions: self.functions,
                reached_by_program: self.reached_by_program,
                reached_by_entry: self.reached_by_entry,
                instructions: self.instructions,
                models: self.models,
                dependencies: self.has_dependencies().then_some(self.dependencies),
            },
        )?;
        let products = self.products.iter().map(|product| Product {
            name: product.name,
            sizes: product
                .sizes
                .iter()
                .map(|&(name, size)| (name.replace(' ', "_"), size.into()))
                .collect(),
            coverage: (&product.coverage).into(),
        });
        document.array("products", products)?;
        document.array("files", &self.files)?;
        document.array("diagnostics", diagnostics.iter().map(DiagnosticRecord::from))?;
        document.end()
    }

    /// Writes the summary as a table.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let versions: std::collections::BTreeSet<&str> =
            self.files.iter().filter_map(|file| file.version.as_deref()).collect();
        let versions: Vec<&str> = versions.into_iter().collect();
        writeln!(
            out,
            "{} modules (Python {}), {} code objects, {} functions, {} instructions",
            grouped(self.modules),
            versions.join(", "),
            grouped(self.code_objects),
            grouped(self.functions),
            grouped(self.instructions)
        )?;
        writeln!(
            out,
            "functions reached: {} by the program, {} only as entry points; {} library models{}",
            grouped(self.reached_by_program),
            grouped(self.reached_by_entry),
            grouped(self.models),
            if self.has_dependencies() { "" } else { "\n" }
        )?;
        if self.has_dependencies() {
            let of = &self.dependencies;
            writeln!(
                out,
                "dependencies: {} modules, {} functions ({} reached), {} instructions; the products are of both\n",
                grouped(of.modules),
                grouped(of.functions),
                grouped(of.reached_by_program + of.reached_by_entry),
                grouped(of.instructions)
            )?;
        }
        writeln!(out, "{:<9} {:<56} coverage", "product", "size")?;
        for product in &self.products {
            let sizes: Vec<String> = product
                .sizes
                .iter()
                .map(|&(name, size)| format!("{} {name}", grouped(size)))
                .collect();
            writeln!(
                out,
                "{:<9} {:<56} {}",
                product.name,
                sizes.join(", "),
                coverage_text(&product.coverage)
            )?;
        }
        self.write_reasons(out)
    }

    const fn has_dependencies(&self) -> bool {
        self.dependencies.modules > 0
    }

    fn write_reasons(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(calls) = self.products.iter().find(|product| product.name == "cg") else {
            return Ok(());
        };
        let mut kinds: Vec<_> = calls
            .coverage
            .by_kind
            .iter()
            .map(|(kind, &count)| (count, kind.name()))
            .collect();
        kinds.sort_by(|left, right| right.0.cmp(&left.0).then(left.1.cmp(right.1)));
        if kinds.is_empty() {
            return Ok(());
        }
        writeln!(out, "\nwhy call sites are not fully known:")?;
        for (count, name) in kinds.into_iter().take(8) {
            writeln!(out, "{:>10}  {name}", grouped(count))?;
        }
        Ok(())
    }
}

fn coverage_text(coverage: &Coverage) -> String {
    let level = coverage.level().name();
    let sites = coverage.sites();
    if sites == 0 {
        return format!(
            "{level}: {} of {} functions",
            grouped(coverage.functions_analysed),
            grouped(coverage.functions_total)
        );
    }
    let percent = |part: u64| format!("{:.1} %", part as f64 * 100.0 / sites as f64);
    format!(
        "{level}: {} resolved, {} open, {} unresolved, {} silent",
        percent(coverage.resolved),
        percent(coverage.open),
        percent(coverage.unresolved),
        percent(coverage.silent)
    )
}

/// A number with commas between groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let shown = [0, 12, 999, 1000, 123_456, 1_234_567].map(grouped);
        assert_eq!(shown, ["0", "12", "999", "1,000", "123,456", "1,234,567"]);
    }
}
