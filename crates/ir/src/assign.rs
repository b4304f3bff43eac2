//! Definite assignment: which reads of locals and own cells cannot find them unbound.
//!
//! ```python
//! def f(c):
//!     if c: x = 1
//!     return x, x      # the first read may raise; if it does not, the second cannot
//! ```
//! A forward analysis over runs ([`crate::prepare`]) with one bit per variable, in which a handler starts with the meet of the
//! states before each raising instruction of its region. Without it every read of a local up to 3.11 would have an
//! exception edge. A store of what `LoadLocalAndClear` left may store NULL and binds nothing for sure.

use crate::body::{Inst, Var, VarId};
use crate::op::{InstId, Op};
use crate::prepare::{Flow, Prepared, Raise, Source, UNKNOWN_DEPTH, flow};
use crate::vars::{Access, parameter_count};
use hognose_base::{Id, IndexVec};

/// Definite assignment: one bit per variable slot, states before runs.
pub(crate) struct Assignment<'a> {
    source: Source<'a>,
    insts: &'a IndexVec<InstId, Inst>,
    prepared: &'a Prepared,
    maybe_null: &'a [bool],
    words: usize,
    /// Row of each run's first instruction, or `usize::MAX`.
    row: Vec<usize>,
    states: Vec<u64>,
    queued: Vec<bool>,
    work: std::collections::BTreeSet<usize>,
}

impl<'a> Assignment<'a> {
    pub(crate) fn new(
        source: Source<'a>,
        insts: &'a IndexVec<InstId, Inst>,
        prepared: &'a Prepared,
        maybe_null: &'a [bool],
    ) -> Self {
        let words = source.variables.vars.len().div_ceil(64);
        let mut row = vec![usize::MAX; insts.len()];
        let mut rows = 0;
        for (row, &depth) in row.iter_mut().zip(&prepared.depth) {
            if depth != UNKNOWN_DEPTH {
                *row = rows;
                rows += 1;
            }
        }
        let states = vec![u64::MAX; rows * words];
        Self {
            source,
            insts,
            prepared,
            maybe_null,
            words,
            row,
            states,
            queued: vec![false; rows],
            work: [0].into(),
        }
    }

    /// Replaces [`Raise::IfUnbound`] by what the states say.
    pub(crate) fn run(mut self, raise: &mut [Raise]) {
        if self.words == 0 {
            return self.settle(raise);
        }
        let entry: Vec<u64> = self.entry_state();
        self.states[..self.words].copy_from_slice(&entry);
        let mut state = vec![0; self.words];
        while let Some(start) = self.work.pop_first() {
            self.queued[self.row[start]] = true;
            state.copy_from_slice(self.state(start));
            self.flow_through(start, &mut state, raise);
        }
        self.settle(raise);
    }

    /// Parameters are bound when the frame starts.
    fn entry_state(&self) -> Vec<u64> {
        let mut entry = vec![0; self.words];
        let parameters = parameter_count(self.source.code);
        for (var, what) in self.source.variables.vars.iter_enumerated() {
            if matches!(what, Var::Slot(slot) if slot.raw() < parameters) {
                entry[var.index() / 64] |= 1 << (var.index() % 64);
            }
        }
        entry
    }

    fn state(&self, start: usize) -> &[u64] {
        &self.states[self.row[start] * self.words..][..self.words]
    }

    fn meet(&mut self, at: usize, state: &[u64]) {
        let Some(&row) = self.row.get(at).filter(|&&row| row != usize::MAX) else {
            return;
        };
        let mut changed = !self.queued[row];
        for (old, new) in self.states[row * self.words..][..self.words].iter_mut().zip(state) {
            changed |= *old & new != *old;
            *old &= new;
        }
        if changed {
            self.queued[row] = true;
            self.work.insert(at);
        }
    }

    fn flow_through(&mut self, start: usize, state: &mut [u64], raise: &[Raise]) {
        let mut at = start;
        loop {
            let op = self.insts.as_slice()[at].op;
            if raise[at] != Raise::Never && self.raises(at, op, state, raise) {
                self.meet_handler(at, state);
            }
            self.transfer(at, op, state);
            match flow(op) {
                Flow::Next if !self.prepared.leader.get(at + 1).copied().unwrap_or(true) => at += 1,
                Flow::Next | Flow::Suspend => return self.meet(at + 1, state),
                Flow::Jump(target) => return self.meet(target.index(), state),
                Flow::Branch(target) => {
                    self.meet(target.index(), state);
                    return self.meet(at + 1, state);
                }
                Flow::Return | Flow::Raise => return,
            }
        }
    }

    fn raises(&self, at: usize, op: Op, state: &[u64], raise: &[Raise]) -> bool {
        match (raise[at], self.source.variables.access(op)) {
            (Raise::IfUnbound, Access::Read(var) | Access::Clear(var)) => !is_set(state, var),
            (raise, _) => raise != Raise::Never,
        }
    }

    fn meet_handler(&mut self, at: usize, state: &[u64]) {
        if let Some(region) = self.source.regions.get(self.prepared.region[at] as usize) {
            self.meet(region.handler.index(), state);
        }
    }

    fn transfer(&self, at: usize, op: Op, state: &mut [u64]) {
        let (var, bound) = match self.source.variables.access(op) {
            // A read that went well shows that the variable is bound, if there is no other place to look.
            Access::Read(var) if matches!(op, Op::LoadLocal { .. } | Op::LoadDeref(_)) => (var, true),
            Access::Write(var) => (var, !self.maybe_null.get(at).copied().unwrap_or(false)),
            Access::Clear(var) => (var, false),
            _ => return,
        };
        let (word, bit) = (var.index() / 64, 1 << (var.index() % 64));
        if bound {
            state[word] |= bit;
        } else {
            state[word] &= !bit;
        }
    }

    /// Replaces [`Raise::IfUnbound`] by what the states say.
    fn settle(&self, raise: &mut [Raise]) {
        let mut state = vec![0; self.words];
        for (at, inst) in self.insts.iter().enumerate() {
            if self.row[at] != usize::MAX {
                state.copy_from_slice(self.state(at));
            } else if self.prepared.leader[at] {
                // An unreachable run: nothing is known.
                state.fill(0);
            }
            if raise[at] == Raise::IfUnbound {
                raise[at] = if self.raises(at, inst.op, &state, raise) {
                    Raise::May
                } else {
                    Raise::Never
                };
            }
            self.transfer(at, inst.op, &mut state);
        }
    }
}

fn is_set(state: &[u64], var: VarId) -> bool {
    state[var.index() / 64] & (1 << (var.index() % 64)) != 0
}
