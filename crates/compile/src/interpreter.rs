//! Where Python interpreters are.
//!
//! A *spec* says which one is wanted: a version (`3.12`), the path of an executable, or the folder of a virtual
//! environment. A version has many *candidates*, tried in order until one answers with that version: version managers
//! put a script on the search path that fails for versions they do not have.

use hognose_pyc::PythonVersion;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Which interpreter is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PythonSpec {
    /// Any CPython of this version.
    Version(PythonVersion),
    /// This executable.
    Executable(PathBuf),
    /// The interpreter of this virtual environment.
    Environment(PathBuf),
}

/// A spec that names no interpreter.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InterpreterError {
    /// Neither a version, nor an executable, nor a virtual environment.
    #[error("{0}: neither a version such as 3.12, nor a Python executable, nor a virtual environment")]
    Unknown(String),
    /// Nothing on the search path or in the usual places.
    #[error("no python{0} on the search path or where version managers put it")]
    NotFound(PythonVersion),
    /// It was started, and is not what was asked for.
    #[error("{path}: {reason}")]
    Refused {
        /// The executable.
        path: String,
        /// Why it cannot be used.
        reason: String,
    },
}

/// An interpreter that may be there: its executable, and what it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpreter {
    /// The executable.
    pub executable: PathBuf,
    /// The version it must have, if one was asked for.
    pub version: Option<PythonVersion>,
}

impl PythonSpec {
    /// Reads `3.12`, the path of an executable, or that of a virtual environment.
    ///
    /// # Errors
    /// If it is none of these.
    pub fn parse(text: &str) -> Result<Self, InterpreterError> {
        if let Some(version) = parse_version(text) {
            return Ok(Self::Version(version));
        }
        let path = Path::new(text);
        if path.is_dir() && environment_python(path).is_some() {
            Ok(Self::Environment(path.to_owned()))
        } else if path.is_file() {
            Ok(Self::Executable(path.to_owned()))
        } else if let Some(path) = on_search_path(text.as_ref(), std::env::var_os("PATH"))
            .into_iter()
            .next()
        {
            Ok(Self::Executable(path))
        } else {
            Err(InterpreterError::Unknown(text.to_owned()))
        }
    }

    /// The executables that may be meant, best first.
    #[must_use]
    pub fn candidates(&self) -> Vec<Interpreter> {
        match self {
            Self::Executable(path) => vec![Interpreter {
                executable: path.clone(),
                version: None,
            }],
            Self::Environment(path) => environment_python(path)
                .map(|executable| Interpreter {
                    executable,
                    version: None,
                })
                .into_iter()
                .collect(),
            Self::Version(version) => version_candidates(*version)
                .into_iter()
                .map(|executable| Interpreter {
                    executable,
                    version: Some(*version),
                })
                .collect(),
        }
    }
}

/// `3.12` or `python3.12`.
fn parse_version(text: &str) -> Option<PythonVersion> {
    let (major, minor) = text.strip_prefix("python").unwrap_or(text).split_once('.')?;
    let minor = minor.parse::<u8>().ok()?;
    (major == "3").then(|| PythonVersion::new(minor))
}

fn environment_python(folder: &Path) -> Option<PathBuf> {
    let places = ["bin/python", "bin/python3", "Scripts/python.exe"];
    places
        .iter()
        .map(|place| folder.join(place))
        .find(|path| path.is_file())
}

fn version_candidates(version: PythonVersion) -> Vec<PathBuf> {
    let name = format!("python{version}{}", std::env::consts::EXE_SUFFIX);
    let mut found = on_search_path(name.as_ref(), std::env::var_os("PATH"));
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let pyenv = std::env::var_os("PYENV_ROOT")
        .map(PathBuf::from)
        .or_else(|| home.as_ref().map(|h| h.join(".pyenv")));
    // `versions/3.12.1/bin/python3.12`; uv and similar tools call the folder `cpython-3.12.1-linux-…`.
    let managed = [
        pyenv.map(|root| root.join("versions")),
        home.as_ref().map(|home| home.join(".local/share/uv/python")),
        home.as_ref().map(|home| home.join(".asdf/installs/python")),
        home.as_ref().map(|home| home.join(".local/share/mise/installs/python")),
    ];
    for root in managed.into_iter().flatten() {
        found.extend(installed_below(&root, version, &name));
    }
    for root in ["/usr/local/bin", "/usr/bin", "/opt/homebrew/bin", "/opt/local/bin"] {
        found.push(Path::new(root).join(&name));
    }
    found.retain(|path| path.is_file());
    let mut seen = Vec::new();
    found.retain(|path| {
        !seen.contains(path) && {
            seen.push(path.clone());
            true
        }
    });
    found
}

/// Installations of a version below `root`, newest name first.
fn installed_below(root: &Path, version: PythonVersion, name: &str) -> Vec<PathBuf> {
    let prefix = version.to_string();
    let Ok(entries) = std::fs::read_dir(root) else {
        return Vec::new();
    };
    let mut folders: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let folder = path.file_name().unwrap_or_default().to_string_lossy();
            let number = folder.strip_prefix("cpython-").unwrap_or(&folder);
            number
                .strip_prefix(&*prefix)
                .is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
        })
        .collect();
    folders.sort();
    folders.reverse();
    folders
        .into_iter()
        .map(|folder| folder.join("bin").join(name))
        .collect()
}

fn on_search_path(name: &Path, search_path: Option<OsString>) -> Vec<PathBuf> {
    if name.components().count() != 1 {
        return Vec::new();
    }
    let folders = search_path.unwrap_or_default();
    std::env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .filter(|path| path.is_file())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_paths_and_environments() {
        assert_eq!(
            PythonSpec::parse("3.12"),
            Ok(PythonSpec::Version(PythonVersion::new(12)))
        );
        assert_eq!(
            PythonSpec::parse("python3.9"),
            Ok(PythonSpec::Version(PythonVersion::new(9)))
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        assert_eq!(PythonSpec::parse(path), Err(InterpreterError::Unknown(path.to_owned())));
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        let python = folder.path().join("bin/python");
        std::fs::write(&python, "").unwrap();
        assert_eq!(
            PythonSpec::parse(path),
            Ok(PythonSpec::Environment(folder.path().to_owned()))
        );
        let candidates = PythonSpec::parse(path).unwrap().candidates();
        assert_eq!(
            candidates,
            [Interpreter {
                executable: python.clone(),
                version: None
            }]
        );
        let executable = python.to_str().unwrap();
        assert_eq!(PythonSpec::parse(executable), Ok(PythonSpec::Executable(python)));
    }

    #[test]
    fn installations_of_one_version_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["3.1.4", "3.12.1", "cpython-3.12.9-linux", "3.13.0", "3.12-dev"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let found = installed_below(folder.path(), PythonVersion::new(12), "python3.12");
        let names: Vec<_> = found
            .iter()
            .map(|path| path.strip_prefix(folder.path()).unwrap().to_str().unwrap())
            .collect();
        let expected = [
            "cpython-3.12.9-linux/bin/python3.12",
            "3.12.1/bin/python3.12",
            "3.12-dev/bin/python3.12",
        ];
        assert_eq!(names, expected);
        assert!(installed_below(&folder.path().join("absent"), PythonVersion::new(12), "python3.12").is_empty());
    }
}
