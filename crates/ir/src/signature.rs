//! Signatures of code objects, and the one function that binds arguments to parameters.
//!
//! ```python
//! def f(a, /, b, *args, c, d=1, **kwargs): ...
//! #     |     |    |    |    |      |
//! #     |     |    |    keyword-only var-keyword
//! #     |     |    var-positional
//! #     |     positional-or-keyword
//! #     positional-only
//! f(1, 2, *more, c=3, **options)
//! ```
//! A *call shape* is what a call site shows: how many positional arguments come before the first `*`, whether there is a `*`,
//! the names of keyword arguments, whether there is a `**`. How many values a `*` holds and which keys a `**` has is not
//! known, so a parameter may be fed by several sources, one of which counts at run time. Names are of any comparable type `K`.
//! Source: Python Language Reference, 6.3.4 "Calls"; CPython: `initialize_locals` in `Python/ceval.c`.

use crate::body::Slot;
use crate::op::{NameId, SlotId};
use hognose_base::IndexVec;
use hognose_pyc::{CodeObject, flags};
use std::fmt;

/// How a parameter takes arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum ParameterKind {
    PositionalOnly,
    PositionalOrKeyword,
    VarPositional,
    KeywordOnly,
    VarKeyword,
}

/// Whether a parameter has a default. The code object does not say; the function object does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum HasDefault {
    No,
    Yes,
    Unknown,
}

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter<K> {
    /// Its name.
    pub name: K,
    /// How it takes arguments.
    pub kind: ParameterKind,
    /// Where the frame keeps it.
    pub slot: SlotId,
    /// Whether it has a default.
    pub default: HasDefault,
}

/// The parameters of a code object: positional ones, `*args`, keyword-only ones, `**kwargs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature<K> {
    /// In the order of the source.
    pub parameters: Vec<Parameter<K>>,
}

impl Signature<NameId> {
    /// The signature of a code object whose frame has these slots. Defaults are unknown.
    #[must_use]
    pub fn of_code(code: &CodeObject, slots: &IndexVec<SlotId, Slot>) -> Self {
        let (positional, keyword) = (code.argcount, code.kwonlyargcount);
        let has_args = code.flags & flags::VARARGS != 0;
        // The frame has positional and keyword-only parameters, then `*args`, then `**kwargs`.
        let stars = positional.saturating_add(keyword);
        let parameter = |index: u32, kind| {
            let slot = SlotId::new(index);
            slots.get(slot).map(|known| Parameter {
                name: known.name,
                kind,
                slot,
                default: HasDefault::Unknown,
            })
        };
        let mut parameters = Vec::new();
        for index in 0..positional.min(u32::try_from(slots.len()).unwrap_or(u32::MAX)) {
            let kind = if index < code.posonlyargcount {
                ParameterKind::PositionalOnly
            } else {
                ParameterKind::PositionalOrKeyword
            };
            parameters.extend(parameter(index, kind));
        }
        if has_args {
            parameters.extend(parameter(stars, ParameterKind::VarPositional));
        }
        for index in positional..stars.min(u32::try_from(slots.len()).unwrap_or(u32::MAX)) {
            parameters.extend(parameter(index, ParameterKind::KeywordOnly));
        }
        if code.flags & flags::VARKEYWORDS != 0 {
            parameters.extend(parameter(
                stars.saturating_add(u32::from(has_args)),
                ParameterKind::VarKeyword,
            ));
        }
        Self { parameters }
    }
}

impl<K: Copy + Eq> Signature<K> {
    /// The same with known defaults: of the last `positional` positional parameters, and of the keyword-only ones with
    /// these names.
    #[must_use]
    pub fn with_defaults(mut self, positional: usize, keywords: &[K]) -> Self {
        let count = self.positional_count();
        for (index, parameter) in self.parameters.iter_mut().enumerate() {
            let has = match parameter.kind {
                ParameterKind::KeywordOnly => keywords.contains(&parameter.name),
                ParameterKind::PositionalOnly | ParameterKind::PositionalOrKeyword => index + positional >= count,
                ParameterKind::VarPositional | ParameterKind::VarKeyword => false,
            };
            parameter.default = if has { HasDefault::Yes } else { HasDefault::No };
        }
        self
    }
    /// Number of positional parameters; they come first.
    #[must_use]
    pub fn positional_count(&self) -> usize {
        let positional = |kind| matches!(kind, ParameterKind::PositionalOnly | ParameterKind::PositionalOrKeyword);
        self.parameters
            .iter()
            .take_while(|parameter| positional(parameter.kind))
            .count()
    }
    fn position(&self, kind: ParameterKind) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.kind == kind)
    }
}

/// What a call site shows of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallShape<'a, K> {
    /// Number of positional arguments before any `*`, an implicit `self` included.
    pub positional: u32,
    /// Whether unknown further positional arguments follow.
    pub has_star: bool,
    /// Names of the keyword arguments.
    pub keywords: &'a [K],
    /// Whether unknown further keyword arguments follow.
    pub has_double_star: bool,
}

/// What may feed a parameter, or an element of `*args`, or an entry of `**kwargs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArgSource {
    /// A positional argument by its number.
    Positional(u32),
    /// A keyword argument by its number.
    Keyword(u32),
    /// The parameter's default.
    Default,
    /// This element of what the `*` gives, if there is one.
    StarElement(u32),
    /// In `*args` only: all elements of what the `*` gives from this one on.
    StarRest(u32),
    /// The entry of the `**` mapping under the parameter's name, if there is one; in `**kwargs`, its other entries.
    DoubleStar,
}

/// What feeds each parameter.
///
/// An ordinary parameter has one source, or several of which one counts at run time. `*args` has the elements of the tuple
/// in order, `**kwargs` the entries of the dict; both may have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bindings {
    sources: Vec<ArgSource>,
    starts: Vec<u32>,
}

impl Bindings {
    /// The sources of parameter number `parameter`.
    #[must_use]
    pub fn of(&self, parameter: usize) -> &[ArgSource] {
        match (self.starts.get(parameter), self.starts.get(parameter + 1)) {
            (Some(&start), Some(&end)) => &self.sources[start as usize..end as usize],
            _ => &[],
        }
    }
    /// Number of parameters.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }
    /// Whether there are no parameters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The sources of every parameter in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[ArgSource]> {
        (0..self.len()).map(|parameter| self.of(parameter))
    }
    fn begin(&mut self) {
        self.starts.push(u32::try_from(self.sources.len()).unwrap_or(u32::MAX));
    }
}

/// Why a call is a `TypeError`, whatever `*` and `**` hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unbindable<K> {
    /// More positional arguments than parameters.
    TooManyPositional {
        /// How many there are.
        given: u32,
        /// How many are taken.
        accepted: u32,
    },
    /// A parameter without argument and default.
    MissingArgument(K),
    /// A keyword that no parameter takes (a positional-only one does not).
    UnexpectedKeyword(K),
    /// A parameter that is given by position and by keyword, or a keyword that is given twice.
    MultipleValues(K),
}

impl<K: fmt::Display> fmt::Display for Unbindable<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyPositional { given, accepted } => {
                write!(f, "{given} positional arguments where at most {accepted} are taken")
            }
            Self::MissingArgument(name) => write!(f, "no argument for `{name}`"),
            Self::UnexpectedKeyword(name) => write!(f, "unexpected keyword argument `{name}`"),
            Self::MultipleValues(name) => write!(f, "several values for `{name}`"),
        }
    }
}

/// Binds the arguments of one call shape to the parameters of `callee`.
///
/// Returns the sources of every parameter in parameter order, or the typed reason why the call cannot be bound
/// (`TypeError` at run time), the one that CPython reports if there are several. Source: Python Language Reference, 6.3.4
/// "Calls".
///
/// # Errors
/// If no contents of `*` and `**` make the call valid.
pub fn bind_arguments<K: Copy + Eq>(
    shape: &CallShape<'_, K>,
    callee: &Signature<K>,
) -> Result<Bindings, Unbindable<K>> {
    let accepted = callee.positional_count();
    let takes_rest = callee.position(ParameterKind::VarPositional).is_some();
    let by_keyword = match_keywords(shape, callee, accepted)?;
    if shape.positional as usize > accepted && !takes_rest {
        let accepted = u32::try_from(accepted).unwrap_or(u32::MAX);
        return Err(Unbindable::TooManyPositional {
            given: shape.positional,
            accepted,
        });
    }
    let mut bindings = Bindings::default();
    for (index, parameter) in callee.parameters.iter().enumerate() {
        bindings.begin();
        let sources = &mut bindings.sources;
        let number = u32::try_from(index).unwrap_or(u32::MAX);
        match parameter.kind {
            ParameterKind::VarPositional => {
                let first = u32::try_from(accepted).unwrap_or(u32::MAX);
                sources.extend((first..shape.positional).map(ArgSource::Positional));
                if shape.has_star {
                    sources.push(ArgSource::StarRest(first.saturating_sub(shape.positional)));
                }
            }
            ParameterKind::VarKeyword => {
                let rest = by_keyword.iter().zip(0..).filter(|(target, _)| **target == index);
                sources.extend(rest.map(|(_, keyword)| ArgSource::Keyword(keyword)));
                if shape.has_double_star {
                    sources.push(ArgSource::DoubleStar);
                }
            }
            _ if index < accepted && number < shape.positional => sources.push(ArgSource::Positional(number)),
            _ => {
                if let Some(keyword) = by_keyword.iter().position(|&target| target == index) {
                    sources.push(ArgSource::Keyword(u32::try_from(keyword).unwrap_or(u32::MAX)));
                } else {
                    unfed(
                        shape,
                        parameter,
                        (index < accepted).then(|| number - shape.positional),
                        sources,
                    )?;
                }
            }
        }
    }
    bindings.begin();
    Ok(bindings)
}

/// The parameter that each keyword argument goes to.
fn match_keywords<K: Copy + Eq>(
    shape: &CallShape<'_, K>,
    callee: &Signature<K>,
    accepted: usize,
) -> Result<Vec<usize>, Unbindable<K>> {
    let mut targets = Vec::with_capacity(shape.keywords.len());
    for (number, &keyword) in shape.keywords.iter().enumerate() {
        let by_name = |parameter: &Parameter<K>| {
            parameter.name == keyword
                && matches!(
                    parameter.kind,
                    ParameterKind::PositionalOrKeyword | ParameterKind::KeywordOnly
                )
        };
        let named = callee.parameters.iter().position(by_name);
        let target = named
            .or_else(|| callee.position(ParameterKind::VarKeyword))
            .ok_or(Unbindable::UnexpectedKeyword(keyword))?;
        let by_position = target < accepted && target < shape.positional as usize;
        if by_position || shape.keywords[..number].contains(&keyword) {
            return Err(Unbindable::MultipleValues(keyword));
        }
        targets.push(target);
    }
    Ok(targets)
}

/// The sources of a parameter that the call site does not show an argument for; `star` is its place in the `*`.
fn unfed<K: Copy + Eq>(
    shape: &CallShape<'_, K>,
    parameter: &Parameter<K>,
    star: Option<u32>,
    sources: &mut Vec<ArgSource>,
) -> Result<(), Unbindable<K>> {
    let before = sources.len();
    if shape.has_star {
        sources.extend(star.map(ArgSource::StarElement));
    }
    if shape.has_double_star && parameter.kind != ParameterKind::PositionalOnly {
        sources.push(ArgSource::DoubleStar);
    }
    if parameter.default != HasDefault::No {
        sources.push(ArgSource::Default);
    }
    if sources.len() == before {
        Err(Unbindable::MissingArgument(parameter.name))
    } else {
        Ok(())
    }
}
