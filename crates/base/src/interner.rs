//! Names to dense symbols.
//!
//! An interner is filled from per-file tables in canonical module order, on one thread, so that the same input always
//! yields the same numbers.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

crate::define_id! {
    /// A name of the analysed program (attribute, key, module, global).
    pub struct Symbol = "s";
}

/// The table of names of one analysis.
#[derive(Clone, Debug, Default)]
pub struct Interner {
    names: IndexSet<Box<str>, FxBuildHasher>,
}

impl Interner {
    /// The symbol of `name`, new if it was not known.
    pub fn intern(&mut self, name: &str) -> Symbol {
        if let Some(index) = self.names.get_index_of(name) {
            return <Symbol as crate::Id>::from_index(index);
        }
        let (index, _) = self.names.insert_full(name.into());
        <Symbol as crate::Id>::from_index(index)
    }
    /// The symbol of `name`, if it is known.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Symbol> {
        self.names.get_index_of(name).map(<Symbol as crate::Id>::from_index)
    }
    /// The name of a symbol.
    #[must_use]
    pub fn name(&self, symbol: Symbol) -> &str {
        &self.names[symbol.raw() as usize]
    }
    /// Number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }
    /// Whether no name is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}
