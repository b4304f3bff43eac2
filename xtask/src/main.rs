//! Tasks of the project: everything that is not `cargo build`, `test` or `run`.

mod bench;
mod cases;
mod codegen;
mod field;
mod models;
mod mutate;
mod pycg;

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
    /// Times the phases of an analysis.
    Bench(bench::Bench),
    /// One measurement of `bench`.
    #[command(hide = true)]
    BenchOne(bench::BenchOne),
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
    /// Compares the call graph with the `# expect-calls:` markers of small programs.
    Field(field::Field),
    /// Runs the PyCG micro-benchmark.
    Pycg(pycg::Pycg),
    /// Sends damaged `.pyc` files through the whole analysis.
    Mutate(mutate::Mutate),
    /// Compiles the library models of `crates/models`.
    Models {
        #[command(subcommand)]
        task: models::ModelsTask,
    },
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().task {
        Task::Bench(arguments) => bench::run(&arguments),
        Task::BenchOne(arguments) => bench::run_one(&arguments),
        Task::Field(arguments) => field::run(&arguments),
        Task::Pycg(arguments) => pycg::run(&arguments),
        Task::Cases { task } => cases::run(task),
        Task::Codegen { check } => codegen::run(check),
        Task::Mutate(arguments) => mutate::run(&arguments),
        Task::Models { task } => models::run(task),
    }
}
