//! Compares the facts written in a case with those an analysis found: both ways on marked lines.

use crate::case::{Case, Place, Target};
use crate::facts::{CfgDestination, EdgeKind, Fact, FactKind, Outcome};
use crate::marker::{CallsMarker, Located, PointsToMarker};
use crate::observed::{ObservedFacts, ObservedFunction, Pointee, PointsToAnswer};
use hognose_base::UnresolvedKind;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A fact that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Line of the Markdown file.
    pub markdown_line: u32,
    /// The line of the program, where there is one.
    pub place: Option<Place>,
    /// The marker's key (`calls`, `unresolved`, `pts: x.f`), or the fact.
    pub key: String,
    /// What the case says.
    pub expected: String,
    /// What was found; for markers this is their new value.
    pub found: String,
}

/// Whether a case passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does; `bug` says that it fails as it is known to.
    Passed {
        /// Whether a known bug shows.
        bug: bool,
    },
    /// It does not: the report.
    Failed(String),
}

/// All facts of the case that do not hold, in order of the Markdown file.
#[must_use]
pub fn check_case(case: &Case, observed: &ObservedFacts) -> Vec<Mismatch> {
    let matcher = Matcher { case, observed };
    let mut found = Vec::new();
    for (index, module) in (0u32..).zip(&case.modules) {
        for (&line, markers) in &module.markers {
            let place = Place { module: index, line };
            if let Some(calls) = &markers.calls {
                found.extend(matcher.calls(place, calls));
            }
            if let Some(kinds) = &markers.unresolved {
                found.extend(matcher.unresolved(place, kinds));
            }
            for marker in &markers.points_to {
                found.extend(matcher.points_to(place, marker));
            }
        }
    }
    for fact in &case.facts {
        let (holds, explanation) = matcher.fact(&fact.kind);
        if holds == fact.negative {
            found.push(matcher.fact_mismatch(fact, explanation));
        }
    }
    found.sort_by_key(|mismatch| mismatch.markdown_line);
    found
}

/// The verdict on a case in one version: a case marked as a bug must fail.
#[must_use]
pub fn judge(case: &Case, target: Target, mismatches: &[Mismatch]) -> Verdict {
    match (case.config.bug_in(target), mismatches) {
        (None, []) => Verdict::Passed { bug: false },
        (Some(_), [_, ..]) => Verdict::Passed { bug: true },
        (Some(why), []) => Verdict::Failed(format!("every fact holds: remove `bug = \"{why}\"` from the case\n")),
        (None, _) => Verdict::Failed(mismatches.iter().map(|mismatch| report(case, mismatch)).collect()),
    }
}

fn report(case: &Case, mismatch: &Mismatch) -> String {
    let Mismatch {
        markdown_line,
        place,
        key,
        expected,
        found,
    } = mismatch;
    let mut text = format!("line {markdown_line}: {key}\n");
    if let Some(place) = place {
        let path = case
            .modules
            .get(place.module as usize)
            .map_or("", |module| module.path.as_str());
        let _ = writeln!(
            text,
            "  {path}:{} | {}",
            place.line,
            case.source_line(*place).trim_end()
        );
    }
    let _ = writeln!(text, "  expected: {expected}\n  found:    {found}");
    text
}

/// Where an edge leads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Destination {
    Exit,
    Line(Place),
}

struct Matcher<'a> {
    case: &'a Case,
    observed: &'a ObservedFacts,
}

impl Matcher<'_> {
    /// A mismatch of a marker; it points at the first comment of the line that holds one with this key.
    fn mismatch(&self, place: Place, key: &str, expected: String, found: String) -> Mismatch {
        let line = self.case.markdown_line(place);
        let markers = self
            .case
            .modules
            .get(place.module as usize)
            .and_then(|module| module.markers.get(&place.line));
        let source = markers.and_then(|markers| markers.sources.iter().find(|source| source.text.starts_with(key)));
        let markdown_line = source.map_or(line, |source| source.markdown_line);
        Mismatch {
            markdown_line,
            place: Some(place),
            key: key.to_owned(),
            expected,
            found,
        }
    }

    /// Whether something named `name` and made at `at` is what the case calls `expected` in the module of `here`.
    fn is_meant(&self, expected: &Located, here: Place, name: &str, at: Option<Place>) -> bool {
        let wanted = expected.at.as_deref().map(|text| {
            let line = text.parse().ok().map(|line| Place { line, ..here });
            line.or_else(|| self.case.labels.get(text).map(|label| label.place))
        });
        let same_place = match (wanted, at) {
            (None, _) => true,
            (Some(wanted), Some(at)) => wanted.is_some_and(|wanted| self.case.fold(wanted) == self.case.fold(at)),
            (Some(_), None) => false,
        };
        expected.name == name && same_place
    }

    /// Whether `expected` and `found` match both ways.
    fn agree(&self, here: Place, expected: &[Located], found: &[(&str, Option<Place>)]) -> bool {
        let meant = |located: &Located, (name, at): (&str, Option<Place>)| self.is_meant(located, here, name, at);
        let all_found = expected
            .iter()
            .all(|located| found.iter().any(|&it| meant(located, it)));
        let all_expected = found
            .iter()
            .all(|&it| expected.iter().any(|located| meant(located, it)));
        all_found && all_expected
    }

    fn calls(&self, place: Place, marker: &CallsMarker) -> Option<Mismatch> {
        let sites = self
            .observed
            .sites
            .iter()
            .filter(|site| self.case.fold(site.at) == place);
        let targets: BTreeSet<&ObservedFunction> = sites
            .flat_map(|site| &site.targets)
            .filter_map(|target| self.observed.functions.get(*target as usize))
            .collect();
        let found: Vec<_> = targets
            .iter()
            .map(|function| (function.name.as_str(), Some(function.at)))
            .collect();
        let agree = self.agree(place, &marker.functions, &found);
        (!agree).then(|| {
            let names = targets.iter().map(|function| {
                let twins = self
                    .observed
                    .functions
                    .iter()
                    .filter(|other| other.name == function.name)
                    .count();
                self.written(place, &function.name, (twins > 1).then_some(function.at))
            });
            let key = if marker.superset { "calls~" } else { "calls" };
            let expected = joined(marker.functions.iter().map(ToString::to_string), ", ");
            self.mismatch(place, key, expected, joined(names, ", "))
        })
    }

    fn unresolved(&self, place: Place, expected: &BTreeSet<UnresolvedKind>) -> Option<Mismatch> {
        let sites = self
            .observed
            .sites
            .iter()
            .filter(|site| self.case.fold(site.at) == place);
        let found: BTreeSet<UnresolvedKind> = sites.flat_map(|site| &site.unresolved).copied().collect();
        (found != *expected).then(|| {
            let names =
                |kinds: &BTreeSet<UnresolvedKind>| joined(kinds.iter().map(|kind| kind.name().to_owned()), ", ");
            self.mismatch(place, "unresolved", names(expected), names(&found))
        })
    }

    fn points_to(&self, place: Place, marker: &PointsToMarker) -> Option<Mismatch> {
        let answer = self.observed.points_to.get(&(place, marker.path.clone()));
        let mut objects: BTreeSet<Pointee> = BTreeSet::new();
        if let Some(PointsToAnswer {
            objects: found,
            unknown,
        }) = answer
        {
            objects.extend(found.iter().cloned());
            if *unknown {
                objects.insert(Pointee {
                    name: "unknown".to_owned(),
                    at: None,
                });
            }
        }
        let found: Vec<_> = objects.iter().map(|object| (object.name.as_str(), object.at)).collect();
        if answer.is_some() && self.agree(place, &marker.objects, &found) {
            return None;
        }
        let by_place = marker.objects.iter().any(|object| object.at.is_some());
        let names: BTreeSet<String> = objects
            .iter()
            .map(|object| self.written(place, &object.name, object.at.filter(|_| by_place)))
            .collect();
        let found = if answer.is_some() {
            joined(names.into_iter(), " | ")
        } else {
            "no such variable".to_owned()
        };
        let expected = joined(marker.objects.iter().map(ToString::to_string), " | ");
        let mismatch = self.mismatch(place, &format!("pts: {}", marker.path), expected, found);
        Some(Mismatch {
            markdown_line: marker.markdown_line,
            ..mismatch
        })
    }

    /// A name as the case at `here` would write it.
    fn written(&self, here: Place, name: &str, at: Option<Place>) -> String {
        let Some(at) = at.map(|at| self.case.fold(at)) else {
            return name.to_owned();
        };
        let label = self.case.labels.iter().find(|(_, label)| label.place == at);
        match label {
            Some((label, _)) => format!("{name}@{label}"),
            None if at.module == here.module => format!("{name}@{}", at.line),
            None => name.to_owned(),
        }
    }

    fn fact_mismatch(&self, fact: &Fact, explanation: String) -> Mismatch {
        let place = fact.kind.labels().last().and_then(|label| self.label(label));
        let expected = if fact.negative { "not to hold" } else { "to hold" }.to_owned();
        Mismatch {
            markdown_line: fact.markdown_line,
            place,
            key: fact.text.clone(),
            expected,
            found: explanation,
        }
    }

    fn label(&self, name: &str) -> Option<Place> {
        self.case.labels.get(name).map(|label| label.place)
    }

    /// Whether a fact holds, and what was found.
    fn fact(&self, kind: &FactKind) -> (bool, String) {
        match kind {
            FactKind::CfgEdge { from, kind, to } => self.cfg_edge(from, *kind, to),
            FactKind::Unreachable(at) => {
                let reachable = self
                    .observed
                    .reachable
                    .iter()
                    .any(|&place| Some(self.case.fold(place)) == self.label(at));
                (
                    !reachable,
                    if reachable { "reachable" } else { "unreachable" }.to_owned(),
                )
            }
            FactKind::ControlDependence {
                branch,
                outcome,
                dependent,
            } => self.control(branch, *outcome, dependent),
            FactKind::DataDependence { from, to, direct } => {
                let holds = match (self.label(from), self.label(to)) {
                    (Some(from), Some(to)) => self.data_reaches(from, to, *direct),
                    _ => false,
                };
                (holds, if holds { "such a path" } else { "no such path" }.to_owned())
            }
            FactKind::UnresolvedLoad { at, kind } => {
                let at = self.label(at);
                let loads = self.observed.unresolved_loads.iter();
                let found: BTreeSet<UnresolvedKind> = loads
                    .filter(|(place, _)| Some(self.case.fold(*place)) == at)
                    .map(|&(_, kind)| kind)
                    .collect();
                let text = joined(found.iter().map(|kind| kind.name().to_owned()), ", ");
                (found.contains(kind), text)
            }
            FactKind::Mro { class, order } => {
                let found = self.observed.classes.get(class);
                let text = found.map_or("no such class".to_owned(), |found| {
                    joined(found.mro.iter().cloned(), ", ")
                });
                (found.is_some_and(|found| found.mro == *order), text)
            }
            FactKind::Subclasses { class, subclasses } => {
                let found = self.observed.classes.get(class).map(|class| &class.subclasses);
                let text = found.map_or("no such class".to_owned(), |found| joined(found.iter().cloned(), ", "));
                (
                    found.is_some_and(|found| *found == subclasses.iter().cloned().collect()),
                    text,
                )
            }
            FactKind::Import { from, to } => {
                let found = self.observed.imports.iter().filter(|(importer, _)| importer == from);
                let names: BTreeSet<&String> = found.map(|(_, imported)| imported).collect();
                (names.contains(to), joined(names.into_iter().cloned(), ", "))
            }
        }
    }

    fn cfg_edge(&self, from: &str, kind: EdgeKind, to: &CfgDestination) -> (bool, String) {
        let from = self.label(from);
        let wanted = match to {
            CfgDestination::Exit => Some(Destination::Exit),
            CfgDestination::Line(label) => self.label(label).map(Destination::Line),
        };
        let mut found = BTreeSet::new();
        let mut holds = false;
        for (block, number) in self
            .observed
            .blocks
            .iter()
            .zip(0..)
            .filter(|(block, _)| block.reachable)
        {
            let lines: Vec<Place> = block.lines.iter().map(|&place| self.case.fold(place)).collect();
            let Some(position) = lines.iter().position(|&place| Some(place) == from) else {
                continue;
            };
            // Without a join between two lines they share a block: control falls through. What stands first behind a
            // suspension is the end of its line, which the suspension itself does not fall through to.
            let resumed = position == 0 && self.is_resumed(number);
            if let Some(&next) = lines.get(position + 1).filter(|_| !resumed) {
                holds |= kind == EdgeKind::Normal && wanted == Some(Destination::Line(next));
                found.insert(self.shown(EdgeKind::Normal, Some(Destination::Line(next))));
            }
            for edge in &block.edges {
                let target = self.destination(edge.to, None);
                let beyond = self.destination(edge.to, from);
                holds |= kind.covers(edge.kind) && wanted.is_some() && [target, beyond].contains(&wanted);
                found.insert(self.shown(edge.kind, target));
            }
        }
        (holds, joined(found.into_iter(), ", "))
    }

    fn is_resumed(&self, block: u32) -> bool {
        let mut edges = self.observed.blocks.iter().flat_map(|block| &block.edges);
        edges.any(|edge| edge.kind == EdgeKind::Resume && edge.to == Some(block))
    }

    fn shown(&self, kind: EdgeKind, destination: Option<Destination>) -> String {
        let shown = match destination {
            None => "?".to_owned(),
            Some(Destination::Exit) => "exit".to_owned(),
            Some(Destination::Line(place)) => format!("line {}", self.case.markdown_line(place)),
        };
        format!("{kind:?} to {shown}").to_lowercase()
    }

    /// The first line of a block other than `leaving`. A block without one is passed through: on its normal edge, or on
    /// its exception edges if it is the clean-up of a handler.
    fn destination(&self, block: Option<u32>, leaving: Option<Place>) -> Option<Destination> {
        let mut current = block;
        for _ in 0..=self.observed.blocks.len() {
            let Some(number) = current else {
                return Some(Destination::Exit);
            };
            let block = self.observed.blocks.get(number as usize)?;
            let mut lines = block.lines.iter().map(|&place| self.case.fold(place));
            if let Some(place) = lines.find(|&place| Some(place) != leaving) {
                return Some(Destination::Line(place));
            }
            let onward: BTreeSet<Option<u32>> = match block.edges.iter().find(|edge| !edge.kind.is_exception()) {
                Some(_) => {
                    let ordinary = block.edges.iter().filter(|edge| !edge.kind.is_exception());
                    ordinary.map(|edge| edge.to).collect()
                }
                None if block.lines.is_empty() => block.edges.iter().map(|edge| edge.to).collect(),
                None => return None,
            };
            if onward.len() > 1 {
                return None;
            }
            current = onward.first().copied()?;
        }
        None
    }

    fn control(&self, branch: &str, outcome: Option<Outcome>, dependent: &str) -> (bool, String) {
        let (branch, dependent) = (self.label(branch), self.label(dependent));
        let found: BTreeSet<Outcome> = self
            .observed
            .control
            .iter()
            .filter(|(from, _, to)| Some(self.case.fold(*from)) == branch && Some(self.case.fold(*to)) == dependent)
            .map(|(_, outcome, _)| *outcome)
            .collect();
        let holds = outcome.map_or(!found.is_empty(), |outcome| found.contains(&outcome));
        (
            holds,
            joined(found.iter().map(|outcome| format!("{outcome:?}").to_lowercase()), ", "),
        )
    }

    /// Whether a path of at least one edge leads from line to line; a direct one stays on the two lines.
    fn data_reaches(&self, from: Place, to: Place, direct: bool) -> bool {
        let nodes = &self.observed.data_nodes;
        let line = |node: u32| {
            nodes
                .get(node as usize)
                .copied()
                .flatten()
                .map(|place| self.case.fold(place))
        };
        let mut successors: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &(source, target) in &self.observed.data_edges {
            successors.entry(source).or_default().push(target);
        }
        let mut todo: Vec<u32> = successors
            .keys()
            .copied()
            .filter(|&node| line(node) == Some(from))
            .collect();
        let mut seen: BTreeSet<u32> = BTreeSet::new();
        while let Some(node) = todo.pop() {
            for &next in successors.get(&node).into_iter().flatten() {
                let at = line(next);
                if at == Some(to) {
                    return true;
                }
                let allowed = !direct || at.is_none() || at == Some(from);
                if allowed && seen.insert(next) {
                    todo.push(next);
                }
            }
        }
        false
    }
}

fn joined(names: impl Iterator<Item = String>, separator: &str) -> String {
    let text = names.collect::<Vec<_>>().join(separator);
    if text.is_empty() { "none".to_owned() } else { text }
}

#[cfg(test)]
#[path = "matcher_tests.rs"]
mod tests;
