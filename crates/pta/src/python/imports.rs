//! Import statements.
//!
//! Language Reference 7.11 and 5: `import a.b` binds `a`; `from a import b` reads the attribute `b`, else the submodule
//! `a.b`; importing a submodule binds it in its package; `from m import *` takes the names of `__all__`, else the public
//! ones. CPython: `Python/import.c`, `Python/ceval.c` (`import_from`, `import_all_from`).

use crate::engine::{Engine, Lookup, Sink};
use crate::heap::{Field, Object};
use crate::ids::{ActId, ModuleId, NodeId, ObjId, SiteId};
use crate::python::names;
use crate::template::ImportDef;
use hognose_base::{ReasonSet, Symbol, UnresolvedKind};

impl Engine<'_> {
    /// An `IMPORT_NAME`.
    pub(crate) fn import(&mut self, act: ActId, import: &ImportDef) {
        let program = self.program;
        let module = program.codes[self.acts[act].code].module;
        let result = self.node(act, import.result);
        let Some(path) = program.absolute_import(module, import.level, program.text(import.name)) else {
            self.add_reason(result, UnresolvedKind::External);
            return;
        };
        let found = program.module_named(&path);
        self.bind_submodules(&path);
        match (found, &import.from) {
            (Some(found), Some(names)) => {
                let object = self.module_object(found);
                self.add_object(result, object);
                for &name in names {
                    self.import_submodule(found, name);
                }
            }
            (Some(found), None) => {
                let top = path.split('.').next().unwrap_or(&path);
                let top = program.module_named(top).unwrap_or(found);
                let object = self.module_object(if import.level == 0 { top } else { found });
                self.add_object(result, object);
            }
            (None, from) => {
                let object = if from.is_some() || import.level > 0 {
                    self.missing_module(&path)
                } else {
                    let top = path.split('.').next().unwrap_or(&path);
                    match program.module_named(top) {
                        Some(top) => self.module_object(top),
                        None => self.external_module(top),
                    }
                };
                self.add_object(result, object);
            }
        }
    }

    /// A module that is not there: external. Inside a package of the program it is named as an attribute of it.
    fn missing_module(&mut self, path: &str) -> ObjId {
        self.external_module(path)
    }

    /// Importing `a.b.c` binds `b` in `a` and `c` in `a.b`, as far as those are modules of the program.
    fn bind_submodules(&mut self, path: &str) {
        let program = self.program;
        for (dot, _) in path.match_indices('.') {
            let (parent, rest) = (&path[..dot], &path[dot + 1..]);
            let child_end = rest.find('.').map_or(path.len(), |next| dot + 1 + next);
            let name = &path[dot + 1..child_end];
            if let (Some(parent), Some(child), Some(name)) = (
                program.module_named(parent),
                program.module_named(&path[..child_end]),
                program.symbols.get(name),
            ) {
                self.bind_submodule(parent, name, child);
            }
        }
    }

    fn import_submodule(&mut self, module: ModuleId, name: Symbol) {
        if let Some(child) = self.submodule(module, name) {
            self.bind_submodule(module, name, child);
        }
    }

    fn bind_submodule(&mut self, parent: ModuleId, name: Symbol, child: ModuleId) {
        let (parent, child) = (self.module_object(parent), self.module_object(child));
        let slot = self.slot(parent, Field::submodule(name));
        self.add_object(slot, child);
        // A name that the package's body binds hides it there; who reads the attribute may see either.
        let Object::Module(id) = self.heap.get(parent) else {
            return;
        };
        if !self.binds_definitely(self.program.module_code(id), name) {
            let foreign = self.foreign_slot(parent, name);
            self.add_edge(slot, foreign);
        }
    }

    /// The submodule `module.name` of the program.
    pub(crate) fn submodule(&self, module: ModuleId, name: Symbol) -> Option<ModuleId> {
        let program = self.program;
        let package = &program.modules[module];
        if !package.is_package {
            return None;
        }
        program.module_named(&format!("{}.{}", program.text(package.name), program.text(name)))
    }

    /// `from m import name`: modules arrived.
    pub(crate) fn import_from(
        &mut self,
        objects: &[ObjId],
        reasons: ReasonSet,
        name: Symbol,
        result: NodeId,
        site: SiteId,
    ) {
        for &object in objects {
            match self.heap.get(object) {
                Object::External(chain) => {
                    let value = self.external_step(chain, name);
                    self.add_object(result, value);
                }
                found => {
                    self.attribute(object, name, Sink::Value(result), site, Lookup::Normal);
                    if let Object::Module(package) = found {
                        self.import_while_loading(package, name, result, site);
                    }
                }
            }
        }
        if !reasons.is_empty() {
            self.note_reasons(site, reasons);
            self.add_reasons(result, reasons);
        }
    }

    /// `from . import name` in a package's own body, and in what is imported while that runs, comes before the package binds
    /// the name otherwise: it finds the submodule (CPython: `import_from`, which falls back on `sys.modules`).
    fn import_while_loading(&mut self, package: ModuleId, name: Symbol, result: NodeId, site: SiteId) {
        let program = self.program;
        if !self.binds_definitely(program.module_code(package), name) || self.submodule(package, name).is_none() {
            return;
        }
        let importer = program.codes[self.acts[self.site_acts[site]].code].module;
        if program.is_within(importer, package) {
            let parent = self.module_object(package);
            let slot = self.slot(parent, Field::submodule(name));
            self.add_edge(slot, result);
        }
    }

    /// `from m import *`: modules arrived.
    pub(crate) fn import_star(&mut self, objects: &[ObjId], site: SiteId) {
        let act = self.site_acts[site];
        let importer = self.program.codes[self.acts[act].code].module;
        let target = self.module_object(importer);
        for &object in objects {
            let Object::Module(module) = self.heap.get(object) else {
                self.note_reasons(site, UnresolvedKind::External.into());
                continue;
            };
            for name in self.program.star_names(module) {
                let from = self.attribute_slot(object, name);
                self.store_foreign(target, name, from);
                if let Some(child) = self.submodule(module, name) {
                    let child = self.module_object(child);
                    let foreign = self.foreign_slot(target, name);
                    self.add_object(foreign, child);
                }
            }
        }
    }

    /// A name of a module that star-imports external modules may come from any of them.
    pub(crate) fn star_external(&mut self, module: ModuleId, name: Symbol, node: NodeId) {
        let program = self.program;
        for path in &program.facts.star_externals[module] {
            let value = self.external_attribute(path, name);
            self.add_object(node, value);
        }
    }

    /// A module attribute that may be made by the module's `__getattr__` (PEP 562).
    pub(crate) fn module_getattr(&mut self, module: ModuleId, name: Symbol, sink: Sink, site: SiteId) {
        let hook = names::GETATTR;
        if !self.program.binds(self.program.module_code(module), hook) {
            return;
        }
        let object = self.module_object(module);
        let slot = self.attribute_slot(object, hook);
        let name = self.heap.object(Object::Str(name));
        let name = self.single(name);
        let result = self.sink_node(sink);
        let kind = crate::engine::CallKind::Protocol(hook);
        let request = self.site_request(site, &[name], result, kind);
        self.on(
            slot,
            crate::engine::Task::Callee {
                request,
                receiver: crate::engine::NO_NODE,
            },
        );
    }

    /// Module names of a computed import arrived.
    pub(crate) fn import_named(
        &mut self,
        names: &[ObjId],
        reasons: ReasonSet,
        site: SiteId,
        result: NodeId,
        top: bool,
    ) {
        if let Some(path) = self.relative_import(site) {
            self.import_path(&path, result, top);
            return;
        }
        for &name in names {
            let Object::Str(symbol) = self.heap.get(name) else {
                self.note_reasons(site, UnresolvedKind::ComputedImport.into());
                self.add_reason(result, UnresolvedKind::ComputedImport);
                continue;
            };
            let path = self.program.text(symbol).to_owned();
            self.import_path(&path, result, top);
        }
        if !reasons.is_empty() {
            let reasons = reasons.union(UnresolvedKind::ComputedImport.into());
            self.note_reasons(site, reasons);
            self.add_reasons(result, reasons);
        }
    }

    /// Imports a module by its name; the result is the module or its top-level package.
    fn import_path(&mut self, path: &str, result: NodeId, top: bool) {
        self.bind_submodules(path);
        let wanted = if top {
            path.split('.').next().unwrap_or(path)
        } else {
            path
        };
        let object = match self.program.module_named(wanted) {
            Some(module) => self.module_object(module),
            None => self.external_module(wanted),
        };
        self.add_object(result, object);
    }

    /// What a call of `import_module` with a constant relative name imports.
    fn relative_import(&self, site: SiteId) -> Option<String> {
        if self.program.facts.relative_imports.is_empty() {
            return None;
        }
        let code = self.acts[self.site_acts[site]].code;
        let inst = self.site_inst(site);
        self.program.facts.relative_imports.get(&(code, inst)).cloned()
    }
}
