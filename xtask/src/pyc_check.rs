//! Compares what the reader of compiled files finds with what the interpreters say that wrote them.
//!
//! Each interpreter compiles trees of sources and lists every field of every code object
//! (`tests/differential/dump_fields.py`); the example `dump_fields` of `crates/pyc` lists what the reader finds in the
//! same files; `tests/differential/compare_fields.py` compares the two.

use anyhow::{Context, Result, bail, ensure};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What to compare.
#[derive(clap::Args)]
pub(crate) struct PycCheck {
    /// Folders of Python sources to compare beside the standard library of each interpreter.
    trees: Vec<PathBuf>,
    /// An interpreter (3.8 or newer) that compiles and lists; may be given several times.
    #[arg(long)]
    python: Vec<PathBuf>,
    /// The folder of an installed npm package `pyodide`, run by Node; may be given several times.
    #[arg(long)]
    pyodide: Vec<PathBuf>,
    /// Where compiled files and listings are kept.
    #[arg(long, default_value = "target/pyc-check")]
    out: PathBuf,
}

/// Compares; an error if any interpreter differs from the reader.
pub(crate) fn run(arguments: &PycCheck) -> Result<()> {
    ensure!(
        !arguments.python.is_empty() || !arguments.pyodide.is_empty(),
        "no interpreter given: use --python or --pyodide"
    );
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--release", "--package", "hognose-pyc", "--example", "dump_fields"])
        .status()?;
    ensure!(status.success(), "the example dump_fields does not build");
    let mut failed = Vec::new();
    for (number, python) in arguments.python.iter().enumerate() {
        let out = arguments.out.join(format!("python-{number}"));
        let library = output(Command::new(python).args(["-c", "import os; print(os.path.dirname(os.__file__))"]))?;
        let script = Path::new("tests/differential/dump_fields.py");
        let mut command = Command::new(python);
        command.arg(script).arg(&out).arg(library.trim()).args(&arguments.trees);
        if !check(&mut command, &out, python)? {
            failed.push(python.display().to_string());
        }
    }
    for (number, folder) in arguments.pyodide.iter().enumerate() {
        let out = arguments.out.join(format!("pyodide-{number}"));
        let mut command = Command::new("node");
        command.arg("tests/differential/dump_fields.mjs").arg(folder).arg(&out).arg("@stdlib").args(&arguments.trees);
        let comparer = arguments.python.first().map_or(Path::new("python3"), PathBuf::as_path);
        if !check(&mut command, &out, comparer)? {
            failed.push(folder.display().to_string());
        }
    }
    if !failed.is_empty() {
        bail!("the reader differs from {}", failed.join(", "));
    }
    Ok(())
}

/// Lists with both sides and compares; whether they agree.
fn check(live: &mut Command, out: &Path, comparer: &Path) -> Result<bool> {
    if out.exists() {
        std::fs::remove_dir_all(out)?;
    }
    std::fs::create_dir_all(out)?;
    let counts = output(live)?;
    let read = out.join("read.jsonl");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let dump = target.join("release/examples/dump_fields");
    let status = Command::new(&dump).arg(out).stdout(File::create(&read)?).status();
    ensure!(status.with_context(|| dump.display().to_string())?.success(), "dump_fields failed");
    let compared = Command::new(comparer)
        .arg("tests/differential/compare_fields.py")
        .arg(out.join("fields.jsonl"))
        .arg(&read)
        .output()?;
    let mut terminal = std::io::stdout().lock();
    writeln!(terminal, "{}: {}", counts.trim(), String::from_utf8_lossy(&compared.stdout).trim())?;
    Ok(compared.status.success())
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
