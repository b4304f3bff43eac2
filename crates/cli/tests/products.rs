//! All products of the example, as the command writes them.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Run, hognose, repository};
use hognose::{Config, Product, Session, report};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

const PRODUCTS: [&str; 8] = ["cfg", "cdg", "cg", "pta", "ddg", "ssa", "classes", "modules"];

fn shop(arguments: &[&str]) -> Run {
    hognose(&repository("examples/shop"), arguments)
}

#[test]
fn analyze_shows_a_table() {
    let run = shop(&["analyze", "shop"]).expect(0);
    let text = run.text();
    assert!(text.starts_with("9 modules (Python 3.14)"), "{text}");
    for product in PRODUCTS {
        assert!(
            text.lines().any(|line| line.starts_with(product)),
            "no {product} in {text}"
        );
    }
    assert!(run.stderr.contains("done in"), "{}", run.stderr);
    assert!(shop(&["analyze", "shop", "--quiet"]).expect(0).stderr.is_empty());
}

#[test]
fn analyze_writes_json_and_a_profile() {
    let folder = tempfile::tempdir().unwrap();
    let (out, profile) = (folder.path().join("out.json"), folder.path().join("profile.json"));
    let (out, profile) = (out.to_str().unwrap(), profile.to_str().unwrap());
    shop(&["analyze", "shop", "--format", "json", "-o", out, "--profile", profile]).expect(0);
    let read = |path: &str| -> Value { serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap() };
    let summary = read(out);
    assert_eq!(summary["schema"], "hognose.analyze/1");
    assert_eq!(summary["status"], "complete");
    assert_eq!(summary["totals"]["modules"], 9);
    let profile = read(profile);
    assert_eq!(profile["schema"], "hognose.profile/1");
    // All products of one run stand on one fixed point.
    assert_eq!(profile["counters"]["fixed_points_solved"], 1);
    let mut names = BTreeSet::new();
    let mut stack: Vec<&Value> = profile["regions"].as_array().unwrap().iter().collect();
    while let Some(region) = stack.pop() {
        assert_eq!(region["status"], "finished", "{region}");
        names.insert(region["name"].as_str().unwrap());
        stack.extend(region["regions"].as_array().into_iter().flatten());
    }
    for name in [
        "load", "compile", "lift", "cfg", "ssa", "pta+cg", "cdg", "ddg", "report",
    ] {
        assert!(names.contains(name), "no region {name} in {names:?}");
    }
}

#[test]
fn every_product_is_a_document_and_a_drawing() {
    for product in PRODUCTS {
        let json = shop(&["graph", product, "shop", "--quiet"]).expect(0).json();
        assert_eq!(json["schema"], format!("hognose.{product}/1"));
        let dot = shop(&["graph", product, "shop", "--format", "dot"]).expect(0).text();
        assert!(dot.starts_with(&format!("digraph {product} {{")), "{product}");
        assert!(dot.ends_with("}\n") && dot.contains(" -> "), "{product}");
    }
}

#[test]
fn outputs_depend_neither_on_the_run_nor_on_the_threads() {
    for product in PRODUCTS {
        let with = |threads| shop(&["graph", product, "shop", "--threads", threads]).expect(0).stdout;
        let first = with("1");
        assert!(first == with("1"), "{product} differs between runs");
        assert!(first == with("2"), "{product} differs between 1 and 2 threads");
    }
}

/// Every product that the command computes alone equals that of a run that computed all of them.
fn alone_equals_combined(folder: &Path, package: &str) {
    let session = Session::new(Config::default()).unwrap();
    let analysis = session.analyze(&[folder.join(package)]);
    for product in Product::ALL {
        analysis.prepare(product);
    }
    let all: Vec<_> = analysis.codes().collect();
    let (program, points_to) = (analysis.program(), analysis.points_to());
    for name in PRODUCTS {
        let mut combined = Vec::new();
        let out = &mut combined;
        match name {
            "cfg" => report::write_cfg_json(program, &all, out),
            "cdg" => report::write_cdg_json(program, analysis.cdgs(), &all, out),
            "ssa" => report::write_ssa_json(program, &all, out),
            "pta" => report::write_points_to_json(points_to, None, out),
            "ddg" => report::write_ddg_json(points_to, analysis.ddg(), analysis.data_coverage(), None, out),
            "classes" => report::write_classes_json(points_to, analysis.classes(), out),
            "modules" => report::write_modules_json(program, analysis.modules(), out),
            _ => {
                let coverage = analysis.coverage(Product::CallGraph);
                report::write_call_graph_json(points_to, analysis.calls(), None, &coverage, out)
            }
        }
        .unwrap();
        let alone = hognose(folder, &["graph", name, package]).expect(0).stdout;
        assert!(!alone.is_empty() && alone == combined, "{name} of {package}");
    }
}

#[test]
fn a_product_alone_equals_that_of_the_combined_run() {
    alone_equals_combined(&repository("examples/shop"), "shop");
}

#[test]
fn products_of_cases_alone_equal_those_of_the_combined_run() {
    let cases = [
        ("ddg/fields.md", "A store through a base that is not known"),
        ("cg/direct.md", ""),
    ];
    for (path, name) in cases {
        let path = repository("tests/cases").join(path);
        let text = std::fs::read_to_string(&path).unwrap();
        let (file, errors) = hognose_testkit::parse_cases(&path, "", &text);
        assert!(errors.is_empty());
        let case = file
            .cases
            .iter()
            .find(|case| name.is_empty() || case.name == name)
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        for module in &case.modules {
            let target = folder.path().join("case").join(&module.path);
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::write(target, &module.text).unwrap();
        }
        alone_equals_combined(folder.path(), "case");
    }
}

#[test]
fn documents_share_ids() {
    let calls = shop(&["graph", "cg", "shop"]).json();
    let functions: BTreeSet<u64> = calls["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].as_u64().unwrap())
        .collect();
    for call in calls["calls"].as_array().unwrap() {
        assert!(functions.contains(&call["caller"].as_u64().unwrap()));
        for target in call["targets"].as_array().unwrap() {
            assert!(functions.contains(&target.as_u64().unwrap()));
        }
    }
    for product in ["cfg", "cdg", "ssa"] {
        let graphs = shop(&["graph", product, "shop"]).json();
        let with_graph: BTreeSet<u64> = graphs["graphs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["function"].as_u64().unwrap())
            .collect();
        assert_eq!(with_graph, functions, "{product}");
    }
}

#[test]
fn one_function() {
    let json = shop(&["graph", "cfg", "shop", "--function", "Cart.put"])
        .expect(0)
        .json();
    let graphs = json["graphs"].as_array().unwrap();
    assert!(!graphs.is_empty());
    assert!(
        graphs
            .iter()
            .all(|graph| graph["name"].as_str().unwrap().ends_with(".Cart.put")),
        "{json}"
    );
    let unknown = shop(&["graph", "cfg", "shop", "--function", "no_such_thing"]).expect(2);
    assert!(unknown.stderr.contains("no_such_thing"), "{}", unknown.stderr);
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

#[test]
fn a_script_leads_to_what_it_imports() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "main.py", "import helper\nhelper.help()\n");
    write(
        folder.path(),
        "helper.py",
        "def help():\n    return [len(x) for x in ('a', 'b')]\n",
    );
    write(folder.path(), "other.py", "");
    let graph = |arguments: &[&str]| hognose(folder.path(), arguments).expect(0).json();
    let followed = graph(&["graph", "cg", "main.py", "--format", "pycg"]);
    assert_eq!(followed["main"], serde_json::json!(["helper.help"]));
    assert!(
        followed.get("helper").is_some() && followed.get("other").is_none(),
        "{followed}"
    );
    let alone = graph(&["graph", "cg", "main.py", "--format", "pycg", "--no-follow"]);
    assert!(alone.get("helper").is_none(), "{alone}");
}

#[test]
fn dis_shows_text_and_records() {
    let text = shop(&["dis", "shop/cart.py"]).expect(0).text();
    assert!(
        text.starts_with("shop/cart.py  Python 3.14") || text.starts_with("cart.py  Python 3.14"),
        "{text}"
    );
    assert!(text.contains("MakeFunction"), "{text}");
    let json = shop(&["dis", "shop/cart.py", "--format", "json"]).expect(0).json();
    assert_eq!(json["schema"], "hognose.dis/1");
    assert_eq!(json["version"], "3.14");
    assert!(
        json["codes"][0]["instructions"]
            .as_array()
            .is_some_and(|rows| !rows.is_empty())
    );
    for version in ["3.10", "3.11", "3.12", "3.13", "3.14"] {
        let file = repository(&format!("crates/pyc/tests/fixtures/sample_{version}.pyc"));
        let text = shop(&["dis", file.to_str().unwrap()]).expect(0).text();
        assert!(
            text.contains(&format!("Python {version}")) && text.contains("  magic "),
            "{text}"
        );
    }
}

#[test]
fn wrong_usage() {
    for arguments in [
        &["graph", "cfg", "shop", "--format", "pycg"][..],
        &["graph", "cg", "shop", "--project", "official"],
        &["graph", "classes", "shop", "--function", "Cart"],
        &["dis", "shop"],
        &["analyze"],
        &["analyze", "shop", "--no-such-option"],
        &["analyze", "shop", "--python", "no-such-python"],
    ] {
        let run = shop(arguments).expect(2);
        assert!(!run.stderr.is_empty() && run.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn help_has_examples() {
    for command in ["analyze", "graph", "dis"] {
        assert!(
            shop(&[command, "--help"]).expect(0).text().contains("Examples:"),
            "{command}"
        );
    }
    assert!(shop(&["--help"]).expect(0).text().contains("Exit codes:"));
}
