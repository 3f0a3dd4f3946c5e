#!/usr/bin/env bash
# Runs the Python tests, run by `make test`:
#
#     tools/test_python.sh [ARGUMENT OF PYTEST ...]
#
# First those that measure, one after the other, with nothing beside them; then the others, which
# compute or wait, side by side. With arguments pytest runs once, as they say.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
[[ $# -eq 0 ]] || exec .venv/bin/pytest "$@"

# What measures nothing that a busy machine could change; those that take longest begin. A new folder
# is taken to measure.
readonly together=(
    tests/faults tests/bench/test_soak.py tests/store tests/cli tests/analysis tests/figures
    tests/plan tests/report tests/studies tests/support tests/tools tests/units src
)
# One more than there are processors: many of the tests wait.
workers=$(.venv/bin/python -c 'import os; print(1 + min(7, os.cpu_count() or 1))')

# What is skipped is named, with the reason.
.venv/bin/pytest -rs "${together[@]/#/--ignore=}" tests
.venv/bin/pytest -rs --numprocesses "$workers" --dist loadfile "${together[@]}"
