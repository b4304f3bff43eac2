//! Small programs, each asked whether data gets from one place to another, and by which kinds of edges.

use super::{DataKind, Ddg, DdgNode, DdgNodeId};
use crate::testing::{Analysed, analysed, code, insts};
use hognose_base::Id;
use hognose_ir::Op;
use std::collections::{BTreeSet, VecDeque};

struct World {
    analysed: Analysed,
    ddg: Ddg,
}

fn world(sources: &[(&str, &str)]) -> World {
    let analysed = analysed(sources);
    let ddg = Ddg::of(&analysed.pta);
    World { analysed, ddg }
}

impl World {
    /// The call instructions in `at` whose callee is loaded by this name.
    fn call(&self, at: &str, callee: &str) -> DdgNodeId {
        let program = &self.analysed.program;
        let at = code(program, at);
        let body = program.body(at);
        let loads = insts(program, at, |op, name| {
            name == callee
                && matches!(
                    op,
                    Op::LoadName(_) | Op::LoadGlobal(_) | Op::LoadMethod(_) | Op::LoadLocal { .. } | Op::LoadDeref(_)
                )
        });
        let call = body
            .insts
            .ids()
            .find(|&inst| {
                matches!(body.insts[inst].op, Op::Call { .. } | Op::CallStar { .. })
                    && body.ssa.inputs(inst).first().is_some_and(|&value| {
                        matches!(body.ssa.values[value], hognose_ir::Def::Inst { inst, .. } if loads.contains(&inst))
                    })
            })
            .unwrap_or_else(|| panic!("no call of {callee}"));
        self.ddg.node_of(at, call).unwrap()
    }
    fn inst(&self, at: &str, wanted: impl Fn(Op, &str) -> bool) -> DdgNodeId {
        let program = &self.analysed.program;
        let at = code(program, at);
        let found = insts(program, at, wanted);
        assert_eq!(found.len(), 1, "{found:?}");
        self.ddg.node_of(at, found[0]).unwrap()
    }
    /// Kinds on a shortest path, if there is one. Only kinds by which values travel.
    fn path(&self, from: DdgNodeId, to: DdgNodeId) -> Option<Vec<DataKind>> {
        let mut back: Vec<Option<(DdgNodeId, DataKind)>> = vec![None; self.ddg.node_count()];
        let mut queue = VecDeque::from([from]);
        let mut seen = BTreeSet::from([from]);
        while let Some(node) = queue.pop_front() {
            for link in self.ddg.edges_from(node) {
                if matches!(link.kind, DataKind::Base | DataKind::Key | DataKind::Callee) || !seen.insert(link.node) {
                    continue;
                }
                back[link.node.index()] = Some((node, link.kind));
                queue.push_back(link.node);
            }
        }
        if !seen.contains(&to) {
            return None;
        }
        let mut kinds = Vec::new();
        let mut at = to;
        while let Some((before, kind)) = back[at.index()].filter(|_| at != from) {
            kinds.push(kind);
            at = before;
        }
        kinds.reverse();
        Some(kinds)
    }
    /// Whether data flows from the call of `source` to the call of `sink`, both in module `m`, and how.
    fn flow(&self, source: &str, sink: &str) -> Option<Vec<DataKind>> {
        self.path(self.call("m", source), self.call("m", sink))
    }
}

#[track_caller]
fn flows(text: &str, kinds: &[DataKind]) {
    let world = world(&[("m", text)]);
    let path = world
        .flow("source", "sink")
        .unwrap_or_else(|| panic!("no flow in {text}"));
    for kind in kinds {
        assert!(path.contains(kind), "{} not in {path:?}", kind.name());
    }
}

#[track_caller]
fn does_not_flow(text: &str) {
    let world = world(&[("m", text)]);
    let path = world.flow("source", "sink");
    assert_eq!(path, None, "{text}");
}

#[test]
fn names_of_a_module_are_killed_by_later_stores() {
    flows("x = source()\nsink(x)\n", &[DataKind::DefUse, DataKind::Operand]);
    does_not_flow("x = source()\nx = 1\nsink(x)\n");
    flows("x = source()\nif cond:\n    x = 1\nsink(x)\n", &[DataKind::DefUse]);
    // The exceptional path leaves before the second store.
    flows(
        "x = source()\ntry:\n    f()\n    x = 1\nexcept E:\n    sink(x)\n",
        &[DataKind::DefUse],
    );
    does_not_flow("x = source()\nx = 1\ntry:\n    f()\nexcept E:\n    sink(x)\n");
}

#[test]
fn stores_by_other_code_reach_the_module_body() {
    flows(
        "x = 1\ndef put(v):\n    global x\n    x = v\nput(source())\nsink(x)\n",
        &[DataKind::Argument, DataKind::GlobalStore, DataKind::GlobalLoad],
    );
    flows(
        "x = source()\ndef use():\n    return x\nsink(use())\n",
        &[DataKind::GlobalStore, DataKind::GlobalLoad, DataKind::Return],
    );
}

#[test]
fn arguments_are_bound_by_position_name_and_star() {
    flows(
        "def f(a, b):\n    return b\nsink(f(1, source()))\n",
        &[DataKind::Argument, DataKind::Return],
    );
    does_not_flow("def f(a, b):\n    return a\nsink(f(1, source()))\n");
    does_not_flow("def f(a, b):\n    return a\nsink(f(b=source(), a=1))\n");
    flows(
        "def f(a, b):\n    return b\nsink(f(b=source(), a=1))\n",
        &[DataKind::Argument],
    );
    flows(
        "def f(*rest):\n    return rest[1]\nsink(f(1, source()))\n",
        &[DataKind::ElementStore, DataKind::ElementLoad],
    );
    does_not_flow("def f(*rest):\n    return rest[0]\nsink(f(1, source()))\n");
    flows("def f(a=source()):\n    return a\nsink(f())\n", &[DataKind::Default]);
}

#[test]
fn fields_meet_at_slots() {
    let class = "class C:\n    pass\n";
    flows(
        &format!("{class}def put(c, v):\n    c.f = v\nc = C()\nput(c, source())\nsink(c.f)\n"),
        &[DataKind::FieldStore, DataKind::FieldLoad],
    );
    does_not_flow(&format!(
        "{class}c = C()\nd = C()\nc.f = source()\nd.f = 1\nsink(d.f)\n"
    ));
    does_not_flow(&format!("{class}c = C()\nc.f = source()\nc.g = 1\nsink(c.g)\n"));
    flows(
        "class C:\n    f = source()\nsink(C().f)\n"
            .replace("source()", "0\nC.f = source()")
            .as_str(),
        &[DataKind::FieldLoad],
    );
}

#[test]
fn a_class_attribute_is_read_through_an_instance_of_a_subclass() {
    let world = world(&[("m", "class A:\n    f = 1\nclass B(A):\n    pass\nsink(B().f)\n")]);
    let store = world.inst("m.A", |op, name| name == "f" && matches!(op, Op::StoreName(_)));
    let path = world.path(store, world.call("m", "sink")).unwrap();
    assert_eq!(path, [DataKind::FieldStore, DataKind::FieldLoad, DataKind::Operand]);
}

#[test]
fn a_strong_load_reads_its_store_and_not_the_slot() {
    let text = "class C:\n    pass\ndef f(c):\n    c.f = 1\n    return c.f\ndef g(c, v):\n    c.f = v\nc = C()\ng(c, source())\nsink(f(c))\n";
    does_not_flow(text);
    flows(
        &text.replace("    return", "    g(c, 2)\n    return"),
        &[DataKind::FieldLoad],
    );
}

#[test]
fn elements_keep_constant_keys_apart() {
    flows(
        "d = {'a': source(), 'b': 1}\nsink(d['a'])\n",
        &[DataKind::ElementStore, DataKind::ElementLoad],
    );
    does_not_flow("d = {'a': source(), 'b': 1}\nsink(d['b'])\n");
    does_not_flow("t = (source(), 1)\nsink(t[1])\n");
    does_not_flow("a, b = source(), 1\nsink(b)\n");
    flows(
        "def f():\n    return source(), 1\na, b = f()\nsink(a)\n"
            .replace("source()", "s")
            .replace("def f", "s = source()\ndef f")
            .as_str(),
        &[DataKind::ElementStore],
    );
}

#[test]
fn cells_carry_data_both_ways() {
    let text = "def outer(a):\n    def inner():\n        return a\n    return inner()\nsink(outer(source()))\n";
    flows(text, &[DataKind::CellStore, DataKind::CellLoad, DataKind::Return]);
    let text = "def outer(v):\n    a = 1\n    def inner():\n        nonlocal a\n        a = v\n    inner()\n    return a\nsink(outer(source()))\n";
    flows(text, &[DataKind::CellStore, DataKind::CellLoad]);
}

#[test]
fn exceptions_go_to_handlers_across_calls() {
    let class = "class E(Exception):\n    def __init__(self, v):\n        self.v = v\n";
    let text = "def fail(v):\n    raise v\nx = source()\ntry:\n    fail(x)\nexcept BaseException as e:\n    sink(e)\n";
    flows(&format!("{class}{text}"), &[DataKind::Raise, DataKind::Argument]);
}

#[test]
fn generators_hand_out_what_they_yield() {
    flows(
        "def g(v):\n    yield v\nfor x in g(source()):\n    sink(x)\n",
        &[DataKind::Yield],
    );
    flows(
        "def g(v):\n    yield v\ndef h(v):\n    yield from g(v)\nfor x in h(source()):\n    sink(x)\n",
        &[DataKind::Yield],
    );
    flows(
        "def g(v):\n    yield 1\n    return v\ndef h(v):\n    r = yield from g(v)\n    sink(r)\n    yield r\nfor x in h(source()):\n    sink(x)\n",
        &[DataKind::Return],
    );
}

#[test]
fn constructors_receive_their_object() {
    let text = "class C:\n    def __init__(self, v):\n        self.f = v\n    def get(self):\n        return self.f\nc = C(source())\nsink(c.get())\n";
    flows(
        text,
        &[
            DataKind::Argument,
            DataKind::FieldStore,
            DataKind::FieldLoad,
            DataKind::Return,
        ],
    );
    does_not_flow("class C:\n    @staticmethod\n    def get(a, b):\n        return a\nsink(C().get(1, source()))\n");
}

#[test]
fn a_constructor_keeps_its_arguments_apart_from_the_object() {
    does_not_flow("class C:\n    def __init__(self, v):\n        print(v)\nsink(C(source()))\n");
    flows("class C:\n    pass\nsink(C(source()))\n", &[DataKind::Operand]);
}

#[test]
fn a_context_manager_hands_over_what_it_enters() {
    let text = "def source(): return 1\nclass G:\n    def __enter__(self):\n        return source()\n    def __exit__(self, kind, value, trace):\n        audit(value)\n        return False\ndef audit(v): pass\ndef run(left):\n    with G() as value:\n        left(value)\n        raise value\nrun(len)\n";
    let world = world(&[("m", text)]);
    let entered = world.call("m.G.__enter__", "source");
    let called = world.call("m.run", "left");
    let path = world.path(entered, called).unwrap();
    assert!(path.contains(&DataKind::Return), "{path:?}");
    let program = &world.analysed.program;
    let exit = code(program, "m.G.__exit__");
    let value = world.ddg.parameter(exit, 2).unwrap();
    let audited = world.ddg.parameter(code(program, "m.audit"), 0).unwrap();
    assert!(world.path(value, audited).is_some());
    let caught = world
        .ddg
        .nodes()
        .filter(|&node| matches!(world.ddg.node(node), DdgNode::Caught(..)));
    let paths: Vec<_> = caught
        .map(|node| (world.ddg.node(node), world.path(node, value)))
        .collect();
    assert!(
        paths.iter().any(|(_, path)| *path == Some(vec![DataKind::Argument])),
        "{paths:?}"
    );
}

#[test]
fn imports_carry_names_between_modules() {
    let world = world(&[
        ("a", "x = source()\n"),
        ("m", "from a import x\nsink(x)\n"),
        ("n", "import a\nsink(a.x)\n"),
        ("s", "from a import *\nsink(x)\n"),
    ]);
    let source = world.call("a", "source");
    let path = world.path(source, world.call("m", "sink")).unwrap();
    assert_eq!(
        path.iter().filter(|&&kind| kind == DataKind::Import).count(),
        2,
        "{path:?}"
    );
    assert!(
        world
            .path(source, world.call("n", "sink"))
            .unwrap()
            .contains(&DataKind::GlobalLoad)
    );
    assert!(
        world
            .path(source, world.call("s", "sink"))
            .unwrap()
            .contains(&DataKind::Import)
    );
}

/// `count` stores and loads of one field of one object.
fn stores_and_loads(count: usize) -> (usize, usize) {
    let mut text = String::from("class C:\n    pass\nc = C()\n");
    for number in 0..count {
        text.push_str(&format!("def put{number}(c, v):\n    c.f = v\ndef get{number}(c):\n    return c.f\nput{number}(c, 1)\nget{number}(c)\n"));
    }
    let world = world(&[("m", &text)]);
    let counts: Vec<usize> = world.ddg.counts().map(|(_, count)| count).collect();
    assert_eq!(counts.iter().sum::<usize>(), world.ddg.edge_count());
    (world.ddg.edge_count(), counts[DataKind::FieldLoad as usize])
}

#[test]
fn size_is_linear_in_stores_and_loads() {
    let ((small, small_loads), (large, large_loads)) = (stores_and_loads(20), stores_and_loads(80));
    assert_eq!((small_loads, large_loads), (20, 80));
    assert!(large <= 4 * small + 100, "{small} {large}");
}

#[test]
fn many_objects_at_many_sites_meet_at_one_join() {
    let mut text = String::from("class C:\n    pass\nitems = []\n");
    for number in 0..40 {
        text.push_str(&format!(
            "c{number} = C()\ndef f{number}(c):\n    c.f = 1\n    h()\n    return c.f\n"
        ));
    }
    text.push_str("def all(c):\n");
    for number in 0..40 {
        text.push_str(&format!("    f{number}(c)\n"));
    }
    for number in 0..40 {
        text.push_str(&format!("all(c{number})\n"));
    }
    let world = world(&[("m", &text)]);
    let joins = world
        .ddg
        .nodes()
        .filter(|&node| matches!(world.ddg.node(node), DdgNode::Join(_)))
        .count();
    assert_eq!(joins, 2);
    let loads = world
        .ddg
        .counts()
        .find(|&(kind, _)| kind == DataKind::FieldLoad)
        .unwrap()
        .1;
    assert_eq!(loads, 40 + 40);
}

#[test]
fn both_directions_agree_and_nodes_are_numbered_without_gaps() {
    let world = world(&[(
        "m",
        "class C:\n    def __init__(self, v):\n        self.f = v\ndef f(*a, **k):\n    for x in a:\n        yield k[x]\nc = C([1, 2])\nprint(*f(c.f, x=3))\n",
    )]);
    let ddg = &world.ddg;
    let mut backward: Vec<_> = ddg
        .nodes()
        .flat_map(|to| ddg.edges_to(to).iter().map(move |link| (link.node, to, link.kind)))
        .collect();
    backward.sort_unstable();
    assert_eq!(backward, ddg.edges().collect::<Vec<_>>());
    for node in ddg.nodes() {
        let back = match ddg.node(node) {
            DdgNode::Inst(code, inst) => ddg.node_of(code, inst),
            DdgNode::Parameter(code, index) => ddg.parameter(code, index),
            DdgNode::Returned(code) => ddg.returned(code),
            DdgNode::Raised(code) => ddg.raised(code),
            DdgNode::Yielded(code) => ddg.yielded(code),
            DdgNode::Sent(code) => ddg.sent(code),
            DdgNode::Slot(object, field) => ddg.slot(object, field),
            DdgNode::Output(code, ..) | DdgNode::Phi(code, _) | DdgNode::Caught(code, _) => {
                assert!(ddg.nodes_of(code).contains(&node.raw()));
                Some(node)
            }
            DdgNode::Join(_) => Some(node),
        };
        assert_eq!(back, Some(node));
    }
}
