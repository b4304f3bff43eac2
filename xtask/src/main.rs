//! Tasks of the project: everything that is not `cargo build`, `test` or `run`.

mod cases;
mod codegen;

use clap::{Parser, Subcommand};

/// Tasks of the project.
#[derive(Parser)]
#[command(name = "xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// The literate cases: their bytecode fixtures and the runs of the oracle.
    Cases {
        #[command(subcommand)]
        task: cases::CasesTask,
    },
    /// Generates the opcode tables of `crates/ir` from its facts.
    Codegen {
        /// Only checks that the generated files are fresh.
        #[arg(long)]
        check: bool,
    },
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().task {
        Task::Cases { task } => cases::run(task),
        Task::Codegen { check } => codegen::run(check),
    }
}
