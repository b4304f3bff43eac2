//! What the builders of all code objects share, and what each of them hands back.

use super::layout::Layout;
use super::{DataKind, DdgNodeId};
use hognose_base::{Id, IndexVec, Symbol};
use hognose_ir::{Body, Def, InstId, Op, ValueId};
use hognose_pta::{
    Access, Allocation, Base, CallRecord, CodeId, CodeKind, Field, ModuleId, ObjId, Object, PointsTo, Program,
};
use hognose_pyc::Object as Constant;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::ops::Range;

/// A heap slot.
pub(super) type SlotKey = (ObjId, Field);

/// An edge between a node and a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeapEdge {
    pub(super) node: DdgNodeId,
    pub(super) slot: SlotKey,
    /// Whether the node writes the slot.
    pub(super) write: bool,
    pub(super) kind: DataKind,
}

/// The slots of an access that goes through a join.
#[derive(Debug)]
pub(super) enum WideSlots {
    Listed(Vec<SlotKey>),
    /// A field of all tuples of `*args`, or dicts of `**kwargs`, of a function. Each call that binds to it means all of
    /// them, so they are not listed at each.
    Rest(RestSlots),
}

/// A field of the tuples (dicts) that take the arguments of a function that have no parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct RestSlots {
    pub(super) function: CodeId,
    /// The dicts instead of the tuples.
    pub(super) dicts: bool,
    pub(super) field: Field,
}

impl RestSlots {
    pub(super) fn objects(self, functions: &IndexVec<CodeId, FunctionFacts>) -> &[ObjId] {
        let facts = &functions[self.function];
        if self.dicts {
            &facts.rest_dicts
        } else {
            &facts.rest_tuples
        }
    }
}

/// An access of so many slots that it goes through a join.
#[derive(Debug)]
pub(super) struct Wide {
    pub(super) slots: WideSlots,
    pub(super) node: DdgNodeId,
    pub(super) write: bool,
    pub(super) kind: DataKind,
}

/// Edges found in one code object.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Between numbered nodes.
    pub(super) plain: Vec<(DdgNodeId, DdgNodeId, DataKind)>,
    /// With a slot at one end.
    pub(super) heap: Vec<HeapEdge>,
    /// Between slots.
    pub(super) between: Vec<(SlotKey, SlotKey, DataKind)>,
    /// Through joins.
    pub(super) wide: Vec<Wide>,
}

/// Slots that an access may mean without a join.
pub(super) const NARROW: usize = 8;

impl Found {
    pub(super) fn edge(&mut self, from: Option<DdgNodeId>, to: Option<DdgNodeId>, kind: DataKind) {
        if let (Some(from), Some(to)) = (from, to) {
            self.plain.push((from, to, kind));
        }
    }
    fn heap(&mut self, node: Option<DdgNodeId>, slot: SlotKey, write: bool, kind: DataKind) {
        if let Some(node) = node {
            self.heap.push(HeapEdge {
                node,
                slot,
                write,
                kind,
            });
        }
    }
    pub(super) fn store(&mut self, node: Option<DdgNodeId>, slot: SlotKey, kind: DataKind) {
        self.heap(node, slot, true, kind);
    }
    pub(super) fn load(&mut self, slot: SlotKey, node: Option<DdgNodeId>, kind: DataKind) {
        self.heap(node, slot, false, kind);
    }
    pub(super) fn between(&mut self, from: SlotKey, to: SlotKey, kind: DataKind) {
        self.between.push((from, to, kind));
    }
    /// Connects a node with all of `slots`, and empties them.
    pub(super) fn access(&mut self, slots: &mut Vec<SlotKey>, node: Option<DdgNodeId>, write: bool, kind: DataKind) {
        let Some(at) = node else {
            slots.clear();
            return;
        };
        slots.sort_unstable();
        slots.dedup();
        if slots.len() > NARROW {
            self.wide.push(Wide {
                slots: WideSlots::Listed(slots.clone()),
                node: at,
                write,
                kind,
            });
        } else {
            slots.iter().for_each(|&slot| self.heap(node, slot, write, kind));
        }
        slots.clear();
    }
    /// Stores to one field of all objects that take the remaining arguments of a function.
    pub(super) fn store_rest(&mut self, node: Option<DdgNodeId>, rest: RestSlots, objects: &[ObjId]) {
        let kind = DataKind::ElementStore;
        match node {
            Some(node) if objects.len() > NARROW => self.wide.push(Wide {
                slots: WideSlots::Rest(rest),
                node,
                write: true,
                kind,
            }),
            _ => objects
                .iter()
                .for_each(|&object| self.store(node, (object, rest.field), kind)),
        }
    }
}

/// How a function in a class takes its receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum MethodKind {
    /// An instance, when it is reached through one.
    #[default]
    Plain,
    /// Never.
    Static,
    /// The class, when it is reached through a class or an instance.
    OfClass,
}

#[derive(Debug, Default)]
pub(super) struct FunctionFacts {
    pub(super) method: MethodKind,
    /// Whether an exception object leaves it.
    pub(super) raises: bool,
    /// The tuples of `*args` and the dicts of `**kwargs`.
    pub(super) rest_tuples: Vec<ObjId>,
    pub(super) rest_dicts: Vec<ObjId>,
}

pub(super) struct Context<'a> {
    pub(super) pta: &'a PointsTo,
    pub(super) program: &'a Program,
    pub(super) layout: &'a Layout,
    pub(super) functions: IndexVec<CodeId, FunctionFacts>,
    calls: &'a [CallRecord],
    accesses: Vec<Access>,
    /// Where the calls and accesses of each code object start.
    call_starts: Vec<u32>,
    access_starts: Vec<u32>,
    class_objects: FxHashMap<CodeId, Vec<ObjId>>,
    /// The objects of the modules.
    modules: IndexVec<ModuleId, Option<ObjId>>,
    /// By object: whether it is a generator, or a step of an asynchronous one.
    drivable: Vec<bool>,
    /// Attributes of class objects that are stored outside their body.
    stored_on_classes: FxHashSet<(ObjId, Symbol)>,
}

impl<'a> Context<'a> {
    pub(super) fn new(pta: &'a PointsTo, layout: &'a Layout, calls: &'a [CallRecord]) -> Self {
        let program = pta.program();
        let accesses = pta.accesses();
        let mut class_objects: FxHashMap<CodeId, Vec<ObjId>> = FxHashMap::default();
        for info in pta.classes().iter() {
            if let Some(code) = info.code {
                class_objects.entry(code).or_default().push(info.object);
            }
        }
        let stored_on_classes = accesses
            .iter()
            .filter(|access| access.write)
            .filter_map(|access| Some((access.object, access.field.as_attribute()?)))
            .filter(|&(object, _)| matches!(pta.object(object), Object::Class(..) | Object::DynamicClass(_)))
            .collect();
        let codes: Vec<CodeId> = program.codes.ids().collect();
        let mut functions: IndexVec<CodeId, FunctionFacts> =
            IndexVec::from_raw(codes.par_iter().map(|&code| function_facts(pta, code)).collect());
        for &code in &codes {
            mark_decorated(program, code, &mut functions);
        }
        Self {
            pta,
            program,
            layout,
            functions,
            calls,
            call_starts: starts(codes.len(), calls.iter().map(|call| call.caller)),
            access_starts: starts(codes.len(), accesses.iter().map(|access| access.code)),
            accesses,
            class_objects,
            modules: program
                .modules
                .ids()
                .map(|module| pta.heap().find(&Object::Module(module)))
                .collect(),
            drivable: (0..pta.heap().len())
                .map(|at| {
                    matches!(
                        pta.object(ObjId::from_index(at)),
                        Object::Generator(_) | Object::AsyncNext(_)
                    )
                })
                .collect(),
            stored_on_classes,
        }
    }

    pub(super) fn into_functions(self) -> IndexVec<CodeId, FunctionFacts> {
        self.functions
    }
    pub(super) fn calls_of(&self, code: CodeId) -> &[CallRecord] {
        &self.calls[range(&self.call_starts, code)]
    }
    pub(super) fn accesses_of(&self, code: CodeId) -> &[Access] {
        &self.accesses[range(&self.access_starts, code)]
    }
    /// The class objects that a class body makes.
    pub(super) fn classes_of(&self, code: CodeId) -> &[ObjId] {
        self.class_objects.get(&code).map_or(&[], Vec::as_slice)
    }
    pub(super) fn objects(&self, code: CodeId, value: ValueId) -> Vec<ObjId> {
        self.pta.value(code, value).0
    }
    /// The program's generators among the objects of a value, by their code.
    pub(super) fn generators(&self, code: CodeId, value: ValueId) -> SmallVec<[CodeId; 4]> {
        let mut found = SmallVec::new();
        self.pta.each_object(code, value, |object| {
            if self.drivable[object.index()] {
                found.extend(self.generator(object));
            }
        });
        found.sort_unstable();
        found.dedup();
        found
    }
    fn generator(&self, object: ObjId) -> Option<CodeId> {
        let act = match self.pta.object(object) {
            Object::Generator(act) => act,
            Object::AsyncNext(inner) => match self.pta.object(inner) {
                Object::Generator(act) => act,
                _ => return None,
            },
            _ => return None,
        };
        let code = self.pta.activations()[act].code;
        (!self.program.is_model(code)).then_some(code)
    }

    /// The classes whose slot a look-up of `name` along the orders of `class` reads, behind `start` for `super()`. It ends
    /// at the first class whose body binds the name; slots that are only stored from outside may be empty.
    pub(super) fn members(&self, class: ObjId, start: Option<ObjId>, name: Symbol, found: &mut Vec<SlotKey>) {
        let Some(info) = self.pta.class_info(class) else { return };
        for order in &info.orders {
            let skipped = match start {
                None => 0,
                Some(start) => match order.iter().position(|&base| base == Base::Class(start)) {
                    Some(at) => at + 1,
                    None => continue,
                },
            };
            for &base in &order[skipped..] {
                let Base::Class(base) = base else { continue };
                let bound = self
                    .pta
                    .class_info(base)
                    .and_then(|info| info.code)
                    .is_some_and(|code| self.program.binds(code, name));
                if bound || self.stored_on_classes.contains(&(base, name)) {
                    found.push((base, Field::attribute(name)));
                }
                if bound {
                    break;
                }
            }
        }
    }

    /// The slot of a global name of the module of `code`.
    pub(super) fn global(&self, code: CodeId, field: Field) -> Option<SlotKey> {
        let module = self.program.codes[code].module;
        self.modules[module].map(|object| (object, field))
    }
}

/// Where the rows of each code object start, of rows sorted by code.
fn starts(codes: usize, rows: impl Iterator<Item = CodeId>) -> Vec<u32> {
    let mut starts = vec![0_u32; codes + 1];
    for code in rows {
        starts[code.index() + 1] += 1;
    }
    for at in 0..codes {
        starts[at + 1] += starts[at];
    }
    starts
}
fn range(starts: &[u32], code: CodeId) -> Range<usize> {
    starts[code.index()] as usize..starts[code.index() + 1] as usize
}

fn function_facts(pta: &PointsTo, code: CodeId) -> FunctionFacts {
    let program = pta.program();
    let mut facts = FunctionFacts::default();
    if program.is_model(code) {
        return facts;
    }
    let (objects, reasons) = pta.raised(code);
    facts.raises = !objects.is_empty() || !reasons.is_empty();
    let info = &program.codes[code];
    for (index, parameter) in info.signature.parameters.iter().enumerate() {
        let rest = match parameter.kind {
            hognose_ir::ParameterKind::VarPositional => &mut facts.rest_tuples,
            hognose_ir::ParameterKind::VarKeyword => &mut facts.rest_dicts,
            _ => continue,
        };
        let own = |object: &ObjId| {
            matches!(pta.object(*object), Object::Instance(_, Allocation::Variadic(act, _))
                if pta.activations()[act].code == code)
        };
        rest.extend(pta.parameter(code, index).0.into_iter().filter(own));
    }
    let in_class = info
        .parent
        .is_some_and(|parent| program.codes[parent].kind == CodeKind::Class);
    facts.method = match program.text(info.name) {
        "__new__" if in_class => MethodKind::Static,
        "__init_subclass__" | "__class_getitem__" if in_class => MethodKind::OfClass,
        _ => MethodKind::Plain,
    };
    facts
}

/// Notes the functions of a class body that are wrapped in `staticmethod` or `classmethod`.
fn mark_decorated(program: &Program, code: CodeId, functions: &mut IndexVec<CodeId, FunctionFacts>) {
    if program.codes[code].kind != CodeKind::Class || program.is_model(code) {
        return;
    }
    let body = program.body(code);
    for (inst, one) in body.insts.iter_enumerated() {
        let (Op::Call { .. }, &[callee, receiver, ref rest @ ..]) = (one.op, body.ssa.inputs(inst)) else {
            continue;
        };
        let Def::Inst { inst: callee, .. } = body.ssa.values[callee] else {
            continue;
        };
        let (Op::LoadName(name) | Op::LoadGlobal(name)) = body.insts[callee].op else {
            continue;
        };
        let method = match &*program.modules[program.codes[code].module].ir.names[name] {
            "staticmethod" => MethodKind::Static,
            "classmethod" => MethodKind::OfClass,
            _ => continue,
        };
        for &argument in std::iter::once(&receiver).chain(rest) {
            if let Some(function) = function_made(program, code, argument) {
                functions[function].method = method;
            }
        }
    }
}

/// The code of the function that a value is, if it was made just here.
pub(super) fn function_made(program: &Program, code: CodeId, value: ValueId) -> Option<CodeId> {
    let body = program.body(code);
    let mut value = value;
    for _ in 0..body.insts.len() {
        let Def::Inst { inst, .. } = body.ssa.values[value] else {
            return None;
        };
        let inputs = body.ssa.inputs(inst);
        match body.insts[inst].op {
            Op::SetFunctionPart(_) => value = *inputs.last()?,
            Op::MakeFunction(_) => return made_code(program, code, body, inst),
            _ => return None,
        }
    }
    None
}

/// The code that a `MakeFunction` names.
pub(super) fn made_code(program: &Program, code: CodeId, body: &Body, inst: InstId) -> Option<CodeId> {
    let &constant = body.ssa.inputs(inst).last()?;
    let Def::Inst { inst, .. } = body.ssa.values[constant] else {
        return None;
    };
    let Op::Const(id) = body.insts[inst].op else {
        return None;
    };
    let module = program.codes[code].module;
    match program.constant(module, id) {
        Constant::Code(index) => Some(program.code_id(module, *index)),
        _ => None,
    }
}
