//! Names of files and modules.

/// Words that cannot be names, so that no `import` statement can reach a module called so.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Whether an `import` statement can spell this name.
///
/// Letters outside ASCII count by their Unicode property rather than by `XID_Start`, which is the same but for rarities.
#[must_use]
pub fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    let first = characters
        .next()
        .is_some_and(|first| first == '_' || first.is_alphabetic());
    first && characters.all(|next| next == '_' || next.is_alphanumeric()) && !KEYWORDS.contains(&name)
}

/// A path below a folder of a source.
pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

/// A module below a package.
pub(crate) fn dotted(package: &str, name: &str) -> String {
    if package.is_empty() {
        name.to_owned()
    } else {
        format!("{package}.{name}")
    }
}

/// What a file name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named<'n> {
    /// `mod.py`
    Source(&'n str),
    /// `mod.pyc`, where `mod.py` would be.
    Legacy(&'n str),
    /// `mod.cpython-312.pyc`, `mod.cpython-312.opt-1.pyc`: module and tag.
    Cached(&'n str, &'n str),
    /// Something else.
    Other,
}

/// Reads a file name; cached names are looked for only in `__pycache__` (PEP 3147, PEP 488).
pub(crate) fn read_file_name(name: &str, in_cache: bool) -> Named<'_> {
    let stem = |extension| name.strip_suffix(extension).filter(|stem: &&str| !stem.is_empty());
    if in_cache {
        return stem(".pyc")
            .and_then(|stem| stem.split_once('.'))
            .map_or(Named::Other, |(module, tag)| {
                if module.is_empty() {
                    Named::Other
                } else {
                    Named::Cached(module, tag)
                }
            });
    }
    if let Some(module) = stem(".py") {
        Named::Source(module)
    } else if let Some(module) = stem(".pyc") {
        Named::Legacy(module)
    } else {
        Named::Other
    }
}

/// How a cached file ranks among those of one module: unoptimised before optimised, newer before older versions.
pub(crate) fn rank_tag(tag: &str) -> (bool, std::cmp::Reverse<u32>, &str) {
    let optimised = tag.contains(".opt-");
    let version = tag
        .split('.')
        .next()
        .and_then(|tag| tag.rsplit_once('-'))
        .and_then(|(_, digits)| digits.parse().ok());
    (optimised, std::cmp::Reverse(version.unwrap_or(0)), tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers() {
        for name in ["a", "_", "__init__", "größe", "x1", "match", "type"] {
            assert!(is_identifier(name), "{name}");
        }
        for name in ["", "1a", "my-script", "a.b", "class", "a b", "None"] {
            assert!(!is_identifier(name), "{name}");
        }
    }

    #[test]
    fn file_names() {
        assert_eq!(read_file_name("a.py", false), Named::Source("a"));
        assert_eq!(read_file_name("a.b.py", false), Named::Source("a.b"));
        assert_eq!(read_file_name("a.pyc", false), Named::Legacy("a"));
        assert_eq!(
            read_file_name("a.cpython-312.pyc", true),
            Named::Cached("a", "cpython-312")
        );
        assert_eq!(
            read_file_name("a.cpython-312.opt-2.pyc", true),
            Named::Cached("a", "cpython-312.opt-2")
        );
        for other in [".py", "a.pyi", "a.pyd", "py", ".cpython-312.pyc"] {
            assert_eq!(read_file_name(other, true), Named::Other, "{other}");
        }
    }

    #[test]
    fn cached_files_rank_by_optimisation_then_version() {
        let mut tags = ["cpython-39", "cpython-312.opt-1", "cpython-312", "cpython-310", "odd"];
        tags.sort_by_key(|tag| rank_tag(tag));
        assert_eq!(
            tags,
            ["cpython-312", "cpython-310", "cpython-39", "odd", "cpython-312.opt-1"]
        );
    }
}
