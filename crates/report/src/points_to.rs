//! Points-to sets: `hognose.pta/1`.
//!
//! `objects` are abstract objects: `{id, kind, name?, class?, site?}`. `variables` are definitions of named variables
//! (parameters, stores, joins; the value's number is that of `hognose.ssa/1`) and, with a name in brackets, what a code
//! object returns, raises, yields and is sent. `fields` are the slots of objects: attributes (`.name`), elements under
//! constant keys (`["key"]`, `[0]`), elements stored under an unknown key (`[in]`), all elements (`[*]`), keys, contents
//! of cells. Empty sets are left out.

use crate::document::Document;
use crate::dot::Dot;
use crate::place::{Places, SiteRecord, program_codes};
use crate::ssa::variable_name;
use hognose_base::{Coverage, Id, ReasonSet};
use hognose_ir::{Body, Def, Op, OpNames, PhiOf, ValueId};
use hognose_pta::{CodeId, Field, ObjId, Object, PointsTo, Program};
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::{self, Write};

#[derive(Serialize)]
struct ObjectRecord<'a> {
    id: u32,
    kind: &'static str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allocated_in: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<SiteRecord<'a>>,
}

#[derive(Serialize)]
struct VariableRecord {
    function: u32,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u32>,
    objects: Vec<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unresolved: Vec<&'static str>,
}

#[derive(Serialize)]
struct FieldRecord {
    object: u32,
    field: String,
    objects: Vec<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unresolved: Vec<&'static str>,
}

/// The kind and the name of an object.
pub(crate) fn describe(points_to: &PointsTo, object: ObjId) -> (&'static str, String) {
    let program = points_to.program();
    let name_of = |code: CodeId| program.qualname(code).to_owned();
    match points_to.object(object) {
        Object::Module(module) => ("module", program.text(program.modules[module].name).to_owned()),
        Object::Function(code, ..) => ("function", name_of(code)),
        Object::Class(code, _) => ("class", name_of(code)),
        Object::DynamicClass(_) => ("class", points_to.class_name(object)),
        Object::Instance(class, _) => ("instance", points_to.class_name(class)),
        Object::Str(text) => ("str", program.text(text).to_owned()),
        Object::Int(value) => ("int", value.to_string()),
        Object::Bound(function, _) => ("bound-method", describe(points_to, function).1),
        Object::Cell(act, slot) => ("cell", cell_name(points_to, points_to.activations()[act].code, slot)),
        Object::Super(class, _) => ("super", points_to.class_name(class)),
        Object::Generator(act) => ("generator", name_of(points_to.activations()[act].code)),
        Object::Iterator(of) => ("iterator", describe_container(points_to, of)),
        Object::AsyncNext(_) => ("async-next", String::new()),
        Object::External(chain) => ("external", points_to.chain_text(chain)),
        Object::Intrinsic(intrinsic) => ("intrinsic", intrinsic.name().to_owned()),
    }
}

fn describe_container(points_to: &PointsTo, object: ObjId) -> String {
    match points_to.object(object) {
        Object::Instance(class, _) => points_to.class_name(class),
        _ => String::new(),
    }
}

fn cell_name(points_to: &PointsTo, code: CodeId, slot: hognose_ir::SlotId) -> String {
    let program = points_to.program();
    let info = &program.codes[code];
    let text = program.modules[info.module].ir.text(info.index);
    format!("{}.{}", program.qualname(code), text.slot(slot))
}

/// The text of a field.
pub(crate) fn field_text(points_to: &PointsTo, field: Field) -> String {
    if let Some(name) = field.as_attribute() {
        return format!(".{}", points_to.symbol(name));
    }
    if let Some(key) = field.as_str_key() {
        return format!("[{:?}]", points_to.symbol(key));
    }
    if let Some(key) = field.as_int_key() {
        return format!("[{key}]");
    }
    match field {
        Field::ANY_ATTRIBUTE => ".*".to_owned(),
        Field::ANY_IN => "[in]".to_owned(),
        Field::ALL_OUT => "[*]".to_owned(),
        Field::KEYS => "<keys>".to_owned(),
        Field::CONTENTS => "<contents>".to_owned(),
        Field::FOREIGN_CONTENTS => "<contents, stored elsewhere>".to_owned(),
        other => format!("<{}>", other.raw()),
    }
}

fn reason_names(reasons: ReasonSet) -> Vec<&'static str> {
    reasons.iter().map(|kind| kind.name()).collect()
}

fn numbers(objects: &[ObjId]) -> Vec<u32> {
    objects.iter().map(|object| object.raw()).collect()
}

fn is_definition(body: &Body, value: ValueId) -> bool {
    match body.ssa.values[value] {
        Def::Parameter(_)
        | Def::Phi {
            what: PhiOf::Var(_), ..
        } => true,
        Def::Inst { inst, .. } => {
            matches!(
                body.insts[inst].op,
                Op::StoreLocal(_) | Op::StoreDeref(_) | Op::StoreName(_) | Op::StoreGlobal(_)
            )
        }
        _ => false,
    }
}

/// The name of the variable that a value is a definition of, and where that is.
fn definition(program: &Program, code: CodeId, body: &Body, value: ValueId) -> Option<(String, Option<u32>)> {
    let info = &program.codes[code];
    let text = program.modules[info.module].ir.text(info.index);
    match body.ssa.values[value] {
        Def::Parameter(slot) => Some((text.slot(slot), None)),
        Def::Phi {
            what: PhiOf::Var(var), ..
        } => Some((variable_name(&body.ssa, &text, var), None)),
        Def::Inst { inst, .. } => {
            let name = match body.insts[inst].op {
                Op::StoreLocal(slot) | Op::StoreDeref(slot) => text.slot(slot),
                Op::StoreName(name) | Op::StoreGlobal(name) => text.name(name),
                _ => return None,
            };
            Some((name, Some(body.insts[inst].offset)))
        }
        _ => None,
    }
}

fn variables(points_to: &PointsTo, code: CodeId) -> Vec<VariableRecord> {
    let program = points_to.program();
    let body = program.body(code);
    let mut rows = Vec::new();
    let mut add = |name: String, value: Option<u32>, offset, (objects, reasons): (Vec<ObjId>, ReasonSet)| {
        if !objects.is_empty() || !reasons.is_empty() {
            rows.push(VariableRecord {
                function: code.raw(),
                name,
                value,
                offset,
                objects: numbers(&objects),
                unresolved: reason_names(reasons),
            });
        }
    };
    for value in body.ssa.values.ids() {
        if let Some((name, offset)) = definition(program, code, body, value) {
            add(name, Some(value.raw()), offset, points_to.value(code, value));
        }
    }
    add("<return>".to_owned(), None, None, points_to.returned(code));
    add("<raise>".to_owned(), None, None, points_to.raised(code));
    add("<yield>".to_owned(), None, None, points_to.yielded(code));
    add("<send>".to_owned(), None, None, points_to.sent(code));
    rows
}

fn object_record<'a>(points_to: &PointsTo, places: &mut Places<'a>, object: ObjId) -> ObjectRecord<'a> {
    let (kind, name) = describe(points_to, object);
    let place = points_to.allocation_place(object);
    ObjectRecord {
        id: object.raw(),
        kind,
        name,
        function: match points_to.object(object) {
            Object::Function(code, ..) | Object::Class(code, _) => Some(code.raw()),
            Object::Generator(act) => Some(points_to.activations()[act].code.raw()),
            _ => None,
        },
        class: match points_to.object(object) {
            Object::Instance(class, _) => Some(class.raw()),
            _ => None,
        },
        allocated_in: place.map(|(code, _)| code.raw()),
        site: place.map(|(code, inst)| places.site(code, inst)),
    }
}

/// How many definitions of named variables (and results of functions) are known.
#[must_use]
pub fn points_to_coverage(points_to: &PointsTo) -> Coverage {
    let program = points_to.program();
    let mut coverage = Coverage::default();
    for code in program_codes(program) {
        let body = program.body(code);
        if program.codes[code].is_function() {
            coverage.functions_total += 1;
            coverage.functions_analysed += u64::from(!points_to.activations_of(code).is_empty());
        }
        for value in body.ssa.values.ids() {
            if is_definition(body, value) {
                let (known, reasons) = points_to.value_reasons(code, value);
                coverage.add_site(known, reasons);
            }
        }
    }
    coverage
}

/// Writes the points-to sets of all variables and fields, or those of some code objects' variables and no fields.
///
/// # Errors
/// If writing fails.
pub fn write_points_to_json(points_to: &PointsTo, functions: Option<&[CodeId]>, out: &mut dyn Write) -> io::Result<()> {
    let program = points_to.program();
    let mut places = Places::new(program);
    let mut document = Document::begin(out, "hognose.pta/1")?;
    if let Some(codes) = functions {
        let rows: Vec<VariableRecord> = codes.iter().flat_map(|&code| variables(points_to, code)).collect();
        let mentioned: BTreeSet<u32> = rows.iter().flat_map(|row| row.objects.iter().copied()).collect();
        let objects = mentioned
            .iter()
            .map(|&raw| object_record(points_to, &mut places, ObjId::new(raw)));
        document.array("objects", objects)?;
        document.array("variables", rows)?;
        document.array("fields", [0_u32; 0])?;
        return document.end();
    }
    let objects = (0..points_to.heap().len()).map(ObjId::from_index);
    document.array(
        "objects",
        objects.map(|object| object_record(points_to, &mut places, object)),
    )?;
    let rows = program_codes(program).flat_map(|code| variables(points_to, code));
    document.array("variables", rows)?;
    let rows = points_to
        .fields()
        .into_iter()
        .map(|(object, field, set, reasons)| FieldRecord {
            object: object.raw(),
            field: field_text(points_to, field),
            objects: numbers(&set.to_vec()),
            unresolved: reason_names(reasons),
        });
    document.array("fields", rows)?;
    document.end()
}

/// Writes points-to edges as DOT: variables (ellipses) to objects (boxes), objects to objects along fields.
///
/// # Errors
/// If writing fails.
pub fn write_points_to_dot(points_to: &PointsTo, codes: &[CodeId], out: &mut dyn Write) -> io::Result<()> {
    let mut dot = Dot::begin(out, "pta")?;
    let mut mentioned = BTreeSet::new();
    for &code in codes {
        for (number, row) in variables(points_to, code).into_iter().enumerate() {
            let id = format!("{code}_{number}");
            let label = format!("{}: {}", points_to.program().qualname(code), row.name);
            dot.node(&id, &label, ", shape=ellipse")?;
            for object in row.objects {
                mentioned.insert(ObjId::new(object));
                dot.edge(&id, ObjId::new(object), "", "")?;
            }
        }
    }
    // Fields of the objects, and of what these lead to.
    let fields = points_to.fields();
    let mut reached = mentioned.clone();
    let mut wave = mentioned;
    while !wave.is_empty() {
        let mut next = BTreeSet::new();
        for &object in &wave {
            let start = fields.partition_point(|row| row.0 < object);
            for (_, field, set, _) in fields[start..].iter().take_while(|row| row.0 == object) {
                for target in set.to_vec() {
                    dot.edge(object, target, &field_text(points_to, *field), "")?;
                    if reached.insert(target) {
                        next.insert(target);
                    }
                }
            }
        }
        wave = next;
    }
    for object in reached {
        let (kind, name) = describe(points_to, object);
        dot.node(object, &format!("{kind} {name}"), "")?;
    }
    dot.end()
}
