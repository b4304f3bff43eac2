//! Values from modules that are not part of the analysis.
//!
//! An external value is its import path and what was done to it (`sqlite3.connect().cursor`), so that it is known by its
//! exact name wherever it flows. Objects handed to external code are recorded as escaped; functions among them may be
//! called back with arguments nobody knows.

use crate::engine::{Engine, RequestId, Target, Task};
use crate::heap::{Object, Step};
use crate::ids::{ChainId, NodeId, ObjId};
use crate::python::names;
use hognose_base::{ReasonSet, Symbol, UnresolvedKind};

impl Engine<'_> {
    /// The external value of a module path.
    pub(crate) fn external_module(&mut self, path: &str) -> ObjId {
        // A path is its top-level name and attributes, so that `import a.b` and `import a; a.b` are one value.
        let mut parts = path.split('.');
        let top = self.intern(parts.next().unwrap_or(path));
        let mut chain = self.heap.root_chain(top);
        for part in parts {
            let name = self.intern(part);
            chain = self.heap.import_chain(chain, name);
        }
        self.heap.object(Object::External(chain))
    }

    /// The attribute of an external module.
    pub(crate) fn external_attribute(&mut self, path: &str, name: Symbol) -> ObjId {
        let module = self.external_module(path);
        match self.heap.get(module) {
            Object::External(chain) => {
                let chain = self.heap.import_chain(chain, name);
                self.heap.object(Object::External(chain))
            }
            _ => module,
        }
    }

    /// An attribute of an external value. The reserved module is one whose attributes the engine implements.
    pub(crate) fn external_step(&mut self, chain: ChainId, name: Symbol) -> ObjId {
        if chain == self.reserved
            && let Some(object) = self.reserved_attribute(self.program.text(name))
        {
            return object;
        }
        let next = self.heap.import_chain(chain, name);
        self.heap.object(Object::External(next))
    }

    fn intern(&self, text: &str) -> Symbol {
        self.program.symbols.get(text).unwrap_or(names::UNKNOWN)
    }

    /// A call of an external value.
    pub(crate) fn call_external(&mut self, request: RequestId, chain: ChainId, receiver: NodeId) {
        let (site, result, kind, raises) = {
            let request = &self.requests[request];
            (request.site, request.result, request.kind, request.raises)
        };
        self.add_reason(raises, UnresolvedKind::External);
        self.target(site, kind, Target::External(chain));
        self.note_reasons(site, ReasonSet::of(UnresolvedKind::External));
        let next = self.heap.extend_chain(chain, Step::Call);
        let value = self.heap.object(Object::External(next));
        self.add_object(result, value);
        self.escape_arguments(request, receiver);
    }

    /// The arguments of a call to code that is not known escape.
    pub(crate) fn escape_arguments(&mut self, request: RequestId, receiver: NodeId) {
        let nodes = self.argument_nodes(request, receiver);
        for node in nodes
            .positional
            .into_iter()
            .chain(nodes.keywords.into_iter().map(|(_, node)| node))
        {
            self.escape_node(node);
        }
        for node in nodes.star.into_iter().chain(nodes.mappings) {
            self.on_once(node, Task::EscapeElements);
        }
    }

    pub(crate) fn escape_node(&mut self, node: NodeId) {
        self.on_once(node, Task::Escape);
    }

    /// Objects that code which is not known may now use: functions and methods become callback roots.
    pub(crate) fn escape(&mut self, objects: &[ObjId]) {
        for &object in objects {
            if !self.escaped.insert(object) {
                continue;
            }
            match self.heap.get(object) {
                Object::Function(..) => self.pending_roots.push(object),
                Object::Bound(..) => self.pending_roots.push(object),
                _ => {}
            }
        }
    }

    /// Containers whose elements escape.
    pub(crate) fn escape_elements(&mut self, objects: &[ObjId]) {
        for &object in objects {
            if matches!(self.heap.get(object), Object::Instance(..)) {
                let values = self.values(object);
                self.on_once(values, Task::Escape);
            }
        }
    }
}
