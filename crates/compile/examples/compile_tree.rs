//! Compiles every `.py` file below the given folders and says what failed, for measurements and for finding defects.
//!
//! ```text
//! cargo run --release -p hognose-compile --example compile_tree -- [--python SPEC] [--threads N] FOLDER...
//! ```
#![allow(clippy::print_stdout)]

use hognose_compile::{CPython, CPythonConfig, Embedded, Frontend, PythonSpec, SourceFile, Threads};
use std::path::{Path, PathBuf};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut front, mut threads): (Box<dyn Frontend>, _) = (Box::new(Embedded::default()), Threads::ONE);
    let mut paths = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--python" => {
                let spec = PythonSpec::parse(&arguments.next().unwrap_or_default())?;
                front = Box::new(CPython::start(&spec, CPythonConfig::default())?);
            }
            "--threads" => threads = Threads::new(arguments.next().unwrap_or_default().parse()?),
            path => collect(Path::new(path), &mut paths),
        }
    }
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.display().to_string();
        Ok(SourceFile {
            path: name.clone(),
            filename: name,
            bytes: std::fs::read(path)?,
        })
    };
    let sources = paths.iter().map(read).collect::<std::io::Result<Vec<_>>>()?;
    let start = Instant::now();
    let results = front.compile(&sources, threads);
    let elapsed = start.elapsed();
    for diagnostic in results.iter().flat_map(|result| &result.diagnostics) {
        println!("{diagnostic}");
    }
    let modules: Vec<_> = results.iter().filter_map(|result| result.module.as_ref()).collect();
    let codes: usize = modules.iter().map(|module| module.objects.code_count()).sum();
    println!(
        "{} files, {} modules, {codes} code objects, {elapsed:.3?}, {}",
        sources.len(),
        modules.len(),
        front.name()
    );
    Ok(())
}

fn collect(path: &Path, paths: &mut Vec<PathBuf>) {
    if let Ok(entries) = std::fs::read_dir(path) {
        entries.flatten().for_each(|entry| collect(&entry.path(), paths));
    } else if path.extension().is_some_and(|extension| extension == "py") {
        paths.push(path.to_owned());
    }
}
