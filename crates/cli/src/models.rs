//! `hognose models`: what library models there are, and whether those of a user hold.

use crate::args::{ModelsCommand, ModelsTask, SummaryFormat};
use crate::diagnostics;
use crate::output;
use crate::run::Exit;
use anyhow::bail;
use hognose::base::{DiagnosticKind, Severity};
use hognose::report::{write_models_json, write_models_text};
use hognose::{ModelCheck, check_models, list_models};
use std::path::Path;

pub(crate) fn run(command: &ModelsCommand) -> anyhow::Result<Exit> {
    match &command.task {
        ModelsTask::List { models, format, output } => {
            let listed = list_models(models);
            show(&listed, *format, output.as_deref())?;
            Ok(if listed.has_failures() {
                Exit::Partial
            } else {
                Exit::Clean
            })
        }
        ModelsTask::Check {
            folder,
            python,
            format,
            output,
        } => {
            if !folder.is_dir() {
                bail!("{} is no folder", folder.display());
            }
            let checked = check_models(folder, python.as_deref())?;
            show(&checked, *format, output.as_deref())?;
            Ok(match () {
                () if checked.models.is_empty() => Exit::Nothing,
                () if checked.has_failures() => Exit::Partial,
                () if checked.has_findings() => Exit::Findings,
                () => Exit::Clean,
            })
        }
    }
}

/// Shows the models on the standard output and what is wrong with them on the standard error.
fn show(found: &ModelCheck, format: SummaryFormat, to: Option<&Path>) -> anyhow::Result<()> {
    for diagnostic in &found.diagnostics {
        if diagnostic.severity >= Severity::Warning || diagnostic.kind == DiagnosticKind::Model {
            diagnostics::say(&diagnostic.to_string());
        }
    }
    output::write(to, |out| match format {
        SummaryFormat::Text => write_models_text(&found.models, out),
        SummaryFormat::Json => write_models_json(&found.models, &found.diagnostics, out),
    })
}
