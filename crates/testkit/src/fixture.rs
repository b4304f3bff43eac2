//! The bytecode of the cases of one Markdown file for every version: a compact archive that needs no interpreter to read.
//!
//! `HOGFIX1\n`, then a zlib stream (RFC 1950) of the entries sorted by key; numbers are `u32` little endian, texts and
//! bytes have their length before them: count, then case, version, module path, source hash (`u64`), marshal bytes.
//! The bytes depend on the entries alone.

use miniz_oxide::{deflate::compress_to_vec_zlib, inflate::decompress_to_vec_zlib_with_limit};
use std::collections::BTreeMap;

const MAGIC: &[u8; 8] = b"HOGFIX1\n";
const LEVEL: u8 = 9;
/// More than any topic needs; bounds what a damaged file can cost.
const MAX_SIZE: usize = 64 << 20;

/// The bytecode of all cases of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fixture {
    /// By case, version name and module path.
    pub entries: BTreeMap<(String, String, String), FixtureEntry>,
}

/// The bytecode of one module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixtureEntry {
    /// [`source_hash`] of the source it was compiled from.
    pub source_hash: u64,
    /// The marshalled code object.
    pub marshal: Vec<u8>,
}

/// Why a fixture cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FixtureError {
    /// The file is none or is damaged.
    #[error("damaged fixture ({0}): run `cargo xtask cases build`")]
    Damaged(&'static str),
    /// The module is not in it.
    #[error("no bytecode of {0}: run `cargo xtask cases build`")]
    Missing(String),
    /// The source changed since.
    #[error("the bytecode of {0} is of another source: run `cargo xtask cases build`")]
    Stale(String),
}

/// FNV-1a, 64 bits, of a module's source: a fingerprint of text, no defence against anyone.
#[must_use]
pub fn source_hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

impl Fixture {
    /// The marshal bytes of a module, if they are of this source.
    ///
    /// # Errors
    /// If the module is missing or its bytecode is of another source.
    pub fn bytecode(&self, case: &str, version: &str, path: &str, source: &str) -> Result<&[u8], FixtureError> {
        let entry = self
            .entries
            .get(&(case.to_owned(), version.to_owned(), path.to_owned()));
        let name = || format!("`{case}`, {path} for {version}");
        match entry {
            None => Err(FixtureError::Missing(name())),
            Some(entry) if entry.source_hash != source_hash(source) => Err(FixtureError::Stale(name())),
            Some(entry) => Ok(&entry.marshal),
        }
    }

    /// The bytes of the file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut plain = Vec::new();
        let put = |plain: &mut Vec<u8>, bytes: &[u8]| {
            plain.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
            plain.extend(bytes);
        };
        plain.extend(u32::try_from(self.entries.len()).unwrap_or(u32::MAX).to_le_bytes());
        for ((case, version, path), entry) in &self.entries {
            for text in [case, version, path] {
                put(&mut plain, text.as_bytes());
            }
            plain.extend(entry.source_hash.to_le_bytes());
            put(&mut plain, &entry.marshal);
        }
        let mut file = MAGIC.to_vec();
        file.extend(compress_to_vec_zlib(&plain, LEVEL));
        file
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it is no whole fixture.
    pub fn decode(file: &[u8]) -> Result<Self, FixtureError> {
        let packed = file.strip_prefix(MAGIC).ok_or(FixtureError::Damaged("no magic"))?;
        let plain =
            decompress_to_vec_zlib_with_limit(packed, MAX_SIZE).map_err(|_| FixtureError::Damaged("not inflatable"))?;
        let mut reader = Reader { rest: &plain };
        let mut entries = BTreeMap::new();
        for _ in 0..reader.number()? {
            let key = (reader.text()?, reader.text()?, reader.text()?);
            let source_hash = u64::from_le_bytes(reader.array()?);
            let marshal = reader.bytes()?.to_vec();
            entries.insert(key, FixtureEntry { source_hash, marshal });
        }
        if reader.rest.is_empty() {
            Ok(Self { entries })
        } else {
            Err(FixtureError::Damaged("bytes behind the end"))
        }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], FixtureError> {
        let (head, tail) = self
            .rest
            .split_first_chunk()
            .ok_or(FixtureError::Damaged("truncated"))?;
        self.rest = tail;
        Ok(*head)
    }

    fn number(&mut self) -> Result<u32, FixtureError> {
        self.array().map(u32::from_le_bytes)
    }

    fn bytes(&mut self) -> Result<&'a [u8], FixtureError> {
        let length = self.number()? as usize;
        let (head, tail) = self
            .rest
            .split_at_checked(length)
            .ok_or(FixtureError::Damaged("truncated"))?;
        self.rest = tail;
        Ok(head)
    }

    fn text(&mut self) -> Result<String, FixtureError> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| FixtureError::Damaged("not UTF-8"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> Fixture {
        let mut fixture = Fixture::default();
        let entry = FixtureEntry {
            source_hash: source_hash("x = 1\n"),
            marshal: vec![1, 2, 3],
        };
        fixture
            .entries
            .insert(("A".into(), "3.12".into(), "main.py".into()), entry);
        fixture
    }

    #[test]
    fn bytecode_is_found_only_for_its_source() {
        let fixture = Fixture::decode(&sample().encode()).unwrap();
        assert_eq!(fixture.bytecode("A", "3.12", "main.py", "x = 1\n"), Ok(&[1, 2, 3][..]));
        let stale = fixture.bytecode("A", "3.12", "main.py", "x = 2\n").unwrap_err();
        assert_eq!(
            stale.to_string(),
            "the bytecode of `A`, main.py for 3.12 is of another source: run `cargo xtask cases build`"
        );
        assert!(matches!(
            fixture.bytecode("A", "3.13", "main.py", "x = 1\n"),
            Err(FixtureError::Missing(_))
        ));
    }

    #[test]
    fn damage_is_noticed() {
        let file = sample().encode();
        for end in 0..file.len() {
            assert!(Fixture::decode(&file[..end]).is_err(), "cut at {end}");
        }
        let mut longer = MAGIC.to_vec();
        longer.extend(compress_to_vec_zlib(&[0, 0, 0, 0, 9], LEVEL));
        assert_eq!(
            Fixture::decode(&longer),
            Err(FixtureError::Damaged("bytes behind the end"))
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(items in proptest::collection::vec((".{0,9}", any::<u64>(), any::<Vec<u8>>()), 0..9)) {
            let mut fixture = Fixture::default();
            for (name, source_hash, marshal) in items {
                fixture.entries.insert((name.clone(), "3.10".into(), name), FixtureEntry { source_hash, marshal });
            }
            prop_assert_eq!(Fixture::decode(&fixture.encode()), Ok(fixture));
        }

        #[test]
        fn any_bytes_are_survived(mut bytes in any::<Vec<u8>>(), cut in any::<bool>()) {
            if cut {
                bytes.splice(0..0, *MAGIC);
            }
            let _ = Fixture::decode(&bytes).is_ok();
        }
    }
}
