#!/usr/bin/env bash
# Builds the wheels of lanlab and of its engine, or one of them, the same bytes wherever and whenever
# it is done:
#
#     tools/wheels.sh FOLDER [PROJECT, as in crates/engine]
#
# from the tree that it stands in, with the .venv of `make test-programs`. The same bytes need the same
# sources, rustc, linker and system; what else could get in (the home of cargo, the time) is kept out.
# Cargo names files of the tree from its root. Only compiles the engine, without .venv, and prints its path:
#
#     tools/wheels.sh --compile
set -euo pipefail

usage='usage: tools/wheels.sh --compile | FOLDER [PROJECT]'
[[ ${1:?$usage} == --compile ]] || out=$(mkdir -p -- "$1" && cd -- "$1" && pwd)
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
root=$PWD
projects=("$root/crates/engine" "$root")
[[ $# -eq 1 ]] || projects=("$root/$2")
python=${LANLAB_PYTHON:-$root/.venv/bin/python}
cargo_home=${CARGO_HOME:-$HOME/.cargo}

# Times in an archive: those of the commit; without git, the earliest that a zip file has.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 315532800)}
export SOURCE_DATE_EPOCH
# Panics name files: these begin alike everywhere. (cargo's `trim-paths` will do it once it is stable.)
# The folder of the tree is no part of the flags, so that crates of others that were built for one tree
# are good for another (.ci/run).
export CARGO_ENCODED_RUSTFLAGS="--remap-path-prefix=$cargo_home=/cargo"
unset RUSTFLAGS
# Linked to no library, so that the engine runs on any Linux of its architecture: it is copied to hosts
# that are measured. With a target named, what runs at compile time is built as ever.
host=$(rustc -vV | sed -n 's/^host: //p')
if [[ $host == *-linux-gnu* && $(cc -print-file-name=libc.a 2>/dev/null) == /* ]]; then
    CARGO_ENCODED_RUSTFLAGS+=$'\x1f-Ctarget-feature=+crt-static'
    export CARGO_BUILD_TARGET=$host
elif [[ $host == *-linux-gnu* ]]; then
    echo "setup: no static C library: the engine runs only on hosts with a C library as new as here." \
        "On Fedora: dnf install glibc-static" >&2
fi
# A folder of its own: other flags than those of `cargo build`, which would build all anew each time.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target/wheels}

if [[ $1 == --compile ]]; then
    # As maturin does, so that it finds all of it done.
    cargo build --profile release --locked --manifest-path crates/engine/Cargo.toml \
        --bin lanlab-engine --message-format json-render-diagnostics |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p'
    exit
fi
PATH=$(dirname -- "$python"):$PATH "$python" -m pip wheel --quiet --disable-pip-version-check \
    --no-input --no-build-isolation --no-deps --no-cache-dir --wheel-dir "$out" \
    "${projects[@]}"
