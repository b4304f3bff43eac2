//! Puts the edges of all code objects together: numbers the slots, connects related slots, drops what no data reaches,
//! orders the edges. All ordering is by counting over dense ids, so the work is linear in the edges.

use super::context::{Context, Found, FunctionFacts, RestSlots, SlotKey, Wide, WideSlots};
use super::layout::Layout;
use super::local::edges_of;
use super::{DataKind, Ddg, DdgNodeId, Link, Rows};
use hognose_base::{Id, IndexVec};
use hognose_graph::Csr;
use hognose_pta::{CallRecord, CodeId, Field, ObjId, PointsTo};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

type Edge = (DdgNodeId, DdgNodeId, DataKind);
type Functions = IndexVec<CodeId, FunctionFacts>;

pub(super) fn assemble(pta: &PointsTo, calls: &[CallRecord]) -> Ddg {
    let program = pta.program();
    let layout = Layout::new(program);
    let context = Context::new(pta, &layout, calls);
    let codes: Vec<CodeId> = program.codes.ids().collect();
    let mut found: Vec<Found> = codes.into_par_iter().map(|code| edges_of(&context, code)).collect();
    let functions = context.into_functions();
    let numbering = Numbering::of(&found, &functions, layout.code_nodes(), pta.heap().len());
    let mut heap: Vec<Edge> = Vec::with_capacity(found.iter().map(|one| one.heap.len()).sum());
    let mut joins = Joins::default();
    for one in &mut found {
        for edge in std::mem::take(&mut one.heap) {
            let slot = numbering.slot(edge.slot);
            heap.push(if edge.write {
                (edge.node, slot, edge.kind)
            } else {
                (slot, edge.node, edge.kind)
            });
        }
        for (from, to, kind) in std::mem::take(&mut one.between) {
            heap.push((numbering.slot(from), numbering.slot(to), kind));
        }
        for wide in std::mem::take(&mut one.wide) {
            joins.add(&numbering, &functions, wide, &mut heap);
        }
    }
    related(&numbering, &mut heap);
    let (live, joins) = drop_dead(layout.code_nodes(), numbering.slots.len(), joins.count(), &mut heap);
    let mut alive = live.iter();
    let mut slots = numbering.slots;
    slots.retain(|_| alive.next().is_some_and(|&live| live));
    let nodes = layout.code_nodes() as usize + slots.len() + joins as usize;
    let plain = found.iter().flat_map(|one| one.plain.iter());
    let forward = forward(nodes, plain.chain(&heap).copied());
    drop((found, heap));
    let mut counts = [0; DataKind::ALL.len()];
    for link in &forward.links {
        counts[link.kind as usize] += 1;
    }
    Ddg {
        layout,
        slots,
        joins,
        forward,
        backward: OnceLock::new(),
        counts,
    }
}

/// The slots that edges mention, sorted, and where those of each object start.
struct Numbering {
    first: u32,
    starts: Vec<u32>,
    slots: Vec<SlotKey>,
}

impl Numbering {
    fn of(found: &[Found], functions: &Functions, first: u32, objects: usize) -> Self {
        let rests = rests(found);
        let mut starts = vec![0_u32; objects + 1];
        mentions(found, &rests, functions, |(object, _)| starts[object.index() + 1] += 1);
        for at in 0..objects {
            starts[at + 1] += starts[at];
        }
        let total = starts[objects] as usize;
        let mut fields = vec![Field::ANY_IN; total];
        let mut next = starts.clone();
        mentions(found, &rests, functions, |(object, field)| {
            let place = &mut next[object.index()];
            fields[*place as usize] = field;
            *place += 1;
        });
        let mut slots: Vec<SlotKey> = Vec::new();
        for object in 0..objects {
            let own = &mut fields[starts[object] as usize..starts[object + 1] as usize];
            own.sort_unstable();
            starts[object] = u32::try_from(slots.len()).unwrap_or(u32::MAX);
            let mut last = None;
            for &field in &*own {
                if last.replace(field) != Some(field) {
                    slots.push((ObjId::from_index(object), field));
                }
            }
        }
        starts[objects] = u32::try_from(slots.len()).unwrap_or(u32::MAX);
        Self { first, starts, slots }
    }
    fn slot(&self, slot: SlotKey) -> DdgNodeId {
        let start = self.starts[slot.0.index()];
        let own = &self.slots[start as usize..self.starts[slot.0.index() + 1] as usize];
        let at = own.partition_point(|&(_, other)| other < slot.1);
        DdgNodeId::new(self.first + start + u32::try_from(at).unwrap_or(u32::MAX))
    }
}

/// Which objects take the remaining arguments of the calls of functions with many of them, without repetition.
fn rests(found: &[Found]) -> Vec<RestSlots> {
    let wide = found.iter().flat_map(|one| &one.wide);
    let mut rests: Vec<RestSlots> = wide
        .filter_map(|wide| match wide.slots {
            WideSlots::Rest(rest) => Some(rest),
            WideSlots::Listed(_) => None,
        })
        .collect();
    rests.sort_unstable();
    rests.dedup();
    rests
}

/// Calls `each` for the slots that edges mention, as often as they do.
fn mentions(found: &[Found], rests: &[RestSlots], functions: &Functions, mut each: impl FnMut(SlotKey)) {
    for one in found {
        one.heap.iter().for_each(|edge| each(edge.slot));
        for &(from, to, _) in &one.between {
            each(from);
            each(to);
        }
        for wide in &one.wide {
            if let WideSlots::Listed(slots) = &wide.slots {
                slots.iter().copied().for_each(&mut each);
            }
        }
    }
    for rest in rests {
        rest.objects(functions)
            .iter()
            .for_each(|&object| each((object, rest.field)));
    }
}

/// One join for each set of slots and direction.
#[derive(Default)]
struct Joins {
    known: FxHashMap<(bool, Vec<SlotKey>), DdgNodeId>,
    rests: FxHashMap<RestSlots, DdgNodeId>,
}

impl Joins {
    fn count(&self) -> usize {
        self.known.len()
    }
    fn add(&mut self, numbering: &Numbering, functions: &Functions, wide: Wide, edges: &mut Vec<Edge>) {
        let Wide {
            slots,
            node,
            write,
            kind,
        } = wide;
        let join = match slots {
            WideSlots::Listed(slots) => self.of(numbering, slots, write, kind, edges),
            WideSlots::Rest(rest) => match self.rests.get(&rest) {
                Some(&join) => join,
                None => {
                    let mut slots: Vec<SlotKey> = rest
                        .objects(functions)
                        .iter()
                        .map(|&object| (object, rest.field))
                        .collect();
                    slots.sort_unstable();
                    slots.dedup();
                    let join = self.of(numbering, slots, write, kind, edges);
                    self.rests.insert(rest, join);
                    join
                }
            },
        };
        edges.push(if write { (node, join, kind) } else { (join, node, kind) });
    }
    /// The join of these slots, new if it was not known.
    fn of(
        &mut self,
        numbering: &Numbering,
        slots: Vec<SlotKey>,
        write: bool,
        kind: DataKind,
        edges: &mut Vec<Edge>,
    ) -> DdgNodeId {
        let next = numbering.first as usize + numbering.slots.len() + self.known.len();
        *self.known.entry((write, slots)).or_insert_with_key(|(_, slots)| {
            let join = DdgNodeId::from_index(next);
            for &slot in slots {
                let slot = numbering.slot(slot);
                edges.push(if write { (join, slot, kind) } else { (slot, join, kind) });
            }
            join
        })
    }
}

/// Edges between the slots of one object.
fn related(numbering: &Numbering, edges: &mut Vec<Edge>) {
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
            stack.push(DdgNodeId::from_index(to));
        }
    }
    let number = DdgNodeId::from_index;
    let between = Csr::from_edges(count, edges.filter_map(|(from, to)| Some((number(from?), number(to?)))));
    while let Some(hub) = stack.pop() {
        for &to in between.successors(hub) {
            if !std::mem::replace(&mut seen[to.index()], true) {
                stack.push(to);
            }
        }
    }
    seen
}

/// Sorted rows without repetition, of edges in any order.
fn forward(nodes: usize, edges: impl Iterator<Item = Edge> + Clone) -> Rows {
    let mut rows = Rows::scattered(nodes, edges);
    let mut kept = 0;
    for node in 0..nodes {
        let (start, end) = (rows.starts[node] as usize, rows.starts[node + 1] as usize);
        rows.links[start..end].sort_unstable();
        rows.starts[node] = u32::try_from(kept).unwrap_or(u32::MAX);
        let mut last = None;
        for at in start..end {
            let link = rows.links[at];
            if last.replace(link) != Some(link) {
                rows.links[kept] = link;
                kept += 1;
            }
        }
    }
    rows.starts[nodes] = u32::try_from(kept).unwrap_or(u32::MAX);
    rows.links.truncate(kept);
    rows.links.shrink_to_fit();
    rows
}

impl Rows {
    /// Each row has its edges in the order in which they come.
    fn scattered(nodes: usize, edges: impl Iterator<Item = Edge> + Clone) -> Self {
        let mut starts = vec![0_u32; nodes + 1];
        for (from, ..) in edges.clone() {
            starts[from.index() + 1] += 1;
        }
        for at in 0..nodes {
            starts[at + 1] += starts[at];
        }
        let filler = Link {
            node: DdgNodeId::new(0),
            kind: DataKind::DefUse,
        };
        let mut links = vec![filler; starts[nodes] as usize];
        // `starts[n]` serves as the write position of row `n`; afterwards it is the row's end, so it is moved by one.
        for (from, node, kind) in edges {
            let place = &mut starts[from.index()];
            links[*place as usize] = Link { node, kind };
            *place += 1;
        }
        starts.copy_within(0..nodes, 1);
        starts[0] = 0;
        Self { starts, links }
    }
    /// The edges turned round. Rows are visited in order, so sorted rows give sorted rows.
    pub(super) fn reversed(&self) -> Self {
        let nodes = self.starts.len() - 1;
        let edges = (0..nodes).map(DdgNodeId::from_index);
        Self::scattered(
            nodes,
            edges.flat_map(|from| self.of(from).iter().map(move |link| (link.node, from, link.kind))),
        )
    }
}
