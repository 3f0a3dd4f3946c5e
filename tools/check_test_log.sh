#!/usr/bin/env bash
# Prints which tests did not simply pass, run by `.ci/run`; an error if they are many:
#
#     tools/check_test_log.sh LOG
#
# LOG is what `make test` printed, with LANLAB_REQUIRE_PEERS=1 and as root.
set -euo pipefail

# Tests that failed, and passed when they were tried again. A host that takes the processors away fails
# some; a regression that shows now and then fails more.
readonly MOST_TRIED_AGAIN=8
# Tests that such a machine skips, each for the reason that it prints: root may do what they try, a
# service has no such thing, or another test is the same.
readonly MOST_SKIPPED=30

readonly log=$1
grep -E '^(AGAIN|SKIPPED) ' "$log" | sort | uniq -c || true
again=$(sed -n 's/^AGAIN \(.*\): the host took .*/\1/p' "$log" | sort -u | wc -l)
skipped=$(awk -F '[][]' '/^SKIPPED \[/ { sum += $2 } END { print sum + 0 }' "$log")
echo "tried again: $again tests; allowed: $MOST_TRIED_AGAIN"
echo "skipped: $skipped tests; allowed: $MOST_SKIPPED"
if ((again > MOST_TRIED_AGAIN || skipped > MOST_SKIPPED)); then
    echo "error: too many tests were tried again or skipped" >&2
    exit 1
fi
