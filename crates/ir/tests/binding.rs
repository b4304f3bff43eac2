//! Argument binding against what CPython does (`fixtures/binding/make.py`), and star forms against all their expansions.
#![allow(clippy::unwrap_used)]

use hognose_ir::{
    ArgSource, CallShape, HasDefault, Parameter, ParameterKind, Signature, SlotId, Unbindable, bind_arguments,
};

fn signature(text: &str) -> Signature<&str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let slash = words.iter().position(|&word| word == "/");
    let mut keyword_only = false;
    let mut parameters = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let kind = if word.starts_with("**") {
            ParameterKind::VarKeyword
        } else if word.starts_with('*') {
            keyword_only = true;
            ParameterKind::VarPositional
        } else if keyword_only {
            ParameterKind::KeywordOnly
        } else if slash.is_some_and(|slash| at < slash) {
            ParameterKind::PositionalOnly
        } else {
            ParameterKind::PositionalOrKeyword
        };
        let name = word.trim_matches(['*', '=']);
        if *word == "/" || name.is_empty() {
            continue;
        }
        let default = if word.ends_with('=') {
            HasDefault::Yes
        } else {
            HasDefault::No
        };
        let slot = SlotId::new(u32::try_from(parameters.len()).unwrap());
        parameters.push(Parameter {
            name,
            kind,
            slot,
            default,
        });
    }
    Signature { parameters }
}

fn source_text(source: ArgSource, keywords: &[&str]) -> String {
    match source {
        ArgSource::Positional(number) => number.to_string(),
        ArgSource::Keyword(number) => keywords[number as usize].to_owned(),
        ArgSource::Default => "=".to_owned(),
        other => format!("{other:?}"),
    }
}

fn outcome(callee: &Signature<&str>, shape: &CallShape<'_, &str>) -> String {
    let bindings = match bind_arguments(shape, callee) {
        Ok(bindings) => bindings,
        Err(Unbindable::TooManyPositional { .. }) => return "too-many".to_owned(),
        Err(Unbindable::MissingArgument(name)) => return format!("missing {name}"),
        Err(Unbindable::UnexpectedKeyword(name)) => return format!("unexpected {name}"),
        Err(Unbindable::MultipleValues(name)) => return format!("multiple {name}"),
    };
    assert_eq!(bindings.len(), callee.parameters.len());
    let words = callee
        .parameters
        .iter()
        .zip(bindings.iter())
        .map(|(parameter, sources)| {
            let texts = sources.iter().map(|&source| {
                let text = source_text(source, shape.keywords);
                if parameter.kind == ParameterKind::VarKeyword {
                    format!("{text}:{text}")
                } else {
                    text
                }
            });
            format!("{}={}", parameter.name, texts.collect::<Vec<_>>().join(","))
        });
    words.collect::<Vec<_>>().join(" ")
}

/// The lines of the table: signature, positional count, keywords, result.
fn table() -> impl Iterator<Item = (&'static str, u32, Vec<&'static str>, &'static str)> {
    include_str!("fixtures/binding/binding.txt").lines().map(|line| {
        let mut columns = line.split('|').map(str::trim);
        let signature = columns.next().unwrap();
        let mut call = columns.next().unwrap().split_whitespace();
        let count = call.next().unwrap().parse().unwrap();
        (signature, count, call.collect(), columns.next().unwrap_or_default())
    })
}

#[test]
fn binds_as_cpython_does() {
    let mut wrong = Vec::new();
    let mut lines = 0;
    for (text, positional, keywords, expected) in table() {
        lines += 1;
        let shape = CallShape {
            positional,
            has_star: false,
            keywords: &keywords,
            has_double_star: false,
        };
        let found = outcome(&signature(text), &shape);
        if found != expected {
            wrong.push(format!(
                "{text} | {positional} {keywords:?}: expected {expected}, found {found}"
            ));
        }
    }
    assert!(lines > 500);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What `concrete` must be one of, if the first `shown` positional arguments stand before a `*` that gives the others.
fn in_star(concrete: ArgSource, shown: u32) -> Vec<ArgSource> {
    match concrete {
        ArgSource::Positional(number) if number >= shown => vec![ArgSource::StarElement(number - shown)],
        other => vec![other],
    }
}

#[test]
fn stars_cover_every_expansion() {
    let mut checked = 0;
    for (text, positional, keywords, expected) in table() {
        let callee = signature(text);
        let concrete = CallShape {
            positional,
            has_star: false,
            keywords: &keywords,
            has_double_star: false,
        };
        for shown in 0..=positional {
            let shape = CallShape {
                positional: shown,
                has_star: true,
                keywords: &keywords,
                has_double_star: false,
            };
            let (Ok(exact), star) = (bind_arguments(&concrete, &callee), bind_arguments(&shape, &callee)) else {
                continue;
            };
            let star = star.unwrap_or_else(|error| panic!("{text} {shape:?} but {expected}: {error}"));
            for (parameter, (exact, star)) in callee.parameters.iter().zip(exact.iter().zip(star.iter())) {
                for &source in exact {
                    let covered = match (parameter.kind, source) {
                        (ParameterKind::VarPositional, ArgSource::Positional(number)) if number >= shown => star
                            .iter()
                            .any(|s| matches!(s, ArgSource::StarRest(from) if *from <= number - shown)),
                        _ => in_star(source, shown).iter().all(|source| star.contains(source)),
                    };
                    assert!(
                        covered,
                        "{text} {shape:?}: {} has {star:?}, not {source:?}",
                        parameter.name
                    );
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 300);
}

#[test]
fn double_star_feeds_what_is_missing() {
    let callee = signature("a / b *r c d= **k");
    let shape = CallShape {
        positional: 1,
        has_star: false,
        keywords: &["d"],
        has_double_star: true,
    };
    let bindings = bind_arguments(&shape, &callee).unwrap();
    let expected: [&[ArgSource]; 6] = [
        &[ArgSource::Positional(0)],
        &[ArgSource::DoubleStar],
        &[],
        &[ArgSource::DoubleStar],
        &[ArgSource::Keyword(0)],
        &[ArgSource::DoubleStar],
    ];
    assert!(bindings.iter().eq(expected));
    let shape = CallShape { positional: 0, ..shape };
    assert_eq!(bind_arguments(&shape, &callee), Err(Unbindable::MissingArgument("a")));
}
