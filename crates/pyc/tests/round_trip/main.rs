//! What a writer of marshal writes is read back, shared or not, in every version; and limits hold.

#![allow(clippy::unwrap_used)]

mod writer;

use hognose_base::Span;
use hognose_pyc::{
    CodeObject, CompiledModule, ExceptionEntry, Object, ObjectId, PositionTable, PythonVersion, ReadErrorKind,
    exception_table, positions, read_marshal,
};
use proptest::prelude::*;
use writer::{Code, Value, Writer};

fn write(version: PythonVersion, share: bool, code: &Code) -> Vec<u8> {
    let mut writer = Writer::new(version, share);
    writer.value(&Value::Code(Box::new(code.clone())));
    writer.out
}

fn read(version: PythonVersion, share: bool, code: &Code) -> CompiledModule {
    read_marshal(write(version, share, code).into(), version).unwrap()
}

fn is_same(module: &CompiledModule, id: ObjectId, value: &Value) -> bool {
    let objects = &module.objects;
    let all = |items: &[ObjectId], values: &[Value]| {
        items.len() == values.len()
            && items
                .iter()
                .zip(values)
                .all(|(&item, value)| is_same(module, item, value))
    };
    let flat = |pairs: &[(Value, Value)]| -> Vec<Value> {
        pairs
            .iter()
            .flat_map(|(key, value)| [key.clone(), value.clone()])
            .collect()
    };
    match (objects.get(id), value) {
        (Object::None, Value::None) | (Object::True, Value::True) | (Object::False, Value::False) => true,
        (Object::Ellipsis, Value::Ellipsis) => true,
        (Object::Int(read), Value::Int(number)) => i128::from(*read) == *number,
        (Object::BigInt { negative, digits }, Value::Int(number)) => {
            let magnitude = digits
                .iter()
                .rev()
                .fold(0_u128, |value, &digit| value << 15 | u128::from(digit));
            i64::try_from(*number).is_err() && magnitude == number.unsigned_abs() && *negative == (*number < 0)
        }
        (Object::Float(read), Value::Float(bits)) => read == bits,
        (Object::Complex(a, b), Value::Complex(c, d)) => (a, b) == (c, d),
        (Object::Str(run), Value::Str(text)) => objects.bytes(*run) == text.as_bytes(),
        (Object::Bytes(run), Value::Bytes(bytes)) => objects.bytes(*run) == bytes,
        (Object::Tuple(items), Value::Tuple(values))
        | (Object::List(items), Value::List(values))
        | (Object::FrozenSet(items), Value::FrozenSet(values)) => all(objects.items(*items), values),
        (Object::Dict(items), Value::Dict(pairs)) | (Object::FrozenDict(items), Value::FrozenDict(pairs)) => {
            all(objects.items(*items), &flat(pairs))
        }
        (Object::Slice(parts), Value::Slice(values)) => all(parts, &values[..]),
        (Object::Code(index), Value::Code(code)) => is_same_code(module, objects.code(*index), code),
        _ => false,
    }
}

fn is_same_code(module: &CompiledModule, read: &CodeObject, code: &Code) -> bool {
    let objects = &module.objects;
    let text = |id| objects.text(id).unwrap().into_owned();
    let names = |ids: &mut dyn Iterator<Item = ObjectId>| -> Vec<String> { ids.map(text).collect() };
    let consts = objects.items(read.consts);
    let frame: Vec<(String, u8)> = read.frame.iter().map(|slot| (text(slot.name), slot.kind.0)).collect();
    let numbered: Vec<String> = read
        .deref_slots
        .iter()
        .map(|&slot| frame[slot as usize].0.clone())
        .collect();
    let derefs: Vec<String> = code.cellvars.iter().chain(&code.freevars).cloned().collect();
    read.argcount == code.argcount
        && read.flags == code.flags
        && objects.bytes(read.code) == code.code
        && names(&mut objects.items(read.names).iter().copied()) == code.names
        && names(&mut read.varnames()) == code.varnames
        && names(&mut read.freevars()) == code.freevars
        && frame == code.frame()
        && (if module.version.at_least(11) {
            numbered.is_empty()
        } else {
            numbered == derefs
        })
        && text(read.name) == code.name
        && read.firstlineno == code.firstlineno
        && objects.bytes(read.linetable) == code.linetable
        && consts.len() == code.consts.len()
        && consts
            .iter()
            .zip(&code.consts)
            .all(|(&id, value)| is_same(module, id, value))
}

fn version() -> impl Strategy<Value = PythonVersion> {
    (8..=15_u8).prop_map(PythonVersion::new)
}

fn bytes(max: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..max)
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::None),
        Just(Value::True),
        Just(Value::False),
        Just(Value::Ellipsis),
        any::<i128>().prop_flat_map(|number| (0..127_u32).prop_map(move |shift| Value::Int(number >> shift))),
        any::<u64>().prop_map(Value::Float),
        any::<(u64, u64)>().prop_map(|(a, b)| Value::Complex(a, b)),
        ".{0,20}".prop_map(Value::Str),
        "[a-c]{300}".prop_map(Value::Str),
        bytes(20).prop_map(Value::Bytes),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 40, 6, |inner| {
        let values = prop::collection::vec(inner.clone(), 0..6);
        let pairs = prop::collection::vec((inner.clone(), inner), 0..3);
        prop_oneof![
            4 => values.clone().prop_map(Value::Tuple),
            1 => prop::collection::vec(leaf(), 257).prop_map(Value::Tuple),
            1 => values.clone().prop_map(Value::List),
            1 => values.clone().prop_map(Value::FrozenSet),
            1 => pairs.prop_map(Value::Dict),
            2 => code(values).prop_map(|code| Value::Code(Box::new(code))),
        ]
    })
}

fn code(consts: impl Strategy<Value = Vec<Value>>) -> impl Strategy<Value = Code> {
    let names = |prefix: &'static str| {
        prop::collection::vec(0..30_u8, 0..5).prop_map(move |numbers| {
            let unique: std::collections::BTreeSet<_> = numbers.into_iter().collect();
            unique
                .into_iter()
                .map(|number| format!("{prefix}{number}"))
                .collect::<Vec<_>>()
        })
    };
    (
        consts,
        (names("n"), names("v"), names("c"), names("f")),
        any::<u8>(),
        any::<u8>(),
        bytes(20),
        bytes(30),
        -1..99_i32,
    )
        .prop_map(
            |(consts, (names, varnames, cells, freevars), arguments, captured, code, linetable, firstlineno)| {
                let argcount = usize::from(arguments) % (varnames.len() + 1);
                // In the frame captured arguments come first, in both layouts.
                let mut cellvars: Vec<String> = varnames[..argcount].to_vec();
                cellvars.retain(|name| captured & (1 << (usize::from(name.as_bytes()[1]) % 8)) != 0);
                cellvars.extend(cells);
                Code {
                    argcount: argcount as u32,
                    code: [&code[..], &code[..]].concat(),
                    consts,
                    names,
                    varnames,
                    cellvars,
                    freevars,
                    firstlineno,
                    linetable,
                    ..Code::empty()
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn code_objects_come_back(root in code(prop::collection::vec(value(), 0..8)), version in version(), share: bool) {
        let module = read(version, share, &root);
        prop_assert!(is_same_code(&module, module.objects.codes().iter().next().unwrap(), &root));
    }

    #[test]
    fn what_is_equal_is_one_object(inner in code(prop::collection::vec(leaf(), 0..3)), version in version()) {
        let inner = Value::Code(Box::new(inner));
        let root = Code { consts: vec![inner.clone(), Value::Tuple(vec![inner.clone()]), inner], ..Code::empty() };
        prop_assert_eq!(read(version, true, &root).objects.code_count(), 2);
        prop_assert_eq!(read(version, false, &root).objects.code_count(), 4);
    }

    #[test]
    fn look_up_by_offset_is_a_linear_search(table in bytes(60), units in 0..60_usize, version in version()) {
        let root = Code { code: vec![0; units * 2], linetable: table, ..Code::empty() };
        let module = read(version, false, &root);
        let code = module.objects.codes().iter().next().unwrap();
        let table = PositionTable::of(&module.objects, code, version);
        let ranges: Vec<_> = positions(&module.objects, code, version).collect();
        for offset in 0..units as u32 * 2 + 4 {
            let found = ranges.iter().find(|range| range.start <= offset && offset < range.end);
            prop_assert_eq!(table.span_at(offset), found.map_or(Span::NONE, |range| range.span));
        }
    }

    #[test]
    fn exception_tables_come_back(parts in prop::collection::vec((0..90_u32, 1..5000_u32, 0..70_u32, any::<bool>()), 0..9)) {
        let mut at = 0;
        let mut entries = Vec::new();
        for (gap, size, depth, lasti) in parts {
            let start = at + gap * 2;
            at = start + size * 2;
            entries.push(ExceptionEntry { start, end: at, target: start, depth, lasti });
        }
        let table: Vec<u8> = entries.iter().flat_map(encode).collect();
        let root = Code { code: vec![0; at as usize + 2], exceptiontable: table.clone(), ..Code::empty() };
        let version = PythonVersion::new(12);
        let module = read(version, false, &root);
        prop_assert_eq!(exception_table(&module.objects, &module.objects.codes().as_slice()[0]).unwrap(), entries);
        if !table.is_empty() {
            // Without its last byte, or for shorter code, it is malformed.
            for (table, length) in [(table[..table.len() - 1].to_vec(), at as usize + 2), (table.clone(), at as usize - 2)] {
                let root = Code { code: vec![0; length], exceptiontable: table, ..Code::empty() };
                let module = read(version, false, &root);
                prop_assert!(exception_table(&module.objects, &module.objects.codes().as_slice()[0]).is_err());
            }
        }
    }
}

fn encode(entry: &ExceptionEntry) -> Vec<u8> {
    let numbers = [
        entry.start / 2,
        (entry.end - entry.start) / 2,
        entry.target / 2,
        entry.depth << 1 | u32::from(entry.lasti),
    ];
    let mut out = Vec::new();
    for number in numbers {
        let groups = (0..6).rev().map(|group| (number >> (group * 6)) as u8 & 0x3f);
        let mut groups: Vec<u8> = groups.skip_while(|&group| group == 0).collect();
        if groups.is_empty() {
            groups.push(0);
        }
        let last = groups.len() - 1;
        groups[..last].iter_mut().for_each(|group| *group |= 0x40);
        out.extend(groups);
    }
    out[0] |= 0x80;
    out
}

#[test]
fn values_of_newer_versions_only() {
    let slice = Value::Slice(Box::new([Value::Int(1), Value::None, Value::Int(-1)]));
    let dict = Value::FrozenDict(vec![(Value::Str("k".into()), slice.clone())]);
    for minor in 8..=15 {
        let version = PythonVersion::new(minor);
        for (value, since, kind) in [(&slice, 14, b':'), (&dict, 15, b'}')] {
            let root = Code {
                consts: vec![value.clone()],
                ..Code::empty()
            };
            let data = write(version, false, &root);
            match read_marshal(data.into(), version) {
                Ok(module) => {
                    assert!(minor >= since);
                    assert!(is_same_code(
                        &module,
                        module.objects.codes().iter().next().unwrap(),
                        &root
                    ));
                }
                Err(error) => assert!(minor < since && error.kind == ReadErrorKind::UnknownType(kind)),
            }
        }
    }
}

/// A code object whose constants are these bytes (already marshalled, `count` of them).
fn with_constants(count: u32, constants: &[u8]) -> Result<CompiledModule, ReadErrorKind> {
    let version = PythonVersion::new(12);
    let empty = write(version, false, &Code::empty());
    // type, five numbers, empty code bytes; then the empty tuple of constants, which is replaced.
    let at = 1 + 5 * 4 + 5;
    assert_eq!(empty[at..at + 2], [b')', 0]);
    let mut data = empty[..at].to_vec();
    data.push(b'(');
    data.extend(count.to_le_bytes());
    data.extend(constants);
    data.extend(&empty[at + 2..]);
    read_marshal(data.into(), version).map_err(|error| error.kind)
}

#[test]
fn nesting_is_bounded_and_costs_no_stack() {
    let nested = |depth: usize| [[b')', 1].repeat(depth), vec![b'N']].concat();
    let run = move || {
        assert!(with_constants(1, &nested(1900)).is_ok());
        assert_eq!(with_constants(1, &nested(2100)).unwrap_err(), ReadErrorKind::TooDeep);
        assert_eq!(
            with_constants(1, &nested(3_000_000)).unwrap_err(),
            ReadErrorKind::TooDeep
        );
    };
    std::thread::Builder::new()
        .stack_size(128 << 10)
        .spawn(run)
        .unwrap()
        .join()
        .unwrap();
}

/// Constants of which each is a tuple of `width` references to the one before.
fn chain(count: u32, width: u8) -> Result<CompiledModule, ReadErrorKind> {
    let mut constants = vec![b')' | 0x80, 1, b'N'];
    for number in 1..count {
        constants.extend([b')' | 0x80, width]);
        for _ in 0..width {
            constants.push(b'r');
            constants.extend((number - 1).to_le_bytes());
        }
    }
    with_constants(count, &constants)
}

#[test]
fn references_cannot_blow_up() {
    assert!(chain(300, 1).is_ok());
    assert_eq!(chain(2100, 1).unwrap_err(), ReadErrorKind::TooDeep);
    assert!(chain(13, 2).is_ok());
    assert_eq!(chain(200, 2).unwrap_err(), ReadErrorKind::TooMuchSharing);
}

#[test]
fn many_codes_cannot_share_one_large_field() {
    let inner = |number: i32| Code {
        linetable: vec![0; 20_000],
        firstlineno: number,
        ..Code::empty()
    };
    let consts = (0..5000).map(|number| Value::Code(Box::new(inner(number)))).collect();
    let version = PythonVersion::new(12);
    let data = write(
        version,
        true,
        &Code {
            consts,
            ..Code::empty()
        },
    );
    assert!(data.len() < 1_000_000);
    assert_eq!(
        read_marshal(data.into(), version).unwrap_err().kind,
        ReadErrorKind::TooMuchSharing
    );
}

#[test]
fn references_to_what_is_not_there() {
    let reference = |number: u32| [vec![b'r'], number.to_le_bytes().to_vec()].concat();
    assert_eq!(
        with_constants(1, &reference(0)).unwrap_err(),
        ReadErrorKind::InvalidReference(0)
    );
    // A tuple that contains itself.
    let cycle = [vec![b')' | 0x80, 1], reference(0)].concat();
    assert_eq!(
        with_constants(1, &cycle).unwrap_err(),
        ReadErrorKind::InvalidReference(0)
    );
    // The flag means nothing on None, so this is the number of the bytes that follow.
    let after_none = [vec![b'N' | 0x80, b's' | 0x80, 0, 0, 0, 0], reference(0)].concat();
    assert!(with_constants(3, &after_none).is_ok());
}

#[test]
fn lengths_are_checked_before_anything_is_kept() {
    for kind in *b"(<>[sua" {
        let huge = [vec![kind], 0x7fff_ffff_u32.to_le_bytes().to_vec()].concat();
        assert!(
            matches!(with_constants(1, &huge).unwrap_err(), ReadErrorKind::Truncated { .. }),
            "{}",
            kind as char
        );
        let negative = [vec![kind], u32::MAX.to_le_bytes().to_vec()].concat();
        assert_eq!(
            with_constants(1, &negative).unwrap_err(),
            ReadErrorKind::MalformedValue("length")
        );
    }
    assert_eq!(with_constants(1, b"0").unwrap_err(), ReadErrorKind::MissingObject);
    assert_eq!(with_constants(1, b"{N0").unwrap_err(), ReadErrorKind::MissingObject);
    assert_eq!(with_constants(1, b"?").unwrap_err(), ReadErrorKind::UnknownType(b'?'));
}

#[test]
fn the_root_must_be_code() {
    let read = |data: &[u8]| read_marshal(data.into(), PythonVersion::new(12)).unwrap_err().kind;
    assert_eq!(read(b"N"), ReadErrorKind::RootIsNotCode { found: "None" });
    assert_eq!(read(b")\x00"), ReadErrorKind::RootIsNotCode { found: "a tuple" });
    assert_eq!(read(b"\xffxyz"), ReadErrorKind::UnknownType(0xff));
    assert_eq!(read(b""), ReadErrorKind::Empty);
}

#[test]
fn fields_that_contradict_each_other() {
    let version = PythonVersion::new(12);
    let fails = |code: Code| {
        read_marshal(write(version, false, &code).into(), version)
            .unwrap_err()
            .kind
    };
    assert!(matches!(
        fails(Code {
            code: vec![0; 3],
            ..Code::empty()
        }),
        ReadErrorKind::InconsistentCode(_)
    ));
    let mut few = write(version, false, &Code::empty());
    few[1] = 1;
    let error = read_marshal(few.into(), version).unwrap_err().kind;
    assert_eq!(
        error,
        ReadErrorKind::InconsistentCode("fewer names of locals than arguments")
    );
    let names = with_constants(1, b"N").unwrap();
    assert_eq!(names.objects.code_count(), 1);
}
