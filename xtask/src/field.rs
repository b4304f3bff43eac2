//! Small programs with the callees of their lines: how many lines the call graph has exactly.
//!
//! A *program* is a `.py` file, or a folder with a `main.py`. A *marker* is a comment at the end of a line,
//! `# expect-calls: mod.f, mod.C.m` or `# expect-calls: none`: the functions of the program that the calls of this line
//! reach, explicit and implicit ones. Names are relative to the folder (of a file: its stem). Modules, class bodies and
//! comprehension frames are no callees. A call belongs to the line that its instruction has in the position table.
//!
//! The configuration is the command line's default, but that functions are no entry points: a program runs from its own
//! `__main__` block.

use anyhow::{Context, Result, bail, ensure};
use hognose::pta::{CodeId, Roots};
use hognose::pyc::PositionTable;
use hognose::{Analysis, Config, Session};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

/// What to check.
#[derive(clap::Args)]
pub(crate) struct Field {
    /// The folder of the programs.
    folder: PathBuf,
    /// Fail only if fewer lines than this are right; without it, if any line is wrong.
    #[arg(long, value_name = "N")]
    at_least: Option<usize>,
}

/// File as the analysis shows it, and line.
type Place = (String, u32);

/// Names of functions by the line that calls them.
type Lines = BTreeMap<Place, BTreeSet<String>>;

/// What is wrong with a marked line.
#[derive(Debug, PartialEq, Eq)]
struct Wrong {
    program: String,
    place: Place,
    missing: Vec<String>,
    extra: Vec<String>,
}

/// The marked lines of some programs.
#[derive(Debug, Default, PartialEq, Eq)]
struct Score {
    programs: usize,
    right: usize,
    wrong: Vec<Wrong>,
}

pub(crate) fn run(arguments: &Field) -> Result<()> {
    let score = check(&arguments.folder)?;
    score.show(&mut std::io::stdout().lock())?;
    match arguments.at_least {
        Some(least) if score.right < least => bail!("{} lines are right, expected {least}", score.right),
        None if !score.wrong.is_empty() => bail!("{} lines are wrong", score.wrong.len()),
        _ => Ok(()),
    }
}

fn check(folder: &Path) -> Result<Score> {
    let session = Session::new(Config::default().with_roots(Roots::Modules))?;
    let mut score = Score::default();
    for program in programs(folder)? {
        let expected = markers_of(&program)?;
        if !expected.is_empty() {
            let found = calls_of(&session.analyze(std::slice::from_ref(&program)));
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            score.add(&name, expected, &found);
        }
    }
    ensure!(score.programs > 0, "no marked programs in {}", folder.display());
    Ok(score)
}

/// The programs of a folder, sorted.
fn programs(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = entries(folder)?;
    found.retain(|path| is_python(path) || path.join("main.py").is_file());
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut found = Vec::new();
    for entry in entries {
        found.push(entry?.path());
    }
    found.sort();
    Ok(found)
}

fn is_python(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "py") && path.is_file()
}

/// The markers of a program's files.
fn markers_of(program: &Path) -> Result<Lines> {
    let mut lines = Lines::new();
    let mut pending = vec![program.to_owned()];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(entries(&path)?);
        } else if is_python(&path) {
            let shown = match path.strip_prefix(program) {
                Ok(inner) if !inner.as_os_str().is_empty() => inner,
                _ => path.file_name().map(Path::new).unwrap_or(&path),
            };
            let shown = shown.to_string_lossy().replace('\\', "/");
            let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
            for (line, names) in markers(&String::from_utf8_lossy(&bytes)) {
                lines.insert((shown.clone(), line), names);
            }
        }
    }
    Ok(lines)
}

/// The markers of a text by line.
fn markers(text: &str) -> BTreeMap<u32, BTreeSet<String>> {
    (1..)
        .zip(text.lines())
        .filter_map(|(number, line)| {
            // The marker is the last comment of its line.
            let (_, comment) = line.rsplit_once('#')?;
            let names = comment.trim_start().strip_prefix("expect-calls:")?;
            let names = names.split(',').map(str::trim);
            let names = names.filter(|name| !name.is_empty() && *name != "none");
            Some((number, names.map(str::to_owned).collect()))
        })
        .collect()
}

/// The functions that each line calls.
fn calls_of(analysis: &Analysis) -> Lines {
    let program = analysis.program();
    let mut lines = Lines::new();
    let mut last: Option<(CodeId, PositionTable)> = None;
    for call in analysis.calls() {
        let module = &program.modules[program.codes[call.caller].module];
        let table = match last.take() {
            Some((code, table)) if code == call.caller => table,
            _ => {
                let compiled = &module.ir.module;
                PositionTable::of(&compiled.objects, program.code_object(call.caller), compiled.version)
            }
        };
        if let Some(inst) = program.body(call.caller).insts.get(call.inst) {
            let place = (module.path.clone(), table.span_at(inst.offset).line);
            let targets = call.targets.iter().filter(|&&code| program.codes[code].is_function());
            let names = targets.map(|&code| program.qualname(code).to_owned());
            lines.entry(place).or_default().extend(names);
        }
        last = Some((call.caller, table));
    }
    lines
}

impl Score {
    fn add(&mut self, program: &str, expected: Lines, found: &Lines) {
        self.programs += 1;
        let nothing = BTreeSet::new();
        for (place, expected) in expected {
            let found = found.get(&place).unwrap_or(&nothing);
            if *found == expected {
                self.right += 1;
            } else {
                self.wrong.push(Wrong {
                    program: program.to_owned(),
                    missing: expected.difference(found).cloned().collect(),
                    extra: found.difference(&expected).cloned().collect(),
                    place,
                });
            }
        }
    }

    fn show(&self, out: &mut dyn Write) -> Result<()> {
        for wrong in &self.wrong {
            let (file, line) = &wrong.place;
            let within = if *file == wrong.program { "" } else { &wrong.program };
            let slash = if within.is_empty() { "" } else { "/" };
            write!(out, "{within}{slash}{file}:{line}:")?;
            for (what, names) in [("missing", &wrong.missing), ("extra", &wrong.extra)] {
                if !names.is_empty() {
                    write!(out, " {what} {}", names.join(", "))?;
                }
            }
            writeln!(out)?;
        }
        let (right, all) = (self.right, self.right + self.wrong.len());
        writeln!(out, "{right} of {all} lines right, in {} programs", self.programs)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn markers_stand_at_the_end_of_their_lines() {
        let text = "f()  # expect-calls: m.f, m.C.g\nx = '#'\n\ng()  # why  # expect-calls: none\nh()  # calls: m.h\n";
        let found = markers(text);
        assert_eq!(found, BTreeMap::from([(1, set(&["m.f", "m.C.g"])), (4, set(&[]))]));
    }

    #[test]
    fn lines_of_files_and_folders_are_compared_exactly() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let one = "def f():\n    pass\ndef g():\n    pass\n\
            f()  # expect-calls: one.f\n\
            [f() for _ in (1,)]  # expect-calls: one.f\n\
            f()  # expect-calls: one.g\n\
            len([])  # expect-calls: none\n\
            g()  # expect-calls: none\n";
        write("one.py", one);
        write(
            "two/main.py",
            "from pkg.m import C\nC()  # expect-calls: pkg.m.C.__init__\n",
        );
        write("two/pkg/__init__.py", "");
        write(
            "two/pkg/m.py",
            "class C:\n    def __init__(self):\n        pass\ndef unused():\n    C()  # expect-calls: none\n",
        );
        write("unmarked.py", "print()\n");
        write("no_program/other.py", "x()  # expect-calls: x\n");
        let score = check(folder.path()).unwrap();
        assert_eq!((score.programs, score.right), (2, 5), "{score:?}");
        let wrong = |line, missing: &[&str], extra: &[&str]| Wrong {
            program: "one.py".to_owned(),
            place: ("one.py".to_owned(), line),
            missing: missing.iter().map(|&name| name.to_owned()).collect(),
            extra: extra.iter().map(|&name| name.to_owned()).collect(),
        };
        assert_eq!(
            score.wrong,
            [wrong(7, &["one.g"], &["one.f"]), wrong(9, &[], &["one.g"])]
        );
        let mut text = Vec::new();
        score.show(&mut text).unwrap();
        assert_eq!(
            String::from_utf8_lossy(&text),
            "one.py:7: missing one.g extra one.f\none.py:9: extra one.g\n5 of 7 lines right, in 2 programs\n"
        );
    }

    #[test]
    fn a_limit_says_when_to_fail() {
        let folder = tempfile::tempdir().unwrap();
        let text = "def f():\n    pass\nf()  # expect-calls: one.f\nf()  # expect-calls: none\n";
        std::fs::write(folder.path().join("one.py"), text).unwrap();
        let with = |at_least| {
            let folder = folder.path().to_owned();
            run(&Field { folder, at_least })
        };
        assert!(with(Some(1)).is_ok());
        assert!(with(Some(2)).is_err() && with(None).is_err());
        let empty = tempfile::tempdir().unwrap();
        assert!(check(empty.path()).is_err());
    }
}
