//! The unread part of the input, and the objects without members.

use super::{Bytes, Object, ReadError, ReadErrorKind, narrow};

pub(super) struct Cursor<'a> {
    data: &'a [u8],
    position: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(data: &'a [u8], position: usize) -> Self {
        Self { data, position }
    }
    pub(super) const fn position(&self) -> usize {
        self.position
    }
    /// The bytes of a run that this cursor has given.
    pub(super) fn slice(&self, bytes: Bytes) -> &'a [u8] {
        let start = bytes.start as usize;
        self.data.get(start..start + bytes.len as usize).unwrap_or(&[])
    }
    pub(super) fn peek(&self) -> Result<u8, ReadError> {
        self.data.get(self.position).copied().ok_or_else(|| self.truncated(1))
    }
    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, ReadError> {
        let byte = self.peek()?;
        self.position += 1;
        Ok(byte)
    }
    #[inline]
    fn take(&mut self, count: usize) -> Result<&'a [u8], ReadError> {
        let rest = self.data.get(self.position..).unwrap_or(&[]);
        let Some(taken) = rest.get(..count) else {
            return Err(self.truncated(count));
        };
        self.position += count;
        Ok(taken)
    }
    fn array<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }
    pub(super) fn word(&mut self) -> Result<u32, ReadError> {
        Ok(u32::from_le_bytes(self.array()?))
    }
    /// A number of things of which each takes at least `size` bytes.
    pub(super) fn length(&mut self, size: usize) -> Result<u32, ReadError> {
        let at = self.position;
        let length = self.word()?;
        // CPython reads it as signed.
        if i32::try_from(length).is_err() {
            return Err(ReadError::new(at, ReadErrorKind::MalformedValue("length")));
        }
        let needed = (length as usize).saturating_mul(size);
        if needed > self.data.len() - self.position {
            return Err(self.truncated(needed));
        }
        Ok(length)
    }
    fn run(&mut self, count: usize) -> Result<Bytes, ReadError> {
        let start = narrow(self.position);
        self.take(count)?;
        Ok(Bytes {
            start,
            len: narrow(count),
        })
    }
    fn truncated(&self, needed: usize) -> ReadError {
        let available = self.data.len().saturating_sub(self.position);
        ReadError::new(
            self.position,
            ReadErrorKind::Truncated {
                needed: needed as u64,
                available: available as u64,
            },
        )
    }

    /// The object without members whose type byte, at `offset`, has just been read.
    pub(super) fn scalar(&mut self, kind: u8, offset: usize) -> Result<Object, ReadError> {
        let malformed = |what| ReadError::new(offset, ReadErrorKind::MalformedValue(what));
        match kind {
            b'i' => Ok(Object::Int(i64::from(self.word()?.cast_signed()))),
            b'l' => self.long(offset),
            b'g' => Ok(Object::Float(u64::from_le_bytes(self.array()?))),
            b'y' => Ok(Object::Complex(
                u64::from_le_bytes(self.array()?),
                u64::from_le_bytes(self.array()?),
            )),
            b'f' => Ok(Object::Float(self.text_float(offset)?)),
            b'x' => Ok(Object::Complex(self.text_float(offset)?, self.text_float(offset)?)),
            b's' => {
                let length = self.length(1)?;
                Ok(Object::Bytes(self.run(length as usize)?))
            }
            b't' | b'u' => {
                let length = self.length(1)?;
                let run = self.run(length as usize)?;
                if !is_wtf8(self.slice(run)) {
                    return Err(malformed("str (not UTF-8)"));
                }
                Ok(Object::Str(run))
            }
            _ => {
                let length = if kind == b'a' || kind == b'A' {
                    self.length(1)?
                } else {
                    self.byte()?.into()
                };
                let run = self.run(length as usize)?;
                // CPython would take such bytes as Latin-1, but never writes them.
                if !self.slice(run).is_ascii() {
                    return Err(malformed("str (not ASCII)"));
                }
                Ok(Object::Str(run))
            }
        }
    }

    /// An integer of 15-bit digits.
    fn long(&mut self, offset: usize) -> Result<Object, ReadError> {
        let malformed = || ReadError::new(offset, ReadErrorKind::MalformedValue("int"));
        let count = self.word()?.cast_signed();
        let negative = count < 0;
        let bytes = self.take((count.unsigned_abs() as usize).saturating_mul(2))?;
        let digits = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        if digits.clone().any(|digit| digit >= 1 << 15) || digits.clone().next_back() == Some(0) {
            return Err(malformed());
        }
        if digits.len() <= 5 {
            let magnitude = digits
                .clone()
                .rev()
                .fold(0_i128, |value, digit| value << 15 | i128::from(digit));
            let value = if negative { -magnitude } else { magnitude };
            if let Ok(value) = i64::try_from(value) {
                return Ok(Object::Int(value));
            }
        }
        Ok(Object::BigInt {
            negative,
            digits: digits.collect(),
        })
    }

    /// A float in decimal, as versions 0 and 1 of the format write it; its bits.
    fn text_float(&mut self, offset: usize) -> Result<u64, ReadError> {
        let length = self.byte()?;
        let text = self.take(length.into())?;
        let value = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
        let value = value.ok_or_else(|| ReadError::new(offset, ReadErrorKind::MalformedValue("float")))?;
        Ok(value.to_bits())
    }
}

/// Whether the bytes are UTF-8 but for encoded surrogates (CPython's `surrogatepass`).
fn is_wtf8(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    loop {
        let Err(error) = std::str::from_utf8(rest) else {
            return true;
        };
        let behind = &rest[error.valid_up_to()..];
        match behind {
            [0xed, 0xa0..=0xbf, 0x80..=0xbf, ..] => rest = &behind[3..],
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surrogates_are_text() {
        assert!(is_wtf8("a\u{e9}\u{1f600}".as_bytes()));
        assert!(is_wtf8(b"x\xed\xa0\x80\xed\xb0\x80y"));
        assert!(!is_wtf8(b"\xed\xa0"));
        assert!(!is_wtf8(b"\xff"));
        assert!(!is_wtf8(b"ok\xc0\x80"));
    }

    #[test]
    fn integers_of_digits() {
        let long = |count: i32, digits: &[u16]| {
            let mut data = count.to_le_bytes().to_vec();
            data.extend(digits.iter().flat_map(|digit| digit.to_le_bytes()));
            Cursor::new(&data, 0).scalar(b'l', 0).map_err(|error| error.kind)
        };
        assert_eq!(long(0, &[]), Ok(Object::Int(0)));
        assert_eq!(long(-2, &[1, 2]), Ok(Object::Int(-65537)));
        assert_eq!(long(-5, &[0, 0, 0, 0, 8]), Ok(Object::Int(i64::MIN)));
        assert_eq!(
            long(5, &[0, 0, 0, 0, 8]),
            Ok(Object::BigInt {
                negative: false,
                digits: [0, 0, 0, 0, 8].into()
            })
        );
        assert_eq!(long(2, &[1, 0]), Err(ReadErrorKind::MalformedValue("int")));
        assert_eq!(long(1, &[0x8000]), Err(ReadErrorKind::MalformedValue("int")));
        assert_eq!(
            long(3, &[1]),
            Err(ReadErrorKind::Truncated {
                needed: 6,
                available: 2
            })
        );
        assert!(long(i32::MIN, &[1]).is_err());
    }
}
