//! The module graph: which module imports which.
//!
//! ```python
//! import shop.cart             # absolute, of `shop.cart`; namespace, of the package `shop` that runs first
//! from . import views          # relative; `views` is a module if the package has such a file
//! from .models import *        # relative, star
//! import json                  # absolute, of an external module
//! import_module("shop.tax")    # absolute: a call of `importlib.import_module` or `__import__` with a constant name
//! ```
//! Vocabulary: an edge goes from the importing module to the one that is imported. A `from` import names a module and
//! maybe, with its names, submodules of it. A module that is neither part of the program nor a model is *external*, as are
//! models: both stand for code that is not analysed as such. Language Reference 5, 7.11; CPython: `Python/import.c`.
//! A *cycle* is a strongly connected component of more than one module, or a module that imports itself.

use hognose_base::{IndexVec, define_id};
use hognose_graph::{Components, Csr};
use hognose_ir::InstId;
use hognose_pta::{CodeId, ModuleId, Program};
use rustc_hash::FxHashMap;

#[cfg(test)]
mod tests;

define_id! {
    /// A module of the module graph: those of the program in canonical order, then external ones by name.
    pub struct ModuleNodeId = "g";
}

/// A module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleNode {
    /// Dotted name.
    pub name: String,
    /// The module of the program; `None` if it is external.
    pub module: Option<ModuleId>,
    /// Whether it is a package of the program.
    pub is_package: bool,
}

/// How a module is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImportKind {
    /// By its full name.
    Absolute,
    /// By leading dots.
    Relative,
    /// As a package on the way to another module.
    Namespace,
    /// All its public names.
    Star,
}

impl ImportKind {
    /// The name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Absolute => "absolute",
            Self::Relative => "relative",
            Self::Namespace => "namespace",
            Self::Star => "star",
        }
    }
}

/// An import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImportEdge {
    /// The importing module.
    pub from: ModuleNodeId,
    /// The imported one.
    pub to: ModuleNodeId,
    /// How.
    pub kind: ImportKind,
    /// The code with the statement.
    pub code: CodeId,
    /// The statement.
    pub inst: InstId,
}

/// The module graph of a program.
#[derive(Clone, Debug, Default)]
pub struct ModuleGraph {
    nodes: IndexVec<ModuleNodeId, ModuleNode>,
    edges: Vec<ImportEdge>,
    cycles: Vec<Vec<ModuleNodeId>>,
}

impl ModuleGraph {
    /// Reads the graph off the import statements of the program.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        let mut found: Vec<(ModuleId, Imported, ImportKind, CodeId, InstId)> = Vec::new();
        for (module, info) in program.modules.iter_enumerated() {
            if !info.is_model {
                imports_of(program, module, &mut found);
            }
        }
        let mut graph = Self::default();
        let mut of_module: FxHashMap<ModuleId, ModuleNodeId> = FxHashMap::default();
        for (module, info) in program.modules.iter_enumerated().filter(|(_, info)| !info.is_model) {
            let name = program.text(info.name).to_owned();
            let node = graph.nodes.push(ModuleNode {
                name,
                module: Some(module),
                is_package: info.is_package,
            });
            of_module.insert(module, node);
        }
        let mut externals: Vec<&str> = found
            .iter()
            .filter_map(|(_, to, ..)| match to {
                Imported::External(name) => Some(name.as_str()),
                Imported::Module(_) => None,
            })
            .collect();
        externals.sort_unstable();
        externals.dedup();
        let mut of_name: FxHashMap<&str, ModuleNodeId> = FxHashMap::default();
        for &name in &externals {
            let node = graph.nodes.push(ModuleNode {
                name: name.to_owned(),
                module: None,
                is_package: false,
            });
            of_name.insert(name, node);
        }
        for (from, to, kind, code, inst) in &found {
            let to = match to {
                Imported::Module(module) => of_module.get(module),
                Imported::External(name) => of_name.get(name.as_str()),
            };
            if let (Some(&from), Some(&to)) = (of_module.get(from), to) {
                graph.edges.push(ImportEdge {
                    from,
                    to,
                    kind: *kind,
                    code: *code,
                    inst: *inst,
                });
            }
        }
        graph.edges.sort_unstable();
        graph.edges.dedup();
        graph.cycles = graph.find_cycles();
        graph
    }
    /// The modules.
    #[must_use]
    pub const fn nodes(&self) -> &IndexVec<ModuleNodeId, ModuleNode> {
        &self.nodes
    }
    /// The imports, sorted.
    #[must_use]
    pub fn edges(&self) -> &[ImportEdge] {
        &self.edges
    }
    /// What a module imports.
    #[must_use]
    pub fn imports_of(&self, node: ModuleNodeId) -> &[ImportEdge] {
        let start = self.edges.partition_point(|edge| edge.from < node);
        let len = self.edges[start..].partition_point(|edge| edge.from == node);
        &self.edges[start..start + len]
    }
    /// The modules of each import cycle, in order of their first modules. That a package runs before its modules makes no
    /// cycle.
    #[must_use]
    pub fn cycles(&self) -> &[Vec<ModuleNodeId>] {
        &self.cycles
    }
    /// A module by its dotted name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<ModuleNodeId> {
        self.nodes
            .iter_enumerated()
            .find(|(_, node)| node.name == name)
            .map(|(id, _)| id)
    }

    fn find_cycles(&self) -> Vec<Vec<ModuleNodeId>> {
        let edges = self.edges.iter().filter(|edge| edge.kind != ImportKind::Namespace);
        let graph = Csr::from_edges(self.nodes.len(), edges.map(|edge| (edge.from, edge.to)));
        let components = Components::of(&graph);
        let mut cycles: Vec<Vec<ModuleNodeId>> = components
            .ids()
            .filter(|&component| components.is_cyclic(component))
            .map(|component| {
                let mut members = components.members(component).to_vec();
                members.sort_unstable();
                members
            })
            .collect();
        cycles.sort_unstable();
        cycles
    }
}

enum Imported {
    Module(ModuleId),
    External(String),
}

fn imports_of(program: &Program, module: ModuleId, found: &mut Vec<(ModuleId, Imported, ImportKind, CodeId, InstId)>) {
    let file = &program.modules[module].ir;
    let objects = &file.module.objects;
    for import in hognose_ir::imports(file) {
        let code = program.code_id(module, import.code);
        let Some(path) = program.absolute_import(module, import.level, &file.names[import.module]) else {
            continue;
        };
        let mut add = |name: &str, kind| found.push((module, imported(program, name), kind, code, import.inst));
        let kind = if import.level > 0 {
            ImportKind::Relative
        } else {
            ImportKind::Absolute
        };
        add(&path, kind);
        for (at, _) in path.match_indices('.') {
            add(&path[..at], ImportKind::Namespace);
        }
        for &name in import.names.iter().flatten() {
            match objects.text(name).as_deref() {
                Some("*") => add(&path, ImportKind::Star),
                Some(name) => {
                    let full = format!("{path}.{name}");
                    if program
                        .module_named(&full)
                        .is_some_and(|module| !program.modules[module].is_model)
                    {
                        add(&full, kind);
                    }
                }
                None => {}
            }
        }
    }
    for import in hognose_ir::dynamic_imports(file) {
        let code = program.code_id(module, import.code);
        let Some(path) = program.absolute_import(module, import.level, &import.module) else {
            continue;
        };
        let kind = if import.level > 0 {
            ImportKind::Relative
        } else {
            ImportKind::Absolute
        };
        let mut add = |name: &str, kind| found.push((module, imported(program, name), kind, code, import.inst));
        add(&path, kind);
        for (at, _) in path.match_indices('.') {
            add(&path[..at], ImportKind::Namespace);
        }
    }
}

fn imported(program: &Program, name: &str) -> Imported {
    let known = program
        .module_named(name)
        .filter(|&module| !program.modules[module].is_model);
    known.map_or_else(|| Imported::External(name.to_owned()), Imported::Module)
}

impl ModuleNode {
    /// Whether the module is not part of the program.
    #[must_use]
    pub const fn is_external(&self) -> bool {
        self.module.is_none()
    }
}
