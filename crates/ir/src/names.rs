//! The names of one file, numbered.
//!
//! A *name* is the text of an attribute, variable, module or keyword that an instruction mentions. Equal texts have one
//! [`NameId`] per file, so that later stages compare numbers. A few names that the lifter itself looks for come first and
//! have the same id in every file.

use crate::op::NameId;
use hognose_base::{Id, IndexVec};
use hognose_pyc::{ObjectId, Objects};
use rustc_hash::FxHashMap;

impl NameId {
    /// The builtin `isinstance`.
    pub const ISINSTANCE: Self = Self::new(0);
    /// The builtin `callable`.
    pub const CALLABLE: Self = Self::new(1);
    /// The builtin `type`.
    pub const TYPE: Self = Self::new(2);
}

/// Names with fixed ids, in id order.
const WELL_KNOWN: [&str; 3] = ["isinstance", "callable", "type"];

/// Numbers the names of one file in order of first use.
#[derive(Clone, Debug)]
pub struct NameTable {
    names: IndexVec<NameId, Box<str>>,
    by_text: FxHashMap<Box<str>, NameId>,
    by_object: Vec<Option<NameId>>,
}

impl Default for NameTable {
    fn default() -> Self {
        let mut table = Self {
            names: IndexVec::new(),
            by_text: FxHashMap::default(),
            by_object: Vec::new(),
        };
        for name in WELL_KNOWN {
            table.intern(name);
        }
        table
    }
}

impl NameTable {
    /// The id of a text, new if it was not known.
    pub fn intern(&mut self, text: &str) -> NameId {
        if let Some(&id) = self.by_text.get(text) {
            return id;
        }
        let id = self.names.push(text.into());
        self.by_text.insert(text.into(), id);
        id
    }
    /// The id of the text of a `Str` object; `None` if the object is something else. Each object is hashed once.
    pub fn intern_object(&mut self, objects: &Objects, object: ObjectId) -> Option<NameId> {
        let index = object.index();
        if let Some(&Some(id)) = self.by_object.get(index) {
            return Some(id);
        }
        let id = self.intern(&objects.text(object)?);
        if index >= self.by_object.len() {
            self.by_object.resize(index + 1, None);
        }
        self.by_object[index] = Some(id);
        Some(id)
    }
    /// The text of a name.
    #[must_use]
    pub fn text(&self, id: NameId) -> &str {
        &self.names[id]
    }
    /// Number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }
    /// Never: the well-known names are always there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
    /// The names in id order.
    #[must_use]
    pub fn into_names(self) -> IndexVec<NameId, Box<str>> {
        self.names
    }
}
