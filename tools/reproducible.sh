#!/usr/bin/env bash
# Whether two builds of one commit are the same bytes: both wheels are built here, where `make setup`
# has built the engine, and in a clone in a folder of another name, from nothing. Run by
# `make reproducible`; prints the digests.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
root=$PWD
# What is built must not be found where the other tree built it.
unset CARGO_TARGET_DIR
scratch=$(mktemp -d "${TMPDIR:-/tmp}/lanlab-reproducible.XXXXXX")
trap 'rm -rf -- "$scratch"' EXIT

digest() {
    if command -v sha256sum >/dev/null; then sha256sum -- "$@"; else shasum -a 256 -- "$@"; fi
}

if [[ -n $(git status --porcelain) ]]; then
    echo "error: a clone would lack what is not committed here" >&2
    echo "hint: commit it or set it aside" >&2
    exit 2
fi

# Built from the tree $1 into the folder $2, which gets the wheels and a list of digests.
build() {
    # With the tools that the lock names, which are set up already.
    LANLAB_PYTHON=$root/.venv/bin/python bash "$1/tools/wheels.sh" "$2/wheels"
    "$root/.venv/bin/python" -m zipfile -e "$2"/wheels/lanlab_engine-*.whl "$2/binary"
    (
        cd -- "$2"
        digest wheels/*.whl binary/*.data/scripts/lanlab-engine*
    ) >"$2/digests"
}

clone="$scratch/another, with a longer name"
git clone --quiet --no-hardlinks -- "$root" "$clone"
build "$root" "$scratch/here"
build "$clone" "$scratch/there"
cat -- "$scratch/here/digests"
if ! diff -- "$scratch/here/digests" "$scratch/there/digests"; then
    echo "error: two builds of one commit differ" >&2
    exit 1
fi
echo "both builds are the same bytes"
