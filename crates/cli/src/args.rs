//! The arguments of the command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Whole-program static analysis of Python.
#[derive(Parser, Debug)]
#[command(name = "hognose", version, about, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 findings (models check); 2 wrong usage; 3 partial result (a file failed or a limit was hit; what there is, is printed);
4 nothing could be analysed.";

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Compute all graphs of a program and show their sizes and coverage.
    #[command(after_help = "\
Examples:
  hognose analyze src                        a folder: all its modules
  hognose analyze main.py                    a script and the modules of its folder that it imports
  hognose analyze pkg --python 3.12          compiled by that interpreter
  hognose analyze pkg --deps .venv           with the installed packages that it imports
  hognose analyze pkg --unresolved           what to model next
  hognose analyze pkg --format json -o summary.json --profile profile.json")]
    Analyze(AnalyzeCommand),
    /// Write one graph: as JSON, as DOT, or in another format.
    #[command(after_help = "\
Examples:
  hognose graph cg src -o calls.json
  hognose graph cfg src --function shop.cart.Cart.total --format dot | dot -Tsvg -o total.svg
  hognose graph cg main.py --format pycg")]
    Graph(GraphCommand),
    /// Show the semantic instructions of one file.
    #[command(after_help = "\
Examples:
  hognose dis cart.py
  hognose dis cart.py --python 3.12
  hognose dis __pycache__/cart.cpython-310.pyc --format json")]
    Dis(DisCommand),
    /// List the library models, or check a folder of them.
    #[command(after_help = "\
Examples:
  hognose models list
  hognose models list --models mine --format json
  hognose models check mine                  do they compile, and use what there is?
  hognose models check mine --python .venv   do their functions take what those of the library take?")]
    Models(ModelsCommand),
}

/// Arguments of all commands that read Python.
#[derive(Args, Debug)]
pub(crate) struct Common {
    /// Compile with this interpreter: a version (3.12), an executable, or a virtual environment. Default: the embedded
    /// compiler (Python 3.14), which needs no Python.
    #[arg(long, value_name = "PYTHON")]
    pub(crate) python: Option<String>,
    /// Number of threads; the result does not depend on it [default: all]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) threads: usize,
    /// Write to this file instead of the standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write where time and memory went to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// Exit with 0 though a file failed or a limit was hit.
    #[arg(long)]
    pub(crate) allow_partial: bool,
    /// Show errors only: no warnings, progress or times.
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Show notes as well.
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// Arguments of the whole-program analysis.
#[derive(Args, Debug)]
pub(crate) struct Whole {
    /// Analyse given files alone, without the modules of their folder that they import.
    #[arg(long)]
    pub(crate) no_follow: bool,
    /// Resolve imports that the project does not answer in this folder: a virtual environment or a site-packages folder.
    /// May be given several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) deps: Vec<PathBuf>,
    /// Take library models from this folder of Python modules, before ours of the same name. May be given several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) models: Vec<PathBuf>,
    /// What runs by itself: module bodies alone, or also every function that nothing else calls.
    #[arg(long, value_enum, default_value_t = RootsArgument::Exports)]
    pub(crate) roots: RootsArgument,
    /// How exact: all definitions of a local merged, or flow-sensitive.
    #[arg(long, value_enum, default_value_t = SensitivityArgument::Default)]
    pub(crate) sensitivity: SensitivityArgument,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RootsArgument {
    Modules,
    Exports,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SensitivityArgument {
    Insensitive,
    Default,
}

#[derive(Args, Debug)]
pub(crate) struct AnalyzeCommand {
    /// Folders, Python files and compiled files.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Show instead why call sites are not fully known: the external values, attributes and variables behind most of them.
    #[arg(long)]
    pub(crate) unresolved: bool,
    /// Format of the summary.
    #[arg(long, value_enum, default_value_t = SummaryFormat::Text)]
    pub(crate) format: SummaryFormat,
    #[command(flatten)]
    pub(crate) whole: Whole,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryFormat {
    Text,
    Json,
}

#[derive(Args, Debug)]
pub(crate) struct GraphCommand {
    /// Which graph.
    #[arg(value_enum)]
    pub(crate) product: ProductArgument,
    /// Folders, Python files and compiled files.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Only what concerns this function (class, module): its dotted name, or the end of it.
    #[arg(long, value_name = "NAME")]
    pub(crate) function: Option<String>,
    /// Format of the graph; `pycg` is for the call graph alone.
    #[arg(long, value_enum, default_value_t = GraphFormat::Json)]
    pub(crate) format: GraphFormat,
    /// Give up precision that a comparison does not expect: `official` is the truth of the PyCG micro-benchmark, which
    /// keeps overwritten values, binds defaults always and ignores arity. With `--format pycg` only.
    #[arg(long, value_enum)]
    pub(crate) project: Option<Projection>,
    #[command(flatten)]
    pub(crate) whole: Whole,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProductArgument {
    /// Control-flow graphs.
    Cfg,
    /// Control-dependence graphs.
    Cdg,
    /// The call graph.
    Cg,
    /// Points-to sets.
    Pta,
    /// The data-dependence graph.
    Ddg,
    /// SSA forms.
    Ssa,
    /// The class hierarchy.
    Classes,
    /// The module graph.
    Modules,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    Json,
    Dot,
    Pycg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Projection {
    Official,
}

#[derive(Args, Debug)]
pub(crate) struct DisCommand {
    /// A Python file or a compiled file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Format of the listing.
    #[arg(long, value_enum, default_value_t = SummaryFormat::Text)]
    pub(crate) format: SummaryFormat,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args, Debug)]
pub(crate) struct ModelsCommand {
    #[command(subcommand)]
    pub(crate) task: ModelsTask,
}

#[derive(Subcommand, Debug)]
pub(crate) enum ModelsTask {
    /// Show the models: module, number of functions and classes, where it comes from.
    List {
        /// A folder of further models, which count before ours of the same name. May be given several times.
        #[arg(long, value_name = "DIR")]
        models: Vec<PathBuf>,
        /// Format of the list.
        #[arg(long, value_enum, default_value_t = SummaryFormat::Text)]
        format: SummaryFormat,
        /// Write to this file instead of the standard output.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Compile a folder of models and say what is wrong with them. Exit code 1 if a model says what is not so, 3 if a file does
    /// not compile, 4 if there is no model.
    Check {
        /// The folder.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Compare parameters with what this interpreter says: a version, an executable, or a virtual environment. It imports
        /// the modelled modules.
        #[arg(long, value_name = "PYTHON")]
        python: Option<String>,
        /// Format of the list of models.
        #[arg(long, value_enum, default_value_t = SummaryFormat::Text)]
        format: SummaryFormat,
        /// Write to this file instead of the standard output.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_holds_together() {
        Arguments::command().debug_assert();
    }
}
