//! A cheap upper bound of how deep the syntax tree of a text can be, before anything recurses on it.
//!
//! The parser of the embedded compiler takes any depth, and dropping its tree recurses as deep as the tree is. Depth
//! comes from brackets, from prefix operators, from chains of binary operators, attributes, calls and subscripts
//! (`a.b().c[0]` is four deep) and from `lambda` and conditional expressions. Indentation adds little: a block of depth
//! *d* needs *d*² / 2 bytes.
//!
//! The scan counts *links*: every token inside one comma-separated part of one pair of brackets (or of one logical line)
//! that can add a level. The depth at a place is at most the sum of the links of the parts that it lies in. Nothing is
//! recursive here, and the scan needs memory only for open brackets.

/// More links than this are refused. It is far more than the compiler takes, and small enough for the deep stack: parsing
/// and dropping 100,000 prefix operators takes 160 MiB in an optimised build.
pub(crate) const MAX_LINKS: usize = 150_000;

/// Where the scan is: inside a pair of brackets, a replacement field, or the text of an f-string.
#[derive(Clone, Copy)]
enum Place {
    /// Between brackets: links counted so far in this part, and those that commas do not end.
    Code { links: usize, lasting: usize },
    /// In the text of an f-string or t-string: its quote, and whether it is tripled.
    Text { quote: u8, triple: bool },
}

const EMPTY: Place = Place::Code { links: 0, lasting: 0 };

/// An offset at which the text nests deeper than [`MAX_LINKS`], if there is one.
pub(crate) fn too_deep(text: &str) -> Option<usize> {
    // Every link is at least one byte.
    if text.len() <= MAX_LINKS {
        return None;
    }
    let bytes = text.as_bytes();
    let mut scan = Scan {
        places: vec![EMPTY],
        total: 0,
    };
    let mut at = 0;
    while at < bytes.len() {
        at = match scan.places.last() {
            Some(&Place::Text { quote, triple }) => scan.text(bytes, at, quote, triple),
            _ => scan.code(bytes, at),
        };
        if scan.total > MAX_LINKS {
            return Some(at.min(bytes.len()));
        }
    }
    None
}

struct Scan {
    places: Vec<Place>,
    /// The sum of the links of all open places.
    total: usize,
}

impl Scan {
    /// Reads one token of code at `at`; returns the offset behind it.
    fn code(&mut self, bytes: &[u8], at: usize) -> usize {
        match bytes[at] {
            b'#' => find(bytes, at, |byte| byte == b'\n'),
            b'\'' | b'"' => self.string(bytes, at, at),
            byte if is_name(byte) => {
                let end = find(bytes, at, |byte| !is_name(byte));
                match bytes.get(end) {
                    Some(b'\'' | b'"') if end - at <= 2 => return self.string(bytes, at, end),
                    _ => self.word(&bytes[at..end]),
                }
                end
            }
            b'(' | b'[' | b'{' => {
                self.link(1);
                self.places.push(EMPTY);
                at + 1
            }
            b')' | b']' | b'}' => {
                self.close();
                at + 1
            }
            b',' => {
                self.next_part(false);
                at + 1
            }
            b'\n' | b';' if self.places.len() == 1 => {
                self.next_part(true);
                at + 1
            }
            b'+' | b'-' | b'~' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b'.' | b'<' | b'>' => {
                self.link(1);
                at + 1
            }
            b'\\' => at + 2,
            _ => at + 1,
        }
    }

    /// A word: keywords that nest count.
    fn word(&mut self, word: &[u8]) {
        match word {
            b"not" | b"await" | b"if" | b"else" | b"for" | b"yield" | b"and" | b"or" => self.link(1),
            // A parameter list has commas that do not end the expression the lambda is in.
            b"lambda" => {
                self.total += 1;
                if let Some(Place::Code { lasting, .. }) = self.places.last_mut() {
                    *lasting += 1;
                }
            }
            _ => {}
        }
    }

    /// A string whose prefix starts at `at` and whose quote is at `quote_at`.
    fn string(&mut self, bytes: &[u8], at: usize, quote_at: usize) -> usize {
        let quote = bytes[quote_at];
        let triple = bytes[quote_at..].starts_with(&[quote; 3]);
        let start = quote_at + if triple { 3 } else { 1 };
        let replaces = bytes[at..quote_at]
            .iter()
            .any(|byte| matches!(byte, b'f' | b'F' | b't' | b'T'));
        if replaces {
            self.places.push(Place::Text { quote, triple });
            return start;
        }
        let mut end = start;
        while let Some(&byte) = bytes.get(end) {
            match byte {
                b'\\' => end += 2,
                b'\n' if !triple => return end,
                _ if ends_string(bytes, end, quote, triple) => return end + if triple { 3 } else { 1 },
                _ => end += 1,
            }
        }
        end
    }

    /// Reads a piece of the text of an f-string.
    fn text(&mut self, bytes: &[u8], at: usize, quote: u8, triple: bool) -> usize {
        match bytes[at] {
            b'\\' => at + 2,
            b'{' if bytes.get(at + 1) == Some(&b'{') => at + 2,
            b'{' => {
                self.places.push(EMPTY);
                self.link(1);
                at + 1
            }
            b'\n' if !triple => {
                self.places.pop();
                at
            }
            _ if ends_string(bytes, at, quote, triple) => {
                self.places.pop();
                at + if triple { 3 } else { 1 }
            }
            _ => at + 1,
        }
    }

    fn link(&mut self, count: usize) {
        self.total += count;
        if let Some(Place::Code { links, .. }) = self.places.last_mut() {
            *links += count;
        }
    }

    /// Forgets the links of the part that ends here.
    fn next_part(&mut self, line_ends: bool) {
        if let Some(Place::Code { links, lasting }) = self.places.last_mut() {
            self.total -= std::mem::take(links);
            if line_ends {
                self.total -= std::mem::take(lasting);
            }
        }
    }

    /// Leaves a pair of brackets or a replacement field. One bracket too many is the parser's to report.
    fn close(&mut self) {
        self.next_part(true);
        if self.places.len() > 1 {
            self.places.pop();
        }
    }
}

fn ends_string(bytes: &[u8], at: usize, quote: u8, triple: bool) -> bool {
    if triple {
        bytes[at..].starts_with(&[quote; 3])
    } else {
        bytes[at] == quote
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn find(bytes: &[u8], at: usize, stop: impl Fn(u8) -> bool) -> usize {
    bytes[at..]
        .iter()
        .position(|&byte| stop(byte))
        .map_or(bytes.len(), |length| at + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deep(text: &str) -> bool {
        too_deep(text).is_some()
    }

    #[test]
    fn chains_and_prefixes_are_deep() {
        let many = MAX_LINKS + 1;
        for text in [
            format!("x = {}1", "not ".repeat(many)),
            format!("x = {}1", "-".repeat(many)),
            format!("x = 1{}", "+1".repeat(many)),
            format!("x = a{}", ".b".repeat(many)),
            format!("x = a{}", "()".repeat(many)),
            format!("x = {}", "(".repeat(many)),
            format!("x = {}1", "lambda a, b: ".repeat(many)),
            format!("x = {}1", "a if b else ".repeat(many)),
            format!("f'{{{}x}}'", "not ".repeat(many)),
            format!("f(a, [b, {}1], c)", "not ".repeat(many)),
        ] {
            assert!(deep(&text), "{}", &text[..20]);
        }
    }

    #[test]
    fn wide_texts_are_not() {
        let many = MAX_LINKS + 1;
        for text in [
            format!("x = [{}]", "-1, ".repeat(many)),
            "x.y.z(-1)\n".repeat(many),
            format!("x = '{}'", "-".repeat(many)),
            format!("x = '''{}'''", "-\n'".repeat(many)),
            format!("# {}", "- ".repeat(many)),
            format!("x = {{{}}}", "a.b: -1, ".repeat(many)),
            format!("x = f'{}'", "-{{".repeat(many)),
            "f'{a.b}' f\"{c['d']}\"\n".repeat(many),
            ")\n".repeat(many),
        ] {
            assert!(!deep(&text), "{}", &text[..20]);
        }
    }
}
