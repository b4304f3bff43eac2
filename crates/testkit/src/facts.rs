//! The facts block: one fact a line, about labelled lines, classes and modules.

use hognose_base::UnresolvedKind;

/// A fact of the facts block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Line of the Markdown file.
    pub markdown_line: u32,
    /// As written.
    pub text: String,
    /// Whether the fact must not hold.
    pub negative: bool,
    /// What it says.
    pub kind: FactKind,
}

/// What a fact says. Strings that are no names of classes or modules are labels without `@`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FactKind {
    /// `cfg @a -true-> @b`
    CfgEdge {
        /// Label of the line the edge leaves.
        from: String,
        /// Its kind.
        kind: EdgeKind,
        /// Where it leads.
        to: CfgDestination,
    },
    /// `cfg unreachable @a`
    Unreachable(String),
    /// `cdg @branch true @b`
    ControlDependence {
        /// Label of the branch.
        branch: String,
        /// Its outcome; any if none.
        outcome: Option<Outcome>,
        /// Label of the dependent line.
        dependent: String,
    },
    /// `ddg @a -> @b`, `ddg @a => @b`
    DataDependence {
        /// Label of the line the data comes from.
        from: String,
        /// Label of the line it reaches.
        to: String,
        /// Whether it is one step.
        direct: bool,
    },
    /// `ddg unresolved @a unknown-base`
    UnresolvedLoad {
        /// Label of the line of the load.
        at: String,
        /// Why it may read more than the graph says.
        kind: UnresolvedKind,
    },
    /// `class C mro = C, object`
    Mro {
        /// The class.
        class: String,
        /// All classes in order.
        order: Vec<String>,
    },
    /// `class C subclasses = D`
    Subclasses {
        /// The class.
        class: String,
        /// The direct subclasses.
        subclasses: Vec<String>,
    },
    /// `import main -> pkg.util`
    Import {
        /// The importing module.
        from: String,
        /// The imported one.
        to: String,
    },
}

/// Where a control-flow edge leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CfgDestination {
    /// To the line of this label.
    Line(String),
    /// To the exit of its kind: the exceptional one for exception edges.
    Exit,
}

/// Kinds of control-flow edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// Fall-through and jumps.
    Normal,
    /// A branch taken because its condition is true.
    True,
    /// Because it is false.
    False,
    /// Any exception edge; only in expectations.
    Exception,
    /// From a raise or assert.
    Explicit,
    /// From an operation that may raise.
    Implicit,
    /// From a suspension to where it goes on.
    Resume,
}

/// Outcomes of a branch that something is control-dependent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It completes.
    Normal,
    /// Its condition is true.
    True,
    /// Its condition is false.
    False,
    /// It raises.
    Exception,
    /// It is resumed.
    Resume,
}

impl EdgeKind {
    /// The kind with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "normal" => Self::Normal,
            "true" => Self::True,
            "false" => Self::False,
            "exception" => Self::Exception,
            "explicit" => Self::Explicit,
            "implicit" => Self::Implicit,
            "resume" => Self::Resume,
            _ => return None,
        })
    }

    /// Whether an edge of kind `found` is meant by this expectation.
    #[must_use]
    pub fn covers(self, found: Self) -> bool {
        self == found || (self == Self::Exception && matches!(found, Self::Explicit | Self::Implicit))
    }

    /// Whether the edge leaves by an exception.
    #[must_use]
    pub const fn is_exception(self) -> bool {
        matches!(self, Self::Exception | Self::Explicit | Self::Implicit)
    }
}

impl Outcome {
    /// The outcome with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "normal" => Self::Normal,
            "true" => Self::True,
            "false" => Self::False,
            "exception" => Self::Exception,
            "resume" => Self::Resume,
            _ => return None,
        })
    }
}

/// Parses one line of a facts block.
pub(crate) fn parse_fact(text: &str, markdown_line: u32) -> Result<Fact, String> {
    let text = text.trim();
    let (negative, body) = text
        .strip_prefix("not ")
        .map_or((false, text), |rest| (true, rest.trim()));
    let words: Vec<&str> = body.split_whitespace().collect();
    let kind = match words.as_slice() {
        ["cfg", "unreachable", at] => FactKind::Unreachable(label(at)?),
        ["cfg", from, arrow, to] => cfg_edge(from, arrow, to)?,
        ["cdg", branch, outcome, dependent] => FactKind::ControlDependence {
            branch: label(branch)?,
            outcome: match *outcome {
                "*" => None,
                name => Some(Outcome::parse(name).ok_or_else(|| format!("unknown outcome `{name}`"))?),
            },
            dependent: label(dependent)?,
        },
        ["ddg", from, arrow @ ("->" | "=>"), to] => FactKind::DataDependence {
            from: label(from)?,
            to: label(to)?,
            direct: *arrow == "=>",
        },
        ["ddg", "unresolved", at, name] => FactKind::UnresolvedLoad {
            at: label(at)?,
            kind: UnresolvedKind::ALL
                .iter()
                .copied()
                .find(|kind| kind.name() == *name)
                .ok_or_else(|| format!("unknown kind `{name}`"))?,
        },
        ["class", class, "mro", "=", ..] => FactKind::Mro {
            class: (*class).to_owned(),
            order: names(body),
        },
        ["class", class, "subclasses", "=", ..] => FactKind::Subclasses {
            class: (*class).to_owned(),
            subclasses: names(body),
        },
        ["import", from, "->", to] => FactKind::Import {
            from: (*from).to_owned(),
            to: (*to).to_owned(),
        },
        _ => return Err(format!("unknown fact `{text}`")),
    };
    Ok(Fact {
        markdown_line,
        text: text.to_owned(),
        negative,
        kind,
    })
}

fn cfg_edge(from: &str, arrow: &str, to: &str) -> Result<FactKind, String> {
    let name = arrow.strip_prefix('-').and_then(|rest| rest.strip_suffix("->"));
    let name = name.ok_or_else(|| format!("`{arrow}` is no edge, expected `-kind->`"))?;
    let kind = EdgeKind::parse(name).ok_or_else(|| format!("unknown edge kind `{name}`"))?;
    let to = if to == "exit" {
        CfgDestination::Exit
    } else {
        CfgDestination::Line(label(to)?)
    };
    Ok(FactKind::CfgEdge {
        from: label(from)?,
        kind,
        to,
    })
}

fn label(word: &str) -> Result<String, String> {
    let name = word.strip_prefix('@').filter(|name| !name.is_empty());
    name.map(str::to_owned).ok_or_else(|| format!("`{word}` is no label"))
}

/// The names behind `=`, none for `none`.
fn names(body: &str) -> Vec<String> {
    let list = body.split_once('=').map_or("", |(_, list)| list).trim();
    if list == "none" {
        Vec::new()
    } else {
        list.split(',').map(|name| name.trim().to_owned()).collect()
    }
}

impl FactKind {
    /// The labels the fact speaks of.
    pub(crate) fn labels(&self) -> Vec<&str> {
        match self {
            Self::CfgEdge {
                from,
                to: CfgDestination::Line(to),
                ..
            }
            | Self::DataDependence { from, to, .. } => {
                vec![from, to]
            }
            Self::CfgEdge { from, .. } => vec![from],
            Self::Unreachable(at) | Self::UnresolvedLoad { at, .. } => vec![at],
            Self::ControlDependence { branch, dependent, .. } => vec![branch, dependent],
            Self::Mro { .. } | Self::Subclasses { .. } | Self::Import { .. } => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> FactKind {
        parse_fact(text, 1).unwrap().kind
    }

    #[test]
    fn every_form_is_read() {
        assert_eq!(
            kind("cfg @a -true-> @b"),
            FactKind::CfgEdge {
                from: "a".into(),
                kind: EdgeKind::True,
                to: CfgDestination::Line("b".into())
            }
        );
        assert_eq!(
            kind("cfg @a -exception-> exit"),
            FactKind::CfgEdge {
                from: "a".into(),
                kind: EdgeKind::Exception,
                to: CfgDestination::Exit
            }
        );
        assert_eq!(kind("cfg unreachable @b"), FactKind::Unreachable("b".into()));
        assert_eq!(
            kind("cdg @a * @b"),
            FactKind::ControlDependence {
                branch: "a".into(),
                outcome: None,
                dependent: "b".into()
            }
        );
        assert_eq!(
            kind("ddg @a => @b"),
            FactKind::DataDependence {
                from: "a".into(),
                to: "b".into(),
                direct: true
            }
        );
        assert_eq!(
            kind("ddg unresolved @a unknown-base"),
            FactKind::UnresolvedLoad {
                at: "a".into(),
                kind: UnresolvedKind::UnknownBase
            }
        );
        assert_eq!(
            kind("class C mro = C, A, object"),
            FactKind::Mro {
                class: "C".into(),
                order: vec!["C".into(), "A".into(), "object".into()]
            }
        );
        assert_eq!(
            kind("class C subclasses = none"),
            FactKind::Subclasses {
                class: "C".into(),
                subclasses: Vec::new()
            }
        );
        assert!(parse_fact("not import main -> a.b", 1).unwrap().negative);
    }

    #[test]
    fn malformed_facts_say_what_is_wrong() {
        let cases = [
            ("cfg @a -maybe-> @b", "unknown edge kind `maybe`"),
            ("cfg @a true @b", "`true` is no edge, expected `-kind->`"),
            ("cdg @a perhaps @b", "unknown outcome `perhaps`"),
            ("ddg a -> @b", "`a` is no label"),
            ("ddg @a --> @b", "unknown fact `ddg @a --> @b`"),
            ("ddg unresolved @a magic", "unknown kind `magic`"),
            ("flow @a", "unknown fact `flow @a`"),
        ];
        for (text, message) in cases {
            assert_eq!(parse_fact(text, 1).unwrap_err(), message);
        }
    }
}
