#!/usr/bin/env bash
# Runs the Python tests, run by `make test`:
#
#     tools/test_python.sh [ARGUMENT OF PYTEST ...]
#
# First those that measure, one after the other, with nothing beside them; then the others, which
# compute or wait, side by side. What fails there runs once more with nothing beside it.
# With arguments pytest runs once, as they say.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
[[ $# -eq 0 ]] || exec .venv/bin/pytest "$@"

# Where something is measured that a busy machine could change, and what there does not.
readonly alone=(tests/bench tests/engine tests/run tests/testbeds tests/workloads)
readonly beside=(
    tests/bench/test_{copy_clients,soak,soaks_that_run}.py
    tests/engine/test_{engine_bad_requests,engine_contract,engine_process,lying_engine}.py
    tests/engine/test_hostile_crowds.py
    tests/run/test_{failed_trials,installed_servers,new_run,resume_run,simulated_run}.py
    tests/testbeds/servers
    tests/testbeds/test_{ray,ssh,ssh_faults}.py
    tests/workloads/test_copy{,_cut,_kept,_refused,_wrong}.py
    tests/workloads/test_{driver_programs,exchange,lock_files,lying_results}.py
    tests/workloads/test_station_{steady,sums}.py
)
# A file is one worker's. Those that take longest come first, so that none is begun near the end.
readonly longest=(
    tests/bench/test_soaks_that_run.py
    tests/faults
    tests/testbeds/servers
    tests/testbeds/test_{ray,ssh,ssh_faults}.py
    tests/engine/test_hostile_crowds.py
    tests/workloads/test_copy{,_cut,_wrong,_kept}.py
)
others=("${longest[@]}" "${beside[@]}" src)
shopt -s nullglob
for path in tests/*/ tests/test_*.py; do
    [[ " ${alone[*]} " == *" ${path%/} "* ]] || others+=("$path")
done
# Two for a processor: most of what the others take is waiting, for servers, clocks and processes.
workers=$(.venv/bin/python -c 'import os; print(2 * min(6, os.cpu_count() or 1))')

# Runs a part; how long it took stands in a line of its own, for .ci/run.
part() {
    local name=$1 began=$SECONDS code=0
    shift
    "$@" || code=$?
    printf 'TOOK %d s  %s\n' $((SECONDS - began)) "$name"
    return "$code"
}

# What is skipped is named, with the reason, and what takes longest.
part "Python, one after the other" .venv/bin/pytest -rs --durations=20 "${alone[@]}" \
    "${beside[@]/#/--ignore=}"
part "Python, side by side" bash tools/test_side_by_side.sh "$workers" "${others[@]}"
