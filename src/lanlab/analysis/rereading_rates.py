"""Whether printed rates follow from what was moved and how long it took."""

from __future__ import annotations

from collections.abc import Mapping

from lanlab.analysis.published import is_own, printed_trials
from lanlab.analysis.rereading_trials import printed_step, printed_trials_of
from lanlab.frozen import dataclass
from lanlab.studies import Level, Published, PublishedValue

_AMOUNTS = ("transfer_bytes", "dataset_bytes")
#: A kilo of bytes that is 1024, and how much more that is than 1000.
_BINARY = 1.024


@dataclass(frozen=True)
class CheckedRate:
    """A printed rate and the rate that amount and time make."""

    rate: PublishedValue
    time: PublishedValue
    amount_bytes: float
    #: What amount and time make at least and at most, bit/s: printed times are rounded.
    low_bps: float
    high_bps: float
    #: Whether the printed rate, as far as it was printed, is among these.
    follows: bool
    #: The same if a kilobyte were 1000 bytes; `None` where it is not read as 1024.
    follows_with_1000: bool | None
    #: Whether the time is that of all trials, as exact as they are, and not the printed mean.
    from_trials: bool


def checked_rates(published: Published) -> tuple[CheckedRate, ...]:
    """
    Each printed rate of which amount and time were printed for the same condition, in the order of
    the file. Approximate numbers are left out.
    """
    own = [v for v in published.value if is_own(v)]
    means = [value for value in own if value.statistic == "mean" and value.bound is None]
    times = {repr(sorted(v.condition.items())): v for v in means if v.metric == "elapsed_ns"}
    # Amounts describe the test-bed, and may be stated there.
    amounts = [
        value
        for value in published.value
        if value.metric in _AMOUNTS and value.status != "wrong" and value.kind != "restated"
    ]
    complete = {
        repr(sorted(one.condition.items())): one.mean
        for one in printed_trials_of(published)
        if one.metric == "elapsed_ns" and len(one.values) == printed_trials(published)
    }
    found = []
    for rate in means:
        key = repr(sorted(rate.condition.items()))
        time, amount = times.get(key), _amount(amounts, rate.condition)
        if rate.metric == "goodput_bps" and time is not None and amount is not None:
            found.append(_checked(rate, time, amount, complete.get(key)))
    return tuple(found)


def _checked(
    rate: PublishedValue, time: PublishedValue, amount_bytes: float, exact_ns: float | None
) -> CheckedRate:
    half = 0.0 if exact_ns is not None else printed_step(time) / 2
    elapsed = time.si if exact_ns is None else exact_ns
    low, high = (8e9 * amount_bytes / (elapsed + off) for off in (half, -half))
    unit = rate.si / rate.value if rate.value else 1.0
    is_binary = rate.unit[:1] in ("K", "k") and unit % 1024 == 0
    return CheckedRate(
        rate=rate,
        time=time,
        amount_bytes=amount_bytes,
        low_bps=low,
        high_bps=high,
        follows=_meets(rate.si, printed_step(rate), low, high),
        follows_with_1000=_meets(rate.si / _BINARY, printed_step(rate) / _BINARY, low, high)
        if is_binary
        else None,
        from_trials=exact_ns is not None,
    )


def _meets(si: float, step: float, low: float, high: float) -> bool:
    """Whether a printed number, rounded to its step, can be one between two ends."""
    # A half is rounded either way; beyond it nothing is but the last bits of a float.
    room = step / 2 * (1 + 1e-9)
    return si - room <= high and si + room >= low


def _amount(amounts: list[PublishedValue], condition: Mapping[str, Level]) -> float | None:
    given = condition.get("bytes")
    if isinstance(given, int | float):
        return float(given)
    fitting = {
        value.si
        for value in amounts
        if value.condition and value.condition.items() <= condition.items()
    }
    return fitting.pop() if len(fitting) == 1 else None
