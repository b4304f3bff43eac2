//! The class hierarchy: `hognose.classes/1`.
//!
//! `{"classes": [{id, name, function?, bases, mro, subclasses, ..}]}`; `id` is the object of `hognose.pta/1`, `function` the
//! class body. Bases by position, each with its alternatives; a class of the program is `{"class": id}`, a library class
//! `{"library": name}`, an unknown one `{"unknown": true}`.

use crate::document::Document;
use crate::dot::Dot;
use hognose_depgraph::{ClassGraph, ClassRef, MroState};
use hognose_pta::{ObjId, PointsTo};
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::{self, Write};

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Reference<'a> {
    Class(u32),
    Library(&'a str),
    Unknown(bool),
}

impl<'a> From<&'a ClassRef> for Reference<'a> {
    fn from(reference: &'a ClassRef) -> Self {
        match reference {
            ClassRef::Program(object) => Self::Class(object.raw()),
            ClassRef::Library(name) => Self::Library(name),
            ClassRef::Unknown => Self::Unknown(true),
        }
    }
}

#[derive(Serialize)]
struct Class<'a> {
    id: u32,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<u32>,
    bases: Vec<Vec<Reference<'a>>>,
    mro: Vec<Vec<Reference<'a>>>,
    mro_state: &'static str,
    subclasses: Vec<u32>,
    metaclasses: Vec<Reference<'a>>,
    makes: Vec<u32>,
    abstract_methods: Vec<&'a str>,
    instantiable: bool,
}

fn references(list: &[ClassRef]) -> Vec<Reference<'_>> {
    list.iter().map(Reference::from).collect()
}

fn numbers(objects: &[ObjId]) -> Vec<u32> {
    objects.iter().map(|object| object.raw()).collect()
}

/// Writes the class hierarchy.
///
/// # Errors
/// If writing fails.
pub fn write_classes_json(points_to: &PointsTo, graph: &ClassGraph, out: &mut dyn Write) -> io::Result<()> {
    let mut document = Document::begin(out, "hognose.classes/1")?;
    let rows = graph.classes().iter().map(|class| Class {
        id: class.object.raw(),
        name: &class.name,
        function: class.code.map(|code| code.raw()),
        bases: class.bases.iter().map(|bases| references(bases)).collect(),
        mro: class.orders.iter().map(|order| references(order)).collect(),
        mro_state: match class.mro {
            MroState::Known => "known",
            MroState::Several { united: false } => "several",
            MroState::Several { united: true } => "united",
            MroState::Conflict => "conflict",
        },
        subclasses: numbers(&class.subclasses),
        metaclasses: references(&class.metaclasses),
        makes: numbers(&class.makes),
        abstract_methods: class
            .abstract_methods
            .iter()
            .map(|&name| points_to.symbol(name))
            .collect(),
        instantiable: class.instantiable,
    });
    document.array("classes", rows)?;
    document.end()
}

/// Writes the class hierarchy as DOT: edges from a class to its bases.
///
/// # Errors
/// If writing fails.
pub fn write_classes_dot(graph: &ClassGraph, out: &mut dyn Write) -> io::Result<()> {
    let mut dot = Dot::begin(out, "classes")?;
    let mut libraries = BTreeSet::new();
    for class in graph.classes() {
        dot.node(class.object, &class.name, "")?;
        for base in class.bases.iter().flatten() {
            match base {
                ClassRef::Program(object) => dot.edge(class.object, object, "", "")?,
                ClassRef::Library(name) => {
                    libraries.insert(name);
                    dot.edge(class.object, format_args!("{name:?}"), "", "")?;
                }
                ClassRef::Unknown => dot.edge(class.object, "unknown", "", "style=dashed")?,
            }
        }
    }
    for name in libraries {
        dot.node(format_args!("{name:?}"), name, ", style=dotted")?;
    }
    dot.end()
}
