//! Bodies as text.
//!
//! ```text
//! b1: <- b0 true, b3 normal
//!   %9 = phi x(%4, %7)
//!     12     LoadLocal x                        %10 <- %9
//!     14     Branch if-true to b3               <- %10
//!   -> true b2 | false b3 | exception b7 (implicit, at 12)
//! ```
//! Blocks with their incoming edges, phis, instructions with byte offset, outputs and operands, outgoing edges; then the
//! exception regions. `null` and `unbound` stand for the values of those names.

use crate::body::{BlockId, Body, Def, Edge, EdgeKind, FileIr, PhiOf, Ssa, ValueId, Var, VarId};
use crate::op::{InstId, NameId, SlotId};
use crate::op_text::OpNames;
use hognose_pyc::{CodeIndex, ObjectId, display_constant, display_text};
use std::fmt::{self, Display};

/// Characters of a constant that are shown.
const CONSTANT_LIMIT: usize = 40;

/// A body of a file, shown with names; see the module's text form.
#[derive(Clone, Copy)]
pub struct BodyText<'a> {
    file: &'a FileIr,
    body: &'a Body,
}

impl FileIr {
    /// The text form of a body.
    #[must_use]
    pub fn text(&self, code: CodeIndex) -> BodyText<'_> {
        BodyText {
            file: self,
            body: &self.bodies[code],
        }
    }
}

impl OpNames for BodyText<'_> {
    fn name(&self, id: NameId) -> String {
        self.file.names.get(id).map_or_else(
            || id.to_string(),
            |name| display_text(name.as_bytes(), 80).trim_matches('\'').to_owned(),
        )
    }
    fn slot(&self, id: SlotId) -> String {
        self.body
            .slots
            .get(id)
            .map_or_else(|| id.to_string(), |slot| self.name(slot.name))
    }
    fn constant(&self, id: ObjectId) -> String {
        display_constant(&self.file.module.objects, id, CONSTANT_LIMIT)
    }
    fn target(&self, id: InstId) -> String {
        self.body
            .cfg
            .block_of
            .get(id)
            .map_or_else(|| id.to_string(), ToString::to_string)
    }
}

impl Display for BodyText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(problem) = &self.body.problem {
            return writeln!(f, "problem at {}: {}", problem.offset, problem.message);
        }
        for block in self.body.cfg.blocks.ids() {
            self.block(f, block)?;
        }
        for region in &self.body.regions {
            let handler = self.target(region.handler);
            write!(
                f,
                "region <{}, {}> -> {handler} at {}",
                region.start, region.end, region.handler_offset
            )?;
            write!(f, ", depth {}, {} items", region.depth, region.pushed)?;
            f.write_str(if region.lasti { ", lasti" } else { "" })?;
            writeln!(f, "{}", if region.generator_guard { ", guard" } else { "" })?;
        }
        Ok(())
    }
}

impl BodyText<'_> {
    fn block(&self, f: &mut fmt::Formatter<'_>, block: BlockId) -> fmt::Result {
        let cfg = &self.body.cfg;
        write!(f, "{block}:")?;
        if block == cfg.normal_exit {
            f.write_str(" exit")?;
        } else if block == cfg.exceptional_exit {
            f.write_str(" exceptional exit")?;
        }
        for (number, &edge) in cfg.predecessors(block).iter().enumerate() {
            let edge = cfg.edges[edge];
            write!(
                f,
                "{} {} {}",
                if number == 0 { " <-" } else { "," },
                edge.from,
                kind_name(edge.kind)
            )?;
        }
        writeln!(
            f,
            "{}",
            if cfg.blocks[block].unreachable {
                " (unreachable)"
            } else {
                ""
            }
        )?;
        for &phi in self.body.ssa.phis(block) {
            self.phi(f, phi)?;
        }
        for inst in cfg.insts(block) {
            self.inst(f, inst)?;
        }
        for (number, (_, edge)) in cfg.successors(block).enumerate() {
            f.write_str(if number == 0 { "  -> " } else { " | " })?;
            self.edge(f, edge)?;
        }
        if cfg.successors(block).next().is_some() {
            f.write_str("\n")?;
        }
        Ok(())
    }

    fn phi(&self, f: &mut fmt::Formatter<'_>, phi: ValueId) -> fmt::Result {
        let Def::Phi { block, what, args } = self.body.ssa.values[phi] else {
            return Ok(());
        };
        match what {
            PhiOf::Var(var) => write!(f, "  {phi} = phi {}(", self.var(var))?,
            PhiOf::Stack(slot) => write!(f, "  {phi} = phi stack[{slot}](")?,
        }
        let count = self.body.cfg.predecessors(block).len();
        self.values(f, &self.body.ssa.phi_args[args as usize..args as usize + count])?;
        f.write_str(")\n")
    }

    fn var(&self, var: VarId) -> String {
        match self.body.ssa.vars[var] {
            Var::Slot(slot) => self.slot(slot),
            Var::Name(name) => self.name(name),
        }
    }

    fn inst(&self, f: &mut fmt::Formatter<'_>, inst: InstId) -> fmt::Result {
        let one = self.body.insts[inst];
        let outputs: Vec<ValueId> = self.body.ssa.outputs(inst).collect();
        let inputs = self.body.ssa.inputs(inst);
        let op = one.op.in_words(self).to_string();
        if outputs.is_empty() && inputs.is_empty() {
            return writeln!(f, "  {:>6}  {op}", one.offset);
        }
        write!(f, "  {:>6}  {op:<36} ", one.offset)?;
        self.values(f, &outputs)?;
        if !inputs.is_empty() {
            f.write_str(if outputs.is_empty() { "<- " } else { " <- " })?;
            self.values(f, inputs)?;
        }
        f.write_str("\n")
    }

    fn values(&self, f: &mut fmt::Formatter<'_>, values: &[ValueId]) -> fmt::Result {
        for (number, &value) in values.iter().enumerate() {
            f.write_str(if number == 0 { "" } else { ", " })?;
            self.value(f, value)?;
        }
        Ok(())
    }

    fn value(&self, f: &mut fmt::Formatter<'_>, value: ValueId) -> fmt::Result {
        match self.body.ssa.values[value] {
            _ if value == Ssa::NULL => f.write_str("null"),
            _ if value == Ssa::UNBOUND => f.write_str("unbound"),
            Def::Parameter(slot) => write!(f, "{value} parameter {}", self.slot(slot)),
            Def::Caught(block) => write!(f, "{value} caught {block}"),
            Def::HandlerItem { block, item } => write!(f, "{value} item {item} of {block}"),
            Def::Refined { of, edge } => {
                let Edge { from, kind, .. } = self.body.cfg.edges[edge];
                write!(f, "{value} refines {of} on {from} {}", kind_name(kind))
            }
            _ => write!(f, "{value}"),
        }
    }

    fn edge(&self, f: &mut fmt::Formatter<'_>, edge: &Edge) -> fmt::Result {
        write!(f, "{} {}", kind_name(edge.kind), edge.to)?;
        if let (EdgeKind::Exception { explicit }, Some(inst)) = (edge.kind, edge.inst) {
            let how = if explicit { "explicit" } else { "implicit" };
            write!(f, " ({how}, at {})", self.body.insts[inst].offset)?;
        }
        Ok(())
    }
}

const fn kind_name(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Normal => "normal",
        EdgeKind::True => "true",
        EdgeKind::False => "false",
        EdgeKind::Exception { .. } => "exception",
        EdgeKind::Resume => "resume",
    }
}
