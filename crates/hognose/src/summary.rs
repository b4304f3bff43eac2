//! Sizes and coverage of all products.

use crate::analysis::{Analysis, Product};
use hognose_ir::{Def, Ssa};
use hognose_pta::{CodeId, ReachedBy};
use hognose_report::{DependencyTotals, FileSummary, ProductSummary, Summary};

impl Analysis {
    /// Computes all products and counts what is in them.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = Summary {
            files: self.file_summaries(),
            products: Product::ALL
                .iter()
                .map(|&product| self.product_summary(product))
                .collect(),
            ..Summary::default()
        };
        let program = self.program();
        for module in &program.modules {
            match (module.is_model, module.is_dependency) {
                (true, _) => summary.models += 1,
                (_, true) => summary.dependencies.modules += 1,
                _ => summary.modules += 1,
            }
        }
        let (mut own, mut dependencies) = (DependencyTotals::default(), summary.dependencies);
        for code in self.codes() {
            let is_dependency = program.is_dependency(code);
            self.count_code(code, if is_dependency { &mut dependencies } else { &mut own });
        }
        summary.dependencies = dependencies;
        summary.code_objects = own.code_objects;
        summary.functions = own.functions;
        summary.reached_by_program = own.reached_by_program;
        summary.reached_by_entry = own.reached_by_entry;
        summary.instructions = own.instructions;
        summary
    }

    fn count_code(&self, code: CodeId, totals: &mut DependencyTotals) {
        let program = self.program();
        totals.code_objects += 1;
        totals.instructions += program.body(code).insts.len() as u64;
        if program.codes[code].is_function() {
            totals.functions += 1;
            match self.points_to().reached_by(code) {
                ReachedBy::Program => totals.reached_by_program += 1,
                ReachedBy::Entry => totals.reached_by_entry += 1,
                ReachedBy::Nothing => {}
            }
        }
    }

    fn file_summaries(&self) -> Vec<FileSummary> {
        let files = self.files().iter();
        files
            .map(|file| FileSummary {
                path: file.path.clone(),
                module: file.module.clone(),
                is_dependency: file.is_dependency,
                version: file.version.map(|version| version.to_string()),
                code_objects: file.ir.as_ref().map_or(0, |ir| ir.bodies.len() as u64),
                instructions: file
                    .ir
                    .as_ref()
                    .map_or(0, |ir| ir.bodies.iter().map(|body| body.insts.len() as u64).sum()),
            })
            .collect()
    }

    fn product_summary(&self, product: Product) -> ProductSummary {
        let sum = |count: &dyn Fn(&hognose_ir::Body) -> usize| {
            let total: usize = self.codes().map(|code| count(self.body(code))).sum();
            total as u64
        };
        let sizes = match product {
            Product::Cfg => vec![
                ("blocks", sum(&|body| body.cfg.blocks.len())),
                ("edges", sum(&|body| body.cfg.edges.len())),
            ],
            Product::Ssa => vec![
                ("values", sum(&|body| values(&body.ssa))),
                ("phis", sum(&|body| body.ssa.phis.len())),
            ],
            Product::PointsTo => {
                let points_to = self.points_to();
                vec![
                    ("objects", points_to.heap().len() as u64),
                    ("nodes", points_to.node_count() as u64),
                    ("fields", points_to.heap().slot_count() as u64),
                ]
            }
            Product::CallGraph => {
                let edges: usize = self.calls().iter().map(|call| call.targets.len()).sum();
                vec![("sites", self.calls().len() as u64), ("edges", edges as u64)]
            }
            Product::Cdg => {
                let dependences: usize = self.cdgs().iter().map(|cdg| cdg.dependences().len()).sum();
                vec![("dependences", dependences as u64)]
            }
            Product::Ddg => vec![
                ("nodes", self.ddg().node_count() as u64),
                ("edges", self.ddg().edge_count() as u64),
            ],
            Product::Classes => vec![("classes", self.classes().classes().len() as u64)],
            Product::Modules => vec![
                ("modules", self.modules().nodes().len() as u64),
                ("imports", self.modules().edges().len() as u64),
                ("cycles", self.modules().cycles().len() as u64),
            ],
        };
        ProductSummary {
            name: product.name(),
            sizes,
            coverage: self.coverage(product),
        }
    }
}

/// Values that the code makes (NULL and unbound are in every table).
fn values(ssa: &Ssa) -> usize {
    ssa.values
        .iter()
        .filter(|def| !matches!(def, Def::Null | Def::Unbound))
        .count()
}
