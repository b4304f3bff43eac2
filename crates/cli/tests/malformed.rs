//! Bad input is data: a diagnostic each, the rest analysed, no panic.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Run, hognose, repository};
use std::fs;
use std::path::Path;

fn sample() -> Vec<u8> {
    fs::read(repository("crates/pyc/tests/fixtures/sample_3.12.pyc")).unwrap()
}

/// Analyses a folder with a bad file alone, which leaves nothing, and beside a good one.
fn check(name: &str, bytes: &[u8], kind: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), bytes).unwrap();
    let alone = hognose(folder.path(), &["analyze", "."]).expect(4);
    assert!(alone.stderr.contains(&format!("error[{kind}]")), "{}", alone.stderr);
    assert!(alone.stderr.contains(name), "{}", alone.stderr);
    fs::write(folder.path().join("good.py"), "def f():\n    return 1\nf()\n").unwrap();
    let beside = hognose(folder.path(), &["analyze", "."]).expect(3);
    assert!(beside.text().starts_with("1 modules"), "{}", beside.text());
    hognose(folder.path(), &["analyze", ".", "--allow-partial"]).expect(0);
    let json = hognose(folder.path(), &["analyze", ".", "--format", "json"])
        .expect(3)
        .json();
    assert_eq!(json["status"], "partial");
    assert_eq!(json["diagnostics"][0]["kind"], kind);
}

#[test]
fn truncated() {
    let sample = sample();
    check("bad.pyc", &sample[..sample.len() / 2], "malformed");
    check("bad.pyc", &sample[..5], "malformed");
}

#[test]
fn empty_compiled_file() {
    check("bad.pyc", b"", "malformed");
}

#[test]
fn wrong_magic() {
    let mut sample = sample();
    sample[..2].copy_from_slice(&3394_u16.to_le_bytes());
    check("bad.pyc", &sample, "unsupported-version");
    let stderr = run_on(&sample).stderr;
    assert!(stderr.contains("CPython 3.7"), "{stderr}");
}

#[test]
fn not_utf_8() {
    check("bad.py", b"x = '\xff\xfe'\n", "encoding");
}

#[test]
fn not_python() {
    check("bad.py", b"def f(:\n", "syntax");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad.py"), "x = 1\ndef f(:\n").unwrap();
    let stderr = hognose(folder.path(), &["analyze", "."]).expect(4).stderr;
    assert!(stderr.contains("bad.py:2") && stderr.contains("def f(:"), "{stderr}");
}

#[test]
fn an_empty_source_is_a_module() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("empty.py"), "").unwrap();
    hognose(folder.path(), &["analyze", "."]).expect(0);
}

#[test]
fn nothing_there() {
    let folder = tempfile::tempdir().unwrap();
    let run = hognose(folder.path(), &["analyze", "absent"]).expect(4);
    assert!(run.stderr.contains("error[io]"), "{}", run.stderr);
    hognose(folder.path(), &["analyze", "."]).expect(4);
}

fn run_on(bytes: &[u8]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.pyc");
    fs::write(&path, bytes).unwrap();
    hognose(folder.path(), &["dis", "bad.pyc"])
}

/// Flips bits of a compiled file all over it; many such files in one analysis.
#[test]
fn flipped_bits() {
    let sample = sample();
    let folder = tempfile::tempdir().unwrap();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for number in 0..400 {
        let mut bytes = sample.clone();
        for _ in 0..1 + number % 4 {
            // xorshift64, so that the same files are made each time.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let at = 16 + usize::try_from(state >> 8).unwrap() % (bytes.len() - 16);
            bytes[at] ^= 1 << (state & 7);
        }
        fs::write(folder.path().join(format!("m{number}.pyc")), bytes).unwrap();
    }
    let run = hognose(folder.path(), &["analyze", ".", "--quiet"]).expect(3);
    assert!(run.stderr.contains("error[malformed]"), "{}", run.stderr);
    for product in ["cg", "ddg"] {
        hognose(folder.path(), &["graph", product, ".", "--quiet"]).expect(3);
    }
}

#[cfg(unix)]
#[test]
fn a_loop_of_folders() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("pkg")).unwrap();
    fs::write(folder.path().join("pkg/__init__.py"), "x = 1\n").unwrap();
    std::os::unix::fs::symlink("..", folder.path().join("pkg/up")).unwrap();
    let run = hognose(folder.path(), &["analyze", ".", "--verbose"]);
    assert!(matches!(run.code, Some(0 | 3)), "{}", run.stderr);
    assert!(run.stderr.contains("up"), "no diagnostic: {}", run.stderr);
    assert!(run.text().starts_with("1 modules"), "{}", run.text());
}

#[cfg(unix)]
#[test]
fn unreadable() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.py");
    fs::write(&bad, "x = 1\n").unwrap();
    fs::set_permissions(&bad, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser reads everything; a broken link nobody does.
    if fs::read(&bad).is_ok() {
        fs::remove_file(&bad).unwrap();
        std::os::unix::fs::symlink(Path::new("absent.py"), &bad).unwrap();
    }
    let run = hognose(folder.path(), &["analyze", "bad.py"]).expect(4);
    assert!(run.stderr.contains("error[io]"), "{}", run.stderr);
}
