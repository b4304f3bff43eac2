//! The `hognose` command: arguments in, reports out, nothing else.

mod analyze;
mod args;
mod diagnostics;
mod dis;
mod graph;
mod models;
mod output;
mod progress;
mod run;

use args::{Arguments, Command};
use clap::Parser;
use run::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.command {
        Command::Analyze(command) => analyze::run(command),
        Command::Graph(command) => graph::run(command),
        Command::Dis(command) => dis::run(command),
        Command::Models(command) => models::run(command),
    };
    let exit = result.unwrap_or_else(|error| {
        if output::is_closed_pipe(&error) {
            return Exit::Clean;
        }
        diagnostics::say(&format!("error: {error:#}"));
        Exit::Usage
    });
    ExitCode::from(exit as u8)
}
