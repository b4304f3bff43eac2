//! Prints the lifted bodies of one `.pyc` file.

use hognose_ir::lift_file;
use hognose_pyc::read_pyc;
use std::error::Error;
use std::io::Write;

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    for path in std::env::args_os().skip(1) {
        let file = lift_file(read_pyc(std::fs::read(path)?.into_boxed_slice()).map_err(|error| format!("{error:?}"))?);
        for code in file.bodies.ids() {
            let name = file.module.objects.text(file.code(code).name).unwrap_or_default();
            writeln!(out, "== {code:?} {name}\n{}", file.text(code))?;
        }
    }
    Ok(())
}
