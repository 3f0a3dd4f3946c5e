"""Options of `lanlab stations`: numbers of stations and of hosts."""

from __future__ import annotations

import re

from lanlab.errors import UsageError

_MOST_LEVELS = 100


def host_count(testbed: str, client_hosts: int | None) -> int:
    """
    Number of hosts of the testbed. Of real hosts, all that are named.

    Args:
        client_hosts: The number requested for a testbed whose hosts have no names.

    Raises:
        UsageError: It was requested for another testbed.
    """
    from lanlab.testbeds.registry import WITH_ANY_HOSTS, listed_hosts

    if client_hosts is not None:
        if testbed.partition(":")[0] not in WITH_ANY_HOSTS:
            raise UsageError(
                f"--client-hosts works only on the testbeds {' and '.join(WITH_ANY_HOSTS)}; found "
                f"`{testbed}`",
                hint="name each real host, e.g. `--from bob@pc1 --from carol@pc2`",
            )
        return 1 + client_hosts
    listed = listed_hosts(testbed)
    return 2 if listed is None else len(listed)


def level_list(text: str) -> tuple[int, ...]:
    """
    Parse numbers of stations, as in `1,2,4,8-10`. The result is sorted, without duplicates.

    Raises:
        UsageError: A part is not a number from 1 to 10,000, or there are too many.

    Examples:
        >>> level_list("4,1,2,8-10,4")
        (1, 2, 4, 8, 9, 10)
    """
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        ends = (first, last) if dash else (first, first)
        if not all(re.fullmatch(r"\s*[0-9]{1,5}\s*", end) for end in ends):
            raise _no_level(part)
        low, high = (int(end) for end in ends)
        if not 1 <= low <= high <= 10_000:
            raise _no_level(part)
        if high - low >= _MOST_LEVELS:
            raise UsageError(f"--stations: found `{part}`; allowed: {_MOST_LEVELS} numbers")
        found.update(range(low, high + 1))
    if len(found) > _MOST_LEVELS:
        raise UsageError(f"--stations: found {len(found)} numbers; allowed: {_MOST_LEVELS}")
    return tuple(sorted(found))


def _no_level(part: str) -> UsageError:
    return UsageError(
        f"--stations: found `{part.strip()}`; allowed: numbers from 1 to 10000",
        hint="write e.g. `1,2,4,8-15`",
    )
