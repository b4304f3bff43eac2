//! What can be chosen about an analysis.

use hognose_project::DiscoverOptions;
use hognose_pta::{PtaConfig, Roots};
use std::path::PathBuf;

/// How exact the points-to analysis is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sensitivity {
    /// All definitions of a local variable are merged.
    Insensitive,
    /// The definitions that reach a use count (flow-sensitive in locals).
    #[default]
    Default,
}

/// Configuration of a [`Session`](crate::Session).
#[derive(Clone, Debug)]
pub struct Config {
    /// The interpreter that compiles: a version (`3.12`), an executable, or a virtual environment. Without it the embedded
    /// compiler does.
    pub python: Option<String>,
    /// Number of threads; zero stands for as many as the machine has. Results do not depend on it.
    pub threads: usize,
    /// Follow the imports of a given file to the modules of its folder.
    pub follow: bool,
    /// Folders of installed packages, or virtual environments: imports that the project does not answer are resolved in
    /// them, in this order. What they lead to is analysed too, but its functions are no entry points.
    pub deps: Vec<PathBuf>,
    /// Folders of library models in Python, laid out as packages are. A model counts before ours and before a dependency's
    /// module of the same name, but behind the project's own; of two folders the first counts.
    pub models: Vec<PathBuf>,
    /// What discovery passes over.
    pub discover: DiscoverOptions,
    /// The points-to analysis.
    pub pta: PtaConfig,
    /// Record where time and memory go.
    pub profile: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            python: None,
            threads: 0,
            follow: true,
            deps: Vec::new(),
            models: Vec::new(),
            discover: DiscoverOptions::default(),
            pta: PtaConfig::default(),
            profile: false,
        }
    }
}

impl Config {
    /// The same with another root set.
    #[must_use]
    pub fn with_roots(mut self, roots: Roots) -> Self {
        self.pta.roots = roots;
        self
    }

    /// The same with another sensitivity.
    #[must_use]
    pub fn with_sensitivity(mut self, sensitivity: Sensitivity) -> Self {
        self.pta.merge_definitions = sensitivity == Sensitivity::Insensitive;
        self
    }

    /// The projection that the PyCG micro-benchmark expects: overwritten values are kept, defaults are bound always, arity
    /// is ignored, and nothing else differs.
    #[must_use]
    pub fn projected_to_pycg(mut self) -> Self {
        self.pta.merge_definitions = true;
        self.pta.always_bind_defaults = true;
        self.pta.ignore_arity = true;
        self
    }
}
