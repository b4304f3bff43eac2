//! `hognose analyze`: all products, their sizes and coverage; or what is not known of the call graph.

use crate::args::{AnalyzeCommand, SummaryFormat};
use crate::output;
use crate::progress::Progress;
use crate::run::{self, Exit};
use hognose::report::{Summary, Unresolved};
use hognose::{Product, Session, Usage};

/// What is shown of an analysis.
enum Report {
    Summary(Summary),
    Unresolved(Unresolved),
}

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
    let report = if command.unresolved {
        Report::Unresolved(Unresolved::of(analysis.points_to(), analysis.calls()))
    } else {
        progress.phase("dependence graphs");
        Report::Summary(analysis.summary())
    };
    drop(progress);
    let region = session.profiler().region("report");
    let (diagnostics, partial) = (analysis.all_diagnostics(), analysis.is_partial());
    let written = output::write(command.common.output.as_deref(), |out| {
        match (&report, command.format) {
            (Report::Summary(summary), SummaryFormat::Text) => summary.write_text(out),
            (Report::Summary(summary), SummaryFormat::Json) => summary.write_json(&diagnostics, partial, out),
            (Report::Unresolved(causes), SummaryFormat::Text) => causes.write_text(out),
            (Report::Unresolved(causes), SummaryFormat::Json) => causes.write_json(&diagnostics, partial, out),
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
