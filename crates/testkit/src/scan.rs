//! Finds comments and decorated headers in Python source without parsing it.
//!
//! ```python
//! @register("#")         # a comment; the `#` before it is none
//! def f(): ...           # lines 1 and 2 are one *decorated header*
//! ```
//! A *logical line* starts outside brackets and strings and after no backslash (Python Language Reference, 2.1).

use std::collections::BTreeMap;

/// A comment of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comment {
    /// Line, from 1.
    pub(crate) line: u32,
    /// Byte offset of the `#` in its line.
    pub(crate) column: usize,
    /// Text from the `#` on.
    pub(crate) text: String,
    /// Whether only blanks stand before it.
    pub(crate) alone: bool,
}

/// What [`scan`] finds.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) comments: Vec<Comment>,
    /// Every line of a decorated header but its last, to its last.
    pub(crate) folded: BTreeMap<u32, u32>,
}

#[derive(Default)]
struct Scanner {
    found: Scan,
    /// The quote that ends the open string.
    string: Option<&'static str>,
    depth: u32,
    continued: bool,
    /// First decorator of the header being read.
    header: Option<u32>,
}

/// Finds the comments and decorated headers of a module.
pub(crate) fn scan(text: &str) -> Scan {
    let mut scanner = Scanner::default();
    for (number, line) in (1u32..).zip(text.lines()) {
        scanner.line(number, line);
    }
    scanner.found
}

impl Scanner {
    fn line(&mut self, number: u32, line: &str) {
        let content = line.trim_start();
        if self.string.is_none()
            && self.depth == 0
            && !self.continued
            && !content.is_empty()
            && !content.starts_with('#')
        {
            self.logical_line(number, content);
        }
        self.continued = false;
        let mut at = 0;
        while at < line.len() {
            at = self.token(number, line, at);
        }
        // Only a triple-quoted string, or a backslash, goes on to the next line.
        if !self.continued && self.string.is_some_and(|quote| quote.len() == 1) {
            self.string = None;
        }
    }

    fn logical_line(&mut self, number: u32, content: &str) {
        if content.starts_with('@') {
            self.header.get_or_insert(number);
        } else if let Some(first) = self.header.take() {
            self.found.folded.extend((first..number).map(|line| (line, number)));
        }
    }

    /// Reads one character, quote or comment; returns the offset behind it.
    fn token(&mut self, number: u32, line: &str, at: usize) -> usize {
        let rest = &line[at..];
        let width = rest.chars().next().map_or(1, char::len_utf8);
        if let Some(escaped) = rest.strip_prefix('\\') {
            let next = escaped.chars().next().map_or(0, char::len_utf8);
            self.continued = next == 0;
            return at + 1 + next;
        }
        if let Some(quote) = self.string {
            if rest.starts_with(quote) {
                self.string = None;
                return at + quote.len();
            }
            return at + width;
        }
        if let Some(quote) = ["\"\"\"", "'''", "\"", "'"]
            .into_iter()
            .find(|quote| rest.starts_with(quote))
        {
            self.string = Some(quote);
            return at + quote.len();
        }
        match rest.as_bytes()[0] {
            b'#' => {
                let alone = line[..at].trim().is_empty();
                self.found.comments.push(Comment {
                    line: number,
                    column: at,
                    text: rest.to_owned(),
                    alone,
                });
                return line.len();
            }
            b'(' | b'[' | b'{' => self.depth += 1,
            b')' | b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        at + width
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_told_from_strings() {
        let text = "a = '#'  # one\n  # two\nb = \"\"\"x\n# no\n'''\n\"\"\"  # three\nc = 'it\\'s # no'\nd = '''#''' \"\"#four\n";
        let found: Vec<_> = scan(text)
            .comments
            .into_iter()
            .map(|c| (c.line, c.text, c.alone))
            .collect();
        let expected = [
            (1, "# one", false),
            (2, "# two", true),
            (6, "# three", false),
            (8, "#four", false),
        ];
        assert_eq!(
            found,
            expected.map(|(line, text, alone)| (line, text.to_owned(), alone))
        );
    }

    #[test]
    fn decorated_headers_fold_into_the_definition() {
        let text = "@a\n@b(\n  1,\n)\n# note\n\ndef f(\n  x): pass\nx = [1,\n@\n]\ny = \\\n@\nclass C: pass\n  @p\n  async def m(): pass\n";
        let folded: Vec<_> = scan(text).folded.into_iter().collect();
        let expected = [(1, 7), (2, 7), (3, 7), (4, 7), (5, 7), (6, 7), (15, 16)];
        assert_eq!(folded, expected);
    }
}
