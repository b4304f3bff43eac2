//! Reads and compiles the files of a project.

use crate::stale::check_beside;
use crate::{FileFormat, Project, ProjectFile, Source};
use hognose_base::{Diagnostic, DiagnosticKind, FileId};
use hognose_compile::{Compiler, Frontend, SourceFile, Threads, map_with};
use hognose_pyc::{CompiledModule, read_pyc};

/// One file of a project with what it holds.
#[derive(Clone, Debug)]
pub struct LoadedFile {
    /// The file.
    pub file: FileId,
    /// The module, if it could be had; otherwise a diagnostic says why not.
    pub module: Option<CompiledModule>,
    /// What went wrong or may be worth knowing.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads and compiles all files, in parallel; the results are in order of the files.
#[must_use]
pub fn load(project: &Project, frontend: &dyn Frontend, threads: Threads) -> Vec<LoadedFile> {
    let files: Vec<_> = project.files.ids().collect();
    load_some(project, &files, frontend, threads)
}

/// The same for some of the files.
#[must_use]
pub fn load_some(project: &Project, files: &[FileId], frontend: &dyn Frontend, threads: Threads) -> Vec<LoadedFile> {
    map_with(
        threads,
        files.len(),
        || None,
        |compiler: &mut Option<Box<dyn Compiler + '_>>, index| {
            let id = files[index];
            // A project of compiled files needs no compiler, which may be a process.
            let compile = |source: &SourceFile| compiler.get_or_insert_with(|| frontend.compiler()).compile(source);
            let file = &project.files[id];
            let (module, diagnostics) = load_file(&*project.sources[file.source], file, compile);
            LoadedFile {
                file: id,
                module,
                diagnostics,
            }
        },
    )
}

pub(crate) fn load_file(
    source: &dyn Source,
    file: &ProjectFile,
    compile: impl FnOnce(&SourceFile) -> hognose_compile::CompileResult,
) -> (Option<CompiledModule>, Vec<Diagnostic>) {
    let bytes = match source.read(&file.source_path) {
        Ok(bytes) => bytes,
        Err(error) => {
            return (
                None,
                vec![Diagnostic::error(&file.path, DiagnosticKind::Io, error.reason)],
            );
        }
    };
    match file.format {
        FileFormat::Compiled => match read_pyc(bytes.into()) {
            Ok(module) => (Some(module), Vec::new()),
            Err(error) => (None, vec![error.diagnostic(&file.path)]),
        },
        FileFormat::Source => {
            let mut result = compile(&SourceFile {
                path: file.path.clone(),
                filename: file.path.clone(),
                bytes,
            });
            result.diagnostics.extend(check_beside(file, source));
            (result.module, result.diagnostics)
        }
    }
}
