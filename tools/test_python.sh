#!/usr/bin/env bash
# Runs the Python tests, run by `make test`:
#
#     tools/test_python.sh [--long | ARGUMENT OF PYTEST ...]
#
# First those that measure, one after the other, with nothing beside them; then those that judge times
# they wait for, one a processor; then the others, side by side. At most three that fail there are
# judged once more alone: their neighbours may have taken a port or the processors. `--long` adds the
# long ones. With other arguments pytest runs once, as they say.
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
processors=$(.venv/bin/python -c 'import os; print(min(6, os.cpu_count() or 1))')
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
# Where pytest keeps which tests failed, and what each file took of the processors.
readonly failed=$scratch/v/cache/lastfailed
export LANLAB_FILE_TIMES=$scratch/times
pytest() { .venv/bin/pytest -rsR --override-ini cache_dir="$scratch" "${long[@]}" "$@"; }
# Only files that use a mark are read: to read all takes ten seconds. Times of a machine scatter: such a
# test may be tried again.
marked() {
    local files
    mapfile -t files < <(grep -rl "mark\.$1" --include='test_*.py' tests | sort)
    pytest --durations=10 --reruns 2 --reruns-delay 2 "${@:2}" "${files[@]}"
}

marked figures -m figures
marked alone -m 'alone and not figures' --numprocesses "$processors" --dist loadfile

# Three for a processor, as for Rust's: they wait for servers, clocks and processes half of the time.
# A file is one worker's; tests/conftest.py has the slow ones come first.
rm -f -- "$failed"
code=0
pytest --durations=20 --numprocesses $((3 * processors)) --dist loadfile --no-loadscope-reorder \
    -m "not ($measuring)" tests || code=$?
if [[ $code -eq $tests_failed && $(grep -c '::' "$failed") -le $most_judged_alone ]]; then
    echo "judged once more, alone:"
    grep '::' "$failed"
    pytest --last-failed --last-failed-no-failures none -m "not ($measuring)" tests
else
    [[ $code -eq 0 ]] || exit "$code"
fi
.venv/bin/python tools/check_budgets.py "$LANLAB_FILE_TIMES"
