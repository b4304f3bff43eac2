//! Import statements and the graph that they make.

use super::{ImportKind, ModuleGraph};
use crate::testing::link;

#[test]
fn kinds_externals_and_cycles() {
    let program = link(&[
        ("shop.__init__", ""),
        ("shop.cart", "from . import views\nimport json\n"),
        ("shop.views", "from .cart import *\nimport shop.models\n"),
        ("shop.models", "import os.path\nfrom ..beyond import x\n"),
        ("main", "import shop.cart\n"),
    ]);
    let graph = ModuleGraph::of(&program);
    let edges: Vec<(&str, &str, &str)> = graph
        .edges()
        .iter()
        .map(|edge| {
            (
                graph.nodes()[edge.from].name.as_str(),
                graph.nodes()[edge.to].name.as_str(),
                edge.kind.name(),
            )
        })
        .collect();
    let expected = [
        ("shop.cart", "shop", "relative"),
        ("shop.cart", "shop.views", "relative"),
        ("shop.cart", "json", "absolute"),
        ("shop.views", "shop", "namespace"),
        ("shop.views", "shop.cart", "relative"),
        ("shop.views", "shop.cart", "star"),
        ("shop.views", "shop.models", "absolute"),
        ("shop.models", "os", "namespace"),
        ("shop.models", "os.path", "absolute"),
        ("main", "shop", "namespace"),
        ("main", "shop.cart", "absolute"),
    ];
    for edge in expected {
        assert!(edges.contains(&edge), "{edge:?} not in {edges:?}");
    }
    assert!(graph.nodes()[graph.named("json").unwrap()].is_external());
    assert!(graph.nodes()[graph.named("shop").unwrap()].is_package);
    let cycles: Vec<Vec<&str>> = graph
        .cycles()
        .iter()
        .map(|cycle| cycle.iter().map(|&node| graph.nodes()[node].name.as_str()).collect())
        .collect();
    assert_eq!(cycles, [["shop.cart", "shop.views"]]);
    let main = graph.named("main").unwrap();
    assert!(graph.imports_of(main).iter().all(|edge| edge.from == main));
    assert_eq!(
        graph
            .imports_of(main)
            .iter()
            .filter(|edge| edge.kind == ImportKind::Absolute)
            .count(),
        1
    );
}
