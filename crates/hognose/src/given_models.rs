//! Library models that a user gives: folders of Python modules, compiled by the embedded front end when they are imported.

use crate::lift::{Unlifted, lift_all};
use crate::profile::Profiler;
use hognose_base::{Diagnostic, FileId};
use hognose_compile::{Embedded, Threads};
use hognose_models::{Given, Model};
use hognose_project::{DiscoverOptions, FileFormat, Project, discover, load_some};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The models of some folders.
#[derive(Debug, Default)]
pub(crate) struct GivenModels {
    folders: Vec<Project>,
    /// Folder and file of each module; that of the first folder that has it.
    places: BTreeMap<String, (usize, FileId)>,
    front: Embedded,
    diagnostics: Vec<Diagnostic>,
}

impl GivenModels {
    /// Looks for the modules of the folders; none is compiled yet.
    pub(crate) fn find(folders: &[PathBuf]) -> Self {
        let mut found = Self::default();
        for folder in folders {
            let mut project = discover(std::slice::from_ref(folder), DiscoverOptions::default());
            let top = folder.to_string_lossy().replace('\\', "/");
            let top = top.trim_end_matches('/');
            if folder.is_dir() {
                for file in project.files.iter_mut() {
                    file.path = format!("{top}/{}", file.path);
                }
            }
            found.diagnostics.append(&mut project.diagnostics);
            for (module, file) in project.modules() {
                let place = (found.folders.len(), file);
                found.places.entry(module.to_owned()).or_insert(place);
            }
            found.folders.push(project);
        }
        found
    }

    /// The modules, sorted.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.places.keys().map(String::as_str)
    }

    /// Takes out modules that the program has itself.
    pub(crate) fn pass_over(&mut self, is_own: impl Fn(&str) -> bool) {
        self.places.retain(|name, _| name == "builtins" || !is_own(name));
    }

    /// What went wrong with the folders and with the modules that were loaded.
    pub(crate) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }
}

impl Given for GivenModels {
    fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    fn load(&mut self, name: &str) -> Option<Model> {
        let &(folder, file) = self.places.get(name)?;
        let project = &self.folders[folder];
        let loaded = load_some(project, &[file], &self.front, Threads::ONE).pop()?;
        self.diagnostics.extend(loaded.diagnostics);
        let file = &project.files[file];
        let unlifted = Unlifted {
            path: file.path.clone(),
            module: loaded.module?,
            is_given: file.format == FileFormat::Compiled,
        };
        let lifted = lift_all(vec![unlifted], &Profiler::new(false)).pop()?;
        self.diagnostics.extend(lifted.diagnostics);
        Some(Model {
            name: name.to_owned(),
            is_package: file.is_package,
            path: file.path.clone(),
            ir: lifted.ir,
        })
    }
}
