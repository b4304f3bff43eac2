use super::*;
use crate::marker::VariablePath;
use crate::observed::{ObservedBlock, ObservedClass, ObservedEdge, ObservedSite};
use crate::parse_cases;
use std::path::Path;

fn case(program: &str, facts: &str, config: &str) -> Case {
    let text = format!("# T\n## A\n~~~toml\n{config}\n~~~\n~~~py\n{program}\n~~~\n~~~facts\n{facts}\n~~~\n");
    let (mut file, errors) = parse_cases(Path::new("t.md"), "t", &text);
    assert_eq!(errors, []);
    file.cases.remove(0)
}

fn at(line: u32) -> Place {
    Place { module: 0, line }
}

fn function(name: &str, line: u32) -> ObservedFunction {
    ObservedFunction {
        name: name.to_owned(),
        at: at(line),
    }
}

fn site(line: u32, targets: &[u32], unresolved: &[UnresolvedKind]) -> ObservedSite {
    ObservedSite {
        at: at(line),
        targets: targets.to_vec(),
        unresolved: unresolved.to_vec(),
    }
}

fn two_functions(sites: Vec<ObservedSite>) -> ObservedFacts {
    ObservedFacts {
        functions: vec![function("f", 1), function("g", 2)],
        sites,
        ..ObservedFacts::default()
    }
}

const CALLS: &str = "def f(): pass\ndef g(): pass\nf()  # calls: f, g";

#[test]
fn equal_calls_pass_over_several_sites() {
    let observed = two_functions(vec![site(3, &[0], &[]), site(3, &[1, 0], &[]), site(4, &[], &[])]);
    let found = check_case(&case(CALLS, "", ""), &observed);
    assert_eq!(found, []);
}

#[test]
fn a_missing_call_fails() {
    let case = case(CALLS, "", "");
    let found = check_case(&case, &two_functions(vec![site(3, &[0], &[])]));
    let expected = "line 9: calls\n  main.py:3 | f()  # calls: f, g\n  expected: f, g\n  found:    f\n";
    assert_eq!(
        judge(&case, Target::Source, &found),
        Verdict::Failed(expected.to_owned())
    );
}

#[test]
fn an_unexpected_call_fails() {
    let observed = two_functions(vec![site(3, &[0, 1], &[])]);
    for marker in ["calls: f", "calls~: f"] {
        let found = check_case(
            &case(&format!("def f(): pass\ndef g(): pass\nf()  # {marker}"), "", ""),
            &observed,
        );
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].expected.as_str(), found[0].found.as_str()), ("f", "f, g"));
    }
    let none = case("def f(): pass\ndef g(): pass\nf()  # calls: none", "", "");
    assert_eq!(check_case(&none, &observed)[0].found, "f, g");
    assert_eq!(check_case(&none, &two_functions(Vec::new())), []);
}

#[test]
fn a_case_marked_as_bug_must_fail() {
    let case = case(CALLS, "", "bug = \"merged\"");
    let right = check_case(&case, &two_functions(vec![site(3, &[0, 1], &[])]));
    let verdict = judge(&case, Target::Source, &right);
    assert_eq!(
        verdict,
        Verdict::Failed("every fact holds: remove `bug = \"merged\"` from the case\n".to_owned())
    );
    let wrong = check_case(&case, &two_functions(Vec::new()));
    assert_eq!(judge(&case, Target::Source, &wrong), Verdict::Passed { bug: true });
}

#[test]
fn a_bug_may_be_one_of_some_versions() {
    let case = case(CALLS, "", "bug = \"why\"\nbug_in = [\"3.10\"]");
    let right = check_case(&case, &two_functions(vec![site(3, &[0, 1], &[])]));
    let wrong = check_case(&case, &two_functions(vec![site(3, &[0], &[])]));
    assert_eq!(judge(&case, Target::Py310, &wrong), Verdict::Passed { bug: true });
    assert_eq!(judge(&case, Target::Source, &right), Verdict::Passed { bug: false });
    assert!(matches!(judge(&case, Target::Py310, &right), Verdict::Failed(_)));
    assert!(matches!(judge(&case, Target::Source, &wrong), Verdict::Failed(_)));
}

#[test]
fn calls_of_a_decorated_header_count_at_the_definition() {
    let case = case("def f(n): pass\n@f\n@f\ndef g(): pass  # calls: f", "", "");
    for line in [2, 4] {
        assert_eq!(check_case(&case, &two_functions(vec![site(line, &[0], &[])])), []);
    }
    assert_eq!(check_case(&case, &two_functions(Vec::new())).len(), 1);
}

#[test]
fn functions_of_one_name_are_told_apart_by_place() {
    let mut observed = two_functions(vec![site(4, &[1], &[])]);
    observed.functions[1] = function("f", 2);
    let program = |marker: &str| format!("def f(): pass\ndef f(): pass  # @two\nx\nf()  # calls: {marker}");
    for (marker, count) in [("f", 0), ("f@two", 0), ("f@2", 0), ("f@1", 1), ("f@1, f@2", 1)] {
        let found = check_case(&case(&program(marker), "", ""), &observed);
        assert_eq!(found.len(), count, "{marker}");
        assert!(found.iter().all(|mismatch| mismatch.found == "f@two"));
    }
}

#[test]
fn unresolved_kinds_match_both_ways() {
    let case = case("f()  # unresolved: external, protocol", "", "");
    let observed = |kinds: &[UnresolvedKind]| two_functions(vec![site(1, &[], kinds)]);
    let (external, protocol) = (UnresolvedKind::External, UnresolvedKind::Protocol);
    assert_eq!(check_case(&case, &observed(&[protocol, external])), []);
    assert_eq!(check_case(&case, &observed(&[external]))[0].found, "external");
    let more = check_case(&case, &observed(&[external, protocol, UnresolvedKind::Budget]));
    assert_eq!(more[0].found, "external, protocol, budget");
}

#[test]
fn points_to_sets_match_both_ways() {
    let case = case(
        "class A: pass  # @A\nx = A()\ny = x  # pts: x.f = A()@2 | class A@A | int",
        "",
        "",
    );
    let path = VariablePath {
        variable: "x".into(),
        steps: vec![crate::VariableStep::Field("f".into())],
    };
    let observed = |objects: &[(&str, u32)], unknown| {
        let pointee = |&(name, line): &(&str, u32)| Pointee {
            name: name.to_owned(),
            at: Some(at(line)),
        };
        let objects = objects.iter().map(pointee).collect();
        let points_to = BTreeMap::from([((at(3), path.clone()), PointsToAnswer { objects, unknown })]);
        ObservedFacts {
            points_to,
            ..ObservedFacts::default()
        }
    };
    let right = [("A()", 2), ("class A", 1), ("int", 7)];
    assert_eq!(check_case(&case, &observed(&right, false)), []);
    let found = |objects: &[(&str, u32)], unknown| check_case(&case, &observed(objects, unknown))[0].found.clone();
    assert_eq!(found(&right, true), "A()@2 | class A@A | int@7 | unknown");
    assert_eq!(found(&right[..2], false), "A()@2 | class A@A");
    assert_eq!(
        found(&[("A()", 3), right[1], right[2]], false),
        "A()@3 | class A@A | int@7"
    );
    assert_eq!(
        check_case(&case, &ObservedFacts::default())[0].found,
        "no such variable"
    );
}

/// Holds with `facts` and fails with each of `facts` negated, or the other way round.
fn both(program: &str, observed: &ObservedFacts, holding: &[&str], failing: &[&str]) {
    for (facts, holds) in holding
        .iter()
        .map(|fact| (fact, true))
        .chain(failing.iter().map(|fact| (fact, false)))
    {
        let plain = check_case(&case(program, facts, ""), observed);
        let negated = check_case(&case(program, &format!("not {facts}"), ""), observed);
        assert_eq!(
            (plain.is_empty(), negated.is_empty()),
            (holds, !holds),
            "{facts}: {plain:?}"
        );
    }
}

#[test]
fn control_flow_facts() {
    let edge = |kind, to| ObservedEdge { kind, to };
    let block = |lines: &[u32], edges: Vec<ObservedEdge>, reachable| ObservedBlock {
        lines: lines.iter().map(|&line| at(line)).collect(),
        reachable,
        edges,
    };
    let observed = ObservedFacts {
        blocks: vec![
            block(
                &[1],
                vec![edge(EdgeKind::True, Some(1)), edge(EdgeKind::Implicit, None)],
                true,
            ),
            block(&[], vec![edge(EdgeKind::Normal, Some(2))], true),
            block(&[2, 3], vec![edge(EdgeKind::Normal, None)], true),
            block(&[4], vec![edge(EdgeKind::Normal, Some(2))], false),
        ],
        reachable: BTreeSet::from([at(1), at(2), at(3)]),
        ..ObservedFacts::default()
    };
    let holding = [
        "cfg @a -true-> @b",
        "cfg @a -exception-> exit",
        "cfg @a -implicit-> exit",
        "cfg @c -normal-> exit",
        "cfg unreachable @d",
    ];
    let failing = [
        "cfg @a -false-> @b",
        "cfg @a -true-> @c",
        "cfg @a -explicit-> exit",
        "cfg @a -normal-> exit",
        "cfg @d -normal-> @b",
        "cfg unreachable @c",
    ];
    both("a  # @a\nb  # @b\nc  # @c\nd  # @d", &observed, &holding, &failing);
}

#[test]
fn control_passes_within_a_block_and_through_clean_ups() {
    let edge = |kind, to| ObservedEdge { kind, to };
    let block = |lines: &[u32], edges: Vec<ObservedEdge>| ObservedBlock {
        lines: lines.iter().map(|&line| at(line)).collect(),
        reachable: true,
        edges,
    };
    let observed = ObservedFacts {
        blocks: vec![
            block(
                &[1, 2],
                vec![edge(EdgeKind::True, Some(1)), edge(EdgeKind::False, Some(3))],
            ),
            // The rest of line 2, then line 3; it raises into a clean-up that raises again.
            block(&[2, 3], vec![edge(EdgeKind::Explicit, Some(2))]),
            block(
                &[],
                vec![edge(EdgeKind::Implicit, None), edge(EdgeKind::Explicit, None)],
            ),
            block(&[4], vec![edge(EdgeKind::Resume, Some(4))]),
            block(&[4, 5], vec![edge(EdgeKind::Normal, None)]),
        ],
        ..ObservedFacts::default()
    };
    let holding = [
        "cfg @a -normal-> @b",
        "cfg @b -true-> @c",
        "cfg @c -explicit-> exit",
        "cfg @d -resume-> @d",
        "cfg @d -resume-> @e",
    ];
    let failing = ["cfg @a -normal-> @c", "cfg @c -implicit-> exit", "cfg @d -normal-> @e"];
    both(
        "a  # @a\nb  # @b\nc  # @c\nd  # @d\ne  # @e",
        &observed,
        &holding,
        &failing,
    );
}

#[test]
fn dependence_facts() {
    let observed = ObservedFacts {
        control: BTreeSet::from([(at(1), Outcome::True, at(2))]),
        data_nodes: vec![Some(at(1)), Some(at(1)), Some(at(2)), None, Some(at(3)), Some(at(4))],
        data_edges: vec![(0, 1), (1, 2), (2, 3), (3, 4), (4, 4)],
        ..ObservedFacts::default()
    };
    let holding = [
        "cdg @a true @b",
        "cdg @a * @b",
        "ddg @a -> @b",
        "ddg @a => @b",
        "ddg @a -> @c",
        "ddg @b => @c",
        "ddg @a => @a",
    ];
    let failing = [
        "cdg @a false @b",
        "cdg @b * @a",
        "ddg @a => @c",
        "ddg @c -> @a",
        "ddg @a -> @d",
        "ddg @b -> @b",
    ];
    both("a  # @a\nb  # @b\nc  # @c\nd  # @d", &observed, &holding, &failing);
}

#[test]
fn class_and_import_facts() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let class = |mro: &[&str], subclasses: &[&str]| ObservedClass {
        mro: names(mro),
        subclasses: names(subclasses).into_iter().collect(),
    };
    let observed = ObservedFacts {
        classes: BTreeMap::from([
            ("A".to_owned(), class(&["A", "object"], &["C", "B"])),
            ("C".to_owned(), class(&["C", "A", "object"], &[])),
        ]),
        imports: BTreeSet::from([("main".to_owned(), "os.path".to_owned())]),
        ..ObservedFacts::default()
    };
    let holding = [
        "class C mro = C, A, object",
        "class A subclasses = B, C",
        "class C subclasses = none",
        "import main -> os.path",
    ];
    let failing = [
        "class C mro = C, object, A",
        "class D mro = D, object",
        "class A subclasses = B",
        "class A subclasses = none",
        "import main -> os",
        "import os.path -> main",
    ];
    both("pass", &observed, &holding, &failing);
}

#[test]
fn an_updated_case_passes() {
    let text =
        "# T\n## A\n~~~py\ndef f(): pass\ndef g(): pass\n# ^below calls: f\nf()  # unresolved: none  -- why\n~~~\n";
    let parse = |text: &str| parse_cases(Path::new("t.md"), "t", text).0.cases.remove(0);
    let observed = two_functions(vec![site(4, &[0, 1], &[UnresolvedKind::External])]);
    let mismatches = check_case(&parse(text), &observed);
    assert_eq!(mismatches.len(), 2);
    let updated = crate::update_markers(text, &mismatches);
    assert!(
        updated.contains("# ^below calls: f, g\nf()  # unresolved: external  -- why\n"),
        "{updated}"
    );
    assert_eq!(check_case(&parse(&updated), &observed), []);
}
