//! The class hierarchy as a product.
//!
//! ```python
//! class Shape(ABC):                 # bases: abc.ABC (external or modelled)
//!     @abstractmethod
//!     def area(self): ...           # abstract
//! class Square(Shape):              # abstract still: it does not define `area`
//!     side = 1
//! ```
//! Vocabulary: a *base* is a class of the program, a library class (modelled or external), or not known. The *order* is the
//! C3 linearisation (Python 2.3 MRO document; CPython: `Objects/typeobject.c`, `mro_implementation`); a class whose bases are
//! known only as alternatives has several. A method is *abstract* if `abc.abstractmethod` (or a relative of it) is among its
//! decorators and no class earlier in the order binds the name otherwise; a class with an abstract method and a metaclass
//! `ABCMeta` cannot be instantiated. Here the metaclass is not asked for: a class with abstract methods counts as not
//! instantiable, which is what its author meant.

use hognose_base::Symbol;
use hognose_ir::{Body, Def, InstId, Op, ValueId};
use hognose_pta::{Base, CodeId, ObjId, Object, PointsTo, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

#[cfg(test)]
mod tests;

/// A class that another one refers to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClassRef {
    /// A class of the program.
    Program(ObjId),
    /// A class of a library, by its dotted name.
    Library(String),
    /// A base that is computed, so that no class is known for it.
    Unknown,
}

/// What is known of the method resolution order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MroState {
    /// One order.
    Known,
    /// Several bases are possible; more orders than are listed if `united`.
    Several {
        /// Whether not all of them are listed.
        united: bool,
    },
    /// C3 has no answer: the class statement raises `TypeError`. The order listed is a guess.
    Conflict,
}

/// One class of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassNode {
    /// The class object.
    pub object: ObjId,
    /// Its body; none for classes made by calls.
    pub code: Option<CodeId>,
    /// Dotted name.
    pub name: String,
    /// Where it is made, for a class made by a call.
    pub made_at: Option<(CodeId, InstId)>,
    /// Bases by position; several at one position are alternatives.
    pub bases: Vec<Vec<ClassRef>>,
    /// Method resolution orders, the class first.
    pub orders: Vec<Vec<ClassRef>>,
    /// What is known of the orders.
    pub mro: MroState,
    /// Direct subclasses in the program.
    pub subclasses: Vec<ObjId>,
    /// Metaclasses given in the class statement.
    pub metaclasses: Vec<ClassRef>,
    /// Classes of the program whose metaclass this is.
    pub makes: Vec<ObjId>,
    /// Names of the methods that are abstract, inherited ones included, sorted.
    pub abstract_methods: Vec<Symbol>,
    /// Whether nothing abstract is left.
    pub instantiable: bool,
}

/// The class hierarchy of a program.
#[derive(Clone, Debug, Default)]
pub struct ClassGraph {
    classes: Vec<ClassNode>,
    by_object: FxHashMap<ObjId, usize>,
}

impl ClassGraph {
    /// Reads the hierarchy off a points-to result.
    #[must_use]
    pub fn of(pta: &PointsTo) -> Self {
        let mut classes: Vec<ClassNode> = pta
            .classes()
            .iter()
            .filter(|info| is_program_class(pta, info.object))
            .filter_map(|info| node(pta, info.object))
            .collect();
        classes.sort_by_key(|class| (class.code.is_none(), class.code, class.object));
        let by_object: FxHashMap<ObjId, usize> = classes
            .iter()
            .enumerate()
            .map(|(at, class)| (class.object, at))
            .collect();
        for at in 0..classes.len() {
            let object = classes[at].object;
            for metaclass in classes[at].metaclasses.clone() {
                if let ClassRef::Program(metaclass) = metaclass
                    && let Some(&meta) = by_object.get(&metaclass)
                {
                    classes[meta].makes.push(object);
                }
            }
        }
        Self { classes, by_object }
    }
    /// The classes, those with a body first in order of their code.
    #[must_use]
    pub fn classes(&self) -> &[ClassNode] {
        &self.classes
    }
    /// A class by its object.
    #[must_use]
    pub fn class(&self, object: ObjId) -> Option<&ClassNode> {
        self.by_object.get(&object).map(|&at| &self.classes[at])
    }
    /// A class by its dotted name; the first if there are several.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&ClassNode> {
        self.classes.iter().find(|class| class.name == name)
    }
    /// The class and all its subclasses in the program, transitively, sorted.
    #[must_use]
    pub fn subclasses_of(&self, object: ObjId) -> Vec<ObjId> {
        let mut found = BTreeSet::from([object]);
        let mut stack = vec![object];
        while let Some(class) = stack.pop() {
            for &subclass in self.class(class).map_or(&[][..], |class| &class.subclasses) {
                if found.insert(subclass) {
                    stack.push(subclass);
                }
            }
        }
        found.into_iter().collect()
    }
}

/// Sites from here on stand for no operation.
const STAND_IN: u32 = 1 << 31;

fn is_program_class(pta: &PointsTo, object: ObjId) -> bool {
    match pta.object(object) {
        Object::Class(..) => !pta.is_model_class(object),
        // Classes that the engine stands in with for missing models have no site.
        Object::DynamicClass(site) => {
            site.raw() < STAND_IN && !pta.program().is_model(pta.site_place(pta.origin(site)).0)
        }
        _ => false,
    }
}

fn reference(pta: &PointsTo, base: Base) -> ClassRef {
    match base {
        Base::Class(object) if is_program_class(pta, object) => ClassRef::Program(object),
        Base::Class(object) => ClassRef::Library(pta.class_name(object)),
        Base::External(chain) => ClassRef::Library(pta.chain_text(chain)),
        Base::Unknown => ClassRef::Unknown,
    }
}

fn node(pta: &PointsTo, object: ObjId) -> Option<ClassNode> {
    let info = pta.class_info(object)?;
    let refs = |bases: &[Base]| bases.iter().map(|&base| reference(pta, base)).collect::<Vec<_>>();
    let mro = if info.conflict {
        MroState::Conflict
    } else if info.united || info.orders.len() > 1 {
        MroState::Several { united: info.united }
    } else {
        MroState::Known
    };
    let mut subclasses: Vec<ObjId> = info
        .subclasses
        .iter()
        .copied()
        .filter(|&class| is_program_class(pta, class))
        .collect();
    subclasses.sort_unstable();
    subclasses.dedup();
    let mut metaclasses: Vec<ClassRef> = info
        .metaclasses
        .iter()
        .map(|&class| reference(pta, Base::Class(class)))
        .filter(|class| !matches!(class, ClassRef::Library(name) if matches!(name.as_str(), "builtins.type" | "type" | "?")))
        .collect();
    metaclasses.sort();
    metaclasses.dedup();
    let abstract_methods = abstract_methods(pta, object);
    Some(ClassNode {
        object,
        code: info.code,
        name: pta.class_name(object),
        made_at: match pta.object(object) {
            Object::DynamicClass(site) => Some(pta.site_place(pta.origin(site))),
            _ => None,
        },
        bases: info.bases.iter().map(|bases| refs(bases)).collect(),
        orders: info.orders.iter().map(|order| refs(order)).collect(),
        mro,
        subclasses,
        metaclasses,
        makes: Vec::new(),
        instantiable: abstract_methods.is_empty(),
        abstract_methods,
    })
}

/// The names that are abstract in some order of the class.
fn abstract_methods(pta: &PointsTo, object: ObjId) -> Vec<Symbol> {
    let Some(info) = pta.class_info(object) else {
        return Vec::new();
    };
    let mut found = BTreeSet::new();
    for order in &info.orders {
        let mut bound: FxHashSet<Symbol> = FxHashSet::default();
        for &base in order {
            let Base::Class(class) = base else { continue };
            let Some(code) = pta.class_info(class).and_then(|info| info.code) else {
                continue;
            };
            let own = own_abstract(pta.program(), code);
            for &name in &pta.program().codes[code].bound_names {
                if bound.insert(name) && own.contains(&name) {
                    found.insert(name);
                }
            }
        }
    }
    found.into_iter().collect()
}

/// Names of a class body whose value has passed through `abstractmethod`.
fn own_abstract(program: &Program, code: CodeId) -> FxHashSet<Symbol> {
    let body = program.body(code);
    let module = &program.modules[program.codes[code].module];
    let mut found = FxHashSet::default();
    for (inst, one) in body.insts.iter_enumerated() {
        if let Op::StoreName(name) = one.op
            && body.ssa.inputs(inst).first().is_some_and(|&value| {
                passes_decorator(body, value, &|name| {
                    matches!(
                        &*module.ir.names[name],
                        "abstractmethod" | "abstractproperty" | "abstractclassmethod" | "abstractstaticmethod"
                    )
                })
            })
        {
            found.insert(module.names[hognose_base::Id::index(name)]);
        }
    }
    found
}

/// Whether a value is the result of nested decorator calls one of which is called by such a name.
fn passes_decorator(body: &Body, value: ValueId, wanted: &dyn Fn(hognose_ir::NameId) -> bool) -> bool {
    let mut stack = vec![value];
    // A decorator's operands are defined before it; the bound is for bodies made by hand.
    for _ in 0..body.insts.len() {
        let Some(value) = stack.pop() else { return false };
        let Def::Inst { inst, .. } = body.ssa.values[value] else {
            continue;
        };
        let (Op::Call { .. }, Some((&callee, rest))) = (body.insts[inst].op, body.ssa.inputs(inst).split_first())
        else {
            continue;
        };
        if let Def::Inst { inst: load, .. } = body.ssa.values[callee]
            && let Op::LoadName(name) | Op::LoadGlobal(name) | Op::LoadAttr(name) | Op::LoadMethod(name) =
                body.insts[load].op
            && wanted(name)
        {
            return true;
        }
        stack.extend(rest);
    }
    false
}
