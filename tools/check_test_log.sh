#!/usr/bin/env bash
# Prints which tests did not simply pass, and which files took more than their budget, run by `.ci/run`;
# an error if the former are many, or skipped for a reason that such a machine does not have, or if there
# is any of the latter:
#
#     tools/check_test_log.sh LOG
#
# LOG is what `make test` printed, with LANLAB_REQUIRE_PEERS=1 and as root.
set -euo pipefail

# Tests that failed, and passed when they were tried again. A regression that shows now and then fails
# more than a few. Those that failed while the host under this machine took its processors away count for
# themselves: how many they are is the host's doing.
readonly MOST_TRIED_AGAIN=2
readonly MOST_DISTURBED=6

# Processor seconds that a file of tests may take; exceptions are in tests/slow_files.txt. On a slower
# or busier machine it may take half more; beside other tests, and waiting, it may last three times that.
readonly BUDGET_S=5
readonly MOST_PER_BUDGET=1.5
readonly MOST_WALL_PER_BUDGET=3
readonly slow_files=$(dirname -- "${BASH_SOURCE[0]}")/../tests/slow_files.txt

# Why a test may be skipped there, as in the lines of pytest and of crates/servers/tests/peer_programs.
readonly MAY_BE_SKIPPED=(
    # Root may do what the test tries.
    'root may write everywhere'
    # A service has no such thing, or a testbed.
    'NFSv3 has no login'
    '`rpcbind` tells of one NFS server on a host'
    'loopback hosts are this machine'
    'a download has no directory of that name'
    'simulated hosts'
    # Another test is the same.
    'the same as on loopback'
    # What the system is, and no package changes.
    '/dev/net/tun, which cannot be opened by this user'
    'needs a network of its own'
    'takes that account for locked'
    'nobody cannot run /usr/bin/python3'
    'no IPv6'
    'this man has no --warnings'
    'this kernel does not let us choose it'
    'this system grants any buffer'
    'this SQLite does not make such a store'
    'this file system cannot hold the name either'
    # Debian's packages of both exclude each other.
    'server `proftpd`'
    'server `vsftpd`'
    'vsftpd: ProFTPD is installed in its place'
)

readonly log=$1
grep -E '^(AGAIN|SKIPPED) ' "$log" | sort | uniq -c || true
tests_tried_again() { sed -nE "s/^AGAIN (.*): $1 .*/\\1/p" "$log" | sort -u | wc -l; }
again=$(tests_tried_again 'it failed beside')
disturbed=$(tests_tried_again 'the host took')
skipped=$(awk -F '[][]' '/^SKIPPED \[/ { sum += $2 } END { print sum + 0 }' "$log")
echo "tried again: $again tests; allowed: $MOST_TRIED_AGAIN"
echo "tried again as the host took the processors: $disturbed tests; allowed: $MOST_DISTURBED"
echo "skipped: $skipped tests"
wrong=$(grep '^SKIPPED ' "$log" | grep -vF "$(printf '%s\n' "${MAY_BE_SKIPPED[@]}")" || true)
if [[ -n $wrong ]]; then
    printf 'error: skipped for a reason that is not in tools/check_test_log.sh:\n%s\n' "$wrong" >&2
    exit 1
fi
# Lines of tests/conftest.py: FILE 7.2 s 3.1 s tests/…, wall time and processor time.
over=$(awk -v budget="$BUDGET_S" -v most="$MOST_PER_BUDGET" -v per_budget="$MOST_WALL_PER_BUDGET" '
    NR == FNR { if ($1 ~ /^[0-9]/) allowed[$2] = $1; next }
    /^FILE / { wall[$6] += $2; processor[$6] += $4 }
    END {
        for (file in wall) {
            may = most * (file in allowed ? allowed[file] : budget)
            if (processor[file] > may || wall[file] > per_budget * may)
                printf "%s: %.1f s, of processors %.1f s; budget: %.1f s\n", \
                    file, wall[file], processor[file], may
        }
    }' "$slow_files" "$log")
if [[ -n $over ]]; then
    printf 'error: files of tests over their budget; make them quicker, mark tests `long`, or give %s\n%s\n' \
        'the reason in tests/slow_files.txt:' "$over" >&2
    exit 1
fi
if ((again > MOST_TRIED_AGAIN || disturbed > MOST_DISTURBED)); then
    echo "error: too many tests were tried again" >&2
    exit 1
fi
