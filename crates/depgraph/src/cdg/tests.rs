//! Small graphs as the compiler makes them, and the definition checked by brute force on random ones.

use super::{BranchOutcome, Cdg, Layer};
use hognose_base::{Id, IndexVec};
use hognose_ir::{Block, BlockId, Body, Edge, EdgeId, EdgeKind, Inst, InstId, Keep, Op, Region, Test};
use hognose_pyc::CodeIndex;
use proptest::prelude::*;
use std::collections::BTreeSet;

const EXPLICIT: EdgeKind = EdgeKind::Exception { explicit: true };
const IMPLICIT: EdgeKind = EdgeKind::Exception { explicit: false };
use EdgeKind::{False, Normal, Resume, True};

/// Target of returns.
const RETURN: usize = usize::MAX;
/// Target of uncaught exceptions.
const UNCAUGHT: usize = usize::MAX - 1;

const TEST: &[Op] = &[Op::Branch {
    test: Test::Truth(true),
    keep: Keep::Never,
    target: InstId::new(0),
}];
const MATCH: &[Op] = &[Op::CheckExceptionMatch, TEST[0]];
const OLD_MATCH: &[Op] = &[Op::BranchNotExceptionMatch { target: InstId::new(0) }];
const RERAISE: &[Op] = &[Op::Reraise { lasti: 0 }];
const RAISE: &[Op] = &[Op::Raise(1)];
const WORK: &[Op] = &[Op::Nop];

/// A body with these blocks (exits are added) and edges. `guard` is the handler of a generator guard.
fn body(blocks: &[&[Op]], edges: &[(usize, EdgeKind, usize)], guard: Option<usize>) -> Body {
    let mut body = Body::default();
    let cfg = &mut body.cfg;
    let (normal, exceptional) = (blocks.len(), blocks.len() + 1);
    for ops in blocks.iter().copied().chain([&[] as &[Op], &[]]) {
        let start = body.insts.next_id();
        for &op in ops {
            let offset = 2 * body.insts.next_id().raw();
            body.insts.push(Inst { op, offset, ordinal: 0 });
            cfg.block_of.push(cfg.blocks.next_id());
        }
        cfg.blocks.push(Block {
            start,
            end: body.insts.next_id(),
            unreachable: false,
        });
    }
    (cfg.normal_exit, cfg.exceptional_exit) = (BlockId::from_index(normal), BlockId::from_index(exceptional));
    let number = |target| match target {
        RETURN => normal,
        UNCAUGHT => exceptional,
        block => block,
    };
    let mut sorted: Vec<_> = edges.iter().map(|&(from, kind, to)| (from, kind, number(to))).collect();
    sorted.sort();
    for &(from, kind, to) in &sorted {
        let (from, to) = (BlockId::from_index(from), BlockId::from_index(to));
        let inst = cfg.insts(from).next_back();
        cfg.edges.push(Edge { from, to, kind, inst });
    }
    let starts = |key: fn(&Edge) -> BlockId| -> Vec<u32> {
        let behind = |block| cfg.edges.iter().filter(|edge| key(edge).index() < block).count();
        (0..blocks.len() + 3)
            .map(|block| u32::try_from(behind(block)).unwrap())
            .collect()
    };
    (cfg.successor_starts, cfg.predecessor_starts) = (starts(|edge| edge.from), starts(|edge| edge.to));
    cfg.predecessors = cfg.edges.ids().collect();
    cfg.predecessors.sort_by_key(|&id| cfg.edges[id].to);
    let mut reached = BTreeSet::from([BlockId::new(0)]);
    let mut stack = vec![BlockId::new(0)];
    while let Some(block) = stack.pop() {
        stack.extend(
            cfg.successors(block)
                .map(|(_, edge)| edge.to)
                .filter(|&to| reached.insert(to)),
        );
    }
    for block in cfg.blocks.ids() {
        cfg.blocks[block].unreachable = !reached.contains(&block);
    }
    body.regions.extend(guard.map(|handler| Region {
        start: 0,
        end: u32::MAX,
        handler: cfg.blocks[BlockId::from_index(handler)].start,
        handler_offset: 0,
        depth: 0,
        pushed: 1,
        lasti: true,
        generator_guard: true,
    }));
    body
}

fn cdg(body: &Body, layer: Layer) -> Cdg {
    Cdg::of(CodeIndex::new(0), body, layer)
}

fn shown(cdg: &Cdg) -> Vec<String> {
    cdg.dependences()
        .iter()
        .map(|d| format!("{} {} {}", d.branch.raw(), d.outcome.name(), d.block.raw()))
        .collect()
}

fn check(blocks: &[&[Op]], edges: &[(usize, EdgeKind, usize)], expected: &[&str]) {
    assert_eq!(shown(&cdg(&body(blocks, edges, None), Layer::Outcome)), expected);
}

#[test]
fn both_arms_depend_and_the_join_does_not() {
    let edges = [
        (0, True, 1),
        (0, False, 2),
        (1, Normal, 3),
        (2, Normal, 3),
        (3, Normal, RETURN),
    ];
    let body = body(&[TEST, WORK, WORK, WORK], &edges, None);
    let cdg = cdg(&body, Layer::Outcome);
    assert_eq!(shown(&cdg), ["0 true 1", "0 false 2"]);
    assert_eq!(cdg.immediate_post_dominators()[BlockId::new(0)], Some(BlockId::new(3)));
    let of_arm: Vec<_> = cdg.dependences_of(BlockId::new(2)).collect();
    assert_eq!((of_arm.len(), of_arm[0].outcome), (1, BranchOutcome::False));
    assert_eq!(cdg.dependences_of(BlockId::new(3)).len(), 0);
    assert_eq!(cdg.dependences_of(BlockId::new(99)).len(), 0);
    assert_eq!(cdg.controlled_by(BlockId::new(0)).len(), 2);
    assert!(cdg.controlled_by(BlockId::new(1)).is_empty());
    assert_eq!(cdg.dependences_of_instruction(&body, InstId::new(1)).count(), 1);
    assert_eq!(Cdg::deciding_instruction(&body, of_arm[0]), Some(InstId::new(0)));
}

/// `while a: b` / `c`
#[test]
fn a_loop_head_depends_on_itself() {
    let edges = [(0, True, 1), (0, False, 2), (1, Normal, 0), (2, Normal, RETURN)];
    check(&[TEST, WORK, WORK], &edges, &["0 true 0", "0 true 1"]);
}

/// `if bad: raise` / `work`
#[test]
fn work_behind_a_raise_depends_on_the_test() {
    let edges = [
        (0, True, 1),
        (0, False, 2),
        (1, EXPLICIT, UNCAUGHT),
        (2, Normal, RETURN),
    ];
    check(&[TEST, RAISE, WORK], &edges, &["0 true 1", "0 false 2"]);
}

/// `try:` / `if a: b` / `else: c` / `d` / `except: e` / `f`
#[test]
fn a_branch_in_a_try_is_judged_without_the_failures() {
    let edges = [
        (0, True, 1),
        (0, False, 2),
        (0, IMPLICIT, 4),
        (1, Normal, 3),
        (1, IMPLICIT, 4),
        (2, Normal, 3),
        (2, IMPLICIT, 4),
        (3, Normal, 5),
        (3, IMPLICIT, 4),
        (4, Normal, 5),
        (4, IMPLICIT, UNCAUGHT),
        (5, Normal, RETURN),
    ];
    let blocks = [TEST, WORK, WORK, WORK, WORK, WORK];
    check(
        &blocks,
        &edges,
        &[
            "0 true 1",
            "0 false 2",
            "0 exception 4",
            "1 exception 4",
            "2 exception 4",
            "3 exception 4",
        ],
    );
    let implicit = shown(&cdg(&body(&blocks, &edges, None), Layer::Implicit));
    for fact in ["1 normal 3", "0 true 1", "1 exception 4", "4 normal 5"] {
        assert!(implicit.iter().any(|shown| shown == fact), "{fact} in {implicit:?}");
    }
}

/// `try: a` / `except A: b` / `except B: c` / `d`, as of 3.10 and as of later versions
#[test]
fn clauses_depend_on_the_failure_and_on_their_match() {
    let edges = [
        (0, Normal, 6),
        (0, IMPLICIT, 1),
        (1, True, 2),
        (1, False, 3),
        (2, Normal, 6),
        (3, True, 4),
        (3, False, 5),
        (4, Normal, 6),
        (5, EXPLICIT, UNCAUGHT),
        (6, Normal, RETURN),
    ];
    let expected = ["0 exception 1", "1 true 2", "1 false 3", "3 true 4", "3 false 5"];
    for matching in [MATCH, OLD_MATCH] {
        check(
            &[WORK, matching, WORK, matching, WORK, RERAISE, WORK],
            &edges,
            &expected,
        );
    }
}

/// `try:` / `try: a` / `except A: b` / `c` / `except B: d` / `e`
#[test]
fn a_mismatch_goes_on_to_the_outer_handler() {
    let edges = [
        (0, Normal, 4),
        (0, IMPLICIT, 1),
        (1, True, 2),
        (1, False, 3),
        (2, Normal, 4),
        (3, EXPLICIT, 5),
        (4, Normal, 8),
        (5, True, 6),
        (5, False, 7),
        (6, Normal, 8),
        (7, EXPLICIT, UNCAUGHT),
        (8, Normal, RETURN),
    ];
    let expected = [
        "0 exception 1",
        "1 true 2",
        "1 false 3",
        "1 false 5",
        "3 exception 5",
        "5 true 6",
        "5 false 7",
    ];
    check(
        &[WORK, MATCH, WORK, RERAISE, WORK, MATCH, WORK, RERAISE, WORK],
        &edges,
        &expected,
    );
}

/// `try:` / `if bad: raise A` / `work` / `except A: b` / `c`
#[test]
fn a_raise_in_a_try_decides_about_the_handler_and_the_rest_of_the_try() {
    let edges = [
        (0, True, 1),
        (0, False, 2),
        (1, EXPLICIT, 3),
        (2, Normal, 6),
        (2, IMPLICIT, 3),
        (3, True, 4),
        (3, False, 5),
        (4, Normal, 6),
        (5, EXPLICIT, UNCAUGHT),
        (6, Normal, RETURN),
    ];
    let expected = [
        "0 true 1",
        "0 true 3",
        "0 false 2",
        "1 exception 3",
        "2 exception 3",
        "3 true 4",
        "3 false 5",
    ];
    check(&[TEST, RAISE, WORK, MATCH, WORK, RERAISE, WORK], &edges, &expected);
}

/// `with a:` / `if bad: raise` / `work` / `after`
#[test]
fn a_with_statement_decides_by_the_result_of_its_exit() {
    let edges = [
        (0, True, 1),
        (0, False, 2),
        (1, EXPLICIT, 3),
        (2, Normal, 5),
        (2, IMPLICIT, 3),
        (3, True, 5),
        (3, False, 4),
        (4, EXPLICIT, UNCAUGHT),
        (5, Normal, RETURN),
    ];
    let exit = &[Op::WithExceptStart, TEST[0]];
    let expected = [
        "0 true 1",
        "0 true 3",
        "0 false 2",
        "0 false 5",
        "1 exception 3",
        "2 exception 3",
        "3 true 5",
        "3 false 4",
    ];
    check(&[TEST, RAISE, WORK, exit, RERAISE, WORK], &edges, &expected);
}

/// `try:` / `if bad: raise` / `work` / `finally: f` / `after`: `f` is there twice
#[test]
fn a_finally_body_on_the_exceptional_way_depends_on_the_failure() {
    let edges = [
        (0, True, 1),
        (0, False, 2),
        (1, EXPLICIT, 4),
        (2, Normal, 3),
        (2, IMPLICIT, 4),
        (3, Normal, RETURN),
        (4, EXPLICIT, UNCAUGHT),
    ];
    let cleanup = &[Op::Nop, RERAISE[0]];
    let expected = [
        "0 true 1",
        "0 true 4",
        "0 false 2",
        "0 false 3",
        "1 exception 4",
        "2 exception 4",
    ];
    check(&[TEST, RAISE, WORK, WORK, cleanup], &edges, &expected);
}

/// `while True:` / `try: return get()` / `except E:` / `if n > 3: raise` / `n += 1`
#[test]
fn a_retry_loop_comes_round_by_its_handler() {
    let edges = [
        (0, Normal, 1),
        (1, Normal, RETURN),
        (1, IMPLICIT, 2),
        (2, True, 3),
        (2, False, 6),
        (3, True, 4),
        (3, False, 5),
        (4, EXPLICIT, UNCAUGHT),
        (5, Normal, 1),
        (6, EXPLICIT, UNCAUGHT),
    ];
    let expected = [
        "1 exception 2",
        "2 true 3",
        "2 false 6",
        "3 true 4",
        "3 false 1",
        "3 false 5",
    ];
    check(&[WORK, WORK, MATCH, TEST, RAISE, WORK, RERAISE], &edges, &expected);
}

/// `while True:` / `if odd: left` / `step`
#[test]
fn an_endless_loop_is_judged_for_one_round() {
    let edges = [
        (0, Normal, 1),
        (1, True, 2),
        (1, False, 3),
        (2, Normal, 3),
        (3, Normal, 1),
    ];
    check(&[WORK, TEST, WORK, WORK], &edges, &["1 true 2"]);
    check(&[WORK, WORK], &[(0, Normal, 1), (1, Normal, 1)], &[]);
    // Only one arm ends in it.
    let edges = [(0, True, 1), (0, False, 2), (1, Normal, 1), (2, Normal, RETURN)];
    check(&[TEST, WORK, WORK], &edges, &["0 true 1", "0 false 2"]);
    // A block without any successor, as damaged bytecode may have.
    check(
        &[TEST, WORK, WORK],
        &[(0, True, 1), (0, False, 2), (2, Normal, RETURN)],
        &["0 true 1", "0 false 2"],
    );
}

/// `sys.exit()` / `b`: the call may raise, and goes on as far as the bytecode says
#[test]
fn a_call_that_never_returns_is_a_call() {
    let edges = [(0, Normal, 1), (0, IMPLICIT, UNCAUGHT), (1, Normal, RETURN)];
    check(&[WORK, WORK], &edges, &[]);
    assert_eq!(
        shown(&cdg(&body(&[WORK, WORK], &edges, None), Layer::Implicit)),
        ["0 normal 1"]
    );
}

/// `if a: yield`, with the guard of 3.12 and without
#[test]
fn the_generator_guard_is_seen_through() {
    let plain = [
        (0, True, 1),
        (0, False, 2),
        (1, Resume, 2),
        (0, IMPLICIT, UNCAUGHT),
        (1, IMPLICIT, UNCAUGHT),
        (2, EXPLICIT, UNCAUGHT),
    ];
    let guarded: Vec<_> = plain
        .iter()
        .map(|&(from, kind, to)| (from, kind, if to == UNCAUGHT { 3 } else { to }))
        .chain([(3, EXPLICIT, UNCAUGHT)])
        .collect();
    for layer in [Layer::Outcome, Layer::Implicit] {
        let without = cdg(&body(&[TEST, WORK, RAISE], &plain, None), layer);
        let with = cdg(&body(&[TEST, WORK, RAISE, RERAISE], &guarded, Some(3)), layer);
        let facts: Vec<_> = shown(&with).into_iter().filter(|fact| !fact.starts_with('3')).collect();
        assert_eq!(facts, shown(&without));
        assert_eq!(with.dependences_of(BlockId::new(3)).len(), 0);
    }
    assert_eq!(
        shown(&cdg(&body(&[TEST, WORK, RAISE], &plain, None), Layer::Outcome)),
        ["0 true 1"]
    );
}

/// `async for a in b: c` / `d`
#[test]
fn the_end_of_an_async_for_is_a_loop_exit() {
    let edges = [
        (0, Normal, 1),
        (0, IMPLICIT, 2),
        (1, Normal, 0),
        (1, IMPLICIT, UNCAUGHT),
        (2, Normal, 3),
        (2, EXPLICIT, UNCAUGHT),
        (3, Normal, RETURN),
    ];
    check(
        &[WORK, WORK, &[Op::EndAsyncFor], WORK],
        &edges,
        &["0 normal 0", "0 normal 1"],
    );
}

#[test]
fn a_body_that_could_not_be_lifted_has_no_dependences() {
    let empty = cdg(&Body::default(), Layer::Outcome);
    assert!(empty.dependences().is_empty() && empty.immediate_post_dominators().is_empty());
    assert_eq!(empty.dependences_of(BlockId::new(0)).len(), 0);
}

#[test]
fn a_long_elif_chain_takes_linear_time() {
    // Test k goes to arm k or to test k + 1; all arms go to the join.
    let tests = 3_000;
    let blocks: Vec<&[Op]> = (0..=2 * tests)
        .map(|block| if block < tests { TEST } else { WORK })
        .collect();
    let mut edges: Vec<_> = (0..tests)
        .flat_map(|k| {
            let next = if k + 1 < tests { k + 1 } else { 2 * tests };
            [(k, True, tests + k), (k, False, next), (tests + k, Normal, 2 * tests)]
        })
        .collect();
    edges.push((2 * tests, Normal, RETURN));
    assert_eq!(
        cdg(&body(&blocks, &edges, None), Layer::Outcome).dependences().len(),
        2 * tests - 1
    );
}

/// A graph as sets of successors, judged by brute force.
struct Naive {
    successors: Vec<Vec<usize>>,
    /// Ends a path, beside nodes of endless loops.
    exits: Vec<usize>,
}

impl Naive {
    fn reached(&self, from: usize, without: Option<usize>) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut stack = vec![from];
        while let Some(node) = stack.pop() {
            if Some(node) != without && found.insert(node) {
                stack.extend(&self.successors[node]);
            }
        }
        found
    }
    fn leaves(&self, from: usize, without: Option<usize>) -> bool {
        let reached = self.reached(from, without);
        self.exits.iter().any(|exit| reached.contains(exit))
    }
    /// Puts a node on the way back into the smallest node of every loop without exit. Returns where edges lead now.
    fn open_endless_loops(&mut self) {
        let count = self.successors.len();
        for first in 0..count {
            let region = self.reached(first, None);
            let is_loop = region
                .iter()
                .all(|&node| node >= first && self.reached(node, None).contains(&first));
            if self.leaves(first, None) || !is_loop {
                continue;
            }
            if self.successors[first].is_empty() {
                self.exits.push(first);
                continue;
            }
            let way_back = self.successors.len();
            for &node in &region {
                self.successors[node]
                    .iter_mut()
                    .filter(|to| **to == first)
                    .for_each(|to| *to = way_back);
            }
            self.successors.push(vec![first]);
            self.exits.push(way_back);
        }
    }
    fn post_dominates(&self, a: usize, b: usize) -> bool {
        a == b || !self.leaves(b, Some(a))
    }
}

/// The definition on all edges (or on those that are not implicit), as (branch, edge, block).
fn by_definition(body: &Body, implicit: bool) -> BTreeSet<(usize, usize, usize)> {
    let cfg = &body.cfg;
    let kept = |edge: &Edge| implicit || edge.kind != IMPLICIT;
    let mut naive = Naive {
        successors: vec![Vec::new(); cfg.blocks.len()],
        exits: vec![cfg.normal_exit.index(), cfg.exceptional_exit.index()],
    };
    // Position of each edge in the successor list of its source, which opening endless loops keeps.
    let mut places = Vec::new();
    for edge in cfg.edges.iter().filter(|edge| kept(edge)) {
        let row = &mut naive.successors[edge.from.index()];
        places.push((edge.from.index(), row.len()));
        row.push(edge.to.index());
    }
    naive.open_endless_loops();
    let ids = cfg
        .edges
        .iter_enumerated()
        .filter(|(_, edge)| kept(edge))
        .map(|(id, _)| id.index());
    let mut found = BTreeSet::new();
    for (id, &(branch, place)) in ids.zip(&places) {
        let target = naive.successors[branch][place];
        for block in 0..cfg.normal_exit.index() {
            let forced = naive.post_dominates(block, target);
            let anyway = block != branch && naive.post_dominates(block, branch);
            if forced && !anyway && !cfg.blocks[BlockId::from_index(branch)].unreachable {
                found.insert((branch, id, block));
            }
        }
    }
    found
}

fn triples(cdg: &Cdg) -> BTreeSet<(usize, usize, usize)> {
    cdg.dependences()
        .iter()
        .map(|d| (d.branch.index(), d.edge.index(), d.block.index()))
        .collect()
}

/// What a random block does at its end, and where: return, raise, jump, test, and with `clauses` also match, re-raise and
/// raise to a handler; then perhaps an implicit edge.
fn random_bodies(clauses: bool) -> impl Strategy<Value = Body> {
    (1_usize..9).prop_flat_map(move |count| {
        let row = (
            0_u8..if clauses { 9 } else { 6 },
            0..count,
            0..count,
            prop::option::weighted(0.4, 0..count + 1),
        );
        prop::collection::vec(row, count).prop_map(move |rows| {
            let mut blocks: Vec<&[Op]> = Vec::new();
            let mut edges = Vec::new();
            for (at, (kind, a, b, implicit)) in rows.into_iter().enumerate() {
                let (ops, out): (&[Op], Vec<_>) = match kind {
                    0 => (WORK, vec![(at, Normal, RETURN)]),
                    1 => (RAISE, vec![(at, EXPLICIT, UNCAUGHT)]),
                    2 => (WORK, vec![(at, Normal, a)]),
                    6 => (MATCH, vec![(at, True, a), (at, False, b)]),
                    7 => (RERAISE, vec![(at, EXPLICIT, if a < b { a } else { UNCAUGHT })]),
                    8 => (RAISE, vec![(at, EXPLICIT, a)]),
                    _ => (TEST, vec![(at, True, a), (at, False, b)]),
                };
                blocks.push(ops);
                edges.extend(out);
                edges.extend(implicit.map(|to| (at, IMPLICIT, if to == count { UNCAUGHT } else { to })));
            }
            body(&blocks, &edges, None)
        })
    })
}

/// Failure depth by repeated relaxation.
fn depths(body: &Body) -> IndexVec<BlockId, usize> {
    let mut depth = IndexVec::from_elem(usize::MAX, body.cfg.blocks.len());
    depth[BlockId::new(0)] = 0;
    for _ in body.cfg.blocks.ids() {
        for edge in body.cfg.edges.iter() {
            let costs = usize::from(edge.kind == IMPLICIT && edge.to != body.cfg.exceptional_exit);
            depth[edge.to] = depth[edge.to].min(depth[edge.from].saturating_add(costs));
        }
    }
    depth
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn implicit_layer_is_the_definition(body in random_bodies(true)) {
        prop_assert_eq!(triples(&cdg(&body, Layer::Implicit)), by_definition(&body, true));
    }

    #[test]
    fn outcome_layer_is_the_definition_without_failures_and_the_handlers(body in random_bodies(false)) {
        let (found, depth) = (triples(&cdg(&body, Layer::Outcome)), depths(&body));
        let edge = |id| body.cfg.edges[EdgeId::from_index(id)];
        let (implicit, written): (BTreeSet<_>, BTreeSet<_>) =
            found.iter().copied().partition(|&(_, id, _)| edge(id).kind == IMPLICIT);
        prop_assert_eq!(written, by_definition(&body, false));
        for &(_, id, block) in &implicit {
            prop_assert!(edge(id).to != body.cfg.exceptional_exit);
            prop_assert!(depth[BlockId::from_index(block)] >= depth[edge(id).to], "behind the handler");
        }
        // Every handler that would not run anyway depends on what enters it.
        let tree = cdg(&body, Layer::Outcome);
        for (id, edge) in body.cfg.edges.iter_enumerated() {
            let mut above = tree.immediate_post_dominators()[edge.from];
            let mut anyway = edge.to == body.cfg.exceptional_exit || body.cfg.blocks[edge.from].unreachable;
            while let Some(block) = above {
                anyway |= block == edge.to;
                above = tree.immediate_post_dominators()[block];
            }
            let triple = (edge.from.index(), id.index(), edge.to.index());
            prop_assert!(edge.kind != IMPLICIT || implicit.contains(&triple) != anyway, "{triple:?}");
        }
    }

    #[test]
    fn queries_agree(body in random_bodies(true)) {
        let cdg = cdg(&body, Layer::Outcome);
        let all: BTreeSet<_> = cdg.dependences().iter().copied().collect();
        let by_block: BTreeSet<_> = body.cfg.blocks.ids().flat_map(|block| cdg.dependences_of(block).copied()).collect();
        let by_branch: BTreeSet<_> = body.cfg.blocks.ids().flat_map(|block| cdg.controlled_by(block).to_vec()).collect();
        prop_assert_eq!(&by_block, &all);
        prop_assert_eq!(&by_branch, &all);
        prop_assert!(cdg.dependences().is_sorted());
    }
}
