"""The numbers that a machine of a simulation has: their names, units and ranges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lanlab.engine.contract import properties
from lanlab.frozen import dataclass


@dataclass(frozen=True)
class NumberKind:
    help: str
    unit: str
    least: float
    most: float
    #: Whether only whole numbers are allowed.
    is_whole: bool = False
    #: Whether every machine must have the number, defined or inherited.
    is_required: bool = False
    #: Keys of the number in a request to an engine; empty for numbers that only Python code uses.
    path: tuple[str, ...] = ()
    #: Engine units per study unit.
    factor: float = 1
    #: Default in the study's unit; `None` if it has none.
    default: float | None = None
    is_boolean: bool = False

    @property
    def is_cost(self) -> bool:
        """Whether it is processor time, which a faster clock shortens."""
        return self.unit in ("µs", "ns/B") and "disk" not in self.path

    @property
    def range(self) -> str:
        what = "a whole number" if self.is_whole else "a number"
        unit = f" {self.unit}" if self.unit else ""
        return f"{what}, {_plain(self.least)} to {_plain(self.most)}{unit}"

    def allows(self, value: float) -> bool:
        if self.is_whole and value != int(value):
            return False
        return self.least <= value <= self.most

    def nearest(self, value: float) -> float:
        whole = round(value) if self.is_whole else value
        return float(min(max(whole, self.least), self.most))

    def sent(self, value: float) -> float | bool:
        """Convert to the engine's unit and type."""
        if self.is_boolean:
            return bool(value)
        return round(self.factor * value) if self.is_whole or self.factor != 1 else float(value)


#: By the suffix of a name: the unit, and the number of engine units in it.
_UNITS = {
    "_ns_per_byte": ("ns/B", 1e3),
    "_us": ("µs", 1e3),
    "_ms": ("ms", 1e6),
    "_bytes": ("B", 1),
    "_frames": ("frames", 1),
    "_blocks": ("blocks", 1),
    "_sectors": ("sectors", 1),
}


def _plain(number: float) -> str:
    """Format without an exponent."""
    return f"{number:,.9f}".rstrip("0").rstrip(".")


def _of_engine(
    group: str, prefix: str = "", when: str = "", path: tuple[str, ...] = ()
) -> Iterator[tuple[str, NumberKind]]:
    """The numbers in a group of the engine's schema, by their names in studies."""
    for key, row in properties(group).items():
        name = "_".join(filter(None, (prefix, row.get("study", key))))
        # An optional group is in `anyOf`.
        for one in row.get("anyOf", [row]):
            if "$ref" in one:
                when_ = row["help"] if row["help"].startswith("of ") else ""
                inner = one["$ref"].rpartition("/")[2]
                yield from _of_engine(inner, row.get("study", ""), when_, (*path, key))
        if "type" not in row:
            continue
        unit, factor = next((_UNITS[end] for end in _UNITS if name.endswith(end)), ("", 1))
        is_boolean = row["type"] == "boolean"
        default = row.get("default")
        is_required = "stated" in row
        of_study = None if default is None else default / factor
        says = of_study is not None and not (is_required or when or "CPU" in row["help"])
        yield (
            name,
            NumberKind(
                help=f"{row['help']} {when}".rstrip()
                + (f" Default: {_plain(of_study or 0)}." if says else ""),
                unit=unit,
                least=0 if is_boolean else row["minimum"] / factor,
                most=1 if is_boolean else row["maximum"] / factor,
                is_whole=factor == 1 and "number" not in row["type"],
                is_required=is_required,
                path=(*path, key),
                factor=factor,
                default=of_study,
                is_boolean=is_boolean,
            ),
        )


NUMBERS: Mapping[str, NumberKind] = {
    **dict(sorted(_of_engine("SimulatedMachine"))),
    "clock_mhz": NumberKind(
        "Processor clock. Scales the costs taken from the machine of `like`.", "MHz", 1e-6, 100_000
    ),
    "clock_exponent": NumberKind(
        "Exponent of (other clock / own clock) for costs of `like`.", "", 0, 3
    ),
    "cost_ratio": NumberKind("Factor for costs of `like`.", "", 1e-6, 1000),
    "outstanding_requests": NumberKind(
        "Requests in flight of an `echo` that does not set them. Default: 1.",
        "requests",
        1,
        16_384,
        is_whole=True,
    ),
    "sessions": NumberKind(
        "Server: sessions; more stations are refused. Default: number of machines.",
        "sessions",
        1,
        65_536,
        is_whole=True,
    ),
    "patience_ms": NumberKind(
        "Station: timeout of a file call. Default: `timeout_s`.", "ms", 1, 600_000
    ),
    "retries": NumberKind(
        "Station: retries of a file call. Default: those of the workload.",
        "retries",
        0,
        100,
        is_whole=True,
    ),
    "waits_on": NumberKind(
        "Station: 1: count a late call as an error and keep waiting. 0: repeat it over a new "
        "session. Default: 0.",
        "",
        0,
        1,
        is_whole=True,
    ),
}
COSTS = tuple(name for name, kind in NUMBERS.items() if kind.is_cost)
REQUIRED = tuple(name for name, kind in NUMBERS.items() if kind.is_required)


def most_waiting(numbers: Mapping[str, float]) -> float | None:
    """
    The limit of waiting blocks, if a machine's number of them exceeds its cache; else `None`.

    Examples:
        >>> most_waiting({"write_behind_blocks": 9, "cache_blocks": 4})
        4
        >>> most_waiting({"write_behind_blocks": 4, "cache_blocks": 4})
    """
    held = numbers.get("cache_blocks", 0)
    return held if numbers.get("write_behind_blocks", 0) > held else None
