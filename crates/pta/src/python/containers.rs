//! Element slots of builtin containers.
//!
//! An element stored under a constant key has a slot of its own; `ANY_IN` takes elements stored under a key that is not
//! known, `ALL_OUT` holds every element: each key slot includes `ANY_IN`, and `ALL_OUT` includes them all. The number of
//! edges is linear in the number of keys. Keys of mappings have a slot too. Data model 3.3.7 "Emulating container types".

use crate::engine::{CallKind, Engine, GroupKey, KeyWatcher, NO_NODE, Sink, Task};
use crate::heap::{Allocation, Field, Object, Step};
use crate::ids::{NodeId, ObjId, SiteId};
use crate::python::names;
use crate::template::{Key, Operation};
use hognose_base::{ReasonSet, UnresolvedKind};

/// Keys of a container that are told apart.
const MAX_KEYS: usize = 256;
/// The same for `*args` and `**kwargs` objects, which pass their elements on to one another.
const MAX_VARIADIC_KEYS: usize = 12;

impl Engine<'_> {
    /// The slot of an element, with the edges that make it part of the container.
    pub(crate) fn element_slot(&mut self, object: ObjId, field: Field) -> NodeId {
        if let Some(node) = self.heap.slot(object, field) {
            return node;
        }
        // Beyond so many keys an element may be under any: the slot of unknown keys feeds every load.
        let crowded = field.is_key()
            && self.heap.keys.get(&object).is_some_and(|keys| {
                let variadic = matches!(self.heap.get(object), Object::Instance(_, Allocation::Variadic(..)));
                keys.len() >= if variadic { MAX_VARIADIC_KEYS } else { MAX_KEYS }
            });
        if crowded {
            return self.element_slot(object, Field::ANY_IN);
        }
        if field == Field::ANY_IN {
            let any = self.slot(object, Field::ANY_IN);
            let all = self.slot(object, Field::ALL_OUT);
            self.add_edge(any, all);
            return any;
        }
        self.slot(object, field)
    }

    /// Called once for each new key slot.
    pub(crate) fn connect_key(&mut self, object: ObjId, field: Field, node: NodeId) {
        let any = self.element_slot(object, Field::ANY_IN);
        self.add_edge(any, node);
        let all = self.slot(object, Field::ALL_OUT);
        self.add_edge(node, all);
        self.connect_namespace(object, field, node);
        // Told later: a watcher may make keys of its own, and the stack must not grow with them.
        if let Some(watchers) = self.key_watchers.get(&object) {
            self.new_keys
                .extend(watchers.iter().map(|&watcher| (field, node, watcher)));
        }
    }

    /// Tells a watcher of every keyed element, now and later.
    pub(crate) fn watch_keys(&mut self, object: ObjId, watcher: KeyWatcher) {
        self.key_watchers.entry(object).or_default().push(watcher);
        for field in self.heap.keys.get(&object).cloned().unwrap_or_default() {
            if let Some(node) = self.heap.slot(object, field) {
                self.spread_key(field, node, watcher);
            }
        }
    }

    /// Elements of an object that have no key of their own: of a container those stored under an unknown key, of
    /// anything else all that iterating it gives.
    pub(crate) fn unkeyed_elements(&mut self, object: ObjId) -> NodeId {
        match self.heap.get(object) {
            Object::Instance(class, _) if self.is_container_class(class) => self.element_slot(object, Field::ANY_IN),
            _ => self.elements(object),
        }
    }

    pub(crate) fn is_container_class(&self, class: ObjId) -> bool {
        self.known.is_container(class)
            || [
                self.known.list,
                self.known.dict,
                self.known.tuple,
                self.known.set,
                self.known.frozenset,
            ]
            .iter()
            .any(|&builtin| self.classes.is_subclass(class, builtin))
    }

    /// All that iterating a builtin object gives.
    pub(crate) fn elements(&mut self, object: ObjId) -> NodeId {
        match self.heap.get(object) {
            Object::Instance(class, _)
                if class == self.known.dict || self.classes.is_subclass(class, self.known.dict) =>
            {
                self.slot(object, Field::KEYS)
            }
            Object::Iterator(container) => self.elements(container),
            Object::Generator(act) => self.node(act, crate::template::YIELDED),
            Object::External(chain) => {
                let next = self.heap.extend_chain(chain, Step::Iterate);
                let item = self.heap.object(Object::External(next));
                self.single(item)
            }
            Object::Str(_) => {
                let text = self.scalar(self.known.str);
                self.single(text)
            }
            Object::Instance(class, _) if class == self.known.str => {
                let text = self.scalar(self.known.str);
                self.single(text)
            }
            Object::Instance(class, _) if class == self.known.bytes => {
                let number = self.scalar(self.known.int);
                self.single(number)
            }
            _ => {
                self.element_slot(object, Field::ANY_IN);
                self.slot(object, Field::ALL_OUT)
            }
        }
    }

    /// All values of a container, whatever the key.
    pub(crate) fn values(&mut self, object: ObjId) -> NodeId {
        self.element_slot(object, Field::ANY_IN);
        self.slot(object, Field::ALL_OUT)
    }

    /// Stores under a key that is a variable: constant keys that arrive get their own slot.
    pub(crate) fn store_under(&mut self, object: ObjId, key: NodeId, value: NodeId) {
        self.on(
            key,
            Task::Subscript {
                site: None,
                base: object,
                load: false,
                node: value,
            },
        );
    }

    /// The slot that a key object names; `None` for a key that is not a constant.
    pub(crate) fn key_field(&self, object: ObjId, key: ObjId) -> Option<Field> {
        match self.heap.get(key) {
            Object::Str(name) => Some(Field::str_key(name)),
            Object::Int(value) if value >= 0 || self.is_mapping(object) => Some(Field::int_key(value)),
            // A negative index counts from the end, which is known of tuples that are written out.
            Object::Int(value) => {
                let length = i32::try_from(self.tuple_length(object)?).ok()?;
                (length + value >= 0).then(|| Field::int_key(length + value))
            }
            _ => None,
        }
    }

    /// The length of a tuple display or constant.
    fn tuple_length(&self, object: ObjId) -> Option<usize> {
        match self.heap.get(object) {
            Object::Instance(class, Allocation::Inst(act, inst, ordinal)) if class == self.known.tuple => self
                .templates[self.acts[act].code]
                .displays
                .iter()
                .find(|display| display.inst == inst && display.ordinal == ordinal && display.class == "tuple")
                .map(|display| display.elements.len()),
            Object::Instance(_, Allocation::Constant(code, index)) => {
                Some(self.templates[code].tuples[index as usize].len())
            }
            _ => None,
        }
    }

    pub(crate) fn is_mapping(&self, object: ObjId) -> bool {
        self.class_of(object)
            .is_some_and(|class| self.classes.is_subclass(class, self.known.dict))
    }

    /// Key objects of `base[key]` arrived.
    pub(crate) fn subscript(
        &mut self,
        keys: &[ObjId],
        reasons: ReasonSet,
        site: Option<SiteId>,
        base: ObjId,
        load: bool,
        node: NodeId,
    ) {
        let mut unknown = !reasons.is_empty();
        for &key in keys {
            if let Some(site) = site {
                if self.is_mapping(base) {
                    self.key_arrived(site, Some(base), key);
                } else {
                    self.index_arrived(site, key);
                }
            }
            match self.key_field(base, key) {
                Some(field) => {
                    let slot = self.element_slot(base, field);
                    let (from, to) = if load { (slot, node) } else { (node, slot) };
                    self.add_edge(from, to);
                }
                None if self.heap.get(key) == Object::Instance(self.known.slice, Allocation::Singleton) => {
                    self.slice(base, load, node);
                }
                None => unknown = true,
            }
            if !load && self.is_mapping(base) {
                let slot = self.slot(base, Field::KEYS);
                self.add_object(slot, key);
            }
        }
        if !load && !reasons.is_empty() && self.is_mapping(base) {
            let slot = self.slot(base, Field::KEYS);
            self.add_reasons(slot, reasons);
        }
        if unknown {
            let slot = if load {
                self.values(base)
            } else {
                self.element_slot(base, Field::ANY_IN)
            };
            let (from, to) = if load { (slot, node) } else { (node, slot) };
            self.add_edge(from, to);
        }
    }

    /// A slice of a sequence: another sequence of the same class with the same elements somewhere. The object is named
    /// by the sequence it was cut from, so slices of slices do not pile up.
    fn slice(&mut self, base: ObjId, load: bool, node: NodeId) {
        if !load {
            let any = self.element_slot(base, Field::ANY_IN);
            self.on(node, Task::Elements { result: any });
            return;
        }
        let all = self.values(base);
        let object = self.slice_of(base);
        let any = self.element_slot(object, Field::ANY_IN);
        self.add_edge(all, any);
        self.add_object(node, object);
    }

    fn slice_of(&mut self, base: ObjId) -> ObjId {
        let Object::Instance(class, allocation) = self.heap.get(base) else {
            return base;
        };
        if matches!(allocation, Allocation::Slice(_)) {
            return base;
        }
        let own = if self.known.is_container(class) {
            class
        } else {
            self.known.list
        };
        self.heap.object(Object::Instance(own, Allocation::Slice(base)))
    }

    // ---- subscripts as operations -----------------------------------------------------------------------------------

    /// Bases of a subscript arrived.
    pub(crate) fn item_base(&mut self, site: SiteId, objects: &[ObjId], reasons: ReasonSet) {
        for &object in objects {
            self.item(site, object);
        }
        if !reasons.is_empty() {
            self.note_reasons(site, reasons);
            if let Operation::LoadItem { result, .. } = *self.operation(site) {
                let result = self.site_node(site, result);
                self.add_reasons(result, reasons);
                self.forward_unchecked(site, result);
            }
        }
    }

    fn item(&mut self, site: SiteId, object: ObjId) {
        match self.heap.get(object) {
            Object::External(chain) => self.external_item(site, chain),
            Object::Class(..) | Object::DynamicClass(_) => self.class_item(site, object),
            Object::Str(_) => self.scalar_item(site, self.known.str),
            Object::Instance(class, _) if self.known.is_container(class) => {
                if !self.forward_item(site) {
                    self.native_item(site, object);
                }
            }
            Object::Instance(class, _) if self.known.is_scalar(class) => self.scalar_item(site, class),
            _ => {
                self.read_slots(site);
                self.protocol_item(site, object);
            }
        }
    }

    /// The element slots of a builtin container.
    pub(crate) fn native_item(&mut self, site: SiteId, object: ObjId) {
        let (key, node, load) = match *self.operation(site) {
            Operation::LoadItem { key, result, .. } => (key, result, true),
            Operation::StoreItem { key, value, .. } => (key, value, false),
            Operation::DeleteItem { key, .. } => {
                if let Key::Node(local) = key {
                    let key = self.site_node(site, local);
                    self.key_containers(&[object], site, key);
                }
                return;
            }
            _ => return,
        };
        let node = self.site_node(site, node);
        if node == NO_NODE {
            return;
        }
        let object_key = match key {
            Key::Str(name) => Some(Object::Str(name)),
            Key::Int(value) => Some(Object::Int(value)),
            Key::Node(local) => {
                let keys = self.site_node(site, local);
                self.look_up(site, object, keys);
                self.on(
                    keys,
                    Task::Subscript {
                        site: Some(site),
                        base: object,
                        load,
                        node,
                    },
                );
                return;
            }
            Key::Any => None,
        };
        match object_key {
            Some(key) => {
                let key = self.heap.object(key);
                let keys = self.single(key);
                self.look_up(site, object, keys);
                self.subscript(&[key], ReasonSet::EMPTY, None, object, load, node);
            }
            None => {
                let slot = if load {
                    self.values(object)
                } else {
                    self.element_slot(object, Field::ANY_IN)
                };
                let (from, to) = if load { (slot, node) } else { (node, slot) };
                self.add_edge(from, to);
            }
        }
    }

    fn scalar_item(&mut self, site: SiteId, class: ObjId) {
        if let Operation::LoadItem { key, result, .. } = *self.operation(site) {
            if let Key::Node(local) = key
                && self.indexed.insert(site)
            {
                let keys = self.site_node(site, local);
                self.on(keys, Task::Index { site });
            }
            let result = self.site_node(site, result);
            let kind = if class == self.known.bytes {
                self.known.int
            } else {
                class
            };
            let item = self.scalar(kind);
            self.add_object(result, item);
        }
    }

    fn external_item(&mut self, site: SiteId, chain: crate::ids::ChainId) {
        match *self.operation(site) {
            Operation::LoadItem { result, .. } => {
                let next = self.heap.extend_chain(chain, Step::Item);
                let item = self.heap.object(Object::External(next));
                let result = self.site_node(site, result);
                self.add_object(result, item);
            }
            Operation::StoreItem { value, .. } => {
                let value = self.site_node(site, value);
                self.escape_node(value);
            }
            _ => {}
        }
    }

    /// `__getitem__` and its kin of a class of the program.
    fn protocol_item(&mut self, site: SiteId, object: ObjId) {
        let Some(class) = self.class_of(object) else { return };
        let (name, result, value) = match *self.operation(site) {
            Operation::LoadItem { result, .. } => (names::GETITEM, self.site_node(site, result), NO_NODE),
            Operation::StoreItem { value, .. } => (names::SETITEM, NO_NODE, self.site_node(site, value)),
            _ => (names::DELITEM, NO_NODE, NO_NODE),
        };
        let key = self.item_key(site);
        let arguments = [key, value];
        let arguments = &arguments[..1 + usize::from(value != NO_NODE)];
        self.ask(GroupKey::Item(site), class, name, object, site, arguments, result);
    }

    /// A node with the key of a subscript.
    pub(crate) fn item_key(&mut self, site: SiteId) -> NodeId {
        let (Operation::LoadItem { key, .. } | Operation::StoreItem { key, .. } | Operation::DeleteItem { key, .. }) =
            *self.operation(site)
        else {
            return NO_NODE;
        };
        let object = match key {
            Key::Node(local) => return self.site_node(site, local),
            Key::Str(name) => Object::Str(name),
            Key::Int(value) => Object::Int(value),
            Key::Any => Object::Instance(self.known.object, Allocation::Singleton),
        };
        let object = self.heap.object(object);
        self.single(object)
    }

    /// Data model 3.3.5: `C[...]` asks the metaclass, then `__class_getitem__`; without either the class stands for its
    /// parametrised forms.
    fn class_item(&mut self, site: SiteId, class: ObjId) {
        let Operation::LoadItem { result, .. } = *self.operation(site) else {
            return;
        };
        let result = self.site_node(site, result);
        let getitem = names::GETITEM;
        let key = self.item_key(site);
        if let Some(meta) = self.class_of(class)
            && self.class_may_have(meta, getitem)
        {
            let receiver = self.single(class);
            self.method_call(
                meta,
                receiver,
                getitem,
                site,
                &[key],
                result,
                CallKind::Protocol(getitem),
            );
            return;
        }
        let hook = names::CLASS_GETITEM;
        if self.class_may_have(class, hook) {
            let request = self.site_request(site, &[key], result, CallKind::Protocol(hook));
            let receiver = self.single(class);
            let found = self.lookup(class, hook);
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
            return;
        }
        self.add_object(result, class);
    }

    // ---- copying --------------------------------------------------------------------------------------------------------

    /// Containers arrived into which the elements of the containers at `from` go.
    pub(crate) fn copy_targets(&mut self, targets: &[ObjId], from: NodeId, site: SiteId) {
        for &to in targets {
            self.on(from, Task::CopyInto { to, site });
        }
    }

    /// The node of iterators whose items are copied to a container.
    fn copy_iterator(&mut self, to: ObjId, any: NodeId, site: SiteId) -> NodeId {
        if let Some(&node) = self.copy_iterators.get(&(to, site)) {
            return node;
        }
        let iterator = self.solver.node();
        self.copy_iterators.insert((to, site), iterator);
        let raises = self.site_raises(site);
        self.on(
            iterator,
            Task::Next {
                site,
                result: any,
                raises,
            },
        );
        iterator
    }

    /// Containers arrived whose elements go to `to`, positions and keys kept.
    pub(crate) fn copy_sources(&mut self, sources: &[ObjId], reasons: ReasonSet, to: ObjId, site: SiteId) {
        for &from in sources {
            if !self.copy_seen.insert((from, to)) || from == to {
                continue;
            }
            let any = self.element_slot(to, Field::ANY_IN);
            match self.heap.get(from) {
                Object::Instance(class, _) if self.is_container_class(class) => {
                    let unkeyed = self.element_slot(from, Field::ANY_IN);
                    if self.is_mapping(from) && !self.is_mapping(to) {
                        let keys = self.slot(from, Field::KEYS);
                        self.add_edge(keys, any);
                        continue;
                    }
                    self.add_edge(unkeyed, any);
                    self.watch_keys(from, KeyWatcher::Container(to));
                    if self.is_mapping(from) {
                        let (keys, own) = (self.slot(from, Field::KEYS), self.slot(to, Field::KEYS));
                        self.add_edge(keys, own);
                    }
                }
                _ => {
                    let iterator = self.copy_iterator(to, any, site);
                    self.iterate_object(site, from, iterator);
                }
            }
        }
        if !reasons.is_empty() {
            let any = self.element_slot(to, Field::ANY_IN);
            self.add_reasons(any, reasons.union(UnresolvedKind::UnknownKey.into()));
            if self.is_mapping(to) {
                let keys = self.slot(to, Field::KEYS);
                self.add_reasons(keys, reasons);
            }
        }
    }
}
