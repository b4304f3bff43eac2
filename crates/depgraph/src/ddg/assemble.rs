//! Puts the edges of all code objects together: numbers the slots, connects related slots, drops what no data reaches,
//! sorts once.

use super::context::{Context, End, Found, SlotKey};
use super::layout::Layout;
use super::local::edges_of;
use super::{DataKind, Ddg, DdgNodeId, Link, Rows};
use hognose_base::Id;
use hognose_pta::{CodeId, Field, PointsTo};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

type Edge = (DdgNodeId, DdgNodeId, DataKind);

pub(super) fn assemble(pta: &PointsTo) -> Ddg {
    let program = pta.program();
    let layout = Layout::new(program);
    let context = Context::new(pta, &layout);
    let codes: Vec<CodeId> = program.codes.ids().collect();
    let mut found: Vec<Found> = codes.into_par_iter().map(|code| edges_of(&context, code)).collect();
    drop(context);
    let all_slots = slots_of(&found);
    let numbering = Numbering {
        first: layout.code_nodes(),
        slots: &all_slots,
    };
    let mut edges: Vec<Edge> = Vec::with_capacity(found.iter().map(|one| one.plain.len() + one.heap.len()).sum());
    let mut heap: Vec<Edge> = Vec::new();
    let mut joins = Joins::default();
    for one in &mut found {
        edges.append(&mut one.plain);
        heap.extend(
            one.heap
                .drain(..)
                .map(|(from, to, kind)| (numbering.end(from), numbering.end(to), kind)),
        );
        one.wide
            .drain(..)
            .for_each(|wide| joins.add(&numbering, wide, &mut heap));
    }
    drop(found);
    related(&numbering, &mut heap);
    let (live, joins) = drop_dead(layout.code_nodes(), all_slots.len(), joins.count(), &mut heap);
    edges.append(&mut heap);
    edges.par_sort_unstable();
    edges.dedup();
    let slots: Vec<SlotKey> = all_slots
        .into_iter()
        .zip(&live)
        .filter(|&(_, &live)| live)
        .map(|(slot, _)| slot)
        .collect();
    let nodes = layout.code_nodes() as usize + slots.len() + joins as usize;
    let mut counts = [0; DataKind::ALL.len()];
    for &(_, _, kind) in &edges {
        counts[kind as usize] += 1;
    }
    let forward = rows(nodes, edges.iter().copied());
    for edge in &mut edges {
        *edge = (edge.1, edge.0, edge.2);
    }
    edges.par_sort_unstable();
    let backward = rows(nodes, edges.iter().copied());
    Ddg {
        layout,
        slots,
        joins,
        forward,
        backward,
        counts,
    }
}

/// All slots that edges mention, sorted.
fn slots_of(found: &[Found]) -> Vec<SlotKey> {
    let mut slots: Vec<SlotKey> = Vec::new();
    for one in found {
        for &(from, to, _) in &one.heap {
            for end in [from, to] {
                if let End::Slot(slot) = end {
                    slots.push(slot);
                }
            }
        }
        slots.extend(one.wide.iter().flat_map(|wide| wide.slots.iter().copied()));
    }
    slots.par_sort_unstable();
    slots.dedup();
    slots
}

struct Numbering<'a> {
    first: u32,
    slots: &'a [SlotKey],
}

impl Numbering<'_> {
    fn slot(&self, slot: SlotKey) -> DdgNodeId {
        let at = self.slots.partition_point(|&other| other < slot);
        DdgNodeId::new(self.first + u32::try_from(at).unwrap_or(u32::MAX))
    }
    fn end(&self, end: End) -> DdgNodeId {
        match end {
            End::Node(node) => node,
            End::Slot(slot) => self.slot(slot),
        }
    }
}

/// One join for each set of slots and direction.
#[derive(Default)]
struct Joins {
    known: FxHashMap<(bool, Vec<SlotKey>), DdgNodeId>,
}

impl Joins {
    fn count(&self) -> usize {
        self.known.len()
    }
    fn add(&mut self, numbering: &Numbering<'_>, wide: super::context::Wide, edges: &mut Vec<Edge>) {
        let next = numbering.first as usize + numbering.slots.len() + self.known.len();
        let key = (wide.write, wide.slots);
        let join = match self.known.get(&key) {
            Some(&join) => join,
            None => {
                let join = DdgNodeId::from_index(next);
                for &slot in &key.1 {
                    let slot = numbering.slot(slot);
                    edges.push(if wide.write {
                        (join, slot, wide.kind)
                    } else {
                        (slot, join, wide.kind)
                    });
                }
                self.known.insert(key, join);
                join
            }
        };
        edges.push(if wide.write {
            (wide.node, join, wide.kind)
        } else {
            (join, wide.node, wide.kind)
        });
    }
}

/// Edges between the slots of one object.
fn related(numbering: &Numbering<'_>, edges: &mut Vec<Edge>) {
    let node = |at: usize| DdgNodeId::new(numbering.first + u32::try_from(at).unwrap_or(u32::MAX));
    let mut start = 0;
    while start < numbering.slots.len() {
        let object = numbering.slots[start].0;
        let len = numbering.slots[start..].partition_point(|&(other, _)| other == object);
        let own = &numbering.slots[start..start + len];
        let find = |field: Field| own.binary_search(&(object, field)).ok().map(|at| node(start + at));
        let (any, all) = (find(Field::ANY_IN), find(Field::ALL_OUT));
        let computed = find(Field::ANY_ATTRIBUTE);
        for (at, &(_, field)) in own.iter().enumerate() {
            let here = node(start + at);
            if field.is_key() {
                edges.extend(any.map(|any| (any, here, DataKind::Slot)));
                edges.extend(all.map(|all| (here, all, DataKind::Slot)));
            } else if field.as_attribute().is_some() {
                edges.extend(computed.map(|computed| (computed, here, DataKind::Slot)));
            }
        }
        if let (Some(any), Some(all)) = (any, all) {
            edges.push((any, all, DataKind::Slot));
        }
        start += len;
    }
}

/// Removes hubs that no instruction writes or none reads, and their edges; numbers the others anew.
fn drop_dead(first: u32, slots: usize, joins: usize, edges: &mut Vec<Edge>) -> (Vec<bool>, u32) {
    let count = slots + joins;
    let hub = |node: DdgNodeId| node.raw().checked_sub(first).map(|hub| hub as usize);
    let written = reached(count, edges.iter().map(|&(from, to, _)| (hub(from), hub(to))));
    let read = reached(count, edges.iter().map(|&(from, to, _)| (hub(to), hub(from))));
    let live: Vec<bool> = written
        .iter()
        .zip(&read)
        .map(|(&written, &read)| written && read)
        .collect();
    let mut numbers = Vec::with_capacity(count);
    let mut next = first;
    for &live in &live {
        numbers.push(next);
        next += u32::from(live);
    }
    let lives = |node: DdgNodeId| hub(node).is_none_or(|hub| live[hub]);
    edges.retain(|&(from, to, _)| lives(from) && lives(to));
    let renumber = |node: DdgNodeId| hub(node).map_or(node, |hub| DdgNodeId::new(numbers[hub]));
    for edge in edges.iter_mut() {
        *edge = (renumber(edge.0), renumber(edge.1), edge.2);
    }
    let live_joins = live[slots..].iter().filter(|&&live| live).count();
    (live, u32::try_from(live_joins).unwrap_or(u32::MAX))
}

/// The hubs that can be reached from a node that is no hub.
fn reached(count: usize, edges: impl Iterator<Item = (Option<usize>, Option<usize>)> + Clone) -> Vec<bool> {
    let mut seen = vec![false; count];
    let mut stack = Vec::new();
    for (from, to) in edges.clone() {
        if let (None, Some(to)) = (from, to)
            && !std::mem::replace(&mut seen[to], true)
        {
            stack.push(to);
        }
    }
    let between: Vec<(usize, usize)> = {
        let mut between: Vec<(usize, usize)> = edges.filter_map(|(from, to)| Some((from?, to?))).collect();
        between.sort_unstable();
        between
    };
    while let Some(hub) = stack.pop() {
        let start = between.partition_point(|&(from, _)| from < hub);
        for &(_, to) in between[start..].iter().take_while(|&&(from, _)| from == hub) {
            if !std::mem::replace(&mut seen[to], true) {
                stack.push(to);
            }
        }
    }
    seen
}

/// Rows of edges that are sorted by their first end.
fn rows(nodes: usize, edges: impl ExactSizeIterator<Item = Edge>) -> Rows {
    let mut starts = vec![0_u32; nodes + 1];
    let mut links = Vec::with_capacity(edges.len());
    for (from, to, kind) in edges {
        starts[from.index() + 1] += 1;
        links.push(Link { node: to, kind });
    }
    for at in 0..nodes {
        starts[at + 1] += starts[at];
    }
    Rows { starts, links }
}
