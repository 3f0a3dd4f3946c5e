#!/usr/bin/env bash
# Runs what `make test` leaves out for its time, run by `make test-long` and `.ci/run`:
#
#     tools/test_long.sh all | TURN, a number from 0
#
# A turn is one of six parts, so that six landings in a row have run all of it. What ran is printed.
# Tests that are marked long run in `make test`, by LANLAB_LONG: `.ci/run` gives it a fourth in each of
# turns 2 to 5.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
readonly usage='usage: tools/test_long.sh all | TURN'
readonly choice=${1:?$usage}
[[ $choice =~ ^(all|[0-9]+)$ ]] || { echo "$usage" >&2 && exit 2; }
readonly TURNS=6 FUZZ_S=60

# The set-up of a user, from nothing: the engine as it is delivered, which names no folder of this machine.
cold_setup() {
    local place path
    place=$(mktemp -d "${TMPDIR:-/tmp}/lanlab-setup.XXXXXX")
    git clone --quiet -- . "$place/lanlab"
    env -u CARGO_PROFILE_RELEASE_LTO -u CARGO_PROFILE_RELEASE_CODEGEN_UNITS \
        -u CARGO_PROFILE_RELEASE_OPT_LEVEL -u CARGO_TARGET_DIR -u LANLAB_BUILT_ENGINE \
        make --no-print-directory -C "$place/lanlab" setup
    "$place/lanlab/.venv/bin/lanlab" stream --testbed loopback --time 0.5 \
        --store "$place/store.sqlite"
    for path in "$place" "${CARGO_HOME:-$HOME/.cargo}"; do
        if grep -qF -- "$path" "$place/lanlab/.venv/bin/lanlab-engine"; then
            echo "error: the engine names the folder that it was built in: $path" >&2
            return 1
        fi
    done
    rm -rf -- "$place"
}

# Targets number K, K + 4, K + 8 … of the fuzzer: each share a fourth of them.
fuzz_share() {
    local targets
    mapfile -t targets < <(bash tools/fuzz.sh --list | awk -v share="$1" '(NR - 1) % 4 == share')
    bash tools/fuzz.sh "$FUZZ_S" "${targets[@]}"
}

# A sample of small faults, other ones each day. A missed one is printed and no failure: it asks for a
# test (bench/results/reliability.md).
mutants() {
    local code=0
    nice -n 19 .venv/bin/python tools/mutants.py "$@" --seed "$(date +%j)" || code=$?
    [[ $code -le 1 ]]
}

part() {
    printf 'LONG %s\n' "$*"
    "$@"
}

case $choice in
all)
    part cold_setup
    part bash tools/reproducible.sh
    part bash tools/fuzz.sh "$FUZZ_S"
    part mutants statistics findings losses store --count 40
    ;;
*)
    case $((choice % TURNS)) in
    0) part cold_setup ;;
    # Paths and times are what would make bytes differ, at any level of optimisation.
    1) CARGO_PROFILE_RELEASE_OPT_LEVEL=0 part bash tools/reproducible.sh ;;
    2) part fuzz_share 0 && part mutants statistics --count 5 ;;
    3) part fuzz_share 1 && part mutants findings --count 5 ;;
    4) part fuzz_share 2 && part mutants losses --count 5 ;;
    5) part fuzz_share 3 && part mutants store --count 5 ;;
    esac
    ;;
esac
