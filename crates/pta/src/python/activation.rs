//! Instantiates templates: functions, cells, names, displays.
//!
//! Language Reference 4.2 "Naming and binding": a name of a function is local, free (a cell of an enclosing function) or
//! global; a name of a class body is looked up in the class namespace, then in globals and builtins; a closure sees the
//! variable, not the value it had at definition. CPython: `Objects/cellobject.c`, `Python/bytecodes.c` (`LOAD_GLOBAL`,
//! `LOAD_NAME`).

use crate::engine::{Activation, CellRef, Engine, NO_NODE};
use crate::heap::{Allocation, Field, Object};
use crate::ids::{ActId, CodeId, ModuleId, NodeId, ObjId, SiteId};
use crate::program::CodeKind;
use crate::python::names;
use crate::template::{CellSource, Constant, Display, FunctionDef, Key, Local, NO_LOCAL, NameLoad, Template};
use hognose_base::{Id, ReasonSet, Symbol, UnresolvedKind};
use hognose_ir::SlotId;

impl Engine<'_> {
    /// The activation of `code` under `context`, made if need be.
    pub(crate) fn activate(&mut self, code: CodeId, context: Option<SiteId>, namespace: Option<ObjId>) -> ActId {
        if let Some(act) = self.find_act(code, context) {
            return act;
        }
        let templates = self.templates;
        let template = &templates[code];
        let base = self
            .solver
            .nodes(template.locals.max(crate::template::FIRST_FREE_LOCAL));
        let sites = self.site_acts.next_id();
        let act = self.add_act(Activation {
            code,
            context,
            base,
            sites,
            namespace,
            entry: false,
        });
        self.site_acts
            .extend(std::iter::repeat_n(act, template.operations.len()));
        if template.is_empty {
            self.solver
                .add_reasons(base, ReasonSet::of(UnresolvedKind::UnreadableCode));
            return act;
        }
        for &(from, to) in &template.copies {
            self.solver
                .add_fresh_edge(NodeId::new(base.raw() + from), NodeId::new(base.raw() + to));
        }
        for &(constant, local) in &template.constants {
            let object = self.constant_object(code, constant);
            self.add_object(NodeId::new(base.raw() + local), object);
        }
        for display in &template.displays {
            self.display(act, display);
        }
        self.cells(act, template);
        for function in &template.functions {
            self.function_object(act, function);
        }
        self.names(act, template);
        for import in &template.imports {
            self.import(act, import);
        }
        for index in 0..template.operations.len() {
            self.subscribe(SiteId::from_index(sites.index() + index));
        }
        act
    }

    /// The object that a constant is.
    pub(crate) fn constant_object(&mut self, code: CodeId, constant: Constant) -> ObjId {
        match constant {
            Constant::Name(symbol) => self.heap.object(Object::Str(symbol)),
            Constant::Int(value) => self.heap.object(Object::Int(value)),
            Constant::Builtin(name) => self.known.named(name).unwrap_or(self.known.object),
            Constant::Tuple(index) | Constant::FrozenSet(index) => {
                let class = self.known.of_constant(constant);
                let object = self
                    .heap
                    .object(Object::Instance(class, Allocation::Constant(code, index)));
                if self.heap.slot(object, Field::ALL_OUT).is_none() {
                    self.slot(object, Field::ALL_OUT);
                    let templates = self.templates;
                    for (at, &member) in templates[code].tuples[index as usize].iter().enumerate() {
                        let member = self.constant_object(code, member);
                        let field = match constant {
                            Constant::Tuple(_) => Field::int_key(i32::try_from(at).unwrap_or(i32::MAX)),
                            _ => Field::ANY_IN,
                        };
                        let node = self.element_slot(object, field);
                        self.add_object(node, member);
                    }
                }
                object
            }
            _ => {
                let class = self.known.of_constant(constant);
                self.heap.object(Object::Instance(class, Allocation::Singleton))
            }
        }
    }

    fn display(&mut self, act: ActId, display: &Display) {
        let class = match display.class {
            "list" => self.known.list,
            "set" => self.known.set,
            "dict" => self.known.dict,
            _ => self.known.tuple,
        };
        let object = self.heap.object(Object::Instance(
            class,
            Allocation::Inst(act, display.inst, display.ordinal),
        ));
        let result = self.node(act, display.result);
        self.add_object(result, object);
        for &(key, value) in &display.elements {
            let value = self.node(act, value);
            self.store_element(object, key, act, value);
        }
        if display.class == "dict" {
            let keys = self.slot(object, Field::KEYS);
            for &key in &display.keys {
                let key = self.node(act, key);
                self.add_edge(key, keys);
            }
            let code = self.acts[act].code;
            for &key in &display.constant_keys {
                let key = self.constant_object(code, key);
                self.add_object(keys, key);
            }
        }
    }

    /// Stores an element of a display.
    fn store_element(&mut self, object: ObjId, key: Key, act: ActId, value: NodeId) {
        if value == NO_NODE {
            return;
        }
        let field = match key {
            Key::Str(name) => Field::str_key(name),
            Key::Int(value) => Field::int_key(value),
            Key::Node(key) => {
                let key = self.node(act, key);
                self.store_under(object, key, value);
                return;
            }
            Key::Any => Field::ANY_IN,
        };
        let slot = self.element_slot(object, field);
        self.add_edge(value, slot);
    }

    fn cell(&mut self, act: ActId, slot: SlotId) -> ObjId {
        self.heap.object(Object::Cell(act, slot))
    }

    fn cells(&mut self, act: ActId, template: &Template) {
        for &(slot, value) in &template.cell_stores {
            let cell = self.cell(act, slot);
            let (value, contents) = (self.node(act, value), self.slot(cell, Field::CONTENTS));
            self.add_edge(value, contents);
        }
        for &(slot, result) in &template.cell_loads {
            let cell = self.cell(act, slot);
            let (foreign, result) = (self.slot(cell, Field::FOREIGN_CONTENTS), self.node(act, result));
            self.add_edge(foreign, result);
        }
        for &(slot, result) in &template.cell_values {
            let (cell, result) = (self.cell(act, slot), self.node(act, result));
            self.add_object(result, cell);
        }
        // A parameter that inner code captures is a store of its argument.
        let code = self.acts[act].code;
        let program = self.program;
        for (at, parameter) in program.codes[code].signature.parameters.iter().enumerate() {
            let kind = program.body(code).slots.get(parameter.slot).map(|slot| slot.kind);
            if kind.is_some_and(hognose_pyc::LocalKind::is_cell) {
                let cell = self.cell(act, parameter.slot);
                let contents = self.slot(cell, Field::CONTENTS);
                let value = self.node(act, template.parameters[at]);
                self.add_edge(value, contents);
            }
        }
    }

    fn function_object(&mut self, act: ActId, def: &FunctionDef) {
        let object = self.heap.object(Object::Function(def.code, act, def.inst));
        self.function_objects.push(object);
        let cells = def
            .closure
            .iter()
            .map(|&source| match source {
                CellSource::Own(slot) => CellRef::Object(self.cell(act, slot)),
                CellSource::Free(local) => CellRef::Node(self.node(act, local)),
                CellSource::Unknown => CellRef::Node(NO_NODE),
            })
            .collect();
        self.function_cells.insert(object, cells);
        self.function_defaults_of(act, object, def);
        let result = self.node(act, def.result);
        self.add_object(result, object);
    }

    fn function_defaults_of(&mut self, act: ActId, object: ObjId, def: &FunctionDef) {
        let program = self.program;
        let signature = &program.codes[def.code].signature;
        let positional = signature.positional_count();
        let first = positional.saturating_sub(def.defaults.len());
        for (at, &value) in def.defaults.iter().enumerate() {
            let parameter = u32::try_from(first + at).unwrap_or(0);
            let (value, slot) = (self.node(act, value), self.slot(object, Field::default(parameter)));
            self.add_edge(value, slot);
        }
        self.function_defaults
            .insert(object, u32::try_from(def.defaults.len()).unwrap_or(0));
        if def.defaults_value != NO_LOCAL {
            // Not a display: any default may be any element.
            let value = self.node(act, def.defaults_value);
            for parameter in 0..positional {
                let slot = self.slot(object, Field::default(u32::try_from(parameter).unwrap_or(0)));
                self.on(value, crate::engine::Task::Elements { result: slot });
            }
            self.function_defaults
                .insert(object, u32::try_from(positional).unwrap_or(0));
        }
        for &(name, value) in &def.keyword_defaults {
            if let Some(at) = signature.parameters.iter().position(|parameter| parameter.name == name) {
                let field = Field::keyword_default(u32::try_from(at).unwrap_or(0));
                let (value, slot) = (self.node(act, value), self.slot(object, field));
                self.add_edge(value, slot);
            }
        }
    }

    // ---- names -----------------------------------------------------------------------------------------------------

    fn names(&mut self, act: ActId, template: &Template) {
        let code = self.acts[act].code;
        let module = self.program.codes[code].module;
        let global = self.module_object(module);
        let namespace = self.acts[act].namespace.unwrap_or(global);
        if let Some(inst) = template.setup_annotations {
            let mapping = self
                .heap
                .object(Object::Instance(self.known.dict, Allocation::Inst(act, inst, 0)));
            let foreign = self.foreign_slot(namespace, names::ANNOTATIONS);
            self.add_object(foreign, mapping);
        }
        for store in &template.name_stores {
            let (value, slot) = (self.node(act, store.value), self.attribute_slot(namespace, store.name));
            self.add_edge(value, slot);
        }
        for store in &template.global_stores {
            let value = self.node(act, store.value);
            self.store_foreign(global, store.name, value);
        }
        for &load in &template.name_loads {
            self.name_load(act, module, namespace, load);
        }
    }

    /// A store to a name of a namespace by code that does not own it.
    pub(crate) fn store_foreign(&mut self, namespace: ObjId, name: Symbol, value: NodeId) {
        let foreign = self.foreign_slot(namespace, name);
        self.add_edge(value, foreign);
    }

    /// What other code stores to a name of a namespace; it is part of what the name holds.
    pub(crate) fn foreign_slot(&mut self, namespace: ObjId, name: Symbol) -> NodeId {
        if let Some(node) = self.heap.slot(namespace, Field::foreign(name)) {
            return node;
        }
        let foreign = self.slot(namespace, Field::foreign(name));
        let gained = self.heap.slot(namespace, Field::attribute(name)).is_none();
        let all = self.attribute_slot(namespace, name);
        self.solver.add_edge(foreign, all);
        if gained {
            self.class_gains(namespace, name);
        }
        foreign
    }

    fn name_load(&mut self, act: ActId, module: ModuleId, namespace: ObjId, load: NameLoad) {
        let result = self.node(act, load.result);
        let global = self.module_object(module);
        let body = self.program.codes[self.acts[act].code].kind;
        if load.own {
            let foreign = self.foreign_slot(namespace, load.name);
            self.add_edge(foreign, result);
            if body != CodeKind::Module && body != CodeKind::Class {
                // An annotation scope reads the namespace of the class around it.
                let slot = self.attribute_slot(namespace, load.name);
                self.add_edge(slot, result);
            }
        }
        if !load.outer {
            return;
        }
        if !(load.own && body == CodeKind::Module) {
            let slot = self.attribute_slot(global, load.name);
            self.add_edge(slot, result);
            if self.binds_definitely(self.program.module_code(module), load.name) {
                return;
            }
        }
        self.builtin(module, load.name, result);
    }

    /// Whether a module or class body leaves the name bound and nothing ever deletes it.
    pub(crate) fn binds_definitely(&self, code: CodeId, name: Symbol) -> bool {
        self.templates[code].definite_names.binary_search(&name).is_ok()
            && !self.program.facts.deleted_attributes.contains(&name)
    }

    fn builtin(&mut self, module: ModuleId, name: Symbol, result: NodeId) {
        if let Some(builtins) = self.known.module
            && builtins != module
            && self.program.binds(self.program.module_code(builtins), name)
        {
            let object = self.module_object(builtins);
            let slot = self.attribute_slot(object, name);
            self.add_edge(slot, result);
            return;
        }
        match self.program.text(name) {
            "__name__" | "__file__" | "__doc__" | "__package__" | "__qualname__" | "__module__" | "__cached__" => {
                let text = self
                    .heap
                    .object(Object::Instance(self.known.str, Allocation::Singleton));
                self.add_object(result, text);
            }
            "__debug__" => {
                let truth = self
                    .heap
                    .object(Object::Instance(self.known.bool_, Allocation::Singleton));
                self.add_object(result, truth);
            }
            text if crate::builtin_names::is_builtin(text) => {
                let object = self.external_attribute("builtins", name);
                self.add_object(result, object);
            }
            _ => self.unbound_names.push((result, module, name)),
        }
    }

    pub(crate) fn module_object(&mut self, module: ModuleId) -> ObjId {
        self.heap.object(Object::Module(module))
    }

    pub(crate) fn scalar(&mut self, class: ObjId) -> ObjId {
        self.heap.object(Object::Instance(class, Allocation::Singleton))
    }

    pub(crate) fn local_node(&self, site: SiteId, local: Local) -> NodeId {
        self.site_node(site, local)
    }
}
