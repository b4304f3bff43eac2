//! Real files of every supported version, against what the interpreters that wrote them say.
//!
//! The files and listings are made by `tests/fixtures/make.py`.

#![allow(clippy::unwrap_used)]

#[path = "../examples/dump_fields/fields.rs"]
mod fields;

use hognose_pyc::{
    CompiledModule, Object, PythonVersion, ReadErrorKind, Validation, display_constant, qualnames, read_marshal,
    read_pyc,
};
use std::path::PathBuf;

const HEADER: usize = 16;
const VERSIONS: std::ops::RangeInclusive<u8> = 8..=15;

fn path(minor: u8, extension: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/sample_3.{minor}.{extension}"))
}

fn bytes(minor: u8) -> Vec<u8> {
    std::fs::read(path(minor, "pyc")).unwrap()
}

fn module(minor: u8) -> CompiledModule {
    read_pyc(bytes(minor).into()).unwrap()
}

#[test]
fn every_field_is_what_the_interpreter_reports() {
    for minor in VERSIONS {
        let listing = std::fs::read_to_string(path(minor, "jsonl")).unwrap();
        let module = module(minor);
        assert_eq!(module.version, PythonVersion::new(minor));
        assert_eq!(
            module.header.as_ref().unwrap().validation,
            Validation::Timestamp { mtime: 0, size: 0 }
        );
        let names = qualnames(&module);
        assert_eq!(listing.lines().count(), names.len());
        for ((index, name), line) in names.iter_enumerated().zip(listing.lines()) {
            let expected: serde_json::Value = serde_json::from_str(line).unwrap();
            let read = fields::fields(&format!("sample_3.{minor}.pyc"), &module, index, name);
            assert_eq!(read, expected);
        }
    }
}

#[test]
fn computed_qualified_names_are_those_that_3_11_records() {
    let recorded = qualnames(&module(11));
    assert!(
        recorded
            .iter()
            .any(|name| &**name == "outer.<locals>.inner.<locals>.<lambda>")
    );
    assert!(
        recorded
            .iter()
            .any(|name| &**name == "Base.Inner.deep.<locals>.<listcomp>.<lambda>")
    );
    for minor in 8..=10 {
        assert_eq!(qualnames(&module(minor)), recorded, "3.{minor}");
    }
}

#[test]
fn an_argument_that_is_a_cell_has_one_slot() {
    for minor in VERSIONS {
        let module = module(minor);
        let objects = &module.objects;
        let outer = objects
            .codes()
            .iter()
            .find(|code| objects.text(code.name).unwrap() == "outer")
            .unwrap();
        let slots: Vec<(String, bool, bool)> = outer
            .frame
            .iter()
            .map(|slot| {
                (
                    objects.text(slot.name).unwrap().into_owned(),
                    slot.kind.is_local(),
                    slot.kind.is_cell(),
                )
            })
            .collect();
        assert_eq!(outer.parameter_count(), 7);
        assert_eq!(slots[0], ("a".into(), true, true), "3.{minor}");
        assert_eq!(slots.iter().filter(|slot| slot.0 == "a").count(), 1);
        assert!(slots.contains(&("hidden".into(), false, true)));
        if minor <= 10 {
            // Cells are numbered by name: a, c, d, hidden, kwargs.
            let numbered: Vec<&str> = outer
                .deref_slots
                .iter()
                .map(|&slot| slots[slot as usize].0.as_str())
                .collect();
            assert!(numbered.is_sorted() && numbered.contains(&"kwargs"), "{numbered:?}");
        } else {
            assert!(outer.deref_slots.is_empty());
        }
    }
}

#[test]
fn inner_codes_are_the_code_constants() {
    for minor in VERSIONS {
        let module = module(minor);
        for (index, code) in module.objects.codes().iter_enumerated() {
            let constants = module.objects.items(code.consts).iter();
            let expected: Vec<_> = constants
                .filter_map(|&id| {
                    if let Object::Code(inner) = module.objects.get(id) {
                        Some(*inner)
                    } else {
                        None
                    }
                })
                .collect();
            assert_eq!(module.objects.inner_codes(index).collect::<Vec<_>>(), expected);
        }
    }
}

#[test]
fn constants_are_shown_as_python_shows_them() {
    let module = module(12);
    let root = module.objects.codes().iter().next().unwrap();
    let shown: Vec<String> = module
        .objects
        .items(root.consts)
        .iter()
        .map(|&id| display_constant(&module.objects, id, 200))
        .collect();
    for expected in [
        "'Docüment.'",
        "('path', 'sep')",
        "(123456789012345678901234567890, -9223372036854775808, 9223372036854775808, 2.5, -0.0, 1e+300, 3j, b'\\x00\\xff', \
         Ellipsis, (None, True, (1,)))",
        "'\\xed\\xa0\\x80 and 🐍'",
        "<code object outer, line 10>",
    ] {
        assert!(
            shown.iter().any(|text| text == expected),
            "{expected} not in {shown:#?}"
        );
    }
}

#[test]
fn a_file_read_as_another_layout_is_rejected() {
    for minor in VERSIONS {
        for other in VERSIONS {
            let data = bytes(minor)[HEADER..].into();
            let result = read_marshal(data, PythonVersion::new(other));
            if (minor <= 10) != (other <= 10) || (minor >= 14 && other < 14) {
                assert!(result.is_err(), "3.{minor} read as 3.{other}");
            } else if minor == other {
                assert_eq!(result.unwrap().objects.code_count(), module(minor).objects.code_count());
            }
        }
        let unknown = read_marshal(bytes(minor)[HEADER..].into(), PythonVersion::new(7)).unwrap_err();
        assert_eq!(unknown.kind, ReadErrorKind::UnsupportedVersion(PythonVersion::new(7)));
    }
}

#[test]
fn every_truncation_is_rejected_and_trailing_data_is_not() {
    for minor in VERSIONS {
        let data = bytes(minor);
        for length in 0..data.len() {
            let error = read_pyc(data[..length].into()).unwrap_err();
            assert!(error.offset <= length as u64);
            assert_eq!(error.diagnostic("f.pyc").offset, Some(error.offset));
        }
        let mut longer = data.clone();
        longer.extend(b"trailing");
        assert_eq!(
            read_pyc(longer.into()).unwrap().objects.code_count(),
            module(minor).objects.code_count()
        );
    }
}
