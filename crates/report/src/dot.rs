//! Graphs in the DOT language of Graphviz.

use std::fmt::Display;
use std::io::{self, Write};

/// A digraph that is being written.
pub(crate) struct Dot<'w> {
    out: &'w mut dyn Write,
}

impl<'w> Dot<'w> {
    pub(crate) fn begin(out: &'w mut dyn Write, name: &str) -> io::Result<Self> {
        writeln!(out, "digraph {name} {{\n  node [shape=box, fontname=monospace];")?;
        Ok(Self { out })
    }
    pub(crate) fn cluster(&mut self, id: impl Display, label: &str) -> io::Result<()> {
        writeln!(self.out, "  subgraph cluster_{id} {{\n  label={};", quoted(label))
    }
    pub(crate) fn end_cluster(&mut self) -> io::Result<()> {
        writeln!(self.out, "  }}")
    }
    pub(crate) fn node(&mut self, id: impl Display, label: &str, more: &str) -> io::Result<()> {
        writeln!(self.out, "  {id} [label={}{more}];", quoted(label))
    }
    pub(crate) fn edge(&mut self, from: impl Display, to: impl Display, label: &str, more: &str) -> io::Result<()> {
        let label = if label.is_empty() {
            String::new()
        } else {
            format!("label={}", quoted(label))
        };
        let separator = if label.is_empty() || more.is_empty() { "" } else { ", " };
        writeln!(self.out, "  {from} -> {to} [{label}{separator}{more}];")
    }
    pub(crate) fn end(self) -> io::Result<()> {
        writeln!(self.out, "}}")
    }
}

/// A string literal; line breaks become left-justified ones.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\l"),
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        let mut out = Vec::new();
        let mut dot = Dot::begin(&mut out, "g").unwrap();
        dot.node("a", "say \"x\\y\"\nz\n", "").unwrap();
        dot.edge("a", "b", "", "style=dashed").unwrap();
        dot.edge("a", "b", "true", "style=dashed").unwrap();
        dot.end().unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains(r#"a [label="say \"x\\y\"\lz\l"];"#));
        assert!(text.contains("a -> b [style=dashed];"));
        assert!(text.contains("a -> b [label=\"true\", style=dashed];"));
    }
}
