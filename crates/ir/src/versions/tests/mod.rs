//! Tests of the adapters: facts of the interpreters, real code, handmade code, random code.

mod facts;
mod handmade;
mod samples;

use hognose_pyc::{CompiledModule, PythonVersion, read_marshal};

/// A marshalled code object in the layout of a version: four constants, names and locals, and nothing else.
fn code_object(minor: u8, flags: u32, code: &[u8], exceptions: &[u8]) -> CompiledModule {
    let bytes = |data: &[u8]| [b"s".as_slice(), &u32::try_from(data.len()).unwrap().to_le_bytes(), data].concat();
    let numbers = |numbers: &[u32]| {
        numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let consts = [b")\x04".as_slice(), &[b'i', 1, 0, 0, 0].repeat(4)].concat();
    let names = b")\x04z\x01az\x01bz\x01cz\x01d".to_vec();
    let empty = b")\x00".to_vec();
    let text = b"z\x01f".to_vec();
    let parts = if minor >= 11 {
        let kinds = bytes(&[0x20, 0x20, 0x40, 0x80]);
        let header = numbers(&[0, 0, 0, 9, flags]);
        vec![
            b"c".to_vec(),
            header,
            bytes(code),
            consts,
            names.clone(),
            names,
            kinds,
            text.clone(),
            text.clone(),
            text,
            numbers(&[1]),
            bytes(&[]),
            bytes(exceptions),
        ]
    } else {
        let header = numbers(&[0, 0, 0, 4, 9, flags]);
        vec![
            b"c".to_vec(),
            header,
            bytes(code),
            consts,
            names.clone(),
            names,
            empty.clone(),
            empty,
            text.clone(),
            text,
            numbers(&[1]),
            bytes(&[]),
        ]
    };
    read_marshal(parts.concat().into_boxed_slice(), PythonVersion::new(minor)).unwrap()
}
