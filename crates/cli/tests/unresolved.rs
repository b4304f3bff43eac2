//! `hognose analyze --unresolved`.

#![allow(clippy::unwrap_used)]

mod common;

use common::hognose;
use serde_json::{Value, json};

const PROGRAM: &str = "\
import sqlite3, unknown
connection = sqlite3.connect('x')
connection.cursor()
connection.cursor().execute('y')
connection.close()
class C:
    pass
C().absent()
def entry(callback):
    callback(1)
    callback(2)
    callback.method()
    for each in callback.rows:
        pass
unknown.f(unknown.g())
";

fn causes(document: &Value, kind: &str) -> Vec<(String, u64, Vec<String>)> {
    let kinds = document["kinds"].as_array().unwrap();
    let row = kinds.iter().find(|row| row["kind"] == kind).unwrap();
    let place = |place: &Value| format!("{}:{}", place["file"].as_str().unwrap(), place["line"]);
    let causes = row["causes"].as_array().unwrap().iter();
    causes
        .map(|cause| {
            let places = cause["places"].as_array().unwrap();
            (
                cause["cause"].as_str().unwrap().to_owned(),
                cause["sites"].as_u64().unwrap(),
                places.iter().map(place).collect(),
            )
        })
        .collect()
}

fn expected(causes: &[(&str, u64, &[u32])]) -> Vec<(String, u64, Vec<String>)> {
    causes
        .iter()
        .map(|&(cause, sites, lines)| {
            let places = lines.iter().map(|line| format!("main.py:{line}")).collect();
            (cause.to_owned(), sites, places)
        })
        .collect()
}

#[test]
fn causes_are_counted_with_their_first_places() {
    let top = tempfile::tempdir().unwrap();
    std::fs::write(top.path().join("main.py"), PROGRAM).unwrap();
    let run = |arguments: &[&str]| {
        hognose(
            top.path(),
            &[&["analyze", "main.py", "--unresolved"], arguments].concat(),
        )
        .expect(0)
    };
    let document = run(&["--format", "json"]).json();
    assert_eq!(document["schema"], "hognose.unresolved/1");
    assert_eq!(document["status"], "complete");
    assert_eq!(
        causes(&document, "external"),
        expected(&[
            ("sqlite3.connect", 5, &[2, 3, 4]),
            ("unknown.f", 1, &[15]),
            ("unknown.g", 1, &[15]),
        ])
    );
    assert_eq!(
        causes(&document, "missing-attribute"),
        expected(&[(".absent", 1, &[8])])
    );
    assert_eq!(
        causes(&document, "entry-parameter"),
        expected(&[
            ("callback", 2, &[10, 11]),
            (".method", 1, &[12]),
            (".rows", 1, &[13]),
            ("ForIter", 1, &[13]),
            ("GetIter .rows", 1, &[13])
        ])
    );
    assert_eq!(document["sites"], json!({"open": 7, "unresolved": 7}));
    let text = run(&[]).text();
    assert!(
        text.starts_with("call sites that are not fully known: 7 open, 7 unresolved\n"),
        "{text}"
    );
    assert!(
        text.contains("\nexternal: 7 sites\n         5  sqlite3.connect  main.py:2, main.py:3, main.py:4\n"),
        "{text}"
    );
}

#[test]
fn the_table_is_cut_and_the_places_of_the_project_come_first() {
    let top = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let path = top.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let calls: String = (10..22).map(|number| format!("x.f{number}()\n")).collect();
    write("app/main.py", &format!("import aaa, x\nx.f10()\n{calls}"));
    write("deps/aaa.py", "import x\nx.f10()\n");
    let run = |arguments: &[&str]| {
        let all = [&["analyze", "app", "--deps", "deps", "--unresolved"], arguments].concat();
        hognose(top.path(), &all).expect(0)
    };
    let document = run(&["--format", "json"]).json();
    let found = causes(&document, "external");
    assert_eq!(found.len(), 12);
    let places = ["main.py:2", "main.py:3", "<deps>/aaa.py:2"]
        .map(str::to_owned)
        .to_vec();
    assert_eq!(found[0], ("x.f10".to_owned(), 3, places));
    let text = run(&[]).text();
    assert!(
        text.contains("x.f19") && !text.contains("x.f20") && text.contains("and 2 other causes"),
        "{text}"
    );
}
