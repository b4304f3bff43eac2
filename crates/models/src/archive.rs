//! The file of compiled models.
//!
//! An *archive* is the bytes `HGM1`, then for each model its *name* (`u16` length, UTF-8), the *hash* of its source
//! (`u64`) and its *code* (`u32` length, a marshalled module of CPython 3.14). Numbers are little-endian. The hash is
//! 64-bit FNV-1a: it tells a changed source from an unchanged one and need not resist anybody.

const MAGIC: &[u8; 4] = b"HGM1";

/// A compiled model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a, Code = Vec<u8>> {
    /// Module name.
    pub name: &'a str,
    /// Hash of the source it was compiled from.
    pub hash: u64,
    /// The marshalled module.
    pub marshal: Code,
}

/// The hash of a source text; `\r\n` counts as `\n`, so that a check-out's line ends do not matter.
#[must_use]
pub fn hash_of(source: &str) -> u64 {
    let bytes = source.bytes().filter(|&byte| byte != b'\r');
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The archive of some models; `None` if one is too large.
#[must_use]
pub fn encode(entries: &[Entry<'_>]) -> Option<Vec<u8>> {
    let mut bytes = MAGIC.to_vec();
    for entry in entries {
        bytes.extend(u16::try_from(entry.name.len()).ok()?.to_le_bytes());
        bytes.extend(entry.name.as_bytes());
        bytes.extend(entry.hash.to_le_bytes());
        bytes.extend(u32::try_from(entry.marshal.len()).ok()?.to_le_bytes());
        bytes.extend(&entry.marshal);
    }
    Some(bytes)
}

/// The models of an archive, up to the first that is damaged.
pub fn decode(bytes: &[u8]) -> impl Iterator<Item = Entry<'_, &[u8]>> {
    let mut rest = bytes.strip_prefix(MAGIC).unwrap_or_default();
    std::iter::from_fn(move || {
        let (length, after) = rest.split_first_chunk()?;
        let (name, after) = after.split_at_checked(u16::from_le_bytes(*length).into())?;
        let (hash, after) = after.split_first_chunk()?;
        let (length, after) = after.split_first_chunk()?;
        let (marshal, after) = after.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        rest = after;
        Some(Entry {
            name: std::str::from_utf8(name).ok()?,
            hash: u64::from_le_bytes(*hash),
            marshal,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        // From the reference test vectors of FNV.
        assert_eq!(hash_of(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash_of("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash_of("foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(hash_of("a\r\nb"), hash_of("a\nb"));
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(models in prop::collection::vec(("[a-z.]{1,9}", any::<u64>(), prop::collection::vec(any::<u8>(), 0..40)), 0..5)) {
            let entries: Vec<Entry<'_>> = models
                .iter()
                .map(|(name, hash, marshal)| Entry { name, hash: *hash, marshal: marshal.clone() })
                .collect();
            let bytes = encode(&entries).unwrap();
            let found: Vec<Entry<'_>> = decode(&bytes)
                .map(|entry| Entry { name: entry.name, hash: entry.hash, marshal: entry.marshal.to_vec() })
                .collect();
            prop_assert_eq!(found, entries);
        }

        #[test]
        fn damaged_archives_end_early(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut archive = MAGIC.to_vec();
            archive.extend(&bytes);
            let total: usize = decode(&archive).map(|entry| entry.name.len() + entry.marshal.len() + 14).sum();
            prop_assert!(total <= bytes.len());
        }
    }
}
