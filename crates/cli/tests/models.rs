//! `--models`, and `hognose models`.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Run, hognose};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

fn tree(files: &[(&str, &str)]) -> TempDir {
    let top = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = top.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    top
}

/// A program that uses a framework, and models of it: a package with a relative import, one with a syntax error.
fn example() -> TempDir {
    tree(&[
        (
            "app/main.py",
            "import copy\nfrom web import App\n\ndef view():\n    return 1\n\napp = App()\napp.route(view)\napp.run()\ncopy.copy(view)\n",
        ),
        ("app/uses_broken.py", "import broken\n"),
        ("mine/web/__init__.py", "from .app import App\n"),
        (
            "mine/web/app.py",
            "class App:\n    def __init__(self):\n        self.view = None\n    def route(self, view):\n        self.view = view\n    def run(self):\n        self.view()\n",
        ),
        ("mine/broken.py", "def f(:\n"),
        ("mine/copy.py", "def copy(x):\n    return x()\n"),
        // The first folder counts.
        ("second/web/__init__.py", "def nothing():\n    pass\n"),
    ])
}

/// Qualified names of the targets of calls on a line of `main.py`.
fn callees(run: &Run, line: u32) -> Vec<String> {
    let graph = run.json();
    let rows = |name: &str| graph[name].as_array().unwrap().clone();
    let functions = rows("functions");
    let name = |id: &Value| {
        let row = functions.iter().find(|row| row["id"] == *id).unwrap();
        row["name"].as_str().unwrap().to_owned()
    };
    let calls = rows("calls").into_iter().filter(|call| call["site"]["line"] == line);
    calls
        .flat_map(|call| call["targets"].as_array().unwrap().iter().map(name).collect::<Vec<_>>())
        .collect()
}

#[test]
fn given_models_are_analysed_in_place_of_libraries() {
    let top = example();
    let with = |arguments: &[&str]| {
        hognose(
            top.path(),
            &[&["graph", "cg", "app/main.py", "--quiet"], arguments].concat(),
        )
    };
    let (without, with) = (
        with(&[]).expect(0),
        with(&["--models", "mine", "--models", "second"]).expect(0),
    );
    assert_eq!((callees(&without, 9), callees(&without, 10)), (vec![], vec![]));
    // `App.run` calls the view on behalf of this line; the model itself is no part of the program.
    assert_eq!(callees(&with, 9), ["main.view"]);
    // Ours does not call what it copies.
    assert_eq!(callees(&with, 10), ["main.view"]);
    assert!(!with.text().contains("web.app.App.run\",\"file"));
}

#[test]
fn models_that_are_not_imported_are_not_compiled_and_errors_have_a_place() {
    let top = example();
    let script = |name: &str| hognose(top.path(), &["graph", "modules", name, "--models", "mine"]);
    assert!(script("app/main.py").expect(0).stderr.is_empty());
    let run = script("app/uses_broken.py").expect(3);
    assert!(run.stderr.contains("mine/broken.py:1:"), "{}", run.stderr);
    let absent = hognose(top.path(), &["graph", "modules", "app/main.py", "--models", "nowhere"]).expect(3);
    assert!(absent.stderr.contains("nowhere"), "{}", absent.stderr);
}

#[test]
fn the_project_counts_before_models_and_models_before_dependencies() {
    let top = tree(&[
        ("app/main.py", "import own\nimport web\nown.f(print)\nweb.f(own.g)\n"),
        ("app/own.py", "def f(x):\n    pass\ndef g():\n    pass\n"),
        ("mine/own.py", "def f(x):\n    x()\n"),
        ("mine/web/__init__.py", "def f(x):\n    x()\n"),
        ("deps/web/__init__.py", "import web.inner\ndef f(x):\n    pass\n"),
        ("deps/web/inner.py", ""),
    ]);
    let run = |arguments: &[&str]| hognose(top.path(), &[&["graph", "cg", "app", "-q"], arguments].concat()).expect(0);
    let both = run(&["--models", "mine", "--deps", "deps"]);
    assert_eq!(
        (callees(&both, 3), callees(&both, 4)),
        (vec!["own.f".to_owned()], vec!["own.g".to_owned()])
    );
    assert_eq!(callees(&run(&["--deps", "deps"]), 4), ["web.f"]);
}

#[test]
fn the_list_says_where_models_come_from() {
    let top = example();
    let list = hognose(top.path(), &["models", "list", "--models", "mine", "--format", "json"]).expect(3);
    assert!(list.stderr.contains("mine/broken.py"), "{}", list.stderr);
    let list = list.json();
    assert_eq!(list["schema"], "hognose.models/1");
    let row = |name: &str| {
        let rows = list["models"].as_array().unwrap();
        rows.iter()
            .find(|row| row["module"] == name)
            .cloned()
            .unwrap_or_default()
    };
    assert_eq!(row("builtins")["origin"], "built-in");
    assert!(row("builtins")["classes"].as_u64() > Some(50));
    assert_eq!(row("copy")["origin"], "mine/copy.py");
    assert_eq!(row("copy")["functions"], 1);
    let app = row("web.app");
    assert_eq!((&app["functions"], &app["classes"]), (&3.into(), &1.into()));
    assert_eq!(row("broken"), Value::Null);
    let text = hognose(top.path(), &["models", "list"]).expect(0).text();
    assert!(
        text.lines()
            .any(|line| line.starts_with("functools ") && line.ends_with(" built-in")),
        "{text}"
    );
}

#[test]
fn a_check_names_what_is_wrong_and_where() {
    let good = tree(&[(
        "m.py",
        "import _hognose\n\ndef f(x):\n    return _hognose.instance(x)\n",
    )]);
    let check = |top: &TempDir| hognose(top.path(), &["models", "check", ".", "--format", "json"]);
    assert!(check(&good).expect(0).stderr.is_empty());
    let bad = tree(&[
        (
            "m.py",
            "import _hognose as h\nfrom _hognose import gone\n\ndef f(x):\n    return h.instanse(x), h.instance(x), x.anything\n",
        ),
        ("n.py", "def f(x):\n    import _hognose\n    return _hognose.nonesuch\n"),
    ]);
    let run = check(&bad).expect(1);
    for text in [
        "m.py:2:0: warning[model]: `_hognose` has no function `gone`",
        "m.py:5:11: warning[model]: `_hognose` has no function `instanse`",
        "n.py:3:11: warning[model]: `_hognose` has no function `nonesuch`",
    ] {
        assert!(run.stderr.contains(text), "{text}: {}", run.stderr);
    }
    assert_eq!(run.stderr.lines().count(), 3, "{}", run.stderr);
    assert_eq!(run.json()["diagnostics"].as_array().unwrap().len(), 3);
    let broken = tree(&[("m.py", "def f(:\n"), ("n.py", "")]);
    let run = check(&broken).expect(3);
    assert!(run.stderr.contains("m.py:1:"), "{}", run.stderr);
    check(&tree(&[])).expect(4);
    hognose(Path::new("."), &["models", "check", "nowhere"]).expect(2);
}

/// An interpreter of this machine; without one there is nothing to ask.
fn python() -> Option<String> {
    let found = std::process::Command::new("python3")
        .arg("-c")
        .arg("import json")
        .status();
    found.is_ok_and(|status| status.success()).then(|| "python3".to_owned())
}

#[test]
fn parameters_are_compared_with_those_of_an_interpreter() {
    let top = tree(&[(
        "textwrap.py",
        "def dedent(text):\n    return text\n\ndef indent(text, prefix):\n    return text\n\ndef gone():\n    pass\n\ndef _own(x):\n    pass\n\nclass TextWrapper:\n    def fill(self, text):\n        return text\n    def wrap(self):\n        return []\n",
    )]);
    let check = |arguments: &[&str]| hognose(top.path(), &[&["models", "check", "."], arguments].concat());
    check(&[]).expect(0);
    check(&["--python", "no-such-python"]).expect(2);
    let Some(python) = python() else { return };
    let run = check(&["--python", &python]).expect(1);
    for text in [
        "textwrap.py:4:0: warning[model]: `textwrap.indent` takes (text, prefix), and the library's (text, prefix, predicate)",
        "textwrap.py:7:0: warning[model]: the library has no `textwrap.gone`",
        "`textwrap.TextWrapper.wrap` takes (self), and the library's (self, text)",
    ] {
        assert!(run.stderr.contains(text), "{text}: {}", run.stderr);
    }
    assert_eq!(run.stderr.lines().count(), 3, "{}", run.stderr);
}
