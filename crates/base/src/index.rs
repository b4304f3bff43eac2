//! Dense ids and the vectors they index.

use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A dense `u32` id. Made with [`define_id!`](crate::define_id).
pub trait Id: Copy + Eq + Ord + Hash + fmt::Debug {
    /// The id for position `index` of its table.
    ///
    /// # Panics
    /// If `index` does not fit in 32 bits; tables are limited before they reach that size.
    fn from_index(index: usize) -> Self;
    /// The position in the table.
    fn index(self) -> usize;
}

/// Defines a dense id type: `define_id!(/// doc  pub struct BlockId = "b";)` prints as `b7`.
#[macro_export]
macro_rules! define_id {
    ($(#[$meta:meta])* $vis:vis struct $name:ident = $prefix:literal;) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        $vis struct $name(u32);

        impl $name {
            /// The id with this raw number.
            #[inline]
            #[must_use]
            pub const fn new(raw: u32) -> Self {
                Self(raw)
            }
            /// The raw number.
            #[inline]
            #[must_use]
            pub const fn raw(self) -> u32 {
                self.0
            }
        }

        impl $crate::Id for $name {
            #[inline]
            fn from_index(index: usize) -> Self {
                debug_assert!(index <= u32::MAX as usize);
                #[allow(clippy::cast_possible_truncation)]
                Self(index as u32)
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

/// A `Vec` indexed by a dense id.
#[derive(Clone, PartialEq, Eq)]
pub struct IndexVec<I, T> {
    raw: Vec<T>,
    marker: PhantomData<fn(I)>,
}

impl<I: Id, T> IndexVec<I, T> {
    /// An empty table.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            raw: Vec::new(),
            marker: PhantomData,
        }
    }
    /// An empty table with room for `capacity` rows.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            raw: Vec::with_capacity(capacity),
            marker: PhantomData,
        }
    }
    /// A table over existing rows.
    #[must_use]
    pub const fn from_raw(raw: Vec<T>) -> Self {
        Self {
            raw,
            marker: PhantomData,
        }
    }
    /// `count` copies of `value`.
    #[must_use]
    pub fn from_elem(value: T, count: usize) -> Self
    where
        T: Clone,
    {
        Self::from_raw(vec![value; count])
    }
    /// Appends a row and returns its id.
    #[inline]
    pub fn push(&mut self, value: T) -> I {
        let id = I::from_index(self.raw.len());
        self.raw.push(value);
        id
    }
    /// Number of rows.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.raw.len()
    }
    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }
    /// The id the next `push` will return.
    #[inline]
    #[must_use]
    pub fn next_id(&self) -> I {
        I::from_index(self.raw.len())
    }
    /// The row, if the id is in range.
    #[inline]
    #[must_use]
    pub fn get(&self, id: I) -> Option<&T> {
        self.raw.get(id.index())
    }
    /// All ids in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.raw.len()).map(I::from_index)
    }
    /// Rows in id order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.raw.iter()
    }
    /// Rows in id order, mutable.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.raw.iter_mut()
    }
    /// `(id, row)` pairs in id order.
    pub fn iter_enumerated(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.raw
            .iter()
            .enumerate()
            .map(|(index, value)| (I::from_index(index), value))
    }
    /// The rows as a slice.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.raw
    }
    /// The rows as a mutable slice.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.raw
    }
    /// The rows.
    #[must_use]
    pub fn into_raw(self) -> Vec<T> {
        self.raw
    }
    /// Makes room for so many more rows.
    pub fn reserve(&mut self, count: usize) {
        self.raw.reserve(count);
    }
    /// Grows or cuts the table to `count` rows.
    pub fn resize(&mut self, count: usize, value: T)
    where
        T: Clone,
    {
        self.raw.resize(count, value);
    }
    /// Appends rows.
    pub fn extend(&mut self, rows: impl IntoIterator<Item = T>) {
        self.raw.extend(rows);
    }
}

impl<I: Id, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id, T: fmt::Debug> fmt::Debug for IndexVec<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}

impl<I: Id, T> Index<I> for IndexVec<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.raw[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IndexVec<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.raw[id.index()]
    }
}

impl<I: Id, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(rows: It) -> Self {
        Self::from_raw(rows.into_iter().collect())
    }
}

impl<'a, I: Id, T> IntoIterator for &'a IndexVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.raw.iter()
    }
}
