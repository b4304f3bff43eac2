//! A small writer of marshal, for tests alone.

use hognose_pyc::PythonVersion;
use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    None,
    True,
    False,
    Ellipsis,
    /// Sign and 15-bit digits.
    Int(i128),
    Float(u64),
    Complex(u64, u64),
    Str(String),
    Bytes(Vec<u8>),
    Tuple(Vec<Value>),
    List(Vec<Value>),
    FrozenSet(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    FrozenDict(Vec<(Value, Value)>),
    Slice(Box<[Value; 3]>),
    Code(Box<Code>),
}

/// A code object as the interpreter shows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Code {
    pub(crate) argcount: u32,
    pub(crate) flags: u32,
    pub(crate) code: Vec<u8>,
    pub(crate) consts: Vec<Value>,
    pub(crate) names: Vec<String>,
    pub(crate) varnames: Vec<String>,
    pub(crate) cellvars: Vec<String>,
    pub(crate) freevars: Vec<String>,
    pub(crate) name: String,
    pub(crate) firstlineno: i32,
    pub(crate) linetable: Vec<u8>,
    pub(crate) exceptiontable: Vec<u8>,
}

impl Code {
    pub(crate) fn empty() -> Self {
        Self {
            argcount: 0,
            flags: 0,
            code: Vec::new(),
            consts: Vec::new(),
            names: Vec::new(),
            varnames: Vec::new(),
            cellvars: Vec::new(),
            freevars: Vec::new(),
            name: "<module>".into(),
            firstlineno: 1,
            linetable: Vec::new(),
            exceptiontable: Vec::new(),
        }
    }
    /// Names and kinds of the frame as 3.11 lays them out.
    pub(crate) fn frame(&self) -> Vec<(String, u8)> {
        let mut frame: Vec<(String, u8)> = self.varnames.iter().map(|name| (name.clone(), 0x20)).collect();
        for name in &self.cellvars {
            match self.varnames[..self.argcount as usize]
                .iter()
                .position(|argument| argument == name)
            {
                Some(at) => frame[at].1 |= 0x40,
                None => frame.push((name.clone(), 0x40)),
            }
        }
        frame.extend(self.freevars.iter().map(|name| (name.clone(), 0x80)));
        frame
    }
}

/// Writes values; equal ones are written once and then referred to if `share` is set.
pub(crate) struct Writer {
    pub(crate) out: Vec<u8>,
    version: PythonVersion,
    share: bool,
    written: HashMap<Value, u32>,
    references: u32,
}

impl Writer {
    pub(crate) fn new(version: PythonVersion, share: bool) -> Self {
        Self {
            out: Vec::new(),
            version,
            share,
            written: HashMap::new(),
            references: 0,
        }
    }

    fn word(&mut self, word: u32) {
        self.out.extend(word.to_le_bytes());
    }

    fn sized(&mut self, kind: u8, bytes: &[u8]) {
        self.out.push(kind);
        self.word(bytes.len() as u32);
        self.out.extend(bytes);
    }

    fn counted(&mut self, kind: u8, values: &[Value]) {
        self.out.push(kind);
        self.word(values.len() as u32);
        for value in values {
            self.value(value);
        }
    }

    fn pairs(&mut self, kind: u8, pairs: &[(Value, Value)]) {
        self.out.push(kind);
        for (key, value) in pairs {
            self.value(key);
            self.value(value);
        }
        self.out.push(b'0');
    }

    pub(crate) fn value(&mut self, value: &Value) {
        let plain = match value {
            Value::None => Some(b'N'),
            Value::True => Some(b'T'),
            Value::False => Some(b'F'),
            Value::Ellipsis => Some(b'.'),
            _ => None,
        };
        if let Some(kind) = plain {
            self.out.push(kind);
            return;
        }
        if !self.share {
            self.object(value);
            return;
        }
        if let Some(&number) = self.written.get(value) {
            self.out.push(b'r');
            self.word(number);
            return;
        }
        let number = self.references;
        self.references += 1;
        let at = self.out.len();
        self.object(value);
        self.out[at] |= 0x80;
        // Only now: a value that contains itself is not meant.
        self.written.insert(value.clone(), number);
    }

    fn object(&mut self, value: &Value) {
        match value {
            Value::None | Value::True | Value::False | Value::Ellipsis => {}
            Value::Int(number) => self.int(*number),
            Value::Float(bits) => {
                self.out.push(b'g');
                self.out.extend(bits.to_le_bytes());
            }
            Value::Complex(real, imaginary) => {
                self.out.push(b'y');
                self.out.extend(real.to_le_bytes());
                self.out.extend(imaginary.to_le_bytes());
            }
            Value::Str(text) if text.is_ascii() && text.len() < 256 => {
                self.out.push(b'z');
                self.out.push(text.len() as u8);
                self.out.extend(text.as_bytes());
            }
            Value::Str(text) => self.sized(b'u', text.as_bytes()),
            Value::Bytes(bytes) => self.sized(b's', bytes),
            Value::Tuple(values) if values.len() < 256 => {
                self.out.push(b')');
                self.out.push(values.len() as u8);
                values.iter().for_each(|value| self.value(value));
            }
            Value::Tuple(values) => self.counted(b'(', values),
            Value::List(values) => self.counted(b'[', values),
            Value::FrozenSet(values) => self.counted(b'>', values),
            Value::Dict(pairs) => self.pairs(b'{', pairs),
            Value::FrozenDict(pairs) => self.pairs(b'}', pairs),
            Value::Slice(parts) => {
                self.out.push(b':');
                parts.iter().for_each(|part| self.value(part));
            }
            Value::Code(code) => self.code(code),
        }
    }

    fn int(&mut self, number: i128) {
        if let Ok(small) = i32::try_from(number) {
            self.out.push(b'i');
            self.word(small.cast_unsigned());
            return;
        }
        let mut digits = Vec::new();
        let mut rest = number.unsigned_abs();
        while rest != 0 {
            digits.push((rest & 0x7fff) as u16);
            rest >>= 15;
        }
        self.out.push(b'l');
        let count = digits.len() as i32;
        self.word(if number < 0 { -count } else { count }.cast_unsigned());
        digits.iter().for_each(|digit| self.out.extend(digit.to_le_bytes()));
    }

    fn code(&mut self, code: &Code) {
        let strs = |names: &[String]| Value::Tuple(names.iter().cloned().map(Value::Str).collect());
        let is_modern = self.version.at_least(11);
        self.out.push(b'c');
        for number in [code.argcount, 0, 0] {
            self.word(number);
        }
        if !is_modern {
            self.word(code.varnames.len() as u32);
        }
        self.word(10);
        self.word(code.flags);
        self.value(&Value::Bytes(code.code.clone()));
        self.value(&Value::Tuple(code.consts.clone()));
        self.value(&strs(&code.names));
        if is_modern {
            let (names, kinds): (Vec<String>, Vec<u8>) = code.frame().into_iter().unzip();
            self.value(&strs(&names));
            self.value(&Value::Bytes(kinds));
        } else {
            self.value(&strs(&code.varnames));
            self.value(&strs(&code.freevars));
            self.value(&strs(&code.cellvars));
        }
        self.value(&Value::Str("file.py".into()));
        self.value(&Value::Str(code.name.clone()));
        if is_modern {
            self.value(&Value::Str(code.name.clone()));
        }
        self.word(code.firstlineno.cast_unsigned());
        self.value(&Value::Bytes(code.linetable.clone()));
        if is_modern {
            self.value(&Value::Bytes(code.exceptiontable.clone()));
        }
    }
}
