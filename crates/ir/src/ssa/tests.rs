//! The SSA form against execution: random walks through bodies, exceptions included, with a stack and variables of
//! distinguishable tokens. Whatever an instruction really finds must be what its SSA operands name.

use crate::body::{Body, Def, EdgeId, EdgeKind, FileIr, PhiOf, Region, Ssa, ValueId, Var, VarId};
use crate::exec::{Stack, execute, follow_jump};
use crate::op::{InstId, Op, Raises, Test};
use crate::vars::{Access, Variables, parameter_count};
use crate::{BlockId, lift_file, verify};
use hognose_base::IndexVec;
use hognose_pyc::{CodeIndex, CodeObject, read_pyc};
use std::path::PathBuf;

type Token = u32;
const NULL: Token = 0;
const UNBOUND: Token = 1;

/// A small generator of pseudo-random numbers (Marsaglia 2003), so that runs repeat.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }
}

struct Machine<'a> {
    body: &'a Body,
    variables: Variables,
    minor: u8,
    name: String,
    stack: Stack<Token>,
    vars: IndexVec<VarId, Token>,
    env: IndexVec<ValueId, Token>,
    next: Token,
    /// Instructions of which an unbound variable was read.
    checks: usize,
}

impl<'a> Machine<'a> {
    fn new(file: &'a FileIr, code: CodeIndex) -> Self {
        let body = &file.bodies[code];
        let object: &CodeObject = file.code(code);
        let variables = Variables::new(object, &body.slots, body.insts.iter().map(|inst| inst.op));
        let mut machine = Self {
            body,
            minor: file.module.version.minor,
            name: format!(
                "{} {code:?} {:?}",
                file.module.version,
                file.module.objects.text(object.name)
            ),
            stack: Stack::new(NULL),
            vars: variables.vars.iter().map(|_| UNBOUND).collect(),
            env: body.ssa.values.iter().map(|_| Token::MAX).collect(),
            next: 2,
            variables,
            checks: 0,
        };
        for (var, what) in machine.variables.vars.iter_enumerated() {
            if matches!(what, Var::Slot(slot) if slot.raw() < parameter_count(object)) {
                machine.vars[var] = machine.next;
                machine.next += 1;
            }
        }
        machine.env[Ssa::NULL] = NULL;
        machine.env[Ssa::UNBOUND] = UNBOUND;
        for (value, def) in body.ssa.values.iter_enumerated() {
            if let Def::Parameter(slot) = *def {
                let var = body
                    .ssa
                    .vars
                    .ids()
                    .find(|&var| body.ssa.vars[var] == Var::Slot(slot))
                    .unwrap();
                machine.env[value] = machine.vars[var];
            }
        }
        machine
    }

    fn fail(&self, inst: Option<InstId>, message: &str) -> ! {
        let offset = inst.map(|inst| self.body.insts[inst].offset);
        panic!("{} at {offset:?}: {message}", self.name)
    }

    /// Follows a random path of at most so many blocks.
    fn walk(&mut self, random: &mut Random, mut budget: usize) {
        let mut block = BlockId::new(0);
        while let Some((edge, jumped_from)) = self.block(block, random) {
            self.cross(edge, jumped_from);
            block = self.body.cfg.edges[edge].to;
            budget -= 1;
            if block >= self.body.cfg.normal_exit || budget == 0 {
                break;
            }
        }
        if block == self.body.cfg.normal_exit {
            for (var, &value) in self.body.ssa.at_normal_exit.iter_enumerated() {
                if matches!(self.body.ssa.vars[var], Var::Name(_)) && self.env[value] != self.vars[var] {
                    self.fail(None, "wrong name at the exit");
                }
            }
        }
    }

    /// Runs a block; returns the edge taken and, for normal edges, the last instruction.
    fn block(&mut self, block: BlockId, random: &mut Random) -> Option<(EdgeId, Option<InstId>)> {
        let cfg = &self.body.cfg;
        for inst in cfg.insts(block) {
            if self.breaks_promise(inst) {
                return None;
            }
            if let Some(edge) = self.raise(block, inst, random) {
                return Some((edge, None));
            }
            if self.body.insts[inst].op.raises() == Raises::Always {
                return None;
            }
            self.step(inst);
        }
        let edges: Vec<_> = cfg
            .successors(block)
            .filter(|(_, edge)| !matches!(edge.kind, EdgeKind::Exception { .. }))
            .map(|(id, _)| id)
            .collect();
        let edge = *edges.get(random.below(edges.len()))?;
        Some((edge, cfg.insts(block).next_back()))
    }

    /// From 3.12 on the compiler promises that `LOAD_FAST` finds a value; damaged code breaks it, and CPython crashes.
    fn breaks_promise(&self, inst: InstId) -> bool {
        match (
            self.body.insts[inst].op,
            self.variables.access(self.body.insts[inst].op),
        ) {
            (
                Op::LoadLocal {
                    may_be_unbound: false, ..
                },
                Access::Read(var),
            ) if self.minor >= 12 => [NULL, UNBOUND].contains(&self.vars[var]),
            _ => false,
        }
    }

    /// Maybe raises before `inst`; must, if it reads an unbound local.
    fn raise(&self, block: BlockId, inst: InstId, random: &mut Random) -> Option<EdgeId> {
        let op = self.body.insts[inst].op;
        let unbound = match (op, self.variables.access(op)) {
            (
                Op::LoadLocal { .. } | Op::LoadDeref(_) | Op::DeleteLocal(_) | Op::DeleteDeref(_),
                Access::Read(var) | Access::Clear(var),
            ) => {
                if self.vars[var] != UNBOUND && self.vars[var] != NULL {
                    return None;
                }
                true
            }
            _ => false,
        };
        let offset = self.body.insts[inst].offset;
        let region = self
            .body
            .regions
            .iter()
            .find(|region| region.start <= offset && offset < region.end);
        let target = region.map_or(self.body.cfg.exceptional_exit, |region| {
            self.body.cfg.block_of[region.handler]
        });
        let explicit = op.raises() == Raises::Always;
        let edge = self.body.cfg.successors(block).find(|(_, edge)| {
            edge.to == target && edge.kind == EdgeKind::Exception { explicit } && edge.inst <= Some(inst)
        });
        if unbound || explicit {
            return Some(
                edge.unwrap_or_else(|| self.fail(Some(inst), "no edge for an exception"))
                    .0,
            );
        }
        // Whether it raises is the table's business; here it may if it has an edge.
        let may = op.raises() == Raises::May && !matches!(op, Op::Branch { .. } | Op::Unary(_));
        let guard = region.is_some_and(|region| region.generator_guard);
        edge.filter(|_| may && !guard && random.below(12) == 0)
            .map(|edge| edge.0)
    }

    fn step(&mut self, inst: InstId) {
        let op = self.body.insts[inst].op;
        let access = self.variables.access(op);
        let mut inputs = Vec::new();
        let mut read = None;
        if let Access::Read(var) | Access::Clear(var) = access {
            read = Some(self.vars[var]);
            inputs.push(self.vars[var]);
        }
        let mut outputs = Vec::new();
        let next = &mut self.next;
        let mut fresh = || {
            *next += 1;
            let token = read.unwrap_or(*next);
            outputs.push(token);
            token
        };
        execute(op, self.minor, NULL, &mut self.stack, &mut inputs, &mut fresh);
        match access {
            Access::Write(var) => {
                // What was cleared and is stored back may be unbound.
                self.vars[var] = inputs[0];
                outputs.push(inputs[0]);
            }
            Access::Clear(var) => self.vars[var] = UNBOUND,
            Access::ReadMaybe(var) => inputs.push(self.vars[var]),
            Access::Read(_) | Access::None => {}
        }
        let mut named: Vec<Token> = self
            .body
            .ssa
            .inputs(inst)
            .iter()
            .map(|&value| self.env[value])
            .collect();
        let is_call = matches!(op, Op::Call { .. } | Op::CallStar { .. });
        if is_call && named.first() == Some(&NULL) && inputs.first() != Some(&NULL) {
            // Damaged code may join NULL with a value below a callable.
            named.swap(0, 1);
        }
        if named != inputs {
            self.fail(
                Some(inst),
                &format!("{op:?} finds {inputs:?}, its operands name {named:?}"),
            );
        }
        self.checks += inputs.len();
        assert_eq!(self.body.ssa.outputs(inst).len(), outputs.len());
        for (value, token) in self.body.ssa.outputs(inst).zip(outputs) {
            self.env[value] = token;
        }
    }

    /// Crosses an edge: stack, phis, what a handler finds, refinements.
    fn cross(&mut self, edge: EdgeId, jumped_from: Option<InstId>) {
        let cfg = &self.body.cfg;
        let crossed = cfg.edges[edge];
        if let EdgeKind::Exception { .. } = crossed.kind {
            if let Some(region) = self.body.handler_region(crossed.to) {
                self.unwind(region, crossed.to);
            }
        } else if let Some(last) = jumped_from {
            let op = self.body.insts[last].op;
            let jump_kind = match op {
                Op::Branch {
                    test: Test::Truth(true) | Test::IsNone(true),
                    ..
                } => EdgeKind::True,
                _ => EdgeKind::False,
            };
            if op.target().is_some() && crossed.kind == jump_kind {
                let operand = self.body.ssa.inputs(last).first().map(|&value| self.env[value]);
                let output = self.body.ssa.output(last).map(|value| self.env[value]);
                follow_jump(op, operand, output, &mut self.stack);
            }
        }
        // An argument of a phi may be refined on the edge itself.
        for value in self.body.ssa.values.ids() {
            if let Def::Refined { of, edge: refined } = self.body.ssa.values[value]
                && refined == edge
            {
                self.env[value] = self.env[of];
            }
        }
        let position = cfg
            .predecessors(crossed.to)
            .iter()
            .position(|&other| other == edge)
            .unwrap();
        let phis = self
            .body
            .ssa
            .phis(crossed.to)
            .iter()
            .map(|&phi| match self.body.ssa.values[phi] {
                Def::Phi { what, args, .. } => (phi, what, self.body.ssa.phi_args[args as usize + position]),
                _ => self.fail(None, "a phi that is none"),
            });
        let values: Vec<(ValueId, PhiOf, Token)> = phis.map(|(phi, what, arg)| (phi, what, self.env[arg])).collect();
        for (phi, what, token) in values {
            let real = match what {
                PhiOf::Var(var) => self.vars[var],
                PhiOf::Stack(slot) => self.stack.items[slot as usize],
            };
            if token != real {
                self.fail(crossed.inst, &format!("phi {phi} of {what:?} is {token}, not {real}"));
            }
            self.env[phi] = token;
        }
    }

    fn unwind(&mut self, region: &Region, handler: BlockId) {
        self.stack.items.truncate(region.depth as usize);
        self.next += 1;
        let exception = self.next;
        for item in 0..region.pushed {
            let is_exception = item + 1 == region.pushed || (region.pushed == 6 && item == 4);
            self.next += u32::from(!is_exception);
            let token = if is_exception { exception } else { self.next };
            self.stack.items.push(token);
            for value in self.body.ssa.values.ids() {
                match self.body.ssa.values[value] {
                    Def::Caught(block) if block == handler => self.env[value] = exception,
                    Def::HandlerItem { block, item: number } if block == handler && u32::from(number) == item => {
                        self.env[value] = token;
                    }
                    _ => {}
                }
            }
        }
    }
}

fn fixtures() -> Vec<FileIr> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/lift");
    // More files can be walked: every `.pyc` below the folder that this variable names.
    let more = std::env::var_os("HOGNOSE_WALK").map(PathBuf::from);
    let mut files = Vec::new();
    for folder in [Some(folder), more].into_iter().flatten() {
        for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
            let path = entry.unwrap().into_path();
            if path.extension().is_some_and(|extension| extension == "pyc") {
                let data = std::fs::read(&path).unwrap().into_boxed_slice();
                files.push(lift_file(read_pyc(data).unwrap()));
            }
        }
    }
    files
}

#[test]
fn operands_are_what_execution_finds() {
    let files = fixtures();
    assert!(files.len() >= 5, "one per version");
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut checks = 0;
    for file in &files {
        for code in file.bodies.ids() {
            if file.bodies[code].problem.is_some() {
                continue;
            }
            for _ in 0..200 {
                let mut machine = Machine::new(file, code);
                machine.walk(&mut random, 80);
                checks += machine.checks;
            }
        }
    }
    assert!(checks > 100_000, "{checks}");
}

/// Damaged jumps make graphs that no compiler makes (irreducible ones among them); the form must be right there as well.
#[test]
fn operands_of_damaged_code_are_what_execution_finds() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/lift");
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    let mut checks = 0;
    for minor in 10..=14 {
        let original = std::fs::read(folder.join(format!("control.3.{minor}.pyc"))).unwrap();
        for _ in 0..300 {
            let mut data = original.clone();
            for _ in 0..3 {
                let at = 16 + random.below(data.len() - 16);
                data[at] = data[at].wrapping_add(u8::try_from(random.below(8)).unwrap());
            }
            let Ok(module) = read_pyc(data.into_boxed_slice()) else {
                continue;
            };
            let file = lift_file(module);
            for code in file.bodies.ids().filter(|&code| file.bodies[code].problem.is_none()) {
                for _ in 0..3 {
                    let mut machine = Machine::new(&file, code);
                    machine.walk(&mut random, 60);
                    checks += machine.checks;
                }
            }
        }
    }
    assert!(checks > 50_000, "{checks}");
}

#[test]
fn fixtures_are_sound() {
    for file in fixtures() {
        for (code, body) in file.bodies.iter_enumerated() {
            let violations = verify(body, file.code(code), file.module.version);
            assert!(
                violations.is_empty(),
                "{} {code:?}: {violations:?}",
                file.module.version
            );
        }
    }
}
