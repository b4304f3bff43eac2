//! Prints every field of every code object below a folder of `.pyc` files, one JSON line each.
//!
//! `tests/differential/dump_fields.py` prints the same from a live interpreter; `compare_fields.py` compares the two.
//! Long fields stand as `[length, CRC-32]` of a canonical text that both sides build.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod fields;

use fields::fields;
use hognose_pyc::{qualnames, read_pyc};
use serde_json::json;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(root) = std::env::args_os().nth(1) else {
        eprintln!("usage: dump_fields FOLDER");
        return ExitCode::from(2);
    };
    let root = Path::new(&root);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let walk = walkdir::WalkDir::new(root).sort_by_file_name();
    for entry in walk.into_iter().filter_map(Result::ok) {
        if entry.path().extension().is_none_or(|extension| extension != "pyc") {
            continue;
        }
        let file = entry
            .path()
            .strip_prefix(root)
            .unwrap_or(entry.path())
            .to_string_lossy()
            .into_owned();
        let Ok(data) = std::fs::read(entry.path()) else {
            continue;
        };
        match read_pyc(data.into()) {
            Ok(module) => {
                let names = qualnames(&module);
                for (index, name) in names.iter_enumerated() {
                    let line = fields(&file, &module, index, name);
                    if writeln!(out, "{line}").is_err() {
                        return ExitCode::FAILURE;
                    }
                }
            }
            Err(error) => {
                let line = json!({"file": file, "error": error.diagnostic(file.clone()).to_string()});
                if writeln!(out, "{line}").is_err() {
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    ExitCode::SUCCESS
}
