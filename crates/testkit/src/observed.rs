//! What an analysis found, in the shape the matcher needs.
//!
//! The glue that fills it speaks of places ([`Place`]: module and line of the case) and of names as cases write them:
//! functions of `main` by qualified name without `<locals>`, lambdas numbered (`f.<lambda1>`), other modules' in full.

use crate::case::Place;
use crate::facts::{EdgeKind, Outcome};
use crate::marker::VariablePath;
use hognose_base::UnresolvedKind;
use std::collections::{BTreeMap, BTreeSet};

/// The facts of one analysis of one case. Order does not matter, duplicates do no harm.
#[derive(Clone, Debug, Default)]
pub struct ObservedFacts {
    /// Every function of the program (no module, class or comprehension bodies).
    pub functions: Vec<ObservedFunction>,
    /// Call and attribute sites, implicit ones included.
    pub sites: Vec<ObservedSite>,
    /// Answers to the points-to markers of the case, see [`crate::Case`].
    pub points_to: BTreeMap<(Place, VariablePath), PointsToAnswer>,
    /// Lines with a reachable instruction.
    pub reachable: BTreeSet<Place>,
    /// Basic blocks.
    pub blocks: Vec<ObservedBlock>,
    /// Control dependences: branch, outcome, dependent.
    pub control: BTreeSet<(Place, Outcome, Place)>,
    /// Lines of the nodes of the data-dependence graph; none for nodes without one.
    pub data_nodes: Vec<Option<Place>>,
    /// Edges between positions in `data_nodes`.
    pub data_edges: Vec<(u32, u32)>,
    /// Lines of loads that may read more than the data-dependence graph says, and why.
    pub unresolved_loads: BTreeSet<(Place, UnresolvedKind)>,
    /// Classes of the program by name.
    pub classes: BTreeMap<String, ObservedClass>,
    /// Edges of the module graph, by module name.
    pub imports: BTreeSet<(String, String)>,
}

/// A function of the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObservedFunction {
    /// Its name as cases write it.
    pub name: String,
    /// The line of its `def` or `lambda`.
    pub at: Place,
}

/// A call or attribute site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedSite {
    /// Where it is. For sites in library models: the line of the program that entered the library.
    pub at: Place,
    /// Positions in [`ObservedFacts::functions`].
    pub targets: Vec<u32>,
    /// Why the site may have further targets.
    pub unresolved: Vec<UnresolvedKind>,
}

/// The points-to set of a variable at a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointsToAnswer {
    /// The objects.
    pub objects: BTreeSet<Pointee>,
    /// Whether a reason arrives.
    pub unknown: bool,
}

/// An object as cases write it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pointee {
    /// `C()`, `class C`, `list`, `bound C.m`, ...
    pub name: String,
    /// Where it is made or defined.
    pub at: Option<Place>,
}

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedBlock {
    /// The lines of its instructions, in order of first appearance.
    pub lines: Vec<Place>,
    /// Whether the entry of its code reaches it.
    pub reachable: bool,
    /// The edges that leave it.
    pub edges: Vec<ObservedEdge>,
}

/// An edge of the control-flow graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservedEdge {
    /// Its kind; [`EdgeKind::Exception`] does not occur.
    pub kind: EdgeKind,
    /// Position in [`ObservedFacts::blocks`]; none for the exit of the edge's kind.
    pub to: Option<u32>,
}

/// A class of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedClass {
    /// Its method resolution order, itself first; empty if there is none.
    pub mro: Vec<String>,
    /// Its direct subclasses in the program.
    pub subclasses: BTreeSet<String>,
}
