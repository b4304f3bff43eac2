//! Every algorithm against a reference that is slow and obviously right, on random graphs: unreachable parts, self loops,
//! parallel edges and irreducible loops included.

use hognose_base::{Id, IndexVec, define_id};
use hognose_graph::{
    Components, Csr, Dominators, NodeSet, PostDominators, PriorityWorklist, TransitiveClosure, UnionFind, Worklist,
    dominance_frontiers, reachable, reverse_postorder,
};
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};

define_id! {
    /// A node.
    struct Node = "n";
}

const fn n(raw: u32) -> Node {
    Node::new(raw)
}

fn graph_of(count: usize, edges: &[(u32, u32)]) -> Csr<Node> {
    Csr::from_edges(count, edges.iter().map(|&(from, to)| (n(from), n(to))))
}

/// A graph of 1 to 12 nodes, sparse enough that unreachable parts are frequent.
fn graphs() -> impl Strategy<Value = Csr<Node>> {
    (1_u32..12).prop_flat_map(|count| {
        prop::collection::vec((0..count, 0..count), 0..(2 * count as usize + 1))
            .prop_map(move |edges| graph_of(count as usize, &edges))
    })
}

/// Nodes at the end of a path of at least one edge that does not enter `without`.
fn reached(graph: &Csr<Node>, from: Node, without: Option<Node>) -> BTreeSet<Node> {
    let mut found = BTreeSet::new();
    let mut stack = vec![from];
    while let Some(node) = stack.pop() {
        for &next in graph.successors(node) {
            if Some(next) != without && found.insert(next) {
                stack.push(next);
            }
        }
    }
    found
}

fn reached_or_self(graph: &Csr<Node>, from: Node, without: Option<Node>) -> BTreeSet<Node> {
    if without == Some(from) {
        return BTreeSet::new();
    }
    let mut found = reached(graph, from, without);
    found.insert(from);
    found
}

/// By definition: `b` is reachable, and not without passing `a`.
fn dominates(graph: &Csr<Node>, root: Node, a: Node, b: Node) -> bool {
    reached_or_self(graph, root, None).contains(&b) && (a == b || !reached_or_self(graph, root, Some(a)).contains(&b))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn csr_keeps_edges(count in 1_u32..9, raw in prop::collection::vec((0_u32..9, 0_u32..9), 0..30)) {
        let edges: Vec<_> = raw.into_iter().map(|(a, b)| (n(a % count), n(b % count))).collect();
        let graph = Csr::from_edges(count as usize, edges.iter().copied());
        for node in graph.nodes() {
            let expected: Vec<_> = edges.iter().filter(|e| e.0 == node).map(|e| e.1).collect();
            prop_assert_eq!(graph.successors(node), expected.as_slice());
            let incoming: Vec<_> = graph.edges().filter(|e| e.1 == node).map(|e| e.0).collect();
            let reversed = graph.reversed();
            prop_assert_eq!(reversed.successors(node), incoming.as_slice());
            let unique: Vec<_> = expected.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
            let simple = graph.simple();
            prop_assert_eq!(simple.successors(node), unique.as_slice());
        }
        prop_assert_eq!(graph.edge_count(), edges.len());
    }

    #[test]
    fn components_are_mutual_reachability(graph in graphs()) {
        let components = Components::of(&graph);
        for a in graph.nodes() {
            for b in graph.nodes() {
                let mutual = a == b || (reached(&graph, a, None).contains(&b) && reached(&graph, b, None).contains(&a));
                prop_assert_eq!(components.component(a) == components.component(b), mutual);
            }
            let component = components.component(a);
            prop_assert!(components.members(component).contains(&a));
            prop_assert_eq!(components.is_cyclic(component), reached(&graph, a, None).contains(&a));
        }
        prop_assert!(graph.edges().all(|(a, b)| components.component(a) >= components.component(b)));
        prop_assert_eq!(components.ids().map(|c| components.members(c).len()).sum::<usize>(), graph.node_count());
        let condensed = components.condensation(&graph);
        prop_assert!(condensed.edges().all(|(a, b)| a > b));
    }

    #[test]
    fn closure_is_reachability(graph in graphs()) {
        let closure = TransitiveClosure::of(&graph);
        for a in graph.nodes() {
            let expected = reached(&graph, a, None);
            prop_assert_eq!(closure.reached_from(a).iter().collect::<BTreeSet<_>>(), expected);
            let from_a: BTreeSet<_> = reachable(&graph, [a]).iter().collect();
            prop_assert_eq!(from_a, reached_or_self(&graph, a, None));
        }
    }

    #[test]
    fn dominators_are_unavoidable(graph in graphs(), pick in 0_u32..12) {
        let root = n(pick % u32::try_from(graph.node_count()).unwrap());
        let tree = Dominators::new(&graph, &graph.reversed(), root);
        for b in graph.nodes() {
            let strict: Vec<_> = graph.nodes().filter(|&a| a != b && dominates(&graph, root, a, b)).collect();
            for a in graph.nodes() {
                prop_assert_eq!(tree.dominates(a, b), dominates(&graph, root, a, b), "{:?} {:?}", a, b);
            }
            // The immediate dominator is the strict one that all other strict ones dominate.
            let immediate = strict.iter().copied().find(|&i| strict.iter().all(|&s| dominates(&graph, root, s, i)));
            prop_assert_eq!(tree.immediate(b), immediate);
            prop_assert_eq!(tree.is_reachable(b), reached_or_self(&graph, root, None).contains(&b));
        }
    }

    #[test]
    fn frontiers_by_definition(graph in graphs()) {
        let (root, reversed) = (n(0), graph.reversed());
        let tree = Dominators::new(&graph, &reversed, root);
        let frontiers = dominance_frontiers(&reversed, &tree);
        for node in graph.nodes() {
            let expected: Vec<_> = graph
                .nodes()
                .filter(|&f| {
                    let behind = reversed.successors(f).iter().any(|&p| dominates(&graph, root, node, p));
                    behind && !(node != f && dominates(&graph, root, node, f))
                })
                .collect();
            prop_assert_eq!(frontiers.successors(node), expected.as_slice(), "{:?}", node);
        }
    }

    #[test]
    fn post_dominators_are_unavoidable(graph in graphs(), picks in prop::collection::vec(0_u32..12, 0..3)) {
        let count = u32::try_from(graph.node_count()).unwrap();
        let exits: Vec<_> = picks.iter().map(|&pick| n(pick % count)).collect();
        let tree = PostDominators::new(&graph, &exits);
        // The rule for stuck regions, naively: nodes that cannot reach an exit and that all they reach can reach.
        let stuck = |a: Node| exits.iter().all(|&e| !reached_or_self(&graph, a, None).contains(&e));
        let sink = |a: Node| reached(&graph, a, None).iter().all(|&b| reached_or_self(&graph, b, None).contains(&a));
        let first = |a: Node| reached(&graph, a, None).iter().all(|&b| a <= b);
        let expected: Vec<_> = graph.nodes().filter(|&a| stuck(a) && sink(a) && first(a)).collect();
        prop_assert_eq!(tree.virtual_edges(), expected.as_slice());

        let exit = n(count);
        let to_exit = exits.iter().chain(&expected).map(|&e| (e, exit));
        let full = Csr::from_edges(graph.node_count() + 1, graph.edges().chain(to_exit));
        prop_assert_eq!(tree.virtual_exit(), exit);
        for b in graph.nodes() {
            prop_assert!(tree.tree().is_reachable(b));
            for a in graph.nodes() {
                let unavoidable = a == b || !reached_or_self(&full, b, Some(a)).contains(&exit);
                prop_assert_eq!(tree.post_dominates(a, b), unavoidable, "{:?} {:?}", a, b);
            }
            let chain: Vec<_> = tree.ancestors(b).collect();
            let all = graph.nodes().filter(|&a| tree.post_dominates(a, b)).count();
            prop_assert_eq!(chain.len(), all);
        }
    }

    #[test]
    fn reverse_postorder_is_topological_between_components(graph in graphs()) {
        let order = reverse_postorder(&graph, &[n(0)]);
        let expected = reached_or_self(&graph, n(0), None);
        prop_assert_eq!(order.len(), expected.len());
        prop_assert_eq!(order.iter().copied().collect::<BTreeSet<_>>(), expected);
        let position = |node| order.iter().position(|&at| at == node).unwrap();
        for &a in &order {
            for &b in graph.successors(a) {
                prop_assert!(position(a) < position(b) || reached_or_self(&graph, b, None).contains(&a));
            }
        }
    }

    #[test]
    fn union_find_is_a_partition(joins in prop::collection::vec((0_u32..10, 0_u32..10, any::<bool>()), 0..20)) {
        let mut sets: UnionFind<Node> = UnionFind::with_count(8);
        let mut naive: Vec<u32> = (0..10).collect();
        sets.grow(10);
        for (a, b, directed) in joins {
            let before = sets.find(n(a));
            let different = before != sets.find(n(b));
            let (kept, absorbed) = if directed { sets.union_into(n(a), n(b)) } else { sets.union(n(a), n(b)) };
            prop_assert_eq!(absorbed.is_some(), different);
            prop_assert!(!directed || kept == before);
            let (to, from) = (naive[a as usize], naive[b as usize]);
            naive.iter_mut().filter(|set| **set == from).for_each(|set| *set = to);
            for x in 0..10 {
                let size = naive.iter().filter(|&&set| set == naive[x as usize]).count();
                prop_assert_eq!(sets.size(n(x)) as usize, size);
                prop_assert_eq!(sets.find_shared(n(x)), sets.find(n(x)));
                for y in 0..10 {
                    prop_assert_eq!(sets.same(n(x), n(y)), naive[x as usize] == naive[y as usize]);
                }
            }
            prop_assert_eq!(sets.set_count(), naive.iter().collect::<BTreeSet<_>>().len());
        }
    }

    #[test]
    fn worklists_hold_each_node_once(actions in prop::collection::vec(prop::option::weighted(0.6, 0_u32..20), 0..60)) {
        let mut fifo: Worklist<Node> = Worklist::default();
        let mut fifo_naive: VecDeque<Node> = VecDeque::new();
        let ranks: IndexVec<Node, u32> = (0..20).map(|raw| (raw * 7) % 5).collect();
        let mut priority = PriorityWorklist::with_ranks(ranks.clone());
        let mut priority_naive: BTreeSet<(u32, Node)> = BTreeSet::new();
        for action in actions {
            if let Some(raw) = action {
                let waits = fifo_naive.contains(&n(raw));
                prop_assert_eq!(fifo.push(n(raw)), !waits);
                if !waits {
                    fifo_naive.push_back(n(raw));
                }
                prop_assert_eq!(priority.push(n(raw)), priority_naive.insert((ranks[n(raw)], n(raw))));
            } else {
                prop_assert_eq!(fifo.pop(), fifo_naive.pop_front());
                prop_assert_eq!(priority.pop(), priority_naive.pop_first().map(|(_, node)| node));
            }
            prop_assert_eq!((fifo.len(), priority.len()), (fifo_naive.len(), priority_naive.len()));
        }
    }
}

#[test]
fn priority_follows_an_order() {
    let graph = graph_of(4, &[(0, 2), (2, 1)]);
    let mut list = PriorityWorklist::in_order(4, &reverse_postorder(&graph, &[n(0)]));
    for node in graph.nodes().rev() {
        list.push(node);
    }
    let popped: Vec<_> = std::iter::from_fn(|| list.pop()).collect();
    assert_eq!(popped, [n(0), n(2), n(1), n(3)]);
}

#[test]
fn node_set_grows_and_forgets() {
    let mut set: NodeSet<Node> = [n(3), n(70)].into_iter().collect();
    assert!(set.insert(n(1000)) && !set.insert(n(3)));
    assert!(set.remove(n(70)) && !set.remove(n(70)) && !set.remove(n(5000)));
    assert_eq!(set.iter().collect::<Vec<_>>(), [n(3), n(1000)]);
}

#[test]
fn five_million_nodes_in_a_row_need_no_call_stack() {
    let count = 5_000_000;
    // A chain closed to one cycle half way, by closure: no edge array.
    let components = Components::<Node>::of_successors(count, |node, out| {
        let next = node.index() + 1;
        if next < count {
            out.push(Node::from_index(next));
        }
        if next == count / 2 {
            out.push(n(0));
        }
    });
    assert_eq!(components.len(), count / 2 + 1);
    assert_eq!(components.component(n(0)).index(), count / 2);
    assert_eq!(components.component(Node::from_index(count - 1)).index(), 0);
}

#[test]
fn a_long_elif_chain_is_near_linear() {
    // Test k goes to arm k and test k + 1; every arm goes to the one join.
    let tests = 100_000_u32;
    let join = 2 * tests;
    let edges: Vec<_> = (0..tests)
        .flat_map(|k| {
            [
                (k, tests + k),
                (k, if k + 1 < tests { k + 1 } else { join }),
                (tests + k, join),
            ]
        })
        .collect();
    let graph = graph_of(join as usize + 1, &edges);
    let reversed = graph.reversed();
    let tree = Dominators::new(&graph, &reversed, n(0));
    assert_eq!(tree.immediate(n(join)), Some(n(0)));
    let post = PostDominators::new(&graph, &[n(join)]);
    assert!(post.ancestors(n(0)).eq([n(0), n(join)]));
    assert_eq!(
        dominance_frontiers(&reversed, &tree).successors(n(tests - 1)),
        [n(join)]
    );
}
