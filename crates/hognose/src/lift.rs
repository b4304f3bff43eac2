//! Lifting and verifying the loaded files in parallel, and measuring the compiler from outside.

use crate::meter::thread_cpu;
use crate::profile::Profiler;
use hognose_base::{Diagnostic, DiagnosticKind};
use hognose_compile::{CompileResult, Compiler, Frontend, SourceFile};
use hognose_ir::{FileIr, LiftProblem, LiftStage, lift_file_observed, verify};
use hognose_pyc::{CompiledModule, PythonVersion, qualnames};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A file to be lifted.
pub(crate) struct Unlifted {
    pub(crate) path: String,
    pub(crate) module: CompiledModule,
    /// Whether its bytecode was given, and not made by a compiler a moment ago.
    pub(crate) is_given: bool,
}

/// A lifted file, and what is wrong with its bytecode.
pub(crate) struct Lifted {
    pub(crate) ir: FileIr,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// CPU time of the parts of lifting, summed over threads, in nanoseconds.
#[derive(Default)]
struct Stages {
    decode: AtomicU64,
    cfg: AtomicU64,
    ssa: AtomicU64,
    verify: AtomicU64,
}

/// Lifts modules on the current thread pool; the result is in order of the modules.
pub(crate) fn lift_all(modules: Vec<Unlifted>, profiler: &Profiler) -> Vec<Lifted> {
    let stages = Stages::default();
    let measured = profiler.is_enabled().then_some(&stages);
    let lifted = modules.into_par_iter().map(|file| lift_one(file, measured)).collect();
    if measured.is_some() {
        let parts = [
            ("decode", &stages.decode),
            ("cfg", &stages.cfg),
            ("ssa", &stages.ssa),
            ("verify", &stages.verify),
        ];
        for (name, part) in parts {
            profiler.add_summed(name, Duration::from_nanos(part.load(Ordering::Relaxed)));
        }
    }
    lifted
}

fn lift_one(file: Unlifted, stages: Option<&Stages>) -> Lifted {
    let mut last = stages.map(|_| thread_cpu());
    let mut lap = |counter: fn(&Stages) -> &AtomicU64| {
        if let (Some(stages), Some(since)) = (stages, &mut last) {
            let now = thread_cpu();
            let spent = now.saturating_sub(*since).as_nanos();
            counter(stages).fetch_add(u64::try_from(spent).unwrap_or(0), Ordering::Relaxed);
            *since = now;
        }
    };
    let mut ir = lift_file_observed(file.module, &mut |stage| match stage {
        LiftStage::Decode => lap(|stages| &stages.decode),
        LiftStage::Cfg => lap(|stages| &stages.cfg),
        LiftStage::Ssa => lap(|stages| &stages.ssa),
    });
    // What the compilers make is verified by tests; bytes from elsewhere may be anything.
    let diagnostics = if file.is_given || cfg!(debug_assertions) {
        verify_file(&file.path, &mut ir)
    } else {
        Vec::new()
    };
    lap(|stages| &stages.verify);
    Lifted { ir, diagnostics }
}

/// Takes the code objects out of the analysis whose bytecode is impossible, with a diagnostic each.
fn verify_file(path: &str, ir: &mut FileIr) -> Vec<Diagnostic> {
    let mut rejected = Vec::new();
    for (index, body) in ir.bodies.iter_enumerated() {
        let code = ir.module.objects.code(index);
        if let Some(violation) = verify(body, code, ir.module.version).into_iter().next() {
            rejected.push((index, violation));
        }
    }
    if rejected.is_empty() {
        return Vec::new();
    }
    let names = qualnames(&ir.module);
    let mut diagnostics = Vec::with_capacity(rejected.len());
    for (index, violation) in rejected {
        let name = names.get(index).map_or("?", |name| &**name);
        let message = format!("{name} is left out, its bytecode is impossible: {violation}");
        let place = u64::from(ir.module.objects.code(index).file_offset);
        diagnostics.push(Diagnostic::error(path, DiagnosticKind::InvalidBytecode, message).at_offset(place));
        let problem = LiftProblem {
            offset: violation.offset.unwrap_or(0),
            message: violation.to_string(),
        };
        if ir.bodies[index].problem.is_none() {
            let body = std::mem::take(&mut ir.bodies[index]);
            ir.bodies[index] = body.left_out(problem);
        }
    }
    diagnostics
}

/// A front end that adds up the CPU time its compilers take.
pub(crate) struct Timed<'f> {
    front: &'f dyn Frontend,
    nanoseconds: AtomicU64,
}

impl<'f> Timed<'f> {
    pub(crate) fn new(front: &'f dyn Frontend) -> Self {
        Self {
            front,
            nanoseconds: AtomicU64::new(0),
        }
    }
    pub(crate) fn cpu(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed))
    }
}

impl Frontend for Timed<'_> {
    fn version(&self) -> PythonVersion {
        self.front.version()
    }
    fn name(&self) -> String {
        self.front.name()
    }
    fn compiler(&self) -> Box<dyn Compiler + '_> {
        Box::new(TimedCompiler {
            inner: self.front.compiler(),
            nanoseconds: &self.nanoseconds,
        })
    }
}

struct TimedCompiler<'f> {
    inner: Box<dyn Compiler + 'f>,
    nanoseconds: &'f AtomicU64,
}

impl Compiler for TimedCompiler<'_> {
    fn compile(&mut self, source: &SourceFile) -> CompileResult {
        let before = thread_cpu();
        let result = self.inner.compile(source);
        let spent = thread_cpu().saturating_sub(before).as_nanos();
        self.nanoseconds
            .fetch_add(u64::try_from(spent).unwrap_or(0), Ordering::Relaxed);
        result
    }
}
