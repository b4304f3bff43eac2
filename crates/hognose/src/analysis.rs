//! What a session makes of some inputs: the products, computed when they are first asked for.

use crate::given_models::GivenModels;
use crate::profile::Profiler;
use crate::workers::Workers;
use hognose_base::{Coverage, Diagnostic, DiagnosticKind, Id, IndexVec, ReasonSet, Severity, UnresolvedKind};
use hognose_depgraph::{Cdg, ClassGraph, ClassRef, DataCoverage, Ddg, Layer, ModuleGraph};
use hognose_ir::{Body, Cfg, FileIr, Ssa};
use hognose_project::{FileFormat, Project};
use hognose_pta::{CallRecord, CodeId, PointsTo, Program, PtaConfig, SourceUnit};
use hognose_pyc::PythonVersion;
use hognose_report as report;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// One file of an analysis.
#[derive(Clone, Debug)]
pub struct AnalysedFile {
    /// Path as shown to the user.
    pub path: String,
    /// Dotted module name.
    pub module: String,
    /// Whether it is a package.
    pub is_package: bool,
    /// Whether it belongs to an installed dependency ([`Config::deps`](crate::Config::deps)).
    pub is_dependency: bool,
    /// The version of its bytecode; none if the file could not be loaded.
    pub version: Option<PythonVersion>,
    /// Its lifted code, if it could be loaded.
    pub ir: Option<Arc<FileIr>>,
}

/// The products of an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Product {
    /// Control-flow graphs.
    Cfg,
    /// SSA forms.
    Ssa,
    /// Points-to sets.
    PointsTo,
    /// The call graph.
    CallGraph,
    /// Control-dependence graphs.
    Cdg,
    /// The data-dependence graph.
    Ddg,
    /// The class hierarchy.
    Classes,
    /// The module graph.
    Modules,
}

impl Product {
    /// All products, in order of the pipeline.
    pub const ALL: [Self; 8] = [
        Self::Cfg,
        Self::Ssa,
        Self::PointsTo,
        Self::CallGraph,
        Self::Cdg,
        Self::Ddg,
        Self::Classes,
        Self::Modules,
    ];
    /// The name used on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cfg => "cfg",
            Self::Ssa => "ssa",
            Self::PointsTo => "pta",
            Self::CallGraph => "cg",
            Self::Cdg => "cdg",
            Self::Ddg => "ddg",
            Self::Classes => "classes",
            Self::Modules => "modules",
        }
    }
}

/// A library model that a program needs.
pub(crate) struct LibraryModel {
    name: String,
    is_package: bool,
    path: String,
    ir: Arc<FileIr>,
}

/// The library models of the modules that the files import and that are not among the files.
pub(crate) fn needed_models(files: &[AnalysedFile], given: &mut GivenModels) -> Vec<LibraryModel> {
    let mut imports = BTreeSet::new();
    for ir in files.iter().filter_map(|file| file.ir.as_deref()) {
        for import in hognose_ir::imports(ir).into_iter().filter(|import| import.level == 0) {
            let module = &*ir.names[import.module];
            let names = import.names.iter().flatten();
            imports.extend(
                names
                    .filter_map(|&name| ir.module.objects.text(name))
                    .map(|name| format!("{module}.{name}")),
            );
            imports.insert(module.to_owned());
        }
    }
    let own: BTreeSet<&str> = files.iter().map(|file| &*file.module).collect();
    // A package that is analysed has its modules, and no model adds to them.
    let is_own = |name: &str| {
        let mut outer = name.match_indices('.').map(|(dot, _)| &name[..dot]);
        own.contains(name) || outer.any(|outer| own.contains(outer))
    };
    given.pass_over(is_own);
    let models = hognose_models::closure_with(imports.iter().map(String::as_str), given).into_iter();
    models
        .filter(|model| model.name == "builtins" || !is_own(&model.name))
        .map(|model| LibraryModel {
            name: model.name,
            is_package: model.is_package,
            path: model.path,
            ir: Arc::new(model.ir),
        })
        .collect()
}

/// An analysis of some inputs.
pub struct Analysis {
    config: PtaConfig,
    pool: Arc<Workers>,
    profiler: Profiler,
    project: Project,
    files: Vec<AnalysedFile>,
    diagnostics: Vec<Diagnostic>,
    /// The library models that are needed, if they had to be looked for early.
    models: Option<Vec<LibraryModel>>,
    program: OnceLock<Arc<Program>>,
    points_to: OnceLock<PointsTo>,
    calls: OnceLock<Vec<CallRecord>>,
    cdgs: OnceLock<IndexVec<CodeId, Cdg>>,
    ddg: OnceLock<Ddg>,
    data_coverage: OnceLock<DataCoverage>,
    classes: OnceLock<ClassGraph>,
    modules: OnceLock<ModuleGraph>,
}

impl std::fmt::Debug for Analysis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Analysis")
            .field("files", &self.files.len())
            .finish_non_exhaustive()
    }
}

impl Analysis {
    pub(crate) fn new(
        config: PtaConfig,
        pool: Arc<Workers>,
        profiler: Profiler,
        (project, files, mut diagnostics): (Project, Vec<AnalysedFile>, Vec<Diagnostic>),
        models: Option<Vec<LibraryModel>>,
    ) -> Self {
        diagnostics.sort();
        diagnostics.dedup();
        Self {
            config,
            pool,
            profiler,
            project,
            files,
            diagnostics,
            models,
            program: OnceLock::new(),
            points_to: OnceLock::new(),
            calls: OnceLock::new(),
            cdgs: OnceLock::new(),
            ddg: OnceLock::new(),
            data_coverage: OnceLock::new(),
            classes: OnceLock::new(),
            modules: OnceLock::new(),
        }
    }

    // ---- inputs ------------------------------------------------------------------------------------------------------

    /// The files in canonical order.
    #[must_use]
    pub fn files(&self) -> &[AnalysedFile] {
        &self.files
    }
    /// The folders that would be on `sys.path`.
    #[must_use]
    pub fn roots(&self) -> &[String] {
        &self.project.roots
    }
    /// What went wrong with the inputs, sorted by path.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
    /// The diagnostic of a fixed point that a limit stopped.
    #[must_use]
    pub fn budget_diagnostic(&self) -> Option<Diagnostic> {
        let points_to = self.points_to.get()?;
        let message = "the points-to analysis stopped at a limit: its result is true, but not all there is";
        (!points_to.outcome().is_complete()).then(|| Diagnostic::error("", DiagnosticKind::Budget, message))
    }
    /// All diagnostics so far, that of a limit included.
    #[must_use]
    pub fn all_diagnostics(&self) -> Vec<Diagnostic> {
        self.diagnostics
            .iter()
            .cloned()
            .chain(self.budget_diagnostic())
            .collect()
    }
    /// The decoded text of a source file of the analysis, by the path under which it is shown; `None` if it is none,
    /// cannot be read, or has more than `limit` bytes.
    #[must_use]
    pub fn source_text(&self, path: &str, limit: u64) -> Option<String> {
        let file = self
            .project
            .files
            .iter()
            .find(|file| file.path == path && file.format == FileFormat::Source)?;
        let bytes = self.project.sources[file.source].read(&file.source_path).ok()?;
        (bytes.len() as u64 <= limit).then(|| hognose_compile::decode(&bytes).ok())?
    }
    /// Whether nothing could be loaded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.iter().all(|file| file.ir.is_none())
    }
    /// Whether something is missing from the result: a file, a code object, or what is behind a limit.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.diagnostics.iter().any(|one| one.severity == Severity::Error) || self.budget_diagnostic().is_some()
    }
    /// Where regions and counters are recorded.
    #[must_use]
    pub const fn profiler(&self) -> &Profiler {
        &self.profiler
    }

    // ---- products ----------------------------------------------------------------------------------------------------

    /// The linked program: modules of the inputs and their dependencies, then library models.
    #[must_use]
    pub fn program(&self) -> &Arc<Program> {
        self.program.get_or_init(|| {
            let _region = self.profiler.region("link");
            let mut units: Vec<SourceUnit> = Vec::with_capacity(self.files.len());
            for file in &self.files {
                if let Some(ir) = &file.ir {
                    units.push(SourceUnit {
                        name: file.module.clone(),
                        is_package: file.is_package,
                        is_model: false,
                        is_dependency: file.is_dependency,
                        path: file.path.clone(),
                        ir: Arc::clone(ir),
                    });
                }
            }
            self.add_models(&mut units);
            let program = self.pool.install(|| Program::link(units));
            self.profiler.count("modules", program.modules.len() as u64);
            self.profiler.count("code_objects", program.codes.len() as u64);
            Arc::new(program)
        })
    }

    /// Adds the library models of the modules that are imported and not themselves analysed, be it as a dependency.
    fn add_models(&self, units: &mut Vec<SourceUnit>) {
        let found;
        let models = match &self.models {
            Some(models) => models,
            None => {
                let _region = self.profiler.region("models");
                found = needed_models(&self.files, &mut GivenModels::default());
                &found
            }
        };
        units.extend(models.iter().map(|model| SourceUnit {
            name: model.name.clone(),
            is_package: model.is_package,
            is_model: true,
            is_dependency: false,
            path: model.path.clone(),
            ir: Arc::clone(&model.ir),
        }));
    }

    /// The code objects of the inputs (library models left out), in order of their ids.
    pub fn codes(&self) -> impl Iterator<Item = CodeId> {
        let program = self.program();
        program.codes.ids().filter(|&code| !program.is_model(code))
    }
    /// The code objects with this dotted name: the whole one, or else every one that ends with it.
    #[must_use]
    pub fn find(&self, name: &str) -> Vec<CodeId> {
        let program = self.program();
        let exact: Vec<CodeId> = self.codes().filter(|&code| program.qualname(code) == name).collect();
        if !exact.is_empty() {
            return exact;
        }
        let suffix = format!(".{name}");
        self.codes()
            .filter(|&code| program.qualname(code).ends_with(&suffix))
            .collect()
    }
    /// The lifted body of a code object.
    #[must_use]
    pub fn body(&self, code: CodeId) -> &Body {
        self.program().body(code)
    }
    /// The control-flow graph of a code object.
    #[must_use]
    pub fn cfg(&self, code: CodeId) -> &Cfg {
        &self.body(code).cfg
    }
    /// The SSA form of a code object.
    #[must_use]
    pub fn ssa(&self, code: CodeId) -> &Ssa {
        &self.body(code).ssa
    }

    /// Points-to sets, heap and call targets: the one fixed point.
    #[must_use]
    pub fn points_to(&self) -> &PointsTo {
        self.points_to.get_or_init(|| {
            let program = self.program();
            let _region = self.profiler.region("pta+cg");
            let points_to = self.pool.install(|| hognose_pta::analyze(program, &self.config));
            let stats = points_to.stats();
            let counters = [
                ("fixed_points_solved", 1),
                ("pta_activations", points_to.activations().len() as u64),
                ("pta_nodes", points_to.node_count() as u64),
                ("pta_edges", stats.edges),
                ("pta_objects", points_to.heap().len() as u64),
                ("pta_slots", points_to.heap().slot_count() as u64),
                ("pta_steps", stats.steps),
                ("pta_propagations", stats.propagations),
                ("pta_merged_nodes", stats.merged),
                ("pta_rounds", u64::from(points_to.rounds())),
                ("pta_bytes", points_to.bytes() as u64),
            ];
            for (name, amount) in counters {
                self.profiler.count(name, amount);
            }
            points_to
        })
    }

    /// The call graph: every call site of the program with what it reaches, sorted by caller, instruction and kind.
    #[must_use]
    pub fn calls(&self) -> &[CallRecord] {
        self.calls.get_or_init(|| {
            let points_to = self.points_to();
            let _region = self.profiler.region("cg");
            let calls = points_to.calls();
            self.profiler.count("cg_sites", calls.len() as u64);
            let edges: usize = calls.iter().map(|call| call.targets.len()).sum();
            self.profiler.count("cg_edges", edges as u64);
            calls
        })
    }

    /// The control-dependence graphs of all code objects (library models left out).
    #[must_use]
    pub fn cdgs(&self) -> &IndexVec<CodeId, Cdg> {
        self.cdgs.get_or_init(|| {
            let program = self.program();
            let _region = self.profiler.region("cdg");
            let codes: Vec<CodeId> = self.codes().collect();
            // Modules of the inputs come first, so these ids are dense.
            debug_assert!(codes.last().is_none_or(|last| last.index() + 1 == codes.len()));
            let of = |code: CodeId| Cdg::of(program.codes[code].index, program.body(code), Layer::Outcome);
            let cdgs: Vec<Cdg> = self.pool.install(|| codes.into_par_iter().map(of).collect());
            let dependences: usize = cdgs.iter().map(|cdg| cdg.dependences().len()).sum();
            self.profiler.count("cdg_dependences", dependences as u64);
            IndexVec::from_raw(cdgs)
        })
    }

    /// The control-dependence graph of a code object; none for code of library models.
    #[must_use]
    pub fn cdg(&self, code: CodeId) -> Option<&Cdg> {
        self.cdgs().get(code)
    }

    /// The data-dependence graph.
    #[must_use]
    pub fn ddg(&self) -> &Ddg {
        self.ddg.get_or_init(|| {
            let (points_to, calls) = (self.points_to(), self.calls());
            let _region = self.profiler.region("ddg");
            let ddg = self.pool.install(|| Ddg::of_calls(points_to, calls));
            self.profiler.count("ddg_nodes", ddg.node_count() as u64);
            self.profiler.count("ddg_edges", ddg.edge_count() as u64);
            ddg
        })
    }

    /// How much is known of what loads read.
    #[must_use]
    pub fn data_coverage(&self) -> &DataCoverage {
        self.data_coverage.get_or_init(|| {
            let (points_to, calls, ddg) = (self.points_to(), self.calls(), self.ddg());
            let _region = self.profiler.region("ddg-coverage");
            self.pool.install(|| DataCoverage::of(points_to, calls, ddg))
        })
    }

    /// The class hierarchy.
    #[must_use]
    pub fn classes(&self) -> &ClassGraph {
        self.classes.get_or_init(|| {
            let points_to = self.points_to();
            let _region = self.profiler.region("classes");
            ClassGraph::of(points_to)
        })
    }

    /// The module graph.
    #[must_use]
    pub fn modules(&self) -> &ModuleGraph {
        self.modules.get_or_init(|| {
            let program = self.program();
            let _region = self.profiler.region("modules");
            ModuleGraph::of(program)
        })
    }

    /// Computes a product, so that asking for it later takes no time.
    pub fn prepare(&self, product: Product) {
        let _size = match product {
            Product::Cfg | Product::Ssa => self.program().codes.len(),
            Product::PointsTo => self.points_to().node_count(),
            Product::CallGraph => self.calls().len(),
            Product::Cdg => self.cdgs().len(),
            Product::Ddg => self.ddg().node_count(),
            Product::Classes => self.classes().classes().len(),
            Product::Modules => self.modules().nodes().len(),
        };
    }

    /// How much of a product is known.
    #[must_use]
    pub fn coverage(&self, product: Product) -> Coverage {
        let program = self.program();
        let mut coverage = Coverage::default();
        match product {
            Product::Cfg | Product::Ssa | Product::Cdg => {
                for code in self.codes() {
                    coverage.functions_total += 1;
                    coverage.functions_analysed += u64::from(program.body(code).problem.is_none());
                }
            }
            Product::PointsTo => return report::points_to_coverage(self.points_to()),
            Product::CallGraph => return self.points_to().coverage(self.calls()),
            Product::Ddg => return self.data_coverage().total().clone(),
            Product::Classes => {
                for class in self.classes().classes() {
                    let unknown = class.bases.iter().flatten().any(|base| *base == ClassRef::Unknown);
                    let reasons = if unknown {
                        ReasonSet::of(UnresolvedKind::UnknownBase)
                    } else {
                        ReasonSet::EMPTY
                    };
                    coverage.add_site(true, reasons);
                }
            }
            Product::Modules => {
                let graph = self.modules();
                for edge in graph.edges() {
                    let external = graph.nodes()[edge.to].module.is_none();
                    let reasons = if external {
                        ReasonSet::of(UnresolvedKind::External)
                    } else {
                        ReasonSet::EMPTY
                    };
                    coverage.add_site(true, reasons);
                }
            }
        }
        coverage
    }
}
