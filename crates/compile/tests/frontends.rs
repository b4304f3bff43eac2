//! The front ends on whole files: positions, deep nesting, and workers that misbehave.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use hognose_base::{Diagnostic, DiagnosticKind, LineCol};
use hognose_compile::{
    CPython, CPythonConfig, CompileResult, Embedded, Frontend, InterpreterError, PythonSpec, SourceFile, Threads,
};
use hognose_pyc::{CodeIndex, PositionTable, PythonVersion, qualnames};
use std::time::Duration;

fn source(bytes: impl Into<Vec<u8>>) -> SourceFile {
    SourceFile {
        path: "shown.py".to_owned(),
        filename: "file.py".to_owned(),
        bytes: bytes.into(),
    }
}

fn embedded(bytes: impl Into<Vec<u8>>) -> CompileResult {
    Embedded::default().compile(&[source(bytes)], Threads::ONE).remove(0)
}

/// The only diagnostic of a file that does not compile.
fn refused(bytes: impl Into<Vec<u8>>) -> Diagnostic {
    let result = embedded(bytes);
    assert!(result.module.is_none());
    assert_eq!(result.diagnostics.len(), 1, "{:?}", result.diagnostics);
    result.diagnostics.into_iter().next().unwrap()
}

/// The workers of one version, if there is such an interpreter.
fn workers(minor: u8) -> Option<CPython> {
    let spec = PythonSpec::Version(PythonVersion::new(minor));
    match CPython::start(&spec, CPythonConfig::default()) {
        Ok(workers) => Some(workers),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

/// Line and column of each instruction of the module body, without repetitions.
fn positions(result: &CompileResult) -> Vec<(u32, u32, u32)> {
    let module = result.module.as_ref().unwrap();
    let code = module.objects.code(CodeIndex::new(0));
    let table = PositionTable::of(&module.objects, code, module.version);
    let offsets = (0..code.code.len).step_by(2);
    let mut all: Vec<_> = offsets
        .map(|at| table.span_at(at))
        .map(|span| (span.line, span.col, span.end_col))
        .collect();
    all.dedup();
    all
}

#[test]
fn an_empty_file_is_a_module() {
    for text in ["", "\n", "# nothing", "\u{c}"] {
        let result = embedded(text);
        assert_eq!(result.diagnostics, []);
        assert_eq!(result.module.unwrap().version, PythonVersion::new(14));
    }
}

#[test]
fn syntax_errors_have_a_place() {
    for (text, line, col) in [
        ("x = 1\ny = = 2\n", 2, 4),
        ("def f(:\n", 1, 5),
        ("'é' é = 1", 1, 5),
        ("return 1", 1, 0),
        ("a\r\nb\rc d", 3, 2),
    ] {
        let diagnostic = refused(text);
        assert_eq!(diagnostic.kind, DiagnosticKind::Syntax, "{text:?}: {diagnostic}");
        assert_eq!(diagnostic.at, Some(LineCol { line, col }), "{text:?}: {diagnostic}");
        assert_eq!(diagnostic.path, "shown.py");
    }
}

#[test]
fn comments_are_not_taken_for_code() {
    for text in [
        "f(\n    a=1,  # one\n    b=0  # none for d\n)\n",
        "f(\n    a=False  # Always False for api calls.\n)\n",
    ] {
        let result = embedded(text);
        assert!(result.module.is_some(), "{:?}", result.diagnostics);
    }
}

/// The cells and free variables of each code object, by qualified name.
fn variables(text: &str) -> Vec<String> {
    let result = embedded(text);
    let module = result.module.unwrap_or_else(|| panic!("{:?}", result.diagnostics));
    let objects = &module.objects;
    let names = qualnames(&module);
    let describe = |(code, info): (CodeIndex, &hognose_pyc::CodeObject)| {
        let of = |wanted: fn(hognose_pyc::LocalKind) -> bool| {
            let mut names: Vec<String> = info
                .frame
                .iter()
                .filter(|slot| wanted(slot.kind))
                .filter_map(|slot| Some(objects.text(slot.name)?.trim_matches('_').to_owned()))
                .collect();
            names.sort();
            names.join(" ")
        };
        let (cells, free) = (of(|kind| kind.is_cell()), of(|kind| kind.is_free()));
        format!("{}: {cells} / {free}", names[code])
    };
    objects.codes().iter_enumerated().map(describe).collect()
}

/// What CPython 3.14.2 says (`co_cellvars`, `co_freevars`).
#[test]
fn classes_in_classes_share_variables_as_in_cpython() {
    assert_eq!(
        variables("class Outer:\n    class Inner:\n        if 1:\n            b: int\n"),
        [
            "<module>:  / ",
            "Outer: conditional_annotations / ",
            "Outer.Inner: classdict conditional_annotations / conditional_annotations",
            "Outer.Inner.__annotate__:  / classdict conditional_annotations",
        ]
    );
    assert_eq!(
        variables(
            "class Outer:\n    def f(self):\n        class Inner:\n            if 1:\n                b: int\n        return Inner\n"
        ),
        [
            "<module>:  / ",
            "Outer: classdict conditional_annotations / ",
            "Outer.f:  / conditional_annotations",
            "Outer.f.<locals>.Inner: classdict conditional_annotations / conditional_annotations",
            "Outer.f.<locals>.Inner.__annotate__:  / classdict conditional_annotations",
        ]
    );
    assert_eq!(
        variables("class Outer:\n    class Inner:\n        x = __class__\n"),
        ["<module>:  / ", "Outer: class / ", "Outer.Inner:  / class"]
    );
}

#[test]
fn null_bytes_and_unknown_encodings_are_refused() {
    assert_eq!(refused("x = 1\0").kind, DiagnosticKind::Syntax);
    assert_eq!(refused("# coding: klingon\n").kind, DiagnosticKind::Encoding);
    assert_eq!(refused(b"'\xff'".to_vec()).kind, DiagnosticKind::Encoding);
}

#[test]
fn columns_are_bytes_of_the_decoded_line_as_cpython_counts_them() {
    let texts: [&[u8]; 5] = [
        b"# coding: latin-1\nx = '\xe9\xe9'; y = x.z\n",
        "\u{feff}x = 'é'; y = (x\r\n + 'ü')\r\n".as_bytes(),
        "größe = ä + 'öö' + größe\n".as_bytes(),
        b"# coding: shift_jis\nx = '\x93\xfa\x96\x7b'; y = x.z\n",
        b"\x0cx = 1\n\x0c\nif x:\n\x0c    y = x.z\n\x0c\rz = x\r",
    ];
    for version in [12, 13] {
        let Some(workers) = workers(version) else { continue };
        for text in texts {
            let theirs = workers.compile(&[source(text)], Threads::ONE).remove(0);
            let ours = embedded(text);
            assert_eq!(ours.diagnostics, []);
            let theirs = positions(&theirs);
            // Other versions have other instructions; the places of the source that have any are the same.
            for place in positions(&ours) {
                assert!(
                    theirs.contains(&place),
                    "{place:?} of {theirs:?} in {}",
                    String::from_utf8_lossy(text)
                );
            }
        }
    }
}

#[test]
fn deep_and_wide_texts_end_in_a_result_or_a_diagnostic() {
    let sum = |terms: usize| format!("x = 1{}\n", " + y".repeat(terms - 1));
    let elif = |branches: usize| {
        let arms: String = (0..branches)
            .map(|arm| format!("elif x == {arm}:\n    y = {arm}\n"))
            .collect();
        format!("if x:\n    pass\n{arms}")
    };
    let texts = [
        (
            "parentheses",
            format!("x = {}{}\n", "(".repeat(2_000), ")".repeat(2_000)),
            false,
        ),
        (
            "brackets",
            format!("x = {}{}\n", "[".repeat(150), "]".repeat(150)),
            true,
        ),
        ("unclosed", "x = [".repeat(100_000), false),
        ("sum of 15,000", sum(15_000), true),
        ("sum of 60,000", sum(60_000), false),
        ("sum of 300,000", sum(300_000), false),
        ("15,000 not", format!("x = {}y\n", "not ".repeat(15_000)), true),
        ("100,000 not", format!("x = {}y\n", "not ".repeat(100_000)), false),
        ("140,000 minus", format!("x = {}y\n", "-".repeat(140_000)), false),
        ("30,000 elif", elif(30_000), true),
        ("100,000 attributes", format!("x = y{}\n", ".z".repeat(100_000)), false),
        ("15,000 calls", format!("x = y{}\n", "()".repeat(15_000)), true),
        ("70,000 lambdas", format!("x = {}y\n", "lambda: ".repeat(70_000)), false),
        (
            "100,000 conditionals",
            format!("x = {}y\n", "a if b else ".repeat(70_000)),
            false,
        ),
        ("100,000 powers", format!("x = {}y\n", "y ** ".repeat(70_000)), false),
        (
            "500 blocks",
            (0..500)
                .map(|level| format!("{}if x:\n", " ".repeat(level)))
                .collect::<String>()
                + &" ".repeat(500)
                + "y\n",
            true,
        ),
        (
            "3,000 f-strings",
            format!("x = {}y{}\n", "f'{".repeat(3_000), "}'".repeat(3_000)),
            false,
        ),
    ];
    for (name, text, compiles) in texts {
        let result = embedded(text);
        let outcome = result.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(result.module.is_some(), compiles, "{name}: {outcome:?}");
        assert_eq!(outcome.len(), usize::from(!compiles), "{name}: {outcome:?}");
    }
}

#[test]
fn files_are_independent_and_in_order() {
    let sources: Vec<_> = (0..40)
        .map(|index| {
            source(if index % 3 == 0 {
                format!("x = = {index}")
            } else {
                format!("x{index} = {index}")
            })
        })
        .collect();
    let one = Embedded::default().compile(&sources, Threads::ONE);
    let many = Embedded::default().compile(&sources, Threads::new(5));
    for (index, (left, right)) in one.iter().zip(&many).enumerate() {
        assert_eq!(left.diagnostics, right.diagnostics);
        assert_eq!(left.module.is_none(), index % 3 == 0);
        let names = |result: &CompileResult| {
            let objects = &result.module.as_ref()?.objects;
            let names = objects.items(objects.code(CodeIndex::new(0)).names);
            Some(
                names
                    .iter()
                    .map(|&name| objects.text(name).unwrap().into_owned())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(names(left), names(right));
        assert_eq!(names(left), (index % 3 != 0).then(|| vec![format!("x{index}")]));
    }
}

#[test]
fn workers_compile_with_their_own_version() {
    for minor in 8..=13 {
        let Some(workers) = workers(minor) else { continue };
        let texts = [
            "def f(x):\n    return x.y\n",
            "x = = 1\n",
            "# coding: klingon\n",
            "y = 'é'; y z = 1\n",
            "a\0",
        ];
        let results = workers.compile(&texts.map(source), Threads::new(2));
        let module = results[0].module.as_ref().unwrap();
        assert_eq!(
            (module.version, module.objects.code_count()),
            (PythonVersion::new(minor), 2)
        );
        let kinds: Vec<_> = results[1..]
            .iter()
            .map(|result| (result.diagnostics[0].kind, result.diagnostics[0].at))
            .collect();
        assert_eq!(kinds[0], (DiagnosticKind::Syntax, Some(LineCol { line: 1, col: 4 })));
        assert_eq!(
            kinds[1].0,
            DiagnosticKind::Encoding,
            "{minor}: {:?}",
            results[2].diagnostics
        );
        assert_eq!(
            kinds[3].0,
            DiagnosticKind::Syntax,
            "{minor}: {:?}",
            results[4].diagnostics
        );
        // Before 3.10 the interpreters count bytes.
        if minor >= 10 {
            assert_eq!(
                kinds[2],
                (DiagnosticKind::Syntax, Some(LineCol { line: 1, col: 12 })),
                "{minor}"
            );
        }
    }
}

#[test]
fn workers_survive_deep_nesting() {
    for minor in 8..=13 {
        let Some(workers) = workers(minor) else { continue };
        let deep = source(format!("x = {}y\n", "not ".repeat(100_000)));
        let sum = source(format!("x = 1{}\n", " + y".repeat(60_000)));
        let results = workers.compile(&[deep, sum, source("x = 1\n")], Threads::ONE);
        for result in &results[..2] {
            assert!(
                result.module.is_some() != (result.diagnostics.len() == 1),
                "{minor}: {:?}",
                result.diagnostics
            );
        }
        assert!(results[2].module.is_some(), "{minor}: {:?}", results[2].diagnostics);
    }
}

#[test]
fn defects_go_to_workers_if_there_are_any() {
    let deep = source(format!("x = {}\n", "y + ".repeat(21_000) + "y"));
    let plain = embedded(deep.bytes.clone());
    assert_eq!(plain.diagnostics[0].kind, DiagnosticKind::Compile);
    assert!(
        plain.diagnostics[0].message.contains("a Python interpreter"),
        "{}",
        plain.diagnostics[0]
    );
    let Some(workers) = workers(12) else { return };
    let front = Embedded {
        fallback: Some(workers),
    };
    let results = front.compile(&[deep, source("x = = 1\n")], Threads::ONE);
    assert_eq!(
        results[0].diagnostics.len(),
        2 - usize::from(results[0].module.is_some())
    );
    // A file that is not Python is not tried twice.
    assert_eq!(results[1].diagnostics.len(), 1);
}

#[cfg(unix)]
mod misbehaving {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};

    fn script(folder: &Path, text: &str) -> PathBuf {
        let path = folder.join("python3.12");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn start(path: PathBuf) -> Result<CPython, InterpreterError> {
        let config = CPythonConfig {
            file_timeout: Duration::from_millis(400),
            start_timeout: Duration::from_secs(5),
        };
        CPython::start(&PythonSpec::Executable(path), config)
    }

    /// Greets as CPython 3.12 would.
    const GREET: &str = r"printf 'HOGNOSE1\003\014\313\015\007\000\000\000cpython'";

    #[test]
    fn a_worker_that_is_something_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for (text, reason) in [
            (r"printf 'HOGNOSE1\003\014\313\015\004\000\000\000pypy'", "not CPython"),
            (
                r"printf 'HOGNOSE1\003\014\313\014\007\000\000\000cpython'",
                "its code would be",
            ),
            (
                r"printf 'HOGNOSE1\003\006\063\015\007\000\000\000cpython'",
                "not supported",
            ),
            ("echo Python is not installed here", "worker"),
            ("exit 3", "died (exit status: 3)"),
        ] {
            let error = start(script(folder.path(), text)).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_version_that_was_not_asked_for_is_refused() {
        let Some(path) = PythonSpec::Version(PythonVersion::new(11))
            .candidates()
            .into_iter()
            .next()
        else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let fake = script(folder.path(), &format!("exec '{}' \"$@\"", path.executable.display()));
        assert_eq!(start(fake).unwrap().version(), PythonVersion::new(11));
    }

    #[test]
    fn a_worker_that_dies_or_hangs_costs_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let counter = folder.path().join("starts");
        for (text, reason) in [
            ("read x; kill -SEGV $$", "died"),
            ("sleep 60", "did not answer within"),
            (r"printf '\011'; sleep 60", "unknown answer"),
            (r"printf '\000\377\377\377\377'; sleep 60", "impossible length"),
        ] {
            std::fs::write(&counter, "").unwrap();
            let path = script(
                folder.path(),
                &format!("echo >> '{}'\n{GREET}\n{text}", counter.display()),
            );
            let workers = start(path).unwrap();
            let results = workers.compile(&[source("x\n"), source("y\n")], Threads::ONE);
            for result in results {
                assert_eq!(result.diagnostics[0].kind, DiagnosticKind::Worker);
                assert!(
                    result.diagnostics[0].message.contains(reason),
                    "{}",
                    result.diagnostics[0]
                );
            }
            assert_eq!(
                std::fs::read_to_string(&counter).unwrap().len(),
                2,
                "one start a file: {text}"
            );
        }
    }
}
