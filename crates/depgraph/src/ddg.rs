//! Data dependence: which instruction made what another one reads.
//!
//! ```python
//! class Box: pass
//! def put(box, item):
//!     box.item = item          # parameter `item` -> store -> slot (Box object, item)
//! box = Box()
//! put(box, source())           # call of `source` -> parameter `item`
//! sink(box.item)               # slot -> load -> argument
//! ```
//! Vocabulary: an *edge* goes from what is read to what reads it, so a forward slice follows [`Ddg::edges_from`], a backward
//! slice [`Ddg::edges_to`]. A node is an instruction (its results), a value that no instruction makes (parameter, phi,
//! caught exception), or a *hub*: what a function returns, raises, yields or is sent, or a heap slot (object, field). Globals
//! are slots of their module, elements slots of their container, contents slots of a cell.
//!
//! **Linear size.** Stores and loads meet at hubs, never pairwise, so a slot with *n* stores and *m* loads has *n + m*
//! edges. An access that may mean many slots goes through a *join*, a node shared by all accesses of the same slots. After
//! Horwitz, Reps, Binkley (1990), "Interprocedural slicing using dependence graphs"; hubs as in sparse value-flow graphs (Sui
//! and Xue, 2016, "SVF").
//!
//! **Kills.** Local variables, names of module and class bodies read by their own body, and cells read by their owner are
//! read off SSA, so only definitions that reach a read count, along normal and exceptional edges; stores by other code come
//! through a hub of their own. Heap slots are updated weakly, except for [`hognose_ir::StrongLoads`].
//!
//! **Calls.** Actual arguments go to formal parameters by [`hognose_ir::bind_arguments`], results come back from the hub of
//! what is returned. Where a call may reach something outside the program (external, modelled, unresolved), its arguments
//! flow to its result. Library models are looked through: what they do to the heap is done by the call.
//!
//! What is not here: implicit exceptions of operations other than calls are no values of the program; control dependence is
//! [`crate::Cdg`].

mod assemble;
mod calls;
mod context;
mod heap;
mod layout;
mod local;

use crate::ddg::assemble::assemble;
use crate::ddg::layout::Layout;
use hognose_base::{Id, Symbol, define_id};
use hognose_ir::{BlockId, InstId, ValueId};
use hognose_pta::{CallRecord, CodeId, Field, ModuleId, ObjId, Object, PointsTo};
use std::ops::Range;
use std::sync::OnceLock;

#[cfg(test)]
mod tests;

define_id! {
    /// A node of the data-dependence graph.
    pub struct DdgNodeId = "d";
}

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DdgNode {
    /// What the code returns.
    Returned(CodeId),
    /// The exceptions that leave the code.
    Raised(CodeId),
    /// What the generator yields.
    Yielded(CodeId),
    /// What is sent into the generator: the value of its `yield` expressions.
    Sent(CodeId),
    /// A parameter, by its place in the signature.
    Parameter(CodeId, u32),
    /// An instruction and its results.
    Inst(CodeId, InstId),
    /// One of several results of an instruction that are told apart (items of unpacking).
    Output(CodeId, InstId, u16),
    /// A value where control joins.
    Phi(CodeId, ValueId),
    /// The exception that the handler at this block caught.
    Caught(CodeId, BlockId),
    /// A heap slot.
    Slot(ObjId, Field),
    /// Several slots that are accessed together.
    Join(u32),
}

/// Why one node depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum DataKind {
    /// A variable's value to an instruction that reads or stores it; phi arguments to the phi, phis to their readers.
    DefUse,
    /// An operand to the result of the operation.
    Operand,
    /// The object to the load, store or iteration step on it.
    Base,
    /// The key to the load or store.
    Key,
    /// The called object to the call.
    Callee,
    /// An actual argument to the formal parameter.
    Argument,
    /// The default to its parameter.
    Default,
    /// A returned value to the function's hub, the hub to the call.
    Return,
    /// A raised exception to the handler or the function's hub, the hub to what the call's exceptions reach.
    Raise,
    /// A yielded value to the generator's hub, the hub to the iteration.
    Yield,
    /// A sent value to the generator's hub.
    Send,
    /// A store to a global to its hub.
    GlobalStore,
    /// The hub to the load.
    GlobalLoad,
    /// An attribute store to its slot; to the load itself if it certainly reads that store.
    FieldStore,
    /// The slot to the load.
    FieldLoad,
    /// A store of an element to its slot.
    ElementStore,
    /// The slot to the load.
    ElementLoad,
    /// A store to a captured variable to its cell.
    CellStore,
    /// The cell to the load.
    CellLoad,
    /// An imported module or name to its binding; the module's slot to the import.
    Import,
    /// Between slots: a key's elements are among all elements, and the like.
    Slot,
}

impl DataKind {
    /// All kinds.
    pub const ALL: [Self; 21] = [
        Self::DefUse,
        Self::Operand,
        Self::Base,
        Self::Key,
        Self::Callee,
        Self::Argument,
        Self::Default,
        Self::Return,
        Self::Raise,
        Self::Yield,
        Self::Send,
        Self::GlobalStore,
        Self::GlobalLoad,
        Self::FieldStore,
        Self::FieldLoad,
        Self::ElementStore,
        Self::ElementLoad,
        Self::CellStore,
        Self::CellLoad,
        Self::Import,
        Self::Slot,
    ];
    /// The name used in reports and test cases.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DefUse => "def-use",
            Self::Operand => "operand",
            Self::Base => "base",
            Self::Key => "key",
            Self::Callee => "callee",
            Self::Argument => "argument",
            Self::Default => "default",
            Self::Return => "return",
            Self::Raise => "raise",
            Self::Yield => "yield",
            Self::Send => "send",
            Self::GlobalStore => "global-store",
            Self::GlobalLoad => "global-load",
            Self::FieldStore => "field-store",
            Self::FieldLoad => "field-load",
            Self::ElementStore => "element-store",
            Self::ElementLoad => "element-load",
            Self::CellStore => "cell-store",
            Self::CellLoad => "cell-load",
            Self::Import => "import",
            Self::Slot => "slot",
        }
    }
}

/// One end of an edge, with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// The node at the other end.
    pub node: DdgNodeId,
    /// Why.
    pub kind: DataKind,
}

/// Edges in compressed rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rows {
    starts: Vec<u32>,
    links: Vec<Link>,
}

impl Rows {
    fn of(&self, node: DdgNodeId) -> &[Link] {
        match (self.starts.get(node.index()), self.starts.get(node.index() + 1)) {
            (Some(&start), Some(&end)) => &self.links[start as usize..end as usize],
            _ => &[],
        }
    }
}

/// The data-dependence graph of a program.
#[derive(Debug)]
pub struct Ddg {
    layout: Layout,
    slots: Vec<(ObjId, Field)>,
    joins: u32,
    forward: Rows,
    /// Made when first asked for: the graph itself needs only one direction.
    backward: OnceLock<Rows>,
    counts: [usize; DataKind::ALL.len()],
}

impl Ddg {
    /// Builds the graph from a points-to result.
    #[must_use]
    pub fn of(pta: &PointsTo) -> Self {
        assemble(pta, &pta.calls())
    }
    /// Builds the graph from a points-to result and its call graph, [`PointsTo::calls`].
    #[must_use]
    pub fn of_calls(pta: &PointsTo, calls: &[CallRecord]) -> Self {
        assemble(pta, calls)
    }
    /// Number of nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.layout.code_nodes() as usize + self.slots.len() + self.joins as usize
    }
    /// Number of edges.
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.forward.links.len()
    }
    /// All nodes in order: those of each code object together, then slots, then joins.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = DdgNodeId> + ExactSizeIterator + use<> {
        (0..self.node_count()).map(DdgNodeId::from_index)
    }
    /// What a node is.
    ///
    /// # Panics
    /// If the node is not of this graph.
    #[must_use]
    pub fn node(&self, node: DdgNodeId) -> DdgNode {
        match node.raw().checked_sub(self.layout.code_nodes()) {
            None => self.layout.node(node),
            Some(slot) => match self.slots.get(slot as usize) {
                Some(&(object, field)) => DdgNode::Slot(object, field),
                None => DdgNode::Join(slot - u32::try_from(self.slots.len()).unwrap_or(0)),
            },
        }
    }
    /// The nodes of a code object; none for library models.
    #[must_use]
    pub fn nodes_of(&self, code: CodeId) -> Range<u32> {
        self.layout.range(code)
    }
    /// Whether a node is of a code object, and no hub.
    pub(crate) fn is_of_code(&self, node: DdgNodeId) -> bool {
        node.raw() < self.layout.code_nodes()
    }
    /// The node of an instruction.
    #[must_use]
    pub fn node_of(&self, code: CodeId, inst: InstId) -> Option<DdgNodeId> {
        self.layout.inst(code, inst)
    }
    /// The node of a parameter, by its place in the signature.
    #[must_use]
    pub fn parameter(&self, code: CodeId, index: u32) -> Option<DdgNodeId> {
        self.layout.parameter(code, index)
    }
    /// The hub of what a code object returns.
    #[must_use]
    pub fn returned(&self, code: CodeId) -> Option<DdgNodeId> {
        self.layout.hub(code, layout::RETURNED)
    }
    /// The hub of the exceptions that leave a code object.
    #[must_use]
    pub fn raised(&self, code: CodeId) -> Option<DdgNodeId> {
        self.layout.hub(code, layout::RAISED)
    }
    /// The hub of what a generator yields.
    #[must_use]
    pub fn yielded(&self, code: CodeId) -> Option<DdgNodeId> {
        self.layout.hub(code, layout::YIELDED)
    }
    /// The hub of what is sent into a generator.
    #[must_use]
    pub fn sent(&self, code: CodeId) -> Option<DdgNodeId> {
        self.layout.hub(code, layout::SENT)
    }
    /// The hub of a heap slot, if data flows through it.
    #[must_use]
    pub fn slot(&self, object: ObjId, field: Field) -> Option<DdgNodeId> {
        let at = self.slots.binary_search(&(object, field)).ok()?;
        Some(DdgNodeId::from_index(self.layout.code_nodes() as usize + at))
    }
    /// The hub of a global name: everything that any code stores under it.
    #[must_use]
    pub fn global(&self, pta: &PointsTo, module: ModuleId, name: Symbol) -> Option<DdgNodeId> {
        self.slot(pta.heap().find(&Object::Module(module))?, Field::attribute(name))
    }
    /// What depends on a node, sorted.
    #[must_use]
    pub fn edges_from(&self, node: DdgNodeId) -> &[Link] {
        self.forward.of(node)
    }
    /// What a node depends on, sorted.
    #[must_use]
    pub fn edges_to(&self, node: DdgNodeId) -> &[Link] {
        self.backward.get_or_init(|| self.forward.reversed()).of(node)
    }
    /// All edges `(from, to, kind)`, sorted.
    pub fn edges(&self) -> impl Iterator<Item = (DdgNodeId, DdgNodeId, DataKind)> + '_ {
        self.nodes().flat_map(|from| {
            self.edges_from(from)
                .iter()
                .map(move |link| (from, link.node, link.kind))
        })
    }
    /// How many edges there are of each kind.
    pub fn counts(&self) -> impl ExactSizeIterator<Item = (DataKind, usize)> + '_ {
        DataKind::ALL.into_iter().zip(self.counts.iter().copied())
    }
}
