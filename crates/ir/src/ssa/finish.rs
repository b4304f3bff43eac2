//! Removes trivial and dead phis and unused refinements, and lays the form out in instruction order.
//!
//! A phi is *trivial* if all its arguments but itself are one value (Braun et al. 2013, "Simple and efficient construction of
//! static single assignment form"). A refinement is the same value at run time, so a phi is also trivial if one of its
//! arguments is what all the others refine, or if it joins the two outcomes of one test: what it would add is not known.

use super::{Draft, to_u32};
use crate::body::{Cfg, Def, Inst, Ssa, ValueId};
use crate::op::{CallLayout, InstId, KeywordNames, Op};
use hognose_base::{Id, IndexVec};
use hognose_pyc::ObjectId;

const NONE: u32 = u32::MAX;
/// Refinements of refinements are followed so far; beyond, a phi is kept.
const CHAIN_LIMIT: usize = 32;

/// Completes the form.
pub(super) fn finish(mut draft: Draft, insts: &IndexVec<InstId, Inst>, cfg: &Cfg) -> Ssa {
    let mut forward = Forwarding::new(&draft, cfg);
    if !draft.phis.is_empty() {
        forward.remove_trivial(&draft);
    }
    resolve_all(&mut draft, &mut forward);
    let live = live_values(&draft, &forward, cfg);
    lay_out(&draft, insts, cfg, &live)
}

/// What each value has turned out to be.
struct Forwarding<'a> {
    cfg: &'a Cfg,
    to: Vec<ValueId>,
    /// Users of each phi as lists: by phi, the first and last entry of `users`.
    first_user: Vec<u32>,
    last_user: Vec<u32>,
    /// A phi, and the next entry.
    users: Vec<(ValueId, u32)>,
}

/// Where the arguments of a phi are.
fn args_range(draft: &Draft, cfg: &Cfg, phi: ValueId) -> Option<(crate::body::BlockId, usize, usize)> {
    match draft.values[phi] {
        Def::Phi { block, args, .. } => {
            let start = args as usize;
            Some((block, start, start + cfg.predecessors(block).len()))
        }
        _ => None,
    }
}

impl<'a> Forwarding<'a> {
    fn new(draft: &Draft, cfg: &'a Cfg) -> Self {
        Self {
            cfg,
            to: draft.values.ids().collect(),
            first_user: Vec::new(),
            last_user: Vec::new(),
            users: Vec::new(),
        }
    }

    fn resolve(&mut self, mut value: ValueId) -> ValueId {
        while self.to[value.index()] != value {
            let next = self.to[value.index()];
            self.to[value.index()] = self.to[next.index()];
            value = next;
        }
        value
    }

    /// What a chain of refinements ends in.
    fn root(&mut self, draft: &Draft, value: ValueId) -> ValueId {
        let mut value = self.resolve(value);
        for _ in 0..CHAIN_LIMIT {
            let Def::Refined { of, .. } = draft.values[value] else {
                break;
            };
            value = self.resolve(of);
        }
        value
    }

    /// Whether `value` is `what` or refines it.
    fn refines(&mut self, draft: &Draft, value: ValueId, what: ValueId) -> bool {
        let mut value = self.resolve(value);
        for _ in 0..CHAIN_LIMIT {
            if value == what {
                return true;
            }
            let Def::Refined { of, .. } = draft.values[value] else {
                return false;
            };
            value = self.resolve(of);
        }
        false
    }

    fn add_user(&mut self, of: ValueId, user: ValueId) {
        let entry = to_u32(self.users.len());
        self.users.push((user, NONE));
        self.append(of, entry, entry);
    }

    fn append(&mut self, of: ValueId, first: u32, last: u32) {
        let at = of.index();
        if self.first_user[at] == NONE {
            self.first_user[at] = first;
        } else {
            self.users[self.last_user[at] as usize].1 = first;
        }
        self.last_user[at] = last;
    }

    fn remove_trivial(&mut self, draft: &Draft) {
        self.first_user = vec![NONE; draft.values.len()];
        self.last_user = vec![NONE; draft.values.len()];
        for &phi in &draft.phis {
            let Some((_, start, end)) = args_range(draft, self.cfg, phi) else {
                continue;
            };
            for &arg in &draft.phi_args[start..end] {
                let root = self.root(draft, arg);
                if root != phi && matches!(draft.values[root], Def::Phi { .. }) {
                    self.add_user(root, phi);
                }
            }
        }
        let mut work: Vec<ValueId> = draft.phis.iter().rev().copied().collect();
        while let Some(phi) = work.pop() {
            if self.to[phi.index()] != phi {
                continue;
            }
            let Some(same) = self.same(draft, phi) else { continue };
            self.to[phi.index()] = same;
            let (first, last) = (self.first_user[phi.index()], self.last_user[phi.index()]);
            let mut at = first;
            while at != NONE {
                let (user, next) = self.users[at as usize];
                work.push(user);
                at = next;
            }
            let root = self.root(draft, same);
            if first != NONE && matches!(draft.values[root], Def::Phi { .. }) {
                self.append(root, first, last);
            }
        }
    }

    /// The value that a phi always is, if it is trivial.
    fn same(&mut self, draft: &Draft, phi: ValueId) -> Option<ValueId> {
        let (block, start, end) = args_range(draft, self.cfg, phi)?;
        let mut same: Option<ValueId> = None;
        for (at, &edge) in (start..end).zip(self.cfg.predecessors(block)) {
            if self.cfg.blocks[self.cfg.edges[edge].from].unreachable {
                continue;
            }
            let arg = self.resolve(draft.phi_args[at]);
            if self.refines(draft, arg, phi) {
                continue;
            }
            same = Some(match same {
                None => arg,
                Some(known) => self.common(draft, known, arg)?,
            });
        }
        Some(same.unwrap_or(Ssa::UNBOUND))
    }

    /// What two arguments both are, if nothing that is known of one is lost.
    fn common(&mut self, draft: &Draft, a: ValueId, b: ValueId) -> Option<ValueId> {
        if self.refines(draft, b, a) {
            return Some(a);
        }
        if self.refines(draft, a, b) {
            return Some(b);
        }
        let (Def::Refined { of: of_a, edge: edge_a }, Def::Refined { of: of_b, edge: edge_b }) =
            (draft.values[a], draft.values[b])
        else {
            return None;
        };
        let edges = &self.cfg.edges;
        let of_a = self.resolve(of_a);
        (of_a == self.resolve(of_b) && edge_a != edge_b && edges[edge_a].from == edges[edge_b].from).then_some(of_a)
    }
}

/// Replaces removed phis wherever a value is named.
fn resolve_all(draft: &mut Draft, forward: &mut Forwarding<'_>) {
    if draft.phis.is_empty() {
        return;
    }
    for value in draft.inputs.iter_mut().chain(&mut draft.phi_args) {
        *value = forward.resolve(*value);
    }
    for (_, value) in &mut draft.keyword_names {
        *value = forward.resolve(*value);
    }
    for value in draft.at_normal_exit.iter_mut() {
        *value = forward.resolve(*value);
    }
    for def in draft.values.iter_mut() {
        if let Def::Refined { of, .. } = def {
            *of = forward.resolve(*of);
        }
    }
}

/// Phis and refinements that something uses; everything else is live.
fn live_values(draft: &Draft, forward: &Forwarding<'_>, cfg: &Cfg) -> Vec<bool> {
    let optional = |value: ValueId| matches!(draft.values[value], Def::Phi { .. } | Def::Refined { .. });
    let mut live: Vec<bool> = draft.values.ids().map(|value| !optional(value)).collect();
    let mut work = Vec::new();
    let mut mark = |value: ValueId, work: &mut Vec<ValueId>| {
        if !std::mem::replace(&mut live[value.index()], true) {
            work.push(value);
        }
    };
    for &value in draft.inputs.iter().chain(draft.at_normal_exit.iter()) {
        mark(value, &mut work);
    }
    while let Some(value) = work.pop() {
        debug_assert_eq!(forward.to[value.index()], value);
        if let Def::Refined { of, .. } = draft.values[value] {
            mark(of, &mut work);
        }
        if let Some((_, start, end)) = args_range(draft, cfg, value) {
            for &arg in &draft.phi_args[start..end] {
                mark(arg, &mut work);
            }
        }
    }
    live
}

/// Writes the form without the dead values, operands in instruction order.
fn lay_out(draft: &Draft, insts: &IndexVec<InstId, Inst>, cfg: &Cfg, live: &[bool]) -> Ssa {
    let mut new_id: Vec<ValueId> = Vec::with_capacity(live.len());
    let mut kept = 0_u32;
    for &live in live {
        new_id.push(ValueId::new(kept));
        kept += u32::from(live);
    }
    let renamed = |value: ValueId| new_id[value.index()];
    let mut ssa = Ssa {
        vars: draft.vars.clone(),
        values: IndexVec::with_capacity(kept as usize),
        inputs: Vec::with_capacity(draft.inputs.len()),
        input_starts: Vec::with_capacity(insts.len() + 1),
        output_count: draft.output_count.clone(),
        at_normal_exit: draft.at_normal_exit.iter().map(|&value| renamed(value)).collect(),
        ..Ssa::default()
    };
    for (value, &def) in draft.values.iter_enumerated().filter(|(value, _)| live[value.index()]) {
        let def = match (def, args_range(draft, cfg, value)) {
            (Def::Phi { block, what, .. }, Some((_, start, end))) => {
                let args = to_u32(ssa.phi_args.len());
                ssa.phi_args
                    .extend(draft.phi_args[start..end].iter().map(|&arg| renamed(arg)));
                Def::Phi { block, what, args }
            }
            (Def::Refined { of, edge }, _) => Def::Refined { of: renamed(of), edge },
            _ => def,
        };
        ssa.values.push(def);
    }
    for block in cfg.blocks.ids() {
        ssa.phi_starts.push(to_u32(ssa.phis.len()));
        let phis = draft.phi_starts[block.index()] as usize..draft.phi_starts[block.index() + 1] as usize;
        ssa.phis.extend(
            draft.phis[phis]
                .iter()
                .filter(|phi| live[phi.index()])
                .map(|&phi| renamed(phi)),
        );
    }
    ssa.phi_starts.push(to_u32(ssa.phis.len()));
    ssa.first_output
        .extend(draft.first_output.iter().map(|&value| renamed(value)));
    for (inst, &(start, end)) in draft.input_ranges.iter_enumerated() {
        let from = ssa.inputs.len();
        ssa.input_starts.push(to_u32(from));
        ssa.inputs.extend(
            draft.inputs[start as usize..end as usize]
                .iter()
                .map(|&value| renamed(value)),
        );
        // A NULL that was joined with itself is known only now (`f(a if c else b)` up to 3.12).
        if is_null_below(insts[inst].op) && ssa.inputs.get(from) == Some(&Ssa::NULL) {
            ssa.inputs.swap(from, from + 1);
        }
    }
    ssa.input_starts.push(to_u32(ssa.inputs.len()));
    ssa.keyword_names = keyword_names(draft, insts);
    ssa
}

/// Whether `op` is a call that finds NULL or a method below the callable or self.
const fn is_null_below(op: Op) -> bool {
    matches!(
        op,
        Op::Call {
            layout: CallLayout::NullBelow,
            ..
        } | Op::CallStar {
            layout: CallLayout::NullBelow,
            ..
        }
    )
}

/// The names of keyword arguments of every reachable call that has them, sorted.
fn keyword_names(draft: &Draft, insts: &IndexVec<InstId, Inst>) -> Vec<(InstId, ObjectId)> {
    let mut found = Vec::new();
    for &(inst, names) in &draft.keyword_names {
        if let Def::Inst { inst: source, .. } = draft.values[names]
            && let Op::Const(object) = insts[source].op
        {
            found.push((inst, object));
        }
    }
    for (inst, one) in insts.iter_enumerated() {
        if let Op::Call {
            keywords: KeywordNames::Constant(object),
            ..
        } = one.op
            && draft.output_count[inst] > 0
        {
            found.push((inst, object));
        }
    }
    found.sort_unstable();
    found
}
