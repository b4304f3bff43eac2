//! Class statements and what the hierarchy says of them.

use super::{ClassGraph, ClassRef, MroState};
use crate::testing::analysed;

const SHAPES: &str = "
import outside
from abc import ABCMeta, abstractmethod
import abc
class Meta(type): pass
class Root(metaclass=Meta): pass
class Left(Root):
    @abstractmethod
    def area(self): pass
    @property
    @abc.abstractmethod
    def name(self): pass
    def plain(self): pass
class Right(Root): pass
class Both(Left, Right):
    def area(self): pass
class Done(Both):
    name = 1
class Foreign(outside.Base): pass
class Computed(make()): pass
";

#[test]
fn the_hierarchy_of_a_module() {
    let analysed = analysed(&[("m", SHAPES)]);
    let graph = ClassGraph::of(&analysed.pta);
    let object = |name: &str| graph.named(name).unwrap().object;
    let both = graph.named("m.Both").unwrap();
    assert_eq!(both.mro, MroState::Known);
    assert_eq!(
        both.bases,
        [
            [ClassRef::Program(object("m.Left"))],
            [ClassRef::Program(object("m.Right"))]
        ]
    );
    let order: Vec<ClassRef> = ["m.Both", "m.Left", "m.Right", "m.Root"]
        .iter()
        .map(|name| ClassRef::Program(object(name)))
        .collect();
    assert_eq!(both.orders[0][..4], order);
    let mut subclasses = vec![object("m.Left"), object("m.Right")];
    subclasses.sort_unstable();
    assert_eq!(graph.named("m.Root").unwrap().subclasses, subclasses);
    assert_eq!(graph.subclasses_of(object("m.Root")).len(), 5);
    assert_eq!(
        graph.named("m.Root").unwrap().metaclasses,
        [ClassRef::Program(object("m.Meta"))]
    );
    assert!(graph.named("m.Meta").unwrap().makes.contains(&object("m.Root")));
    assert_eq!(
        graph.named("m.Foreign").unwrap().bases,
        [[ClassRef::Library("outside.Base".to_owned())]]
    );
    assert_ne!(
        graph.named("m.Computed").unwrap().bases,
        [[ClassRef::Program(object("m.Root"))]]
    );
}

#[test]
fn abstract_methods_are_inherited_until_they_are_defined() {
    let analysed = analysed(&[("m", SHAPES)]);
    let graph = ClassGraph::of(&analysed.pta);
    let names = |class: &str| {
        let class = graph.named(class).unwrap();
        let names: Vec<&str> = class
            .abstract_methods
            .iter()
            .map(|&name| analysed.program.text(name))
            .collect();
        (names, class.instantiable)
    };
    let (mut left, instantiable) = names("m.Left");
    left.sort_unstable();
    assert_eq!((left, instantiable), (vec!["area", "name"], false));
    assert_eq!(names("m.Both"), (vec!["name"], false));
    assert_eq!(names("m.Done"), (vec![], true));
    assert_eq!(names("m.Right"), (vec![], true));
}

#[test]
fn a_conflict_of_orders_is_reported() {
    let text = "class A: pass\nclass B(A): pass\nclass C(A, B): pass\n";
    let analysed = analysed(&[("m", text)]);
    let graph = ClassGraph::of(&analysed.pta);
    assert_eq!(graph.named("m.C").unwrap().mro, MroState::Conflict);
    assert_eq!(graph.named("m.B").unwrap().mro, MroState::Known);
}
