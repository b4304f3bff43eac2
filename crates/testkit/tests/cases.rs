//! Runs every literate case for every version of its matrix: one test per file, heading and version.
//!
//! `HOGNOSE_UPDATE=1` rewrites the markers of the source runs to what was found.

mod observe;

use hognose_testkit::{
    Case, CaseFile, Fixture, Mismatch, Target, Verdict, check_case, find_case_files, judge, parse_cases, update_markers,
};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    libtest_mimic::run(&arguments, trials(&root)).exit_code()
}

fn trials(root: &Path) -> Vec<Trial> {
    let files = find_case_files(&root.join("cases")).expect("the folder of cases is readable");
    assert!(!files.is_empty(), "there are no cases");
    let mut trials = Vec::new();
    for (key, path) in files {
        let text = std::fs::read_to_string(&path).expect("cases are text");
        let (file, errors) = parse_cases(&path, &key, &text);
        let errors: String = errors.iter().map(|error| format!("{error}\n")).collect();
        let well_formed = move || {
            if errors.is_empty() {
                Ok(())
            } else {
                Err(Failed::from(errors))
            }
        };
        trials.push(Trial::test(format!("{key}: well-formed"), well_formed));
        let fixture = Arc::new(read_fixture(&root.join(format!("fixtures/cases/{key}.hogfix"))));
        let file = Arc::new(file);
        for (index, case) in file.cases.iter().enumerate() {
            for &target in &case.config.python {
                let (file, fixture) = (Arc::clone(&file), Arc::clone(&fixture));
                let run = move || run_case(&file, &file.cases[index], target, &fixture);
                trials.push(Trial::test(format!("{key}: {} [{target}]", case.name), run));
            }
        }
    }
    trials
}

fn read_fixture(path: &PathBuf) -> Result<Fixture, String> {
    let bytes = std::fs::read(path).map_err(|_| "no fixture: run `cargo xtask cases build`".to_owned())?;
    Fixture::decode(&bytes).map_err(|error| error.to_string())
}

/// The modules of a case as the analysis gets them: bytecode by path; none for the source.
fn bytecode<'a>(case: &Case, target: Target, fixture: &'a Fixture) -> Result<BTreeMap<String, &'a [u8]>, Failed> {
    let mut found = BTreeMap::new();
    if target != Target::Source {
        for module in &case.modules {
            let bytes = fixture.bytecode(&case.name, target.name(), &module.path, &module.text)?;
            found.insert(module.path.clone(), bytes);
        }
    }
    Ok(found)
}

fn run_case(file: &CaseFile, case: &Case, target: Target, fixture: &Result<Fixture, String>) -> Result<(), Failed> {
    let modules = match fixture {
        Ok(fixture) => bytecode(case, target, fixture)?,
        Err(_) if target == Target::Source => BTreeMap::new(),
        Err(error) => return Err(error.into()),
    };
    let observed = observe::observe(case, target, &modules)?;
    let mismatches = check_case(case, &observed);
    if target == Target::Source && case.config.bug_in(target).is_none() && std::env::var_os("HOGNOSE_UPDATE").is_some()
    {
        return Ok(update(&file.path, &mismatches)?);
    }
    match judge(case, target, &mismatches) {
        Verdict::Passed { .. } => Ok(()),
        Verdict::Failed(report) => Err(format!("{}\n{report}", file.path.display()).into()),
    }
}

/// Rewrites a file of cases; tests run side by side, so one at a time.
fn update(path: &Path, mismatches: &[Mismatch]) -> std::io::Result<()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock();
    let text = std::fs::read_to_string(path)?;
    let updated = update_markers(&text, mismatches);
    if updated == text {
        Ok(())
    } else {
        std::fs::write(path, updated)
    }
}
