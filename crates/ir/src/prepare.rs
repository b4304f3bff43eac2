//! What must be known of a body before its final blocks are made: stack depths, which instructions really may raise, where
//! protected code has to be split, and which variables a branch tests.
//!
//! Vocabulary: a *run* is a maximal piece of straight-line code between jump targets and jumps; blocks are runs, split
//! further. An *origin* names a stack cell inside one run: the output of an instruction, or what a slot or variable held
//! when the run began; equal origins are equal values. A *holder* is a variable or stack slot that has the tested value
//! when its branch is taken.

use crate::assign::Assignment;
use crate::body::{Inst, LiftProblem, Region, VarId};
use crate::exec::{Stack, execute, follow_jump, pushes};
use crate::op::{CommonConstant, CompareOp, InstId, Keep, NameId, Op, Raises, Test, UnaryOp};
use crate::vars::{Access, Variables};
use hognose_base::{Id, IndexVec};
use hognose_pyc::{CodeObject, Object, Objects};
use std::collections::BTreeSet;

/// Outside every region.
pub(crate) const NO_REGION: u32 = u32::MAX;
/// No depth is known: no path leads here.
pub(crate) const UNKNOWN_DEPTH: u32 = u32::MAX;

/// Whether and how an instruction raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Raise {
    Never,
    /// Only if the variable that it reads is unbound.
    IfUnbound,
    May,
    Always,
}

/// Where control goes behind an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// To the next instruction.
    Next,
    Jump(InstId),
    /// To the next instruction or to the target.
    Branch(InstId),
    /// Out of the frame.
    Return,
    /// To a handler only.
    Raise,
    /// To the next instruction when the frame is resumed.
    Suspend,
}

/// Where control goes behind `op`.
pub(crate) const fn flow(op: Op) -> Flow {
    match op {
        Op::Jump { target } => Flow::Jump(target),
        Op::Branch { target, .. } | Op::BranchNotExceptionMatch { target } => Flow::Branch(target),
        Op::ForIter { exhausted, .. } | Op::Send { exhausted, .. } => Flow::Branch(exhausted),
        Op::Return => Flow::Return,
        // What an unknown opcode does is unknown; nothing is said to follow.
        Op::Raise(_) | Op::Reraise { .. } | Op::Unsupported(_) => Flow::Raise,
        Op::Yield | Op::YieldFrom => Flow::Suspend,
        _ => Flow::Next,
    }
}

/// Something that holds the tested value at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    Var(VarId),
    Stack(u32),
}

/// The holders of the value that a branch tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tested {
    pub(crate) branch: InstId,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// The input of the analysis.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) objects: &'a Objects,
    pub(crate) code: &'a CodeObject,
    pub(crate) minor: u8,
    pub(crate) regions: &'a [Region],
    pub(crate) variables: &'a Variables,
}

/// What is known before blocks are made; all tables by instruction.
pub(crate) struct Prepared {
    /// Whether a block begins here.
    pub(crate) leader: Vec<bool>,
    /// The region that counts, or [`NO_REGION`].
    pub(crate) region: Vec<u32>,
    /// Whether it raises. [`Raise::IfUnbound`] no longer occurs.
    pub(crate) raise: Vec<Raise>,
    /// Stack depth before the first instruction of each run, or [`UNKNOWN_DEPTH`].
    pub(crate) depth: Vec<u32>,
    /// Sorted by branch.
    pub(crate) tested: Vec<Tested>,
    pub(crate) holders: Vec<Holder>,
    /// Whether the first instruction is jumped to, so that the entry needs a block of its own.
    pub(crate) entry_is_target: bool,
}

impl Prepared {
    /// Whether `region` is an ordinary protected range: neither none nor the guard of a generator.
    pub(crate) fn is_protected(region: u32, regions: &[Region]) -> bool {
        regions
            .get(region as usize)
            .is_some_and(|region| !region.generator_guard)
    }
}

/// Analyses `insts`; also marks reads of locals that turn out to be bound.
pub(crate) fn prepare(source: Source<'_>, insts: &mut IndexVec<InstId, Inst>) -> Result<Prepared, LiftProblem> {
    let region = regions_of(insts, source.regions);
    let (leader, entry_is_target) = leaders(insts, source.regions)?;
    let mut explorer = Explorer::new(source, insts, &region, &leader);
    explorer.explore()?;
    let Explorer {
        mut raise,
        depth,
        touch,
        maybe_null,
        mut tested,
        holders,
        ..
    } = explorer;
    tested.sort_unstable_by_key(|tested| tested.branch);
    let mut prepared = Prepared {
        leader,
        region,
        raise: Vec::new(),
        depth,
        tested,
        holders,
        entry_is_target,
    };
    if raise.contains(&Raise::IfUnbound) {
        Assignment::new(source, insts, &prepared, &maybe_null).run(&mut raise);
        for (at, inst) in insts.iter_mut().enumerate() {
            if let Op::LoadLocal { may_be_unbound, .. } = &mut inst.op {
                *may_be_unbound &= raise[at] != Raise::Never;
            }
        }
    }
    prepared.raise = raise;
    split(source, insts, &touch, &mut prepared);
    Ok(prepared)
}

fn problem(insts: &IndexVec<InstId, Inst>, at: usize, message: &str) -> LiftProblem {
    let offset = insts
        .as_slice()
        .get(at)
        .or_else(|| insts.as_slice().last())
        .map_or(0, |inst| inst.offset);
    LiftProblem {
        offset,
        message: message.to_owned(),
    }
}

/// The innermost region of every instruction. Inner regions come first, so each paints what is not yet painted; `next`
/// skips painted runs, which keeps this nearly linear.
fn regions_of(insts: &IndexVec<InstId, Inst>, regions: &[Region]) -> Vec<u32> {
    let count = insts.len();
    let mut region_of = vec![NO_REGION; count];
    if regions.is_empty() {
        return region_of;
    }
    let mut next: Vec<usize> = (0..=count).collect();
    let find = |next: &mut Vec<usize>, mut at: usize| {
        while next[at] != at {
            next[at] = next[next[at]];
            at = next[at];
        }
        at
    };
    for (number, region) in (0_u32..).zip(regions) {
        let start = insts.as_slice().partition_point(|inst| inst.offset < region.start);
        let end = insts.as_slice().partition_point(|inst| inst.offset < region.end);
        let mut at = find(&mut next, start);
        while at < end {
            region_of[at] = number;
            next[at] = at + 1;
            at = find(&mut next, at);
        }
    }
    region_of
}

/// Marks the first instruction of every run.
fn leaders(insts: &IndexVec<InstId, Inst>, regions: &[Region]) -> Result<(Vec<bool>, bool), LiftProblem> {
    let count = insts.len();
    let mut leader = vec![false; count + 1];
    let mut entry_is_target = false;
    let mut mark = |target: InstId, leader: &mut Vec<bool>| {
        entry_is_target |= target.index() == 0;
        (target.index() < count).then(|| leader[target.index()] = true)
    };
    for (at, inst) in insts.iter().enumerate() {
        let flow = flow(inst.op);
        if let Flow::Jump(target) | Flow::Branch(target) = flow {
            mark(target, &mut leader).ok_or_else(|| problem(insts, at, "jump out of the code"))?;
        }
        if flow != Flow::Next {
            leader[at + 1] = true;
        }
    }
    for region in regions {
        mark(region.handler, &mut leader).ok_or_else(|| problem(insts, count, "handler out of the code"))?;
    }
    leader[0] = true;
    leader.truncate(count);
    Ok((leader, entry_is_target))
}

/// How often control may go to each instruction, up to 255.
fn entries(insts: &IndexVec<InstId, Inst>, regions: &[Region]) -> Vec<u8> {
    let mut entries = vec![0_u8; insts.len() + 1];
    let mut enter = |at: usize| {
        if let Some(count) = entries.get_mut(at) {
            *count = count.saturating_add(1);
        }
    };
    enter(0);
    regions.iter().for_each(|region| enter(region.handler.index()));
    for (at, inst) in insts.iter().enumerate() {
        match flow(inst.op) {
            Flow::Next | Flow::Suspend => enter(at + 1),
            Flow::Jump(target) => enter(target.index()),
            Flow::Branch(target) => {
                enter(target.index());
                enter(at + 1);
            }
            Flow::Return | Flow::Raise => {}
        }
    }
    entries
}

/// What a stack cell is, inside one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Null,
    /// What the stack slot held at the start of the run.
    Slot(u32),
    /// What the variable held at the start of the run.
    Var(VarId),
    Inst(u32, u16),
}

/// Follows every path once with block-local origins.
struct Explorer<'a> {
    source: Source<'a>,
    insts: &'a IndexVec<InstId, Inst>,
    region: &'a [u32],
    leader: &'a [bool],
    raise: Vec<Raise>,
    depth: Vec<u32>,
    /// Lowest stack position that each instruction touches.
    touch: Vec<u32>,
    /// Stores whose value may be NULL.
    maybe_null: Vec<bool>,
    tested: Vec<Tested>,
    holders: Vec<Holder>,
    work: Vec<u32>,
    /// Sum of the depths with which runs begin, bounded so that hostile code cannot ask for quadratic work.
    depth_total: usize,
    stack: Stack<Origin>,
    /// Where handlers up to 3.10 begin, and the clauses behind their first ones.
    three_part_handlers: BTreeSet<usize>,
    /// How often control goes to each instruction, if there are such handlers.
    entries: Vec<u8>,
    /// Operands of the instructions of the run, and where those of each begin.
    inputs: Vec<Origin>,
    input_starts: Vec<u32>,
    /// Writes to variables in the run.
    writes: Vec<(VarId, Origin)>,
}

impl<'a> Explorer<'a> {
    fn new(source: Source<'a>, insts: &'a IndexVec<InstId, Inst>, region: &'a [u32], leader: &'a [bool]) -> Self {
        let count = insts.len();
        let handlers = source.regions.iter().filter(|region| region.pushed >= 6);
        let three_part_handlers: BTreeSet<usize> = handlers.map(|region| region.handler.index()).collect();
        let entries = if three_part_handlers.is_empty() {
            Vec::new()
        } else {
            entries(insts, source.regions)
        };
        Self {
            source,
            insts,
            region,
            leader,
            three_part_handlers,
            entries,
            raise: insts
                .iter()
                .map(|inst| raise_of(inst.op, source.variables.is_module))
                .collect(),
            depth: vec![UNKNOWN_DEPTH; count],
            touch: vec![u32::MAX; count],
            maybe_null: vec![false; if source.variables.clears { count } else { 0 }],
            tested: Vec::new(),
            holders: Vec::new(),
            work: Vec::new(),
            depth_total: 0,
            stack: Stack::new(Origin::Null),
            inputs: Vec::new(),
            input_starts: Vec::new(),
            writes: Vec::new(),
        }
    }

    fn explore(&mut self) -> Result<(), LiftProblem> {
        self.reach(0, 0)?;
        while let Some(start) = self.work.pop() {
            self.run(start as usize)?;
        }
        Ok(())
    }

    /// Notes that control reaches instruction `at` with this many cells on the stack.
    fn reach(&mut self, at: usize, depth: usize) -> Result<(), LiftProblem> {
        let count = self.insts.len();
        if at >= count {
            return Err(problem(self.insts, at, "control runs off the end of the code"));
        }
        let depth = u32::try_from(depth).unwrap_or(UNKNOWN_DEPTH - 1);
        if self.depth[at] == UNKNOWN_DEPTH {
            self.depth_total = self.depth_total.saturating_add(depth as usize);
            if self.depth_total > 64 * count + 65_536 {
                return Err(problem(
                    self.insts,
                    at,
                    "the stack is deeper than any compiler makes it",
                ));
            }
            self.depth[at] = depth;
            self.work.push(u32::try_from(at).unwrap_or(u32::MAX));
            Ok(())
        } else if self.depth[at] == depth {
            Ok(())
        } else {
            let message = format!("stack depths {} and {depth} meet", self.depth[at]);
            Err(problem(self.insts, at, &message))
        }
    }

    fn run(&mut self, start: usize) -> Result<(), LiftProblem> {
        let depth = self.depth[start];
        self.stack.items.clear();
        self.stack.items.extend((0..depth).map(Origin::Slot));
        if self.three_part_handlers.contains(&start)
            && let [.., value, class] = &mut self.stack.items[..]
        {
            // Up to 3.10 the class lies above the exception; both stand for the exception.
            *class = *value;
        }
        self.inputs.clear();
        self.input_starts.clear();
        self.writes.clear();
        let mut at = start;
        loop {
            let op = self.insts.as_slice()[at].op;
            self.check_room(at, op)?;
            self.reach_handler(at)?;
            let operands = self.inputs.len();
            let first_output = self.step(at, op);
            if self.stack.underflow {
                return Err(problem(self.insts, at, "stack underflow"));
            }
            if matches!(op, Op::Unsupported(_)) {
                return Err(problem(self.insts, at, "unsupported opcode"));
            }
            let flow = flow(op);
            if flow == Flow::Next && !self.leader.get(at + 1).copied().unwrap_or(true) {
                at += 1;
                continue;
            }
            return self.leave(start, at, op, flow, operands, first_output);
        }
    }

    /// Stops before an operation pushes more than a frame can hold.
    fn check_room(&self, at: usize, op: Op) -> Result<(), LiftProblem> {
        let limit = self.insts.len() * 2 + 64;
        if self.stack.items.len().saturating_add(pushes(op)) > limit {
            return Err(problem(self.insts, at, "the stack is deeper than the code is long"));
        }
        Ok(())
    }

    fn reach_handler(&mut self, at: usize) -> Result<(), LiftProblem> {
        let Some(region) = self.source.regions.get(self.region[at] as usize) else {
            return Ok(());
        };
        if self.raise[at] == Raise::Never {
            return Ok(());
        }
        if region.depth as usize > self.stack.items.len() {
            return Err(problem(
                self.insts,
                at,
                "the handler's stack is deeper than the protected code's",
            ));
        }
        self.reach(region.handler.index(), region.depth as usize + region.pushed as usize)
    }

    /// Interprets one instruction; returns its first output.
    fn step(&mut self, at: usize, op: Op) -> Option<Origin> {
        let number = u32::try_from(at).unwrap_or(u32::MAX);
        let operands = self.inputs.len();
        self.input_starts.push(u32::try_from(operands).unwrap_or(u32::MAX));
        self.stack.low = usize::MAX;
        let mut outputs = 0_u16;
        let access = self.source.variables.access(op);
        let read = match access {
            Access::Read(var) | Access::Clear(var) => Some(self.origin_of(var)),
            _ => None,
        };
        let mut fresh = || {
            let origin = Origin::Inst(number, outputs);
            outputs = outputs.saturating_add(1);
            // A read passes the variable's value through, so that two reads are known to be equal.
            read.unwrap_or(origin)
        };
        execute(
            op,
            self.source.minor,
            Origin::Null,
            &mut self.stack,
            &mut self.inputs,
            &mut fresh,
        );
        self.touch[at] = u32::try_from(self.stack.low).unwrap_or(u32::MAX);
        match access {
            Access::Write(var) => {
                let value = self.inputs.get(operands).copied().unwrap_or(Origin::Null);
                if self.source.variables.clears {
                    // What `LoadLocalAndClear` left is never known as an instruction's output.
                    self.maybe_null[at] = !matches!(value, Origin::Inst(..));
                }
                self.writes.push((var, value));
            }
            Access::Clear(var) => self.writes.push((var, Origin::Null)),
            _ => {}
        }
        if self.raise[at] == Raise::May && self.is_bool_test(op, operands) {
            self.raise[at] = Raise::Never;
        }
        (outputs > 0).then_some(Origin::Inst(number, 0))
    }

    fn origin_of(&self, var: VarId) -> Origin {
        self.writes
            .iter()
            .rev()
            .find(|write| write.0 == var)
            .map_or(Origin::Var(var), |write| write.1)
    }

    fn op(&self, at: u32) -> Op {
        self.insts[InstId::new(at)].op
    }

    /// Whether `op` asks for the truth of a bool, which calls nothing.
    fn is_bool_test(&self, op: Op, operands: usize) -> bool {
        let tests = matches!(
            op,
            Op::Branch {
                test: Test::Truth(_),
                ..
            } | Op::Unary(UnaryOp::Not | UnaryOp::ToBool)
        );
        let Some(&Origin::Inst(at, output)) = self.inputs.get(operands).filter(|_| tests) else {
            return false;
        };
        match self.op(at) {
            Op::Unary(UnaryOp::Not | UnaryOp::ToBool)
            | Op::Compare { to_bool: true, .. }
            | Op::Is { .. }
            | Op::Contains { .. }
            | Op::CheckExceptionMatch
            | Op::MatchMapping
            | Op::MatchSequence
            | Op::CommonConst(CommonConstant::True | CommonConstant::False | CommonConstant::None)
            | Op::SmallInt(_) => true,
            Op::MatchClass { pushes_bool: true, .. } | Op::MatchKeys { pushes_bool: true } => output == 1,
            Op::Const(object) => matches!(
                self.source.objects.get(object),
                Object::True | Object::False | Object::None | Object::Int(_) | Object::Str(_)
            ),
            _ => false,
        }
    }

    /// Notes the successors of a run that ends with `op` at `at`.
    fn leave(
        &mut self,
        start: usize,
        at: usize,
        op: Op,
        flow: Flow,
        operands: usize,
        first_output: Option<Origin>,
    ) -> Result<(), LiftProblem> {
        if let Op::Branch { .. } | Op::BranchNotExceptionMatch { .. } = op {
            self.note_test(start, at, op, operands);
        }
        match flow {
            Flow::Next | Flow::Suspend => self.reach(at + 1, self.stack.items.len()),
            Flow::Jump(target) => self.reach(target.index(), self.stack.items.len()),
            Flow::Return | Flow::Raise => Ok(()),
            Flow::Branch(target) => {
                let depth = self.stack.items.len();
                let operand = self.inputs.get(operands).copied();
                if let Op::BranchNotExceptionMatch { .. } = op
                    && let [.., value, class] = self.stack.items[..]
                    && value == class
                    && self.entries.get(target.index()) == Some(&1)
                {
                    // The next clause begins with the same stack, and nothing else leads to it.
                    self.three_part_handlers.insert(target.index());
                }
                follow_jump(op, operand, first_output, &mut self.stack);
                let jumping_depth = self.stack.items.len();
                // The jump first: the run behind is then explored before it, in code order.
                self.reach(target.index(), jumping_depth)?;
                self.reach(at + 1, depth)
            }
        }
    }

    /// Finds what holds the value that the branch at `at` tests.
    fn note_test(&mut self, start: usize, at: usize, op: Op, operands: usize) {
        let Some(subject) = self.subject(start, op, operands) else {
            return;
        };
        let first = self.holders.len();
        let keeps = matches!(
            op,
            Op::Branch {
                keep: Keep::WhenJumping,
                ..
            }
        );
        for (position, &origin) in (0_u32..).zip(&self.stack.items) {
            if origin == subject {
                self.holders.push(Holder::Stack(position));
            }
        }
        if keeps && self.inputs.get(operands) == Some(&subject) {
            self.holders
                .push(Holder::Stack(u32::try_from(self.stack.items.len()).unwrap_or(u32::MAX)));
        }
        if let Origin::Var(var) = subject
            && self.origin_of(var) == subject
        {
            self.holders.push(Holder::Var(var));
        }
        for position in 0..self.writes.len() {
            let (var, origin) = self.writes[position];
            let holder = Holder::Var(var);
            if origin == subject && self.origin_of(var) == subject && !self.holders[first..].contains(&holder) {
                self.holders.push(holder);
            }
        }
        if self.holders.len() > first {
            let (start, end) = (
                first.try_into().unwrap_or(u32::MAX),
                self.holders.len().try_into().unwrap_or(u32::MAX),
            );
            self.tested.push(Tested {
                branch: InstId::from_index(at),
                start,
                end,
            });
        }
    }

    /// The value that a branch tests, seen through negation, comparison and the recognised calls.
    fn subject(&self, start: usize, op: Op, operands: usize) -> Option<Origin> {
        let first = *self.inputs.get(operands)?;
        let (mut value, is_truth) = match op {
            Op::BranchNotExceptionMatch { .. } => return Some(first),
            Op::Branch {
                test: Test::Truth(_), ..
            } => (first, true),
            _ => (first, false),
        };
        while let Origin::Inst(at, _) = value {
            let inputs = self.inputs_of(start, at);
            let inner = match (self.op(at), inputs) {
                (Op::Unary(UnaryOp::Not | UnaryOp::ToBool), &[operand]) if is_truth => {
                    value = operand;
                    continue;
                }
                (Op::Call { .. }, &[callee, receiver, ref arguments @ ..])
                    if is_truth
                        && [NameId::ISINSTANCE, NameId::CALLABLE]
                            .map(Some)
                            .contains(&self.global_name(callee)) =>
                {
                    if receiver == Origin::Null {
                        arguments.first().copied()
                    } else {
                        Some(receiver)
                    }
                }
                (
                    Op::Is { .. }
                    | Op::Compare {
                        op: CompareOp::Equal | CompareOp::NotEqual,
                        ..
                    }
                    | Op::Contains { .. },
                    &[left, right],
                ) if is_truth => {
                    let constant = self.is_constant(right);
                    self.argument_of_type(start, left).or_else(|| constant.then_some(left))
                }
                (Op::CheckExceptionMatch, &[exception, _]) if is_truth => Some(exception),
                (Op::MatchClass { .. }, &[subject, ..]) => Some(subject),
                (Op::Is { .. } | Op::Compare { .. } | Op::Contains { .. } | Op::Const(_), _) => None,
                _ => break,
            };
            return inner;
        }
        Some(value).filter(|&value| value != Origin::Null)
    }

    fn inputs_of(&self, start: usize, at: u32) -> &[Origin] {
        let Some(row) = (at as usize).checked_sub(start) else {
            return &[];
        };
        let Some(&from) = self.input_starts.get(row) else {
            return &[];
        };
        let to = self
            .input_starts
            .get(row + 1)
            .map_or(self.inputs.len(), |&to| to as usize);
        &self.inputs[from as usize..to]
    }

    /// The subject of a call `type(subject)`.
    fn argument_of_type(&self, start: usize, value: Origin) -> Option<Origin> {
        let Origin::Inst(at, _) = value else { return None };
        let Op::Call { argc: 0..=1, .. } = self.op(at) else {
            return None;
        };
        let &[callee, receiver, ref arguments @ ..] = self.inputs_of(start, at) else {
            return None;
        };
        let subject = if receiver == Origin::Null {
            *arguments.first()?
        } else {
            receiver
        };
        (self.global_name(callee)? == NameId::TYPE).then_some(subject)
    }

    fn global_name(&self, value: Origin) -> Option<NameId> {
        match value {
            Origin::Inst(at, _) => match self.op(at) {
                Op::LoadGlobal(name) | Op::LoadName(name) => Some(name),
                _ => None,
            },
            Origin::Var(var) => match self.source.variables.vars[var] {
                crate::body::Var::Name(name) => Some(name),
                crate::body::Var::Slot(_) => None,
            },
            _ => None,
        }
    }

    fn is_constant(&self, value: Origin) -> bool {
        let Origin::Inst(at, _) = value else { return false };
        matches!(self.op(at), Op::Const(_) | Op::SmallInt(_) | Op::CommonConst(_))
    }
}

/// Whether an operation raises, as far as the operation alone tells.
fn raise_of(op: Op, is_module: bool) -> Raise {
    match op {
        // A module's namespace is a dict.
        Op::StoreName(_) if is_module => Raise::Never,
        Op::LoadLocal { may_be_unbound, .. } => {
            if may_be_unbound {
                Raise::IfUnbound
            } else {
                Raise::Never
            }
        }
        Op::LoadDeref(_) | Op::DeleteLocal(_) | Op::DeleteDeref(_) => Raise::IfUnbound,
        // An exception can be thrown into a suspended frame.
        Op::Yield | Op::YieldFrom | Op::Unsupported(_) => Raise::May,
        _ if flow(op) == Flow::Raise => Raise::Always,
        _ => match op.raises() {
            Raises::Never => Raise::Never,
            Raises::May | Raises::Always => Raise::May,
        },
    }
}

/// Begins a new block before a raising instruction whose handler would see another state than that of the raising
/// instruction before it in the block.
fn split(source: Source<'_>, insts: &IndexVec<InstId, Inst>, touch: &[u32], prepared: &mut Prepared) {
    if source.regions.is_empty() {
        return;
    }
    let mut last_region = None;
    let mut changed = false;
    let mut low = u32::MAX;
    for (at, inst) in insts.iter().enumerate() {
        if prepared.leader[at] {
            last_region = None;
        }
        if prepared.raise[at] != Raise::Never {
            let region = prepared.region[at];
            let protected = Prepared::is_protected(region, source.regions);
            let class = if protected { region } else { NO_REGION };
            let depth = source.regions.get(region as usize).map_or(0, |region| region.depth);
            let differs = last_region.is_some_and(|last| last != class) || (protected && (changed || low < depth));
            if last_region.is_some() && differs {
                let first = first_part(source, insts, prepared, at);
                prepared.leader[first] = true;
            }
            last_region = Some(class);
            changed = false;
            low = u32::MAX;
        }
        changed |= matches!(source.variables.access(inst.op), Access::Write(_) | Access::Clear(_));
        low = low.min(touch[at]);
    }
}

/// The first instruction of the opcode that `at` is part of, if the parts before do nothing that counts: blocks then begin
/// at whole opcodes.
fn first_part(source: Source<'_>, insts: &IndexVec<InstId, Inst>, prepared: &Prepared, at: usize) -> usize {
    let insts = insts.as_slice();
    let mut first = at;
    while first > 0
        && insts[first - 1].offset == insts[at].offset
        && prepared.raise[first - 1] == Raise::Never
        && source.variables.access(insts[first - 1].op) == Access::None
    {
        first -= 1;
    }
    if insts[first].ordinal == 0 { first } else { at }
}
