//! Python's names of character encodings, and how each is decoded.
//!
//! `encoding_rs` implements the encodings of the web, which differ from Python's in places: there `latin-1` is
//! windows-1252, and bytes that a code page leaves open become control characters instead of errors. CPython:
//! `Lib/encodings/aliases.py`, `Lib/encodings/__init__.py`.

use encoding_rs::Encoding;

/// How a text is decoded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Codec {
    /// UTF-8, strict.
    Utf8,
    /// Seven bits.
    Ascii,
    /// ISO 8859-1: a byte is a code point.
    Latin1,
    /// ISO 8859-9: Latin-1 with six Turkish letters.
    Latin5,
    /// As `encoding_rs` does it.
    Web(&'static Encoding),
    /// A single-byte code page as `encoding_rs` does it, with C1 control characters standing for undefined bytes.
    CodePage(&'static Encoding),
}

/// ISO 8859-9 where it is not ISO 8859-1.
const LATIN5: [(u8, char); 6] = [
    (0xD0, '\u{11E}'),
    (0xDD, '\u{130}'),
    (0xDE, '\u{15E}'),
    (0xF0, '\u{11F}'),
    (0xFD, '\u{131}'),
    (0xFE, '\u{15F}'),
];

impl Codec {
    /// The codec of a normalised name ([`normalise`]).
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        use encoding_rs as web;
        Some(match name {
            "utf_8" | "utf8" | "u8" | "utf" | "utf8_ucs2" | "utf8_ucs4" | "cp65001" | "utf_8_sig" => Self::Utf8,
            "ascii" | "us_ascii" | "646" | "us" | "ansi_x3.4_1968" | "ansi_x3_4_1968" | "iso646_us" | "cp367"
            | "ibm367" | "csascii" | "iso_ir_6" => Self::Ascii,
            "latin_1" | "latin1" | "latin" | "l1" | "8859" | "cp819" | "ibm819" | "iso_8859_1" | "iso8859_1"
            | "iso8859" | "iso_ir_100" | "csisolatin1" | "iso_8859_1_1987" => Self::Latin1,
            "iso8859_9" | "iso_8859_9" | "latin5" | "l5" | "iso_ir_148" | "csisolatin5" => Self::Latin5,
            "iso8859_2" | "iso_8859_2" | "latin2" | "l2" | "csisolatin2" => Self::Web(web::ISO_8859_2),
            "iso8859_3" | "iso_8859_3" | "latin3" | "l3" | "csisolatin3" => Self::Web(web::ISO_8859_3),
            "iso8859_4" | "iso_8859_4" | "latin4" | "l4" | "csisolatin4" => Self::Web(web::ISO_8859_4),
            "iso8859_5" | "iso_8859_5" | "cyrillic" | "csisolatincyrillic" => Self::Web(web::ISO_8859_5),
            "iso8859_6" | "iso_8859_6" | "arabic" | "csisolatinarabic" => Self::Web(web::ISO_8859_6),
            "iso8859_7" | "iso_8859_7" | "greek" | "greek8" | "csisolatingreek" => Self::Web(web::ISO_8859_7),
            "iso8859_8" | "iso_8859_8" | "hebrew" | "csisolatinhebrew" => Self::Web(web::ISO_8859_8),
            "iso8859_10" | "iso_8859_10" | "latin6" | "l6" => Self::Web(web::ISO_8859_10),
            "iso8859_13" | "iso_8859_13" | "latin7" | "l7" => Self::Web(web::ISO_8859_13),
            "iso8859_14" | "iso_8859_14" | "latin8" | "l8" => Self::Web(web::ISO_8859_14),
            "iso8859_15" | "iso_8859_15" | "latin9" | "l9" => Self::Web(web::ISO_8859_15),
            "iso8859_16" | "iso_8859_16" | "latin10" | "l10" => Self::Web(web::ISO_8859_16),
            "cp1250" | "1250" | "windows_1250" => Self::CodePage(web::WINDOWS_1250),
            "cp1251" | "1251" | "windows_1251" => Self::CodePage(web::WINDOWS_1251),
            "cp1252" | "1252" | "windows_1252" => Self::CodePage(web::WINDOWS_1252),
            "cp1253" | "1253" | "windows_1253" => Self::CodePage(web::WINDOWS_1253),
            "cp1254" | "1254" | "windows_1254" => Self::CodePage(web::WINDOWS_1254),
            "cp1255" | "1255" | "windows_1255" => Self::CodePage(web::WINDOWS_1255),
            "cp1256" | "1256" | "windows_1256" => Self::CodePage(web::WINDOWS_1256),
            "cp1257" | "1257" | "windows_1257" => Self::CodePage(web::WINDOWS_1257),
            "cp1258" | "1258" | "windows_1258" => Self::CodePage(web::WINDOWS_1258),
            "cp874" | "iso8859_11" | "iso_8859_11" | "thai" | "tis_620" | "tis620" => Self::CodePage(web::WINDOWS_874),
            "cp866" | "866" | "ibm866" | "csibm866" => Self::Web(web::IBM866),
            "koi8_r" | "cskoi8r" => Self::Web(web::KOI8_R),
            "koi8_u" => Self::Web(web::KOI8_U),
            "mac_roman" | "macroman" | "macintosh" => Self::Web(web::MACINTOSH),
            "mac_cyrillic" | "maccyrillic" => Self::Web(web::X_MAC_CYRILLIC),
            "shift_jis" | "shiftjis" | "sjis" | "s_jis" | "csshiftjis" | "cp932" | "932" | "ms932" | "mskanji"
            | "ms_kanji" | "windows_31j" => Self::Web(web::SHIFT_JIS),
            "euc_jp" | "eucjp" | "ujis" | "u_jis" => Self::Web(web::EUC_JP),
            "iso2022_jp" | "iso_2022_jp" | "iso2022jp" | "csiso2022jp" => Self::Web(web::ISO_2022_JP),
            "euc_kr" | "euckr" | "korean" | "ksc5601" | "ks_c_5601" | "ks_c_5601_1987" | "ksx1001" | "ks_x_1001"
            | "cp949" | "949" | "ms949" | "uhc" => Self::Web(web::EUC_KR),
            "gb2312" | "chinese" | "euc_cn" | "euccn" | "eucgb2312_cn" | "gb2312_80" | "gb2312_1980"
            | "csiso58gb231280" | "iso_ir_58" | "gbk" | "cp936" | "936" | "ms936" => Self::Web(web::GBK),
            "gb18030" | "gb18030_2000" => Self::Web(web::GB18030),
            "big5" | "big5_tw" | "csbig5" | "cp950" | "950" | "ms950" => Self::Web(web::BIG5),
            _ => return None,
        })
    }

    /// The text, or the offset of the first byte that is not valid (zero where the codec does not tell).
    pub(crate) fn decode(self, bytes: &[u8]) -> Result<String, usize> {
        match self {
            Self::Utf8 => std::str::from_utf8(bytes)
                .map(str::to_owned)
                .map_err(|error| error.valid_up_to()),
            Self::Ascii => match bytes.iter().position(|byte| !byte.is_ascii()) {
                Some(at) => Err(at),
                None => Ok(bytes.iter().copied().map(char::from).collect()),
            },
            Self::Latin1 => Ok(bytes.iter().copied().map(char::from).collect()),
            Self::Latin5 => Ok(bytes.iter().map(|&byte| latin5(byte)).collect()),
            Self::Web(encoding) => web_decode(encoding, bytes),
            Self::CodePage(encoding) => {
                let text = web_decode(encoding, bytes)?;
                // Single bytes: the number of characters is the offset.
                match text
                    .chars()
                    .position(|character| ('\u{80}'..='\u{9F}').contains(&character))
                {
                    Some(at) => Err(at),
                    None => Ok(text),
                }
            }
        }
    }
}

fn latin5(byte: u8) -> char {
    LATIN5
        .iter()
        .find(|&&(other, _)| other == byte)
        .map_or_else(|| char::from(byte), |&(_, character)| character)
}

fn web_decode(encoding: &'static Encoding, bytes: &[u8]) -> Result<String, usize> {
    encoding
        .decode_without_bom_handling_and_without_replacement(bytes)
        .map(std::borrow::Cow::into_owned)
        .ok_or_else(|| {
            // Only now, and only for the message: the longest prefix that decodes, found by bisection.
            let (mut good, mut bad) = (0, bytes.len());
            while bad - good > 1 {
                let middle = good + (bad - good) / 2;
                let mut decoder = encoding.new_decoder_without_bom_handling();
                let mut text = String::with_capacity(
                    decoder
                        .max_utf8_buffer_length_without_replacement(middle)
                        .unwrap_or(0)
                        .min(bytes.len() * 4 + 16),
                );
                let (result, _) = decoder.decode_to_string_without_replacement(&bytes[..middle], &mut text, false);
                match result {
                    encoding_rs::DecoderResult::Malformed(..) => bad = middle,
                    _ => good = middle,
                }
            }
            good
        })
}

/// A name as `encodings.normalize_encoding` and the tokenizer see it: lower case, words joined by `_`.
pub(crate) fn normalise(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for part in name.split(|character: char| !character.is_ascii_alphanumeric() && character != '.') {
        if part.is_empty() {
            continue;
        }
        if !normal.is_empty() {
            normal.push('_');
        }
        normal.push_str(&part.to_ascii_lowercase());
    }
    // `get_normal_name` of the tokenizer takes any suffix of these two: `utf-8-unix`, `latin-1-dos`.
    for (prefix, whole) in [
        ("utf_8_", "utf_8"),
        ("latin_1_", "latin_1"),
        ("iso_8859_1_", "latin_1"),
        ("iso_latin_1", "latin_1"),
    ] {
        if normal.starts_with(prefix) {
            return whole.to_owned();
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_people_write_them() {
        for (name, byte, expect) in [
            ("Latin-1", 0xE9, "é"),
            ("latin_1-unix", 0xE9, "é"),
            ("ISO-8859-15", 0xA4, "€"),
            ("iso8859-9", 0xDD, "İ"),
            ("iso8859-9", 0x80, "\u{80}"),
            ("cp1252", 0x80, "€"),
            ("Windows-1251", 0xC0, "А"),
            ("koi8-r", 0xC1, "а"),
            ("mac-roman", 0x8E, "é"),
        ] {
            let codec = Codec::by_name(&normalise(name)).unwrap();
            assert_eq!(codec.decode(&[b'x', byte]).unwrap(), format!("x{expect}"), "{name}");
        }
        assert!(Codec::by_name(&normalise("utf-16")).is_none());
        assert!(Codec::by_name(&normalise("rot13")).is_none());
    }

    #[test]
    fn bytes_that_a_code_page_leaves_open_are_errors() {
        assert_eq!(Codec::by_name("cp1252").unwrap().decode(b"ab\x81").unwrap_err(), 2);
        assert_eq!(Codec::by_name("ascii").unwrap().decode(b"a\xe9").unwrap_err(), 1);
        assert_eq!(Codec::by_name("euc_jp").unwrap().decode(b"abcd\xff").unwrap_err(), 4);
    }

    #[test]
    fn east_asian_text() {
        assert_eq!(
            Codec::by_name("shift_jis")
                .unwrap()
                .decode(b"\x93\xfa\x96\x7b")
                .unwrap(),
            "日本"
        );
        assert_eq!(
            Codec::by_name("euc_jp").unwrap().decode(b"\xc6\xfc\xcb\xdc").unwrap(),
            "日本"
        );
        assert_eq!(Codec::by_name("gbk").unwrap().decode(b"\xd6\xd0").unwrap(), "中");
        assert_eq!(Codec::by_name("big5").unwrap().decode(b"\xa4\xa4").unwrap(), "中");
        assert_eq!(Codec::by_name("euc_kr").unwrap().decode(b"\xc7\xd1").unwrap(), "한");
    }
}
