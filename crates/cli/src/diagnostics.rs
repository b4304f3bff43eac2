//! Diagnostics on the standard error, with an excerpt of the source where there is one.

use crate::args::Common;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use hognose::Analysis;
use hognose::base::{Diagnostic, Severity};
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};

/// Largest source file that is read for an excerpt.
const MAX_EXCERPT_SOURCE: u64 = 4 << 20;

/// Writes a line to the standard error; that this may fail concerns nobody.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Shows the diagnostics of an analysis.
pub(crate) fn show(analysis: &Analysis, common: &Common) {
    let least = match () {
        () if common.quiet => Severity::Error,
        () if common.verbose => Severity::Note,
        () => Severity::Warning,
    };
    let renderer = if std::io::stderr().is_terminal() {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let budget = analysis.budget_diagnostic();
    let mut sources = BTreeMap::new();
    for diagnostic in analysis.diagnostics().iter().chain(&budget) {
        if diagnostic.severity >= least {
            let source = sources
                .entry(diagnostic.path.clone())
                .or_insert_with(|| analysis.source_text(&diagnostic.path, MAX_EXCERPT_SOURCE));
            say(&render(&renderer, diagnostic, source.as_deref()));
        }
    }
}

fn render(renderer: &Renderer, diagnostic: &Diagnostic, source: Option<&str>) -> String {
    let place = diagnostic.at.and_then(|at| byte_range(source?, at.line, at.col));
    let (Some(range), Some(source)) = (place, source) else {
        return diagnostic.to_string();
    };
    let level = match diagnostic.severity {
        Severity::Note => Level::NOTE,
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let snippet = Snippet::source(source)
        .path(&*diagnostic.path)
        .annotation(AnnotationKind::Primary.span(range));
    let title = level.primary_title(&*diagnostic.message).id(diagnostic.kind.name());
    renderer.render(&[title.element(snippet)])
}

/// The character at a line and a column in bytes; an empty range at the end of a line.
fn byte_range(source: &str, line: u32, col: u32) -> Option<std::ops::Range<usize>> {
    let mut start = 0;
    for _ in 1..line {
        start += source[start..].find('\n')? + 1;
    }
    let end = source[start..].find('\n').map_or(source.len(), |at| start + at);
    let mut at = start.checked_add(col as usize)?.min(end);
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    let width = source[at..end].chars().next().map_or(0, char::len_utf8);
    Some(at..at + width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hognose::base::DiagnosticKind;

    #[test]
    fn places_are_found_and_clamped() {
        let source = "ab\nö = 1\n";
        assert_eq!(byte_range(source, 1, 1), Some(1..2));
        assert_eq!(byte_range(source, 2, 0), Some(3..5));
        assert_eq!(byte_range(source, 2, 1), Some(3..5));
        assert_eq!(byte_range(source, 2, 99), Some(9..9));
        assert_eq!(byte_range(source, 9, 0), None);
    }

    #[test]
    fn an_excerpt_shows_line_and_message() {
        let diagnostic = Diagnostic::error("a.py", DiagnosticKind::Syntax, "invalid syntax").at(2, 4);
        let text = render(&Renderer::plain(), &diagnostic, Some("x = 1\ny = (\n"));
        assert!(text.contains("error[syntax]: invalid syntax"), "{text}");
        assert!(text.contains("a.py:2:5") && text.contains("y = ("), "{text}");
        let plain = render(&Renderer::plain(), &diagnostic, None);
        assert_eq!(plain, "a.py:2:4: error[syntax]: invalid syntax");
    }
}
