#!/bin/sh
# Makes the copy in this folder again from the crate that cargo has downloaded. See README.md for what is changed.
#
#   third_party/rustpython/vendor.sh "$CARGO_HOME/registry/src/<registry>"
set -eu
from=$1
package=rustpython-codegen
version=0.6.0
here=$(cd "$(dirname "$0")" && pwd)
to=$here/$package
rm -rf "$to"
mkdir -p "$to/src"
# Without the lint tables, the tests (which stand at the end of their files) and what only the tests need.
for file in "$from/$package-$version"/src/*.rs; do
    awk '
        /^#\[cfg\(test\)\]$/ { held = $0; next }
        held != "" && /^mod (ruff_)?tests \{$/ { exit }
        held != "" { print held; held = "" }
        { print }
    ' "$file" > "$to/src/$(basename "$file")"
done
awk '
    /^\[/ { skip = ($0 ~ /^\[(lints|dev-dependencies|\[test)/) }
    /^readme = / { next }
    !skip { print }
    END { print "\n[lints.rust]\nwarnings = \"allow\"" }
' "$from/$package-$version/Cargo.toml" > "$to/Cargo.toml"
for patch in class-free speed; do
    patch -d "$to" -p1 < "$here/$patch.patch"
done
