//! Runs the command.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A path of the repository.
#[allow(dead_code, reason = "not every test reads the repository")]
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// What a run gave.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

/// Runs the command in a folder. A panic fails the test whatever the command was to do.
pub(crate) fn hognose(folder: &Path, arguments: &[&str]) -> Run {
    let output: Output = Command::new(env!("CARGO_BIN_EXE_hognose"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the command starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!stderr.contains("panicked at"), "{arguments:?}: {stderr}");
    assert!(output.status.code().is_some(), "{arguments:?}: killed by a signal");
    Run {
        code: output.status.code(),
        stdout: output.stdout,
        stderr,
    }
}

impl Run {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout).expect("the output is JSON")
    }
    /// The same, for a run that must have this exit code.
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stderr: {}", self.stderr);
        self
    }
}
