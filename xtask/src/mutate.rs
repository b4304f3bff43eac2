//! Robustness from end to end: damaged `.pyc` files go through the whole analysis, to the last report.
//!
//! Each file must end in a result or a diagnostic: no panic, no hang, no memory without bound. File number *n* of a seed is always
//! the same, so a finding is repeated by `--only n`. Most damage to a marshalled file is noticed by the reader; half of it is therefore
//! aimed at wordcode, where all that is behind the reader has to cope with it.

use anyhow::{Context, Result, ensure};
use hognose::pyc::{CodeIndex, read_pyc};
use hognose::{Analysis, Config, Product, Session, report};
use hognose_testkit::{Fixture, find_case_files};
use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Mutate {
    /// How many files.
    #[arg(long, default_value_t = 10_000)]
    count: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only the file of this number.
    #[arg(long)]
    only: Option<u64>,
    /// Writes the files with findings here.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Seconds that one file may take.
    #[arg(long, default_value_t = 20)]
    limit: u64,
    /// MiB that the process may hold.
    #[arg(long, default_value_t = 2048)]
    memory: u64,
    /// Files at a time; zero stands for as many as the machine has processors.
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

/// An undamaged file.
struct Base {
    name: String,
    bytes: Vec<u8>,
    /// Where its wordcode lies.
    code: Vec<std::ops::Range<usize>>,
}

/// What the analysis made of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// The reader did not take it.
    Rejected,
    /// Some of its code was left out.
    Partial,
    Complete,
}

pub(crate) fn run(arguments: &Mutate) -> Result<()> {
    let bases = bases()?;
    quieten_panics();
    let run = Run {
        arguments,
        bases: &bases,
        numbers: match arguments.only {
            Some(number) => number..number + 1,
            None => 0..arguments.count,
        },
        next: AtomicU64::new(arguments.only.unwrap_or(0)),
        ended: AtomicBool::new(false),
        outcome: Mutex::default(),
    };
    let threads = match arguments.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let busy: Vec<Mutex<Option<(u64, Instant)>>> = (0..threads).map(|_| Mutex::new(None)).collect();
    let began = Instant::now();
    std::thread::scope(|scope| -> Result<()> {
        for slot in &busy {
            // As large as the stack of a main thread.
            std::thread::Builder::new()
                .stack_size(8 << 20)
                .spawn_scoped(scope, || run.work(slot))?;
        }
        run.watch(&busy);
        Ok(())
    })?;
    run.report(bases.len(), began.elapsed())
}

struct Run<'a> {
    arguments: &'a Mutate,
    bases: &'a [Base],
    numbers: std::ops::Range<u64>,
    next: AtomicU64,
    ended: AtomicBool,
    outcome: Mutex<Results>,
}

#[derive(Default)]
struct Results {
    verdicts: BTreeMap<Verdict, u64>,
    /// Files by what is wrong with them.
    findings: BTreeMap<String, Vec<u64>>,
    slowest: Option<(Duration, u64)>,
    workers_done: usize,
}

impl Run<'_> {
    /// Takes files until there are none left.
    fn work(&self, busy: &Mutex<Option<(u64, Instant)>>) {
        let folder = tempfile::tempdir();
        let session = Session::new(Config {
            threads: 1,
            ..Config::default()
        });
        let (Ok(folder), Ok(session)) = (folder, session) else {
            self.finding("a worker cannot start", 0);
            return;
        };
        let path = folder.path().join("damaged.pyc");
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.numbers.end || self.ended.load(Ordering::Relaxed) {
                break;
            }
            let began = Instant::now();
            set(busy, Some((number, began)));
            let bytes = self.file(number);
            let result = catch_unwind(AssertUnwindSafe(|| -> Result<Verdict> {
                std::fs::write(&path, bytes)?;
                analyse(&session, &path)
            }));
            set(busy, None);
            match result {
                Ok(Ok(verdict)) => self.verdict(verdict, number, began.elapsed()),
                Ok(Err(error)) => self.finding(&format!("error: {error}"), number),
                Err(_) => {
                    let place = PANIC.lock().ok().and_then(|mut panic| panic.take());
                    self.finding(&place.unwrap_or_else(|| "panic".to_owned()), number);
                }
            }
        }
        if let Ok(mut outcome) = self.outcome.lock() {
            outcome.workers_done += 1;
        }
    }

    /// Looks after the workers until they are done. A file that takes too long cannot be stopped, so it ends the process.
    fn watch(&self, busy: &[Mutex<Option<(u64, Instant)>>]) {
        loop {
            std::thread::sleep(Duration::from_millis(20));
            if self
                .outcome
                .lock()
                .is_ok_and(|outcome| outcome.workers_done == busy.len())
            {
                return;
            }
            let resident = hognose::resident_bytes() >> 20;
            let current: Vec<(u64, Instant)> = busy
                .iter()
                .filter_map(|slot| slot.lock().ok().and_then(|slot| *slot))
                .collect();
            let large = resident > self.arguments.memory;
            let slow = |since: Instant| since.elapsed() > Duration::from_secs(self.arguments.limit);
            let mut stuck = false;
            for (number, since) in current {
                if large || slow(since) {
                    stuck = true;
                    self.finding(if large { "too much memory" } else { "too slow" }, number);
                }
            }
            if stuck {
                self.ended.store(true, Ordering::Relaxed);
                let _ = self.report(self.bases.len(), Duration::ZERO);
                std::process::exit(1);
            }
        }
    }

    fn file(&self, number: u64) -> Vec<u8> {
        let mut random = Random::new(self.arguments.seed, number);
        let base = &self.bases[random.below(self.bases.len())];
        let mut bytes = base.bytes.clone();
        for _ in 0..1 + random.below(4) {
            damage(&mut bytes, &base.code, &mut random);
        }
        bytes
    }

    fn verdict(&self, verdict: Verdict, number: u64, took: Duration) {
        if let Ok(mut outcome) = self.outcome.lock() {
            *outcome.verdicts.entry(verdict).or_default() += 1;
            outcome.slowest = outcome.slowest.max(Some((took, number)));
        }
    }

    fn finding(&self, what: &str, number: u64) {
        if let Ok(mut outcome) = self.outcome.lock() {
            outcome.findings.entry(what.to_owned()).or_default().push(number);
        }
        if let Some(folder) = &self.arguments.keep {
            let path = folder.join(format!("{}-{number}.pyc", self.arguments.seed));
            let _ = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, self.file(number)));
        }
    }

    fn report(&self, bases: usize, took: Duration) -> Result<()> {
        let outcome = self.outcome.lock().map_err(|_| anyhow::anyhow!("a worker panicked"))?;
        let count = |verdict| outcome.verdicts.get(&verdict).copied().unwrap_or(0);
        let mut out = std::io::stdout().lock();
        writeln!(
            out,
            "{} files from {bases} undamaged ones, seed {}: {} complete, {} in part, {} rejected; {:.1} s, {} MiB",
            self.numbers.end - self.numbers.start,
            self.arguments.seed,
            count(Verdict::Complete),
            count(Verdict::Partial),
            count(Verdict::Rejected),
            took.as_secs_f64(),
            hognose::resident_bytes() >> 20,
        )?;
        if let Some((took, number)) = outcome.slowest {
            writeln!(out, "slowest: {number} with {:.2} s", took.as_secs_f64())?;
        }
        for (what, numbers) in &outcome.findings {
            let base = numbers.first().map(|&number| {
                let mut random = Random::new(self.arguments.seed, number);
                &*self.bases[random.below(self.bases.len())].name
            });
            let first: Vec<u64> = numbers.iter().copied().take(5).collect();
            writeln!(
                out,
                "FOUND {} times: {what}\n  numbers {first:?}, the first from {}",
                numbers.len(),
                base.unwrap_or("?")
            )?;
        }
        ensure!(outcome.findings.is_empty(), "damaged files were not handled");
        Ok(())
    }
}

fn set<T>(slot: &Mutex<Option<T>>, value: Option<T>) {
    if let Ok(mut slot) = slot.lock() {
        *slot = value;
    }
}

/// All products of one file, and all reports of them.
fn analyse(session: &Session, path: &Path) -> Result<Verdict> {
    let analysis = session.analyze(&[path.to_path_buf()]);
    if analysis.is_empty() {
        ensure!(!analysis.diagnostics().is_empty(), "rejected without a diagnostic");
        return Ok(Verdict::Rejected);
    }
    for product in Product::ALL {
        analysis.prepare(product);
        let _ = analysis.coverage(product);
    }
    write_reports(&analysis)?;
    Ok(if analysis.all_diagnostics().is_empty() {
        Verdict::Complete
    } else {
        Verdict::Partial
    })
}

fn write_reports(analysis: &Analysis) -> std::io::Result<()> {
    let out = &mut std::io::sink();
    let program = analysis.program();
    let codes: Vec<_> = analysis.codes().collect();
    let (points_to, calls) = (analysis.points_to(), analysis.calls());
    report::write_cfg_json(program, &codes, out)?;
    report::write_cfg_dot(program, &codes, out)?;
    report::write_ssa_json(program, &codes, out)?;
    report::write_cdg_json(program, analysis.cdgs(), &codes, out)?;
    report::write_points_to_json(points_to, None, out)?;
    report::write_ddg_json(points_to, analysis.ddg(), analysis.data_coverage(), None, out)?;
    report::write_classes_json(points_to, analysis.classes(), out)?;
    report::write_modules_json(program, analysis.modules(), out)?;
    report::write_call_graph_json(points_to, calls, None, &analysis.coverage(Product::CallGraph), out)?;
    report::write_pycg(program, calls, out)
}

// ---- undamaged files ---------------------------------------------------------------------------------------------------

/// The bytecode of the cases and of the reader's samples, in order.
fn bases() -> Result<Vec<Base>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut bases = Vec::new();
    let mut headers: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for minor in 8..=15 {
        let version = format!("3.{minor}");
        let path = root.join(format!("crates/pyc/tests/fixtures/sample_{version}.pyc"));
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        headers.insert(version.clone(), bytes[..16].to_vec());
        bases.push(base(format!("sample {version}"), bytes)?);
    }
    for minor in 10..=14 {
        let path = root.join(format!("crates/ir/tests/fixtures/lift/control.3.{minor}.pyc"));
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        bases.push(base(format!("control 3.{minor}"), bytes)?);
    }
    for (key, _) in find_case_files(&root.join("tests/cases"))? {
        let path = root.join(format!("tests/fixtures/cases/{key}.hogfix"));
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        for ((case, version, module), entry) in Fixture::decode(&bytes)?.entries {
            let mut bytes = headers.get(&version).context("a version without a sample")?.clone();
            bytes.extend(&entry.marshal);
            bases.push(base(format!("{key}: {case}, {module} for {version}"), bytes)?);
        }
    }
    Ok(bases)
}

fn base(name: String, bytes: Vec<u8>) -> Result<Base> {
    let module = read_pyc(bytes.clone().into()).with_context(|| name.clone())?;
    let mut code = Vec::new();
    for index in 0..module.objects.code_count() {
        let index = CodeIndex::new(u32::try_from(index)?);
        let words = module.objects.bytes(module.objects.code(index).code);
        // Where it lies in the file is not kept, so it is looked for.
        if let Some(at) = bytes.windows(words.len().max(1)).position(|window| window == words) {
            code.push(at..at + words.len());
        }
    }
    Ok(Base { name, bytes, code })
}

// ---- damage --------------------------------------------------------------------------------------------------------------

/// The header has tests of its own.
const HEADER: usize = 16;

fn damage(bytes: &mut Vec<u8>, code: &[std::ops::Range<usize>], random: &mut Random) {
    if bytes.len() <= HEADER + 8 {
        return;
    }
    if !code.is_empty() && random.below(2) == 0 {
        let range = &code[random.below(code.len())];
        if !range.is_empty() && range.end <= bytes.len() {
            damage_code(&mut bytes[range.clone()], random);
            return;
        }
    }
    let at = HEADER + random.below(bytes.len() - HEADER);
    match random.below(12) {
        0..4 => bytes[at] ^= 1 << random.below(8),
        4..7 => bytes[at] = random.byte(),
        7 => bytes.truncate(at),
        8 => drop(bytes.remove(at)),
        9 => bytes.insert(at, random.byte()),
        10 => {
            let words = [u32::MAX, i32::MAX as u32, 1 << 24, 1 << 16, 0];
            let word = words[random.below(words.len())].to_le_bytes();
            for (target, byte) in bytes[at..].iter_mut().zip(word) {
                *target = byte;
            }
        }
        _ => {
            let len = 1 + random.below(64.min(bytes.len() - at));
            let copy = bytes[at..at + len].to_vec();
            let to = HEADER + random.below(bytes.len() - HEADER);
            bytes.splice(to..to, copy);
        }
    }
}

/// Damages opcodes and arguments: even and odd bytes.
fn damage_code(code: &mut [u8], random: &mut Random) {
    let words = code.len() / 2;
    if words == 0 {
        return;
    }
    let at = 2 * random.below(words);
    match random.below(6) {
        0 => code[at] = random.byte(),
        // An opcode that the file uses elsewhere.
        1 => code[at] = code[2 * random.below(words)],
        2 => code[at + 1] = random.byte(),
        3 => code[at + 1] = code[at + 1].wrapping_add(1 + u8::try_from(random.below(3)).unwrap_or(0)),
        4 => code[at + 1] = code[at + 1].wrapping_sub(1 + u8::try_from(random.below(3)).unwrap_or(0)),
        _ => {
            let other = 2 * random.below(words);
            code.swap(at, other);
            code.swap(at + 1, other + 1);
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers for the same seed everywhere.
struct Random(u64);

impl Random {
    fn new(seed: u64, number: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number);
        random.next();
        random
    }
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap_or(0)
    }
    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }
}

// ---- panics ----------------------------------------------------------------------------------------------------------------

/// The last panic; it may have happened on a thread of a session's pool.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Panics are findings; their place is kept instead of printed.
fn quieten_panics() {
    std::panic::set_hook(Box::new(|info| {
        let text = info.to_string().lines().collect::<Vec<_>>().join(" ");
        set(&PANIC, Some(text));
    }));
}
