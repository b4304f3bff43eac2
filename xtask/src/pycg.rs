//! The PyCG micro-benchmark: how many of its programs have a complete and a sound call graph.
//!
//! Each `<category>/<case>/` holds `main.py` and the truth, `callgraph.json`: `{caller: [callees]}`. A case is *complete* when
//! no edge is found that the truth lacks, and *sound* when none of the truth's edges is missing. The *official* score uses
//! the projection that the truth expects. With an interpreter there is a *corrected* score as well: no projection, and
//! for the programs whose truth lists edges that never happen, the edges that a run shows (`pycg_run.py`).

use anyhow::{Context, Result, ensure};
use hognose::report::pycg_graph;
use hognose::{Config, Session};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs whose published truth lists edges that never happen when they run: an overwritten value, a default that an
/// argument replaces, or a `TypeError` before the call.
const RUN_DIFFERS: [&str; 11] = [
    "builtins/map",
    "decorators/nested_decorators",
    "dicts/assign",
    "dicts/nested",
    "dicts/update",
    "kwargs/chained_call",
    "lambdas/chained_calls",
    "lambdas/parameter_call",
    "lambdas/return_call",
    "mro/self_assignment",
    "returns/return_complex",
];

const RUN_SCRIPT: &str = include_str!("pycg_run.py");

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Pycg {
    /// The folder of the benchmark: `<category>/<case>/main.py` and `callgraph.json`.
    folder: PathBuf,
    /// CPython 3.12 or newer, for the corrected score.
    #[arg(long)]
    python: Option<PathBuf>,
}

type Edges = BTreeSet<(String, String)>;

/// Cases that are complete and sound, and what the others lack.
#[derive(Default)]
struct Score {
    cases: usize,
    complete: usize,
    sound: usize,
    failures: Vec<String>,
}

pub(crate) fn run(arguments: &Pycg) -> Result<()> {
    let cases = cases(&arguments.folder)?;
    ensure!(!cases.is_empty(), "no cases in {}", arguments.folder.display());
    let mut out = std::io::stdout().lock();
    let official = score(&cases, &Config::default().projected_to_pycg(), |case| {
        truth(&case.folder)
    })?;
    official.show("official", &mut out)?;
    if let Some(python) = &arguments.python {
        let corrected = score(&cases, &Config::default(), |case| {
            if RUN_DIFFERS.contains(&&*case.name) {
                executed(python, &case.folder)
            } else {
                truth(&case.folder)
            }
        })?;
        corrected.show("corrected", &mut out)?;
    } else {
        writeln!(out, "corrected: not asked for (--python)")?;
    }
    Ok(())
}

struct Case {
    name: String,
    folder: PathBuf,
}

fn cases(folder: &Path) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for category in folders(folder)? {
        for case in folders(&category)? {
            if case.join("main.py").is_file() && case.join("callgraph.json").is_file() {
                let name = case
                    .strip_prefix(folder)
                    .unwrap_or(&case)
                    .to_string_lossy()
                    .replace('\\', "/");
                cases.push(Case { name, folder: case });
            }
        }
    }
    Ok(cases)
}

fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    Ok(found)
}

/// Copies the Python files of a case; at its top without `__init__.py`.
fn copy_sources(from: &Path, to: &Path, is_top: bool) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_sources(&entry.path(), &target, false)?;
        } else if entry.path().extension().is_some_and(|extension| extension == "py")
            && !(is_top && entry.file_name() == "__init__.py")
        {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn edges_of(graph: BTreeMap<String, Vec<String>>) -> Edges {
    let edges = graph.into_iter();
    edges
        .flat_map(|(caller, callees)| callees.into_iter().map(move |callee| (caller.clone(), callee)))
        .collect()
}

fn truth(case: &Path) -> Result<Edges> {
    let text = std::fs::read_to_string(case.join("callgraph.json"))?;
    Ok(edges_of(serde_json::from_str(&text)?))
}

/// The edges that a run of the program shows.
fn executed(python: &Path, case: &Path) -> Result<Edges> {
    let run = Command::new(python)
        .args(["-I", "-c", RUN_SCRIPT])
        .arg(case)
        .output()
        .with_context(|| python.display().to_string())?;
    ensure!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Ok(edges_of(serde_json::from_slice(&run.stdout)?))
}

fn score(cases: &[Case], config: &Config, truth: impl Fn(&Case) -> Result<Edges>) -> Result<Score> {
    let session = Session::new(config.clone())?;
    let mut score = Score::default();
    for case in cases {
        // The folder is the root, as for a script that runs, though some are packages as well.
        let place = tempfile::tempdir()?;
        copy_sources(&case.folder, place.path(), true)?;
        let analysis = session.analyze(&[place.path().join("main.py")]);
        let graph = pycg_graph(analysis.program(), analysis.calls());
        let found: Edges = graph
            .into_iter()
            .flat_map(|(caller, callees)| callees.into_iter().map(move |callee| (caller.clone(), callee)))
            .collect();
        score.add(case, &found, &truth(case).with_context(|| case.name.clone())?);
    }
    Ok(score)
}

impl Score {
    fn add(&mut self, case: &Case, found: &Edges, truth: &Edges) {
        self.cases += 1;
        let list = |edges: Vec<&(String, String)>| {
            let texts: Vec<String> = edges.iter().map(|(from, to)| format!("{from} -> {to}")).collect();
            texts.join(", ")
        };
        let extra: Vec<_> = found.difference(truth).collect();
        let missing: Vec<_> = truth.difference(found).collect();
        self.complete += usize::from(extra.is_empty());
        self.sound += usize::from(missing.is_empty());
        if !extra.is_empty() {
            self.failures
                .push(format!("{}: not complete: {}", case.name, list(extra)));
        }
        if !missing.is_empty() {
            self.failures
                .push(format!("{}: not sound: {}", case.name, list(missing)));
        }
    }

    fn show(&self, name: &str, out: &mut dyn Write) -> Result<()> {
        let Self {
            cases, complete, sound, ..
        } = self;
        writeln!(out, "{name}: {complete} complete, {sound} sound, of {cases}")?;
        for failure in &self.failures {
            writeln!(out, "  {failure}")?;
        }
        Ok(())
    }
}
