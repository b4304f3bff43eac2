//! The call graph in the format of the PyCG benchmark: `{caller: [callees]}` with dotted names.
//!
//! - Every module, function and lambda of the program is a key, in the order of the code objects; builtins that are called
//!   follow, with no callees.
//! - Comprehensions have no node: what they call is called by the function around them. The same holds for annotations.
//! - Explicit and implicit calls count alike (`__init__`, `__iter__`, properties), as in the benchmark's truth; for
//!   functions that the program does not define only explicit calls do.
//! - `<builtin>.len` is a builtin function or class, `<**PyStr**>.join` a method of a builtin class; other external
//!   functions stand under their dotted name. A class without `__init__` of its own gives no edge.

use hognose_ir::Op;
use hognose_pta::{CallKind, CallRecord, CodeId, CodeKind, Program};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// Names of builtin classes in the benchmark's format.
const BUILTIN_CLASSES: [(&str, &str); 12] = [
    ("bool", "PyBool"),
    ("bytearray", "PyByteArray"),
    ("bytes", "PyBytes"),
    ("complex", "PyComplex"),
    ("dict", "PyDict"),
    ("float", "PyFloat"),
    ("frozenset", "PyFrozenSet"),
    ("int", "PyNum"),
    ("list", "PyList"),
    ("set", "PySet"),
    ("str", "PyStr"),
    ("tuple", "PyTuple"),
];

/// The call graph as callers with their callees; callers in order, callees sorted by name.
#[must_use]
pub fn pycg_graph(program: &Program, calls: &[CallRecord]) -> Vec<(String, BTreeSet<String>)> {
    let mut callees: BTreeMap<CodeId, BTreeSet<String>> = BTreeMap::new();
    let mut builtins = BTreeSet::new();
    for call in calls {
        let caller = program.enclosing_function(call.caller);
        let names = callees.entry(caller).or_default();
        names.extend(call.targets.iter().map(|&target| program.qualname(target).to_owned()));
        if call.kind == CallKind::Call && is_call_expression(program, call) {
            for external in call.external.iter().filter_map(|name| external_name(name)) {
                if external.starts_with('<') {
                    builtins.insert(external.clone());
                }
                names.insert(external);
            }
        }
    }
    let mut graph = Vec::new();
    for (code, info) in program.codes.iter_enumerated() {
        let found = callees.remove(&code).unwrap_or_default();
        let always = info.is_function() || info.kind == CodeKind::Module;
        if !program.is_model(code) && (always || !found.is_empty()) {
            graph.push((program.qualname(code).to_owned(), found));
        }
    }
    graph.extend(builtins.into_iter().map(|name| (name, BTreeSet::new())));
    graph
}

/// Whether the call stands in the source: `raise StopIteration` makes an instance without one.
fn is_call_expression(program: &Program, call: &CallRecord) -> bool {
    let op = program.body(call.caller).insts.get(call.inst).map(|inst| inst.op);
    matches!(op, Some(Op::Call { .. } | Op::CallStar { .. }))
}

fn external_name(name: &str) -> Option<String> {
    let Some(builtin) = name.strip_prefix("builtins.") else {
        // What is behind a call or an item has no name in this format.
        return (!name.contains(['(', '[', '<', '*'])).then(|| name.to_owned());
    };
    match builtin.split_once('.') {
        None => Some(format!("<builtin>.{builtin}")),
        Some((class, method)) => {
            let known = BUILTIN_CLASSES.iter().find(|row| row.0 == class)?.1;
            (!method.contains('.')).then(|| format!("<**{known}**>.{method}"))
        }
    }
}

/// Writes the graph as one JSON object.
///
/// # Errors
/// If writing fails.
pub fn write_pycg(program: &Program, calls: &[CallRecord], out: &mut dyn Write) -> io::Result<()> {
    // Two code objects may have one name (a function defined twice): their callees are joined.
    let mut order: Vec<String> = Vec::new();
    let mut joined: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (caller, callees) in pycg_graph(program, calls) {
        if !joined.contains_key(&caller) {
            order.push(caller.clone());
        }
        joined.entry(caller).or_default().extend(callees);
    }
    out.write_all(b"{")?;
    for (number, caller) in order.iter().enumerate() {
        out.write_all(if number == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, caller)?;
        out.write_all(b": ")?;
        serde_json::to_writer(&mut *out, &joined.get(caller))?;
    }
    out.write_all(b"\n}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_what_the_program_does_not_define() {
        let name = |text| external_name(text).unwrap_or_default();
        assert_eq!(name("builtins.len"), "<builtin>.len");
        assert_eq!(name("builtins.str.join"), "<**PyStr**>.join");
        assert_eq!(name("builtins.str.join.x"), "");
        assert_eq!(name("os.path.join"), "os.path.join");
        assert_eq!(name("sqlite3.connect().cursor"), "");
    }
}
