//! From a file's bytes to the text that the tokenizer sees.
//!
//! An *encoding cookie* is a comment on the first or second line that matches
//! `^[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)` (PEP 263). A second line counts only below a first line that is
//! blank or a comment. A *byte order mark* says UTF-8, and a cookie beside it must agree. Lines end in LF, CR LF or CR;
//! the tokenizer sees LF only, inside strings too. CPython: `Parser/tokenizer/helpers.c` (`check_bom`,
//! `check_coding_spec`), `translate_newlines`.

use crate::codec::{Codec, normalise};
use std::fmt;

/// Why bytes are not a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// Line, from 1.
    pub line: u32,
    /// Column of the first bad byte, from 0.
    pub col: u32,
    /// What is wrong.
    pub kind: DecodeErrorKind,
}

/// What is wrong with the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeErrorKind {
    /// The cookie names no encoding that is known here.
    UnknownEncoding(String),
    /// A byte order mark beside a cookie that says something else.
    Conflict(String),
    /// A byte that does not belong to the encoding; the name is `None` if none was declared.
    Invalid {
        /// The byte.
        byte: u8,
        /// The declared encoding.
        encoding: Option<String>,
    },
    /// A NUL byte, which Python refuses.
    Nul,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            DecodeErrorKind::UnknownEncoding(name) => write!(f, "unknown or unsupported encoding: {name}"),
            DecodeErrorKind::Conflict(name) => write!(f, "encoding problem: {name} with a UTF-8 byte order mark"),
            DecodeErrorKind::Invalid { byte, encoding: None } => {
                write!(f, "byte 0x{byte:02x} is not UTF-8, and no encoding is declared")
            }
            DecodeErrorKind::Invalid {
                byte,
                encoding: Some(name),
            } => {
                write!(f, "byte 0x{byte:02x} is not valid in the declared encoding {name}")
            }
            DecodeErrorKind::Nul => f.write_str("source code cannot contain null bytes"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// The text of a source file, in UTF-8 with LF line ends.
///
/// Columns of this text, counted in bytes, are the columns CPython reports, whatever the file's encoding.
///
/// # Errors
/// If the bytes are not valid in their encoding, or Python would refuse them before reading a token.
pub fn decode(bytes: &[u8]) -> Result<String, DecodeError> {
    let (marked, body) = bytes
        .strip_prefix(b"\xEF\xBB\xBF")
        .map_or((false, bytes), |body| (true, body));
    let cookie = find_cookie(body);
    let codec = match &cookie {
        None => Codec::Utf8,
        Some(cookie) => {
            let normal = normalise(&cookie.name);
            let at_cookie = |kind| DecodeError {
                line: cookie.line,
                col: cookie.col,
                kind,
            };
            let codec = Codec::by_name(&normal)
                .ok_or_else(|| at_cookie(DecodeErrorKind::UnknownEncoding(cookie.name.clone())))?;
            // Even `utf8` without its hyphen conflicts.
            if marked && normal != "utf_8" {
                return Err(at_cookie(DecodeErrorKind::Conflict(cookie.name.clone())));
            }
            codec
        }
    };
    let text = codec.decode(body).map_err(|at| {
        let byte = body.get(at).copied().unwrap_or_default();
        let encoding = cookie.map(|cookie| cookie.name);
        error_at(body, at, DecodeErrorKind::Invalid { byte, encoding })
    })?;
    if let Some(at) = text.bytes().position(|byte| byte == 0) {
        return Err(error_at(text.as_bytes(), at, DecodeErrorKind::Nul));
    }
    Ok(unify_line_ends(text))
}

fn unify_line_ends(text: String) -> String {
    if !text.contains('\r') {
        return text;
    }
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn error_at(bytes: &[u8], at: usize, kind: DecodeErrorKind) -> DecodeError {
    let before = &bytes[..at.min(bytes.len())];
    let mut lines = 1;
    let mut start = 0;
    for (index, &byte) in before.iter().enumerate() {
        if byte == b'\n' && index > 0 && before[index - 1] == b'\r' {
            start = index + 1;
        } else if byte == b'\n' || byte == b'\r' {
            lines += 1;
            start = index + 1;
        }
    }
    let col = before.len() - start;
    DecodeError {
        line: lines,
        col: u32::try_from(col).unwrap_or(u32::MAX),
        kind,
    }
}

/// An encoding cookie with its place.
struct Cookie {
    name: String,
    line: u32,
    col: u32,
}

fn find_cookie(bytes: &[u8]) -> Option<Cookie> {
    let mut rest = bytes;
    for line in 1..=2 {
        let end = rest
            .iter()
            .position(|&byte| byte == b'\n' || byte == b'\r')
            .unwrap_or(rest.len());
        let text = &rest[..end];
        let start = text
            .iter()
            .position(|byte| !matches!(byte, b' ' | b'\t' | 0x0C))
            .unwrap_or(end);
        match text.get(start) {
            Some(b'#') => {
                if let Some((col, name)) = cookie_of_comment(&text[start..]) {
                    return Some(Cookie {
                        name,
                        line,
                        col: u32::try_from(start + col).unwrap_or(u32::MAX),
                    });
                }
            }
            Some(_) => return None,
            None => {}
        }
        let skip = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = rest.get(end + skip..)?;
    }
    None
}

/// The first `coding[:=] name` of a comment with the name's offset.
fn cookie_of_comment(comment: &[u8]) -> Option<(usize, String)> {
    const WORD: &[u8] = b"coding";
    (0..comment.len()).find_map(|at| {
        let after = comment[at..].strip_prefix(WORD)?;
        let after = after.strip_prefix(b":").or_else(|| after.strip_prefix(b"="))?;
        let blanks = after.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let length = after[blanks..].iter().take_while(is_name).count();
        let name = &after[blanks..blanks + length];
        (length > 0).then(|| {
            (
                at + WORD.len() + 1 + blanks,
                name.iter().copied().map(char::from).collect(),
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(bytes: &[u8]) -> (u32, u32, DecodeErrorKind) {
        let error = decode(bytes).unwrap_err();
        (error.line, error.col, error.kind)
    }

    #[test]
    fn the_cookie_counts_on_the_first_two_lines() {
        assert_eq!(decode(b"# coding: latin-1\n'\xe9'").unwrap(), "# coding: latin-1\n'é'");
        assert_eq!(
            decode(b"#!/usr/bin/python\n# -*- coding: cp1252 -*-\n'\x80'")
                .unwrap()
                .chars()
                .last(),
            Some('\'')
        );
        assert_eq!(
            decode(b"\x0c\n \t# vim: set fileencoding=koi8-r :\n'\xc1'")
                .unwrap()
                .matches('а')
                .count(),
            1
        );
        assert_eq!(
            decode(b"\r# coding=latin-1\r'\xe9'").unwrap(),
            "\n# coding=latin-1\n'é'"
        );
        assert_eq!(
            decode(b"# encoding is\n# the coding:\tlatin-1 one\n'\xe9'")
                .unwrap()
                .matches('é')
                .count(),
            1
        );
    }

    #[test]
    fn the_cookie_does_not_count_elsewhere() {
        let no_cookie = |byte| DecodeErrorKind::Invalid { byte, encoding: None };
        assert_eq!(kind(b"x = 1\n# coding: latin-1\n'\xe9'"), (3, 1, no_cookie(0xE9)));
        assert_eq!(kind(b"\n\n# coding: latin-1\n'\xe9'"), (4, 1, no_cookie(0xE9)));
        assert_eq!(kind(b"x = 1 # coding: latin-1\n'\xe9'"), (2, 1, no_cookie(0xE9)));
        assert_eq!(kind(b"# coding latin-1\r\n\r\n'\xe9'"), (3, 1, no_cookie(0xE9)));
    }

    #[test]
    fn byte_order_mark() {
        assert_eq!(decode(b"\xef\xbb\xbfx = 1").unwrap(), "x = 1");
        assert_eq!(decode(b"\xef\xbb\xbf# coding: UTF-8\nx").unwrap(), "# coding: UTF-8\nx");
        assert_eq!(
            kind(b"\xef\xbb\xbf# coding: utf8\nx").2,
            DecodeErrorKind::Conflict("utf8".to_owned())
        );
        assert_eq!(
            kind(b"\xef\xbb\xbf# coding: latin-1\nx"),
            (1, 10, DecodeErrorKind::Conflict("latin-1".to_owned()))
        );
    }

    #[test]
    fn what_python_refuses() {
        assert_eq!(
            kind(b"# coding: klingon\n"),
            (1, 10, DecodeErrorKind::UnknownEncoding("klingon".to_owned()))
        );
        assert_eq!(kind(b"x\n y\0"), (2, 2, DecodeErrorKind::Nul));
        let ascii = DecodeErrorKind::Invalid {
            byte: 0xC3,
            encoding: Some("ascii".to_owned()),
        };
        assert_eq!(kind("# coding: ascii\n'é'".as_bytes()), (2, 1, ascii));
    }

    #[test]
    fn line_ends_are_unified_in_strings_too() {
        assert_eq!(decode(b"a\r\nb\rc\n'''\r\n'''\r\r\n").unwrap(), "a\nb\nc\n'''\n'''\n\n");
    }
}
