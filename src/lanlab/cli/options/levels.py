"""Values of options: lists and ranges, as in `64,512,1408` and `64..8192/x2`, and their checks."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from lanlab.cli.options.checks import check_number
from lanlab.errors import UsageError
from lanlab.frozen import dataclass
from lanlab.store import Level
from lanlab.units import of_option, parse_rate_bps, parse_share, parse_size_bytes, parse_time_s

if TYPE_CHECKING:
    from pydantic import ValidationError

    from lanlab.workloads.definitions import Definition

#: Parsers of values, by the placeholder in `--help`.
_PARSERS: Mapping[str, Callable[[str], float]] = {
    "RATE": parse_rate_bps,
    "SIZE": parse_size_bytes,
    "TIME": parse_time_s,
    "SHARE": parse_share,
}
_WITH_COMMAS = frozenset({"congestion_control"})
#: Digits to which levels of a range are rounded, so that 0.1 + 0.2 is 0.3.
_DIGITS = 12
_FACTOR = re.compile(r"\s*[x*]\s*([0-9.]+)\s*")
#: A number of this length is rarely the whole part of one with a decimal comma.
_DIGITS_OF_A_LIST = 3
#: The implied unit of a value without one, as users type it.
_PLAIN_UNITS: Mapping[str, str] = {"RATE": "bit/s", "SIZE": "B", "TIME": "s", "SHARE": "%"}
_DIGITS_WITH_UNIT = re.compile(r"([0-9]+)\s*([^0-9\s.].*)?")


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, including `high` if a step reaches it exactly."""

    low: float
    high: float
    #: Added to a level, or multiplied by it, to give the next.
    step: float
    multiplies: bool
    is_whole: bool

    @property
    def steps(self) -> float:
        if self.multiplies:
            return math.log(self.high / self.low) / math.log(self.step)
        return (self.high - self.low) / self.step

    @property
    def count(self) -> int:
        return math.floor(self.steps + 1e-9) + 1

    def __iter__(self) -> Iterator[Level]:
        for place in range(self.count):
            found = self.low * self.step**place if self.multiplies else self.low + place * self.step
            yield round(found) if self.is_whole else round(found, _DIGITS)


@dataclass(frozen=True)
class Levels:
    option: str
    parts: tuple[Level | Range, ...]

    @property
    def count(self) -> int:
        """The number of values, which may be too many to list."""
        return sum(part.count if isinstance(part, Range) else 1 for part in self.parts)

    def __iter__(self) -> Iterator[Level]:
        for part in self.parts:
            if isinstance(part, Range):
                yield from part
            else:
                yield part


def levels_of(one: Definition, given: object) -> Levels:
    """
    The values given to an option.

    Args:
        given: Text of the command line, or a value that the command itself made.
    """
    option = one.option or one.key
    # Names of files and servers may contain commas.
    is_one = one.option is None or "FILE" in one.metavar or "://" in str(given)
    if is_one or not isinstance(given, str):
        return Levels(option, (cast("Level", given),))
    separator = ";" if one.key in _WITH_COMMAS else ","
    parts = [part.strip() for part in given.split(separator)]
    if len(parts) > 1 and not all(parts):
        raise UsageError(
            f"{option}: found `{given}`, which has an empty part; allowed: values separated by "
            f"`{separator}`",
            hint=f"remove the extra `{separator}`",
        )
    if separator == "," and one.kind in (int, float) and not one.choices:
        check_commas(option, parts, None if one.unit is None else one.unit.metavar)
    return Levels(option, tuple(_level(one, option, part) for part in parts))


def check_commas(option: str, parts: Sequence[str], unit: str | None) -> None:
    """
    Check that numbers between commas are a list, and not one number with a decimal comma, as in
    most of Europe (`1,5M`), or with grouped digits (`1,000`).

    Args:
        unit: As in `--help`, `RATE`; `None` if the numbers have no unit.
    """
    found = ",".join(parts)
    read = [_DIGITS_WITH_UNIT.fullmatch(part) for part in parts]
    if len(parts) < 2 or not all(read):
        return
    (first, first_unit), *others = [(one[1], one[2] or "") for one in read if one is not None]
    plain = _PLAIN_UNITS.get(unit or "", "")
    if any(len(digits) > 1 and digits[0] == "0" for digits, _ in others):
        # Numbers of a list have no leading zeros.
        is_decimal = len(others) == 1 and first == "0"
        one_number = found.replace(",", "." if is_decimal else "")
        hint = f"write `{option} {one_number}`, or a list without zeros before its numbers"
    elif (
        len(parts) == 2 and unit is not None and _may_be_decimal(unit, first, first_unit, parts[1])
    ):
        decimal = f"{first}.{others[0][0]}{others[0][1]}"
        second = f"{others[0][0]}{others[0][1] or plain}"
        hint = f"write `{option} {decimal}`, or as a list `{option} {first}{plain},{second}`"
    else:
        return
    raise UsageError(
        f"{option}: found `{found}`, which may be one number or a list of {len(parts)}; allowed: "
        "numbers with a decimal point, a list between commas",
        hint=hint,
    )


def _may_be_decimal(unit: str, first: str, first_unit: str, second: str) -> bool:
    """Whether two parts may be one number, because only the second has a unit. Not if the first is
    large and both are of similar size (`512,1k`).
    """
    if first_unit:
        return False
    if second.isdigit():
        return first == "0" and unit in ("TIME", "SHARE")
    try:
        ratio = _PARSERS[unit](second) / (_PARSERS[unit](first) or 1e-9)
    except UsageError:
        return False
    return len(first) < _DIGITS_OF_A_LIST or not 0.1 <= ratio <= 100


def _level(one: Definition, option: str, text: str) -> Level | Range:
    is_number = one.kind in (int, float) and not one.choices
    if is_number and ".." in text:
        return _range(one, option, text)
    if one.kind is int and one.choices:
        check_number(option, text, int)
        return int(text)
    # The model parses values with a unit, and its errors name the unit.
    return _number(one, option, text) if is_number and one.unit is None else text


def _number(one: Definition, option: str, text: str) -> float:
    if one.unit is not None:
        return _PARSERS[one.unit.metavar](text)
    check_number(option, text, one.kind)
    return int(text) if one.kind is int else float(text)


def _range(one: Definition, option: str, text: str) -> Range:
    low_text, _, rest = text.partition("..")

    def wrong(fault: str = "") -> UsageError:
        return UsageError(
            f"{option}: found `{text}`{fault}; allowed: a range with its step, from low to high",
            hint=f"write `{option} LOW..HIGH/STEP`, or `{option} LOW..HIGH/x2` to double each "
            "value",
        )

    for end, step_text in _cuts(rest):
        factor = _FACTOR.fullmatch(step_text)
        try:
            low, high = _number(one, option, low_text), _number(one, option, end)
            step = float(factor[1]) if factor else _number(one, option, step_text)
        except (UsageError, ValueError):
            continue
        least = 1 if factor else 0
        if not (0 <= low <= high and math.isfinite(high) and least < step < math.inf):
            fault = ", which goes down" if low > high else ""
            raise wrong(fault or f", whose step is not above {least}" * (step <= least))
        if factor and low == 0:
            raise wrong(", which begins at 0 and has a factor")
        found = Range(low, high, step, factor is not None, one.kind is int)
        if not math.isfinite(found.steps):
            raise wrong(", whose step is too small")
        if low < high and found.count == 1:
            raise wrong(f", whose first step leads beyond {end.strip()}")
        return found
    raise wrong()


def _cuts(rest: str) -> Iterator[tuple[str, str]]:
    """Each way to split `10MB/s/1MB/s` into an end and a step, because units contain slashes."""
    for place in (found.start() for found in re.finditer("/", rest)):
        yield rest[:place], rest[place + 1 :]


_FLOW_RATE = "--flow-rate"
#: Means no limit in iperf3.
_NO_LIMIT = 0
_MOST_RATES = 10_000


def of_all_flows(text: str, given: dict[str, object]) -> tuple[int, ...] | int | None:
    """
    The rate of all flows of a condition together, bit/s.

    Args:
        text: One rate per flow, a list or a range; 0 means no limit.
    """
    from lanlab.workloads import workload
    from lanlab.workloads.definitions import definitions

    for key, option in (("rate_bps", "--rate"), ("rate_messages_per_s", "--message-rate")):
        if given[key] is not None:
            raise UsageError(
                f"{_FLOW_RATE} and {option} cannot be used together", hint="use only one of them"
            )
    known = definitions(workload("stream").Parameters)
    flows = list(levels_of(known["flows"], given["flows"] or 1))
    if len(flows) > 1:
        raise UsageError(
            f"{_FLOW_RATE} needs a single number of flows; found {len(flows)}",
            hint="give --rate, the total of all flows",
        )
    levels = levels_of(known["rate_bps"], text)
    if levels.count > _MOST_RATES:
        raise UsageError(f"{_FLOW_RATE}: found {levels.count:,} values; allowed: {_MOST_RATES:,}")
    read = partial(of_option, _FLOW_RATE, parse_rate_bps)
    rates = [read(level) if isinstance(level, str) else int(level) for level in levels]
    if rates == [_NO_LIMIT]:
        return None
    every = tuple(rate * int(flows[0]) for rate in rates)
    return every if len(every) > 1 else every[0]


def checked(workload_name: str, parameters: Mapping[str, Level | None]) -> dict[str, Level]:
    """All parameters of a workload, in lanlab's units."""
    from pydantic import ValidationError

    from lanlab.workloads import workload

    given = {key: value for key, value in parameters.items() if value is not None}
    try:
        values = workload(workload_name).Parameters.model_validate(given)
    except ValidationError as error:
        raise _refused(error, given, workload_name) from None
    except UnicodeEncodeError as error:
        # The refusal of a value that is not UTF-8.
        raise UsageError(error.object) from None
    return values.model_dump(exclude_none=True)


def _refused(error: ValidationError, given: Mapping[str, Level], name: str) -> UsageError:
    from lanlab.studies.problems import allowed_by
    from lanlab.workloads import workload
    from lanlab.workloads.definitions import definitions

    known = definitions(workload(name).Parameters)
    options = {key: one.option or key for key, one in known.items()}
    first = error.errors(include_url=False)[0]
    message = str(first["msg"]).removeprefix("Value error, ")
    # The parser's hint for a malformed quantity.
    notes = getattr(first.get("ctx", {}).get("error"), "__notes__", ())
    hint = notes[0] if notes else None
    if not first["loc"]:
        named = re.sub(r"\w+\b(?!/s)", lambda word: options.get(word[0], word[0]), message)
        return UsageError(named, hint=hint)
    key = str(first["loc"][0])
    option = options.get(key, key)
    if first["type"] == "value_error":
        # For an error of `lanlab.units`, replace the name of the quantity by the option.
        return UsageError(f"{option}: {message.partition(': ')[2]}", hint=hint)
    found = given.get(key, first["input"])
    return UsageError(f"{option}: found `{found}`; allowed: {allowed_by(first, known.get(key))}")
