//! Points-to sets by variable and line.

use super::lines::Lines;
use super::{codes, definition, written};
use hognose_base::{Id, ReasonSet};
use hognose_ir::{BlockId, Body, Def, FileIr, InstId, NameId, Op, SlotId, ValueId};
use hognose_pta::{Base, CodeId, Field, ObjId, Object, PointsTo, Program};
use hognose_testkit::{Case, Place, Pointee, PointsToAnswer, VariablePath, VariableStep};
use std::collections::BTreeSet;

/// Builtin classes whose instances cases write without parentheses.
const PLAIN: [&str; 11] = [
    "int",
    "str",
    "float",
    "bool",
    "bytes",
    "list",
    "dict",
    "set",
    "tuple",
    "complex",
    "frozenset",
];

type Set = (Vec<ObjId>, ReasonSet);

/// The set of a variable as last stored on a line, else as last read, else as a parameter that is declared there.
pub(super) fn points_to(
    case: &Case,
    pta: &PointsTo,
    lines: &Lines,
    place: Place,
    path: &VariablePath,
) -> Option<PointsToAnswer> {
    let program = pta.program();
    let here = |code: CodeId| program.codes[code].module.raw() == place.module;
    let of_kind = |store: bool| {
        codes(program).filter(|&code| here(code)).find_map(|code| {
            let on_line = |inst| lines.place(code, inst).is_some_and(|found| case.fold(found) == place);
            values_at(program, code, &path.variable, store, &on_line).map(|values| (code, values))
        })
    };
    let mut set = match of_kind(true).or_else(|| of_kind(false)) {
        Some((code, values)) => united(values.into_iter().map(|value| pta.value(code, value))),
        None => parameter(case, pta, place, &path.variable)?,
    };
    for step in &path.steps {
        let (objects, reasons) = set;
        set = united(objects.iter().map(|&object| read(pta, object, step)));
        set.1.insert_all(reasons);
    }
    Some(PointsToAnswer {
        objects: set.0.iter().map(|&object| pointee(pta, lines, object)).collect(),
        unknown: !set.1.is_empty(),
    })
}

fn united(sets: impl Iterator<Item = Set>) -> Set {
    let (mut objects, mut reasons) = (BTreeSet::new(), ReasonSet::EMPTY);
    for (found, why) in sets {
        objects.extend(found);
        reasons.insert_all(why);
    }
    (objects.into_iter().collect(), reasons)
}

/// What the last instruction of every block that stores (reads) the variable on the line stores (reads); `None` if there
/// is no such instruction. A `finally` is compiled several times, so several blocks may hold the line.
fn values_at(
    program: &Program,
    code: CodeId,
    variable: &str,
    store: bool,
    on_line: &dyn Fn(InstId) -> bool,
) -> Option<Vec<ValueId>> {
    let (body, file) = (program.body(code), &*program.modules[program.codes[code].module].ir);
    let mut last: Vec<(BlockId, Option<ValueId>)> = Vec::new();
    for (inst, info) in body.insts.iter_enumerated() {
        let accessed = if store { stored(info.op) } else { loaded(info.op) };
        let is_meant = accessed.is_some_and(|name| name.text(body, file) == variable);
        if !is_meant || !on_line(inst) || (store && is_bookkeeping(body, inst)) {
            continue;
        }
        let value = if store {
            body.ssa.inputs(inst).first().copied()
        } else {
            body.ssa.output(inst)
        };
        let block = body.cfg.block_of[inst];
        last.retain(|&(other, _)| other != block);
        last.push((block, value));
    }
    (!last.is_empty()).then(|| last.into_iter().filter_map(|(_, value)| value).collect())
}

enum Name {
    Slot(SlotId),
    Name(NameId),
}

impl Name {
    fn text<'a>(&self, body: &Body, file: &'a FileIr) -> &'a str {
        match *self {
            Self::Slot(slot) => &file.names[body.slots[slot].name],
            Self::Name(name) => &file.names[name],
        }
    }
}

const fn stored(op: Op) -> Option<Name> {
    match op {
        Op::StoreLocal(slot) | Op::StoreDeref(slot) => Some(Name::Slot(slot)),
        Op::StoreName(name) | Op::StoreGlobal(name) => Some(Name::Name(name)),
        _ => None,
    }
}

const fn loaded(op: Op) -> Option<Name> {
    match op {
        Op::LoadLocal { slot, .. } | Op::LoadDeref(slot) | Op::LoadClassDeref(slot) | Op::LoadFromDictOrDeref(slot) => {
            Some(Name::Slot(slot))
        }
        Op::LoadName(name) | Op::LoadGlobal(name) | Op::LoadFromDictOrGlobals(name) => Some(Name::Name(name)),
        _ => None,
    }
}

/// Stores of the compiler: what an inlined comprehension had saved, and the `None` before the name of a handler is unbound.
fn is_bookkeeping(body: &Body, inst: InstId) -> bool {
    let restores = body
        .ssa
        .inputs(inst)
        .first()
        .is_some_and(|&value| match body.ssa.values[value] {
            Def::Inst { inst, .. } => matches!(body.insts[inst].op, Op::LoadLocalAndClear(_)),
            Def::Null | Def::Unbound => true,
            _ => false,
        });
    let next = body.insts.get(InstId::from_index(inst.index() + 1)).map(|next| next.op);
    restores
        || matches!(
            next,
            Some(Op::DeleteLocal(_) | Op::DeleteName(_) | Op::DeleteDeref(_) | Op::DeleteGlobal(_))
        )
}

fn parameter(case: &Case, pta: &PointsTo, place: Place, variable: &str) -> Option<Set> {
    let program = pta.program();
    codes(program)
        .filter(|&code| definition(program, code).is_some_and(|at| case.fold(at) == place))
        .find_map(|code| {
            let mut parameters = program.codes[code].signature.parameters.iter();
            let index = parameters.position(|parameter| program.text(parameter.name) == variable)?;
            Some(pta.parameter(code, index))
        })
}

fn read(pta: &PointsTo, object: ObjId, step: &VariableStep) -> Set {
    let symbol = |name: &str| pta.program().symbols.get(name);
    let element = |key: Option<Field>| {
        let key = key.filter(|&key| pta.heap().slot(object, key).is_some());
        pta.field(object, key.unwrap_or(Field::ANY_IN))
    };
    match step {
        VariableStep::Field(name) => symbol(name).map_or((Vec::new(), ReasonSet::EMPTY), |name| {
            let own = attribute(pta, object, name);
            if own.0.is_empty() && own.1.is_empty() {
                inherited(pta, object, name)
            } else {
                own
            }
        }),
        VariableStep::Index(index) => element(i32::try_from(*index).ok().map(Field::int_key)),
        VariableStep::Key(key) => element(symbol(key).map(Field::str_key)),
        VariableStep::Any => pta.field(object, Field::ALL_OUT),
    }
}

fn attribute(pta: &PointsTo, object: ObjId, name: hognose_base::Symbol) -> Set {
    let mut fields = vec![Field::attribute(name), Field::ANY_ATTRIBUTE];
    if matches!(pta.object(object), Object::Module(_)) {
        fields.extend([Field::foreign(name), Field::submodule(name)]);
    }
    united(fields.into_iter().map(|field| pta.field(object, field)))
}

/// What the classes of an object, or the bases of a class, have under the name.
fn inherited(pta: &PointsTo, object: ObjId, name: hognose_base::Symbol) -> Set {
    let class = pta.class_of(object).unwrap_or(object);
    let orders = pta.class_info(class).map_or(&[][..], |info| &info.orders);
    united(orders.iter().filter_map(|order| {
        order
            .iter()
            .filter_map(|base| match base {
                Base::Class(class) => Some(attribute(pta, *class, name)),
                _ => None,
            })
            .find(|(objects, reasons)| !objects.is_empty() || !reasons.is_empty())
    }))
}

fn pointee(pta: &PointsTo, lines: &Lines, object: ObjId) -> Pointee {
    let program = pta.program();
    let made = || {
        pta.allocation_place(object)
            .and_then(|(code, inst)| lines.place(code, inst))
    };
    let of_code = |prefix: &str, code: CodeId| Pointee {
        name: format!("{prefix}{}", written(program.qualname(code))),
        at: definition(program, code),
    };
    let named = |name: String| Pointee { name, at: None };
    match pta.object(object) {
        Object::Module(module) => named(format!("module {}", program.text(program.modules[module].name))),
        Object::Function(code, ..) => of_code("", code),
        Object::Class(code, _) => of_code("class ", code),
        Object::DynamicClass(_) => named("class ?".to_owned()),
        Object::Instance(class, _) => {
            let name = written(&pta.class_name(class));
            let name = match name.as_str() {
                "NoneType" => "None".to_owned(),
                plain if PLAIN.contains(&plain) => name,
                _ => format!("{name}()"),
            };
            Pointee { name, at: made() }
        }
        Object::Str(_) => named("str".to_owned()),
        Object::Int(_) => named("int".to_owned()),
        Object::Bound(function, _) => {
            let function = pointee(pta, lines, function);
            Pointee {
                name: format!("bound {}", function.name),
                ..function
            }
        }
        Object::Generator(act) => of_code("generator ", pta.activations()[act].code),
        Object::External(chain) => named(format!("external {}", pta.chain_text(chain))),
        Object::Cell(..) => named("cell".to_owned()),
        Object::Super(..) => named("super".to_owned()),
        Object::Iterator(_) => named("iterator".to_owned()),
        Object::AsyncNext(_) => named("anext".to_owned()),
        Object::Intrinsic(intrinsic) => named(intrinsic.name().to_owned()),
    }
}
