//! Qualified names of annotation scopes, on which the embedded compiler once differed from CPython 3.14.

#![allow(clippy::unwrap_used)]

use hognose_compile::{Embedded, Frontend, SourceFile, Threads};

const SOURCE: &str = "x: int
def f(a: int): pass
class C:
    y: str
    def m(self, a: int): pass
def o():
    def inner(a: int): pass
    class D:
        z: int
def g[T](a: T): pass
class G[T]:
    w: T
    def m[U](self, u: U): pass
type A[X] = list[X]
";

#[test]
fn qualified_names_are_those_of_cpython_3_14() {
    let source = SourceFile {
        path: "q.py".to_owned(),
        filename: "q.py".to_owned(),
        bytes: SOURCE.into(),
    };
    let module = Embedded::default()
        .compile(&[source], Threads::ONE)
        .remove(0)
        .module
        .unwrap();
    let objects = &module.objects;
    let names: Vec<_> = objects
        .codes()
        .iter()
        .map(|code| objects.text(code.qualname.unwrap()).unwrap())
        .collect();
    // As CPython 3.14.2 has them.
    let expected = "<module> __annotate__ f C C.__annotate__ C.m C.__annotate__ o o.<locals>.__annotate__ \
        o.<locals>.inner o.<locals>.D o.<locals>.D.__annotate__ <generic parameters of g> __annotate__ g \
        <generic parameters of G> G G.<generic parameters of m> G.__annotate__ G.m G.__annotate__ \
        <generic parameters of A> A __annotate__";
    assert_eq!(names.join(" "), expected);
}
