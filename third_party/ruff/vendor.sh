#!/bin/sh
# Makes the copies in this folder again from the crates that cargo has downloaded. See README.md for what is changed.
#
#   third_party/ruff/vendor.sh "$CARGO_HOME/registry/src/<registry>"
set -eu
from=$1
version=0.16.5
here=$(cd "$(dirname "$0")" && pwd)
for crate in ruff_python_ast ruff_python_parser ruff_python_trivia ruff_source_file ruff_text_size; do
    package=rustpython-$crate
    to=$here/$package
    rm -rf "$to"
    mkdir -p "$to"
    cp -R "$from/$package-$version/src" "$to/src"
    find "$to/src" -name snapshots -type d -prune -exec rm -r {} +
    # Without the declared Rust version, the lint tables, the tests and what only the tests need.
    awk '
        /^\[/ { skip = ($0 ~ /^\[(lints|dev-dependencies|\[test)/) }
        /^rust-version = / { next }
        /^readme = / { next }
        !skip { print }
        END { print "\n[lints.rust]\nwarnings = \"allow\"" }
    ' "$from/$package-$version/Cargo.toml" > "$to/Cargo.toml"
done
# `std::debug_assert_matches` is stable from Rust 1.96 on.
sed -i.orig \
    -e '/use std::debug_assert_matches;/d' \
    -e 's/debug_assert_matches!(\(.*\), \(.x. | .o. | .b.\));/debug_assert!(matches!(\1, \2));/' \
    "$here/rustpython-ruff_python_parser/src/lexer.rs"
rm "$here/rustpython-ruff_python_parser/src/lexer.rs.orig"
rm -f "$here/rustpython-ruff_python_parser/src/parser/tests.rs"
sed -i.orig -e '/^#\[cfg(test)\]$/{N;s/#\[cfg(test)\]\nmod tests;//;}' \
    "$here/rustpython-ruff_python_parser/src/parser/mod.rs"
rm "$here/rustpython-ruff_python_parser/src/parser/mod.rs.orig"
