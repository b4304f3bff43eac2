//! `hognose analyze`: all products, their sizes and coverage.

use crate::args::{AnalyzeCommand, SummaryFormat};
use crate::output;
use crate::progress::Progress;
use crate::run::{self, Exit};
use hognose::{Product, Session, Usage};

pub(crate) fn run(command: &AnalyzeCommand) -> anyhow::Result<Exit> {
    let usage = Usage::now();
    let session = Session::new(run::config(&command.common, Some(&command.whole)))?;
    let progress = Progress::start(&command.common);
    progress.phase("loading");
    let analysis = session.analyze(&command.paths);
    if analysis.is_empty() {
        drop(progress);
        return run::finish(&session, &analysis, &command.common);
    }
    progress.phase("points-to analysis");
    analysis.prepare(Product::CallGraph);
    progress.phase("dependence graphs");
    let summary = analysis.summary();
    drop(progress);
    let region = session.profiler().region("report");
    let written = output::write(command.common.output.as_deref(), |out| match command.format {
        SummaryFormat::Text => summary.write_text(out),
        SummaryFormat::Json => {
            let diagnostics = analysis.all_diagnostics();
            summary.write_json(&diagnostics, analysis.is_partial(), out)
        }
    });
    match written {
        Ok(()) => drop(region),
        Err(error) => {
            region.fail();
            return Err(error);
        }
    }
    let exit = run::finish(&session, &analysis, &command.common)?;
    run::say_time(usage, &command.common);
    Ok(exit)
}
