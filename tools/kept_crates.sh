#!/usr/bin/env bash
# Keeps what was built of other people's crates for the next run of `.ci/run` on this machine, in
# $CARGO_HOME/lanlab-ci:
#
#     tools/kept_crates.sh take | keep
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
readonly kept=${CARGO_HOME:-$HOME/.cargo}/lanlab-ci
# One folder for these locks, this compiler and its options.
readonly place=$kept/target-$({ rustc -vV; env | sed -n '/^CARGO_PROFILE_/p' | sort
    cat Cargo.lock fuzz/Cargo.lock Cargo.toml fuzz/Cargo.toml; } | sha256sum | cut -c 1-16)

# Remove what was built of our crates: clean_ours MANIFEST OPTION OF CARGO CLEAN ...
clean_ours() {
    local manifest=$1 ours
    shift
    mapfile -t ours < <(sed -n 's/^name = "\(lanlab-.*\)"/--package=\1/p' "${manifest%toml}lock")
    cargo clean --quiet --manifest-path "$manifest" "$@" "${ours[@]}"
}

case ${1-} in
take)
    [[ -d $place ]] || { echo "no crates are kept: all are built" && exit; }
    cp -a -- "$place" target
    echo "kept crates: $(du -sh target | cut -f 1)"
    ;;
keep)
    [[ ! -d $place ]] || exit 0
    rm -rf -- "$kept"/target-*
    mkdir -p -- "$kept"
    # Links need one file system.
    cp -al -- target "$place.part" 2>/dev/null || cp -a -- target "$place.part"
    clean_ours Cargo.toml --target-dir "$place.part"
    clean_ours fuzz/Cargo.toml --target-dir "$place.part/fuzz-none" --release \
        --target "$(rustc -vV | sed -n 's/^host: //p')"
    rm -rf -- "$place.part"/wheels "$place.part/mutants"
    mv -- "$place.part" "$place"
    echo "kept: $(du -sh "$place" | cut -f 1)"
    ;;
*)
    echo "usage: tools/kept_crates.sh take | keep" >&2
    exit 2
    ;;
esac
