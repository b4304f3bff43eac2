//! Lifts every `.pyc` file below the given folders and counts, per version, what could not be lifted.
//!
//! ```text
//! cargo run --release -p hognose-ir --example lift_corpus -- FOLDER...
//! ```
#![allow(clippy::print_stdout)]

use hognose_ir::{NameTable, Op, versions};
use hognose_pyc::read_pyc;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Counts {
    files: u64,
    codes: u64,
    insts: u64,
    regions: u64,
    guards: u64,
    problems: u64,
    unsupported: u64,
    time: Duration,
}

fn main() -> anyhow::Result<ExitCode> {
    let mut versions: BTreeMap<String, Counts> = BTreeMap::new();
    let mut unread = 0_u64;
    for folder in std::env::args_os().skip(1) {
        for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
            let entry = entry?;
            if entry.path().extension().is_some_and(|extension| extension == "pyc") {
                let data = std::fs::read(entry.path())?;
                match read_pyc(data.into_boxed_slice()) {
                    Ok(module) => {
                        let counts = versions.entry(module.version.to_string()).or_default();
                        count(&module, &entry.path().display().to_string(), counts);
                    }
                    Err(error) => {
                        unread += 1;
                        println!("{}: {error}", entry.path().display());
                    }
                }
            }
        }
    }
    println!("version  files    codes  instructions  regions  guards  problems  unsupported  instructions/s");
    let mut bad = unread;
    for (version, counts) in &versions {
        let seconds = counts.time.as_secs_f64();
        #[allow(clippy::cast_precision_loss)]
        let speed = counts.insts as f64 / seconds.max(1e-9);
        let Counts {
            files,
            codes,
            insts,
            regions,
            guards,
            problems,
            unsupported,
            ..
        } = counts;
        bad += problems + unsupported;
        println!(
            "{version:7} {files:6} {codes:8} {insts:13} {regions:8} {guards:7} {problems:9} {unsupported:12} {speed:15.0}"
        );
    }
    println!("files that could not be read: {unread}");
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn count(module: &hognose_pyc::CompiledModule, path: &str, counts: &mut Counts) {
    let mut names = NameTable::default();
    counts.files += 1;
    for code in module.objects.codes().ids() {
        counts.codes += 1;
        let start = Instant::now();
        let lifted = versions::lift(&module.objects, code, module.version, &mut names);
        counts.time += start.elapsed();
        match lifted {
            Ok(lifted) => {
                counts.insts += lifted.insts.len() as u64;
                counts.regions += lifted.regions.len() as u64;
                counts.guards += lifted.regions.iter().filter(|region| region.generator_guard).count() as u64;
                for inst in lifted.insts.iter().filter(|inst| matches!(inst.op, Op::Unsupported(_))) {
                    counts.unsupported += 1;
                    println!("{path}: {code}: {} at {}", inst.op, inst.offset);
                }
            }
            Err(problem) => {
                counts.problems += 1;
                println!("{path}: {code}: {} at {}", problem.message, problem.offset);
            }
        }
    }
}
