//! The fields of a code object as JSON, in the form of `tests/differential/dump_fields.py`.

use hognose_pyc::{CodeIndex, CodeObject, CompiledModule, Object, ObjectId, Objects, exception_table, positions};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The fields of one code object.
pub(crate) fn fields(file: &str, module: &CompiledModule, index: CodeIndex, qualname: &str) -> Value {
    let objects = &module.objects;
    let code = objects.code(index);
    let text = |id| show(string(objects, id));
    let list = |ids: &mut dyn Iterator<Item = ObjectId>| -> Vec<String> { ids.map(text).collect() };
    let mut consts = String::new();
    for &constant in objects.items(code.consts) {
        canonical(objects, constant, &mut consts);
        consts.push(';');
    }
    let (spans, lines) = units(module, code);
    let (table, problem) = match exception_table(objects, code) {
        Ok(entries) => (entries, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let table: Vec<_> = table
        .iter()
        .map(|entry| (entry.start, entry.end, entry.target, entry.depth, entry.lasti))
        .collect();
    json!({
        "file": file,
        "code": index.raw(),
        "parent": code.parent.map(CodeIndex::raw),
        "name": text(code.name),
        "qualname": code.qualname.map(text),
        "computed": show(qualname.as_bytes()),
        "filename": text(code.filename),
        "counts": [code.argcount, code.posonlyargcount, code.kwonlyargcount, code.stacksize, code.flags],
        "firstlineno": code.firstlineno,
        "co_code": digest(objects.bytes(code.code)),
        "consts": digest(consts.as_bytes()),
        "names": list(&mut objects.items(code.names).iter().copied()),
        "varnames": list(&mut code.varnames()),
        "cellvars": list(&mut code.cellvars()),
        "freevars": list(&mut code.freevars()),
        "positions": digest(spans.as_bytes()),
        "lines": digest(lines.as_bytes()),
        "exceptions": table,
        "problem": problem,
    })
}

/// The positions and the lines of each code unit.
fn units(module: &CompiledModule, code: &CodeObject) -> (String, String) {
    let number = |value: u32| {
        if value == u32::MAX {
            "-".to_owned()
        } else {
            value.to_string()
        }
    };
    let (mut spans, mut lines) = (String::new(), String::new());
    let mut unit = |count: u32, span: &str, line: &str| {
        for _ in 0..count {
            spans.push_str(span);
            lines.push_str(line);
        }
    };
    let mut end = 0;
    for range in positions(&module.objects, code, module.version) {
        let span = range.span;
        let line = number(span.line);
        let all = format!(
            "{line},{},{},{};",
            number(span.col),
            number(span.end_line),
            number(span.end_col)
        );
        unit((range.end - range.start) / 2, &all, &format!("{line};"));
        end = range.end;
    }
    unit((code.code.len - end) / 2, "-,-,-,-;", "-;");
    (spans, lines)
}

fn string(objects: &Objects, id: ObjectId) -> &[u8] {
    match objects.get(id) {
        Object::Str(bytes) => objects.bytes(*bytes),
        _ => b"",
    }
}

/// Plain ASCII as it is, the rest as `%xx`.
fn show(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        if matches!(byte, b' '..=b'~') && !matches!(byte, b'%' | b'"' | b'\\') {
            text.push(byte.into());
        } else {
            let _ = write!(text, "%{byte:02x}");
        }
    }
    text
}

fn digest(bytes: &[u8]) -> (usize, u32) {
    (bytes.len(), crc32(bytes))
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ ((crc & 1) * 0xedb8_8320))
    })
}

/// A constant as text that does not depend on the order of sets.
fn canonical(objects: &Objects, id: ObjectId, out: &mut String) {
    let run = |kind: &str, bytes: &[u8]| format!("{kind}{}:{}", bytes.len(), crc32(bytes));
    let parts = |ids: &[ObjectId]| -> Vec<String> {
        let one = |&id: &ObjectId| {
            let mut text = String::new();
            canonical(objects, id, &mut text);
            text
        };
        ids.iter().map(one).collect()
    };
    let bits = |bits: u64| {
        bits.to_le_bytes()
            .iter()
            .fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
    };
    let text = match objects.get(id) {
        Object::Null => "0".to_owned(),
        Object::None => "N".to_owned(),
        Object::True => "T".to_owned(),
        Object::False => "F".to_owned(),
        Object::Ellipsis => "E".to_owned(),
        Object::StopIteration => "S".to_owned(),
        Object::Int(value) => format!("i{value}"),
        Object::BigInt { negative, digits } => {
            let digits: Vec<String> = digits.iter().map(u16::to_string).collect();
            format!("l{}{}", if *negative { "-" } else { "" }, digits.join("."))
        }
        Object::Float(value) => format!("f{}", bits(*value)),
        Object::Complex(real, imaginary) => format!("x{}{}", bits(*real), bits(*imaginary)),
        Object::Bytes(bytes) => run("b", objects.bytes(*bytes)),
        Object::Str(bytes) => run("s", objects.bytes(*bytes)),
        Object::Tuple(items) => format!("({})", parts(objects.items(*items)).join(",")),
        Object::List(items) => format!("[{}]", parts(objects.items(*items)).join(",")),
        Object::Slice(items) => format!(":{}", parts(items).join(",")),
        Object::Dict(items) | Object::FrozenDict(items) => format!("{{{}}}", parts(objects.items(*items)).join(",")),
        Object::Set(items) | Object::FrozenSet(items) => {
            let mut parts = parts(objects.items(*items));
            parts.sort();
            format!("<{}>", parts.join(","))
        }
        Object::Code(index) => format!("c{}", index.raw()),
    };
    out.push_str(&text);
}
