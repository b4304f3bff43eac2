//! Damaged files from end to end: a part of what `cargo xtask mutate` does.

#![allow(clippy::unwrap_used)]

use std::process::Command;

#[test]
fn damaged_files_end_in_a_result_or_a_diagnostic() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["mutate", "--count", "2000", "--seed", "7", "--limit", "60"])
        .output()
        .unwrap();
    let (text, errors) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{text}{errors}");
    // The damage is such that all three kinds of results are frequent.
    let counts: Vec<u32> = text
        .lines()
        .next()
        .unwrap()
        .split([' ', ',', ':'])
        .filter_map(|word| word.parse().ok())
        .collect();
    let &[files, _, seed, complete, part, rejected, ..] = counts.as_slice() else {
        panic!("{text}");
    };
    assert_eq!((files, seed), (2000, 7));
    assert_eq!(complete + part + rejected, files, "{text}");
    assert!(complete > 100 && part > 100 && rejected > 100, "{text}");
}
