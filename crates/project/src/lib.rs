//! What is analysed: files, the modules they are, and the imports between them.
//!
//! ```text
//! shop/                 a given folder without `__init__.py`: a root
//!   src/                no package, holds Python below: a root as well
//!     billing/__init__.py      package  billing
//!     billing/tax.py           module   billing.tax
//!   tools/report.py            module   tools.report   (`tools` is a namespace package)
//! ```
//!
//! Vocabulary: an *input* is a path that the user gave; a *root* is a folder that would be on `sys.path`; a *module* is a
//! file under the name by which Python would import it below its root; a *package* is a module that can have
//! submodules. *Source-less* code is a `.pyc` without a `.py`: `mod.pyc` in place of `mod.py`, or what is left in
//! `__pycache__`. See the import system of the language reference, and `Lib/importlib/_bootstrap_external.py`.
//!
//! Alone among the crates this one reads the analysed files. Everything comes from a [`Source`], of which a folder of the
//! file system is one; archives can be others. Files are in canonical order: by module name, then by path, whatever the
//! order in which a file system lists them. Errors are diagnostics, and the rest is analysed.

mod dependencies;
mod discover;
mod folder;
mod follow;
mod load;
mod naming;
mod stale;

pub use discover::{DiscoverOptions, discover, discover_in};
pub use folder::{Entry, EntryKind, Folder, Source, SourceError};
pub use follow::{ImportRef, follow, resolve};
pub use load::{LoadedFile, load, load_some};
pub use naming::is_identifier;

use hognose_base::{Diagnostic, FileId, IndexVec};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The files of one analysis.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// All files in canonical order.
    pub files: IndexVec<FileId, ProjectFile>,
    /// The folders that would be on `sys.path`, as shown to the user, in order of the inputs.
    pub roots: Vec<String>,
    /// Where the bytes of the files come from.
    pub sources: Vec<Arc<dyn Source>>,
    /// What went wrong, in canonical order.
    pub diagnostics: Vec<Diagnostic>,
    /// Sources whose other modules count only when they are imported.
    followed: Vec<usize>,
    /// Sources of the modules that the project itself lacks.
    dependencies: dependencies::Dependencies,
    modules: BTreeMap<String, FileId>,
}

impl Project {
    /// From now on imports of given files lead to no more modules of their folders.
    pub fn stop_following(&mut self) {
        self.followed.clear();
    }

    /// The module of this name.
    #[must_use]
    pub fn module(&self, name: &str) -> Option<FileId> {
        self.modules.get(name).copied()
    }

    /// The modules by name, in order of the names.
    pub fn modules(&self) -> impl Iterator<Item = (&str, FileId)> {
        self.modules.iter().map(|(name, &file)| (name.as_str(), file))
    }

    /// Whether modules below this name exist, so that it is at least a namespace package.
    #[must_use]
    pub fn is_package_name(&self, name: &str) -> bool {
        let below = format!("{name}.");
        self.modules
            .range(below.clone()..)
            .next()
            .is_some_and(|(module, _)| module.starts_with(&below))
    }
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileFormat {
    /// Python source.
    Source,
    /// A `.pyc` file.
    Compiled,
}

/// One file, and the module it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFile {
    /// Dotted name by which Python would import it.
    pub module: String,
    /// Whether it is the `__init__` of a package.
    pub is_package: bool,
    /// Whether it is run as a script: given by itself, or a `__main__`.
    pub is_script: bool,
    /// Whether it belongs to an installed dependency, not to the project.
    pub is_dependency: bool,
    /// Path as it is shown to the user: relative to the given path, with `/`; a dependency's begins with `<deps>/`.
    pub path: String,
    /// What it holds.
    pub format: FileFormat,
    /// Where its bytes come from: an index into [`Project::sources`].
    pub source: usize,
    /// Its path in that source.
    pub source_path: String,
    /// A `.pyc` beside the source, to be looked at when the file is loaded: its path in the source.
    pub beside: Vec<String>,
}

impl ProjectFile {
    /// The package that relative imports of this module start from: its own name, or its parent's.
    #[must_use]
    pub fn package(&self) -> &str {
        if self.is_package {
            &self.module
        } else {
            self.module.rsplit_once('.').map_or("", |(parent, _)| parent)
        }
    }
}
