//! Class statements, bases, method resolution order, look-up along it.
//!
//! Language Reference 3.3.3 "Customizing class creation"; the order is C3 (Python 2.3 MRO document; CPython:
//! `Objects/typeobject.c`, `mro_implementation`). A look-up adds an edge from the slot of each class of the order, and
//! stops at the first class whose body certainly binds the name: nothing depends on a slot being empty.

use crate::engine::{CallKind, Engine, NO_NODE, RequestId, Sink, Task};
use crate::heap::{Field, Object, Step};
use crate::ids::{ChainId, CodeId, NodeId, ObjId, SiteId};
use crate::python::names;
use crate::python::sharing::Part;
use crate::template::{Local, NO_LOCAL};
use hognose_base::{IndexVec, ReasonSet, Symbol, UnresolvedKind, define_id};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

define_id! {
    /// A class of the class table.
    pub struct ClassId = "class";
}

/// Linearisations a class may have before they are united.
const MAX_LINEARISATIONS: usize = 4;

/// An entry of a method resolution order, or a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Base {
    /// A class of the program or the models.
    Class(ObjId),
    /// An external class.
    External(ChainId),
    /// Not known.
    Unknown,
}

/// What is known of a class object.
#[derive(Clone, Debug)]
pub struct ClassInfo {
    /// The class object.
    pub object: ObjId,
    /// Its body.
    pub code: Option<CodeId>,
    /// The bases found so far, by position.
    pub bases: Vec<Vec<Base>>,
    /// Metaclass arguments found so far.
    pub metaclasses: Vec<ObjId>,
    /// The linearisations.
    pub orders: Vec<Vec<Base>>,
    /// Whether more linearisations were possible than are kept.
    pub united: bool,
    /// Whether C3 has no answer and the order is a guess (`TypeError` at run time).
    pub conflict: bool,
    /// Look-ups asked so far: start class for `super`, name, node.
    lookups: Vec<(Option<ObjId>, Symbol, NodeId)>,
    /// Direct subclasses.
    pub subclasses: Vec<ObjId>,
    /// Names whose look-up other classes share.
    pub(crate) shared: Vec<Symbol>,
    /// What is stored on this class and its bases under names that are not known.
    pub(crate) any_sources: Vec<NodeId>,
    /// Whether its receivers ask `__getattr__`.
    pub(crate) asks: bool,
    dirty: bool,
    /// Whether the class statement names a metaclass; else it is inherited.
    names_metaclass: bool,
    /// Node of metaclass objects.
    pub(crate) metaclass_node: NodeId,
    /// Calls of the class, which a metaclass may answer.
    pub(crate) callers: Vec<RequestId>,
    /// Calls that made an instance without asking a `__new__`, each with that of `__init__`.
    pub(crate) constructed: Vec<(RequestId, RequestId)>,
}

/// All class objects.
#[derive(Debug, Default)]
pub struct ClassTable {
    infos: IndexVec<ClassId, ClassInfo>,
    by_object: FxHashMap<ObjId, ClassId>,
    lookups: FxHashMap<(ObjId, Option<ObjId>, Symbol), NodeId>,
    /// Look-ups by which receivers are grouped.
    pub(crate) shared: FxHashMap<(ObjId, Symbol), NodeId>,
    /// Their nodes, where it is not the slot of one class.
    pub(crate) resolutions: FxHashMap<(Symbol, Vec<Part>), NodeId>,
    /// The node of a name that a class certainly lacks.
    pub(crate) absent: FxHashMap<Symbol, NodeId>,
    dirty: Vec<ClassId>,
    /// Counts what may change what classes have.
    pub(crate) generation: u32,
    /// Counts linearisations.
    pub(crate) orders: u32,
}

/// Answers to a question about classes and names that depend on the linearisations of the class alone.
#[derive(Debug, Default)]
pub(crate) struct ClassMemo(RefCell<FxHashMap<(ObjId, Symbol), Remembered>>);

#[derive(Clone, Copy, Debug)]
struct Remembered {
    /// How many linearisations there were of all classes when the answer was last found to hold.
    generation: u32,
    /// How many there were of the class.
    orders: usize,
    answer: bool,
}

impl ClassTable {
    /// What is known of a class object.
    #[must_use]
    pub fn get(&self, object: ObjId) -> Option<&ClassInfo> {
        self.by_object.get(&object).map(|&id| &self.infos[id])
    }
    pub(crate) fn get_mut(&mut self, object: ObjId) -> Option<&mut ClassInfo> {
        self.by_object.get(&object).map(|&id| &mut self.infos[id])
    }
    /// The look-ups of a class along its whole order that no other class shares.
    pub(crate) fn own_lookups(&self, class: ObjId) -> Vec<(Symbol, NodeId)> {
        let lookups = self.get(class).map(|info| info.lookups.as_slice()).unwrap_or_default();
        lookups
            .iter()
            .filter(|(start, ..)| start.is_none())
            .map(|&(_, name, node)| (name, node))
            .collect()
    }
    /// All classes in order of creation.
    pub fn iter(&self) -> impl Iterator<Item = &ClassInfo> {
        self.infos.iter()
    }
    fn id(&self, object: ObjId) -> Option<ClassId> {
        self.by_object.get(&object).copied()
    }
    /// Whether `class` is `base` or a subclass by any linearisation.
    #[must_use]
    pub fn is_subclass(&self, class: ObjId, base: ObjId) -> bool {
        class == base
            || self
                .get(class)
                .is_some_and(|info| info.orders.iter().any(|order| order.contains(&Base::Class(base))))
    }
    /// Whether `class` is `base` or a subclass by every linearisation.
    #[must_use]
    pub fn certainly_subclass(&self, class: ObjId, base: ObjId) -> bool {
        class == base
            || self.get(class).is_some_and(|info| {
                !info.orders.is_empty() && info.orders.iter().all(|order| order.contains(&Base::Class(base)))
            })
    }
    /// Whether some linearisation of `class` has a member that is not known.
    #[must_use]
    pub fn has_unknown_base(&self, class: ObjId) -> bool {
        self.get(class)
            .is_some_and(|info| info.orders.iter().flatten().any(|base| !matches!(base, Base::Class(_))))
    }
}

impl Engine<'_> {
    /// A class statement: makes the class object and runs its body.
    pub(crate) fn class_statement(&mut self, site: SiteId, body: CodeId, function: Local, call: u32) {
        let act = self.site_acts[site];
        let class = self.heap.object(Object::Class(body, act));
        let templates = self.templates;
        let arguments = &templates[self.acts[act].code].calls[call as usize];
        let positional: Vec<NodeId> = arguments
            .positional
            .iter()
            .map(|&local| self.node(act, local))
            .collect();
        let metaclass = names::METACLASS;
        let mut metaclass_node = NO_NODE;
        for &(name, value) in &arguments.keywords {
            if name == metaclass {
                metaclass_node = self.node(act, value);
            }
        }
        self.add_class(class, Some(body), &positional, metaclass_node);
        if !arguments.star.is_empty() {
            self.class_base(class, None, Base::Unknown);
        }
        self.class_body(site, class, body, function);
        self.set_names(site, class, body);
        self.subclass_hook(site, class);
        self.ask_metaclasses(site, class);
    }

    /// Runs the body with the class as its namespace. Its cells come from the function object that was made for it.
    fn class_body(&mut self, site: SiteId, class: ObjId, body: CodeId, function: Local) {
        let act = self.site_acts[site];
        let context = self.acts[act].context;
        let body_act = self.activate(body, context, Some(class));
        if function != NO_LOCAL {
            let code = self.acts[act].code;
            let templates = self.templates;
            if let Some(def) = templates[code].functions.iter().find(|def| def.result == function) {
                let object = self.heap.object(Object::Function(def.code, act, def.inst));
                self.connect_closure(object, body_act);
            }
        }
        let raises = self.site_raises(site);
        let raised = self.node(body_act, crate::template::RAISED);
        self.add_edge(raised, raises);
        // `type.__new__` stores the class in the cell `__class__` of the body.
        let program = self.program;
        let module = &program.modules[program.codes[body].module];
        for (slot, info) in program.body(body).slots.iter_enumerated() {
            if info.kind.is_cell() && &*module.ir.names[info.name] == "__class__" {
                let cell = self.heap.object(Object::Cell(body_act, slot));
                let contents = self.slot(cell, Field::CONTENTS);
                self.add_object(contents, class);
            }
        }
    }

    /// Data model 3.3.3.6: `type.__new__` calls `__set_name__` of each value in the namespace that has it.
    fn set_names(&mut self, site: SiteId, class: ObjId, body: CodeId) {
        if !self.program.facts.class_names.contains(&names::SET_NAME) {
            return;
        }
        let templates = self.templates;
        let owner = self.single(class);
        for store in &templates[body].name_stores {
            let name = self.heap.object(Object::Str(store.name));
            let (slot, name) = (self.attribute_slot(class, store.name), self.single(name));
            self.special_call(site, slot, names::SET_NAME, &[owner, name], NO_NODE);
        }
    }

    /// Data model 3.3.3.1: `__init_subclass__` of the parent is called with the new class and the keywords of the statement.
    fn subclass_hook(&mut self, site: SiteId, class: ObjId) {
        let name = names::INIT_SUBCLASS;
        if !self.program.facts.class_names.contains(&name) {
            return;
        }
        let request = self.statement_request(site, &[], NO_NODE, CallKind::Protocol(name));
        let receiver = self.single(class);
        let found = self.lookup_after(class, Some(class), name);
        self.on(
            found,
            Task::Member {
                sink: Sink::New(request),
                site,
                receiver,
                class: Some(class),
                through_class: true,
            },
        );
    }

    /// Adds a class to the table and listens to its bases.
    pub(crate) fn add_class(&mut self, class: ObjId, code: Option<CodeId>, bases: &[NodeId], metaclass: NodeId) {
        if self.classes.by_object.contains_key(&class) {
            return;
        }
        let metaclass_node = self.solver.node();
        let info = ClassInfo {
            object: class,
            code,
            bases: vec![Vec::new(); bases.len()],
            metaclasses: Vec::new(),
            orders: Vec::new(),
            united: false,
            conflict: false,
            lookups: Vec::new(),
            subclasses: Vec::new(),
            shared: Vec::new(),
            any_sources: Vec::new(),
            asks: false,
            dirty: true,
            names_metaclass: metaclass != NO_NODE,
            metaclass_node,
            callers: Vec::new(),
            constructed: Vec::new(),
        };
        let id = self.classes.infos.push(info);
        self.classes.by_object.insert(class, id);
        self.classes.dirty.push(id);
        for (position, &node) in bases.iter().enumerate() {
            self.on(
                node,
                Task::Base {
                    class,
                    position: u32::try_from(position).unwrap_or(0),
                },
            );
        }
        self.add_edge(metaclass, metaclass_node);
        if metaclass == NO_NODE && bases.is_empty() {
            let type_ = self.known.type_;
            self.add_object(metaclass_node, type_);
        }
        self.on(metaclass_node, Task::Metaclass { class });
        self.settle_classes();
    }

    /// A base object arrived.
    pub(crate) fn base_arrived(&mut self, class: ObjId, position: u32, objects: &[ObjId], reasons: ReasonSet) {
        for &object in objects {
            match self.heap.get(object) {
                Object::Class(..) | Object::DynamicClass(_) => {
                    self.class_base(class, Some(position), Base::Class(object));
                }
                Object::External(chain) => self.class_base(class, Some(position), Base::External(chain)),
                Object::Instance(..) | Object::Function(..) | Object::Bound(..) => self.mro_entries(class, position),
                _ => {}
            }
        }
        if !reasons.is_empty() {
            self.class_base(class, Some(position), Base::Unknown);
        }
        self.settle_classes();
    }

    /// Data model 3.3.3.2: a base that is no class is replaced by what its `__mro_entries__` gives; `Generic[T]` and its
    /// kin give the class they were subscripted from, which models return at once.
    fn mro_entries(&mut self, class: ObjId, position: u32) {
        self.class_base(class, Some(position), Base::Unknown);
    }

    fn class_base(&mut self, class: ObjId, position: Option<u32>, base: Base) {
        let Some(id) = self.classes.id(class) else { return };
        let info = &mut self.classes.infos[id];
        let position = match position {
            Some(position) => position as usize,
            None => {
                info.bases.push(Vec::new());
                info.bases.len() - 1
            }
        };
        if info.bases[position].contains(&base) {
            return;
        }
        info.bases[position].push(base);
        let (own, named) = (info.metaclass_node, info.names_metaclass);
        self.mark_dirty(id);
        if !named && !matches!(base, Base::Class(_)) {
            let type_ = self.known.type_;
            self.add_object(own, type_);
        }
        if let Base::Class(parent) = base {
            if !named {
                let inherited = self.classes.get(parent).map_or(NO_NODE, |info| info.metaclass_node);
                self.add_edge(inherited, own);
            }
            if let Some(parent) = self.classes.id(parent) {
                self.classes.infos[parent].subclasses.push(class);
            }
        }
    }

    fn mark_dirty(&mut self, id: ClassId) {
        if !self.classes.infos[id].dirty {
            self.classes.infos[id].dirty = true;
            self.classes.dirty.push(id);
        }
    }

    pub(crate) fn metaclass_arrived(&mut self, class: ObjId, objects: &[ObjId]) {
        if let Some(id) = self.classes.id(class) {
            let info = &mut self.classes.infos[id];
            info.metaclasses.extend_from_slice(objects);
            for request in info.callers.clone() {
                self.meta_call(objects, class, request);
            }
        }
    }

    /// Linearises the classes whose bases changed. Whether any order is new.
    pub(crate) fn settle_classes(&mut self) -> bool {
        let mut changed = false;
        let mut dirty = std::mem::take(&mut self.classes.dirty);
        while !dirty.is_empty() {
            dirty.sort_unstable();
            dirty.dedup();
            for id in dirty {
                self.classes.infos[id].dirty = false;
                changed |= self.linearise(id);
            }
            dirty = std::mem::take(&mut self.classes.dirty);
        }
        changed
    }

    /// At the end: bases that nothing ever reached are unknown.
    pub(crate) fn settle_unknown_bases(&mut self) -> bool {
        let empty: Vec<(ObjId, u32)> = self
            .classes
            .infos
            .iter()
            .flat_map(|info| {
                info.bases
                    .iter()
                    .enumerate()
                    .filter(|(_, found)| found.is_empty())
                    .map(|(position, _)| (info.object, u32::try_from(position).unwrap_or(0)))
            })
            .collect();
        for &(class, position) in &empty {
            self.class_base(class, Some(position), Base::Unknown);
        }
        !empty.is_empty()
    }

    fn linearise(&mut self, id: ClassId) -> bool {
        let info = &self.classes.infos[id];
        if info.bases.iter().any(Vec::is_empty) {
            return false;
        }
        let class = info.object;
        let (orders, united, conflict) = self.orders_of(info);
        let info = &mut self.classes.infos[id];
        info.united |= united;
        info.conflict |= conflict;
        let fresh: Vec<Vec<Base>> = orders
            .into_iter()
            .filter(|order| !info.orders.contains(order))
            .collect();
        if fresh.is_empty() {
            return false;
        }
        info.orders.extend(fresh.iter().cloned());
        self.classes.orders += 1;
        let lookups = info.lookups.clone();
        let subclasses = info.subclasses.clone();
        for order in &fresh {
            for &(start, name, node) in &lookups {
                self.connect_lookup(order, start, name, node);
            }
        }
        self.relinearised(class);
        for subclass in subclasses {
            if let Some(id) = self.classes.id(subclass)
                && subclass != class
            {
                self.mark_dirty(id);
            }
        }
        true
    }

    fn orders_of(&self, info: &ClassInfo) -> (Vec<Vec<Base>>, bool, bool) {
        let mut combinations: Vec<Vec<Vec<Base>>> = vec![Vec::new()];
        let mut united = false;
        for position in &info.bases {
            let mut next = Vec::new();
            for base in position {
                for order in self.base_orders(*base, info.object) {
                    for combination in &combinations {
                        let mut longer = combination.clone();
                        longer.push(order.clone());
                        next.push(longer);
                    }
                }
            }
            united |= next.len() > MAX_LINEARISATIONS;
            next.truncate(MAX_LINEARISATIONS);
            combinations = next;
        }
        let mut conflict = false;
        let orders = combinations
            .into_iter()
            .map(|parents| {
                let firsts: Vec<Base> = parents.iter().filter_map(|order| order.first().copied()).collect();
                let (mut order, clash) = merge(parents, firsts);
                conflict |= clash;
                let object = Base::Class(self.known.object);
                if !order.contains(&object) && info.object != self.known.object {
                    order.push(object);
                }
                order.insert(0, Base::Class(info.object));
                order
            })
            .collect();
        (orders, united, conflict)
    }

    /// The linearisations of a base; a class that is not settled yet counts as itself.
    fn base_orders(&self, base: Base, child: ObjId) -> Vec<Vec<Base>> {
        match base {
            Base::Class(object) if object != child => match self.classes.get(object) {
                Some(info) if !info.orders.is_empty() => {
                    let acyclic = |order: &&Vec<Base>| !order.contains(&Base::Class(child));
                    info.orders.iter().filter(acyclic).cloned().collect()
                }
                _ => vec![vec![base]],
            },
            Base::Class(_) => Vec::new(),
            _ => vec![vec![base]],
        }
    }

    // ---- look-up ------------------------------------------------------------------------------------------------------

    /// The node of attribute `name` as the class and its bases have it.
    pub(crate) fn lookup(&mut self, class: ObjId, name: Symbol) -> NodeId {
        self.lookup_after(class, None, name)
    }

    /// The same, behind class `start` of the order (`super`).
    pub(crate) fn lookup_after(&mut self, class: ObjId, start: Option<ObjId>, name: Symbol) -> NodeId {
        if let Some(&node) = self.classes.lookups.get(&(class, start, name)) {
            return node;
        }
        let node = self.solver.node();
        self.classes.lookups.insert((class, start, name), node);
        if let Some(id) = self.classes.id(class) {
            self.classes.infos[id].lookups.push((start, name, node));
            let orders = self.classes.infos[id].orders.clone();
            for order in &orders {
                self.connect_lookup(order, start, name, node);
            }
        }
        node
    }

    /// Connects the look-ups of a name again, after a class in the order has gained it.
    pub(crate) fn reconnect(&mut self, class: ObjId, name: Symbol) {
        let Some(info) = self.classes.get(class) else { return };
        let lookups: Vec<_> = info
            .lookups
            .iter()
            .filter(|&&(_, known, _)| known == name)
            .map(|&(start, _, node)| (start, node))
            .collect();
        if lookups.is_empty() {
            return;
        }
        for order in info.orders.clone() {
            for &(start, node) in &lookups {
                self.connect_lookup(&order, start, name, node);
            }
        }
    }

    fn connect_lookup(&mut self, order: &[Base], start: Option<ObjId>, name: Symbol, node: NodeId) {
        let rest = match start {
            Some(start) => match order.iter().position(|base| *base == Base::Class(start)) {
                Some(at) => &order[at + 1..],
                None => return,
            },
            None => order,
        };
        for &base in rest {
            match base {
                Base::Class(class) => {
                    if self.lookup_in(class, name, node) {
                        return;
                    }
                }
                Base::External(chain) => {
                    if !self.is_quiet_protocol(name) {
                        let next = self.heap.extend_chain(chain, Step::Attribute(name));
                        let object = self.heap.object(Object::External(next));
                        self.add_object(node, object);
                    }
                }
                Base::Unknown => self.add_reason(node, UnresolvedKind::UnknownBase),
            }
        }
    }

    /// Special methods that nearly every object answers without running code that matters: not reported for external
    /// bases.
    pub(crate) fn is_quiet_protocol(&self, name: Symbol) -> bool {
        matches!(
            name,
            names::BOOL
                | names::LEN
                | names::EQ
                | names::NE
                | names::HASH
                | names::GETATTR
                | names::GETATTRIBUTE
                | names::NEW
        )
    }

    /// Adds what one class of an order has; whether it certainly has it, so that the look-up ends.
    fn lookup_in(&mut self, class: ObjId, name: Symbol, node: NodeId) -> bool {
        let code = self.classes.get(class).and_then(|info| info.code);
        if !self.may_hold(class, code, name) {
            return false;
        }
        let slot = self.attribute_slot(class, name);
        self.add_edge(slot, node);
        code.is_some_and(|code| self.binds_definitely(code, name))
    }

    /// Whether a look-up of `name` on the class may find something in a class of the program or the models other than
    /// `object`.
    pub(crate) fn class_may_have(&self, class: ObjId, name: Symbol) -> bool {
        self.program.facts.stored_methods.contains(&name)
            || self.remembered(&self.may_have, class, name, || self.find_may_have(class, name))
    }

    /// What is known of a class and a name, found out anew when the class has another linearisation.
    fn remembered(&self, memo: &ClassMemo, class: ObjId, name: Symbol, find: impl FnOnce() -> bool) -> bool {
        let mut memo = memo.0.borrow_mut();
        let generation = self.classes.orders;
        let orders = || self.classes.get(class).map_or(0, |info| info.orders.len());
        if let Some(known) = memo.get_mut(&(class, name)) {
            if known.generation == generation {
                return known.answer;
            }
            if known.orders == orders() {
                known.generation = generation;
                return known.answer;
            }
        }
        let answer = find();
        let remembered = Remembered {
            generation,
            orders: orders(),
            answer,
        };
        memo.insert((class, name), remembered);
        answer
    }

    fn find_may_have(&self, class: ObjId, name: Symbol) -> bool {
        let Some(info) = self.classes.get(class) else {
            return false;
        };
        if info.orders.is_empty() {
            return info.code.is_none_or(|code| self.program.binds(code, name));
        }
        info.orders.iter().flatten().any(|base| match *base {
            Base::Class(object) if object == self.known.object => false,
            Base::Class(object) => self
                .classes
                .get(object)
                .is_some_and(|info| info.code.is_none_or(|code| self.program.binds(code, name))),
            _ => false,
        })
    }

    /// Whether every linearisation has a class that certainly binds `name`.
    pub(crate) fn certainly_has(&self, class: ObjId, name: Symbol) -> bool {
        self.remembered(&self.certainly, class, name, || self.find_certainly_has(class, name))
    }

    fn find_certainly_has(&self, class: ObjId, name: Symbol) -> bool {
        let Some(info) = self.classes.get(class) else {
            return false;
        };
        !info.orders.is_empty()
            && info.orders.iter().all(|order| {
                order.iter().any(|base| match *base {
                    Base::Class(object) => self
                        .classes
                        .get(object)
                        .and_then(|info| info.code)
                        .is_some_and(|code| self.binds_definitely(code, name)),
                    _ => false,
                })
            })
    }

    /// Whether the first class of every order that binds `name` makes it a property.
    pub(crate) fn is_property(&self, class: ObjId, name: Symbol) -> bool {
        if !self.property_names.contains(&name) {
            return false;
        }
        let Some(info) = self.classes.get(class) else {
            return false;
        };
        !info.orders.is_empty()
            && info.orders.iter().all(|order| {
                order
                    .iter()
                    .find_map(|base| match *base {
                        Base::Class(object) => {
                            let code = self.classes.get(object)?.code?;
                            self.program
                                .binds(code, name)
                                .then(|| self.templates[code].properties.binary_search(&name).is_ok())
                        }
                        _ => Some(false),
                    })
                    .unwrap_or(false)
            })
    }

    /// The class of an object, if it has exactly one that is known (class objects may have several metaclasses).
    pub(crate) fn class_of(&self, object: ObjId) -> Option<ObjId> {
        Some(match self.heap.get(object) {
            Object::Instance(class, _) => class,
            Object::Str(_) => self.known.str,
            Object::Int(_) => self.known.int,
            Object::Module(_) => self.known.module_type,
            Object::Function(..) => self.known.function,
            Object::Bound(..) => self.known.method,
            Object::Intrinsic(_) => self.known.builtin_function,
            Object::Iterator(_) => self.known.iterator,
            Object::Generator(act) => {
                let flags = self.program.codes[self.acts[act].code].flags;
                if flags & hognose_pyc::flags::ASYNC_GENERATOR != 0 {
                    self.known.async_generator
                } else if flags & hognose_pyc::flags::COROUTINE != 0 {
                    self.known.coroutine
                } else {
                    self.known.generator
                }
            }
            Object::AsyncNext(_) => self.known.coroutine,
            Object::Class(..) | Object::DynamicClass(_) => {
                let info = self.classes.get(object)?;
                info.metaclasses
                    .iter()
                    .copied()
                    .find(|&meta| meta != self.known.type_)
                    .unwrap_or(self.known.type_)
            }
            Object::Super(..) => self.known.super_,
            Object::Cell(..) | Object::External(_) => return None,
        })
    }
}

/// C3: takes the first head that is in no tail. Without an answer the remaining classes follow in order of appearance.
fn merge(mut parents: Vec<Vec<Base>>, firsts: Vec<Base>) -> (Vec<Base>, bool) {
    parents.push(firsts);
    let mut order = Vec::new();
    let mut conflict = false;
    loop {
        parents.retain(|list| !list.is_empty());
        if parents.is_empty() {
            return (order, conflict);
        }
        let good = parents
            .iter()
            .map(|list| list[0])
            .find(|head| !parents.iter().any(|list| list[1..].contains(head)));
        let next = match good {
            Some(next) => next,
            None => {
                conflict = true;
                parents[0][0]
            }
        };
        order.push(next);
        for list in &mut parents {
            list.retain(|base| *base != next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(parents: &[&[u32]]) -> (Vec<u32>, bool) {
        let lists: Vec<Vec<Base>> = parents
            .iter()
            .map(|list| list.iter().map(|&raw| Base::Class(ObjId::new(raw))).collect())
            .collect();
        let firsts = lists.iter().map(|list| list[0]).collect();
        let (order, conflict) = merge(lists, firsts);
        let raw = |base| match base {
            Base::Class(object) => object.raw(),
            _ => u32::MAX,
        };
        (order.into_iter().map(raw).collect(), conflict)
    }

    #[test]
    fn a_diamond_is_linearised_as_python_does() {
        // class O; class B(O); class C(O); class D(B, C): B, C, O
        assert_eq!(order(&[&[2, 1], &[3, 1]]), (vec![2, 3, 1], false));
    }

    #[test]
    fn the_example_of_the_mro_document_has_no_order() {
        // class A(X, Y); class B(Y, X); class Z(A, B)
        assert!(order(&[&[3, 1, 2], &[4, 2, 1]]).1);
    }
}
