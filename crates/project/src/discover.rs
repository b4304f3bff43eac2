//! Finds the modules below the given paths.
//!
//! The rules for names:
//!
//! - A given folder is a root, and names start below it. If it is a package itself, names start with the topmost package
//!   that it lies in: `…/django/contrib` gives `django.contrib`.
//! - A `src` folder at the top of a root is a root of its own if it is no package and either has no module directly in it
//!   or stands beside a `pyproject.toml`, `setup.cfg` or `setup.py`.
//! - A folder without `__init__.py` is a namespace package (PEP 420).
//! - A given file is named as its folder's packages say; without a package its name is its stem.
//! - A name that no `import` can spell (`my-script`) is kept, with a note; dots in it become underscores.
//!
//! When two files would be the same module, the one that Python would import counts: that of the earlier root, and the
//! package before the module.

use crate::folder::{Entry, EntryKind, Folder, Source, SourceError};
use crate::naming::{Named, dotted, is_identifier, join, rank_tag, read_file_name};
use crate::{FileFormat, Project, ProjectFile};
use hognose_base::{Diagnostic, DiagnosticKind, IndexVec, Severity};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What discovery passes over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiscoverOptions {
    /// Look into folders and at files whose name begins with a dot.
    pub include_hidden: bool,
    /// Look into virtual environments (folders with a `pyvenv.cfg`) and `node_modules`.
    pub include_environments: bool,
}

/// Finds the modules at and below the given paths.
#[must_use]
pub fn discover(inputs: &[PathBuf], options: DiscoverOptions) -> Project {
    let mut found = Found::default();
    for input in inputs {
        let shown = show(input);
        match std::fs::metadata(input) {
            Ok(metadata) if metadata.is_dir() => found.given_folder(input, &shown, options),
            Ok(metadata) if metadata.is_file() => found.given_file(input, &shown),
            Ok(_) => found.error(&shown, "is neither a file nor a folder"),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => found.error(&shown, "does not exist"),
            Err(error) => found.error(&shown, &error.to_string()),
        }
    }
    found.finish()
}

/// Finds the modules of a source whose top is a root, such as an archive.
#[must_use]
pub fn discover_in(source: &Arc<dyn Source>, shown: &str, options: DiscoverOptions) -> Project {
    let mut found = Found::default();
    found.given_top(source, shown, "", options);
    found.finish()
}

/// A path with `/`, as readable as it can be made.
fn show(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// Files in order of precedence, before names are settled.
#[derive(Default)]
pub(crate) struct Found {
    files: Vec<ProjectFile>,
    roots: Vec<String>,
    sources: Vec<Arc<dyn Source>>,
    /// Sources of which only given files are known so far.
    followed: Vec<usize>,
    diagnostics: Vec<Diagnostic>,
}

impl Found {
    fn error(&mut self, path: &str, reason: &str) {
        self.diagnostics
            .push(Diagnostic::error(path, DiagnosticKind::Io, reason));
    }

    fn given_folder(&mut self, input: &Path, shown: &str, options: DiscoverOptions) {
        // `.` and `..` have no name of their own.
        let real = std::fs::canonicalize(input).unwrap_or_else(|_| input.to_owned());
        let package = if holds_init(&real) {
            enclosing_package(&real)
        } else {
            String::new()
        };
        let root = package
            .split('.')
            .filter(|part| !part.is_empty())
            .fold(real.as_path(), |folder, _| folder.parent().unwrap_or(folder));
        let root = if package.is_empty() {
            shown.to_owned()
        } else {
            show(root)
        };
        let source: Arc<dyn Source> = Arc::new(Folder::new(input));
        self.given_top(&source, &root, &package, options);
    }

    fn given_top(&mut self, source: &Arc<dyn Source>, root: &str, package: &str, options: DiscoverOptions) {
        let index = self.sources.len();
        self.sources.push(Arc::clone(source));
        self.roots.push(root.to_owned());
        let mut walk = Walk {
            found: self,
            source: &**source,
            index,
            options,
            seen: BTreeMap::new(),
            skip: None,
        };
        if package.is_empty() && is_src_layout(walk.source) {
            walk.found.roots.push(join(root, "src"));
            walk.skip = Some("src");
            walk.run("", "");
            walk.skip = None;
            walk.run("src", "");
        } else {
            walk.run("", package);
        }
    }

    fn given_file(&mut self, input: &Path, shown: &str) {
        let Some(name) = input.file_name().and_then(|name| name.to_str()) else {
            return self.error(shown, "the name is not UTF-8");
        };
        let real = std::fs::canonicalize(input).unwrap_or_else(|_| input.to_owned());
        let mut folder = real.parent().unwrap_or(Path::new("")).to_owned();
        let in_cache = folder.file_name().is_some_and(|folder| folder == "__pycache__");
        let (stem, format) = match (read_file_name(name, true), read_file_name(name, in_cache)) {
            (Named::Cached(stem, _), _) | (_, Named::Legacy(stem)) => (stem, FileFormat::Compiled),
            (_, Named::Source(stem)) => (stem, FileFormat::Source),
            _ if name.ends_with(".pyw") => (name.trim_end_matches(".pyw"), FileFormat::Source),
            _ if !name.contains('.') => (name, FileFormat::Source),
            _ => return self.error(shown, "is neither Python source, nor compiled Python, nor a folder"),
        };
        if in_cache {
            folder.pop();
        }
        let package = enclosing_package(&folder);
        for _ in package.split('.').filter(|part| !part.is_empty()) {
            folder.pop();
        }
        let is_package = stem == "__init__" && !package.is_empty();
        let module = if is_package {
            package
        } else {
            dotted(&package, &self.stated_name(stem, shown))
        };
        // The source's top is the root, so that imports can be followed there.
        let source_path = show(real.strip_prefix(&folder).unwrap_or(&real));
        self.roots.push(show(&folder));
        let source = self.sources.len();
        self.sources.push(Arc::new(Folder::new(&folder)));
        self.followed.push(source);
        let (path, beside) = (source_path.clone(), Vec::new());
        self.files.push(ProjectFile {
            module,
            is_package,
            is_script: true,
            is_dependency: false,
            path,
            format,
            source,
            source_path,
            beside,
        });
    }

    /// The name under which something is analysed; says so if it is not one that can be imported.
    fn stated_name(&mut self, name: &str, path: &str) -> String {
        let stated = name.replace('.', "_");
        if !is_identifier(name) {
            let message = format!("{name:?} is no name that can be imported; analysed as `{stated}`");
            self.diagnostics.push(Diagnostic {
                severity: Severity::Note,
                ..Diagnostic::error(path, DiagnosticKind::Project, message)
            });
        }
        stated
    }

    /// Settles who is which module, and puts everything into canonical order.
    pub(crate) fn finish(self) -> Project {
        let Self {
            files,
            roots,
            sources,
            followed,
            mut diagnostics,
        } = self;
        let mut winners: BTreeMap<String, ProjectFile> = BTreeMap::new();
        for file in files {
            let Some(winner) = winners.get(&file.module) else {
                winners.insert(file.module.clone(), file);
                continue;
            };
            let identity = |file: &ProjectFile| sources[file.source].identity(&file.source_path);
            if identity(winner).is_some_and(|winner| Some(winner) == identity(&file)) {
                continue;
            }
            let module = &file.module;
            let message = format!(
                "module `{module}` is also {}, which Python would import; not analysed",
                winner.path
            );
            diagnostics.push(Diagnostic::warning(&file.path, DiagnosticKind::Project, message));
        }
        let files: IndexVec<_, _> = winners.into_values().collect();
        Project {
            followed,
            ..Project::new(files, roots, sources, diagnostics)
        }
    }
}

impl Project {
    /// A project of files that are in canonical order and have different names.
    pub(crate) fn new(
        files: IndexVec<hognose_base::FileId, ProjectFile>,
        mut roots: Vec<String>,
        sources: Vec<Arc<dyn Source>>,
        mut diagnostics: Vec<Diagnostic>,
    ) -> Self {
        diagnostics.sort();
        diagnostics.dedup();
        let mut seen = BTreeSet::new();
        roots.retain(|root| seen.insert(root.clone()));
        let modules = files
            .iter_enumerated()
            .map(|(id, file)| (file.module.clone(), id))
            .collect();
        Self {
            files,
            roots,
            sources,
            followed: Vec::new(),
            dependencies: crate::dependencies::Dependencies::default(),
            diagnostics,
            modules,
        }
    }
}

/// The dotted name of a folder that is a package, or that lies in one; empty if it is none.
fn enclosing_package(folder: &Path) -> String {
    let mut names = Vec::new();
    let mut folder = folder;
    while holds_init(folder) {
        let Some(name) = folder.file_name() else { break };
        names.push(name.to_string_lossy().replace('.', "_"));
        let Some(parent) = folder.parent() else { break };
        folder = parent;
    }
    names.reverse();
    names.join(".")
}

fn holds_init(folder: &Path) -> bool {
    ["__init__.py", "__init__.pyc"]
        .iter()
        .any(|name| folder.join(name).is_file())
}

/// Whether names start below the `src` folder of this source.
fn is_src_layout(source: &dyn Source) -> bool {
    let names = |folder| {
        let entries = source.list(folder).unwrap_or_default();
        entries.into_iter().flatten().collect::<Vec<Entry>>()
    };
    let top = names("");
    if !top
        .iter()
        .any(|entry| entry.name == "src" && entry.kind == EntryKind::Folder)
    {
        return false;
    }
    let src = names("src");
    if src.iter().any(|entry| entry.name == "__init__.py") {
        return false;
    }
    let is_project = |entry: &Entry| matches!(&*entry.name, "pyproject.toml" | "setup.cfg" | "setup.py");
    let is_module = |entry: &Entry| entry.kind == EntryKind::File && entry.name.ends_with(".py");
    top.iter().any(is_project) || !src.iter().any(is_module)
}

/// A walk over one root.
struct Walk<'a> {
    found: &'a mut Found,
    source: &'a dyn Source,
    index: usize,
    options: DiscoverOptions,
    /// Every real folder that was walked, with the path by which it was reached.
    seen: BTreeMap<PathBuf, String>,
    /// A folder at the top that is walked by itself.
    skip: Option<&'static str>,
}

/// A folder to walk.
struct Pending {
    path: String,
    package: String,
    /// Whether its own name was not yet said to be no identifier.
    odd_name: bool,
}

/// The files of one module in one folder.
#[derive(Default)]
struct Candidates {
    source: Option<String>,
    legacy: Option<String>,
    /// Names in `__pycache__` by tag.
    cached: Vec<(String, String)>,
}

impl Walk<'_> {
    /// Walks the folder `path`, whose modules are below `package`.
    fn run(&mut self, path: &str, package: &str) {
        let first = Pending {
            path: path.to_owned(),
            package: package.to_owned(),
            odd_name: false,
        };
        let (mut folders, mut links) = (vec![first], Vec::new());
        // Links come last, so that a folder is reached by its own path if it has one in this root.
        while let Some(folder) = folders.pop().or_else(|| links.pop()) {
            let shown = if folder.path.is_empty() {
                ".".to_owned()
            } else {
                folder.path.clone()
            };
            if let Some(real) = self.source.identity(&folder.path) {
                if let Some(before) = self.seen.get(&real) {
                    let is_loop = folder.path.starts_with(&format!("{before}/")) || before.is_empty();
                    self.seen_before(&shown, before.clone(), is_loop);
                    continue;
                }
                self.seen.insert(real, folder.path.clone());
            }
            match self.source.list(&folder.path) {
                Ok(entries) => self.folder(&folder, entries, &mut folders, &mut links),
                Err(error) => self.found.error(&shown, &error.reason),
            }
        }
    }

    fn seen_before(&mut self, path: &str, before: String, is_loop: bool) {
        let before = if before.is_empty() { ".".to_owned() } else { before };
        let diagnostic = if is_loop {
            Diagnostic::warning(
                path,
                DiagnosticKind::Io,
                format!("directory loop: links back to {before}"),
            )
        } else {
            let message = format!("is the same folder as {before}, and analysed there");
            Diagnostic {
                severity: Severity::Note,
                ..Diagnostic::error(path, DiagnosticKind::Io, message)
            }
        };
        self.found.diagnostics.push(diagnostic);
    }

    fn folder(
        &mut self,
        folder: &Pending,
        entries: Vec<Result<Entry, SourceError>>,
        folders: &mut Vec<Pending>,
        links: &mut Vec<Pending>,
    ) {
        let mut good = Vec::new();
        for entry in entries {
            match entry {
                Ok(entry) => good.push(entry),
                Err(error) => self.found.error(&error.path, &error.reason),
            }
        }
        good.sort();
        let is_environment = good.iter().any(|entry| entry.name == "pyvenv.cfg");
        if is_environment && !folder.path.is_empty() && !self.options.include_environments {
            return;
        }
        let mut modules: BTreeMap<String, Candidates> = BTreeMap::new();
        let mut subfolders = Vec::new();
        for entry in &good {
            if entry.name.starts_with('.') && !self.options.include_hidden {
                continue;
            }
            let path = join(&folder.path, &entry.name);
            match entry.kind {
                EntryKind::Folder if entry.name == "__pycache__" => self.cache(&path, &mut modules),
                EntryKind::Folder | EntryKind::FolderLink => subfolders.push(entry),
                EntryKind::File => match read_file_name(&entry.name, false) {
                    Named::Source(stem) => modules.entry(stem.to_owned()).or_default().source = Some(path),
                    Named::Legacy(stem) => modules.entry(stem.to_owned()).or_default().legacy = Some(path),
                    Named::Cached(..) | Named::Other => {}
                },
                EntryKind::Other if matches!(read_file_name(&entry.name, false), Named::Other) => {}
                EntryKind::Other => self.found.error(&path, "is not a regular file"),
            }
        }
        self.modules(folder, modules);
        for entry in subfolders.into_iter().rev() {
            if let Some(pending) = self.subfolder(folder, entry) {
                if entry.kind == EntryKind::FolderLink {
                    links.push(pending);
                } else {
                    folders.push(pending);
                }
            }
        }
    }

    fn subfolder(&self, folder: &Pending, entry: &Entry) -> Option<Pending> {
        let passed_over = entry.name == "node_modules" && !self.options.include_environments;
        let skipped = folder.path.is_empty() && self.skip.is_some_and(|skip| skip == entry.name);
        if passed_over || skipped || entry.name == "__pycache__" {
            return None;
        }
        Some(Pending {
            path: join(&folder.path, &entry.name),
            package: dotted(&folder.package, &entry.name.replace('.', "_")),
            odd_name: !is_identifier(&entry.name),
        })
    }

    /// Adds the files of a `__pycache__` to the modules of the folder around it.
    fn cache(&mut self, path: &str, modules: &mut BTreeMap<String, Candidates>) {
        let entries = match self.source.list(path) {
            Ok(entries) => entries,
            Err(error) => return self.found.error(path, &error.reason),
        };
        for entry in entries
            .into_iter()
            .flatten()
            .filter(|entry| entry.kind == EntryKind::File)
        {
            if let Named::Cached(stem, tag) = read_file_name(&entry.name, true) {
                let cached = (tag.to_owned(), join(path, &entry.name));
                modules.entry(stem.to_owned()).or_default().cached.push(cached);
            }
        }
    }

    fn modules(&mut self, folder: &Pending, modules: BTreeMap<String, Candidates>) {
        if folder.odd_name && !modules.is_empty() {
            let name = folder.path.rsplit('/').next().unwrap_or_default();
            self.found.stated_name(name, &folder.path);
        }
        let mut plain = Vec::new();
        for (stem, candidates) in modules {
            let Some((path, format, beside)) = candidates.choose() else {
                continue;
            };
            let is_package = stem == "__init__" && !folder.package.is_empty();
            let module = if is_package {
                folder.package.clone()
            } else {
                dotted(&folder.package, &self.found.stated_name(&stem, &path))
            };
            let is_script = stem == "__main__";
            let (source, source_path) = (self.index, path.clone());
            let file = ProjectFile {
                module,
                is_package,
                is_script,
                is_dependency: false,
                path,
                format,
                source,
                source_path,
                beside,
            };
            if is_package {
                self.found.push_package(file);
            } else {
                plain.push(file);
            }
        }
        self.found.files.extend(plain);
    }
}

impl Found {
    /// A package counts before a module of the same name beside its folder, which was found earlier.
    fn push_package(&mut self, package: ProjectFile) {
        let clash = self
            .files
            .iter()
            .rposition(|file| file.source == package.source && file.module == package.module && !file.is_package);
        match clash {
            Some(at) => self.files.insert(at, package),
            None => self.files.push(package),
        }
    }
}

impl Candidates {
    /// The file that counts, and the compiled files beside a source.
    fn choose(self) -> Option<(String, FileFormat, Vec<String>)> {
        let Self {
            source,
            legacy,
            mut cached,
        } = self;
        cached.sort_by(|(left, _), (right, _)| rank_tag(left).cmp(&rank_tag(right)));
        if let Some(source) = source {
            let beside = cached.into_iter().map(|(_, path)| path).chain(legacy).collect();
            return Some((source, FileFormat::Source, beside));
        }
        // Python imports source-less code only in place of the source; what lies in a cache is better than nothing.
        let compiled = legacy.or_else(|| cached.into_iter().next().map(|(_, path)| path))?;
        Some((compiled, FileFormat::Compiled, Vec::new()))
    }
}
