//! The embedded front end: the compiler of the RustPython project, which emits what CPython 3.14 would.
//!
//! Its code objects leave this module only as marshalled bytes, which [`hognose_pyc`] reads like any others; no type of
//! the compiler or its parser is seen outside.
//!
//! What is done here about it: texts are decoded before it sees them; too deep nesting is refused before it recurses; it
//! runs on a deep stack; a panic is a defect and becomes a diagnostic, or is handed to CPython workers if there are any; and
//! a syntax error that the parser knows nothing of is not believed ([`compile_text`]).

use crate::cpython::CPython;
use crate::nesting;
use crate::pool::run_deep;
use crate::source::{DecodeError, DecodeErrorKind, decode};
use crate::{CompileResult, Compiler, Frontend, SourceFile, diagnostic_at_character};
use hognose_base::{Diagnostic, DiagnosticKind, Severity};
use hognose_pyc::{PythonVersion, read_marshal};
use ruff_source_file::SourceFileBuilder;
use rustpython_compiler::codegen::error::CodegenErrorType;
use rustpython_compiler::core::bytecode::{Constant, ConstantData};
use rustpython_compiler::core::marshal::{serialize_code_with, serialize_value};
use rustpython_compiler::{CodeObject, CompileError, CompileOpts, Mode, parser};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// The version whose code it emits.
const VERSION: PythonVersion = PythonVersion::new(14);

/// How deep a syntax tree may be: the tests compile trees near this depth on one deep stack. CPython 3.14 goes by the size
/// of its stack instead of a number.
const MAX_TREE_DEPTH: usize = 20_000;

/// Larger files are refused: the compiler counts in 32 bits, and its tables are many times the source.
const MAX_SOURCE: usize = 256 << 20;

/// The future statement for which the compiler rewrites the text.
const BARRY: &str = "barry_as_FLUFL";

/// What it says in error messages about names for which it has no slot. No program of Python can be wrong in this way.
const MISSING_SYMBOL: [&str; 2] = ["cannot find symbol", "in parent vars"];

/// The embedded compiler (the default front end).
#[derive(Debug, Default)]
pub struct Embedded {
    /// Compiles what the embedded compiler has a defect for. Such a module has the version of these workers.
    pub fallback: Option<CPython>,
}

impl Frontend for Embedded {
    fn version(&self) -> PythonVersion {
        VERSION
    }
    fn name(&self) -> String {
        "embedded compiler".to_owned()
    }
    fn compiler(&self) -> Box<dyn Compiler + '_> {
        Box::new(EmbeddedCompiler {
            front: self,
            fallback: None,
        })
    }
}

impl Embedded {
    /// The marshalled code object of a file, as `marshal.dumps` of [`version`](Frontend::version) would write it.
    ///
    /// # Errors
    /// If the file does not compile.
    pub fn marshal(&self, source: &SourceFile) -> Result<Vec<u8>, Diagnostic> {
        compile_to_marshal(source)
    }
}

struct EmbeddedCompiler<'f> {
    front: &'f Embedded,
    /// Made when first needed.
    fallback: Option<Box<dyn Compiler + 'f>>,
}

impl Compiler for EmbeddedCompiler<'_> {
    fn compile(&mut self, source: &SourceFile) -> CompileResult {
        let diagnostic = match compile_to_marshal(source) {
            Ok(bytes) => match read_marshal(bytes.into(), VERSION) {
                Ok(module) => {
                    return CompileResult {
                        module: Some(module),
                        diagnostics: Vec::new(),
                    };
                }
                Err(error) => defect(source, &format!("the code it made cannot be read: {error}")),
            },
            Err(diagnostic) => diagnostic,
        };
        if diagnostic.kind != DiagnosticKind::Compile {
            return CompileResult::failed(diagnostic);
        }
        self.compile_with_fallback(source, diagnostic)
    }
}

impl EmbeddedCompiler<'_> {
    /// What the workers make of a file for which the embedded compiler has a defect.
    fn compile_with_fallback(&mut self, source: &SourceFile, mut diagnostic: Diagnostic) -> CompileResult {
        let Some(workers) = &self.front.fallback else {
            diagnostic
                .message
                .push_str("; a Python interpreter, if one were given, could compile this file");
            return CompileResult::failed(diagnostic);
        };
        let compiler = self.fallback.get_or_insert_with(|| workers.compiler());
        let mut result = compiler.compile(source);
        if result.module.is_some() {
            diagnostic.severity = Severity::Note;
            diagnostic
                .message
                .push_str(&format!("; compiled by {} instead", workers.name()));
        }
        result.diagnostics.insert(0, diagnostic);
        result
    }
}

/// The marshalled module, or why there is none.
fn compile_to_marshal(source: &SourceFile) -> Result<Vec<u8>, Diagnostic> {
    if source.bytes.len() > MAX_SOURCE {
        let message = format!("the file is larger than {} MiB", MAX_SOURCE >> 20);
        return Err(Diagnostic::error(&source.path, DiagnosticKind::Compile, message));
    }
    let text = decode(&source.bytes).map_err(|error| decode_diagnostic(&source.path, &error))?;
    if let Some(offset) = nesting::too_deep(&text) {
        let (line, character) = character_of(&text, offset);
        let message = "nested too deeply".to_owned();
        let kind = DiagnosticKind::Compile;
        return Err(diagnostic_at_character(
            &source.path,
            kind,
            message,
            Some(&text),
            (line, character),
        ));
    }
    let compile = || {
        compile_text(&text, &source.filename).map(|code| {
            // The stream is a bare code object: its type byte, then its fields.
            let mut bytes = Vec::with_capacity(text.len());
            bytes.push(b'c');
            write_code(&mut bytes, &code);
            bytes
        })
    };
    match catch_quietly(|| run_deep(compile)) {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => Err(compile_diagnostic(source, &text, &error)),
        Err(panic) => Err(defect(source, &panic)),
    }
}

/// Compiles a text that its parser accepts, or says what is wrong with it.
///
/// Around the parser the compiler has searches on the text for what only CPython's parser refuses. They take comments for
/// code, and refuse `call(name=value,  # for one` for its last two words; and they take more time than the parser. Here the
/// parser alone decides, which lets a few programs pass that Python refuses; an analysis loses nothing by that. The searches
/// are made for the message about a text that the parser refuses.
fn compile_text(text: &str, filename: &str) -> Result<CodeObject, CompileError> {
    let options = CompileOpts {
        recursion_limit: MAX_TREE_DEPTH,
        ..CompileOpts::default()
    };
    let file = SourceFileBuilder::new(filename, text).finish();
    rustpython_compiler::pre_parse_source_error(&file)?;
    // This future statement turns an operator around before the parser sees it.
    if text.contains(BARRY) {
        match rustpython_compiler::compile(text, Mode::Exec, filename, options.clone()) {
            Err(CompileError::Parse(_)) => {}
            result => return result,
        }
    }
    match parser::parse(text, parser::ParseOptions::from(parser::Mode::Module)) {
        Ok(parsed) => {
            let tree = parsed.into_syntax();
            rustpython_compiler::too_deeply_nested_error(&tree, &file, options.recursion_limit)?;
            rustpython_compiler::codegen::compile::compile_top(tree, file, Mode::Exec, options)
                .map_err(CompileError::Codegen)
        }
        Err(_) => rustpython_compiler::compile(text, Mode::Exec, filename, options),
    }
}

/// Writes the fields of a code object, with the qualified names that CPython 3.14 gives to annotation scopes.
fn write_code(bytes: &mut Vec<u8>, code: &CodeObject) {
    let written = serialize_code_with(bytes, code, |bytes, constant: &ConstantData| {
        let ConstantData::Code { code: inner } = constant else {
            return serialize_value(bytes, constant.borrow_constant().into());
        };
        bytes.push(b'c');
        match annotate_qualname(&inner.obj_name, &inner.qualname, &code.qualname) {
            Some(qualname) => {
                let mut renamed = inner.clone();
                renamed.qualname = qualname;
                write_code(bytes, &renamed);
            }
            None => write_code(bytes, inner),
        }
        Ok(())
    });
    match written {
        Ok(()) => {}
        Err(never) => match never {},
    }
}

/// The qualified name of a function's `__annotate__`, if it must be changed.
///
/// CPython 3.14 names it after the scope that the function is in, which is also the scope that makes it; the compiler after
/// the function (`f.__annotate__`). That of a class is named after the class by both.
fn annotate_qualname(name: &str, qualname: &str, outer: &str) -> Option<String> {
    let owner = (name == "__annotate__").then(|| qualname.strip_suffix(".__annotate__"))??;
    (owner != outer).then(|| match owner.rsplit_once('.') {
        Some((scope, _)) => format!("{scope}.__annotate__"),
        None => "__annotate__".to_owned(),
    })
}

fn compile_diagnostic(source: &SourceFile, text: &str, error: &CompileError) -> Diagnostic {
    let kind = match error {
        CompileError::Codegen(error) if matches!(error.error, CodegenErrorType::RecursionError) => {
            DiagnosticKind::Compile
        }
        CompileError::Codegen(error) if MISSING_SYMBOL.iter().any(|what| error.to_string().contains(what)) => {
            return defect(source, &error.to_string());
        }
        CompileError::Codegen(_) | CompileError::Parse(_) => DiagnosticKind::Syntax,
    };
    let (line, character) = error.python_location();
    let place = (u32::try_from(line).unwrap_or(0), u32::try_from(character).unwrap_or(0));
    diagnostic_at_character(&source.path, kind, error.to_string(), Some(text), place)
}

/// The diagnostic for bytes that are not a text.
pub(crate) fn decode_diagnostic(path: &str, error: &DecodeError) -> Diagnostic {
    let kind = match error.kind {
        DecodeErrorKind::Nul => DiagnosticKind::Syntax,
        _ => DiagnosticKind::Encoding,
    };
    Diagnostic::error(path, kind, error.to_string()).at(error.line, error.col)
}

fn defect(source: &SourceFile, what: &str) -> Diagnostic {
    Diagnostic::error(
        &source.path,
        DiagnosticKind::Compile,
        format!("the embedded compiler failed: {what}"),
    )
}

/// Line and character of an offset, both from 1.
fn character_of(text: &str, offset: usize) -> (u32, u32) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let characters = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
    (u32::try_from(line).unwrap_or(0), u32::try_from(characters).unwrap_or(0))
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Catches a panic of `work` as its message, without the report on stderr that the panic hook would write.
///
/// The hook is per process; the one set here hands on every panic of code that does not run under this function.
fn catch_quietly<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                previous(info);
            }
        }));
    });
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    QUIET.set(false);
    result.map_err(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("unknown panic");
        message.lines().next().unwrap_or_default().to_owned()
    })
}
