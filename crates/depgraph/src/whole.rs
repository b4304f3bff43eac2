//! Per-function graphs of a whole program, in parallel.

use crate::cdg::{Cdg, Layer};
use hognose_pta::{CodeId, Program};
use rayon::prelude::*;

/// The control-dependence graphs of all code objects of the program, in order of [`CodeId`]; library models are left out.
/// [`Cdg::function`] is the number within the file; the id stands beside it.
#[must_use]
pub fn cdg_of_program(program: &Program, layer: Layer) -> Vec<(CodeId, Cdg)> {
    let codes: Vec<CodeId> = program.codes.ids().filter(|&code| !program.is_model(code)).collect();
    codes
        .into_par_iter()
        .map(|code| (code, Cdg::of(program.codes[code].index, program.body(code), layer)))
        .collect()
}
