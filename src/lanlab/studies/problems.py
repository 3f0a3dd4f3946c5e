"""Errors of a study file, worded so that its author can fix them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from lanlab.errors import BadStudy, closest
from lanlab.frozen import dataclass
from lanlab.roles import REVERSE_PREFIX

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from lanlab.workloads.definitions import Definition

_MOST_SHOWN = 5

#: Common wrong keys and values in study files, with the right ones.
_WORDS_MEANT = {
    **dict.fromkeys(("increasing", "up", "grows", "increase"), "rising"),
    **dict.fromkeys(("decreasing", "down", "shrinks", "decrease"), "falling"),
    **dict.fromkeys(("maximum", "highest", "largest", "most", "max"), "greatest"),
    **dict.fromkeys(("minimum", "lowest", "smallest", "min"), "least"),
    **dict.fromkeys(("tolerance", "within", "margin_percent", "margin_pct"), "margin_ratio"),
    **dict.fromkeys(("times", "by_factor", "at_least_times"), "by_ratio"),
    **dict.fromkeys(("at_least", "lower_bound", "minimum_value"), "min"),
    **dict.fromkeys(("at_most", "upper_bound", "maximum_value"), "max"),
    **dict.fromkeys(("left", "first", "lhs", "x"), "a"),
    **dict.fromkeys(("right", "second", "rhs", "y"), "b"),
}


@dataclass(frozen=True)
class Problem:
    #: Dotted key; experiments and values have their id in place of their index.
    key: str
    found: str
    allowed: str
    hint: str | None = None


def bad_study(file: str, problems: Sequence[Problem]) -> BadStudy:
    first, *others = problems
    error = BadStudy(file, first.key, first.found, first.allowed)
    hints = [first.hint] if first.hint else []
    hints += [
        f"also `{other.key}`: found {other.found}; allowed: {other.allowed}"
        for other in others[: _MOST_SHOWN - 1]
    ]
    if len(others) >= _MOST_SHOWN:
        hints.append(f"and {len(others) - _MOST_SHOWN + 1} more")
    error.hint = "\n".join(hints) or None
    return error


def show(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # more digits than Python prints
        text = "a number of thousands of digits"
    except RecursionError:
        text = "tables within tables without end"
    return text if len(text) <= 60 else f"{text[:57]}..."


def listed(names: Iterable[str]) -> str:
    """Names for the `allowed` part of a message."""
    return ", ".join(names) or "none"


def repeated(kind: str, ids: Iterable[str], what: str = "") -> Iterator[Problem]:
    for name, count in Counter(ids).items():
        if count > 1:
            yield Problem(f"{kind}.{name}.id", f"{count} {what}of this id", "one")


def unknown(
    key: str, names: Iterable[str], known: Iterable[str], most: int | None = None
) -> Iterator[Problem]:
    """
    Names that are not among the known ones.

    Args:
        key: Where they are; `*` stands for the name.
        most: Known names to show.
    """
    known = list(known)
    # Omit metrics of the second direction, which are named after those of the first.
    shown = [one for one in known if not one.startswith(REVERSE_PREFIX)]
    if most is not None and len(shown) > most:
        shown = [*shown[:most], "…"]
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            yield Problem(key.replace("*", name), f"unknown name {show(name)}", listed(shown), hint)


def did_you_mean(name: object, known: Iterable[str]) -> str | None:
    mistyped, names = str(name)[:100], list(known)
    if (meant := _WORDS_MEANT.get(mistyped.lower())) in names:
        return f"did you mean `{meant}`?"
    # A missing unit is the most likely mistake: `message_size` for `message_size_bytes`.
    longer = (entry for entry in names if entry.startswith(f"{mistyped}_"))
    close = next(longer, None) or closest(mistyped, names)
    return f"did you mean `{close}`?" if close else None


_OUT_OF_RANGE = {"greater_than", "greater_than_equal", "less_than", "less_than_equal"}


def allowed_by(detail: ErrorDetails, parameter: Definition | None = None) -> str:
    """The allowed values that a pydantic error names; for a parameter, its range."""
    if parameter is not None and detail["type"] in _OUT_OF_RANGE:
        return parameter.range
    kind, message, context = detail["type"], detail["msg"], detail.get("ctx", {})
    if kind == "missing":
        return "a value; this key is required"
    if kind == "literal_error":
        return str(context["expected"])
    if kind == "string_pattern_mismatch" and "[a-z0-9]" in str(context.get("pattern")):
        return "small letters and digits, in words joined by single hyphens"
    for opening in ("Input should be ", "Value error, ", "Input should "):
        message = message.removeprefix(opening)
    if kind == "too_short":
        return f"at least {context['min_length']}"
    # Python's names for TOML's types.
    return message.replace("tuple", "list").replace("dictionary", "table")
