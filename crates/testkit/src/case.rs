//! The parsed form of a literate case.

use crate::facts::Fact;
use crate::marker::{CallsMarker, PointsToMarker};
use hognose_base::UnresolvedKind;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

/// The cases of one Markdown file.
#[derive(Clone, Debug)]
pub struct CaseFile {
    /// Where it was read from.
    pub path: PathBuf,
    /// The path below the folder of cases without extension, with `/`: `cg/closures`.
    pub key: String,
    /// The text of the first heading.
    pub topic: String,
    /// In order of the file.
    pub cases: Vec<Case>,
}

/// One program with its facts.
#[derive(Clone, Debug)]
pub struct Case {
    /// The heading.
    pub name: String,
    /// The heading's line in the Markdown file.
    pub line: u32,
    /// The `toml` block.
    pub config: CaseConfig,
    /// The program, `main.py` among it as a rule.
    pub modules: Vec<CaseModule>,
    /// Labels and the lines they name.
    pub labels: BTreeMap<String, Label>,
    /// The facts block.
    pub facts: Vec<Fact>,
}

/// What a label names, and where it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// The line of the program.
    pub place: Place,
    /// The line of the Markdown file.
    pub markdown_line: u32,
}

/// A line of a module of the case. Lines of a decorated header are folded into the `def` or `class` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Position in [`Case::modules`].
    pub module: u32,
    /// Line of the module, from 1.
    pub line: u32,
}

/// A version of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub enum Target {
    /// Bytecode of CPython 3.10.
    #[serde(rename = "3.10")]
    Py310,
    /// Bytecode of CPython 3.11.
    #[serde(rename = "3.11")]
    Py311,
    /// Bytecode of CPython 3.12.
    #[serde(rename = "3.12")]
    Py312,
    /// Bytecode of CPython 3.13.
    #[serde(rename = "3.13")]
    Py313,
    /// Bytecode of CPython 3.14.
    #[serde(rename = "3.14")]
    Py314,
    /// The source through the embedded compiler.
    #[serde(rename = "source")]
    Source,
}

impl Target {
    /// The whole matrix.
    pub const ALL: [Self; 6] = [
        Self::Py310,
        Self::Py311,
        Self::Py312,
        Self::Py313,
        Self::Py314,
        Self::Source,
    ];

    /// As written in a case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Py310 => "3.10",
            Self::Py311 => "3.11",
            Self::Py312 => "3.12",
            Self::Py313 => "3.13",
            Self::Py314 => "3.14",
            Self::Source => "source",
        }
    }

    /// The minor number of the CPython whose bytecode a fixture holds; none for the source.
    #[must_use]
    pub const fn minor(self) -> Option<u8> {
        match self {
            Self::Py310 => Some(10),
            Self::Py311 => Some(11),
            Self::Py312 => Some(12),
            Self::Py313 => Some(13),
            Self::Py314 => Some(14),
            Self::Source => None,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which code starts the analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Roots {
    /// The module bodies.
    #[default]
    Modules,
    /// Every exported function as well.
    Exports,
}

/// The `toml` block of a case.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CaseConfig {
    /// The versions in which the facts hold.
    pub python: Vec<Target>,
    /// The roots of the analysis.
    pub roots: Roots,
    /// Whether the oracle runs the program.
    pub execute: bool,
    /// Why the case fails today; it must then fail.
    pub bug: Option<String>,
    /// The versions in which it fails; none for all.
    #[serde(rename = "bug_in")]
    pub bug_versions: Vec<Target>,
    /// Whether a run may leave out listed callees.
    pub may: bool,
    /// The exception a run ends with.
    pub raises: Option<String>,
}

impl Default for CaseConfig {
    fn default() -> Self {
        Self {
            python: Target::ALL.to_vec(),
            roots: Roots::default(),
            execute: true,
            bug: None,
            bug_versions: Vec::new(),
            may: false,
            raises: None,
        }
    }
}

impl CaseConfig {
    /// Why the case fails today in this version; it must then fail.
    #[must_use]
    pub fn bug_in(&self, target: Target) -> Option<&str> {
        let concerned = self.bug_versions.is_empty() || self.bug_versions.contains(&target);
        self.bug.as_deref().filter(|_| concerned)
    }
}

/// A module of a case.
#[derive(Clone, Debug)]
pub struct CaseModule {
    /// Path below the case's folder: `pkg/util.py`.
    pub path: String,
    /// Dotted name: `pkg.util`.
    pub name: String,
    /// The source, ending in a newline if not empty.
    pub text: String,
    /// Line of the Markdown file that holds line 1.
    pub markdown_line: u32,
    /// The marked lines.
    pub markers: BTreeMap<u32, LineMarkers>,
    /// Lines of decorated headers and the `def` or `class` line they count as.
    pub folded: BTreeMap<u32, u32>,
}

/// The markers of one line.
#[derive(Clone, Debug, Default)]
pub struct LineMarkers {
    /// `calls:` or `calls~:`
    pub calls: Option<CallsMarker>,
    /// `unresolved:`
    pub unresolved: Option<BTreeSet<UnresolvedKind>>,
    /// `pts:`, any number of them.
    pub points_to: Vec<PointsToMarker>,
    /// The comments, in order.
    pub sources: Vec<MarkerSource>,
}

/// One marker as it stands in a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkerSource {
    /// Line of the Markdown file.
    pub markdown_line: u32,
    /// The whole segment: `calls: f`.
    pub text: String,
}

/// Why a file of cases cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct CaseError {
    /// The Markdown file.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
}

impl Case {
    /// The line that observed facts of this line count as, see [`Place`].
    #[must_use]
    pub fn fold(&self, place: Place) -> Place {
        let folded = self
            .modules
            .get(place.module as usize)
            .and_then(|module| module.folded.get(&place.line));
        Place {
            line: folded.copied().unwrap_or(place.line),
            ..place
        }
    }

    /// The module of this path.
    #[must_use]
    pub fn module_by_path(&self, path: &str) -> Option<u32> {
        let position = self.modules.iter().position(|module| module.path == path)?;
        u32::try_from(position).ok()
    }

    /// The line of the Markdown file that shows this place.
    #[must_use]
    pub fn markdown_line(&self, place: Place) -> u32 {
        let start = self
            .modules
            .get(place.module as usize)
            .map_or(self.line, |module| module.markdown_line);
        start + place.line.saturating_sub(1)
    }

    /// The text of this line.
    #[must_use]
    pub fn source_line(&self, place: Place) -> &str {
        let text = self
            .modules
            .get(place.module as usize)
            .map_or("", |module| module.text.as_str());
        text.lines().nth(place.line.saturating_sub(1) as usize).unwrap_or("")
    }
}
