//! `hognose graph`: one product.

use crate::args::{GraphCommand, GraphFormat, ProductArgument, Projection};
use crate::output;
use crate::progress::Progress;
use crate::run::{self, Exit};
use anyhow::bail;
use hognose::pta::CodeId;
use hognose::report;
use hognose::{Analysis, Product, Session};
use std::io::{self, Write};

pub(crate) fn run(command: &GraphCommand) -> anyhow::Result<Exit> {
    check(command)?;
    let mut config = run::config(&command.common, Some(&command.whole));
    if command.project == Some(Projection::Official) {
        config = config.projected_to_pycg();
    }
    let session = Session::new(config)?;
    let progress = Progress::start(&command.common);
    progress.phase("loading");
    let analysis = session.analyze(&command.paths);
    if analysis.is_empty() {
        drop(progress);
        return run::finish(&session, &analysis, &command.common);
    }
    let functions = match &command.function {
        Some(name) => match analysis.find(name) {
            found if found.is_empty() => bail!("no function, class or module is called {name}"),
            found => Some(found),
        },
        None => None,
    };
    progress.phase("analysing");
    analysis.prepare(product(command.product));
    progress.phase("writing");
    let region = session.profiler().region("report");
    let written = output::write(command.common.output.as_deref(), |out| {
        write(&analysis, command, functions.as_deref(), out)
    });
    drop(progress);
    match written {
        Ok(()) => drop(region),
        Err(error) => {
            region.fail();
            return Err(error);
        }
    }
    run::finish(&session, &analysis, &command.common)
}

const fn product(argument: ProductArgument) -> Product {
    match argument {
        ProductArgument::Cfg => Product::Cfg,
        ProductArgument::Cdg => Product::Cdg,
        ProductArgument::Cg => Product::CallGraph,
        ProductArgument::Pta => Product::PointsTo,
        ProductArgument::Ddg => Product::Ddg,
        ProductArgument::Ssa => Product::Ssa,
        ProductArgument::Classes => Product::Classes,
        ProductArgument::Modules => Product::Modules,
    }
}

fn check(command: &GraphCommand) -> anyhow::Result<()> {
    if command.format == GraphFormat::Pycg && command.product != ProductArgument::Cg {
        bail!("--format pycg is for the call graph (cg) alone");
    }
    if command.format == GraphFormat::Pycg && command.function.is_some() {
        bail!("--format pycg is for the whole call graph, without --function");
    }
    if command.project.is_some() && command.format != GraphFormat::Pycg {
        bail!("--project is for --format pycg alone");
    }
    let whole = matches!(command.product, ProductArgument::Classes | ProductArgument::Modules);
    if whole && command.function.is_some() {
        bail!("--function is not for the class and module graphs");
    }
    Ok(())
}

fn write(
    analysis: &Analysis,
    command: &GraphCommand,
    functions: Option<&[CodeId]>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let program = analysis.program();
    let all: Vec<CodeId>;
    let codes = match functions {
        Some(codes) => codes,
        None => {
            all = analysis.codes().collect();
            &all
        }
    };
    let json = command.format == GraphFormat::Json;
    match command.product {
        ProductArgument::Cfg if json => report::write_cfg_json(program, codes, out),
        ProductArgument::Cfg => report::write_cfg_dot(program, codes, out),
        ProductArgument::Ssa if json => report::write_ssa_json(program, codes, out),
        ProductArgument::Ssa => report::write_ssa_dot(program, codes, out),
        ProductArgument::Cdg if json => report::write_cdg_json(program, analysis.cdgs(), codes, out),
        ProductArgument::Cdg => report::write_cdg_dot(program, analysis.cdgs(), codes, out),
        ProductArgument::Pta if json => report::write_points_to_json(analysis.points_to(), functions, out),
        ProductArgument::Pta => report::write_points_to_dot(analysis.points_to(), codes, out),
        ProductArgument::Ddg if json => {
            let coverage = analysis.data_coverage();
            report::write_ddg_json(analysis.points_to(), analysis.ddg(), coverage, functions, out)
        }
        ProductArgument::Ddg => report::write_ddg_dot(analysis.points_to(), analysis.ddg(), functions, out),
        ProductArgument::Classes if json => report::write_classes_json(analysis.points_to(), analysis.classes(), out),
        ProductArgument::Classes => report::write_classes_dot(analysis.classes(), out),
        ProductArgument::Modules if json => report::write_modules_json(program, analysis.modules(), out),
        ProductArgument::Modules => report::write_modules_dot(analysis.modules(), out),
        ProductArgument::Cg => write_calls(analysis, command.format, functions, out),
    }
}

fn write_calls(
    analysis: &Analysis,
    format: GraphFormat,
    functions: Option<&[CodeId]>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (points_to, calls) = (analysis.points_to(), analysis.calls());
    match format {
        GraphFormat::Json => {
            let coverage = analysis.coverage(Product::CallGraph);
            report::write_call_graph_json(points_to, calls, functions, &coverage, out)
        }
        GraphFormat::Dot => report::write_call_graph_dot(points_to, calls, functions, out),
        GraphFormat::Pycg => report::write_pycg(analysis.program(), calls, out),
    }
}
