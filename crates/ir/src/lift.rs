//! Lifts a compiled module: adapter, preparation, graph and SSA form of every code object.

use crate::body::{Body, EdgeKind, FileIr, LiftProblem, Region};
use crate::cfg;
use crate::names::NameTable;
use crate::prepare::{Source, prepare};
use crate::ssa;
use crate::vars::Variables;
use crate::versions;
use hognose_pyc::{CodeIndex, CodeObject, CompiledModule, Objects, PythonVersion};

/// A part of the work on one code object, for whoever measures it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LiftStage {
    /// Wordcode to semantic operations.
    Decode,
    /// Stack depths, raising operations, control-flow graph.
    Cfg,
    /// SSA form.
    Ssa,
}

/// Lifts all code objects of a file. Never fails: a code object whose bytecode is impossible keeps its
/// [`problem`](Body::problem).
#[must_use]
pub fn lift_file(module: CompiledModule) -> FileIr {
    lift_file_observed(module, &mut |_| {})
}

/// The same; `done` hears of the end of each stage of each code object.
#[must_use]
pub fn lift_file_observed(module: CompiledModule, done: &mut dyn FnMut(LiftStage)) -> FileIr {
    let mut names = NameTable::default();
    let codes = module.objects.codes().ids();
    let bodies = codes
        .map(|code| lift_observed(&module.objects, code, module.version, &mut names, done))
        .collect();
    FileIr {
        bodies,
        names: names.into_names(),
        module,
    }
}

/// Lifts one code object; `names` must serve this stream only.
#[must_use]
pub fn lift_code(objects: &Objects, code: CodeIndex, version: PythonVersion, names: &mut NameTable) -> Body {
    lift_observed(objects, code, version, names, &mut |_| {})
}

fn lift_observed(
    objects: &Objects,
    code: CodeIndex,
    version: PythonVersion,
    names: &mut NameTable,
    done: &mut dyn FnMut(LiftStage),
) -> Body {
    let lifted = match versions::lift(objects, code, version, names) {
        Ok(lifted) => lifted,
        Err(problem) => return broken(Body::default(), problem),
    };
    done(LiftStage::Decode);
    let body = Body {
        slots: lifted.slots,
        insts: lifted.insts,
        regions: lifted.regions,
        ..Body::default()
    };
    complete(objects, objects.code(code), version, body, done)
}

/// Adds graph and SSA form to a body that has instructions, regions and slots.
fn complete(
    objects: &Objects,
    code: &CodeObject,
    version: PythonVersion,
    mut body: Body,
    done: &mut dyn FnMut(LiftStage),
) -> Body {
    if let Err(problem) = check_regions(&body.regions) {
        return broken(body, problem);
    }
    let ops = body.insts.iter().map(|inst| inst.op);
    let variables = Variables::new(code, &body.slots, ops);
    let source = Source {
        objects,
        code,
        minor: version.minor,
        regions: &body.regions,
        variables: &variables,
    };
    let prepared = match prepare(source, &mut body.insts) {
        Ok(prepared) => prepared,
        Err(problem) => return broken(body, problem),
    };
    body.cfg = cfg::build(&body.insts, &body.regions, &prepared);
    if let Err(problem) = check_handlers(&body) {
        return broken(body, problem);
    }
    done(LiftStage::Cfg);
    body.ssa = ssa::build(source, &body.insts, &body.cfg, &prepared);
    done(LiftStage::Ssa);
    body
}

impl Body {
    /// The body without its instructions, for a code object that cannot be analysed.
    #[must_use]
    pub fn left_out(self, problem: LiftProblem) -> Self {
        broken(self, problem)
    }
}

fn broken(body: Body, problem: LiftProblem) -> Body {
    let cfg = cfg::empty_cfg();
    let ssa = ssa::empty_ssa(&cfg);
    Body {
        slots: body.slots,
        cfg,
        ssa,
        problem: Some(problem),
        ..Body::default()
    }
}

/// One handler, one stack: regions that share a handler agree on what it finds.
fn check_regions(regions: &[Region]) -> Result<(), LiftProblem> {
    let mut sorted: Vec<&Region> = regions.iter().collect();
    sorted.sort_by_key(|region| region.handler);
    for pair in sorted.windows(2) {
        let same = (pair[0].depth, pair[0].pushed) == (pair[1].depth, pair[1].pushed);
        if pair[0].handler == pair[1].handler && !same {
            let message = "regions disagree on the stack of their handler".to_owned();
            return Err(LiftProblem {
                offset: pair[0].handler_offset,
                message,
            });
        }
    }
    Ok(())
}

/// A handler is entered by exceptions alone: it finds items on the stack that nobody else pushes.
fn check_handlers(body: &Body) -> Result<(), LiftProblem> {
    for region in &body.regions {
        let block = body.cfg.block_of[region.handler];
        for &edge in body.cfg.predecessors(block) {
            let edge = &body.cfg.edges[edge];
            if !matches!(edge.kind, EdgeKind::Exception { .. }) && !body.cfg.blocks[edge.from].unreachable {
                let message = "a handler is entered without an exception".to_owned();
                return Err(LiftProblem {
                    offset: region.handler_offset,
                    message,
                });
            }
        }
    }
    Ok(())
}

impl FileIr {
    /// The code object of a body.
    #[must_use]
    pub fn code(&self, index: CodeIndex) -> &CodeObject {
        self.module.objects.code(index)
    }
}
