"""
Make `docs/reference.md` from the tables of parameters, metrics and file services.

`--check` changes nothing and fails if the page differs from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from generated_page import write_or_check

from lanlab.services import SERVICES, Service
from lanlab.workloads import WORKLOADS
from lanlab.workloads.definitions import Definition, definitions
from lanlab.workloads.metrics import REVERSE_STREAM, Metric

TARGET = Path(__file__).resolve().parent.parent / "docs/reference.md"
_OPENING = """\
# Reference

Parameters and metrics of each workload, and the file services. Made by `make reference`; do not
edit.

A study file sets a parameter by its key, the command line by its option. Sizes may have a unit
(`64KiB`, `10MB`), as times (`250ms`), rates (`10M`, `500kB/s`) and shares (`70%`). A parameter
without an option is for studies. A metric without a name is called by the words of its key.
"""
_BOTH_WAYS = """\
With `traffic_direction` `both`, the results of the second direction of a `stream` have the same
keys behind `reverse_`, as `reverse_goodput_bps`.
"""
_BETTER = {"more": "more", "less": "less", None: ""}


def page() -> str:
    """The page as it should be."""
    parameters = {
        name: [_parameter(one) for one in definitions(kind.Parameters).values()]
        for name, kind in WORKLOADS.items()
    }
    metrics = {
        name: [_metric(one) for one in kind.metrics.values() if one.key not in REVERSE_STREAM]
        for name, kind in WORKLOADS.items()
    }
    parts = [
        _OPENING,
        *_chapters("parameters", ("key", "option", "value", "default", "what it does"), parameters),
        *_chapters("metrics", ("key", "unit", "name", "better"), metrics),
        _BOTH_WAYS,
        "## File services\n",
    ]
    heads = ("name", "service", "port", "schemes", "first part of the path", "logs in", "identity")
    parts.append(_table(heads, map(_service, SERVICES.values())))
    return "\n".join(parts)


def _chapters(
    what: str, heads: Sequence[str], rows: Mapping[str, Sequence[Sequence[str]]]
) -> Iterator[str]:
    """A table for each set of workloads that have the same rows, those of several first."""
    of: dict[Sequence[str], tuple[str, ...]] = {}
    for name, each in rows.items():
        for row in each:
            of[row] = (*of.get(row, ()), f"`{name}`")
    tables: dict[tuple[str, ...], list[Sequence[str]]] = {}
    for row, names in of.items():
        tables.setdefault(names, []).append(row)
    for names, own in sorted(tables.items(), key=lambda table: -len(table[0])):
        yield f"## {', '.join(names)}: {what}\n"
        yield _table(heads, own)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(_lines(heads, rows)) + "\n"


def _lines(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    # Of which the same is said they have one row.
    for rest, alike in groupby(rows, lambda row: tuple(row[1:])):
        row = (", ".join(one[0] for one in alike), *rest)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def _parameter(one: Definition) -> Sequence[str]:
    kind = {bool: "yes or no", int: "whole number", float: "number", str: "text"}[one.kind]
    choices = ", ".join(f"`{each}`" for each in one.choices)
    names = [one.option_names, one.short, *(name for flag in one.flags for name in flag.names)]
    option = ", ".join(f"`{name}`" for name in names if name)
    default = str(one.default).lower() if isinstance(one.default, bool) else one.default_text
    return f"`{one.key}`", option, choices or one.range or kind, default or "", one.help


def _metric(one: Metric) -> Sequence[str]:
    return f"`{one.key}`", one.unit, one.name or "", _BETTER[one.better]


def _service(one: Service) -> Sequence[str]:
    schemes = ", ".join(f"`{each}://`" for each in one.schemes)
    return (
        f"`{one.name}`",
        one.title,
        str(one.port or ""),
        schemes or "",
        one.share or "",
        "yes" if one.has_users else "no",
        "certificate or host key" if one.has_identity else "",
    )


if __name__ == "__main__":
    write_or_check(TARGET, page, "reference", __doc__)
