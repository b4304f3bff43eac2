//! Installed dependencies: folders whose modules count when they are imported.
//!
//! ```text
//! venv/pyvenv.cfg
//! venv/lib/python3.12/site-packages/flask/__init__.py     shown as  <deps>/flask/__init__.py
//! ```
//! A *dependency folder* is what would stand on `sys.path` behind the project: a `site-packages` folder, or that of a
//! virtual environment (PEP 405; `Lib/sysconfig/__init__.py`, the schemes `posix_prefix` and `nt`). Unlike the project's
//! roots it is not analysed as a whole: [`follow`](crate::follow) takes from it what is imported. Path configuration
//! files (`.pth`) are not read.

use crate::folder::Folder;
use crate::{Project, ProjectFile};
use hognose_base::{Diagnostic, DiagnosticKind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What stands before the path of a dependency's file as it is shown.
const SHOWN: &str = "<deps>/";

/// The sources of dependencies, and the modules that are not looked for in them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dependencies {
    /// Indices of sources, in order of precedence.
    pub(crate) sources: Vec<usize>,
    /// Modules that are answered from elsewhere; nothing below them is looked for either.
    passed_over: BTreeSet<String>,
}

impl Project {
    /// Adds dependency folders, those that come first before the others, and all of them behind the project's own modules.
    /// What a folder cannot give is a diagnostic.
    ///
    /// The modules `passed_over` are not looked for there, nor what lies below them.
    pub fn add_dependencies(&mut self, folders: &[PathBuf], passed_over: impl IntoIterator<Item = String>) {
        self.dependencies.passed_over.extend(passed_over);
        for folder in folders {
            match site_packages(folder) {
                Ok(found) => {
                    self.dependencies.sources.push(self.sources.len());
                    self.sources.push(Arc::new(Folder::new(&found)));
                }
                Err(reason) => {
                    let shown = folder.to_string_lossy().replace('\\', "/");
                    let error = Diagnostic::error(&shown, DiagnosticKind::Project, reason);
                    self.diagnostics.push(error);
                }
            }
        }
        self.diagnostics.sort();
    }

    /// Whether dependencies may answer imports.
    #[must_use]
    pub fn has_dependencies(&self) -> bool {
        !self.dependencies.sources.is_empty()
    }
}

impl Dependencies {
    /// Whether Python would look for the module in the source `index`, given the modules found so far, outer ones among
    /// them. A package that comes from one folder has its submodules there; a namespace package has them everywhere.
    pub(crate) fn may_have(&self, index: usize, module: &str, known: &BTreeMap<String, ProjectFile>) -> bool {
        let mut outer = module.match_indices('.').map(|(dot, _)| &module[..dot]);
        let is_elsewhere = |outer: &str| {
            let package = known.get(outer);
            package.is_some_and(|package| package.source != index || !package.is_package)
                || self.passed_over.contains(outer)
        };
        !self.passed_over.contains(module) && !outer.any(is_elsewhere)
    }
}

/// The path under which a dependency's file is shown.
pub(crate) fn shown(path: &str) -> String {
    format!("{SHOWN}{path}")
}

/// The folder with the packages of a virtual environment; any other folder is one itself.
fn site_packages(folder: &Path) -> Result<PathBuf, String> {
    if !folder.is_dir() {
        return Err("is no folder with dependencies".to_owned());
    }
    let windows = folder.join("Lib").join("site-packages");
    let mut versions: Vec<(u32, PathBuf)> = Vec::new();
    if let Ok(entries) = std::fs::read_dir(folder.join("lib")) {
        for entry in entries.flatten() {
            let name = entry.file_name();
            let minor = name
                .to_str()
                .and_then(|name| name.strip_prefix("python3."))
                .and_then(|minor| minor.trim_end_matches('t').parse().ok());
            let packages = entry.path().join("site-packages");
            if let (Some(minor), true) = (minor, packages.is_dir()) {
                versions.push((minor, packages));
            }
        }
    }
    // An environment has one version; should there be more, the newest counts.
    versions.sort();
    match versions.pop() {
        Some((_, packages)) => Ok(packages),
        None if windows.is_dir() => Ok(windows),
        None if folder.join("pyvenv.cfg").is_file() => Err("is a virtual environment without site-packages".to_owned()),
        None => Ok(folder.to_owned()),
    }
}
