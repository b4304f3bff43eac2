//! Benchmarks: the phases of an analysis timed and counted, against the time that CPython takes to compile the same files.
//!
//! Every measurement is a process of its own (this program again, [`run_one`]), so that peak memory is that of one
//! analysis. CPU times are compared, not wall-clock times; of several runs the fastest counts. `--growth` analyses 1, 2, 4
//! and 8 copies of a package under new names: a phase is linear where the slope of its time over the number of copies,
//! both as logarithms, is about 1. Nothing here fails a test: machines differ.

use anyhow::{Context, Result, ensure};
use hognose::{Config, Product, Session, process_cpu, report};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Bench {
    /// Folders of Python sources.
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    /// The interpreter whose compiler is the measure.
    #[arg(long, default_value = "python3.12")]
    python: PathBuf,
    /// Threads of the analysis; zero stands for all.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Runs of each measurement; the fastest counts.
    #[arg(long, default_value_t = 3)]
    repeat: usize,
    /// Analyse 1, 2, 4 and 8 copies of each folder under new names.
    #[arg(long)]
    growth: bool,
}

/// One measurement, run by this program in a process of its own.
#[derive(clap::Args)]
pub(crate) struct BenchOne {
    folder: PathBuf,
    #[arg(long)]
    threads: usize,
}

/// What a measurement found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Measured {
    /// CPU seconds of each phase, in order.
    phases: Vec<(String, f64)>,
    /// CPU seconds of the whole process.
    cpu: f64,
    /// CPU seconds without writing reports.
    analysis_cpu: f64,
    peak_bytes: u64,
    instructions: u64,
    modules: u64,
    counters: BTreeMap<String, u64>,
    files: Vec<PathBuf>,
}

impl Measured {
    fn phase(&self, name: &str) -> f64 {
        self.phases
            .iter()
            .find(|phase| phase.0 == name)
            .map_or(0.0, |phase| phase.1)
    }
}

/// Measures one analysis with all products, and prints it as JSON.
pub(crate) fn run_one(arguments: &BenchOne) -> Result<()> {
    let config = Config {
        threads: arguments.threads,
        profile: true,
        ..Config::default()
    };
    let session = Session::new(config)?;
    let analysis = session.analyze(std::slice::from_ref(&arguments.folder));
    for product in Product::ALL {
        analysis.prepare(product);
    }
    let summary = analysis.summary();
    let analysis_cpu = process_cpu();
    {
        let _region = session.profiler().region("report");
        let coverage = analysis.coverage(Product::CallGraph);
        let sink = &mut std::io::sink();
        report::write_call_graph_json(analysis.points_to(), analysis.calls(), None, &coverage, sink)?;
        let loads = analysis.data_coverage();
        report::write_ddg_json(analysis.points_to(), analysis.ddg(), loads, None, sink)?;
    }
    let regions = session.profiler().regions();
    let mut phases: Vec<(String, f64)> = Vec::new();
    for region in &regions {
        let name = match region.parent {
            Some(parent) => format!("{}/{}", regions[parent].name, region.name),
            None => region.name.clone(),
        };
        phases.push((name, region.cpu.as_secs_f64()));
    }
    let measured = Measured {
        phases,
        cpu: process_cpu().as_secs_f64(),
        analysis_cpu: analysis_cpu.as_secs_f64(),
        peak_bytes: regions.iter().map(|region| region.rss_peak).max().unwrap_or(0),
        instructions: summary.instructions,
        modules: summary.modules,
        counters: session.profiler().counters(),
        files: analysis
            .files()
            .iter()
            .map(|file| arguments.folder.join(&file.path))
            .collect(),
    };
    serde_json::to_writer(std::io::stdout().lock(), &measured)?;
    Ok(())
}

/// Measures each folder, or its growth.
pub(crate) fn run(arguments: &Bench) -> Result<()> {
    let mut out = std::io::stdout().lock();
    for folder in &arguments.folders {
        if arguments.growth {
            growth(arguments, folder, &mut out)?;
        } else {
            let measured = fastest(arguments, folder)?;
            let reference = cpython_seconds(&arguments.python, &measured.files, arguments.repeat);
            table(folder, &measured, reference, &mut out)?;
        }
    }
    Ok(())
}

fn fastest(arguments: &Bench, folder: &Path) -> Result<Measured> {
    let mut best: Option<Measured> = None;
    for _ in 0..arguments.repeat.max(1) {
        let run = Command::new(std::env::current_exe()?)
            .arg("bench-one")
            .arg(folder)
            .args(["--threads", &arguments.threads.to_string()])
            .stderr(Stdio::inherit())
            .output()?;
        ensure!(
            run.status.success(),
            "{}: the analysis ended with {}",
            folder.display(),
            run.status
        );
        let measured: Measured = serde_json::from_slice(&run.stdout)?;
        if best
            .as_ref()
            .is_none_or(|best| measured.analysis_cpu < best.analysis_cpu)
        {
            best = Some(measured);
        }
    }
    best.context("nothing was measured")
}

/// CPU seconds that one CPython process takes to compile the files; the fastest of several runs.
fn cpython_seconds(python: &Path, files: &[PathBuf], repeat: usize) -> Result<f64> {
    const SCRIPT: &str = "\
import sys, time
total = 0.0
for path in sys.stdin.buffer.read().split(b'\\0'):
    try:
        with open(path, 'rb') as file:
            source = file.read()
        start = time.process_time()
        compile(source, path, 'exec', dont_inherit=True)
        total += time.process_time() - start
    except (SyntaxError, ValueError, OSError):
        pass
print(total)
";
    let list: Vec<Vec<u8>> = files
        .iter()
        .map(|file| file.to_string_lossy().into_owned().into_bytes())
        .collect();
    let list = list.join(&0);
    let mut best = f64::INFINITY;
    for _ in 0..repeat.max(1) {
        let mut child = Command::new(python)
            .args(["-I", "-S", "-W", "ignore", "-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| python.display().to_string())?;
        child.stdin.take().context("no standard input")?.write_all(&list)?;
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "{} failed", python.display());
        best = best.min(String::from_utf8_lossy(&output.stdout).trim().parse()?);
    }
    Ok(best)
}

fn table(folder: &Path, measured: &Measured, reference: Result<f64>, out: &mut dyn Write) -> Result<()> {
    writeln!(
        out,
        "{}: {} modules, {} instructions, peak {} MiB",
        folder.display(),
        measured.modules,
        measured.instructions,
        measured.peak_bytes >> 20
    )?;
    writeln!(out, "  {:<16} {:>9} {:>16}", "phase", "CPU s", "instructions/s")?;
    for (name, seconds) in &measured.phases {
        let rate = if *seconds > 0.0 {
            measured.instructions as f64 / seconds
        } else {
            0.0
        };
        writeln!(out, "  {name:<16} {seconds:>9.3} {rate:>16.0}")?;
    }
    let rate = measured.instructions as f64 / measured.analysis_cpu;
    writeln!(
        out,
        "  {:<16} {:>9.3} {rate:>16.0}",
        "all but report", measured.analysis_cpu
    )?;
    match reference {
        Ok(seconds) => {
            let ratio = measured.analysis_cpu / seconds;
            writeln!(out, "  {:<16} {seconds:>9.3}    ratio {ratio:.2}", "CPython compile")?;
        }
        Err(error) => writeln!(out, "  CPython compile: not measured ({error:#})")?,
    }
    let counters: Vec<String> = measured
        .counters
        .iter()
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    writeln!(out, "  {}\n", counters.join(", "))?;
    Ok(())
}

const COPIES: [u32; 4] = [1, 2, 4, 8];

fn growth(arguments: &Bench, folder: &Path, out: &mut dyn Write) -> Result<()> {
    let name = folder
        .file_name()
        .context("the folder has no name")?
        .to_string_lossy()
        .into_owned();
    let mut runs = Vec::new();
    for copies in COPIES {
        let place = tempfile::tempdir()?;
        for number in 0..copies {
            let copy = format!("{name}_copy{number}");
            copy_package(folder, &place.path().join(&copy), &name, &copy)?;
        }
        runs.push(fastest(arguments, place.path())?);
    }
    writeln!(
        out,
        "{}: 1, 2, 4, 8 copies; CPU seconds and log-log slope",
        folder.display()
    )?;
    let names: Vec<String> = runs[0].phases.iter().map(|phase| phase.0.clone()).collect();
    for phase in &names {
        let seconds: Vec<f64> = runs.iter().map(|run| run.phase(phase)).collect();
        growth_row(phase, &seconds, out)?;
    }
    growth_row(
        "all but report",
        &runs.iter().map(|run| run.analysis_cpu).collect::<Vec<_>>(),
        out,
    )?;
    growth_row(
        "peak MiB",
        &runs.iter().map(|run| (run.peak_bytes >> 20) as f64).collect::<Vec<_>>(),
        out,
    )?;
    growth_row(
        "instructions",
        &runs.iter().map(|run| run.instructions as f64).collect::<Vec<_>>(),
        out,
    )?;
    writeln!(out)?;
    Ok(())
}

fn growth_row(name: &str, values: &[f64], out: &mut dyn Write) -> Result<()> {
    write!(out, "  {name:<16}")?;
    for value in values {
        if value.fract() == 0.0 {
            write!(out, " {value:>10.0}")?;
        } else {
            write!(out, " {value:>10.3}")?;
        }
    }
    writeln!(out, "   slope {:.2}", slope(values))?;
    Ok(())
}

/// The slope of the least-squares line through (log copies, log value).
fn slope(values: &[f64]) -> f64 {
    let points: Vec<(f64, f64)> = COPIES
        .iter()
        .zip(values)
        .filter(|(_, value)| **value > 0.0)
        .map(|(&copies, value)| (f64::from(copies).ln(), value.ln()))
        .collect();
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
    let covariance: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = points.iter().map(|(x, _)| (x - mean_x) * (x - mean_x)).sum();
    covariance / variance
}

/// Copies the Python files of a package; its own name becomes the copy's name wherever it stands as a word of its own,
/// so that absolute imports stay within the copy.
fn copy_package(from: &Path, to: &Path, name: &str, copy: &str) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_package(&entry.path(), &target, name, copy)?;
        } else if kind.is_file() && entry.path().extension().is_some_and(|extension| extension == "py") {
            let bytes = std::fs::read(entry.path())?;
            match String::from_utf8(bytes) {
                Ok(text) => std::fs::write(target, renamed(&text, name, copy))?,
                Err(error) => std::fs::write(target, error.into_bytes())?,
            }
        }
    }
    Ok(())
}

fn renamed(text: &str, name: &str, copy: &str) -> String {
    let word = |character: char| character.is_alphanumeric() || character == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, behind) = (&rest[..at], &rest[at + name.len()..]);
        let last = before.chars().next_back().or_else(|| out.chars().next_back());
        let alone = !last.is_some_and(|last| word(last) || last == '.') && !behind.chars().next().is_some_and(word);
        out.push_str(before);
        out.push_str(if alone { copy } else { name });
        rest = behind;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_linear_and_quadratic_growth() {
        assert!((slope(&[1.0, 2.0, 4.0, 8.0]) - 1.0).abs() < 1e-9);
        assert!((slope(&[3.0, 12.0, 48.0, 192.0]) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn only_whole_words_are_renamed() {
        let text = "from pkg.a import b\nimport pkg\nx.pkg = pkg2 = _pkg\npkg.c(\"pkg.d\")\n";
        let expected = "from new.a import b\nimport new\nx.pkg = pkg2 = _pkg\nnew.c(\"new.d\")\n";
        assert_eq!(renamed(text, "pkg", "new"), expected);
    }
}
