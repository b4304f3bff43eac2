//! Whether the functions of models take what those of the library take, by what `inspect.signature` of an interpreter says.
//!
//! Names and kinds of parameters are compared; the names of positional-only parameters, of `*args` and of `**kwargs` do not
//! matter to a call. Functions within functions and private names are the model's own. What Python itself cannot say of a function
//! (`ValueError` of `inspect.signature`) is not compared.

use hognose_base::{Diagnostic, DiagnosticKind};
use hognose_compile::{Interpreter, InterpreterError, PythonSpec};
use hognose_ir::ParameterKind;
use hognose_pta::{CodeId, CodeKind, Program};
use std::io::Write;
use std::process::{Command, Stdio};

const SCRIPT: &str = include_str!("model_signatures.py");

/// Kinds in the order of `inspect._ParameterKind`.
const KINDS: [ParameterKind; 5] = [
    ParameterKind::PositionalOnly,
    ParameterKind::PositionalOrKeyword,
    ParameterKind::VarPositional,
    ParameterKind::KeywordOnly,
    ParameterKind::VarKeyword,
];

type Parameters = Vec<(String, ParameterKind)>;

/// What the interpreter says of a function.
enum Real {
    Absent,
    Unknown,
    Takes(Parameters),
}

/// The functions of the program's models that differ from those of the library.
pub(crate) fn compare(program: &Program, python: &PythonSpec) -> Result<Vec<Diagnostic>, InterpreterError> {
    let functions: Vec<(CodeId, String, String)> = program
        .codes
        .ids()
        .filter_map(|code| named(program, code).map(|(module, name)| (code, module, name)))
        .collect();
    let real = ask(python, &functions)?;
    let mut found = Vec::new();
    for ((code, module, name), real) in functions.iter().zip(real) {
        let message = match real {
            Real::Unknown => continue,
            Real::Absent => format!("the library has no `{module}.{name}`"),
            Real::Takes(real) => {
                let modelled = parameters(program, *code);
                if same(&modelled, &real) {
                    continue;
                }
                format!(
                    "`{module}.{name}` takes ({}), and the library's ({})",
                    text(&modelled),
                    text(&real)
                )
            }
        };
        let info = &program.codes[*code];
        let path = &*program.modules[info.module].path;
        found.push(Diagnostic::warning(path, DiagnosticKind::Model, message).at(info.line.max(1), 0));
    }
    Ok(found)
}

/// Module and dotted name of a function that the library has as well.
fn named(program: &Program, code: CodeId) -> Option<(String, String)> {
    let info = &program.codes[code];
    if info.kind != CodeKind::Function {
        return None;
    }
    let mut names = vec![program.text(info.name)];
    let mut outer = program.codes.get(info.parent?)?;
    while outer.kind == CodeKind::Class {
        names.push(program.text(outer.name));
        outer = program.codes.get(outer.parent?)?;
    }
    let is_private = |name: &&str| name.starts_with('_') && !name.starts_with("__");
    if outer.kind != CodeKind::Module || names.iter().any(is_private) {
        return None;
    }
    names.reverse();
    let module = program.text(program.modules[info.module].name);
    Some((module.to_owned(), names.join(".")))
}

fn parameters(program: &Program, code: CodeId) -> Parameters {
    let parameters = program.codes[code].signature.parameters.iter();
    parameters
        .map(|parameter| (program.text(parameter.name).to_owned(), parameter.kind))
        .collect()
}

/// Whether every call that fits the one fits the other, but for defaults.
fn same(one: &Parameters, other: &Parameters) -> bool {
    let shape = |parameters: &Parameters| {
        let mut shape: Vec<_> = parameters
            .iter()
            .map(|(name, kind)| {
                let is_named = matches!(kind, ParameterKind::PositionalOrKeyword | ParameterKind::KeywordOnly);
                (*kind, is_named.then(|| name.clone()))
            })
            .collect();
        // The order of keyword-only parameters does not matter; the kinds are in order already.
        let first = shape.iter().position(|(kind, _)| *kind == ParameterKind::KeywordOnly);
        let end = shape.iter().rposition(|(kind, _)| *kind == ParameterKind::KeywordOnly);
        if let (Some(first), Some(end)) = (first, end) {
            shape[first..=end].sort();
        }
        shape
    };
    shape(one) == shape(other)
}

/// Parameters as a `def` has them.
fn text(parameters: &Parameters) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut last = None;
    for (name, kind) in parameters {
        if last == Some(ParameterKind::PositionalOnly) && *kind != ParameterKind::PositionalOnly {
            parts.push("/".to_owned());
        }
        let after_star = matches!(last, Some(ParameterKind::VarPositional | ParameterKind::KeywordOnly));
        if *kind == ParameterKind::KeywordOnly && !after_star {
            parts.push("*".to_owned());
        }
        parts.push(match kind {
            ParameterKind::VarPositional => format!("*{name}"),
            ParameterKind::VarKeyword => format!("**{name}"),
            _ => name.clone(),
        });
        last = Some(*kind);
    }
    if last == Some(ParameterKind::PositionalOnly) {
        parts.push("/".to_owned());
    }
    parts.join(", ")
}

/// Asks the first of the interpreters that can be started.
fn ask(python: &PythonSpec, functions: &[(CodeId, String, String)]) -> Result<Vec<Real>, InterpreterError> {
    let names: Vec<[&str; 2]> = functions.iter().map(|(_, module, name)| [&**module, &**name]).collect();
    let question = serde_json::to_vec(&names).unwrap_or_default();
    let mut refused = None;
    for interpreter in python.candidates() {
        match ask_one(&interpreter, &question, functions.len()) {
            Ok(real) => return Ok(real),
            Err(reason) => {
                let path = interpreter.executable.display().to_string();
                refused.get_or_insert(InterpreterError::Refused { path, reason });
            }
        }
    }
    Err(refused.unwrap_or_else(|| match python {
        PythonSpec::Version(version) => InterpreterError::NotFound(*version),
        PythonSpec::Executable(path) | PythonSpec::Environment(path) => {
            InterpreterError::Unknown(path.display().to_string())
        }
    }))
}

fn ask_one(interpreter: &Interpreter, question: &[u8], count: usize) -> Result<Vec<Real>, String> {
    let mut child = Command::new(&interpreter.executable)
        .args(["-I", "-B", "-W", "ignore", "-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot be started: {error}"))?;
    // It reads the whole question before it writes, so neither waits for the other. Should it end early, the answer is missing.
    let written = child.stdin.take().map(|mut pipe| pipe.write_all(question));
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if !matches!(written, Some(Ok(()))) {
        return Err("does not listen".to_owned());
    }
    let answer: Vec<serde_json::Value> =
        serde_json::from_slice(&output.stdout).map_err(|_| "does not answer".to_owned())?;
    if answer.len() != count {
        return Err("does not answer every question".to_owned());
    }
    Ok(answer.iter().map(real).collect())
}

fn real(answer: &serde_json::Value) -> Real {
    if answer == &serde_json::Value::Bool(false) {
        return Real::Absent;
    }
    let parameter = |one: &serde_json::Value| {
        let kind = usize::try_from(one.get(1)?.as_u64()?).ok()?;
        Some((one.get(0)?.as_str()?.to_owned(), *KINDS.get(kind)?))
    };
    let parameters = answer.as_array().map(|list| list.iter().map(parameter).collect());
    match parameters {
        Some(Some(parameters)) => Real::Takes(parameters),
        _ => Real::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ParameterKind::{KeywordOnly, PositionalOnly, PositionalOrKeyword, VarKeyword, VarPositional};

    fn list(parameters: &[(&str, ParameterKind)]) -> Parameters {
        parameters.iter().map(|&(name, kind)| (name.to_owned(), kind)).collect()
    }

    #[test]
    fn what_a_call_cannot_tell_apart_is_the_same() {
        let one = list(&[
            ("a", PositionalOnly),
            ("b", PositionalOrKeyword),
            ("args", VarPositional),
            ("c", KeywordOnly),
            ("d", KeywordOnly),
            ("kwargs", VarKeyword),
        ]);
        assert_eq!(text(&one), "a, /, b, *args, c, d, **kwargs");
        let mut other = one.clone();
        (other[0].0, other[2].0, other[5].0) = ("x".to_owned(), "rest".to_owned(), "options".to_owned());
        other.swap(3, 4);
        assert!(same(&one, &other));
        for at in [1, 3] {
            let mut other = one.clone();
            other[at].0 = "x".to_owned();
            assert!(!same(&one, &other), "{}", text(&other));
        }
        let mut other = one.clone();
        other[0].1 = PositionalOrKeyword;
        assert!(!same(&one, &other));
        assert!(!same(&one, &list(&[])));
    }

    #[test]
    fn parameters_are_shown_as_python_writes_them() {
        assert_eq!(text(&list(&[("a", PositionalOnly), ("b", KeywordOnly)])), "a, /, *, b");
        assert_eq!(text(&list(&[("a", PositionalOnly)])), "a, /");
        assert_eq!(text(&list(&[])), "");
    }
}
