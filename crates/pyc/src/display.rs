//! Constants as text, like Python's `repr`, of bounded length.

use crate::{CodeObject, Object, ObjectId, Objects};
use std::fmt::Write;

/// Deepest nesting shown.
const MAX_DEPTH: u32 = 8;
/// Largest integers shown in decimal, in 15-bit digits; the others as their size.
const MAX_DIGITS: usize = 64;

/// The constant as Python would show it, cut off with `...` after about `limit` characters.
#[must_use]
pub fn display_constant(objects: &Objects, id: ObjectId, limit: usize) -> String {
    let mut printer = Printer {
        objects,
        text: String::new(),
        limit,
    };
    printer.show(id, 0);
    printer.text
}

/// Text between quotes as Python's `repr` shows it, cut off with `...` after about `limit` characters.
#[must_use]
pub fn display_text(bytes: &[u8], limit: usize) -> String {
    let mut text = String::new();
    quote_text(&mut text, bytes, limit);
    text
}

struct Printer<'a> {
    objects: &'a Objects,
    text: String,
    limit: usize,
}

impl Printer<'_> {
    fn is_full(&self) -> bool {
        self.text.len() >= self.limit
    }

    fn show(&mut self, id: ObjectId, depth: u32) {
        if self.is_full() || depth > MAX_DEPTH {
            self.text.push_str("...");
            return;
        }
        let left = self.limit - self.text.len();
        match self.objects.get(id) {
            Object::Null => self.text.push_str("<NULL>"),
            Object::None => self.text.push_str("None"),
            Object::True => self.text.push_str("True"),
            Object::False => self.text.push_str("False"),
            Object::Ellipsis => self.text.push_str("Ellipsis"),
            Object::StopIteration => self.text.push_str("<class 'StopIteration'>"),
            Object::Int(value) => self.write(format_args!("{value}")),
            Object::BigInt { negative, digits } => self.big_int(*negative, digits),
            Object::Float(bits) => self.text.push_str(&float(f64::from_bits(*bits))),
            Object::Complex(real, imaginary) => self.complex(f64::from_bits(*real), f64::from_bits(*imaginary)),
            Object::Bytes(bytes) => quote_bytes(&mut self.text, self.objects.bytes(*bytes), left),
            Object::Str(bytes) => quote_text(&mut self.text, self.objects.bytes(*bytes), left),
            Object::Tuple(items) => {
                let close = if items.len == 1 { ",)" } else { ")" };
                self.sequence("(", self.objects.items(*items), close, depth);
            }
            Object::List(items) => self.sequence("[", self.objects.items(*items), "]", depth),
            Object::Set(items) if items.len == 0 => self.text.push_str("set()"),
            Object::Set(items) => self.sequence("{", self.objects.items(*items), "}", depth),
            Object::FrozenSet(items) if items.len == 0 => self.text.push_str("frozenset()"),
            Object::FrozenSet(items) => self.sequence("frozenset({", self.objects.items(*items), "})", depth),
            Object::Dict(items) => self.mapping("{", self.objects.items(*items), "}", depth),
            Object::FrozenDict(items) => self.mapping("frozendict({", self.objects.items(*items), "})", depth),
            Object::Slice(parts) => self.sequence("slice(", parts, ")", depth),
            Object::Code(index) => self.code(self.objects.code(*index)),
        }
    }

    fn write(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.text.write_fmt(arguments);
    }

    fn sequence(&mut self, open: &str, items: &[ObjectId], close: &str, depth: u32) {
        self.text.push_str(open);
        for (number, &item) in items.iter().enumerate() {
            if number > 0 {
                self.text.push_str(", ");
            }
            if self.is_full() {
                self.text.push_str("...");
                break;
            }
            self.show(item, depth + 1);
        }
        self.text.push_str(close);
    }

    fn mapping(&mut self, open: &str, items: &[ObjectId], close: &str, depth: u32) {
        self.text.push_str(open);
        for (number, pair) in items.chunks_exact(2).enumerate() {
            if number > 0 {
                self.text.push_str(", ");
            }
            if self.is_full() {
                self.text.push_str("...");
                break;
            }
            self.show(pair[0], depth + 1);
            self.text.push_str(": ");
            self.show(pair[1], depth + 1);
        }
        self.text.push_str(close);
    }

    fn code(&mut self, code: &CodeObject) {
        let name = self.objects.text(code.name).unwrap_or_default();
        let name: String = name.chars().take(80).collect();
        self.write(format_args!("<code object {name}, line {}>", code.firstlineno));
    }

    fn complex(&mut self, real: f64, imaginary: f64) {
        // Python writes the parts of a complex without `.0`.
        let part = |value: f64| {
            let text = float(value);
            text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
        };
        if real == 0.0 && real.is_sign_positive() {
            self.write(format_args!("{}j", part(imaginary)));
        } else {
            let sign = if imaginary.is_sign_negative() && !imaginary.is_nan() {
                ""
            } else {
                "+"
            };
            self.write(format_args!("({}{sign}{}j)", part(real), part(imaginary)));
        }
    }

    fn big_int(&mut self, negative: bool, digits: &[u16]) {
        if negative {
            self.text.push('-');
        }
        if digits.len() > MAX_DIGITS {
            self.write(format_args!("<int of {} bits>", bits(digits)));
            return;
        }
        // Division of the whole number by 10^4, digit by digit.
        let mut rest: Vec<u32> = digits.iter().rev().map(|&digit| digit.into()).collect();
        let mut groups = Vec::new();
        while rest.iter().any(|&digit| digit != 0) {
            let mut remainder = 0;
            for digit in &mut rest {
                let value = remainder << 15 | *digit;
                *digit = value / 10_000;
                remainder = value % 10_000;
            }
            groups.push(remainder);
        }
        let mut groups = groups.iter().rev();
        self.write(format_args!("{}", groups.next().unwrap_or(&0)));
        for group in groups {
            self.write(format_args!("{group:04}"));
        }
    }
}

fn bits(digits: &[u16]) -> usize {
    let top = digits.last().map_or(0, |digit| 16 - digit.leading_zeros() as usize);
    digits.len().saturating_sub(1) * 15 + top
}

/// A float as `repr` shows it: the shortest digits that read back the same, with an exponent below 1e-4 and from 1e16.
fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf".into() } else { "inf".into() };
    }
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-4..1e16).contains(&magnitude) {
        let text = format!("{value:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, number) = exponent
            .strip_prefix('-')
            .map_or(('+', exponent), |number| ('-', number));
        return format!("{mantissa}e{sign}{number:0>2}");
    }
    format!("{value:?}")
}

fn quote_of(bytes: &[u8]) -> char {
    if bytes.contains(&b'\'') && !bytes.contains(&b'"') {
        '"'
    } else {
        '\''
    }
}

fn quote_text(out: &mut String, bytes: &[u8], limit: usize) {
    // Four bytes a character at most; what is cut off is not looked at.
    let shown = &bytes[..bytes.len().min(limit.saturating_mul(4))];
    let quote = quote_of(shown);
    let start = out.len();
    out.push(quote);
    let mut cut = shown.len() < bytes.len();
    for chunk in shown.utf8_chunks() {
        for character in chunk.valid().chars() {
            if out.len() - start > limit {
                cut = true;
                break;
            }
            push_escaped(out, character, quote);
        }
        surrogate(out, chunk.invalid());
    }
    out.push(quote);
    if cut {
        out.push_str("...");
    }
}

/// Shows bytes that are no UTF-8: the three bytes of a lone surrogate come one at a time.
fn surrogate(out: &mut String, invalid: &[u8]) {
    for byte in invalid {
        let _ = write!(out, "\\x{byte:02x}");
    }
}

fn push_escaped(out: &mut String, character: char, quote: char) {
    match character {
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        _ if character == quote => {
            out.push('\\');
            out.push(quote);
        }
        '\0'..='\x1f' | '\x7f'..='\u{a0}' | '\u{ad}' => {
            let _ = write!(out, "\\x{:02x}", character as u32);
        }
        // Bidirectional controls and separators would change how the line around them is shown.
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => {
            let _ = write!(out, "\\u{:04x}", character as u32);
        }
        _ => out.push(character),
    }
}

fn quote_bytes(out: &mut String, bytes: &[u8], limit: usize) {
    let shown = &bytes[..bytes.len().min(limit)];
    let quote = quote_of(shown);
    out.push('b');
    out.push(quote);
    for &byte in shown {
        match byte {
            0x20..=0x7e => push_escaped(out, byte.into(), quote),
            b'\n' | b'\r' | b'\t' => push_escaped(out, byte.into(), quote),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out.push(quote);
    if shown.len() < bytes.len() {
        out.push_str("...");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_as_python_shows_them() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.5, "1.5"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.25e100, "1.25e+100"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (5e-324, "5e-324"),
            (f64::INFINITY, "inf"),
        ];
        for (value, text) in cases {
            assert_eq!(float(value), text);
        }
    }

    #[test]
    fn text_is_quoted_and_cut() {
        assert_eq!(display_text(b"it's", 80), "\"it's\"");
        assert_eq!(display_text(b"a'b\"c\n", 80), "'a\\'b\"c\\n'");
        assert_eq!(display_text(b"\xed\xa0\x80", 80), "'\\xed\\xa0\\x80'");
        assert_eq!(display_text(b"abcdefgh", 3), "'abc'...");
    }
}
