//! `hognose dis`: the semantic instructions of one file.

use crate::args::{DisCommand, SummaryFormat};
use crate::output;
use crate::run::{self, Exit};
use anyhow::bail;
use hognose::Session;
use hognose::report::{write_dis_json, write_dis_text};

pub(crate) fn run(command: &DisCommand) -> anyhow::Result<Exit> {
    if command.file.is_dir() {
        bail!("{} is a folder; dis shows one file", command.file.display());
    }
    let session = Session::new(run::config(&command.common, None))?;
    let analysis = session.analyze(std::slice::from_ref(&command.file));
    for file in analysis.files() {
        if let Some(ir) = &file.ir {
            let region = session.profiler().region("report");
            output::write(command.common.output.as_deref(), |out| match command.format {
                SummaryFormat::Text => write_dis_text(&file.path, ir, out),
                SummaryFormat::Json => write_dis_json(&file.path, ir, out),
            })?;
            drop(region);
        }
    }
    run::finish(&session, &analysis, &command.common)
}
