//! Points-to sets: inline up to three members, then a sorted array, then a roaring bitmap.
//!
//! Most nodes hold nothing or one object, so those cost no heap memory. See Lhoták and Hendren (2003), "Scaling Java
//! points-to analysis using Spark", for hybrid sets.

use crate::ids::ObjId;
use roaring::RoaringBitmap;
use smallvec::SmallVec;

/// Members a sorted array may have before it becomes a bitmap.
const ARRAY_LIMIT: usize = 48;

/// A set of objects.
#[derive(Clone, Debug, Default)]
pub enum PtsSet {
    /// No member.
    #[default]
    Empty,
    /// One member.
    One(ObjId),
    /// Two or three members, sorted; the count is the first field.
    Few(u8, [ObjId; 3]),
    /// Sorted members. Boxed twice so that a set stays at 16 bytes.
    #[allow(clippy::box_collection)]
    Array(Box<Vec<ObjId>>),
    /// Many members.
    Bitmap(Box<RoaringBitmap>),
}

impl PtsSet {
    /// Adds a member; whether it was new.
    pub fn insert(&mut self, object: ObjId) -> bool {
        match self {
            Self::Empty => *self = Self::One(object),
            Self::One(only) => {
                if *only == object {
                    return false;
                }
                let (low, high) = if *only < object {
                    (*only, object)
                } else {
                    (object, *only)
                };
                *self = Self::Few(2, [low, high, high]);
            }
            Self::Few(count, members) => {
                let used = usize::from(*count);
                let Err(at) = members[..used].binary_search(&object) else {
                    return false;
                };
                if used < 3 {
                    members.copy_within(at..used, at + 1);
                    members[at] = object;
                    *count += 1;
                } else {
                    let mut array = Vec::with_capacity(8);
                    array.extend_from_slice(&members[..at]);
                    array.push(object);
                    array.extend_from_slice(&members[at..used]);
                    *self = Self::Array(Box::new(array));
                }
            }
            Self::Array(array) => {
                let Err(at) = array.binary_search(&object) else {
                    return false;
                };
                if array.len() < ARRAY_LIMIT {
                    array.insert(at, object);
                } else {
                    let mut bitmap: RoaringBitmap = array.iter().map(|member| member.raw()).collect();
                    bitmap.insert(object.raw());
                    *self = Self::Bitmap(Box::new(bitmap));
                }
            }
            Self::Bitmap(bitmap) => return bitmap.insert(object.raw()),
        }
        true
    }

    /// Whether `object` is a member.
    #[must_use]
    pub fn contains(&self, object: ObjId) -> bool {
        match self {
            Self::Empty => false,
            Self::One(only) => *only == object,
            Self::Few(count, members) => members[..usize::from(*count)].contains(&object),
            Self::Array(array) => array.binary_search(&object).is_ok(),
            Self::Bitmap(bitmap) => bitmap.contains(object.raw()),
        }
    }

    /// Number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Empty => 0,
            Self::One(_) => 1,
            Self::Few(count, _) => usize::from(*count),
            Self::Array(array) => array.len(),
            Self::Bitmap(bitmap) => usize::try_from(bitmap.len()).unwrap_or(usize::MAX),
        }
    }

    /// Whether there is no member.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }

    /// Calls `each` for the members in ascending order.
    pub fn for_each(&self, mut each: impl FnMut(ObjId)) {
        match self {
            Self::Empty => {}
            Self::One(only) => each(*only),
            Self::Few(count, members) => members[..usize::from(*count)].iter().copied().for_each(each),
            Self::Array(array) => array.iter().copied().for_each(each),
            Self::Bitmap(bitmap) => bitmap.iter().for_each(|raw| each(ObjId::new(raw))),
        }
    }

    /// The members in ascending order.
    #[must_use]
    pub fn to_vec(&self) -> Vec<ObjId> {
        let mut members = Vec::with_capacity(self.len());
        self.for_each(|object| members.push(object));
        members
    }

    /// The members in ascending order, without the heap if there are few.
    #[must_use]
    pub fn members<const N: usize>(&self) -> SmallVec<[ObjId; N]> {
        match self {
            Self::Empty => SmallVec::new(),
            Self::One(only) => SmallVec::from_slice(&[*only]),
            Self::Few(count, members) => SmallVec::from_slice(&members[..usize::from(*count)]),
            Self::Array(array) => SmallVec::from_slice(array),
            Self::Bitmap(bitmap) => bitmap.iter().map(ObjId::new).collect(),
        }
    }

    /// Bytes on the heap, roughly.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        match self {
            Self::Array(array) => 24 + array.capacity() * 4,
            Self::Bitmap(bitmap) => 24 + bitmap.serialized_size(),
            _ => 0,
        }
    }
}

impl PartialEq for PtsSet {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.members::<16>() == other.members::<16>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_set_costs_sixteen_bytes() {
        assert_eq!(size_of::<PtsSet>(), 16);
    }

    proptest! {
        #[test]
        fn agrees_with_a_btree_set(members in prop::collection::vec(0u32..200, 0..300)) {
            let mut set = PtsSet::default();
            let mut reference = BTreeSet::new();
            for member in members {
                prop_assert_eq!(set.insert(ObjId::new(member)), reference.insert(member));
                prop_assert_eq!(set.len(), reference.len());
            }
            prop_assert_eq!(set.to_vec().iter().map(|o| o.raw()).collect::<Vec<_>>(), reference.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(set.members::<4>().to_vec(), set.to_vec());
            for probe in 0..200 {
                prop_assert_eq!(set.contains(ObjId::new(probe)), reference.contains(&probe));
            }
        }
    }
}
