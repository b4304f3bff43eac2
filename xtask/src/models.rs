//! The library models: compiles `crates/models/python` into `crates/models/data/models.bin`.

use anyhow::{Context, anyhow, ensure};
use clap::Subcommand;
use hognose_compile::{Embedded, SourceFile};
use hognose_models::archive;
use std::path::Path;

/// What to do with the compiled models.
#[derive(Clone, Copy, Subcommand)]
pub(crate) enum ModelsTask {
    /// Writes them.
    Build,
    /// Checks that what is written is what the sources compile to.
    Check,
}

/// Builds or checks the compiled models.
pub(crate) fn run(task: ModelsTask) -> anyhow::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/models/data/models.bin");
    let built = build()?;
    match task {
        ModelsTask::Build => std::fs::write(&path, &built).with_context(|| path.display().to_string()),
        ModelsTask::Check => {
            let written = std::fs::read(&path).with_context(|| path.display().to_string())?;
            ensure!(
                written == built,
                "the compiled models are stale: run `cargo xtask models build`"
            );
            Ok(())
        }
    }
}

fn build() -> anyhow::Result<Vec<u8>> {
    let front = Embedded::default();
    let mut entries = Vec::new();
    for name in hognose_models::names() {
        let text = hognose_models::source(name).with_context(|| format!("no model {name}"))?;
        let path = hognose_models::path(name).with_context(|| format!("no model {name}"))?;
        let source = SourceFile {
            path: path.clone(),
            filename: path,
            bytes: text.as_bytes().to_vec(),
        };
        let marshal = front
            .marshal(&source)
            .map_err(|diagnostic| anyhow!("{name}: {diagnostic:?}"))?;
        entries.push(archive::Entry {
            name,
            hash: archive::hash_of(text),
            marshal,
        });
    }
    archive::encode(&entries).context("a model is too large")
}
