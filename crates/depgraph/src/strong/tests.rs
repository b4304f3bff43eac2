//! Strong loads of compiled functions, and all paths of random graphs walked one by one.

use super::{AttributeFacts, StoreIndex, StrongLoads, strong_load};
use crate::testing::{code, insts, link};
use hognose_base::{Id, IndexVec};
use hognose_ir::{Block, BlockId, Body, Def, Edge, EdgeKind, Inst, InstId, NameId, Op, Slot, SlotId, ValueId};
use hognose_pyc::LocalKind;
use proptest::prelude::*;

/// Line offsets are not needed: how many loads of `f` in function `m.t` are strong, of how many.
#[track_caller]
fn strong(text: &str, expected: &[bool]) {
    let program = link(&[("m", text)]);
    let at = code(&program, "m.t");
    let strong = StrongLoads::of_code(&program, at, &StoreIndex::of(&program));
    let loads = insts(&program, at, |op, name| {
        name == "f" && matches!(op, Op::LoadAttr(_) | Op::LoadMethod(_))
    });
    let found: Vec<bool> = loads.iter().map(|&load| strong.store_of(load).is_some()).collect();
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
        &[false],
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

// ---- random graphs ------------------------------------------------------------------------------------------------------

/// What an instruction of a random body does.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Stores attribute 0 or 1 of parameter 0 or 1.
    Store(usize, usize),
    Load(usize, usize),
    Delete(usize),
    Call,
    Quiet,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..2_usize, 0..2_usize).prop_map(|(base, name)| Step::Store(base, name)),
        (0..2_usize, 0..2_usize).prop_map(|(base, name)| Step::Load(base, name)),
        (0..2_usize).prop_map(Step::Delete),
        Just(Step::Call),
        Just(Step::Quiet),
    ]
}

const BASES: [ValueId; 2] = [ValueId::new(2), ValueId::new(3)];

/// Random blocks and edges; the parameters are values 2 and 3, the output of every instruction is not used.
fn body(blocks: &[Vec<Step>], edges: &[(usize, usize, bool)]) -> Body {
    let mut body = Body::default();
    for slot in 0..2 {
        body.slots.push(Slot {
            name: NameId::from_index(slot),
            kind: LocalKind(LocalKind::LOCAL),
        });
    }
    body.ssa.values = IndexVec::from_raw(vec![
        Def::Null,
        Def::Unbound,
        Def::Parameter(SlotId::new(0)),
        Def::Parameter(SlotId::new(1)),
    ]);
    body.ssa.input_starts.push(0);
    for steps in blocks {
        let (block, start) = (body.cfg.blocks.next_id(), body.insts.next_id());
        for &step in steps {
            let name = NameId::from_index;
            let (op, inputs): (Op, Vec<ValueId>) = match step {
                Step::Store(base, attribute) => (Op::StoreAttr(name(attribute)), vec![BASES[0], BASES[base]]),
                Step::Load(base, attribute) => (Op::LoadAttr(name(attribute)), vec![BASES[base]]),
                Step::Delete(attribute) => (Op::DeleteAttr(name(attribute)), vec![BASES[0]]),
                Step::Call => (Op::LoadItem, vec![BASES[0], BASES[1]]),
                Step::Quiet => (Op::Nop, Vec::new()),
            };
            body.insts.push(Inst {
                op,
                offset: 0,
                ordinal: 0,
            });
            body.ssa.inputs.extend(inputs);
            body.ssa
                .input_starts
                .push(u32::try_from(body.ssa.inputs.len()).unwrap());
            body.cfg.block_of.push(block);
        }
        body.cfg.blocks.push(Block {
            start,
            end: body.insts.next_id(),
            unreachable: false,
        });
    }
    let id = |block: usize| BlockId::from_index(block % blocks.len());
    let mut list: Vec<Edge> = edges
        .iter()
        .map(|&(from, to, exception)| Edge {
            from: id(from),
            to: id(to),
            kind: if exception {
                EdgeKind::Exception { explicit: false }
            } else {
                EdgeKind::Normal
            },
            inst: None,
        })
        .collect();
    list.sort_by_key(|edge| (edge.from, edge.kind, edge.to));
    body.cfg.successor_starts = vec![0; blocks.len() + 1];
    for edge in list {
        body.cfg.successor_starts[edge.from.index() + 1] += 1;
        body.cfg.edges.push(edge);
    }
    for block in 0..blocks.len() {
        body.cfg.successor_starts[block + 1] += body.cfg.successor_starts[block];
    }
    body
}

/// What a walk knows of the attributes: the last store of each, and whether something may have undone it.
type Memory = [Option<(usize, InstId)>; 2];

fn effect(inst: InstId, step: Step, memory: &mut Memory, exposed: [bool; 2]) {
    match step {
        Step::Store(base, name) => memory[name] = Some((base, inst)),
        Step::Delete(name) => memory[name] = None,
        Step::Call => {
            for name in 0..2 {
                if exposed[name] {
                    memory[name] = None;
                }
            }
        }
        Step::Load(..) | Step::Quiet => {}
    }
}

/// Walks every distinct (block, memory) state: what each load saw on every walk, if always the same.
fn by_walking(blocks: &[Vec<Step>], body: &Body, exposed: [bool; 2]) -> Vec<(InstId, InstId)> {
    let mut seen = std::collections::BTreeSet::new();
    let mut stack: Vec<(usize, Memory)> = vec![(0, [None; 2])];
    let mut read: std::collections::BTreeMap<InstId, std::collections::BTreeSet<Option<InstId>>> = Default::default();
    while let Some((block, mut memory)) = stack.pop() {
        if !seen.insert((block, memory)) {
            continue;
        }
        let mut leaves = Vec::new();
        for (inst, &step) in body.cfg.insts(BlockId::from_index(block)).zip(&blocks[block]) {
            if let Step::Load(base, name) = step {
                let store = memory[name].filter(|&(stored, _)| stored == base).map(|(_, inst)| inst);
                read.entry(inst).or_default().insert(store);
            }
            // A failing operation has not stored, but what it called may have.
            let mut failed = memory;
            match step {
                Step::Store(_, name) | Step::Delete(name) => failed[name] = None,
                _ => effect(inst, step, &mut failed, exposed),
            }
            leaves.push(failed);
            effect(inst, step, &mut memory, exposed);
        }
        for (_, edge) in body.cfg.successors(BlockId::from_index(block)) {
            if edge.kind == EdgeKind::Normal {
                stack.push((edge.to.index(), memory));
            } else if leaves.is_empty() {
                // An empty block cannot raise; the edge stands for nothing but is followed all the same.
                stack.push((edge.to.index(), memory));
            } else {
                stack.extend(leaves.iter().map(|&failed| (edge.to.index(), failed)));
            }
        }
    }
    read.into_iter()
        .filter(|(_, stores)| stores.len() == 1)
        .filter_map(|(load, stores)| Some((load, (*stores.first()?)?)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn the_dataflow_agrees_with_walking_all_paths(
        blocks in prop::collection::vec(prop::collection::vec(step(), 0..5), 1..6),
        edges in prop::collection::vec((0..6_usize, 0..6_usize, prop::bool::weighted(0.3)), 0..9),
        exposed in any::<[bool; 2]>(),
    ) {
        let mut body = body(&blocks, &edges);
        let entered = entered(&body);
        for block in body.cfg.blocks.ids() {
            body.cfg.blocks[block].unreachable = !entered.contains(&block);
        }
        let facts = |name: NameId| AttributeFacts {
            stores: if exposed[name.index()] { 5 } else { 1 },
            hooked: false,
            runs_code: false,
        };
        let walked = by_walking(&blocks, &body, exposed);
        let found = StrongLoads::of(&body, &facts);
        prop_assert_eq!(found.pairs(), walked);
        for &(load, store) in found.pairs() {
            prop_assert_eq!(strong_load(&body, load, &facts), Some(store));
        }
    }
}

fn entered(body: &Body) -> Vec<BlockId> {
    let mut seen = vec![BlockId::new(0)];
    let mut at = 0;
    while let Some(&block) = seen.get(at) {
        for (_, edge) in body.cfg.successors(block) {
            if !seen.contains(&edge.to) {
                seen.push(edge.to);
            }
        }
        at += 1;
    }
    seen
}
