//! Where time and memory of an analysis go.
//!
//! A *region* is a named stretch of work with wall-clock time, CPU time of the process and resident memory; regions nest.
//! A *summed* region has no beginning and end of its own: it is CPU time that many threads spent in one kind of work
//! within the region around it. While a region is open a thread samples the memory every five milliseconds. A region that
//! is dropped in a panic, or that is told so, counts as failed; one that is open when the profile is written, as
//! unfinished. *Counters* are numbers such as the solver's steps.

use crate::meter::{Usage, resident_bytes};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const SAMPLE_INTERVAL: Duration = Duration::from_millis(5);

/// How a region ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RegionStatus {
    /// In order.
    Finished,
    /// By an error or a panic.
    Failed,
    /// Not yet.
    Unfinished,
}

/// One measured region.
#[derive(Clone, Debug)]
pub struct Region {
    /// What was done.
    pub name: String,
    /// The region around it.
    pub parent: Option<usize>,
    /// How it ended.
    pub status: RegionStatus,
    /// Whether it is CPU time summed over threads; then there is no wall-clock time and no memory.
    pub summed: bool,
    /// Wall-clock time.
    pub wall: Duration,
    /// CPU time of the process, or summed over threads.
    pub cpu: Duration,
    /// Resident bytes at the start.
    pub rss_start: u64,
    /// Resident bytes at the end.
    pub rss_end: u64,
    /// The most resident bytes seen.
    pub rss_peak: u64,
    started: Usage,
}

#[derive(Default)]
struct State {
    regions: Vec<Region>,
    open: Vec<usize>,
    counters: BTreeMap<String, u64>,
    sampling: bool,
}

/// Records regions and counters; does nothing when it is switched off. Clones record into the same profile.
#[derive(Clone, Default)]
pub struct Profiler {
    state: Option<Arc<Mutex<State>>>,
}

impl std::fmt::Debug for Profiler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Profiler").field("enabled", &self.is_enabled()).finish()
    }
}

/// An open region; it ends when this is dropped.
#[must_use = "the region ends when this is dropped"]
#[derive(Debug)]
pub struct OpenRegion<'p> {
    profiler: &'p Profiler,
    index: usize,
    failed: bool,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Profiler {
    /// A profiler that records, or one that does not.
    #[must_use]
    pub fn new(enabled: bool) -> Self {
        Self {
            state: enabled.then(Arc::default),
        }
    }

    /// Whether anything is recorded.
    #[must_use]
    pub const fn is_enabled(&self) -> bool {
        self.state.is_some()
    }

    /// Opens a region inside the innermost open one.
    pub fn region(&self, name: &str) -> OpenRegion<'_> {
        let mut index = 0;
        if let Some(shared) = &self.state {
            let mut state = lock(shared);
            index = state.regions.len();
            let rss = resident_bytes();
            let parent = state.open.last().copied();
            state.regions.push(Region {
                name: name.to_owned(),
                parent,
                status: RegionStatus::Unfinished,
                summed: false,
                wall: Duration::ZERO,
                cpu: Duration::ZERO,
                rss_start: rss,
                rss_end: rss,
                rss_peak: rss,
                started: Usage::now(),
            });
            state.open.push(index);
            if !state.sampling {
                state.sampling = sample(shared);
            }
        }
        OpenRegion {
            profiler: self,
            index,
            failed: false,
        }
    }

    /// Adds CPU time summed over threads, as a region inside the innermost open one.
    pub fn add_summed(&self, name: &str, cpu: Duration) {
        if let Some(shared) = &self.state {
            let mut state = lock(shared);
            let parent = state.open.last().copied();
            state.regions.push(Region {
                name: name.to_owned(),
                parent,
                status: RegionStatus::Finished,
                summed: true,
                wall: Duration::ZERO,
                cpu,
                rss_start: 0,
                rss_end: 0,
                rss_peak: 0,
                started: Usage::now(),
            });
        }
    }

    /// Adds to a counter.
    pub fn count(&self, name: &str, amount: u64) {
        if let Some(shared) = &self.state {
            *lock(shared).counters.entry(name.to_owned()).or_insert(0) += amount;
        }
    }

    /// The regions so far, in the order in which they were opened; the open ones are measured up to now.
    #[must_use]
    pub fn regions(&self) -> Vec<Region> {
        let Some(shared) = &self.state else { return Vec::new() };
        let state = lock(shared);
        let mut regions = state.regions.clone();
        for &open in &state.open {
            regions[open].measure();
        }
        regions
    }

    /// The counters so far.
    #[must_use]
    pub fn counters(&self) -> BTreeMap<String, u64> {
        self.state
            .as_ref()
            .map(|shared| lock(shared).counters.clone())
            .unwrap_or_default()
    }

    /// The profile as `hognose.profile/1`.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_json(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        #[derive(Serialize)]
        struct Profile<'a> {
            schema: &'static str,
            regions: Vec<RegionRecord<'a>>,
            counters: BTreeMap<String, u64>,
        }
        let regions = self.regions();
        let profile = Profile {
            schema: "hognose.profile/1",
            regions: nested(&regions, None),
            counters: self.counters(),
        };
        serde_json::to_writer_pretty(&mut *out, &profile)?;
        out.write_all(b"\n")
    }

    fn close(&self, index: usize, status: RegionStatus) {
        if let Some(shared) = &self.state {
            let mut state = lock(shared);
            state.open.retain(|&open| open != index);
            if let Some(region) = state.regions.get_mut(index) {
                region.measure();
                region.status = status;
            }
        }
    }
}

impl Region {
    fn measure(&mut self) {
        self.wall = self.started.wall();
        self.cpu = self.started.cpu();
        self.rss_end = resident_bytes();
        self.rss_peak = self.rss_peak.max(self.rss_end);
    }
}

impl OpenRegion<'_> {
    /// Ends the region as a failed one.
    pub fn fail(mut self) {
        self.failed = true;
    }
}

impl Drop for OpenRegion<'_> {
    fn drop(&mut self) {
        let failed = self.failed || std::thread::panicking();
        let status = if failed {
            RegionStatus::Failed
        } else {
            RegionStatus::Finished
        };
        self.profiler.close(self.index, status);
    }
}

/// Starts the thread that samples the memory until no region is open.
fn sample(shared: &Arc<Mutex<State>>) -> bool {
    let shared = Arc::clone(shared);
    let run = move || {
        loop {
            std::thread::sleep(SAMPLE_INTERVAL);
            let rss = resident_bytes();
            let mut guard = lock(&shared);
            let state = &mut *guard;
            if state.open.is_empty() {
                state.sampling = false;
                return;
            }
            for &open in &state.open {
                state.regions[open].rss_peak = state.regions[open].rss_peak.max(rss);
            }
        }
    };
    std::thread::Builder::new()
        .name("hognose-profile".to_owned())
        .spawn(run)
        .is_ok()
}

#[derive(Serialize)]
struct RegionRecord<'a> {
    name: &'a str,
    status: RegionStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    wall_seconds: Option<f64>,
    cpu_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    rss: Option<RssRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    regions: Vec<RegionRecord<'a>>,
}

#[derive(Serialize)]
struct RssRecord {
    start: u64,
    end: u64,
    peak: u64,
    delta: i64,
}

fn nested(regions: &[Region], parent: Option<usize>) -> Vec<RegionRecord<'_>> {
    let children = regions.iter().enumerate().filter(|(_, region)| region.parent == parent);
    children
        .map(|(index, region)| RegionRecord {
            name: &region.name,
            status: region.status,
            wall_seconds: (!region.summed).then_some(region.wall.as_secs_f64()),
            cpu_seconds: region.cpu.as_secs_f64(),
            rss: (!region.summed).then(|| RssRecord {
                start: region.rss_start,
                end: region.rss_end,
                peak: region.rss_peak,
                delta: region.rss_end.cast_signed() - region.rss_start.cast_signed(),
            }),
            regions: nested(regions, Some(index)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(profiler: &Profiler) -> Vec<(String, Option<usize>, RegionStatus)> {
        let regions = profiler.regions().into_iter();
        regions
            .map(|region| (region.name, region.parent, region.status))
            .collect()
    }

    #[test]
    fn regions_nest_and_say_how_they_ended() {
        let profiler = Profiler::new(true);
        {
            let _outer = profiler.region("outer");
            profiler.region("failed").fail();
            profiler.add_summed("summed", Duration::from_secs(1));
        }
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _region = profiler.region("panicked");
            std::panic::resume_unwind(Box::new(()));
        }));
        assert!(caught.is_err());
        let open = profiler.region("open");
        let expected = [
            ("outer", None, RegionStatus::Finished),
            ("failed", Some(0), RegionStatus::Failed),
            ("summed", Some(0), RegionStatus::Finished),
            ("panicked", None, RegionStatus::Failed),
            ("open", None, RegionStatus::Unfinished),
        ];
        assert_eq!(
            names(&profiler),
            expected.map(|(name, parent, status)| (name.to_owned(), parent, status))
        );
        drop(open);
        assert_eq!(profiler.regions()[4].status, RegionStatus::Finished);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_peak_is_seen_by_the_sampler() {
        let profiler = Profiler::new(true);
        {
            let _region = profiler.region("allocate");
            let block = vec![1_u8; 64 << 20];
            std::thread::sleep(Duration::from_millis(50));
            std::hint::black_box(&block);
        }
        let region = &profiler.regions()[0];
        assert!(region.rss_peak >= region.rss_start + (60 << 20), "{region:?}");
        assert!(region.wall >= Duration::from_millis(50));
    }

    #[test]
    fn a_profiler_that_is_off_records_nothing() {
        let profiler = Profiler::new(false);
        drop(profiler.region("work"));
        profiler.count("steps", 1);
        assert!(profiler.regions().is_empty() && profiler.counters().is_empty());
    }

    #[test]
    fn the_document_has_nested_regions_and_counters() {
        let profiler = Profiler::new(true);
        {
            let _load = profiler.region("load");
            profiler.add_summed("compile", Duration::from_millis(1500));
        }
        profiler.count("steps", 2);
        profiler.count("steps", 3);
        let mut out = Vec::new();
        profiler.write_json(&mut out).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(json["schema"], "hognose.profile/1");
        assert_eq!(json["regions"][0]["regions"][0]["cpu_seconds"], 1.5);
        assert_eq!(json["regions"][0]["status"], "finished");
        assert_eq!(json["counters"]["steps"], 5);
    }
}
