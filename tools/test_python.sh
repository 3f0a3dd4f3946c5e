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

# Where something is measured that a busy machine could change, and what there does not.
readonly alone=(tests/bench tests/engine tests/run tests/testbeds tests/workloads)
readonly beside=(
    tests/bench/test_copy_clients.py
    tests/engine/test_{engine_bad_requests,engine_contract,engine_process,lying_engine}.py
    tests/run/test_{failed_trials,installed_servers,new_run,resume_run}.py
    tests/testbeds/servers
    tests/workloads/test_copy{,_kept,_refused,_wrong}.py
    tests/workloads/test_{directions,driver_programs,exchange,lock_files,lying_results}.py
    tests/workloads/test_station_{steady,sums}.py
)
others=("${beside[@]}" src)
shopt -s nullglob
for path in tests/*/ tests/test_*.py; do
    [[ " ${alone[*]} " == *" ${path%/} "* ]] || others+=("$path")
done
# Two more than there are processors: many of the others wait.
workers=$(.venv/bin/python -c 'import os; print(2 + min(6, os.cpu_count() or 1))')

# What is skipped is named, with the reason, and what takes longest.
.venv/bin/pytest -rs --durations=10 "${alone[@]}" "${beside[@]/#/--ignore=}"
.venv/bin/pytest -rs --durations=10 --numprocesses "$workers" --dist loadfile "${others[@]}"
