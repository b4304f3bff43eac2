//! Data flows one way: which crate may depend on which (see `ARCHITECTURE.md`).

use cargo_metadata::{DependencyKind, MetadataCommand, Package};
use std::path::Path;

/// The pipeline from left to right: a crate depends on none to its right.
const ORDER: &[&str] = &[
    "hognose-base",
    "hognose-graph",
    "hognose-pyc",
    "hognose-compile",
    "hognose-project",
    "hognose-ir",
    "hognose-pta",
    "hognose-models",
    "hognose-depgraph",
    "hognose-report",
    "hognose",
    "hognose-cli",
];

/// Tools beside the pipeline: they may depend on any of its crates, and none of its crates on them.
const TOOLS: &[&str] = &["hognose-testkit", "xtask"];

/// Crates that get files and code objects handed to them: only the façade puts them together with what reads them.
const PURE: &[&str] = &[
    "hognose-ir",
    "hognose-pta",
    "hognose-models",
    "hognose-depgraph",
    "hognose-report",
];

/// What those do not use.
const READERS: &[&str] = &["hognose-compile", "hognose-project"];

/// What one crate's package is built with (dev-dependencies are exempt: tests may use anything).
#[derive(Debug)]
struct Crate {
    name: String,
    dependencies: Vec<String>,
}

impl Crate {
    fn new(name: &str, dependencies: &[&str]) -> Self {
        let dependencies = dependencies.iter().map(ToString::to_string).collect();
        Self {
            name: name.to_owned(),
            dependencies,
        }
    }

    fn of(package: &Package) -> Self {
        let built_with = package
            .dependencies
            .iter()
            .filter(|one| one.kind != DependencyKind::Development);
        Self {
            name: package.name.to_string(),
            dependencies: built_with.map(|one| one.name.clone()).collect(),
        }
    }
}

fn workspace() -> Vec<Package> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let metadata = MetadataCommand::new()
        .manifest_path(manifest)
        .no_deps()
        .exec()
        .expect("cargo can read the workspace");
    metadata.workspace_packages().into_iter().cloned().collect()
}

/// What is wrong with the dependencies of these crates, in words.
fn violations(crates: &[Crate]) -> Vec<String> {
    let place = |name: &str| ORDER.iter().position(|&one| one == name);
    let mut found = Vec::new();
    for one in crates {
        let name = one.name.as_str();
        let here = place(name);
        if here.is_none() && !TOOLS.contains(&name) {
            found.push(format!("{name} has no place in the order"));
        }
        for dependency in &one.dependencies {
            let dependency = dependency.as_str();
            let wrong_way = here.is_some() && place(dependency) >= here && place(dependency).is_some();
            let on_a_tool = here.is_some() && TOOLS.contains(&dependency);
            let reads = PURE.contains(&name) && READERS.contains(&dependency);
            // The types of the embedded compiler never leave its crate.
            let compiles = dependency.starts_with("rustpython-") && name != "hognose-compile";
            if wrong_way || on_a_tool || reads || compiles {
                found.push(format!("{name} depends on {dependency}"));
            }
        }
    }
    found
}

#[test]
fn no_crate_depends_on_one_to_its_right() {
    let packages = workspace();
    for name in ORDER.iter().chain(TOOLS) {
        assert!(
            packages.iter().any(|package| package.name.as_str() == *name),
            "there is no crate {name}"
        );
    }
    let crates: Vec<Crate> = packages.iter().map(Crate::of).collect();
    assert_eq!(violations(&crates), Vec::<String>::new());
}

#[test]
fn wrong_ways_are_found() {
    let cases: [(Crate, &[&str]); 8] = [
        (
            Crate::new("hognose-ir", &["hognose-graph", "hognose-pyc", "smallvec"]),
            &[],
        ),
        (Crate::new("xtask", &["hognose-testkit", "hognose"]), &[]),
        (
            Crate::new("hognose-graph", &["hognose-pyc"]),
            &["hognose-graph depends on hognose-pyc"],
        ),
        (
            Crate::new("hognose-base", &["hognose-base"]),
            &["hognose-base depends on hognose-base"],
        ),
        (
            Crate::new("hognose-cli", &["hognose-testkit"]),
            &["hognose-cli depends on hognose-testkit"],
        ),
        (
            Crate::new("hognose-pta", &["hognose-project"]),
            &["hognose-pta depends on hognose-project"],
        ),
        (
            Crate::new("hognose", &["rustpython-compiler"]),
            &["hognose depends on rustpython-compiler"],
        ),
        (
            Crate::new("hognose-utils", &[]),
            &["hognose-utils has no place in the order"],
        ),
    ];
    for (one, expected) in cases {
        assert_eq!(violations(std::slice::from_ref(&one)), expected, "{one:?}");
    }
}

#[test]
fn every_crate_says_what_it_is() {
    for package in workspace() {
        let name = &package.name;
        assert!(
            package
                .description
                .as_deref()
                .is_some_and(|text| !text.trim().is_empty()),
            "{name} has no description"
        );
        assert_eq!(
            package.license.as_deref(),
            Some("Apache-2.0 OR MIT"),
            "licence of {name}"
        );
    }
}
