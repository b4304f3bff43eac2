//! Real code of each interpreter against `dis`'s view of it (`data/samples`).

use crate::body::{Inst, Region};
use crate::names::NameTable;
use crate::op::{InstId, Op};
use crate::versions::{Lifted, lift};
use hognose_pyc::{CodeIndex, CompiledModule, PythonVersion, read_marshal};
use serde_json::Value;

const SAMPLES: [(u8, &str); 5] = [
    (10, include_str!("../../../data/samples/3.10.json")),
    (11, include_str!("../../../data/samples/3.11.json")),
    (12, include_str!("../../../data/samples/3.12.json")),
    (13, include_str!("../../../data/samples/3.13.json")),
    (14, include_str!("../../../data/samples/3.14.json")),
];

/// Opcodes that are folded into a later instruction.
const FOLDED: [&str; 3] = ["EXTENDED_ARG", "KW_NAMES", "PRECALL"];

struct Sample {
    minor: u8,
    facts: Value,
    module: CompiledModule,
}

fn samples() -> impl Iterator<Item = Sample> {
    SAMPLES.iter().map(|&(minor, text)| {
        let facts: Value = serde_json::from_str(text).unwrap();
        let hex = facts["marshal"].as_str().unwrap();
        let data: Vec<u8> = (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect();
        let module = read_marshal(data.into_boxed_slice(), PythonVersion::new(minor)).unwrap();
        Sample { minor, facts, module }
    })
}

impl Sample {
    /// Every code object with its facts, in preorder.
    fn codes(&self) -> Vec<(&Value, CodeIndex, Lifted)> {
        let mut names = NameTable::default();
        let facts = self.facts["codes"].as_array().unwrap();
        assert_eq!(facts.len(), self.module.objects.code_count());
        let lifted = self.module.objects.codes().ids().map(|code| {
            (
                code,
                lift(&self.module.objects, code, self.module.version, &mut names).unwrap(),
            )
        });
        facts
            .iter()
            .zip(lifted)
            .map(|(facts, (code, lifted))| (facts, code, lifted))
            .collect()
    }

    fn code(&self, name: &str) -> Lifted {
        let mut codes = self.codes().into_iter();
        codes.find(|(facts, ..)| facts["name"] == name).unwrap().2
    }
}

struct Instruction {
    offset: u32,
    name: String,
    target: Option<u32>,
}

fn instructions(facts: &Value) -> Vec<Instruction> {
    let number = |value: &Value| value.as_u64().map(|number| u32::try_from(number).unwrap());
    let one = |row: &Value| Instruction {
        offset: number(&row[0]).unwrap(),
        name: row[1].as_str().unwrap().to_owned(),
        target: number(&row[2]),
    };
    facts["instructions"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn offsets_are_those_of_dis() {
    for sample in samples() {
        for (facts, _, lifted) in sample.codes() {
            let instructions = instructions(facts);
            let kept = instructions
                .iter()
                .filter(|instruction| !FOLDED.contains(&instruction.name.as_str()));
            let expected: Vec<u32> = kept.map(|instruction| instruction.offset).collect();
            let mut offsets: Vec<u32> = lifted.insts.iter().map(|inst| inst.offset).collect();
            offsets.dedup();
            assert_eq!(offsets, expected, "3.{} {}", sample.minor, facts["name"]);
            let ordinals_count = lifted.insts.as_slice().windows(2).all(|pair| {
                let [first, second] = pair else { return false };
                if first.offset == second.offset {
                    second.ordinal == first.ordinal + 1
                } else {
                    second.ordinal == 0
                }
            });
            assert!(ordinals_count, "3.{} {}", sample.minor, facts["name"]);
        }
    }
}

/// Where execution really goes: behind what a specialised loop cleans up, past what is folded.
fn landing(instructions: &[Instruction], from: &Instruction, target: u32, minor: u8) -> u32 {
    let mut at = instructions
        .iter()
        .position(|instruction| instruction.offset == target)
        .unwrap();
    if from.name == "FOR_ITER" && minor >= 12 {
        assert_eq!(instructions[at].name, "END_FOR");
        at += 1;
        if minor == 13 {
            assert_eq!(instructions[at].name, "POP_TOP");
            at += 1;
        }
    }
    while FOLDED.contains(&instructions[at].name.as_str()) {
        at += 1;
    }
    instructions[at].offset
}

#[test]
fn jumps_are_those_of_dis() {
    let mut jumps = 0;
    for sample in samples() {
        for (facts, _, lifted) in sample.codes() {
            let instructions = instructions(facts);
            for instruction in &instructions {
                let setup = instruction.name.starts_with("SETUP_");
                let Some(target) = instruction.target.filter(|_| !setup) else {
                    continue;
                };
                let at = |inst: &&Inst| inst.offset == instruction.offset;
                let inst = lifted.insts.iter().rfind(at).unwrap();
                let to = lifted.insts[inst.op.target().unwrap()];
                let expected = landing(&instructions, instruction, target, sample.minor);
                assert_eq!(
                    to.offset, expected,
                    "3.{} {} at {}",
                    sample.minor, facts["name"], inst.offset
                );
                jumps += 1;
            }
        }
    }
    assert!(jumps > 200, "only {jumps} jumps");
}

#[test]
fn regions_are_the_exception_table() {
    for sample in samples().filter(|sample| sample.minor >= 11) {
        for (facts, _, lifted) in sample.codes() {
            let row = |region: &Region| {
                assert_eq!(lifted.insts[region.handler].offset, region.handler_offset);
                assert_eq!(region.pushed, 1 + u32::from(region.lasti));
                serde_json::json!([
                    region.start,
                    region.end,
                    region.handler_offset,
                    region.depth,
                    region.lasti
                ])
            };
            let regions: Vec<Value> = lifted.regions.iter().map(row).collect();
            assert_eq!(
                &Value::Array(regions),
                &facts["exceptions"],
                "3.{} {}",
                sample.minor,
                facts["name"]
            );
        }
    }
}

#[test]
fn generator_guards_are_marked() {
    for sample in samples() {
        let guards = |name: &str| {
            sample
                .code(name)
                .regions
                .iter()
                .filter(|region| region.generator_guard)
                .count()
        };
        assert_eq!(guards("chatter") > 0, sample.minor >= 12);
        assert_eq!(guards("gather") > 0, sample.minor >= 12);
        assert_eq!(guards("careful"), 0);
    }
}

fn at(lifted: &Lifted, offset: u32) -> Vec<String> {
    let here = lifted.insts.iter().filter(|inst| inst.offset == offset);
    here.map(|inst| inst.op.to_string()).collect()
}

fn offsets_of(lifted: &Lifted, mnemonic: &str) -> Vec<u32> {
    lifted
        .insts
        .iter()
        .filter(|inst| inst.op.mnemonic() == mnemonic)
        .map(|inst| inst.offset)
        .collect()
}

#[test]
fn the_running_example_has_its_offsets() {
    let sample = samples().find(|sample| sample.minor == 12).unwrap();
    let run = sample.code("run");
    assert_eq!(at(&run, 64), ["EnterContext"]);
    assert_eq!(at(&run, 66), ["StoreLocal l5"]);
    assert_eq!(offsets_of(&run, "Call"), [14, 36, 56, 78, 94, 112, 128]);
    let branch = run.insts.iter().find(|inst| inst.offset == 70).unwrap();
    assert!(matches!(branch.op, Op::Branch { target, .. } if run.insts[target].offset == 106));
    let first = run.regions[0];
    assert_eq!((first.start, first.end, first.handler_offset), (66, 86, 140));
    assert_eq!((first.depth, first.pushed, first.lasti), (1, 2, true));
    assert_eq!(offsets_of(&sample.code("invoke"), "Call"), [10]);
    assert_eq!(
        at(&run, 156),
        [format!("Const {}", constant(&run, 156)), "Return".to_owned()]
    );
}

fn constant(lifted: &Lifted, offset: u32) -> hognose_pyc::ObjectId {
    let found = lifted.insts.iter().find_map(|inst| match inst.op {
        Op::Const(object) if inst.offset == offset => Some(object),
        _ => None,
    });
    found.unwrap()
}

#[test]
fn a_with_block_of_3_10_becomes_regions() {
    let sample = samples().find(|sample| sample.minor == 10).unwrap();
    let run = sample.code("run");
    assert_eq!(at(&run, 20), ["EnterContext", "SetupBlock"]);
    let rows: Vec<_> = run
        .regions
        .iter()
        .map(|region| (region.start, region.end, region.handler_offset))
        .collect();
    assert_eq!(rows, [(22, 36, 72), (50, 58, 72)]);
    assert!(
        run.regions
            .iter()
            .all(|region| (region.depth, region.pushed, region.lasti) == (1, 6, false))
    );
}

#[test]
fn nested_handlers_of_3_10_find_the_inner_block_first() {
    let sample = samples().find(|sample| sample.minor == 10).unwrap();
    let careful = sample.code("careful");
    let instructions = instructions(
        sample
            .codes()
            .iter()
            .find(|(facts, ..)| facts["name"] == "careful")
            .unwrap()
            .0,
    );
    let setups: Vec<u32> = instructions
        .iter()
        .filter(|one| one.name == "SETUP_FINALLY")
        .filter_map(|one| one.target)
        .collect();
    // The outer `finally`, the `except` clauses, the inner `finally`, and the clean-up of `as problem`.
    assert_eq!(setups.len(), 4);
    let handler_of = |offset: u32| {
        careful
            .regions
            .iter()
            .find(|region| region.start <= offset && offset < region.end)
            .map(|region| region.handler_offset)
    };
    let calls = offsets_of(&careful, "Call");
    // `open`, `handle.read`, `handle.close` (returning), `handle.close` (raising).
    assert_eq!(handler_of(calls[0]), Some(setups[1]));
    assert_eq!(handler_of(calls[1]), Some(setups[2]));
    assert_eq!(handler_of(calls[2]), Some(setups[1]));
    // A handler is left by an exception to what is around its own `try`.
    let raises: Vec<u32> = careful
        .insts
        .iter()
        .filter(|inst| inst.op == Op::Raise(2))
        .map(|inst| inst.offset)
        .collect();
    assert_eq!(
        raises.iter().map(|&offset| handler_of(offset)).collect::<Vec<_>>(),
        [Some(setups[3])]
    );
}

#[test]
fn cells_are_made_at_the_start_in_every_version() {
    for sample in samples() {
        let invoke = sample.code("invoke");
        assert_eq!(invoke.insts[InstId::new(0)].op, Op::CopyFreeVars, "3.{}", sample.minor);
        let bind = sample.code("bind");
        assert_eq!(
            bind.insts[InstId::new(0)].op.mnemonic(),
            "MakeCell",
            "3.{}",
            sample.minor
        );
        assert_eq!(offsets_of(&bind, "LoadCell").len(), 1, "3.{}", sample.minor);
        let chatter = sample.code("chatter");
        assert_eq!(offsets_of(&chatter, "ReturnGenerator").len(), 1, "3.{}", sample.minor);
    }
}

#[test]
fn keyword_names_reach_their_call() {
    for sample in samples() {
        let careful = sample.code("careful");
        let with_names = careful
            .insts
            .iter()
            .filter(|inst| inst.op.to_string().contains("keywords"))
            .count();
        assert_eq!(with_names, 1, "3.{}", sample.minor);
    }
}
