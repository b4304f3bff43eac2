//! JSON documents, written piece by piece.

use serde::Serialize;
use std::io::{self, Write};

/// A JSON object that is being written: fields one after the other, arrays one row a line.
pub struct Document<'w> {
    out: &'w mut dyn Write,
    first: bool,
}

impl<'w> Document<'w> {
    /// Begins a document of this schema.
    ///
    /// # Errors
    /// If writing fails.
    pub fn begin(out: &'w mut dyn Write, schema: &str) -> io::Result<Self> {
        out.write_all(b"{")?;
        let mut document = Self { out, first: true };
        document.field("schema", &schema)?;
        Ok(document)
    }

    fn key(&mut self, name: &str) -> io::Result<()> {
        self.out.write_all(if self.first { b"\n" } else { b",\n" })?;
        self.first = false;
        serde_json::to_writer(&mut *self.out, name)?;
        self.out.write_all(b": ")
    }

    /// Writes a field.
    ///
    /// # Errors
    /// If writing fails.
    pub fn field(&mut self, name: &str, value: &impl Serialize) -> io::Result<()> {
        self.key(name)?;
        serde_json::to_writer(&mut *self.out, value)?;
        Ok(())
    }

    /// Writes a field that is an array, row by row.
    ///
    /// # Errors
    /// If writing fails.
    pub fn array<T: Serialize>(&mut self, name: &str, rows: impl IntoIterator<Item = T>) -> io::Result<()> {
        self.key(name)?;
        self.out.write_all(b"[")?;
        for (number, row) in rows.into_iter().enumerate() {
            self.out.write_all(if number == 0 { b"\n" } else { b",\n" })?;
            serde_json::to_writer(&mut *self.out, &row)?;
        }
        self.out.write_all(b"]")
    }

    /// Ends the document.
    ///
    /// # Errors
    /// If writing fails.
    pub fn end(self) -> io::Result<()> {
        self.out.write_all(b"\n}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_json() {
        let mut out = Vec::new();
        let mut document = Document::begin(&mut out, "test/1").unwrap();
        document.field("name", &"a \"b\"").unwrap();
        document.array("rows", [1, 2]).unwrap();
        document.array("none", [0; 0]).unwrap();
        document.end().unwrap();
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let expected = serde_json::json!({"schema": "test/1", "name": "a \"b\"", "rows": [1, 2], "none": []});
        assert_eq!(value, expected);
    }
}
