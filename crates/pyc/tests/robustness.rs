//! Damaged files end in an error or in objects that hold together, never in a panic.

#![allow(clippy::unwrap_used)]

use hognose_pyc::{
    CompiledModule, Object, ObjectId, PositionTable, display_constant, exception_table, positions, qualnames, read_pyc,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const FIXTURES: [&[u8]; 8] = [
    include_bytes!("fixtures/sample_3.8.pyc"),
    include_bytes!("fixtures/sample_3.9.pyc"),
    include_bytes!("fixtures/sample_3.10.pyc"),
    include_bytes!("fixtures/sample_3.11.pyc"),
    include_bytes!("fixtures/sample_3.12.pyc"),
    include_bytes!("fixtures/sample_3.13.pyc"),
    include_bytes!("fixtures/sample_3.14.pyc"),
    include_bytes!("fixtures/sample_3.15.pyc"),
];

/// Walks all that the crate offers and checks what its documentation promises.
fn check(module: &CompiledModule) {
    let objects = &module.objects;
    let names = qualnames(module);
    assert_eq!(names.len(), objects.code_count());
    for (id, object) in objects.objects().iter_enumerated() {
        assert!(display_constant(objects, id, 100).len() < 2000);
        for &member in members(module, object) {
            assert!(member < id, "an object refers to a later one");
        }
    }
    for (index, code) in objects.codes().iter_enumerated() {
        assert_eq!(code.parent.is_none(), index.raw() == 0);
        assert!(code.parent.is_none_or(|parent| parent < index));
        assert!(code.parameter_count() as usize <= code.frame.len());
        assert!(code.frame.iter().all(|slot| objects.text(slot.name).is_some()));
        assert!(
            code.frame
                .iter()
                .take(code.parameter_count() as usize)
                .all(|slot| slot.kind.is_local())
        );
        assert!(code.deref_slots.iter().all(|&slot| (slot as usize) < code.frame.len()));
        assert!(
            objects
                .items(code.names)
                .iter()
                .all(|&name| objects.text(name).is_some())
        );
        assert!(objects.text(code.name).is_some() && objects.text(code.filename).is_some());
        assert_eq!(code.code.len % 2, 0);
        let table = PositionTable::of(objects, code, module.version);
        let mut end = 0;
        for range in positions(objects, code, module.version) {
            assert!(range.start == end && range.start < range.end && range.end <= code.code.len);
            assert_eq!(table.span_at(range.start), range.span);
            end = range.end;
        }
        if let Ok(entries) = exception_table(objects, code) {
            assert!(
                entries
                    .iter()
                    .all(|entry| entry.start < entry.end && entry.end <= code.code.len)
            );
            assert!(entries.windows(2).all(|pair| pair[0].end <= pair[1].start));
        }
    }
}

fn members<'a>(module: &'a CompiledModule, object: &'a Object) -> &'a [ObjectId] {
    match object {
        Object::Tuple(items)
        | Object::List(items)
        | Object::Set(items)
        | Object::FrozenSet(items)
        | Object::Dict(items)
        | Object::FrozenDict(items) => module.objects.items(*items),
        Object::Slice(parts) => parts,
        _ => &[],
    }
}

#[derive(Clone, Debug)]
enum Damage {
    FlipBit(u8),
    SetByte(u8),
    Cut,
    Remove,
    Insert(u8),
    Word(u32),
}

fn damage() -> impl Strategy<Value = (Damage, prop::sample::Index)> {
    let kind = prop_oneof![
        4 => (0..8_u8).prop_map(Damage::FlipBit),
        2 => any::<u8>().prop_map(Damage::SetByte),
        1 => Just(Damage::Cut),
        1 => Just(Damage::Remove),
        1 => any::<u8>().prop_map(Damage::Insert),
        1 => prop_oneof![Just(u32::MAX), Just(i32::MAX as u32), Just(1 << 24), any::<u32>()].prop_map(Damage::Word),
    ];
    (kind, any::<prop::sample::Index>())
}

fn apply(data: &mut Vec<u8>, damage: &Damage, at: prop::sample::Index) {
    if data.len() <= 20 {
        return;
    }
    // The header has tests of its own.
    let at = 16 + at.index(data.len() - 16);
    match *damage {
        Damage::FlipBit(bit) => data[at] ^= 1 << bit,
        Damage::SetByte(byte) => data[at] = byte,
        Damage::Cut => data.truncate(at),
        Damage::Remove => drop(data.remove(at)),
        Damage::Insert(byte) => data.insert(at, byte),
        Damage::Word(word) => {
            for (target, byte) in data[at..].iter_mut().zip(word.to_le_bytes()) {
                *target = byte;
            }
        }
    }
}

#[test]
fn ten_thousand_mutations() {
    let (mut accepted, mut rejected) = (0, 0);
    let mut runner = TestRunner::new(Config {
        cases: 10_000,
        failure_persistence: None,
        ..Config::default()
    });
    let input = (0..FIXTURES.len(), prop::collection::vec(damage(), 1..4));
    let counts = std::cell::RefCell::new((&mut accepted, &mut rejected));
    runner
        .run(&input, |(fixture, damages)| {
            let mut data = FIXTURES[fixture].to_vec();
            for (damage, at) in &damages {
                apply(&mut data, damage, *at);
            }
            let length = data.len() as u64;
            match read_pyc(data.into()) {
                Ok(module) => {
                    check(&module);
                    *counts.borrow_mut().0 += 1;
                }
                Err(error) => {
                    assert!(error.offset <= length);
                    *counts.borrow_mut().1 += 1;
                }
            }
            Ok(())
        })
        .unwrap();
    // Flips inside names and bytecode cannot be seen; flips of lengths and types are.
    assert!(
        accepted > 500 && rejected > 2000,
        "{accepted} accepted, {rejected} rejected"
    );
}

#[test]
fn the_fixtures_themselves_hold_together() {
    for data in FIXTURES {
        check(&read_pyc(data.into()).unwrap());
    }
}

#[test]
fn random_bytes_behind_a_header() {
    let mut runner = TestRunner::new(Config {
        cases: 2000,
        failure_persistence: None,
        ..Config::default()
    });
    let input = (0..FIXTURES.len(), prop::collection::vec(any::<u8>(), 0..200));
    runner
        .run(&input, |(fixture, rest)| {
            let mut data = FIXTURES[fixture][..16].to_vec();
            data.extend(rest);
            if let Ok(module) = read_pyc(data.into()) {
                check(&module);
            }
            Ok(())
        })
        .unwrap();
}
