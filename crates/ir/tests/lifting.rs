//! What the lifter makes of real bytecode of every version (`fixtures/lift`).
#![allow(clippy::unwrap_used)]

use hognose_base::Id;
use hognose_ir::{
    BlockId, Body, CallShape, Def, EdgeKind, FileIr, Op, ParameterKind, Signature, Ssa, TestKind, Var, ViolationKind,
    bind_arguments, imports, lift_file, verify,
};
use hognose_pyc::{CodeIndex, read_pyc};

const FILES: [(u8, &[u8]); 5] = [
    (10, include_bytes!("fixtures/lift/control.3.10.pyc")),
    (11, include_bytes!("fixtures/lift/control.3.11.pyc")),
    (12, include_bytes!("fixtures/lift/control.3.12.pyc")),
    (13, include_bytes!("fixtures/lift/control.3.13.pyc")),
    (14, include_bytes!("fixtures/lift/control.3.14.pyc")),
];

fn files() -> impl Iterator<Item = (u8, FileIr)> {
    FILES.into_iter().map(|(minor, data)| {
        let module = read_pyc(data.to_vec().into_boxed_slice()).unwrap();
        assert_eq!(module.version.minor, minor);
        (minor, lift_file(module))
    })
}

fn code(file: &FileIr, name: &str) -> CodeIndex {
    let objects = &file.module.objects;
    let named = |&index: &CodeIndex| objects.text(file.code(index).name).as_deref() == Some(name);
    file.bodies.ids().find(named).unwrap()
}

fn body<'a>(file: &'a FileIr, name: &str) -> &'a Body {
    &file.bodies[code(file, name)]
}

#[test]
fn text_of_3_12_is_as_recorded() {
    let (_, file) = files().nth(2).unwrap();
    let mut text = String::new();
    for name in ["run", "protected", "narrowing", "cells", "generator", "Body"] {
        text.push_str(&format!("== {name}\n{}\n", file.text(code(&file, name))));
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/lift/control.3.12.txt");
    if std::env::var_os("HOGNOSE_UPDATE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let recorded = std::fs::read_to_string(&path).unwrap();
    assert!(
        text == recorded,
        "differs from {}; HOGNOSE_UPDATE=1 rewrites it",
        path.display()
    );
}

/// The branch on `flag` in `run`, its outcomes, and the handler of the `with` statement.
#[test]
fn with_statement_has_the_same_graph_in_every_version() {
    for (minor, file) in files() {
        let body = body(&file, "run");
        let cfg = &body.cfg;
        let branches: Vec<_> = cfg.edges.iter().filter(|edge| edge.kind == EdgeKind::True).collect();
        assert_eq!(branches.len(), 2, "3.{minor}: `if flag` and the answer of __exit__");
        let branch = branches[0].from;
        let handler = cfg
            .successors(branch)
            .find_map(|(_, edge)| matches!(edge.kind, EdgeKind::Exception { explicit: false }).then_some(edge.to));
        let handler = handler.unwrap();
        assert!(body.handler_region(handler).is_some());
        let arms: Vec<_> = cfg.successors(branch).filter(|(_, edge)| edge.to != handler).collect();
        assert_eq!(arms.len(), 2);
        for (_, arm) in arms {
            let calls_callback = cfg
                .insts(arm.to)
                .any(|inst| matches!(body.insts[inst].op, Op::Call { argc: 1, .. }));
            let protected = cfg.successors(arm.to).any(|(_, edge)| edge.to == handler);
            assert!(calls_callback && protected, "3.{minor}");
        }
        let exit_call = body
            .insts
            .ids()
            .find(|&inst| body.insts[inst].op == Op::WithExceptStart)
            .unwrap();
        let exception = body.ssa.inputs(exit_call)[2];
        assert_eq!(body.ssa.values[exception], Def::Caught(handler), "3.{minor}");
        let explicit = cfg
            .edges
            .iter()
            .filter(|edge| edge.kind == EdgeKind::Exception { explicit: true });
        assert!(explicit.count() > 0, "3.{minor}");
    }
}

#[test]
fn with_statement_of_3_12_has_its_offsets() {
    let (_, file) = files().nth(2).unwrap();
    let body = body(&file, "run");
    let at = |offset| {
        body.insts
            .iter_enumerated()
            .find(|(_, inst)| inst.offset == offset)
            .unwrap()
    };
    let (enter, inst) = at(64);
    assert_eq!(inst.op, Op::EnterContext);
    assert_eq!((body.ssa.inputs(enter).len(), body.ssa.outputs(enter).len()), (1, 2));
    assert!(matches!(at(66).1.op, Op::StoreLocal(_)));
    let (branch, _) = at(70);
    let target = body.insts[branch].op.target().unwrap();
    assert_eq!(body.insts[target].offset, 106);
    let region = body.regions[0];
    let numbers = (
        region.start,
        region.end,
        region.handler_offset,
        region.depth,
        region.pushed,
    );
    assert_eq!(numbers, (66, 86, 140, 1, 2));
    assert!(region.lasti);
}

#[test]
fn bound_locals_do_not_raise() {
    for (minor, file) in files() {
        let body = body(&file, "run");
        let may = body.insts.iter().any(|inst| {
            matches!(
                inst.op,
                Op::LoadLocal {
                    may_be_unbound: true,
                    ..
                }
            )
        });
        assert!(!may, "3.{minor}: every local of `run` is bound where it is read");
        // In `narrowing`, `y` is deleted before its last read.
        let body = self::body(&file, "narrowing");
        let unbound = body.insts.ids().filter(|&inst| {
            matches!(body.insts[inst].op, Op::LoadLocal { .. }) && body.ssa.inputs(inst) == [Ssa::UNBOUND]
        });
        let unbound: Vec<_> = unbound.collect();
        assert_eq!(unbound.len(), 1, "3.{minor}");
        let block = body.cfg.block_of[unbound[0]];
        let raises = body
            .cfg
            .successors(block)
            .any(|(_, edge)| edge.to == body.cfg.exceptional_exit && edge.inst.is_some_and(|inst| inst <= unbound[0]));
        assert!(raises, "3.{minor}");
    }
}

#[test]
fn tests_are_recognised_and_refine() {
    for (minor, file) in files() {
        let body = body(&file, "narrowing");
        let mut kinds = Vec::new();
        for value in body.ssa.values.ids() {
            let Def::Refined { of, edge } = body.ssa.values[value] else {
                continue;
            };
            let fact = body.test_of(&file.module.objects, edge).unwrap();
            assert_eq!(
                body.source(fact.value),
                body.source(of),
                "3.{minor}: the fact is about the refined value"
            );
            kinds.push((kind_name(fact.kind), fact.holds));
        }
        for expected in [
            ("isinstance", true),
            ("isinstance", false),
            ("callable", true),
            ("type-is", true),
        ] {
            assert!(kinds.contains(&expected), "3.{minor}: {expected:?} among {kinds:?}");
        }
    }
}

fn kind_name(kind: TestKind) -> &'static str {
    match kind {
        TestKind::IsInstance { .. } => "isinstance",
        TestKind::IsNone => "is-none",
        TestKind::Truth => "truth",
        TestKind::Callable => "callable",
        TestKind::TypeIs { .. } => "type-is",
        TestKind::EqualsConst { .. } => "equals",
        TestKind::InConst { .. } => "in",
        TestKind::ExceptionMatch { .. } => "exception-match",
    }
}

#[test]
fn every_kind_of_test_occurs() {
    for (minor, file) in files() {
        let objects = &file.module.objects;
        let facts = file
            .bodies
            .iter()
            .flat_map(|body| body.cfg.edges.ids().filter_map(|e| body.test_of(objects, e)));
        let mut found: Vec<_> = facts.map(|fact| kind_name(fact.kind)).collect();
        found.sort_unstable();
        found.dedup();
        let all = [
            "callable",
            "equals",
            "exception-match",
            "in",
            "is-none",
            "isinstance",
            "truth",
            "type-is",
        ];
        assert_eq!(found, all, "3.{minor}");
    }
}

#[test]
fn except_clause_binds_the_refined_exception() {
    for (minor, file) in files() {
        let body = body(&file, "protected");
        let bound = body
            .insts
            .ids()
            .filter(|&inst| matches!(body.insts[inst].op, Op::StoreLocal(_)))
            .any(|inst| {
                let &[stored] = body.ssa.inputs(inst) else { return false };
                let Def::Refined { of, edge } = body.ssa.values[stored] else {
                    return false;
                };
                matches!(body.ssa.values[of], Def::Caught(_))
                    && body.test_of(&file.module.objects, edge).is_some_and(|fact| fact.holds)
            });
        assert!(bound, "3.{minor}");
    }
}

#[test]
fn imports_are_listed() {
    for (minor, file) in files() {
        let found: Vec<_> = imports(&file)
            .iter()
            .map(|import| {
                let names = import.names.as_ref().map(|names| {
                    names
                        .iter()
                        .map(|&name| file.module.objects.text(name).unwrap().into_owned())
                        .collect::<Vec<_>>()
                });
                assert!(!import.computed);
                (import.level, file.names[import.module].to_string(), names)
            })
            .collect();
        let expected = [
            (0, "os.path".to_owned(), None),
            (1, String::new(), Some(vec!["sibling".to_owned(), "other".to_owned()])),
            (2, "up".to_owned(), Some(vec!["*".to_owned()])),
        ];
        assert_eq!(found, expected, "3.{minor}");
    }
}

#[test]
fn names_have_their_values_at_the_exit() {
    for (minor, file) in files() {
        let body = body(&file, "Body");
        for (name, is_bound) in [("second", true), ("values", true), ("attribute", false)] {
            let var = body.ssa.vars.iter_enumerated().find(|(_, var)| match **var {
                Var::Name(id) => &*file.names[id] == name,
                Var::Slot(_) => false,
            });
            let value = body.ssa.at_normal_exit[var.unwrap().0];
            assert_eq!(value != Ssa::UNBOUND, is_bound, "3.{minor}: {name}");
        }
    }
}

#[test]
fn signature_of_code_binds() {
    for (minor, file) in files() {
        let index = code(&file, "cells");
        let signature = Signature::of_code(file.code(index), &file.bodies[index].slots);
        let names: Vec<_> = signature
            .parameters
            .iter()
            .map(|parameter| &*file.names[parameter.name])
            .collect();
        assert_eq!(names, ["a", "args", "b", "kwargs"], "3.{minor}");
        let slots: Vec<_> = signature
            .parameters
            .iter()
            .map(|parameter| parameter.slot.index())
            .collect();
        assert_eq!(slots, [0, 2, 1, 3]);
        assert_eq!(signature.parameters[1].kind, ParameterKind::VarPositional);
        let shape = CallShape {
            positional: 3,
            has_star: false,
            keywords: &[],
            has_double_star: false,
        };
        assert_eq!(bind_arguments(&shape, &signature).unwrap().of(1).len(), 2);
    }
}

#[test]
fn a_loop_at_the_start_has_an_entry_block() {
    for (minor, file) in files() {
        let body = body(&file, "loop_first");
        let entry = BlockId::new(0);
        assert!(body.cfg.predecessors(entry).is_empty(), "3.{minor}");
        assert!(!body.cfg.blocks[entry].unreachable);
    }
}

/// Damaged bytecode is a problem of its code object, or it is lifted; what is lifted holds together.
#[test]
fn damaged_files_are_lifted_or_refused() {
    let mut random = 0x2545_F491_4F6C_DD1D_u64;
    let mut below = |limit: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random >> 33).unwrap() % limit
    };
    let (mut sound, mut refused) = (0, 0);
    for (_, data) in FILES {
        for _ in 0..600 {
            let mut data = data.to_vec();
            for _ in 0..=below(3) {
                let at = 16 + below(data.len() - 16);
                data[at] = u8::try_from(below(256)).unwrap();
            }
            let Ok(module) = read_pyc(data.into_boxed_slice()) else {
                continue;
            };
            let file = lift_file(module);
            for (index, body) in file.bodies.iter_enumerated() {
                if body.problem.is_some() {
                    refused += 1;
                    assert!(body.insts.is_empty());
                    continue;
                }
                sound += 1;
                for violation in verify(body, file.code(index), file.module.version) {
                    // A stack size that the file states wrongly is the one thing that only the verifier checks.
                    let stated = matches!(
                        violation.kind,
                        ViolationKind::TooDeep { .. } | ViolationKind::PhiArity(_)
                    );
                    assert!(stated, "{violation}\n{}", file.text(index));
                }
            }
        }
    }
    assert!(sound > 1000 && refused > 100, "{sound} sound, {refused} refused");
}

/// The verifier must find what is put in.
#[test]
fn verifier_finds_planted_defects() {
    let plant = |name: &str, damage: fn(&mut Body)| {
        let (_, mut file) = files().nth(2).unwrap();
        let index = code(&file, name);
        damage(&mut file.bodies[index]);
        verify(&file.bodies[index], file.code(index), file.module.version)
    };
    assert!(plant("protected", |_| {}).is_empty());
    let late_use = plant("protected", |body| {
        let last = body.ssa.inputs.len() - 1;
        body.ssa.inputs[0] = body.ssa.inputs[last];
    });
    assert!(
        late_use
            .iter()
            .any(|v| matches!(v.kind, ViolationKind::NotDominated { .. })),
        "{late_use:?}"
    );
    let wrong_kind = plant("protected", |body| {
        let edge = body
            .cfg
            .edges
            .ids()
            .find(|&edge| body.cfg.edges[edge].kind == EdgeKind::True)
            .unwrap();
        body.cfg.edges[edge].kind = EdgeKind::Normal;
    });
    assert!(
        wrong_kind.iter().any(|v| matches!(v.kind, ViolationKind::Edge(_))),
        "{wrong_kind:?}"
    );
    let wrong_depth = plant("run", |body| body.regions[0].depth = 40);
    assert!(
        wrong_depth
            .iter()
            .any(|v| matches!(v.kind, ViolationKind::HandlerDepth(_))),
        "{wrong_depth:?}"
    );
    let deeper = plant("narrowing", |body| {
        let at = body
            .insts
            .ids()
            .find(|&inst| matches!(body.insts[inst].op, Op::StoreLocal(_)))
            .unwrap();
        body.insts[at].op = Op::Nop;
    });
    assert!(
        deeper.iter().any(|v| matches!(v.kind, ViolationKind::DepthMismatch(_))),
        "{deeper:?}"
    );
}
