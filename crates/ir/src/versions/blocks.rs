//! Exception regions of 3.8 to 3.10, where the interpreter keeps a block stack at run time.
//!
//! ```text
//! SETUP_FINALLY h     pushes the block (h, stack level)
//! POP_BLOCK           pops it
//! (an exception)      pops blocks up to the innermost SETUP_*, restores its level, pushes an EXCEPT_HANDLER block and six
//!                     values (previous traceback, value, type; then those of the exception), goes on at h
//! POP_EXCEPT          pops the EXCEPT_HANDLER block and three values
//! ```
//! The compiler nests blocks properly, so every instruction has one block stack whatever path led to it. Running the
//! instructions abstractly finds it; maximal ranges with the same innermost `SETUP_*` are the regions. The same is done by
//! `mark_stacks` in CPython's `Objects/frameobject.c`.

use super::{Setup, Starts, problem};
use crate::body::{Inst, LiftProblem, Region};
use crate::op::{InstId, Op};
use hognose_base::{Id, IndexVec};
use hognose_pyc::PythonVersion;
use rustc_hash::FxHashMap;

/// Values that an exception pushes: three for the exception handled before, three for the new one.
const PUSHED: u32 = 6;

/// A block stack: the number of its top node, 0 when empty.
type Stack = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Block {
    /// `SETUP_*`: handler and stack level.
    Try { handler_offset: u32, level: u32 },
    /// A handler is running.
    Except,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    depth: u32,
    blocks: Stack,
}

struct Walk<'a> {
    insts: &'a IndexVec<InstId, Inst>,
    setups: &'a [Setup],
    starts: &'a Starts,
    version: PythonVersion,
    /// Node `n` of the shared block stacks is `nodes[n - 1]`: what lies below, and the block.
    nodes: Vec<(Stack, Block)>,
    known: FxHashMap<(Stack, Block), Stack>,
    states: IndexVec<InstId, Option<State>>,
    work: Vec<InstId>,
}

/// The regions of a code object, by offset; they do not overlap.
pub(super) fn regions(
    insts: &IndexVec<InstId, Inst>,
    setups: &[Setup],
    starts: &Starts,
    version: PythonVersion,
) -> Result<Vec<Region>, LiftProblem> {
    if setups.is_empty() {
        return Ok(Vec::new());
    }
    let mut walk = Walk {
        insts,
        setups,
        starts,
        version,
        nodes: Vec::new(),
        known: FxHashMap::default(),
        states: IndexVec::from_elem(None, insts.len()),
        work: Vec::new(),
    };
    walk.run()?;
    walk.collect()
}

impl Walk<'_> {
    fn run(&mut self) -> Result<(), LiftProblem> {
        self.reach(InstId::new(0), State { depth: 0, blocks: 0 })?;
        while let Some(id) = self.work.pop() {
            let (Some(state), Some(inst)) = (self.states[id], self.insts.get(id)) else {
                continue;
            };
            let blocks = self.blocks_after(id, inst, state)?;
            if let Some(target) = inst.op.target() {
                self.follow(inst, target, state, blocks, true)?;
            }
            if inst.op.falls_through() {
                self.follow(inst, InstId::from_index(id.index() + 1), state, blocks, false)?;
            }
        }
        Ok(())
    }

    fn follow(
        &mut self,
        inst: &Inst,
        to: InstId,
        state: State,
        blocks: Stack,
        jumping: bool,
    ) -> Result<(), LiftProblem> {
        let effect = inst.op.stack_effect(self.version, jumping);
        let below = state
            .depth
            .checked_sub(effect.pops)
            .ok_or_else(|| problem(inst.offset, "the stack is empty"))?;
        self.reach(
            to,
            State {
                depth: below.saturating_add(effect.pushes),
                blocks,
            },
        )
    }

    fn reach(&mut self, id: InstId, state: State) -> Result<(), LiftProblem> {
        let Some(inst) = self.insts.get(id) else {
            return Err(problem(0, "control runs off the end of the bytecode"));
        };
        match self.states[id] {
            None => {
                self.states[id] = Some(state);
                self.work.push(id);
                Ok(())
            }
            Some(known) if known == state => Ok(()),
            Some(_) => Err(problem(inst.offset, "paths with different stacks or block stacks meet")),
        }
    }

    /// The block stack behind an instruction. A setup also reaches its handler.
    fn blocks_after(&mut self, id: InstId, inst: &Inst, state: State) -> Result<Stack, LiftProblem> {
        match inst.op {
            Op::SetupBlock => {
                let found = self.setups.binary_search_by_key(&id, |setup| setup.inst);
                let setup = found.map_err(|_| problem(inst.offset, "a block without a handler"))?;
                let Setup {
                    handler_offset, above, ..
                } = self.setups[setup];
                let level = state
                    .depth
                    .checked_sub(above)
                    .ok_or_else(|| problem(inst.offset, "the stack is empty"))?;
                let handler = self.starts.handler(handler_offset, inst.offset)?;
                let blocks = self.node(state.blocks, Block::Except);
                self.reach(
                    handler,
                    State {
                        depth: level.saturating_add(PUSHED),
                        blocks,
                    },
                )?;
                Ok(self.node(state.blocks, Block::Try { handler_offset, level }))
            }
            Op::PopBlock | Op::PopExcept | Op::EndAsyncFor => {
                let (below, block) = self
                    .top(state.blocks)
                    .ok_or_else(|| problem(inst.offset, "no block to pop"))?;
                if matches!(inst.op, Op::PopBlock) == matches!(block, Block::Except) {
                    return Err(problem(inst.offset, "a block of the wrong kind is popped"));
                }
                Ok(below)
            }
            _ => Ok(state.blocks),
        }
    }

    fn node(&mut self, below: Stack, block: Block) -> Stack {
        *self.known.entry((below, block)).or_insert_with(|| {
            self.nodes.push((below, block));
            Stack::try_from(self.nodes.len()).unwrap_or(Stack::MAX)
        })
    }

    fn top(&self, stack: Stack) -> Option<(Stack, Block)> {
        self.nodes.get((stack as usize).checked_sub(1)?).copied()
    }

    /// The innermost `SETUP_*`: handler offset and level. Running handlers are left by an exception.
    fn protection(&self, mut stack: Stack) -> Option<(u32, u32)> {
        while let Some((below, block)) = self.top(stack) {
            if let Block::Try { handler_offset, level } = block {
                return Some((handler_offset, level));
            }
            stack = below;
        }
        None
    }

    fn collect(&self) -> Result<Vec<Region>, LiftProblem> {
        let mut regions: Vec<Region> = Vec::new();
        let mut starts = self.starts.iter().peekable();
        while let Some((start, first)) = starts.next() {
            let end = starts.peek().map_or(self.starts.code_len(), |&(next, _)| next);
            let state = self.states.get(first).copied().flatten();
            let Some((handler_offset, depth)) = state.and_then(|state| self.protection(state.blocks)) else {
                continue;
            };
            match regions.last_mut() {
                Some(last) if (last.end, last.handler_offset, last.depth) == (start, handler_offset, depth) => {
                    last.end = end;
                }
                _ => regions.push(Region {
                    start,
                    end,
                    handler: self.starts.handler(handler_offset, start)?,
                    handler_offset,
                    depth,
                    pushed: PUSHED,
                    lasti: false,
                    generator_guard: false,
                }),
            }
        }
        Ok(regions)
    }
}
