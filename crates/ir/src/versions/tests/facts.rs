//! The generated tables and the semantic stack effects against what the interpreters report.

use crate::body::Slot;
use crate::op::{NameId, Op, SlotId};
use crate::versions::adapter::{Adapter, Frame};
use crate::versions::generated::{RawOp, TABLES};
use crate::versions::table::{JumpKind, OpcodeTable};
use crate::versions::wordcode::Word;
use crate::versions::{LiftProblem, SUPPORTED};
use hognose_base::IndexVec;
use hognose_pyc::{LocalKind, ObjectId, PythonVersion};
use serde_json::Value;
use std::collections::BTreeSet;

const FACTS: [(u8, &str); 8] = [
    (8, include_str!("../../../data/opcodes/3.8.json")),
    (9, include_str!("../../../data/opcodes/3.9.json")),
    (10, include_str!("../../../data/opcodes/3.10.json")),
    (11, include_str!("../../../data/opcodes/3.11.json")),
    (12, include_str!("../../../data/opcodes/3.12.json")),
    (13, include_str!("../../../data/opcodes/3.13.json")),
    (14, include_str!("../../../data/opcodes/3.14.json")),
    (15, include_str!("../../../data/opcodes/3.15.json")),
];

fn versions() -> impl Iterator<Item = (&'static OpcodeTable, Value)> {
    FACTS.iter().map(|(minor, text)| {
        let table = TABLES.iter().find(|table| table.minor == *minor).unwrap();
        (*table, serde_json::from_str(text).unwrap())
    })
}

#[test]
fn tables_are_what_the_facts_say() {
    for (table, facts) in versions() {
        let mut expected = BTreeSet::new();
        for (name, opcode) in facts["opcodes"].as_object().unwrap() {
            let caches = opcode.get("caches").map_or(0, |caches| caches.as_u64().unwrap());
            let jump = opcode.get("jump").map_or("none", |jump| jump.as_str().unwrap());
            expected.insert((opcode["code"].as_u64().unwrap(), name.clone(), caches, jump.to_owned()));
        }
        let row = |(code, row): (usize, &crate::versions::table::OpcodeRow)| {
            let jump = match row.jump {
                JumpKind::None => "none",
                JumpKind::Forward => "forward",
                JumpKind::Backward => "backward",
                JumpKind::Absolute => "absolute",
            };
            (
                code as u64,
                row.op.name().to_owned(),
                u64::from(row.caches),
                jump.to_owned(),
            )
        };
        let known = table
            .opcodes
            .iter()
            .enumerate()
            .filter(|(_, row)| row.op != RawOp::Invalid);
        assert_eq!(known.map(row).collect::<BTreeSet<_>>(), expected, "3.{}", table.minor);
        let number = |field: &str| facts[field].as_u64().unwrap();
        assert_eq!(u64::from(table.have_argument), number("have_argument"));
        assert_eq!(u64::from(table.extended_arg), number("extended_arg"));
        let lengths = [
            ("cmp_op", table.compare_ops.len()),
            ("nb_ops", table.binary_ops.len()),
            ("intrinsic_1", table.intrinsics_1.len()),
            ("intrinsic_2", table.intrinsics_2.len()),
            ("special_methods", table.special_methods.len()),
            ("common_constants", table.common_constants.len()),
        ];
        for (field, length) in lengths {
            assert_eq!(
                facts[field].as_array().unwrap().len(),
                length,
                "3.{} {field}",
                table.minor
            );
        }
    }
}

/// Translates one opcode in a frame that has everything its operand may index.
fn translate(table: &'static OpcodeTable, code: u8, arg: u32) -> Result<Vec<Op>, LiftProblem> {
    let consts = vec![ObjectId::new(0); 1024];
    let names = vec![NameId::new(0); 1024];
    let slot = Slot {
        name: NameId::new(0),
        kind: LocalKind(LocalKind::LOCAL),
    };
    let slots: IndexVec<SlotId, Slot> = IndexVec::from_elem(slot, 1024);
    let derefs: Vec<u32> = (0..1024).collect();
    let frame = Frame {
        consts: &consts,
        names: &names,
        slots: &slots,
        derefs: &derefs,
        suspends: false,
    };
    let mut adapter = Adapter::new(table, frame, 4);
    let row = table.opcodes[usize::from(code)];
    let arg = if code < table.have_argument { 0 } else { arg };
    let end = 4098 + 2 * u32::from(row.caches);
    let word = Word {
        op: row.op,
        code,
        arg,
        jump: row.jump,
        start: 4096,
        offset: 4096,
        end,
    };
    adapter.begin(word);
    adapter.translate(word)?;
    Ok(adapter.finish().0.iter().map(|inst| inst.op).collect())
}

/// Net effect of a sequence: falling through, and jumping at the last operation.
fn net(ops: &[Op], version: PythonVersion) -> (i64, i64) {
    let one = |op: &Op, jumping| {
        let effect = op.stack_effect(version, jumping);
        i64::from(effect.pushes) - i64::from(effect.pops)
    };
    let straight: i64 = ops.iter().map(|op| one(op, false)).sum();
    let jumping = match ops.split_last() {
        Some((last, before)) => before.iter().map(|op| one(op, false)).sum::<i64>() + one(last, true),
        None => 0,
    };
    (straight, jumping)
}

/// Opcodes whose effect differs from what CPython's `stack_effect` reports, with the versions, and why.
const DIFFERENT: [(&str, std::ops::RangeInclusive<u8>, &str); 12] = [
    (
        "GEN_START",
        10..=10,
        "CPython starts with the sent value on the stack; here the generator is made and popped",
    ),
    (
        "SETUP_FINALLY",
        9..=10,
        "CPython reports the handler's stack for the jump; regions carry it here",
    ),
    ("SETUP_WITH", 9..=10, "as SETUP_FINALLY"),
    (
        "SETUP_ASYNC_WITH",
        9..=10,
        "as SETUP_FINALLY; without an exception nothing changes",
    ),
    (
        "PRECALL",
        11..=11,
        "CPython counts the arguments here; the call counts them here",
    ),
    ("CALL", 11..=11, "as PRECALL: the call takes its callee and arguments"),
    (
        "RETURN_GENERATOR",
        11..=12,
        "CPython does not count the value that the next instruction pops",
    ),
    (
        "FOR_ITER",
        12..=13,
        "CPython jumps to the END_FOR; execution skips what pops behind the loop",
    ),
    ("FOR_ITER", 14..=14, "as before; the iterator stays for POP_ITER"),
    (
        "RETURN_VALUE",
        14..=14,
        "CPython counts the value that the caller receives",
    ),
    ("INTERPRETER_EXIT", 12..=14, "not in compiled code: unsupported"),
    ("EXIT_INIT_CHECK", 13..=14, "not in compiled code: unsupported"),
];

#[test]
fn stack_effects_are_those_of_cpython() {
    let mut different = BTreeSet::new();
    let mut compared = 0;
    for (table, facts) in versions().filter(|(table, _)| SUPPORTED.contains(&table.minor)) {
        let version = PythonVersion::new(table.minor);
        for (name, opcode) in facts["opcodes"].as_object().unwrap() {
            let code = u8::try_from(opcode["code"].as_u64().unwrap()).unwrap();
            let by_arg = match opcode.get("effect") {
                Some(Value::Object(by_arg)) => by_arg
                    .iter()
                    .map(|(arg, effect)| (arg.parse().unwrap(), effect.clone()))
                    .collect(),
                Some(same) => (0..9).map(|arg| (arg, same.clone())).collect(),
                None => Vec::new(),
            };
            let mut valid = 0;
            for (arg, effect) in by_arg {
                let Ok(ops) = translate(table, code, arg) else { continue };
                valid += 1;
                let pair = match &effect {
                    Value::Array(pair) => (pair[0].as_i64().unwrap(), pair[1].as_i64().unwrap()),
                    one => (one.as_i64().unwrap(), one.as_i64().unwrap()),
                };
                let jumps = ops.last().is_some_and(|op| op.target().is_some());
                let ours = net(&ops, version);
                let setup = name.starts_with("SETUP_") && name != "SETUP_ANNOTATIONS";
                let agree = ours.0 == pair.0 && (ours.1 == pair.1 || !(jumps || setup));
                if !agree {
                    different.insert((name.clone(), table.minor));
                }
                compared += 1;
            }
            assert!(valid > 0, "3.{} {name} has no valid operand", table.minor);
        }
    }
    let listed = |(name, minors, _): &(&str, std::ops::RangeInclusive<u8>, &str)| {
        minors
            .clone()
            .map(|minor| ((*name).to_owned(), minor))
            .collect::<Vec<_>>()
    };
    assert_eq!(different, DIFFERENT.iter().flat_map(listed).collect());
    assert!(compared > 3000, "only {compared} compared");
}

#[test]
fn only_what_compilers_never_emit_is_unsupported() {
    for (table, facts) in versions().filter(|(table, _)| SUPPORTED.contains(&table.minor)) {
        for (name, opcode) in facts["opcodes"].as_object().unwrap() {
            let code = u8::try_from(opcode["code"].as_u64().unwrap()).unwrap();
            let supported = (0..9)
                .filter_map(|arg| translate(table, code, arg).ok())
                .all(|ops| !ops.iter().any(|op| matches!(op, Op::Unsupported(_))));
            let internal = matches!(
                name.as_str(),
                "CACHE" | "RESERVED" | "INTERPRETER_EXIT" | "EXIT_INIT_CHECK" | "ENTER_EXECUTOR" | "EXTENDED_ARG"
            );
            assert_eq!(supported, !internal, "3.{} {name}", table.minor);
        }
    }
}

#[test]
fn what_an_operation_takes_it_reaches() {
    for (table, facts) in versions().filter(|(table, _)| SUPPORTED.contains(&table.minor)) {
        let version = PythonVersion::new(table.minor);
        for opcode in facts["opcodes"].as_object().unwrap().values() {
            let code = u8::try_from(opcode["code"].as_u64().unwrap()).unwrap();
            for op in (0..9).filter_map(|arg| translate(table, code, arg).ok()).flatten() {
                for jumping in [false, true] {
                    assert!(op.stack_effect(version, jumping).pops <= op.reach(version), "{op}");
                }
            }
        }
    }
}
