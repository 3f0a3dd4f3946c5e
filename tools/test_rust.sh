#!/usr/bin/env bash
# Runs the Rust tests, run by `make test`:
#
#     tools/test_rust.sh [ARGUMENT OF CARGO TEST ...]
#
# As of the Python tests (tests/conftest.py): what failed while the host under this machine took its
# processors away is tried again, twice at most, and that is said.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
readonly attempts=3 spoiling_ticks=3

# Time that the host took of all processors, in ticks of the kernel (proc_pid_stat(5)).
taken() { awk '$1 == "cpu" { print $9 }' /proc/stat 2>/dev/null || echo 0; }

tests() { cargo test --workspace --locked --quiet "$@"; }

# What does not compile will not the next time.
tests --no-run
for ((attempt = 1; ; attempt++)); do
    before=$(taken) code=0
    tests "$@" || code=$?
    ticks=$(($(taken) - before))
    [[ $code -ne 0 && $attempt -lt $attempts && $ticks -ge $spoiling_ticks ]] || exit "$code"
    echo "AGAIN Rust tests: the host under this machine took $ticks ticks of its processors meanwhile"
done
