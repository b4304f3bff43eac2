//! Rewrites the markers of a Markdown file to what was found.

use crate::matcher::Mismatch;

/// The text with the value of every mismatched marker replaced by what was found; facts of the facts block and points-to
/// markers of variables that do not exist stay, as nobody but the author can say what was meant.
///
/// Lines are neither added nor removed, so the line numbers of other mismatches stay right.
#[must_use]
pub fn update_markers(text: &str, mismatches: &[Mismatch]) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for mismatch in mismatches {
        let index = mismatch.markdown_line.saturating_sub(1) as usize;
        let Some(line) = lines.get_mut(index) else { continue };
        if mismatch.found == "no such variable" {
            continue;
        }
        if let Some((start, end)) = value_range(line, &mismatch.key) {
            line.replace_range(start..end, &mismatch.found);
        }
    }
    lines.join("\n")
}

/// The byte range of the value of the marker `key` in a line: up to two spaces or the end.
fn value_range(line: &str, key: &str) -> Option<(usize, usize)> {
    let lead = match key {
        "calls" | "calls~" | "unresolved" => format!("{key}: "),
        _ => format!("{} = ", key.strip_prefix("pts: ").map(|_| key)?),
    };
    let comment = line.find('#')?;
    let start = comment + line[comment..].find(&lead)? + lead.len();
    let rest = &line[start..];
    let end = rest.find("  ").unwrap_or(rest.trim_end().len());
    Some((start, start + end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mismatch(line: u32, key: &str, found: &str) -> Mismatch {
        let (expected, found) = ("x".to_owned(), found.to_owned());
        Mismatch {
            markdown_line: line,
            place: None,
            key: key.to_owned(),
            expected,
            found,
        }
    }

    #[test]
    fn values_are_replaced_in_place() {
        let text = "a\nf()   # calls: f  pts: x.f = A  @l\nwith x:  # unresolved: external\n# ^below calls~: f\ng\n";
        let updated = update_markers(
            text,
            &[
                mismatch(2, "calls", "f, g"),
                mismatch(2, "pts: x.f", "A | B"),
                mismatch(3, "unresolved", "none"),
                mismatch(4, "calls~", "h"),
            ],
        );
        let expected =
            "a\nf()   # calls: f, g  pts: x.f = A | B  @l\nwith x:  # unresolved: none\n# ^below calls~: h\ng\n";
        assert_eq!(updated, expected);
    }

    #[test]
    fn what_only_the_author_knows_stays() {
        let text = "f()  # pts: y = A\nddg @a -> @b\n";
        let found = [
            mismatch(1, "pts: y", "no such variable"),
            mismatch(2, "ddg @a -> @b", "no such path"),
        ];
        assert_eq!(update_markers(text, &found), text);
    }
}
