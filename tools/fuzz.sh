#!/usr/bin/env bash
# Feeds the parsers and state machines of the engine and of its file services with input that a fuzzer
# makes up: every target of fuzz/ in turn, SECONDS each (10 unless told), within bounded memory. Prints
# what was executed; fails if something did not hold, and says which octets show it.
#
#   tools/fuzz.sh [SECONDS] [TARGET...]
#   tools/fuzz.sh --list                   the names of the targets
#
# All targets are one program, which FUZZ_TARGET tells what to feed (fuzz/tests/targets.rs).
# It needs neither cargo-fuzz nor a nightly compiler, but a C++ compiler for libFuzzer. With
# FUZZ_TOOLCHAIN=nightly FUZZ_SANITIZER=address it also finds wrong accesses to memory. What is new
# is kept in $FUZZ_CORPUS/TARGET if that is set, else thrown away.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
seconds=${1:-10}
[[ $seconds == --list || $seconds =~ ^[1-9][0-9]*$ ]] || {
    echo "error: SECONDS: found \`$seconds\`; allowed: a whole number from 1" >&2
    exit 2
}
shift || true
readonly memory_mib=512 timeout_s=5
# What a driver's line may be is 64 KiB; a little more shows what is done with a longer one. A line of
# FTP may be 4 KiB.
readonly longest_line=70000 longest_dialogue=10000

if ! command -v "${CXX:-c++}" >/dev/null; then
    echo "error: need a C++ compiler to build libFuzzer, found no \`${CXX:-c++}\` on PATH" >&2
    echo "hint: on Debian and Ubuntu: apt install g++" >&2
    exit 2
fi

host=$(rustc -vV | sed -n 's/^host: //p')
# What cargo-fuzz passes: coverage of edges and comparisons, by the compiler's own pass; and lines for
# backtraces. fuzz/rustc.sh passes it on for lanlab's crates only.
flags=(-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0 -Cdebuginfo=1 --cfg fuzzing)
sanitizer=${FUZZ_SANITIZER:-none}
all_flags=()
[[ $sanitizer == none ]] || all_flags+=("-Zsanitizer=$sanitizer")
toolchain=()
[[ -z ${FUZZ_TOOLCHAIN:-} ]] || toolchain=("+$FUZZ_TOOLCHAIN")
built=target/fuzz-$sanitizer
LANLAB_FUZZ_FLAGS="${flags[*]}" RUSTC_WRAPPER=$PWD/fuzz/rustc.sh RUSTFLAGS="${all_flags[*]}" \
    CARGO_TARGET_DIR=$built cargo "${toolchain[@]}" build --quiet --locked \
    --release --manifest-path fuzz/Cargo.toml --target "$host"
readonly program=$built/$host/release/targets
mapfile -t all < <(FUZZ_TARGET=list "$program")
if [[ $seconds == --list ]]; then
    printf '%s\n' "${all[@]}"
    exit
fi
targets=("${@:-${all[@]}}")
for target in "${targets[@]}"; do
    if [[ " ${all[*]} " != *" $target "* ]]; then
        echo "error: TARGET: found \`$target\`; allowed: ${all[*]}" >&2
        exit 2
    fi
done

# Where files are memory, a target that serves a directory does not wait for a disk.
files=/tmp
[[ ! -w /dev/shm ]] || files=/dev/shm
scratch=$(mktemp -d "${TMPDIR:-$files}/lanlab fuzz.XXXXXX")
trap 'rm -rf -- "$scratch"' EXIT

# Feed one target, and write what came of it in a file.
feed() {
    local target=$1 length=4096 log=$scratch/$1.log found=nothing memory=$memory_mib features
    local corpus=${FUZZ_CORPUS:-$scratch/corpus}/$target
    mkdir -p "$corpus" fuzz/artifacts/"$target"
    [[ $target != engine_line ]] || length=$longest_line
    [[ $target != ftp_answers ]] || length=$longest_dialogue
    # An address sanitizer keeps what is freed for a while.
    [[ $sanitizer == none ]] || memory=$((4 * memory_mib))
    if ! TMPDIR=$scratch FUZZ_TARGET=$target "$program" "$corpus" "fuzz/corpus/$target" \
        -max_total_time="$seconds" -timeout="$timeout_s" -rss_limit_mb="$memory" \
        -max_len="$length" -artifact_prefix="fuzz/artifacts/$target/" -print_final_stats=1 \
        >"$log" 2>&1; then
        found=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
        : >"$scratch/failed"
    fi
    stat() { sed -n "s/^stat::$1: *//p" "$log" | tail -n 1; }
    features=$(sed -n 's/.* ft: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    printf '%-18s %14s %9s %9s %10s  %s\n' "$target" "$(stat number_of_executed_units)" \
        "$(stat average_exec_per_sec)" "${features:--}" "$(stat peak_rss_mb)" \
        "${found:-see below}" >"$scratch/$target.told"
    [[ $found == nothing ]] ||
        grep -E -A 12 'panicked|ERROR|SUMMARY' "$log" | head -n 40 >"$scratch/$target.found" || true
}

# One for each processor: a target has one thread.
processors=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
for target in "${targets[@]}"; do
    (($(jobs -rp | wc -l) < processors)) || wait -n || true
    feed "$target" &
done
wait
printf '%-18s %14s %9s %9s %10s  %s\n' target executions per_s features peak_MiB found
for target in "${targets[@]}"; do
    cat "$scratch/$target.told"
    [[ ! -e $scratch/$target.found ]] || cat "$scratch/$target.found" >&2
done
awk '{ all += $2 } END { printf "%-18s %14d\n", "all", all }' "$scratch"/*.told
[[ ! -e $scratch/failed ]]
