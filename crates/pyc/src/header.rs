//! The header of a `.pyc` file: magic number and validation data.
//!
//! Sixteen bytes since CPython 3.7: the magic number, `\r\n`, the flags, and either the source's modification time and
//! size or its hash. See PEP 552 and `_classify_pyc` in CPython's `Lib/importlib/_bootstrap_external.py`.

use crate::{MagicInfo, PycHeader, PythonVersion, ReadError, ReadErrorKind, Validation, identify_magic};

/// Size of the header.
pub(crate) const HEADER_LEN: usize = 16;

const HASH_BASED: u32 = 0b01;
const CHECK_SOURCE: u32 = 0b10;

/// Reads the header of a `.pyc` file and the version that wrote it.
///
/// # Errors
/// If the file does not begin with the header of a supported version.
pub fn read_header(data: &[u8]) -> Result<(PycHeader, PythonVersion), ReadError> {
    if data.is_empty() {
        return Err(ReadError::new(0, ReadErrorKind::Empty));
    }
    let magic = match data {
        [low, high, b'\r', b'\n', ..] => u16::from_le_bytes([*low, *high]),
        // Too short to tell, but so far it looks like one.
        [_] | [_, _] | [_, _, b'\r'] => return Err(truncated(0, 4, data.len())),
        _ => return Err(ReadError::new(0, ReadErrorKind::NotPyc)),
    };
    let info = identify_magic(magic);
    let Some(version) = info.readable_version() else {
        return Err(ReadError::new(0, ReadErrorKind::UnsupportedMagic(info)));
    };
    if data.len() < HEADER_LEN {
        return Err(truncated(4, HEADER_LEN - 4, data.len() - 4));
    }
    let flags = word(data, 4);
    if flags & !(HASH_BASED | CHECK_SOURCE) != 0 {
        return Err(ReadError::new(4, ReadErrorKind::InvalidFlags(flags)));
    }
    // As in CPython, the check bit means nothing without the hash bit.
    let validation = if flags & HASH_BASED == 0 {
        Validation::Timestamp {
            mtime: word(data, 8),
            size: word(data, 12),
        }
    } else {
        let hash = u64::from(word(data, 8)) | u64::from(word(data, 12)) << 32;
        Validation::Hash {
            hash,
            checked: flags & CHECK_SOURCE != 0,
        }
    };
    Ok((PycHeader { magic, validation }, version))
}

/// What the first bytes of a file say about who wrote it; `None` if it is no `.pyc`.
#[must_use]
pub fn sniff_magic(data: &[u8]) -> Option<MagicInfo> {
    match data {
        [low, high, b'\r', b'\n', ..] => Some(identify_magic(u16::from_le_bytes([*low, *high]))),
        _ => None,
    }
}

fn word(data: &[u8], at: usize) -> u32 {
    data.get(at..at + 4)
        .map_or(0, |bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

fn truncated(offset: usize, needed: usize, available: usize) -> ReadError {
    ReadError::new(
        offset,
        ReadErrorKind::Truncated {
            needed: needed as u64,
            available: available as u64,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(magic: u16, flags: u32, rest: [u8; 8]) -> Vec<u8> {
        let mut data = magic.to_le_bytes().to_vec();
        data.extend(b"\r\n");
        data.extend(flags.to_le_bytes());
        data.extend(rest);
        data
    }

    #[test]
    fn the_three_kinds_of_validation() {
        let rest = [1, 2, 3, 4, 5, 6, 7, 8];
        let read = |flags| read_header(&header(3531, flags, rest)).unwrap();
        let (stamp, version) = read(0);
        assert_eq!(version, PythonVersion::new(12));
        assert_eq!(
            stamp.validation,
            Validation::Timestamp {
                mtime: 0x0403_0201,
                size: 0x0807_0605
            }
        );
        assert_eq!(
            read(1).0.validation,
            Validation::Hash {
                hash: 0x0807_0605_0403_0201,
                checked: false
            }
        );
        assert_eq!(
            read(3).0.validation,
            Validation::Hash {
                hash: 0x0807_0605_0403_0201,
                checked: true
            }
        );
        // CPython reads "check the source" without "has a hash" as a timestamp.
        assert_eq!(read(2).0.validation, stamp.validation);
    }

    #[test]
    fn what_is_refused() {
        let kind = |data: &[u8]| read_header(data).unwrap_err();
        assert_eq!(kind(b"").kind, ReadErrorKind::Empty);
        assert_eq!(
            kind(b"\xcb").kind,
            ReadErrorKind::Truncated {
                needed: 4,
                available: 1
            }
        );
        assert_eq!(kind(b"#!/usr/bin/python").kind, ReadErrorKind::NotPyc);
        let flags = kind(&header(3531, 4, [0; 8]));
        assert_eq!((flags.offset, flags.kind), (4, ReadErrorKind::InvalidFlags(4)));
        let cut = kind(&header(3531, 0, [0; 8])[..15]);
        assert_eq!(
            (cut.offset, cut.kind),
            (
                4,
                ReadErrorKind::Truncated {
                    needed: 12,
                    available: 11
                }
            )
        );
        assert!(matches!(
            kind(&header(3394, 0, [0; 8])).kind,
            ReadErrorKind::UnsupportedMagic(_)
        ));
    }
}
