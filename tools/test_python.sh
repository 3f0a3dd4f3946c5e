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

# What measures something that a busy machine could change.
readonly alone=(tests/bench tests/engine tests/run tests/testbeds tests/workloads)
# One more than there are processors: many of the others wait.
workers=$(.venv/bin/python -c 'import os; print(1 + min(7, os.cpu_count() or 1))')

# What is skipped is named, with the reason.
.venv/bin/pytest -rs "${alone[@]}"
.venv/bin/pytest -rs --numprocesses "$workers" --dist loadfile "${alone[@]/#/--ignore=}"
