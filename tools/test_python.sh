#!/usr/bin/env bash
# Runs the Python tests, run by `make test`:
#
#     tools/test_python.sh [ARGUMENT OF PYTEST ...]
#
# First those that measure, one after the other, with nothing beside them; then the others, which
# compute or wait, side by side. What fails there runs once more with nothing beside it.
# LANLAB_LONG adds long tests: `all` of them, or share `K/N`. With arguments pytest runs once, as they say.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
[[ $# -eq 0 ]] || exec .venv/bin/pytest "$@"

readonly long=--long=${LANLAB_LONG:-none}
readonly measuring='figures or alone'
# Two for a processor: most of what these tests take is waiting, for servers, clocks and processes.
workers=$(.venv/bin/python -c 'import os; print(2 * min(6, os.cpu_count() or 1))')
# A file is one worker's. Those that take longest come first, so that none is begun near the end.
mapfile -t slow < <(awk '$1 !~ /^#/ && NF { print $2 }' tests/slow_files.txt)

# Runs a part; how long it took stands in a line of its own, for .ci/run.
part() {
    local name=$1 began=$SECONDS code=0
    shift
    "$@" || code=$?
    printf 'TOOK %d s  %s\n' $((SECONDS - began)) "$name"
    return "$code"
}

# Only files that say one of these words are read for the first part: to read all takes half a minute.
mapfile -t measuring_files < <(grep -rlE 'figure_test|mark\.alone' --include='test_*.py' tests | sort)

# What is skipped is named, with the reason, and what takes longest.
export LANLAB_FILE_TIMES=1
part "Python, one after the other" .venv/bin/pytest -rs --durations=10 "$long" -m "$measuring" \
    "${measuring_files[@]}"
part "Python, side by side" bash tools/test_side_by_side.sh "$workers" "$long" \
    -m "not ($measuring)" "${slow[@]}" tests
