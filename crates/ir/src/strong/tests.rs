//! All paths of random graphs walked one by one.

use super::{AttributeFacts, Hooks, StrongLoads, Surroundings};
use crate::{Block, BlockId, Body, Def, Edge, EdgeKind, Inst, InstId, NameId, Op, Slot, SlotId, ValueId};
use hognose_base::{Id, IndexVec};
use hognose_pyc::LocalKind;
use proptest::prelude::*;

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

/// Walks every distinct (block, memory) state: the stores that each load saw, if it saw one on every walk.
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
        .filter(|(_, stores)| !stores.contains(&None) && stores.len() <= super::MAX_STORES)
        .flat_map(|(load, stores)| stores.into_iter().flatten().map(move |store| (load, store)))
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
        let attribute = |name: NameId| AttributeFacts {
            stores: if exposed[name.index()] { 5 } else { 1 },
            descriptor: false,
        };
        let surroundings = Surroundings {
            attribute: &attribute,
            key: &|_| None,
            hooks: Hooks::default(),
            receivers_checked: false,
        };
        let walked = by_walking(&blocks, &body, exposed);
        let found = StrongLoads::of(&body, &surroundings);
        prop_assert_eq!(found.pairs(), walked);
        for &(load, store) in found.pairs() {
            prop_assert!(found.stores_of(load).contains(&(load, store)));
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
