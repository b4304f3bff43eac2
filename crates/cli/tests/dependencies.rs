//! `--deps`: imports that lead into an environment.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Run, hognose};
use hognose::compile::{Embedded, SourceFile};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

fn write(top: &Path, file: &str, bytes: &[u8]) {
    let path = top.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// A project `app`, and an environment `env` with a package in source, one that is compiled only, and a namespace package.
fn example() -> TempDir {
    let top = tempfile::tempdir().unwrap();
    let site = "env/lib/python3.12/site-packages";
    let files = [
        (
            "app/main.py",
            "import web\nfrom space.part import helper\nimport missing\n\n\
             def view():\n    return helper()\n\n\
             def lazy():\n    import sealed\n    return sealed.opened()\n\n\
             app = web.App()\napp.route(view)\napp.run()\nlazy()\nmissing.call()\n",
        ),
        ("env/pyvenv.cfg", ""),
        (&*format!("{site}/web/__init__.py"), "from .app import App\n"),
        (
            &*format!("{site}/web/app.py"),
            "class App:\n    def __init__(self):\n        self.views = []\n\
             \x20   def route(self, view):\n        self.views.append(view)\n\
             \x20   def run(self):\n        for view in self.views:\n            view()\n\
             \x20   def never_called(self, value):\n        value.method()\n",
        ),
        (&*format!("{site}/web/unused.py"), "import broken(\n"),
        (&*format!("{site}/space/part.py"), "def helper():\n    return 1\n"),
    ];
    for (file, text) in files {
        write(top.path(), file, text.as_bytes());
    }
    write(
        top.path(),
        &format!("{site}/sealed.pyc"),
        &compiled("def opened():\n    return 2\n"),
    );
    top
}

/// A `.pyc` file (PEP 552) of Python 3.14, which the embedded compiler emits.
fn compiled(text: &str) -> Vec<u8> {
    let source = SourceFile {
        path: "sealed.py".to_owned(),
        filename: "sealed.py".to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let mut bytes = 3627_u16.to_le_bytes().to_vec();
    bytes.extend(b"\r\n");
    bytes.extend([0; 12]);
    bytes.extend(Embedded::default().marshal(&source).unwrap());
    bytes
}

fn run(top: &TempDir, arguments: &[&str]) -> Run {
    hognose(top.path(), arguments).expect(0)
}

fn rows<'v>(document: &'v Value, name: &str) -> &'v [Value] {
    document[name].as_array().unwrap()
}

#[test]
fn calls_lead_into_dependencies_and_back() {
    let top = example();
    for deps in ["env", "env/lib/python3.12/site-packages"] {
        let graph = run(&top, &["graph", "cg", "app", "--deps", deps]).json();
        let functions = rows(&graph, "functions");
        let edges: Vec<(&str, &str)> = rows(&graph, "calls")
            .iter()
            .flat_map(|call| {
                let name = |id: &Value| {
                    functions.iter().find(|row| row["id"] == *id).unwrap()["name"]
                        .as_str()
                        .unwrap()
                };
                rows(call, "targets")
                    .iter()
                    .map(move |target| (name(&call["caller"]), name(target)))
            })
            .collect();
        for edge in [
            ("main", "web.app.App.__init__"),
            ("web.app.App.run", "main.view"),
            ("main.view", "space.part.helper"),
            ("main.lazy", "sealed.opened"),
        ] {
            assert!(edges.contains(&edge), "{edge:?} of {edges:?}");
        }
        let row = |name: &str| functions.iter().find(|row| row["name"] == name).unwrap();
        assert_eq!(row("web.app.App.run")["dependency"], true);
        assert_eq!(row("web.app.App.run")["file"], "<deps>/web/app.py");
        assert!(row("main.view").get("dependency").is_none());
        // Nobody calls it, and a dependency has no entry points.
        assert_eq!(row("web.app.App.never_called")["reached_by"], "nothing");
        let missing = rows(&graph, "calls")
            .iter()
            .filter(|call| rows(call, "external").contains(&"missing.call".into()));
        assert_eq!(missing.count(), 1);
    }
}

#[test]
fn the_summary_counts_dependencies_apart() {
    let top = example();
    let summary = |arguments: &[&str]| run(&top, &[&["analyze", "app", "--format", "json"], arguments].concat()).json();
    let (alone, both) = (summary(&[]), summary(&["--deps", "env"]));
    for figure in ["modules", "code_objects", "functions", "instructions"] {
        assert_eq!(alone["totals"][figure], both["totals"][figure], "{figure}");
    }
    assert!(alone["totals"].get("dependencies").is_none());
    assert_eq!(both["totals"]["dependencies"]["modules"], 4);
    assert_eq!(both["totals"]["dependencies"]["functions"], 6);
    assert_eq!(both["totals"]["dependencies"]["reached_by_program"], 5);
    assert_eq!(both["totals"]["dependencies"]["reached_by_entry"], 0);
    let marked: Vec<&Value> = rows(&both, "files")
        .iter()
        .filter(|file| file["dependency"] == true)
        .collect();
    assert_eq!(marked.len(), 4, "{marked:?}");
    let text = run(&top, &["analyze", "app", "--deps", "env"]).text();
    assert!(text.starts_with("1 modules"), "{text}");
    assert!(
        text.contains("dependencies: 4 modules, 6 functions (5 reached)"),
        "{text}"
    );
}

#[test]
fn documents_mark_dependencies_and_are_the_same_on_any_number_of_threads() {
    let top = example();
    let modules = run(&top, &["graph", "modules", "app/main.py", "--deps", "env"]).json();
    let marked: Vec<&str> = rows(&modules, "modules")
        .iter()
        .filter(|row| row["dependency"] == true)
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    assert_eq!(marked, ["sealed", "space.part", "web", "web.app"]);
    for product in ["cg", "pta", "ddg", "modules"] {
        let with = |threads| run(&top, &["graph", product, "app", "--deps", "env", "--threads", threads]).stdout;
        assert!(with("1") == with("2"), "{product} differs between 1 and 2 threads");
    }
}

#[test]
fn a_folder_that_is_not_there_is_an_error_beside_the_result() {
    let top = example();
    let run = hognose(top.path(), &["graph", "cg", "app", "--deps", "nowhere"]).expect(3);
    assert!(run.stderr.contains("nowhere"), "{}", run.stderr);
    assert_eq!(run.json()["schema"], "hognose.cg/1");
}
