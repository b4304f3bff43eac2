//! Where files come from: a trait, and the file system behind it.

use std::fmt;
use std::fs::{self, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Something that has folders and files with `/`-separated UTF-8 paths; `""` is its top.
pub trait Source: fmt::Debug + Send + Sync {
    /// The entries of a folder, in any order. An entry that cannot be named or looked at is an error of its own.
    ///
    /// # Errors
    /// If the folder itself cannot be read.
    fn list(&self, folder: &str) -> Result<Vec<Result<Entry, SourceError>>, SourceError>;

    /// The bytes of a file.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read(&self, path: &str) -> Result<Vec<u8>, SourceError>;

    /// The first bytes of a regular file, as many as there are up to `length`.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read_start(&self, path: &str, length: usize) -> Result<Vec<u8>, SourceError> {
        let mut bytes = self.read(path)?;
        bytes.truncate(length);
        Ok(bytes)
    }

    /// Modification time in seconds since the epoch and size in bytes, as far as the source knows them.
    fn modified(&self, path: &str) -> Option<(i64, u64)>;

    /// Something that two paths have in common exactly if they are the same file or folder, where these can have several
    /// paths.
    fn identity(&self, _path: &str) -> Option<PathBuf> {
        None
    }
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name, without the folder.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A folder.
    Folder,
    /// A link to a folder.
    FolderLink,
    /// A regular file, or a link to one.
    File,
    /// A pipe, a socket, a device: never opened.
    Other,
}

/// Why something cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceError {
    /// Path in the source, as readable as it can be made.
    pub path: String,
    /// What the system says, without a full stop.
    pub reason: String,
}

impl SourceError {
    fn new(path: &str, error: &io::Error) -> Self {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => "does not exist".to_owned(),
            io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            _ => error.to_string(),
        };
        Self {
            path: path.to_owned(),
            reason,
        }
    }
}

/// A folder of the file system.
#[derive(Clone, Debug)]
pub struct Folder {
    top: PathBuf,
}

impl Folder {
    /// The folder at `top`.
    #[must_use]
    pub fn new(top: impl Into<PathBuf>) -> Self {
        Self { top: top.into() }
    }

    fn full(&self, path: &str) -> PathBuf {
        if path.is_empty() {
            self.top.clone()
        } else {
            self.top.join(path)
        }
    }
}

impl Source for Folder {
    fn list(&self, folder: &str) -> Result<Vec<Result<Entry, SourceError>>, SourceError> {
        let read = |error: &io::Error| SourceError::new(folder, error);
        let entries = fs::read_dir(self.full(folder)).map_err(|error| read(&error))?;
        Ok(entries
            .filter_map(|entry| match entry {
                Ok(entry) => look_at(folder, &entry).transpose(),
                Err(error) => Some(Err(read(&error))),
            })
            .collect())
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, SourceError> {
        let full = self.full(path);
        // Opening a pipe would wait for a writer.
        let regular = fs::metadata(&full).map(|metadata| metadata.is_file());
        match regular {
            Ok(true) => fs::read(&full).map_err(|error| SourceError::new(path, &error)),
            Ok(false) => Err(SourceError {
                path: path.to_owned(),
                reason: "is not a regular file".to_owned(),
            }),
            Err(error) => Err(SourceError::new(path, &error)),
        }
    }

    fn read_start(&self, path: &str, length: usize) -> Result<Vec<u8>, SourceError> {
        let file = fs::File::open(self.full(path)).map_err(|error| SourceError::new(path, &error))?;
        let mut bytes = Vec::new();
        file.take(length as u64)
            .read_to_end(&mut bytes)
            .map_err(|error| SourceError::new(path, &error))?;
        Ok(bytes)
    }

    fn modified(&self, path: &str) -> Option<(i64, u64)> {
        let metadata = fs::metadata(self.full(path)).ok()?;
        let time = metadata.modified().ok()?;
        let seconds = match time.duration_since(std::time::UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_secs()).ok()?,
            // Rounded down, as `int(st_mtime)` of a negative time is rounded towards zero only there.
            Err(before) => -i64::try_from(before.duration().as_secs()).ok()?,
        };
        Some((seconds, metadata.len()))
    }

    fn identity(&self, path: &str) -> Option<PathBuf> {
        fs::canonicalize(self.full(path)).ok()
    }
}

/// One entry; `None` if it cannot be read and does not look like Python either.
fn look_at(folder: &str, entry: &fs::DirEntry) -> Result<Option<Entry>, SourceError> {
    let name = entry.file_name();
    let lossy = name.to_string_lossy();
    let shown = crate::naming::join(folder, &lossy);
    let looks_like_python = lossy.ends_with(".py") || lossy.ends_with(".pyc");
    let kind = entry.file_type().and_then(|kind| follow_link(&entry.path(), kind));
    match (name.to_str(), kind) {
        (Some(name), Ok(kind)) => Ok(Some(Entry {
            name: name.to_owned(),
            kind,
        })),
        (None, Ok(kind)) if looks_like_python || kind == EntryKind::Folder => Err(SourceError {
            path: shown,
            reason: "the name is not UTF-8".to_owned(),
        }),
        (_, Err(error)) if looks_like_python => Err(SourceError::new(&shown, &error)),
        _ => Ok(None),
    }
}

fn follow_link(path: &Path, kind: FileType) -> io::Result<EntryKind> {
    let is_link = kind.is_symlink();
    let kind = if is_link { fs::metadata(path)?.file_type() } else { kind };
    Ok(if kind.is_dir() {
        if is_link {
            EntryKind::FolderLink
        } else {
            EntryKind::Folder
        }
    } else if kind.is_file() {
        EntryKind::File
    } else {
        EntryKind::Other
    })
}
