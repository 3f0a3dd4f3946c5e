"""Converts a rate per flow, as iperf3 uses it, to the rate of all flows together."""

from __future__ import annotations

from typing import Any

from lanlab.cli.levels import levels_of
from lanlab.errors import UsageError
from lanlab.units import parse_rate_bps

_OPTION = "--flow-rate"
#: Means no limit in iperf3.
_NO_LIMIT = 0
_MOST_RATES = 10_000


def of_all_flows(text: str, given: dict[str, Any]) -> tuple[int, ...] | int | None:
    """
    The rate of all flows of a condition together, bit/s.

    Args:
        text: One rate per flow, a list or a range; 0 means no limit.
        given: The parameters as typed.

    Raises:
        UsageError: Another rate is given, or the number of flows is not a single number.
    """
    from lanlab.workloads import workload
    from lanlab.workloads.definitions import definitions

    for key, option in (("rate_bps", "--rate"), ("rate_messages_per_s", "--message-rate")):
        if given[key] is not None:
            raise UsageError(
                f"{_OPTION} and {option} cannot be used together", hint="use only one of them"
            )
    known = definitions(workload("stream").Parameters)
    flows = list(levels_of(known["flows"], given["flows"] or 1))
    if len(flows) > 1:
        raise UsageError(
            f"{_OPTION} needs a single number of flows; found {len(flows)}",
            hint="give --rate, the total of all flows",
        )
    levels = levels_of(known["rate_bps"], text)
    if levels.count > _MOST_RATES:
        raise UsageError(f"{_OPTION}: found {levels.count:,} values; allowed: {_MOST_RATES:,}")
    rates = [parse_rate_bps(level) if isinstance(level, str) else int(level) for level in levels]
    if rates == [_NO_LIMIT]:
        return None
    every = tuple(rate * int(flows[0]) for rate in rates)
    return every if len(every) > 1 else every[0]
