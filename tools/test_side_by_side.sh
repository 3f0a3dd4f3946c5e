#!/usr/bin/env bash
# Runs Python tests side by side, run by `tools/test_python.sh`:
#
#     tools/test_side_by_side.sh WORKERS ARGUMENT OF PYTEST ...
#
# What fails runs once more with nothing beside it: its neighbours may have taken the processors, or a
# port, as the host may (tests/support/quiet_machine.py). Each such test is named in a line of AGAIN.
set -euo pipefail

# More than a few did not fail for their neighbours.
readonly MOST_TRIED_AGAIN=3
# https://docs.pytest.org/en/stable/reference/exit-codes.html
readonly TESTS_FAILED=1

readonly workers=$1
shift
readonly pytest=$(dirname -- "${BASH_SOURCE[0]}")/../.venv/bin/pytest

# Where pytest keeps which tests failed.
cache=$(mktemp -d)
trap 'rm -rf -- "$cache"' EXIT
run() { "$pytest" -rs --override-ini cache_dir="$cache" "$@"; }

code=0
run --durations=20 --numprocesses "$workers" --dist loadfile --no-loadscope-reorder "$@" || code=$?
[[ $code -eq $TESTS_FAILED ]] || exit "$code"
failed=$("$(dirname -- "$pytest")/python" -c \
    'import json, sys; print("\n".join(json.load(open(sys.argv[1]))))' "$cache/v/cache/lastfailed")
(($(wc -l <<<"$failed") <= MOST_TRIED_AGAIN)) || exit "$code"
run --last-failed --last-failed-no-failures none "$@"
sed 's/^/AGAIN /; s/$/: it failed beside other tests, and passed alone/' <<<"$failed"
