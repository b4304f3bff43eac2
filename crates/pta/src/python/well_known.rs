//! Builtin classes that the language itself refers to, found by name in the `builtins` model.

use crate::engine::Engine;
use crate::heap::Object;
use crate::ids::{ActId, ModuleId, ObjId};
use crate::template::Constant;
use hognose_base::Id;
use rustc_hash::FxHashMap;

macro_rules! known {
    ($($field:ident = $name:literal,)*) => {
        /// The class objects of the builtins that syntax makes or asks for.
        #[derive(Clone, Debug, Default)]
        #[allow(missing_docs)]
        pub(crate) struct WellKnown {
            pub(crate) module: Option<ModuleId>,
            $(pub(crate) $field: ObjId,)*
            by_name: FxHashMap<&'static str, ObjId>,
            all: FxHashMap<String, ObjId>,
        }

        impl WellKnown {
            /// Finds the classes. The classes of a missing model are distinct objects without members.
            pub(crate) fn find(engine: &mut Engine<'_>) -> Self {
                let mut known = Self { module: engine.program.builtins_module(), ..Self::default() };
                known.collect(engine);
                $(
                    known.$field = known.class(engine, $name);
                    known.by_name.insert($name, known.$field);
                )*
                known
            }
        }
    };
}

known! {
    object = "object",
    type_ = "type",
    function = "function",
    method = "method",
    builtin_function = "builtin_function_or_method",
    module_type = "module",
    generator = "generator",
    coroutine = "coroutine",
    async_generator = "async_generator",
    iterator = "iterator",
    none = "NoneType",
    bool_ = "bool",
    int = "int",
    float = "float",
    complex = "complex",
    str = "str",
    bytes = "bytes",
    ellipsis = "ellipsis",
    not_implemented = "NotImplementedType",
    slice = "slice",
    list = "list",
    tuple = "tuple",
    dict = "dict",
    set = "set",
    frozenset = "frozenset",
    property = "property",
    classmethod = "classmethod",
    staticmethod = "staticmethod",
    super_ = "super",
    base_exception = "BaseException",
}

impl WellKnown {
    fn collect(&mut self, engine: &mut Engine<'_>) {
        let Some(module) = self.module else { return };
        let body = engine.program.module_code(module);
        let codes: Vec<_> = engine
            .program
            .codes
            .iter_enumerated()
            .filter(|(_, code)| code.parent == Some(body) && code.kind == crate::program::CodeKind::Class)
            .map(|(id, code)| (id, engine.program.text(code.name).to_owned()))
            .collect();
        for (code, name) in codes {
            // The body of the builtins model is the first activation of a run.
            let object = engine.heap.object(Object::Class(code, ActId::new(0)));
            self.all.insert(name, object);
        }
    }

    fn class(&self, engine: &mut Engine<'_>, name: &str) -> ObjId {
        match self.all.get(name) {
            Some(&object) => object,
            // Only without models (tests of the engine): a class of its own that has no members.
            None => {
                let count = engine.heap.len();
                engine
                    .heap
                    .object(Object::DynamicClass(crate::ids::SiteId::from_index(count | (1 << 31))))
            }
        }
    }

    /// Whether instances are immutable scalars, which are not told apart.
    pub(crate) fn is_scalar(&self, class: ObjId) -> bool {
        class == self.int
            || class == self.str
            || class == self.bool_
            || class == self.float
            || class == self.none
            || class == self.bytes
            || class == self.complex
            || class == self.ellipsis
            || class == self.not_implemented
            || class == self.slice
    }
    /// Whether instances are builtin containers with element slots.
    pub(crate) fn is_container(&self, class: ObjId) -> bool {
        class == self.list || class == self.dict || class == self.tuple || class == self.set || class == self.frozenset
    }
    /// The builtin class of this name, if the model has it.
    pub(crate) fn named(&self, name: &str) -> Option<ObjId> {
        self.all.get(name).copied()
    }
    /// The class of a constant.
    pub(crate) fn of_constant(&self, constant: Constant) -> ObjId {
        match constant {
            Constant::None => self.none,
            Constant::Bool => self.bool_,
            Constant::Int(_) | Constant::BigInt => self.int,
            Constant::Float => self.float,
            Constant::Complex => self.complex,
            Constant::Bytes => self.bytes,
            Constant::Name(_) | Constant::Str => self.str,
            Constant::Ellipsis => self.ellipsis,
            Constant::Slice => self.slice,
            Constant::Tuple(_) => self.tuple,
            Constant::FrozenSet(_) => self.frozenset,
            Constant::Builtin(_) => self.type_,
        }
    }
}
