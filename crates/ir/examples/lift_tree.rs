//! Lifts and verifies every `.pyc` file below some folders; prints counts per version, time per phase and violations.
//!
//! `cargo run --release -p hognose-ir --example lift_tree -- FOLDER...`

use hognose_ir::{Def, FileIr, NameTable, lift_file, verify, versions};
use hognose_pyc::{CompiledModule, read_pyc};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How many violations are printed.
const SHOWN: usize = 40;

#[derive(Default)]
struct Totals {
    files: usize,
    unreadable: usize,
    codes: usize,
    insts: usize,
    blocks: usize,
    edges: usize,
    values: usize,
    phis: usize,
    refined: usize,
    rejected: usize,
    read: Duration,
    adapt: Duration,
    lift: Duration,
    verify: Duration,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let mut totals: BTreeMap<String, Totals> = BTreeMap::new();
    let mut shown = 0;
    for root in std::env::args_os().skip(1) {
        for path in pyc_files(Path::new(&root))? {
            let data = std::fs::read(&path)?.into_boxed_slice();
            let start = Instant::now();
            let module = match read_pyc(data) {
                Ok(module) => module,
                Err(error) => {
                    totals.entry("unreadable".to_owned()).or_default().unreadable += 1;
                    writeln!(out, "{}: {error:?}", path.display())?;
                    continue;
                }
            };
            let total = totals.entry(module.version.to_string()).or_default();
            total.read += start.elapsed();
            let file = lift(module, total);
            let start = Instant::now();
            for (index, body) in file.bodies.iter_enumerated() {
                let violations = verify(body, file.code(index), file.module.version);
                total.rejected += usize::from(!violations.is_empty());
                for violation in violations {
                    shown += 1;
                    if shown <= SHOWN {
                        let name = file.module.objects.text(file.code(index).name).unwrap_or_default();
                        writeln!(out, "{} {index:?} {name}: {violation}", path.display())?;
                    }
                }
            }
            total.verify += start.elapsed();
        }
    }
    for (version, total) in &totals {
        print_totals(&mut out, version, total)?;
    }
    Ok(())
}

fn lift(module: CompiledModule, total: &mut Totals) -> FileIr {
    let start = Instant::now();
    let mut names = NameTable::default();
    for code in module.objects.codes().ids() {
        let _ = std::hint::black_box(versions::lift(&module.objects, code, module.version, &mut names));
    }
    total.adapt += start.elapsed();
    let start = Instant::now();
    let file = lift_file(module);
    total.lift += start.elapsed();
    total.files += 1;
    total.codes += file.bodies.len();
    for body in &file.bodies {
        total.insts += body.insts.len();
        total.blocks += body.cfg.blocks.len();
        total.edges += body.cfg.edges.len();
        total.values += body.ssa.values.len();
        total.phis += body.ssa.phis.len();
        total.refined += body
            .ssa
            .values
            .iter()
            .filter(|def| matches!(def, Def::Refined { .. }))
            .count();
    }
    file
}

fn print_totals(out: &mut impl Write, version: &str, total: &Totals) -> std::io::Result<()> {
    #[allow(clippy::cast_precision_loss)]
    let rate = total.insts as f64 / total.lift.as_secs_f64() / 1e6;
    writeln!(
        out,
        "{version}: {} files ({} unreadable), {} code objects, {} rejected, {} instructions, {} blocks, {} edges, \
         {} values, {} phis, {} refined; read {:.2?}, adapt {:.2?}, lift in all {:.2?} ({rate:.2} M/s), verify {:.2?}",
        total.files,
        total.unreadable,
        total.codes,
        total.rejected,
        total.insts,
        total.blocks,
        total.edges,
        total.values,
        total.phis,
        total.refined,
        total.read,
        total.adapt,
        total.lift,
        total.verify,
    )
}

/// The `.pyc` files below a folder in path order.
fn pyc_files(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "pyc") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
