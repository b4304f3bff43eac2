//! A configuration with what it needs to run, and the front half of an analysis.

use crate::analysis::{AnalysedFile, Analysis, needed_models};
use crate::config::Config;
use crate::given_models::GivenModels;
use crate::lift::{Timed, Unlifted, lift_all};
use crate::profile::Profiler;
use crate::workers::Workers;
use hognose_base::Diagnostic;
use hognose_compile::{CPython, CPythonConfig, Embedded, Frontend, InterpreterError, PythonSpec, Threads};
use hognose_ir::lift_file;
use hognose_project::{FileFormat, ImportRef, LoadedFile, Project, discover, follow, load};
use hognose_pyc::CompiledModule;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use thiserror::Error;

/// Why a session cannot start.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The interpreter that was asked for is not there or not what was asked for.
    #[error(transparent)]
    Interpreter(#[from] InterpreterError),
    /// No threads could be started.
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// A configuration with what it needs to run.
pub struct Session {
    config: Config,
    front: Box<dyn Frontend + Send>,
    pool: Arc<Workers>,
    profiler: Profiler,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl Session {
    /// Starts what the configuration needs.
    ///
    /// # Errors
    /// If there is no such interpreter, or no thread can be started.
    pub fn new(config: Config) -> Result<Self, SessionError> {
        let front: Box<dyn Frontend + Send> = match &config.python {
            Some(spec) => Box::new(CPython::start(&PythonSpec::parse(spec)?, CPythonConfig::default())?),
            None => Box::new(Embedded::default()),
        };
        let threads = Threads::new(config.threads).0.get();
        let pool = Workers::start(threads)?;
        Ok(Self {
            profiler: Profiler::new(config.profile),
            config,
            front,
            pool: Arc::new(pool),
        })
    }

    /// The configuration.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }
    /// Where regions and counters of all analyses of this session are recorded.
    #[must_use]
    pub const fn profiler(&self) -> &Profiler {
        &self.profiler
    }
    /// What compiles source files, for people.
    #[must_use]
    pub fn compiler_name(&self) -> String {
        self.front.name()
    }

    /// Loads and lifts the files at and below the given paths. What goes wrong is in the diagnostics of the analysis.
    #[must_use]
    pub fn analyze(&self, inputs: &[PathBuf]) -> Analysis {
        let mut given = GivenModels::find(&self.config.models);
        let (mut project, loaded) = {
            let _region = self.profiler.region("load");
            self.load(inputs, &given)
        };
        let mut diagnostics: Vec<Diagnostic> = std::mem::take(&mut project.diagnostics);
        let mut analysed: Vec<AnalysedFile> = Vec::with_capacity(loaded.len());
        let mut modules = Vec::new();
        for one in loaded {
            diagnostics.extend(one.diagnostics);
            let file = &project.files[one.file];
            let version = one.module.as_ref().map(|module| module.version);
            if let Some(module) = one.module {
                modules.push(Unlifted {
                    path: file.path.clone(),
                    module,
                    is_given: file.format == FileFormat::Compiled,
                });
            }
            analysed.push(AnalysedFile {
                path: file.path.clone(),
                module: file.module.clone(),
                is_package: file.is_package,
                is_dependency: file.is_dependency,
                version,
                ir: None,
            });
        }
        let lifted = {
            let _region = self.profiler.region("lift");
            self.pool.install(|| lift_all(modules, &self.profiler))
        };
        let with_module = analysed.iter_mut().filter(|file| file.version.is_some());
        for (file, lifted) in with_module.zip(lifted) {
            diagnostics.extend(lifted.diagnostics);
            file.ir = Some(Arc::new(lifted.ir));
        }
        // Ours cannot fail, and wait until the program is linked.
        let models = (!self.config.models.is_empty()).then(|| {
            let _region = self.profiler.region("models");
            needed_models(&analysed, &mut given)
        });
        diagnostics.extend(given.into_diagnostics());
        Analysis::new(
            self.config.pta.clone(),
            Arc::clone(&self.pool),
            self.profiler.clone(),
            (project, analysed, diagnostics),
            models,
        )
    }

    fn load(&self, inputs: &[PathBuf], given: &GivenModels) -> (Project, Vec<LoadedFile>) {
        let mut project = discover(inputs, self.config.discover);
        project.add_dependencies(&self.config.deps, given.names().map(str::to_owned));
        // Folders hold all their modules; only the imports of a given file lead to more.
        let follows_files = self.config.follow && inputs.iter().any(|input| input.is_file());
        if !follows_files {
            project.stop_following();
        }
        let threads = Threads::new(self.config.threads);
        let timed = Timed::new(&*self.front);
        let front: &dyn Frontend = if self.profiler.is_enabled() {
            &timed
        } else {
            &*self.front
        };
        let result = if follows_files || project.has_dependencies() {
            follow(project, front, threads, imports_of)
        } else {
            let loaded = load(&project, front, threads);
            (project, loaded)
        };
        if self.profiler.is_enabled() {
            self.profiler.add_summed("compile", timed.cpu());
        }
        result
    }
}

/// What a module imports by a constant name. It is lifted for this, and once more later: only followed files are.
fn imports_of(module: &CompiledModule) -> Vec<ImportRef> {
    let ir = lift_file(module.clone());
    let objects = &ir.module.objects;
    let text = |id| objects.text(id).unwrap_or_default().into_owned();
    let mut found: BTreeSet<ImportRef> = hognose_ir::imports(&ir)
        .into_iter()
        .map(|import| ImportRef {
            level: import.level,
            module: ir.names[import.module].to_string(),
            names: import.names.into_iter().flatten().map(text).collect(),
        })
        .collect();
    found.extend(hognose_ir::dynamic_imports(&ir).into_iter().map(|import| ImportRef {
        level: import.level,
        module: import.module,
        names: Vec::new(),
    }));
    found.into_iter().collect()
}
