//! The bytecode fixtures of the literate cases, and the runs of the oracle.
//!
//! An *interpreter* is a native CPython, or CPython 3.14 compiled to WebAssembly (npm package `pyodide`, run by Node).
//! Absent ones are named loudly; what depends on them is kept as it is, never dropped.

use anyhow::{Context, Result, bail, ensure};
use clap::Subcommand;
use hognose_testkit::{CaseFile, Fixture, FixtureEntry, Target, find_case_files, parse_cases, source_hash};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What to do with the cases.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum CasesTask {
    /// Compiles every case under every interpreter present and writes the fixtures.
    Build,
    /// Checks that the fixtures are what the interpreters present compile.
    Check,
    /// Executes the cases under every interpreter present and compares their facts.
    Verify,
}

/// Does it.
pub(crate) fn run(task: CasesTask) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("the workspace has no folder")?;
    let interpreters = interpreters(root, &releases(&root.join(FIXTURES)));
    match task {
        CasesTask::Verify => verify(root, &interpreters),
        CasesTask::Build => fixtures(root, &interpreters, true),
        CasesTask::Check => fixtures(root, &interpreters, false),
    }
}

const FIXTURES: &str = "tests/fixtures/cases";
/// Names the releases that compiled the fixtures: patch releases of one version do not compile alike.
const RELEASES: &str = "releases.json";

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// How to run a script under one version.
struct Interpreter {
    version: Target,
    /// With its patch level: `3.12.1`.
    release: String,
    command: Vec<String>,
}

impl Interpreter {
    fn run(&self, script: &Path, arguments: &[&Path]) -> Result<std::process::ExitStatus> {
        let mut command = Command::new(&self.command[0]);
        command
            .args(&self.command[1..])
            .arg(script)
            .args(arguments)
            .stdin(Stdio::null());
        command
            .status()
            .with_context(|| format!("cannot run {}", self.command[0]))
    }
}

/// The interpreters present, at most one a version, preferably the releases that compiled the fixtures; says which are
/// absent.
fn interpreters(root: &Path, releases: &BTreeMap<String, String>) -> Vec<Interpreter> {
    let mut found = Vec::new();
    for version in Target::ALL {
        let Some(minor) = version.minor() else { continue };
        let mut commands: Vec<Vec<String>> = candidates(minor).into_iter().map(|path| vec![path]).collect();
        if version == Target::Py314 {
            commands.extend(wasm(root));
        }
        let mut present: Vec<Interpreter> = commands
            .into_iter()
            .filter_map(|command| {
                Some(Interpreter {
                    version,
                    release: release(root, &command, minor)?,
                    command,
                })
            })
            .collect();
        let recorded = releases.get(version.name());
        // Stable: among the others the first wins.
        present.sort_by_key(|interpreter| Some(&interpreter.release) != recorded);
        match present.into_iter().next() {
            Some(interpreter) => found.push(interpreter),
            None => say(&format!(
                "ABSENT: Python {version}; nothing that needs it is built or checked"
            )),
        }
    }
    found
}

/// The release of an interpreter, if it is a CPython of this version.
fn release(root: &Path, command: &[String], minor: u8) -> Option<String> {
    let script = root.join("tests/oracle/release.py");
    let output = Command::new(&command[0])
        .args(&command[1..])
        .arg(script)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let release = text.trim().strip_prefix("cpython ")?;
    release.starts_with(&format!("3.{minor}.")).then(|| release.to_owned())
}

/// The releases that compiled the fixtures, by version.
fn releases(folder: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read(folder.join(RELEASES)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Where a CPython of this version may be: on the path, or installed by pyenv.
fn candidates(minor: u8) -> Vec<String> {
    let name = format!("python3.{minor}");
    let mut paths = vec![name.clone()];
    let pyenv = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let pyenv = pyenv.or_else(|| Some(std::env::home_dir()?.join(".pyenv")));
    let installed = pyenv.and_then(|folder| std::fs::read_dir(folder.join("versions")).ok());
    let mut folders: Vec<PathBuf> = installed
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    folders.sort();
    paths.extend(
        folders
            .iter()
            .map(|folder| folder.join("bin").join(&name).display().to_string()),
    );
    paths
}

/// CPython 3.14 under Node, installed from the committed lock file if it is not there yet.
fn wasm(root: &Path) -> Option<Vec<String>> {
    let tools = root.join("tests/tools");
    let works = |name: &str| {
        Command::new(name)
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success())
    };
    if !works("node") {
        return None;
    }
    if !tools.join("node_modules/pyodide/package.json").exists() {
        let mut install = Command::new("npm");
        install
            .args(["ci", "--no-audit", "--no-fund", "--silent"])
            .current_dir(&tools)
            .stdin(Stdio::null());
        if !install.status().is_ok_and(|status| status.success()) {
            return None;
        }
    }
    Some(vec!["node".to_owned(), tools.join("pyodide.mjs").display().to_string()])
}

fn verify(root: &Path, interpreters: &[Interpreter]) -> Result<()> {
    let mut failed = Vec::new();
    for interpreter in interpreters {
        for script in ["tests/oracle/test_verify.py", "tests/oracle/verify_cases.py"] {
            if !interpreter.run(&root.join(script), &[])?.success() {
                failed.push(format!("{} ({script})", interpreter.version));
            }
        }
    }
    ensure!(failed.is_empty(), "failed under Python {}", failed.join(", "));
    ensure!(!interpreters.is_empty(), "no interpreter is present");
    Ok(())
}

/// A fixture of one Markdown file: as it is on disk and as it should be.
struct Topic {
    file: CaseFile,
    path: PathBuf,
    bytes: Vec<u8>,
    stored: Fixture,
    wanted: Fixture,
}

/// A module to compile for one version.
#[derive(Serialize)]
struct Request<'a> {
    path: &'a str,
    source: String,
    stored: Option<String>,
}

/// What the interpreter says of it.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Same(serde::de::IgnoredAny),
    Marshal(String),
    Error(String),
}

fn fixtures(root: &Path, interpreters: &[Interpreter], write: bool) -> Result<()> {
    let folder = root.join(FIXTURES);
    let mut topics = read_topics(&root.join("tests/cases"), &folder)?;
    let mut releases = releases(&folder);
    let (mut problems, mut impossible) = (Vec::new(), Vec::new());
    for version in Target::ALL.into_iter().filter(|version| version.minor().is_some()) {
        match interpreters.iter().find(|interpreter| interpreter.version == version) {
            Some(interpreter) => {
                let recorded = releases
                    .entry(version.name().to_owned())
                    .or_insert(interpreter.release.clone());
                let exact = *recorded == interpreter.release;
                if !exact {
                    let release = &interpreter.release;
                    say(&format!(
                        "Python {release} is not {recorded}: bytecode of unchanged sources is taken as it is"
                    ));
                }
                compile(root, interpreter, exact, &mut topics)?;
            }
            None => keep(version, &mut topics, &mut impossible),
        }
    }
    let mut expected = BTreeSet::new();
    for topic in &topics {
        expected.insert(topic.path.clone());
        report_changes(topic, &mut problems);
        if write {
            std::fs::create_dir_all(topic.path.parent().context("a fixture without folder")?)?;
            std::fs::write(&topic.path, topic.wanted.encode())?;
        }
    }
    for path in find_fixtures(&folder)?.difference(&expected) {
        problems.push(format!("{} belongs to no file of cases", path.display()));
        if write {
            std::fs::remove_file(path)?;
        }
    }
    if write {
        let mut text = serde_json::to_vec_pretty(&releases)?;
        text.push(b'\n');
        std::fs::write(folder.join(RELEASES), text)?;
    }
    summarise(&topics, interpreters, &problems, write)?;
    ensure!(impossible.is_empty(), "{}", impossible.join("\n"));
    Ok(())
}

fn summarise(topics: &[Topic], interpreters: &[Interpreter], problems: &[String], write: bool) -> Result<()> {
    for problem in problems {
        say(&if write {
            format!("written: {problem}")
        } else {
            format!("STALE: {problem}")
        });
    }
    let entries: usize = topics.iter().map(|topic| topic.wanted.entries.len()).sum();
    let bytes: usize = topics.iter().map(|topic| topic.wanted.encode().len()).sum();
    let versions: Vec<_> = interpreters
        .iter()
        .map(|interpreter| interpreter.version.name())
        .collect();
    let cases: usize = topics.iter().map(|topic| topic.file.cases.len()).sum();
    say(&format!(
        "{cases} cases in {} files, {entries} code objects of modules, {bytes} bytes; compiled under {}",
        topics.len(),
        versions.join(", ")
    ));
    ensure!(
        write || problems.is_empty(),
        "fixtures are not fresh: run `cargo xtask cases build`"
    );
    Ok(())
}

fn read_topics(cases: &Path, fixtures: &Path) -> Result<Vec<Topic>> {
    let mut topics = Vec::new();
    let mut malformed = String::new();
    for (key, path) in find_case_files(cases)? {
        let text = std::fs::read_to_string(&path)?;
        let (file, errors) = parse_cases(&path, &key, &text);
        for error in errors {
            let _ = writeln!(malformed, "{error}");
        }
        let path = fixtures.join(format!("{key}.hogfix"));
        let bytes = std::fs::read(&path).unwrap_or_default();
        let stored = Fixture::decode(&bytes).unwrap_or_default();
        topics.push(Topic {
            file,
            path,
            bytes,
            stored,
            wanted: Fixture::default(),
        });
    }
    if !malformed.is_empty() {
        bail!("malformed cases\n{malformed}");
    }
    Ok(topics)
}

/// Every module that is compiled for a version: its key and its source.
fn modules(file: &CaseFile, version: Target) -> impl Iterator<Item = ((String, String, String), &str)> {
    let cases = file
        .cases
        .iter()
        .filter(move |case| case.config.python.contains(&version));
    cases.flat_map(move |case| {
        case.modules.iter().map(move |module| {
            let key = (case.name.clone(), version.name().to_owned(), module.path.clone());
            (key, module.text.as_str())
        })
    })
}

/// Keeps the entries of a version whose interpreter is absent.
fn keep(version: Target, topics: &mut [Topic], impossible: &mut Vec<String>) {
    for topic in topics {
        let mut kept = BTreeMap::new();
        for (key, source) in modules(&topic.file, version) {
            match topic.stored.entries.get(&key) {
                Some(entry) if entry.source_hash == source_hash(source) => {
                    kept.insert(key, entry.clone());
                }
                _ => impossible.push(format!(
                    "{} / {} needs Python {version}, which is absent",
                    topic.file.key, key.0
                )),
            }
        }
        topic.wanted.entries.extend(kept);
    }
}

/// Compiles every module of a version in one run of its interpreter.
///
/// An interpreter that is not `exact`ly the release which compiled the fixtures compiles only what has changed.
fn compile(root: &Path, interpreter: &Interpreter, exact: bool, topics: &mut [Topic]) -> Result<()> {
    let mut keys = Vec::new();
    let mut requests = Vec::new();
    for (index, topic) in topics.iter_mut().enumerate() {
        for (key, source) in modules(&topic.file, interpreter.version) {
            let path = key.2.clone();
            let stored = topic.stored.entries.get(&key);
            if let Some(entry) = stored.filter(|entry| !exact && entry.source_hash == source_hash(source)) {
                topic.wanted.entries.insert(key, entry.clone());
                continue;
            }
            keys.push((index, key, source_hash(source), path));
            requests.push((source.to_owned(), stored.map(|entry| hex(&entry.marshal))));
        }
    }
    let requests: Vec<Request<'_>> = keys
        .iter()
        .zip(requests)
        .map(|((_, _, _, path), (source, stored))| Request { path, source, stored })
        .collect();
    let folder = tempfile::tempdir()?;
    let (request, response) = (folder.path().join("request.json"), folder.path().join("response.json"));
    std::fs::write(&request, serde_json::to_vec(&requests)?)?;
    let status = interpreter.run(&root.join("tests/oracle/compile_cases.py"), &[&request, &response])?;
    ensure!(
        status.success(),
        "Python {} could not compile the cases",
        interpreter.version
    );
    let answers: Vec<Answer> = serde_json::from_slice(&std::fs::read(&response)?)?;
    ensure!(
        answers.len() == keys.len(),
        "Python {} left modules out",
        interpreter.version
    );
    for ((index, key, source_hash, path), answer) in keys.into_iter().zip(answers) {
        let topic = &mut topics[index];
        let marshal = match answer {
            Answer::Marshal(text) => unhex(&text)?,
            Answer::Same(_) => topic
                .stored
                .entries
                .get(&key)
                .map(|entry| entry.marshal.clone())
                .unwrap_or_default(),
            Answer::Error(error) => {
                let case = topic.file.cases.iter().find(|case| case.name == key.0);
                let line = case.map_or(0, |case| case.line);
                bail!(
                    "{}:{line}: Python {} on {path}: {error}",
                    topic.file.path.display(),
                    interpreter.version
                )
            }
        };
        topic.wanted.entries.insert(key, FixtureEntry { source_hash, marshal });
    }
    Ok(())
}

fn report_changes(topic: &Topic, problems: &mut Vec<String>) {
    let mut cases: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let (wanted, stored) = (&topic.wanted.entries, &topic.stored.entries);
    let added = wanted
        .iter()
        .filter(|(key, entry)| stored.get(*key) != Some(*entry))
        .map(|(key, _)| key);
    let removed = stored.keys().filter(|key| !wanted.contains_key(*key));
    for (case, version, _) in added.chain(removed) {
        cases.entry(case).or_default().insert(version);
    }
    if cases.is_empty() && topic.bytes != topic.wanted.encode() {
        problems.push(format!("{} (form of the file)", topic.file.key));
    }
    for (case, versions) in cases {
        let versions: Vec<_> = versions.into_iter().collect();
        problems.push(format!("{} / {case} ({})", topic.file.key, versions.join(", ")));
    }
}

fn find_fixtures(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "hogfix") {
                found.insert(path);
            }
        }
    }
    Ok(found)
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

fn unhex(text: &str) -> Result<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.as_bytes().chunks(2).map(|pair| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    });
    pairs
        .collect::<Option<_>>()
        .context("the compiler's answer is not hexadecimal")
}
