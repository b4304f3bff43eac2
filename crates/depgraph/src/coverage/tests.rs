//! Small programs, each asked what is known of one load.

use super::{DataCoverage, LoadCounts};
use crate::ddg::Ddg;
use crate::testing::{Analysed, analysed, code, insts};
use hognose_base::{ReasonSet, UnresolvedKind};
use hognose_ir::Op;

fn covered(text: &str) -> (Analysed, DataCoverage) {
    let analysed = analysed(&[("m", text)]);
    let ddg = Ddg::of(&analysed.pta);
    let coverage = DataCoverage::of(&analysed.pta, &analysed.pta.calls(), &ddg);
    (analysed, coverage)
}

/// The reasons of the one load of attribute `name` in `at`.
#[track_caller]
fn attribute(text: &str, at: &str, name: &str) -> Vec<&'static str> {
    let (analysed, coverage) = covered(text);
    let at = code(&analysed.program, at);
    let found = insts(&analysed.program, at, |op, loaded| {
        loaded == name && matches!(op, Op::LoadAttr(_) | Op::LoadMethod(_))
    });
    assert_eq!(found.len(), 1, "{found:?}");
    coverage
        .reasons(at, found[0])
        .iter()
        .map(UnresolvedKind::name)
        .collect()
}

const BOX: &str = "class Box:\n    pass\n";

#[test]
fn a_store_through_an_unknown_base_may_be_to_what_got_out() {
    let fill = "def fill(box, item):\n    box.item = item\n";
    let shared = "shared = Box()\nshared.item = 1\nprint()\nprint(shared.item)\n";
    let reasons = attribute(&format!("{BOX}{fill}{shared}"), "m", "item");
    assert_eq!(reasons, ["unknown-base"]);
    // Another field, or no such store.
    assert!(
        attribute(
            &format!("{BOX}{}{shared}", fill.replace("box.item", "box.other")),
            "m",
            "item"
        )
        .is_empty()
    );
    assert!(attribute(&format!("{BOX}{shared}"), "m", "item").is_empty());
}

#[test]
fn what_stays_inside_is_not_such_a_base() {
    let fill = "def fill(box, item):\n    box.item = item\n";
    let keep = "def keep():\n    own = Box()\n    other(own)\n    return own.item\ndef other(box):\n    box.item = 1\nkeep()\n";
    let inside = format!("{BOX}{fill}{keep}").replace("return own.item", "print(own.item)");
    // The class got out, but the object has the attribute itself, and the class has none of the name.
    assert!(attribute(&inside, "m.keep", "item").is_empty());
    assert_eq!(
        attribute(&inside.replace("    pass\n", "    item = 0\n"), "m.keep", "item"),
        ["unknown-base"]
    );
    assert_eq!(
        attribute(
            &inside.replace("print(own.item)", "print(own.item)\n    return own"),
            "m.keep",
            "item"
        ),
        ["unknown-base"]
    );
}

#[test]
fn setattr_is_a_store() {
    let shared = "shared = Box()\nshared.item = 1\nprint()\nprint(shared.item)\n";
    let constant = format!("{BOX}def fill(box, item):\n    setattr(box, 'item', item)\n{shared}");
    assert_eq!(attribute(&constant, "m", "item"), ["unknown-base"]);
    let computed = format!("{BOX}def fill(box, name, item):\n    setattr(box, name, item)\n{shared}");
    assert_eq!(attribute(&computed, "m", "item"), ["unknown-base"]);
    let other = constant.replace("'item'", "'other'");
    assert!(attribute(&other, "m", "item").is_empty());
}

#[test]
fn elements_are_told_apart_by_constant_keys() {
    let reasons = |stored: &str, loaded: &str| {
        let text = format!("d = {{'a': 1, 'b': 2}}\ndef fill(x, k, v):\n    x[{stored}] = v\nprint(d[{loaded}])\n");
        let (analysed, coverage) = covered(&text);
        let at = code(&analysed.program, "m");
        let found = insts(&analysed.program, at, |op, _| matches!(op, Op::LoadItem));
        coverage.reasons(at, found[0])
    };
    let unknown = ReasonSet::of(UnresolvedKind::UnknownBase);
    assert_eq!(reasons("'a'", "'a'"), unknown);
    assert_eq!(reasons("'b'", "'a'"), ReasonSet::EMPTY);
    assert_eq!(reasons("k", "'a'"), unknown);
    assert_eq!(reasons("'b'", "str(1)"), unknown);
}

#[test]
fn a_load_has_the_reasons_of_its_base_and_not_of_its_value() {
    assert_eq!(
        attribute("def f(p):\n    return p.x\n", "m.f", "x"),
        ["entry-parameter"]
    );
    assert_eq!(attribute("import lib\nprint(lib.x)\n", "m", "x"), ["external"]);
    let value = "import lib\nclass C:\n    pass\nc = C()\nc.x = lib.make()\nd = c\nprint(d.x)\n";
    assert!(attribute(value, "m", "x").is_empty());
    let missing = "class C:\n    pass\nc = C()\nprint(c.x)\n";
    assert_eq!(attribute(missing, "m", "x"), ["missing-attribute"]);
}

#[test]
fn counts_add_up_to_the_total() {
    let text = "x = 1\nclass C:\n    def get(self, other):\n        return self.y, other.y, x\n    def put(self):\n        self.y = len([])\n";
    let (analysed, coverage) = covered(text);
    let get = coverage.of_code(code(&analysed.program, "m.C.get"));
    // `other` is whatever a caller passes, `self` an instance; a store through another instance is not unknown.
    assert_eq!((get.exact + get.open, get.unresolved, get.silent), (2, 1, 0));
    let mut sum = LoadCounts::default();
    for id in analysed.program.codes.ids() {
        let one = coverage.of_code(id);
        sum.exact += one.exact;
        sum.open += one.open;
        sum.unresolved += one.unresolved;
        sum.silent += one.silent;
    }
    let total = coverage.total();
    assert_eq!(
        [total.resolved, total.open, total.unresolved, total.silent],
        [sum.exact, sum.open, sum.unresolved, sum.silent].map(u64::from)
    );
    assert_eq!(total.functions_total, 2);
}
