"""
Descriptions of a workload's parameters, read from its model, which defines each once by
`parameter`.

The command line's options, the ranges in errors, and the reference's tables are generated from
these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo

from lanlab.frozen import dataclass

_SUFFIXES = ("_bytes", "_bps", "_ratio", "_s")


@dataclass(frozen=True)
class Unit:
    """The form of a quantity on the command line, and the unit of its number."""

    metavar: str
    symbol: str


@dataclass(frozen=True)
class Flag:
    """A flag that stands for a value of a parameter."""

    names: tuple[str, ...]
    value: str
    help: str


@dataclass(frozen=True)
class Definition:
    key: str
    help: str
    #: `None` for parameters that only studies can set.
    option: str | None
    #: Whether `--help` omits the option.
    is_hidden: bool
    #: `bool`, `int`, `float` or `str`.
    kind: type
    choices: tuple[str, ...]
    unit: Unit | None
    #: The placeholder in `--help`; empty: derived from its kind or choices.
    metavar: str
    default: Any
    #: For example `1 to 64`; empty if unbounded.
    range: str
    #: A second, short name of the option, such as `-t`; empty for none.
    short: str = ""
    #: Flags that stand for a value: name, value, and help.
    flags: tuple[Flag, ...] = ()
    #: The values that simulated machines support; empty for all.
    simulated: tuple[object, ...] = ()

    @property
    def is_on(self) -> bool:
        """Whether the parameter is on unless the command line disables it."""
        return self.kind is bool and self.default is True

    @property
    def option_names(self) -> str | None:
        if self.option is None or not self.is_on:
            return self.option
        return f"{self.option}/--no-{self.option.removeprefix('--')}"

    @property
    def default_text(self) -> str:
        if self.default is None or isinstance(self.default, bool):
            return ""
        if isinstance(self.default, str):
            return self.default
        return written(self.default, self.unit.symbol if self.unit else "")


def parameter(
    default: object,
    help: str,
    *,
    option: str | None = "",
    hidden: bool = False,
    metavar: str = "",
    short: str = "",
    flags: Sequence[Flag] = (),
    choices: Sequence[str] = (),
    simulated: Sequence[object] = (),
    **bounds: Any,
) -> Any:
    """
    A field of a workload's model: the only definition of a parameter.

    Args:
        default: In lanlab's units.
        help: What it does, for people; default and range are added automatically.
        option: Name on the command line; empty: derived from its key; `None`: only studies have it.
        hidden: Whether `--help` omits the option.
        metavar: The placeholder in `--help`; empty: derived from its type.
        short: A second name of the option, such as `-t`.
        flags: Flags that stand for one of its values.
        choices: Its values, if its type does not have them.
        simulated: The values that simulated machines support; empty for all.
        bounds: As in `pydantic.Field`.
    """
    extra: dict[str, Any] = {
        "option": option,
        "hidden": hidden,
        "metavar": metavar,
        "short": short,
        "flags": tuple(flags),
        "choices": tuple(choices),
        "simulated": tuple(simulated),
    }
    return Field(default=default, description=help, json_schema_extra=extra, **bounds)


@cache
def definitions(model: type[BaseModel]) -> Mapping[str, Definition]:
    return {key: _definition(key, field) for key, field in model.model_fields.items()}


def _definition(key: str, field: FieldInfo) -> Definition:
    extra: Any = field.json_schema_extra
    assert extra is not None, f"{key} is not defined by `parameter`"
    option = _option(key) if extra["option"] == "" else extra["option"]
    kind, choices, found = _kind(field.annotation)
    units = [one for one in (*field.metadata, *found) if isinstance(one, Unit)]
    return Definition(
        key=key,
        help=field.description or "",
        option=option,
        is_hidden=extra["hidden"],
        kind=kind,
        choices=choices or extra["choices"],
        unit=units[0] if units else None,
        metavar=extra["metavar"] or (units[0].metavar if units else ""),
        default=field.default,
        range=_range(field, units[0].symbol if units else ""),
        short=extra["short"],
        flags=extra["flags"],
        simulated=extra["simulated"],
    )


def _option(key: str) -> str:
    for suffix in _SUFFIXES:
        key = key.removesuffix(suffix)
    return "--" + key.replace("_", "-")


def _kind(annotation: Any) -> tuple[type, tuple[str, ...], list[object]]:
    """A quantity with units is `Annotated[int, …]`, an optional one a union with `None`."""
    if get_origin(annotation) is Annotated:
        plain, *metadata = get_args(annotation)
        return (*_kind(plain)[:2], metadata)
    if get_origin(annotation) is Literal:
        choices = get_args(annotation)
        return type(choices[0]), tuple(map(str, choices)), []
    parts = [part for part in get_args(annotation) if part is not type(None)]
    return _kind(parts[0]) if parts else (annotation, (), [])


def _range(field: FieldInfo, symbol: str) -> str:
    ends = {
        name: written(getattr(one, name), symbol if symbol == "B" else "")
        for one in field.metadata
        for name in ("ge", "gt", "le", "lt")
        if getattr(one, name, None) is not None
    }
    low = f"above {ends['gt']}" if "gt" in ends else ends.get("ge", "")
    high = f"below {ends['lt']}" if "lt" in ends else ends.get("le", "")
    joined = f"{low} to {high}" if low and high else low or high
    if "gt" in ends and "le" in ends:
        joined = f"{low}, at most {high}"
    return f"{joined} {symbol}" if joined and symbol != "B" and symbol else joined


def written(value: float, symbol: str) -> str:
    """
    The shortest exact text of a quantity.

    Examples:
        >>> written(1048576, "B"), written(0.5, "s"), written(3.0, "s"), written(10000, "")
        ('1 MiB', '0.5 s', '3 s', '10,000')
    """
    if symbol == "B":
        for size, name in ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
            if value >= size and value % size == 0:
                return f"{value // size:,} {name}"
    number = f"{value:,.0f}" if value == int(value) else f"{value:g}"
    return f"{number} {symbol}".rstrip()
