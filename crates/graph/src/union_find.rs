//! Disjoint sets that grow.
//!
//! Tarjan and van Leeuwen (1984), "Worst-case analysis of set union algorithms": path halving. Two rules of linking: by size
//! ([`UnionFind::union`]), or into a given representative ([`UnionFind::union_into`]), which a solver uses that has its
//! data at the representative.

use hognose_base::{Id, IndexVec};

/// A partition of `0..len` into disjoint sets; new members are added as sets of their own.
#[derive(Clone, Debug)]
pub struct UnionFind<N: Id> {
    parent: IndexVec<N, N>,
    /// Number of members, at representatives.
    size: IndexVec<N, u32>,
    set_count: usize,
}

impl<N: Id> UnionFind<N> {
    /// `count` sets of one member.
    #[must_use]
    pub fn with_count(count: usize) -> Self {
        let mut sets = Self::default();
        sets.grow(count);
        sets
    }
    /// Adds a member as a set of its own.
    pub fn push(&mut self) -> N {
        let member = self.parent.next_id();
        self.parent.push(member);
        self.size.push(1);
        self.set_count += 1;
        member
    }
    /// Adds members until there are `count`.
    pub fn grow(&mut self, count: usize) {
        while self.parent.len() < count {
            self.push();
        }
    }
    /// Number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parent.len()
    }
    /// Whether there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }
    /// Number of sets.
    #[must_use]
    pub const fn set_count(&self) -> usize {
        self.set_count
    }
    /// The representative of a member's set; halves the path to it.
    #[inline]
    pub fn find(&mut self, member: N) -> N {
        let mut at = member;
        loop {
            let above = self.parent[at];
            if above == at {
                return at;
            }
            let upper = self.parent[above];
            self.parent[at] = upper;
            at = upper;
        }
    }
    /// The representative of a member's set, without changing anything.
    #[inline]
    #[must_use]
    pub fn find_shared(&self, member: N) -> N {
        let mut at = member;
        while self.parent[at] != at {
            at = self.parent[at];
        }
        at
    }
    /// Whether two members are in one set.
    pub fn same(&mut self, a: N, b: N) -> bool {
        self.find(a) == self.find(b)
    }
    /// Number of members in a member's set.
    pub fn size(&mut self, member: N) -> u32 {
        let representative = self.find(member);
        self.size[representative]
    }
    /// Joins two sets. The larger one's representative stays, the smaller id on a tie. Returns the representative and, if the
    /// sets were different, the one that was absorbed.
    pub fn union(&mut self, a: N, b: N) -> (N, Option<N>) {
        let (a, b) = (self.find(a), self.find(b));
        let keep_a = self.size[a] > self.size[b] || (self.size[a] == self.size[b] && a <= b);
        if keep_a { self.link(a, b) } else { self.link(b, a) }
    }
    /// Joins the set of `absorbed` into that of `kept`, whose representative stays. Returns as [`UnionFind::union`].
    pub fn union_into(&mut self, kept: N, absorbed: N) -> (N, Option<N>) {
        let (kept, absorbed) = (self.find(kept), self.find(absorbed));
        self.link(kept, absorbed)
    }

    fn link(&mut self, kept: N, absorbed: N) -> (N, Option<N>) {
        if kept == absorbed {
            return (kept, None);
        }
        self.parent[absorbed] = kept;
        self.size[kept] += self.size[absorbed];
        self.set_count -= 1;
        (kept, Some(absorbed))
    }
}

impl<N: Id> Default for UnionFind<N> {
    fn default() -> Self {
        Self {
            parent: IndexVec::new(),
            size: IndexVec::new(),
            set_count: 0,
        }
    }
}
