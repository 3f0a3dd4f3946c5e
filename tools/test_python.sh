#!/usr/bin/env bash
# Runs the Python tests, run by `make test`:
#
#     tools/test_python.sh [--long | ARGUMENT OF PYTEST ...]
#
# They run side by side. `--long` adds the long ones, and before them, one by one with nothing beside
# them, those that measure the machine. With SINCE=COMMIT, areas that use nothing of what has changed
# since are left out (tests/areas.toml). With other arguments pytest runs once, as they say.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
long=()
if [[ ${1-} == --long ]]; then
    long=(--long)
    shift
fi
[[ $# -eq 0 ]] || exec .venv/bin/pytest "$@"

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
# What each file took of the processors.
export LANLAB_FILE_TIMES=$scratch/times
code=0
pytest() { .venv/bin/pytest -rsR --override-ini cache_dir="$scratch" "${long[@]}" "$@"; }

# Only files that use the mark are read: to read all takes ten seconds.
if [[ -n ${long[*]} ]]; then
    mapfile -t files < <(grep -rl 'mark\.figures' --include='test_*.py' tests | sort)
    pytest --durations=10 -m figures "${files[@]}" || code=$?
fi

left_out=()
if [[ -n ${SINCE:-} ]]; then
    read -ra left_out <<<"$(.venv/bin/python tools/changed_tests.py "$SINCE" --pytest)"
    echo "left out: ${#left_out[@]} files of areas without a change since $SINCE"
fi
# Three for a processor, as for Rust's: they wait for servers, clocks and processes half of the time.
# A file is one worker's; tests/conftest.py has the slow ones come first.
workers=$(.venv/bin/python -c 'import os; print(3 * min(6, os.cpu_count() or 1))')
pytest --durations=20 --numprocesses "$workers" --dist loadfile --no-loadscope-reorder \
    -m 'not figures' "${left_out[@]}" tests || code=$?
.venv/bin/python tools/check_budgets.py "$LANLAB_FILE_TIMES" || code=$?
exit "$code"
