//! Reads the Markdown files of `tests/cases`.

use crate::case::{Case, CaseConfig, CaseError, CaseFile, CaseModule, Label, MarkerSource, Place};
use crate::facts::parse_fact;
use crate::marker::{Segment, marker_comment, parse_segment};
use crate::scan::{Scan, scan};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The files of cases below `folder` in canonical order: every `.md` but `README.md`.
///
/// # Errors
/// If a folder cannot be read.
pub fn find_case_files(folder: &Path) -> std::io::Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    let mut folders = vec![(String::new(), folder.to_path_buf())];
    while let Some((prefix, folder)) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type()?.is_dir() {
                folders.push((format!("{prefix}{name}/"), entry.path()));
            } else if let Some(stem) = name.strip_suffix(".md").filter(|stem| *stem != "README") {
                files.push((format!("{prefix}{stem}"), entry.path()));
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Parses a file of cases. Errors do not stop it: all of them come back, beside the cases that could be read.
#[must_use]
pub fn parse_cases(path: &Path, key: &str, text: &str) -> (CaseFile, Vec<CaseError>) {
    let file = CaseFile {
        path: path.to_path_buf(),
        key: key.to_owned(),
        topic: String::new(),
        cases: Vec::new(),
    };
    let mut parser = Parser {
        file,
        errors: Vec::new(),
        names: BTreeSet::new(),
    };
    parser.run(text);
    parser.errors.sort_by_key(|error| error.line);
    (parser.file, parser.errors)
}

struct Parser {
    file: CaseFile,
    errors: Vec<CaseError>,
    names: BTreeSet<String>,
}

impl Parser {
    fn error(&mut self, line: u32, message: impl Into<String>) {
        let file = self.file.path.display().to_string();
        self.errors.push(CaseError {
            file,
            line,
            message: message.into(),
        });
    }

    fn run(&mut self, text: &str) {
        let mut lines = (1u32..).zip(text.lines());
        while let Some((number, line)) = lines.next() {
            if let Some(info) = line.strip_prefix("~~~") {
                let mut body = Vec::new();
                if !lines.by_ref().any(|(_, line)| {
                    line == "~~~" || {
                        body.push(line);
                        false
                    }
                }) {
                    self.error(number, "block without end");
                    break;
                }
                self.block(number, info.trim(), &body);
            } else if line.starts_with("```") {
                self.error(number, "blocks are fenced by ~~~");
            } else if let Some(name) = line.strip_prefix("## ") {
                self.heading(number, name.trim());
            } else if let Some(topic) = line.strip_prefix("# ") {
                if !self.file.topic.is_empty() {
                    self.error(number, "second topic heading");
                }
                topic.trim().clone_into(&mut self.file.topic);
            }
        }
        if self.file.topic.is_empty() {
            self.error(1, "no topic heading (`# Topic`)");
        }
        for index in 0..self.file.cases.len() {
            self.finish(index);
        }
    }

    fn heading(&mut self, line: u32, name: &str) {
        if !self.names.insert(name.to_owned()) {
            self.error(line, format!("duplicate case name `{name}`"));
        }
        self.file.cases.push(Case {
            name: name.to_owned(),
            line,
            config: CaseConfig::default(),
            modules: Vec::new(),
            labels: BTreeMap::new(),
            facts: Vec::new(),
        });
    }

    fn block(&mut self, line: u32, info: &str, body: &[&str]) {
        if matches!(info, "" | "text" | "console") {
            return;
        }
        let Some(case) = self.file.cases.last_mut() else {
            return self.error(line, "block before the first case");
        };
        match info {
            "toml" => match toml::from_str(&body.join("\n")) {
                Ok(config) => case.config = config,
                Err(error) => {
                    let before = error
                        .span()
                        .map_or(0, |span| body.join("\n")[..span.start].matches('\n').count());
                    let at = line + 1 + u32::try_from(before).unwrap_or(0);
                    self.error(at, error.message().replace('\n', " "));
                }
            },
            "facts" => self.facts(line, body),
            "py" => self.module(line, "main.py", body),
            _ => match info.strip_prefix("py path=") {
                Some(path) => self.module(line, path.trim(), body),
                None => self.error(line, format!("unknown block `{info}`")),
            },
        }
    }

    fn facts(&mut self, line: u32, body: &[&str]) {
        for (number, text) in (line + 1..).zip(body) {
            if text.trim().is_empty() || text.trim_start().starts_with('#') {
                continue;
            }
            match (parse_fact(text, number), self.file.cases.last_mut()) {
                (Ok(fact), Some(case)) => case.facts.push(fact),
                (Err(message), _) => self.error(number, message),
                (Ok(_), None) => {}
            }
        }
    }

    fn module(&mut self, line: u32, path: &str, body: &[&str]) {
        let Some(name) = module_name(path) else {
            return self.error(line, format!("bad module path `{path}`"));
        };
        let text: String = body.iter().flat_map(|line| [line, "\n"]).collect();
        let Scan { comments, folded } = scan(&text);
        let Some(case) = self.file.cases.last_mut() else { return };
        if case.module_by_path(path).is_some() {
            return self.error(line, format!("module `{path}` twice"));
        }
        let path = path.to_owned();
        case.modules.push(CaseModule {
            path,
            name,
            text,
            markdown_line: line + 1,
            markers: BTreeMap::new(),
            folded,
        });
        for comment in &comments {
            if let Err(message) = self.comment(comment.line, comment.alone, &comment.text, body) {
                self.error(line + comment.line, message);
            }
        }
    }

    /// Adds the markers of a comment of the last module.
    fn comment(&mut self, line: u32, alone: bool, text: &str, body: &[&str]) -> Result<(), String> {
        let Some(marker) = marker_comment(text) else {
            return Ok(());
        };
        let mut target = line;
        match (marker.below, alone) {
            (true, false) => return Err("`^below` stands in a comment of its own line".to_owned()),
            (false, true) => return Err("a marker on a line of its own needs `^below`".to_owned()),
            (false, false) => {}
            (true, true) => {
                target += 1;
                while body
                    .get(target as usize - 1)
                    .is_some_and(|line| line.trim_start().starts_with('#'))
                {
                    target += 1;
                }
            }
        }
        let Some(case) = self.file.cases.last_mut() else {
            return Ok(());
        };
        let number = u32::try_from(case.modules.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let Some(module) = case.modules.last_mut() else {
            return Ok(());
        };
        let target = module.folded.get(&target).copied().unwrap_or(target);
        let markdown_line = module.markdown_line + line - 1;
        let markers = module.markers.entry(target).or_default();
        for segment in marker.segments {
            markers.sources.push(MarkerSource {
                markdown_line,
                text: segment.to_owned(),
            });
            if let Segment::Labels(labels) = parse_segment(segment, markdown_line, markers)? {
                for label in labels {
                    let place = Place {
                        module: number,
                        line: target,
                    };
                    if case
                        .labels
                        .insert(label.to_owned(), Label { place, markdown_line })
                        .is_some()
                    {
                        return Err(format!("duplicate label `@{label}`"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks what only the whole case shows.
    fn finish(&mut self, index: usize) {
        let case = &self.file.cases[index];
        let mut found = Vec::new();
        if case.modules.is_empty() {
            found.push((case.line, "case without a module".to_owned()));
        } else if case.config.execute && case.module_by_path("main.py").is_none() {
            found.push((case.line, "case without main.py cannot be executed".to_owned()));
        }
        if case.config.python.is_empty() {
            found.push((case.line, "case without a version".to_owned()));
        }
        let bug_versions = &case.config.bug_versions;
        if bug_versions.iter().any(|version| !case.config.python.contains(version)) {
            found.push((case.line, "`bug_in` names a version that is not in `python`".to_owned()));
        }
        if case.config.bug.is_none() && !bug_versions.is_empty() {
            found.push((case.line, "`bug_in` without `bug`".to_owned()));
        }
        for fact in &case.facts {
            for label in fact.kind.labels() {
                if !case.labels.contains_key(label) {
                    found.push((fact.markdown_line, format!("unknown label `@{label}`")));
                }
            }
        }
        for module in &case.modules {
            for markers in module.markers.values() {
                let line = markers.sources.first().map_or(case.line, |source| source.markdown_line);
                let functions = markers.calls.iter().flat_map(|calls| &calls.functions);
                let objects = markers.points_to.iter().flat_map(|marker| &marker.objects);
                for at in functions.chain(objects).filter_map(|located| located.at.as_deref()) {
                    if at.parse::<u32>().is_err() && !case.labels.contains_key(at) {
                        found.push((line, format!("unknown label `@{at}`")));
                    }
                }
            }
        }
        for (line, message) in found {
            self.error(line, message);
        }
    }
}

/// `pkg/util.py` is `pkg.util`, `pkg/__init__.py` is `pkg`.
fn module_name(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = path.strip_suffix(".py")?.split('/').collect();
    let good = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    if !parts.iter().all(good) {
        return None;
    }
    if parts.last() == Some(&"__init__") {
        parts.pop();
    }
    (!parts.is_empty()).then(|| parts.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Roots, Target};

    fn parse(text: &str) -> (CaseFile, Vec<String>) {
        let (file, errors) = parse_cases(Path::new("t.md"), "t", text);
        (file, errors.iter().map(ToString::to_string).collect())
    }

    const GOOD: &str = "# Topic\nProse.\n## First\nMore prose.\n~~~toml\npython = [\"3.12\", \"source\"]\nroots = \"exports\"\n~~~\n\
        ~~~py\n@deco              # @deco\ndef f(): pass      # calls: deco\n# ^below calls: f\n# note\nf()\n~~~\n\
        ~~~py path=pkg/util.py\nx = 1  # pts: x = int  @x\n~~~\n~~~facts\n# comment\n\nnot ddg @x -> @deco\n~~~\n\
        ## Second\n~~~py\npass\n~~~\n";

    #[test]
    fn a_file_is_read() {
        let (file, errors) = parse(GOOD);
        assert_eq!(errors, [""; 0]);
        assert_eq!((file.topic.as_str(), file.cases.len()), ("Topic", 2));
        let case = &file.cases[0];
        assert_eq!((case.name.as_str(), case.line), ("First", 3));
        assert_eq!(case.config.python, [Target::Py312, Target::Source]);
        assert_eq!(case.config.roots, Roots::Exports);
        assert_eq!(case.modules[1].name, "pkg.util");
        let main = &case.modules[0];
        assert_eq!(main.text.lines().nth(4), Some("f()"));
        assert_eq!(main.markers.keys().copied().collect::<Vec<_>>(), [2, 5]);
        assert_eq!(case.labels["deco"].place, Place { module: 0, line: 2 });
        assert_eq!(case.labels["x"].place, Place { module: 1, line: 1 });
        assert_eq!(case.markdown_line(case.labels["x"].place), 17);
        assert_eq!(case.fold(Place { module: 0, line: 1 }), Place { module: 0, line: 2 });
        assert!(case.facts[0].negative);
        assert_eq!(file.cases[1].config, CaseConfig::default());
    }

    #[test]
    fn malformed_files_say_what_and_where() {
        let case = |body: &str| format!("# T\n## A\n{body}");
        let module = |text: &str| case(&format!("~~~py\n{text}\n~~~\n"));
        let checks = [
            ("## A\n~~~py\n~~~\n".to_owned(), "t.md:1: no topic heading (`# Topic`)"),
            ("# T\n~~~py\n~~~\n".to_owned(), "t.md:2: block before the first case"),
            (case("~~~py\nx"), "t.md:3: block without end"),
            (
                case("~~~py\n~~~\n## A\n~~~py\n~~~\n"),
                "t.md:5: duplicate case name `A`",
            ),
            (case("~~~py\n~~~\n~~~py\n~~~\n"), "t.md:5: module `main.py` twice"),
            (case("~~~py path=../a.py\n~~~\n"), "t.md:3: bad module path `../a.py`"),
            (
                case("~~~py path=a.py\n~~~\n"),
                "t.md:2: case without main.py cannot be executed",
            ),
            (case("~~~rust\n~~~\n"), "t.md:3: unknown block `rust`"),
            (case("```py\n```\n"), "t.md:3: blocks are fenced by ~~~"),
            (
                case("~~~toml\nexecute = true\nfoo = 1\n~~~\n~~~py\n~~~\n"),
                "t.md:5: unknown field `foo`",
            ),
            (
                case("~~~toml\npython = [\"3.7\"]\n~~~\n~~~py\n~~~\n"),
                "t.md:4: unknown variant `3.7`",
            ),
            (
                case("~~~toml\npython = []\n~~~\n~~~py\n~~~\n"),
                "t.md:2: case without a version",
            ),
            (
                case("~~~toml\nbug_in = [\"3.10\"]\n~~~\n~~~py\n~~~\n"),
                "t.md:2: `bug_in` without `bug`",
            ),
            (
                case("~~~toml\npython = [\"3.10\"]\nbug = \"x\"\nbug_in = [\"3.11\"]\n~~~\n~~~py\n~~~\n"),
                "t.md:2: `bug_in` names a version that is not in `python`",
            ),
            (
                case("~~~py\n~~~\n~~~facts\ncfg unreachable @b\n~~~\n"),
                "t.md:6: unknown label `@b`",
            ),
            (module("x  # @a\ny  # @a"), "t.md:5: duplicate label `@a`"),
            (module("x  # foo: a"), "t.md:4: unknown marker `foo: a`"),
            (
                module("# calls: f"),
                "t.md:4: a marker on a line of its own needs `^below`",
            ),
            (
                module("x  # ^below calls: f"),
                "t.md:4: `^below` stands in a comment of its own line",
            ),
            (module("x  # calls: f@there"), "t.md:4: unknown label `@there`"),
        ];
        for (text, message) in checks {
            let (_, errors) = parse(&text);
            assert!(
                errors.iter().any(|error| error.starts_with(message)),
                "{text}: {errors:?}, not {message}"
            );
        }
    }

    #[test]
    fn files_are_found_in_order() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("b")).unwrap();
        for name in ["README.md", "c.md", "b/x.md", "b/README.md", "b/a.md", "notes.txt"] {
            std::fs::write(root.path().join(name), "").unwrap();
        }
        let keys: Vec<_> = find_case_files(root.path())
            .unwrap()
            .into_iter()
            .map(|(key, _)| key)
            .collect();
        assert_eq!(keys, ["b/a", "b/x", "c"]);
    }
}
