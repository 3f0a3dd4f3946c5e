#!/usr/bin/env bash
# Whether two builds of one commit are the same bytes: it is cloned into two folders of different
# names, and both wheels are built in each. Run by `make reproducible`; prints the digests.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
root=$PWD
scratch=$(mktemp -d "${TMPDIR:-/tmp}/lanlab-reproducible.XXXXXX")
trap 'rm -rf -- "$scratch"' EXIT

digest() {
    if command -v sha256sum >/dev/null; then sha256sum -- "$@"; else shasum -a 256 -- "$@"; fi
}

if [[ -n $(git status --porcelain) ]]; then
    echo "note: what is not committed is not part of this" >&2
fi
for place in one "another, with a longer name"; do
    folder=$scratch/$place/lanlab
    git clone --quiet --no-hardlinks -- "$root" "$folder"
    # With the tools that the lock names, which are set up already.
    LANLAB_PYTHON=$root/.venv/bin/python CARGO_TARGET_DIR=$folder/target \
        bash "$folder/tools/wheels.sh" "$scratch/$place/wheels"
    mkdir "$scratch/$place/binary"
    "$root/.venv/bin/python" -m zipfile -e "$scratch/$place"/wheels/lanlab_engine-*.whl \
        "$scratch/$place/binary"
    (
        cd -- "$scratch/$place"
        digest wheels/*.whl binary/*.data/scripts/lanlab-engine*
    ) >"$scratch/$place/digests"
    rm -rf -- "$folder/target"
done
cat -- "$scratch/one/digests"
if ! diff -- "$scratch/one/digests" "$scratch/another, with a longer name/digests"; then
    echo "error: two builds of one commit differ" >&2
    exit 1
fi
echo "both builds are the same bytes"
