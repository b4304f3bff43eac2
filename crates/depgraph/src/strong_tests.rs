//! Strong loads of compiled functions.

use crate::testing::{code, insts, link};
use hognose_ir::Op;

/// Line offsets are not needed: how many loads of `f` in function `m.t` are strong, of how many.
#[track_caller]
fn strong(text: &str, expected: &[bool]) {
    let program = link(&[("m", text)]);
    let at = code(&program, "m.t");
    let strong = program.facts.stores.sure_loads(&program, at);
    let loads = insts(&program, at, |op, name| {
        name == "f" && matches!(op, Op::LoadAttr(_) | Op::LoadMethod(_))
    });
    let found: Vec<bool> = loads.iter().map(|&load| !strong.stores_of(load).is_empty()).collect();
    assert_eq!(found, expected, "{text}");
}

const OTHER: &str = "def other(o):\n    o.f = 2\n";

#[test]
fn a_store_on_the_same_base_is_read() {
    strong("def t(o):\n    o.f = 1\n    return o.f\n", &[true]);
    strong("def t(o):\n    p = o\n    p.f = 1\n    return o.f\n", &[true]);
    strong("def t(o, p):\n    p.f = 1\n    return o.f\n", &[false]);
    strong(
        "def t(o, p):\n    o.f = 1\n    p.f = 2\n    return o.f, p.f\n",
        &[false, true],
    );
    strong("def t(o):\n    o.f = 1\n    o = g()\n    return o.f\n", &[false]);
    strong("def t(o):\n    o.f = 1\n    del o.f\n    return o.f\n", &[false]);
}

#[test]
fn calls_cut_unless_nobody_else_stores_the_name() {
    let text = "def t(o):\n    o.f = 1\n    g()\n    return o.f\n";
    strong(text, &[true]);
    strong(&format!("{text}{OTHER}"), &[false]);
    strong(&format!("{text}def d(o):\n    setattr(o, 'f', 1)\n"), &[false]);
    strong(&format!("{text}def d(o):\n    setattr(o, 'unrelated', 1)\n"), &[true]);
    strong(&format!("{text}def d(o, n):\n    setattr(o, n, 1)\n"), &[false]);
    // Without a call in between, other stores do not matter.
    strong(
        &format!("def t(o):\n    o.f = 1\n    x = o\n    return x.f\n{OTHER}"),
        &[true],
    );
    strong(
        &format!("def t(o, a, b):\n    o.f = 1\n    x = a + b\n    return o.f\n{OTHER}"),
        &[false],
    );
    // The function may be entered again by what it calls.
    strong(
        "def t(o, c):\n    if c:\n        o.f = 2\n    o.f = 1\n    g()\n    return o.f\n",
        &[false],
    );
}

#[test]
fn hooks_cut() {
    let text = "def t(o):\n    o.f = 1\n    return o.f\n";
    strong(
        &format!("{text}class C:\n    @property\n    def f(self): pass\n"),
        &[false],
    );
    strong(&format!("{text}class C:\n    def f(self): pass\n"), &[true]);
    strong(
        &format!("{text}class C:\n    def __setattr__(self, n, v): pass\n"),
        &[false],
    );
    strong(
        &format!("{text}class C:\n    def __getattribute__(self, n): pass\n"),
        &[false],
    );
    let between = format!("def t(o):\n    o.f = 1\n    o.g\n    return o.f\n{OTHER}");
    strong(&between, &[true]);
    strong(
        &format!("{between}class C:\n    @property\n    def g(self): pass\n"),
        &[false],
    );
    strong(
        &format!("{between}class C:\n    def __getattr__(self, n): pass\n"),
        &[false],
    );
}

#[test]
fn paths_have_to_agree() {
    strong(
        "def t(o, c):\n    if c is None:\n        o.f = 1\n    return o.f\n",
        &[false],
    );
    strong(
        "def t(o, c):\n    o.f = 1\n    if c is None:\n        x = o.f\n    return o.f\n",
        &[true, true],
    );
    strong(
        "def t(o):\n    o.f = 1\n    while o is not None:\n        x = o.f\n        o.f = 2\n",
        &[true],
    );
    strong(
        "def t(items):\n    for o in items:\n        x = o.f\n        o.f = 1\n        y = o.f\n",
        &[false, true],
    );
}

#[test]
fn exceptional_edges_carry_what_holds_before_each_failure() {
    strong(
        "def t(o):\n    o.f = 1\n    try:\n        g()\n    except E:\n        return o.f\n",
        &[true],
    );
    strong(
        "def t(o):\n    try:\n        o.f = 1\n        g()\n    except E:\n        return o.f\n",
        &[false],
    );
    strong(
        "def t(o, p):\n    o.f = 1\n    try:\n        g()\n        p.f = 1\n        g()\n    except E:\n        return o.f\n",
        &[false],
    );
}

/// Which loads of `f` and of items in `m.t` are strong if receivers are looked at, and how many stores each may read.
#[track_caller]
fn checked(text: &str, expected: &[usize]) {
    let program = link(&[("m", text)]);
    let at = code(&program, "m.t");
    let strong = program.facts.stores.checked_loads(&program, at);
    let loads = insts(&program, at, |op, name| match op {
        Op::LoadAttr(_) | Op::LoadMethod(_) => name == "f",
        Op::LoadItem => true,
        _ => false,
    });
    let found: Vec<usize> = loads.iter().map(|&load| strong.stores_of(load).len()).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn hooks_of_the_receiver_are_for_the_solver_to_see() {
    let hooked = "class C:\n    def __setattr__(self, n, v): pass\n    def __getattr__(self, n): pass\n";
    checked(
        &format!("{hooked}def t(o):\n    o.f = 1\n    o.g = 2\n    return o.f\n"),
        &[1],
    );
    // Another object may be one whose hook stores.
    checked(
        &format!("{hooked}def t(o, p):\n    o.f = 1\n    p.g = 2\n    return o.f\n"),
        &[0],
    );
    checked(
        &format!("{hooked}def t(o, p):\n    o.f = 1\n    p.g\n    return o.f\n"),
        &[0],
    );
    checked("def t(o, p):\n    o.f = 1\n    p.g = 2\n    return o.f\n", &[1]);
    // A getter is code, whosever it is.
    let getter = "class C:\n    @property\n    def g(self): pass\n";
    checked(
        &format!("{getter}def t(o):\n    o.f = 1\n    o.g\n    return o.f\n"),
        &[0],
    );
    checked("def t(o):\n    o.f = 1\n    g()\n    return o.f\n", &[0]);
}

#[test]
fn truth_is_quiet_unless_a_class_defines_it() {
    let text = "def t(o, c):\n    o.f = 1\n    if c:\n        o.f = 2\n    return o.f\n";
    checked(text, &[2]);
    checked(&format!("{text}class C:\n    def __bool__(self): pass\n"), &[0]);
}

#[test]
fn items_are_told_apart_by_constant_keys() {
    checked("def t(d):\n    d['a'] = 1\n    d['b'] = 2\n    return d['a']\n", &[1]);
    checked(
        "def t(d, e):\n    d['a'] = 1\n    e['a'] = 2\n    return d['a']\n",
        &[0],
    );
    checked(
        "def t(d, e):\n    d['a'] = 1\n    e['b'] = 2\n    return d['a']\n",
        &[1],
    );
    checked("def t(d, k):\n    d['a'] = 1\n    d[k] = 2\n    return d['a']\n", &[0]);
    checked(
        "def t(d):\n    d[0] = 1\n    d['0'] = 2\n    d[1] = 3\n    return d[0]\n",
        &[1],
    );
    checked("def t(d):\n    d[0] = 1\n    d[-1] = 2\n    return d[0]\n", &[0]);
    checked("def t(d):\n    d[-1] = 1\n    d[0] = 2\n    return d[-1]\n", &[0]);
    checked("def t(d):\n    d[0] = 1\n    del d[1]\n    return d[0]\n", &[0]);
    checked("def t(d, o):\n    d['a'] = 1\n    d[o] \n    return d['a']\n", &[0, 0]);
}

#[test]
fn namespaces_make_items_attributes() {
    let mention = "def other(o): return o.__dict__\n";
    let (attribute, item) = (
        "def t(o, d):\n    o.f = 1\n    d['f'] = 2\n    return o.f\n",
        "def t(o, d):\n    d['f'] = 1\n    o.f = 2\n    return d['f']\n",
    );
    checked(attribute, &[1]);
    checked(item, &[1]);
    checked(&format!("{mention}{attribute}"), &[0]);
    checked(&format!("{mention}{item}"), &[0]);
}

#[test]
fn variables_are_bases_while_nothing_binds_them() {
    checked("def t():\n    o.f = 1\n    return o.f\n", &[1]);
    checked("def t():\n    o.f = 1\n    g()\n    return o.f\n", &[0]);
    checked(
        "def t(p):\n    global o\n    o.f = 1\n    o = p\n    return o.f\n",
        &[0],
    );
    // The attribute of a module is a variable.
    checked("def t(p):\n    o.f = 1\n    p.o = 2\n    return o.f\n", &[0]);
    checked(
        "def t(p):\n    o = p\n    h = lambda: o\n    o.f = 1\n    return o.f\n",
        &[1],
    );
    checked(
        "def t(p):\n    o = p\n    h = lambda: o\n    o.f = 1\n    o = 2\n    return o.f\n",
        &[0],
    );
    // The old object is kept on the stack while a call may bind the name anew.
    checked("def t():\n    o.f += g()\n    return o.f\n", &[0, 0]);
}
