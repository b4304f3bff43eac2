//! Markers: facts in the trailing comments of a program.
//!
//! ```python
//! x = f(g)      # calls: f  pts: x = int  @use  -- prose behind two dashes
//! # ^below calls: A.__init__
//! make()
//! ```
//! A comment is a marker if it starts with `word:`, `@label` or `^below`; *segments* are separated by two spaces.

use crate::case::LineMarkers;
use hognose_base::UnresolvedKind;

/// A name, perhaps with the line its owner is made at: `f`, `f@12`, `C()@label`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Located {
    /// The name without its place.
    pub name: String,
    /// A label, or a line of the same module.
    pub at: Option<String>,
}

/// `calls: f, g`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallsMarker {
    /// The functions.
    pub functions: Vec<Located>,
    /// Whether a run may call fewer of them (`calls~:`).
    pub superset: bool,
}

/// `pts: x.f = A | B`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointsToMarker {
    /// What is asked for.
    pub path: VariablePath,
    /// The objects; none for `none`.
    pub objects: Vec<Located>,
    /// Line of the Markdown file.
    pub markdown_line: u32,
}

/// A variable and what is read from its objects: `x.f["k"]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VariablePath {
    /// The variable.
    pub variable: String,
    /// The reads, outermost last.
    pub steps: Vec<VariableStep>,
}

/// One read of a [`VariablePath`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VariableStep {
    /// `.f`
    Field(String),
    /// `[0]`
    Index(i64),
    /// `["k"]`
    Key(String),
    /// `[*]`: any element.
    Any,
}

impl std::fmt::Display for Located {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        self.at.as_ref().map_or(Ok(()), |at| write!(f, "@{at}"))
    }
}

impl std::fmt::Display for VariablePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.variable)?;
        for step in &self.steps {
            match step {
                VariableStep::Field(name) => write!(f, ".{name}")?,
                VariableStep::Index(index) => write!(f, "[{index}]")?,
                VariableStep::Key(key) => write!(f, "[\"{key}\"]")?,
                VariableStep::Any => f.write_str("[*]")?,
            }
        }
        Ok(())
    }
}

/// A comment that is a marker.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MarkerComment<'a> {
    /// Whether it speaks of the line below it.
    pub(crate) below: bool,
    /// Its segments, prose left out.
    pub(crate) segments: Vec<&'a str>,
}

/// Recognises a marker by its start; `text` begins with `#`.
pub(crate) fn marker_comment(text: &str) -> Option<MarkerComment<'_>> {
    let text = text.trim_start_matches('#').trim();
    let (below, rest) = match text.strip_prefix("^below") {
        Some(rest) if rest.is_empty() || rest.starts_with(char::is_whitespace) => (true, rest.trim()),
        _ => (false, text),
    };
    let word = rest.split_whitespace().next().unwrap_or("");
    if !below && !is_label(word) && !is_key(word) {
        return None;
    }
    let segments = rest.split("  ").map(str::trim).filter(|segment| !segment.is_empty());
    Some(MarkerComment {
        below,
        segments: segments.take_while(|segment| !segment.starts_with("--")).collect(),
    })
}

fn is_key(word: &str) -> bool {
    let name = word
        .strip_suffix(':')
        .map(|name| name.strip_suffix('~').unwrap_or(name));
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase()))
}

fn is_label(word: &str) -> bool {
    word.strip_prefix('@').is_some_and(is_identifier)
}

fn is_identifier(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|first| first == '_' || first.is_alphabetic())
        && chars.all(|char| char == '_' || char.is_alphanumeric())
}

/// What a segment holds.
pub(crate) enum Segment<'a> {
    /// Labels of the line, without `@`.
    Labels(Vec<&'a str>),
    /// A fact, already added to the line.
    Fact,
}

/// Reads one segment; facts are added to `line`.
pub(crate) fn parse_segment<'a>(
    segment: &'a str,
    markdown_line: u32,
    line: &mut LineMarkers,
) -> Result<Segment<'a>, String> {
    if segment.split_whitespace().all(is_label) {
        return Ok(Segment::Labels(
            segment.split_whitespace().map(|word| &word[1..]).collect(),
        ));
    }
    let unknown = || format!("unknown marker `{segment}` (markers are separated by two spaces)");
    let (key, value) = segment.split_once(':').ok_or_else(unknown)?;
    let value = value.trim();
    if value.is_empty() {
        return Err(format!("empty marker `{key}:`"));
    }
    match key {
        "calls" | "calls~" => {
            let calls = line.calls.get_or_insert_default();
            calls.superset |= key == "calls~";
            for name in list(value, ',') {
                calls.functions.push(parse_function(name)?);
            }
        }
        "unresolved" => {
            let kinds = line.unresolved.get_or_insert_default();
            for name in list(value, ',') {
                let kind = UnresolvedKind::ALL.iter().find(|kind| kind.name() == name);
                kinds.insert(*kind.ok_or_else(|| format!("unknown kind `{name}`"))?);
            }
        }
        "pts" => {
            let (path, objects) = value
                .split_once('=')
                .ok_or_else(|| format!("bad points-to marker `{segment}`, expected `pts: x.f = A | B`"))?;
            let path = parse_path(path.trim())?;
            let objects = list(objects.trim(), '|').map(parse_located).collect();
            line.points_to.push(PointsToMarker {
                path,
                objects,
                markdown_line,
            });
        }
        _ => return Err(unknown()),
    }
    Ok(Segment::Fact)
}

fn list(value: &str, separator: char) -> impl Iterator<Item = &str> {
    value.split(separator).map(str::trim).filter(move |_| value != "none")
}

fn parse_located(text: &str) -> Located {
    match text.rsplit_once('@') {
        Some((name, at)) => Located {
            name: name.trim_end().to_owned(),
            at: Some(at.to_owned()),
        },
        None => Located {
            name: text.to_owned(),
            at: None,
        },
    }
}

fn parse_function(text: &str) -> Result<Located, String> {
    let located = parse_located(text);
    let name = |char: char| char == '_' || char == '.' || char == '<' || char == '>' || char.is_alphanumeric();
    if located.name.is_empty() || !located.name.chars().all(name) || located.at.as_deref() == Some("") {
        return Err(format!("bad function name `{text}`"));
    }
    Ok(located)
}

fn parse_path(text: &str) -> Result<VariablePath, String> {
    let bad = || format!("bad variable `{text}`, expected `x`, `x.f`, `x[0]`, `x[\"k\"]` or `x[*]`");
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (variable, mut rest) = text.split_at(end);
    if !is_identifier(variable) {
        return Err(bad());
    }
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, tail) = parse_step(rest).ok_or_else(bad)?;
        steps.push(step);
        rest = tail;
    }
    Ok(VariablePath {
        variable: variable.to_owned(),
        steps,
    })
}

fn parse_step(text: &str) -> Option<(VariableStep, &str)> {
    if let Some(rest) = text.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        return is_identifier(name).then(|| (VariableStep::Field(name.to_owned()), rest));
    }
    let rest = text.strip_prefix('[')?;
    if let Some(quote) = rest.chars().next().filter(|char| matches!(char, '"' | '\'')) {
        let (key, rest) = rest[1..].split_once(quote)?;
        return Some((VariableStep::Key(key.to_owned()), rest.strip_prefix(']')?));
    }
    let (inside, rest) = rest.split_once(']')?;
    let step = if inside == "*" {
        VariableStep::Any
    } else {
        VariableStep::Index(inside.parse().ok()?)
    };
    Some((step, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(segment: &str) -> Result<LineMarkers, String> {
        let mut line = LineMarkers::default();
        parse_segment(segment, 7, &mut line)?;
        Ok(line)
    }

    #[test]
    fn only_marker_comments_are_markers() {
        for text in [
            "# plain",
            "# Note: capital",
            "#",
            "# see f: g",
            "# a-b: c",
            "# ^belowx calls: f",
            "# @",
        ] {
            assert_eq!(marker_comment(text), None, "{text}");
        }
        for text in [
            "# calls: f",
            "#calls~: f",
            "# typo: f",
            "# @a",
            "# ^below",
            "## pts: x = y",
        ] {
            assert!(marker_comment(text).is_some(), "{text}");
        }
    }

    #[test]
    fn segments_end_at_two_spaces_and_prose_at_two_dashes() {
        let found = marker_comment("# ^below calls: f, g   pts: x = a | b  @l  -- calls: none").unwrap();
        assert!(found.below);
        assert_eq!(found.segments, ["calls: f, g", "pts: x = a | b", "@l"]);
    }

    #[test]
    fn values_are_read() {
        let line = parsed("calls~: f, C.<lambda1>@12").unwrap();
        let calls = line.calls.unwrap();
        assert!(calls.superset);
        assert_eq!(
            calls.functions[1],
            Located {
                name: "C.<lambda1>".into(),
                at: Some("12".into())
            }
        );
        assert_eq!(parsed("calls: none").unwrap().calls, Some(CallsMarker::default()));
        let kinds = parsed("unresolved: external, protocol").unwrap().unresolved.unwrap();
        assert_eq!(
            kinds.into_iter().collect::<Vec<_>>(),
            [UnresolvedKind::External, UnresolvedKind::Protocol]
        );
        let line = parsed("pts: x.f[0][\"a.b\"][*].g = C()@here | bound C.m").unwrap();
        let marker = &line.points_to[0];
        assert_eq!(marker.path.to_string(), "x.f[0][\"a.b\"][*].g");
        assert_eq!(marker.path.steps.len(), 5);
        assert_eq!(
            marker.objects[0],
            Located {
                name: "C()".into(),
                at: Some("here".into())
            }
        );
        assert_eq!(
            marker.objects[1],
            Located {
                name: "bound C.m".into(),
                at: None
            }
        );
        assert_eq!(parsed("pts: x = none").unwrap().points_to[0].objects, []);
    }

    #[test]
    fn malformed_segments_say_what_is_wrong() {
        let cases = [
            (
                "call: f",
                "unknown marker `call: f` (markers are separated by two spaces)",
            ),
            ("calls: f pts: x = y", "bad function name `f pts: x = y`"),
            ("calls:", "empty marker `calls:`"),
            ("unresolved: magic", "unknown kind `magic`"),
            ("pts: x", "bad points-to marker `pts: x`, expected `pts: x.f = A | B`"),
            (
                "pts: x[ = y",
                "bad variable `x[`, expected `x`, `x.f`, `x[0]`, `x[\"k\"]` or `x[*]`",
            ),
        ];
        for (segment, message) in cases {
            assert_eq!(parsed(segment).unwrap_err(), message);
        }
    }
}
