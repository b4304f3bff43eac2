//! Source text to code objects.
//!
//! Vocabulary: a *front end* ([`Frontend`]) turns one source file into one [`CompiledModule`]; it makes a *compiler*
//! ([`Compiler`]) per thread, which may own something expensive such as a process. A *defect* is a file that Python
//! accepts and a front end does not: its diagnostic has the kind [`DiagnosticKind::Compile`], while a file that is not
//! Python has [`DiagnosticKind::Syntax`] or [`DiagnosticKind::Encoding`].
//!
//! ```
//! use hognose_compile::{Embedded, Frontend, SourceFile, Threads};
//!
//! let front = Embedded::default();
//! let source = SourceFile { path: "shop.py".into(), filename: "shop.py".into(), bytes: b"def total(:\n".to_vec() };
//! let results = front.compile(&[source], Threads::default());
//! assert_eq!(results[0].diagnostics[0].at.map(|at| at.line), Some(1));
//! ```
//!
//! Two front ends exist. [`Embedded`] is the default and needs no Python; it emits what CPython 3.14 would. [`CPython`]
//! asks worker processes of a real interpreter, and therefore of any version. Both go through the marshal format and
//! [`hognose_pyc`], so that everything behind this crate sees one kind of code object.
//!
//! Errors are data: a file gives a module, diagnostics, or both, and never affects another file.

mod codec;
mod cpython;
mod embedded;
mod interpreter;
mod nesting;
mod pool;
mod source;

pub use cpython::{CPython, CPythonConfig};
pub use embedded::Embedded;
pub use interpreter::{Interpreter, InterpreterError, PythonSpec};
pub use pool::{Threads, map_with};
pub use source::{DecodeError, DecodeErrorKind, decode};

use hognose_base::{Diagnostic, DiagnosticKind};
use hognose_pyc::{CompiledModule, PythonVersion};

/// One file to compile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFile {
    /// Path as it is shown to the user, in diagnostics.
    pub path: String,
    /// What becomes `co_filename`.
    pub filename: String,
    /// The file's bytes, in whatever encoding it declares.
    pub bytes: Vec<u8>,
}

/// What became of one file.
#[derive(Clone, Debug, Default)]
pub struct CompileResult {
    /// The module, if there is one.
    pub module: Option<CompiledModule>,
    /// What went wrong or may be worth knowing.
    pub diagnostics: Vec<Diagnostic>,
}

impl CompileResult {
    /// No module, for this reason.
    #[must_use]
    pub fn failed(diagnostic: Diagnostic) -> Self {
        Self {
            module: None,
            diagnostics: vec![diagnostic],
        }
    }
}

/// Turns source files into code objects of one Python version.
pub trait Frontend: Sync {
    /// The version whose code objects it makes.
    fn version(&self) -> PythonVersion;

    /// What it is, for people: `embedded compiler`, `python3.12`.
    fn name(&self) -> String;

    /// A compiler for use on one thread.
    fn compiler(&self) -> Box<dyn Compiler + '_>;

    /// Compiles files in parallel; result `i` belongs to source `i`, whatever the number of threads.
    fn compile(&self, sources: &[SourceFile], threads: Threads) -> Vec<CompileResult> {
        map_with(
            threads,
            sources.len(),
            || self.compiler(),
            |compiler, index| compiler.compile(&sources[index]),
        )
    }
}

/// Compiles files one after the other.
pub trait Compiler {
    /// Compiles one file.
    fn compile(&mut self, source: &SourceFile) -> CompileResult;
}

/// A diagnostic of `kind` at a place, for a front end that counts columns in characters from 1 as `SyntaxError` does.
///
/// Without a decoded text, or when the line does not exist in it, the column is kept as it is.
fn diagnostic_at_character(
    path: &str,
    kind: DiagnosticKind,
    message: String,
    text: Option<&str>,
    (line, character): (u32, u32),
) -> Diagnostic {
    let diagnostic = Diagnostic::error(path, kind, message);
    if line == 0 {
        return diagnostic;
    }
    let characters = character.saturating_sub(1);
    let text_line = text.and_then(|text| text.split('\n').nth(line as usize - 1));
    let col = text_line.map_or(characters, |text_line| {
        let bytes = text_line
            .chars()
            .take(characters as usize)
            .map(char::len_utf8)
            .sum::<usize>();
        u32::try_from(bytes).unwrap_or(u32::MAX)
    });
    diagnostic.at(line, col)
}
