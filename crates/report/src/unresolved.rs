//! What is behind call sites that are open or unresolved: `hognose.unresolved/1`, and the table that people read.
//!
//! `{"status", "sites": {open, unresolved}, "kinds": [{kind, sites, causes: [{cause, sites, places: [{file, line?}]}]}]}`
//!
//! A *cause* is what one would have to know, or to model, for a kind of reason to go away at a site, as far as the call
//! graph says:
//!
//! ```python
//! connection = sqlite3.connect(path)
//! connection.cursor().execute(text)     # external: sqlite3.connect
//! record.total()                        # missing-attribute: .total
//! callback(1)                           # entry-parameter: callback
//! ```
//! An external value is named up to its first call or element; otherwise the site is named by the attribute or the variable
//! that it calls or reads, and by its operation where it is neither a call nor an access (`GetIter .rows`). A site with several reasons counts for each of them, and one with
//! several external callees for each of these.

use crate::coverage::DiagnosticRecord;
use crate::document::Document;
use crate::place::Places;
use crate::summary::grouped;
use hognose_base::{Diagnostic, Span, UnresolvedKind};
use hognose_ir::{Body, Def, InstId, Op, ValueId};
use hognose_pta::{CallRecord, CodeId, PointsTo, Program};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// Places that are kept of a cause.
const PLACES: usize = 3;
/// Causes of a kind that the table shows.
const SHOWN: usize = 10;

/// A place of a cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CausePlace {
    /// The file as shown to the user.
    pub file: String,
    /// Its line from 1, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// Something that is not known, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// What it is, see the module.
    pub cause: String,
    /// Sites that it concerns.
    pub sites: u64,
    /// The first of them: those of the project, then those of dependencies, each in canonical order.
    pub places: Vec<CausePlace>,
}

/// The causes of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindCauses {
    /// The kind.
    pub kind: UnresolvedKind,
    /// Sites that have it.
    pub sites: u64,
    /// The causes, most sites first.
    pub causes: Vec<Cause>,
}

/// Why call sites are not fully known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unresolved {
    /// Sites with targets and reasons.
    pub open: u64,
    /// Sites with reasons alone.
    pub unresolved: u64,
    /// The kinds, most sites first.
    pub kinds: Vec<KindCauses>,
}

#[derive(Serialize)]
struct Sites {
    open: u64,
    unresolved: u64,
}

#[derive(Serialize)]
struct Kind<'a> {
    kind: &'static str,
    sites: u64,
    causes: &'a [Cause],
}

type SiteSet = BTreeSet<(bool, CodeId, InstId)>;

impl Unresolved {
    /// Groups the reasons of a call graph by their causes.
    #[must_use]
    pub fn of(points_to: &PointsTo, calls: &[CallRecord]) -> Self {
        let program = points_to.program();
        let modelled: BTreeSet<&str> = program
            .codes
            .ids()
            .filter(|&code| program.is_model(code))
            .map(|code| program.qualname(code))
            .collect();
        let mut found: BTreeMap<UnresolvedKind, BTreeMap<String, SiteSet>> = BTreeMap::new();
        let mut unresolved = Self::default();
        for call in calls.iter().filter(|call| !call.unresolved.is_empty()) {
            if call.has_targets() {
                unresolved.open += 1;
            } else {
                unresolved.unresolved += 1;
            }
            let site = (program.is_dependency(call.caller), call.caller, call.inst);
            for kind in call.unresolved.iter() {
                let by_cause = found.entry(kind).or_default();
                for cause in causes(program, call, kind, &modelled) {
                    by_cause.entry(cause).or_default().insert(site);
                }
            }
        }
        let mut places = Places::new(program);
        unresolved.kinds = found
            .into_iter()
            .map(|(kind, causes)| kind_causes(kind, causes, &mut places))
            .collect();
        unresolved.kinds.sort_by_key(|kind| std::cmp::Reverse(kind.sites));
        unresolved
    }

    /// Writes all causes as JSON.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_json(&self, diagnostics: &[Diagnostic], partial: bool, out: &mut dyn Write) -> io::Result<()> {
        let mut document = Document::begin(out, "hognose.unresolved/1")?;
        document.field("status", &if partial { "partial" } else { "complete" })?;
        let (open, unresolved) = (self.open, self.unresolved);
        document.field("sites", &Sites { open, unresolved })?;
        let kinds = self.kinds.iter().map(|kind| Kind {
            kind: kind.kind.name(),
            sites: kind.sites,
            causes: &kind.causes,
        });
        document.array("kinds", kinds)?;
        document.array("diagnostics", diagnostics.iter().map(DiagnosticRecord::from))?;
        document.end()
    }

    /// Writes the causes with most sites as a table.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "call sites that are not fully known: {} open, {} unresolved",
            grouped(self.open),
            grouped(self.unresolved)
        )?;
        for kind in &self.kinds {
            writeln!(out, "\n{}: {} sites", kind.kind.name(), grouped(kind.sites))?;
            let shown = kind.causes.iter().take(SHOWN);
            let width = shown.clone().map(|cause| cause.cause.chars().count()).max();
            for cause in shown {
                let places: Vec<String> = cause.places.iter().map(CausePlace::text).collect();
                writeln!(
                    out,
                    "{:>10}  {:width$}  {}",
                    grouped(cause.sites),
                    cause.cause,
                    places.join(", "),
                    width = width.unwrap_or(0)
                )?;
            }
            let hidden = kind.causes.len().saturating_sub(SHOWN);
            if hidden > 0 {
                writeln!(out, "            and {} other causes", grouped(hidden as u64))?;
            }
        }
        Ok(())
    }
}

impl CausePlace {
    fn text(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.file),
            None => self.file.clone(),
        }
    }
}

fn kind_causes(kind: UnresolvedKind, causes: BTreeMap<String, SiteSet>, places: &mut Places<'_>) -> KindCauses {
    let all: BTreeSet<_> = causes.values().flatten().collect();
    let sites = all.len() as u64;
    let mut causes: Vec<Cause> = causes
        .into_iter()
        .map(|(cause, sites)| Cause {
            cause,
            sites: sites.len() as u64,
            places: first_places(&sites, places),
        })
        .collect();
    // The order of the names stays among causes of equally many sites.
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.sites));
    KindCauses { kind, sites, causes }
}

/// The first sites on different lines.
fn first_places(sites: &SiteSet, places: &mut Places<'_>) -> Vec<CausePlace> {
    let mut found: Vec<CausePlace> = Vec::new();
    for &(_, code, inst) in sites {
        let line = places.at(code, inst).1.line;
        let place = CausePlace {
            file: places.file(code).to_owned(),
            line: (line != Span::UNKNOWN).then_some(line),
        };
        if !found.contains(&place) {
            found.push(place);
        }
        if found.len() == PLACES {
            break;
        }
    }
    found
}

/// What is behind a kind of reason at a call site; never empty.
fn causes(program: &Program, call: &CallRecord, kind: UnresolvedKind, modelled: &BTreeSet<&str>) -> BTreeSet<String> {
    if kind == UnresolvedKind::External {
        let external = call.external.iter().filter(|name| !modelled.contains(&***name));
        let roots: BTreeSet<String> = external.map(|name| root_of(name).to_owned()).collect();
        if !roots.is_empty() {
            return roots;
        }
    }
    BTreeSet::from([named_site(program, call.caller, call.inst)])
}

/// An external value up to its first call or element: `sqlite3.connect` of `sqlite3.connect().cursor().execute`.
fn root_of(external: &str) -> &str {
    let end = external.find(['(', '[', '<', '*']).unwrap_or(external.len());
    let root = external[..end].trim_end_matches('.');
    if root.is_empty() { external } else { root }
}

/// The attribute or variable that a site is about, with the operation if it is neither a call nor an access.
fn named_site(program: &Program, code: CodeId, inst: InstId) -> String {
    let body = program.body(code);
    let Some(one) = body.insts.get(inst) else {
        return "?".to_owned();
    };
    if let Some(name) = named_operation(program, code, one.op) {
        return name;
    }
    let operand = body.ssa.inputs(inst).first();
    let name = operand.and_then(|&operand| named_value(program, code, operand));
    match (one.op, name) {
        (Op::Call { .. } | Op::CallStar { .. }, Some(name)) => name,
        (op, Some(name)) => format!("{} {name}", operation(program, code, op)),
        (op, None) => operation(program, code, op),
    }
}

/// How the program names a value: `x`, `.attribute`, `make()`.
fn named_value(program: &Program, code: CodeId, value: ValueId) -> Option<String> {
    let body = program.body(code);
    let (inst, op) = made_by(body, value)?;
    if let Op::Call { .. } | Op::CallStar { .. } = op {
        let (_, callee) = made_by(body, *body.ssa.inputs(inst).first()?)?;
        return Some(format!("{}()", named_operation(program, code, callee)?));
    }
    named_operation(program, code, op)
}

/// The operation that makes a value, whatever tests lie between.
fn made_by(body: &Body, value: ValueId) -> Option<(InstId, Op)> {
    let mut value = value;
    while let Def::Refined { of, .. } = *body.ssa.values.get(value)? {
        value = of;
    }
    body.made_by(value)
}

/// The attribute or variable that an operation names.
fn named_operation(program: &Program, code: CodeId, op: Op) -> Option<String> {
    let name = |name| text_of(program, code, |text| text.name(name));
    let slot = |slot| text_of(program, code, |text| text.slot(slot));
    Some(match op {
        Op::LoadAttr(attribute) | Op::LoadMethod(attribute) | Op::StoreAttr(attribute) | Op::DeleteAttr(attribute) => {
            format!(".{}", name(attribute))
        }
        Op::LoadSuperAttr { name: attribute, .. } | Op::LoadSuperMethod { name: attribute, .. } => {
            format!("super().{}", name(attribute))
        }
        Op::LoadName(variable) | Op::LoadGlobal(variable) => name(variable),
        Op::LoadLocal { slot: variable, .. } | Op::LoadDeref(variable) => slot(variable),
        _ => return None,
    })
}

fn text_of(program: &Program, code: CodeId, text: impl FnOnce(&dyn hognose_ir::OpNames) -> String) -> String {
    let info = &program.codes[code];
    text(&program.modules[info.module].ir.text(info.index))
}

/// The name of an operation without its operands.
fn operation(program: &Program, code: CodeId, op: Op) -> String {
    let info = &program.codes[code];
    let names = program.modules[info.module].ir.text(info.index);
    let words = op.in_words(&names).to_string();
    words.split(' ').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::root_of;

    #[test]
    fn external_values_are_named_up_to_their_first_call() {
        let cases = [
            ("os.environ.get", "os.environ.get"),
            ("sqlite3.connect().cursor().execute", "sqlite3.connect"),
            ("os.path.splitext()[].globals", "os.path.splitext"),
            ("os.environ[].lower", "os.environ"),
            ("sys.*", "sys"),
            ("a.b.<item>.c", "a.b"),
            ("<item>", "<item>"),
        ];
        for (external, root) in cases {
            assert_eq!(root_of(external), root, "{external}");
        }
    }
}
