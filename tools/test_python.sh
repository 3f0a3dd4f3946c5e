#!/usr/bin/env bash
# Runs the Python tests, run by `make test`:
#
#     tools/test_python.sh [--long | ARGUMENT OF PYTEST ...]
#
# First those that measure, one after the other, with nothing beside them; then the others, which
# compute or wait, side by side. At most three that fail there are judged once more alone: their
# neighbours may have taken a port or the processors. `--long` adds the long ones. With other arguments
# pytest runs once, as they say.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
long=()
if [[ ${1-} == --long ]]; then
    long=(--long)
    shift
fi
[[ $# -eq 0 ]] || exec .venv/bin/pytest "$@"

readonly measuring='figures or alone' most_judged_alone=3
# https://docs.pytest.org/en/stable/reference/exit-codes.html
readonly tests_failed=1
# Two for a processor: most of what these tests take is waiting, for servers, clocks and processes.
workers=$(.venv/bin/python -c 'import os; print(2 * min(6, os.cpu_count() or 1))')
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
# Where pytest keeps which tests failed, and what each file took of the processors.
readonly failed=$scratch/v/cache/lastfailed
export LANLAB_FILE_TIMES=$scratch/times
pytest() { .venv/bin/pytest -rsR --override-ini cache_dir="$scratch" "${long[@]}" "$@"; }

# Only files that use these marks are read for the first part: to read all takes half a minute. Figures
# of a machine scatter: such a test may be tried again.
mapfile -t files < <(grep -rlE 'mark\.(figures|alone)' --include='test_*.py' tests | sort)
pytest --durations=10 --reruns 2 --reruns-delay 2 -m "$measuring" "${files[@]}"

# A file is one worker's; tests/conftest.py has the slow ones come first.
rm -f -- "$failed"
code=0
pytest --durations=20 --numprocesses "$workers" --dist loadfile --no-loadscope-reorder \
    -m "not ($measuring)" tests || code=$?
if [[ $code -eq $tests_failed && $(grep -c '::' "$failed") -le $most_judged_alone ]]; then
    echo "judged once more, alone:"
    grep '::' "$failed"
    pytest --last-failed --last-failed-no-failures none -m "not ($measuring)" tests
else
    [[ $code -eq 0 ]] || exit "$code"
fi
.venv/bin/python tools/check_budgets.py "$LANLAB_FILE_TIMES"
