//! The modules that a script imports, and those that they import: the closure within the script's root. What the project
//! lacks comes from its dependencies.
//!
//! What a module imports is read from its code objects by whoever understands them; this module knows only which names an
//! `import` statement stands for and where Python would look. Importing `a.b.c` runs `a` and `a.b` first, and
//! `from a import b` may import `a.b`. CPython: `Lib/importlib/_bootstrap.py`, `_handle_fromlist` and `_resolve_name`.

use crate::dependencies::{Dependencies, shown};
use crate::folder::{EntryKind, Source};
use crate::load::load_file;
use crate::naming::{dotted, join};
use crate::{FileFormat, LoadedFile, Project, ProjectFile};
use hognose_base::{Diagnostic, FileId, IndexVec};
use hognose_compile::{Compiler, Frontend, SourceFile, Threads, map_with};
use hognose_pyc::CompiledModule;
use std::collections::{BTreeMap, BTreeSet};

/// One `import` statement, as the bytecode has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImportRef {
    /// Number of leading dots.
    pub level: u32,
    /// The dotted name behind them; may be empty.
    pub module: String,
    /// The names of `from … import`; empty for `import …`.
    pub names: Vec<String>,
}

/// No file has a longer path, so no module has a longer name.
const LONGEST_NAME: usize = 4096;

/// The modules that an import may run, outer ones first; a name of `from … import` may also be an attribute.
#[must_use]
pub fn resolve(importer: &ProjectFile, import: &ImportRef) -> Vec<String> {
    let base = if import.level == 0 {
        import.module.clone()
    } else {
        let mut package = importer.package();
        for _ in 1..import.level {
            // The level is any number that a damaged file may hold.
            if package.is_empty() {
                break;
            }
            package = package.rsplit_once('.').map_or("", |(parent, _)| parent);
        }
        // Beyond the top, as in any module outside a package, the import fails.
        if package.is_empty() {
            return Vec::new();
        }
        if import.module.is_empty() {
            package.to_owned()
        } else {
            dotted(package, &import.module)
        }
    };
    if base.len() > LONGEST_NAME {
        return Vec::new();
    }
    let outer = base.match_indices('.').map(|(at, _)| base[..at].to_owned());
    let mut modules: Vec<_> = outer.chain(std::iter::once(base.clone())).collect();
    modules.extend(
        import
            .names
            .iter()
            .filter(|&name| name != "*")
            .map(|name| dotted(&base, name)),
    );
    modules
}

/// What a file gave: its module, its diagnostics and the modules that it may import.
struct Followed {
    module: Option<CompiledModule>,
    diagnostics: Vec<Diagnostic>,
    imports: Vec<String>,
}

/// Loads the files of a project, and follows the imports of given files to the modules of their roots, and of all files to
/// the modules of dependencies.
///
/// `imports_of` says what a module imports. The project that is returned has the followed modules too, in canonical order,
/// and the loaded files are in order of its files. Folders are not affected: all their modules are in the project anyway.
pub fn follow(
    project: Project,
    frontend: &dyn Frontend,
    threads: Threads,
    imports_of: impl Fn(&CompiledModule) -> Vec<ImportRef> + Sync,
) -> (Project, Vec<LoadedFile>) {
    let Project {
        files,
        roots,
        sources,
        diagnostics,
        followed,
        dependencies,
        ..
    } = project;
    let mut known: BTreeMap<String, ProjectFile> = files
        .into_raw()
        .into_iter()
        .map(|file| (file.module.clone(), file))
        .collect();
    let mut loaded: BTreeMap<String, Followed> = BTreeMap::new();
    let given = followed.iter().map(|&index| (index, None));
    let installed = dependencies.sources.iter().map(|&index| (index, Some(&dependencies)));
    let mut locators: Vec<_> = given
        .chain(installed)
        .map(|(index, dependencies)| Locator {
            source: &*sources[index],
            index,
            dependencies,
            folders: BTreeMap::new(),
        })
        .collect();
    let mut absent = BTreeSet::new();
    loop {
        let wave: Vec<&ProjectFile> = known
            .values()
            .filter(|file| !loaded.contains_key(&file.module))
            .collect();
        if wave.is_empty() {
            break;
        }
        let results = map_with(
            threads,
            wave.len(),
            || None,
            |compiler: &mut Option<Box<dyn Compiler + '_>>, index| {
                let file = wave[index];
                let compile = |source: &SourceFile| compiler.get_or_insert_with(|| frontend.compiler()).compile(source);
                let (module, diagnostics) = load_file(&*sources[file.source], file, compile);
                let imports = module.as_ref().map(&imports_of).unwrap_or_default();
                let imports = imports.iter().flat_map(|import| resolve(file, import)).collect();
                Followed {
                    module,
                    diagnostics,
                    imports,
                }
            },
        );
        let names: Vec<String> = wave.iter().map(|file| file.module.clone()).collect();
        for name in results.iter().flat_map(|result| &result.imports) {
            if known.contains_key(name) || !absent.insert(name.clone()) {
                continue;
            }
            if let Some(file) = locators.iter_mut().find_map(|locator| locator.find(name, &known)) {
                known.insert(name.clone(), file);
            }
        }
        loaded.extend(names.into_iter().zip(results));
    }
    let files: IndexVec<FileId, _> = known.into_values().collect();
    let loaded = loaded.into_values().zip(files.ids());
    let loaded = loaded.map(
        |(
            Followed {
                module, diagnostics, ..
            },
            file,
        )| LoadedFile {
            file,
            module,
            diagnostics,
        },
    );
    let loaded = loaded.collect();
    (
        Project {
            followed,
            dependencies,
            ..Project::new(files, roots, sources, diagnostics)
        },
        loaded,
    )
}

/// Finds modules by name below one root, listing only the folders on the way.
struct Locator<'s> {
    source: &'s dyn Source,
    index: usize,
    /// What the root is one of, unless it is the project's.
    dependencies: Option<&'s Dependencies>,
    folders: BTreeMap<String, BTreeMap<String, EntryKind>>,
}

impl Locator<'_> {
    /// The file of a module, if Python would look for it here. The packages around it were looked for before.
    fn find(&mut self, module: &str, known: &BTreeMap<String, ProjectFile>) -> Option<ProjectFile> {
        match self.dependencies {
            Some(dependencies) if !dependencies.may_have(self.index, module, known) => None,
            _ => self.locate(module),
        }
    }

    /// The file of a module. Its packages are modules of their own.
    fn locate(&mut self, module: &str) -> Option<ProjectFile> {
        let (parents, name) = module
            .rsplit_once('.')
            .map_or((None, module), |(parents, name)| (Some(parents), name));
        let mut folder = String::new();
        for parent in parents.into_iter().flat_map(|parents| parents.split('.')) {
            self.folder_in(&folder, parent)?;
            folder = join(&folder, parent);
        }
        let inner = join(&folder, name);
        let candidates = [
            (&inner, "__init__.py", true),
            (&inner, "__init__.pyc", true),
            (&folder, &*format!("{name}.py"), false),
            (&folder, &*format!("{name}.pyc"), false),
        ];
        candidates.into_iter().find_map(|(place, file_name, is_package)| {
            if is_package {
                self.folder_in(&folder, name)?;
            }
            (self.kind(place, file_name)? == EntryKind::File).then(|| self.file(module, place, file_name, is_package))
        })
    }

    fn file(&mut self, module: &str, folder: &str, name: &str, is_package: bool) -> ProjectFile {
        let (stem, format) = name
            .strip_suffix(".py")
            .map_or((name.trim_end_matches(".pyc"), FileFormat::Compiled), |stem| {
                (stem, FileFormat::Source)
            });
        let mut beside = Vec::new();
        if format == FileFormat::Source {
            let cache = join(folder, "__pycache__");
            let prefix = format!("{stem}.");
            if self.kind(folder, "__pycache__") == Some(EntryKind::Folder) {
                let cached = self
                    .list(&cache)
                    .keys()
                    .filter(|name| name.starts_with(&prefix) && name.ends_with(".pyc"));
                beside.extend(cached.map(|name| join(&cache, name)));
            }
        }
        let source_path = join(folder, name);
        let is_dependency = self.dependencies.is_some();
        let path = if is_dependency {
            shown(&source_path)
        } else {
            source_path.clone()
        };
        let (module, is_script) = (module.to_owned(), stem == "__main__");
        ProjectFile {
            module,
            is_package,
            is_script,
            is_dependency,
            path,
            format,
            source: self.index,
            source_path,
            beside,
        }
    }

    fn folder_in(&mut self, folder: &str, name: &str) -> Option<()> {
        matches!(self.kind(folder, name)?, EntryKind::Folder | EntryKind::FolderLink).then_some(())
    }

    fn kind(&mut self, folder: &str, name: &str) -> Option<EntryKind> {
        self.list(folder).get(name).copied()
    }

    /// A folder that cannot be listed has no modules, as for Python.
    fn list(&mut self, folder: &str) -> &BTreeMap<String, EntryKind> {
        let source = self.source;
        self.folders.entry(folder.to_owned()).or_insert_with(|| {
            let entries = source.list(folder).unwrap_or_default();
            entries
                .into_iter()
                .flatten()
                .map(|entry| (entry.name, entry.kind))
                .collect()
        })
    }
}
