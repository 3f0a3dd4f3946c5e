"""Names and units for people: the study's own if there are any, else lanlab's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from lanlab.analysis.trials.measured_where import measured_where
from lanlab.figures.number_text import counted, joined, number, plain, with_interval
from lanlab.frozen import dataclass
from lanlab.services import SERVICES, schemes
from lanlab.store import Level, RunRecord
from lanlab.workloads.copy.datasets import dataset_text
from lanlab.workloads.metrics import METRICS

if TYPE_CHECKING:
    from lanlab.analysis.trials.summary import Summary
    from lanlab.studies.model import Study
    from lanlab.studies.published import Published, PublishedValue

BOUNDS = {
    ">=": "at least",
    "<=": "at most",
    "<": "below",
    ">": "above",
    "~": "about",
    "<~": "almost",
}
#: A published number with one of these words already says that it is not exact.
_SAYS_SO = re.compile(r"about|appro|around|almost|~|at least|less than|more than|over|up to")
_FACTORS = {
    "rate_bps": "sending rate",
    "rate_messages_per_s": "sending rate",
    "message_size_bytes": "message size",
    "receive": "receiving",
    "ip_version": "IP version",
    "os": "operating system",
    "elapsed_wall_ns": "time by a wall clock",
}
_SELF_TOLD = frozenset({"direction", "traffic_direction"})
#: Displayed unit and its size, by inner unit.
_UNITS = {
    "bit/s": ("Mbit/s", 1e6),
    "ns": ("ms", 1e6),
    "ratio": ("%", 0.01),
    "messages/s": ("messages/s", 1.0),
    "ns/message": ("µs/message", 1e3),
    # The names of these metrics end in "a second".
    "1/s": ("", 1.0),
}
#: Longer lists of tried levels are given by their number and ends.
_MOST_TRIED = 5
#: For each unit, the units a thousand times smaller and larger.
_NEXT_UNITS = {"ms": ("µs", "s"), "Mbit/s": ("kbit/s", "Gbit/s")}
_SUFFIXES = {
    "_bps": "bit/s",
    "_ns": "ns",
    "_bytes": "B",
    "_ratio": "ratio",
    "_messages_per_s": "messages/s",
    "_s": "s",
}
_ABBREVIATIONS = {"rtt": "round-trip time", "p50": "median", "p99": "99th percentile", "cpu": "CPU"}


def readable_unit(unit: str, values: Sequence[float]) -> tuple[str, float]:
    """
    The best unit for values that appear together, and its size in their current unit.

    Examples:
        >>> readable_unit("ms", [0.165, 0.9]), readable_unit("ms", [0.165, 1.0])
        (('µs', 0.001), ('ms', 1.0))
        >>> readable_unit("Mbit/s", [3414.0, 1200.0]), readable_unit("Mbit/s", [3414.0, 941.0])
        (('Gbit/s', 1000.0), ('Mbit/s', 1.0))
    """
    sizes = [abs(value) for value in values if value]
    smaller, larger = _NEXT_UNITS.get(unit, ("", ""))
    if sizes and smaller and max(sizes) < 1:
        return smaller, 1e-3
    if sizes and larger and min(sizes) >= 1_000:
        return larger, 1e3
    return unit, 1.0


def usual_unit(unit: str) -> tuple[str, float]:
    """The unit to which `readable_unit` gave this one, and its size in this one."""
    for usual, (smaller, larger) in _NEXT_UNITS.items():
        if unit in (smaller, larger):
            return usual, 1e3 if unit == smaller else 1e-3
    return unit, 1.0


def obtained(study: Study) -> str:
    """How the numbers of a run of this study were obtained."""
    return "simulated" if study.is_simulated else "measured"


@dataclass(frozen=True)
class Quantity:
    """How a metric or factor is displayed: displayed value = inner value / `si_per_unit`."""

    key: str
    name: str
    unit: str
    si_per_unit: float
    si_unit: str

    def shown(self, value: float) -> float:
        return value / self.si_per_unit

    def interval(self, low: float | None, high: float | None) -> tuple[float, float] | None:
        """The ends of an interval in the displayed unit; `None` without one."""
        return None if low is None or high is None else (self.shown(low), self.shown(high))

    def mean_text(
        self, summary: Summary, study: Study, unit: str = "", *, over_seeds: bool = False
    ) -> str:
        """The mean with its interval, in the displayed unit, which `unit` adds to the text. A
        simulated mean has none, unless a heading says that it is `over_seeds` of a model.
        """
        if summary.mean is None:
            return "none"
        ends = self.interval(summary.ci_low, summary.ci_high)
        if study.is_simulated and not over_seeds:
            ends = None
        mean = self.shown(summary.mean)
        return with_interval(mean, ends, unit, is_simulated=study.is_simulated)

    def readable(self, values: Iterable[float | None]) -> Quantity:
        """The quantity in the best unit for all these values together."""
        unit, size = readable_unit(self.unit, [self.shown(v) for v in values if v is not None])
        return replace(self, unit=unit, si_per_unit=self.si_per_unit * size)

    def text(self, value: float, digits: int = 4) -> str:
        shown = self.readable([value])
        number_text = number(shown.shown(value), digits)
        return f"{number_text} {shown.unit}" if shown.unit else number_text


def quantity(study: Study | None, key: str) -> Quantity:
    """How a study displays a metric or factor; without a study, how lanlab does."""
    metric = METRICS.get(key)
    units = (unit for suffix, unit in _SUFFIXES.items() if key.endswith(suffix))
    si_unit = next(units, "") if metric is None else metric.unit
    name = (metric.name if metric else _FACTORS.get(key)) or name_of(key)
    own = study.units.get(key) if study else None
    if own is not None:
        return Quantity(key, own.name or name, own.unit, own.si_per_unit, si_unit)
    usual = _UNITS.get(si_unit, (si_unit, 1.0))
    unit, per = (metric.shown if metric else None) or usual
    return Quantity(key, name, unit, per, si_unit)


def tried_text(study: Study, factor: str, levels: Iterable[float]) -> str:
    """
    The levels of a numeric factor that were tried, as in `the 1, 4 and 15 stations tried`. An
    extreme over them may be exceeded between them.
    """
    ordered, shown = sorted(set(levels)), quantity(study, factor)
    texts = [plain(shown.shown(one)) for one in ordered]
    if len(texts) > _MOST_TRIED:
        text = f"{len(texts)} levels from {texts[0]} to {texts[-1]}"
    else:
        text = joined(texts)
    return f"the {text} {shown.unit or shown.name} tried"


def condition_text(study: Study, factors: Mapping[str, Level]) -> str:
    """A condition in a few words, as in `IPv4, 128 B`; empty if nothing varies."""
    return ", ".join(level_text(study, key, level) for key, level in factors.items())


def trial_text(study: Study, experiment: str, factors: Mapping[str, Level]) -> str:
    """A condition in a few words, with its experiment's title if the study has several."""
    title = study.titles[experiment] if len(study.titles) > 1 else ""
    return ", ".join(filter(None, (title, condition_text(study, factors))))


@lru_cache(maxsize=8)
def _published_by_id(study_id: str) -> Published | None:
    from lanlab.studies.load import known_studies, load_study
    from lanlab.studies.what_if import SUFFIX

    # A study with changed machines has the names of the unchanged one.
    known = study_id.removesuffix(SUFFIX)
    return load_study(known).published if known in known_studies() else None


def _published_of(study: Study) -> Published:
    from lanlab.studies.published import Published

    known = _published_by_id(study.id)
    return known or Published.model_validate(study.published or {"schema": 1})


def level_titles(study: Study) -> dict[str, dict[str, str]]:
    """Display names by factor and level."""
    found = {
        factor.name: {one.level: one.title for one in factor.levels if isinstance(one.level, str)}
        for factor in _published_of(study).factor
    }
    found["transport"] = {"tcp": "TCP", "udp": "UDP"}
    found["service"] = {name: one.title for name, one in SERVICES.items()}
    return {name: titles for name, titles in found.items() if titles}


def level_text(study: Study, key: str, level: Level) -> str:
    if key == "ip_version":
        return f"IPv{level}"
    if key == "transport":
        return str(level).upper()
    if key == "service":
        known = SERVICES.get(str(level))
        return str(level).upper() if known is None else known.title
    if key == "dataset":
        return dataset_text(str(level))
    if key == "server" and "://" in str(level):
        return str(level)
    if isinstance(level, bool):
        return name_of(key) if level else f"no {name_of(key)}"
    if isinstance(level, str):
        named = _published_of(study).named_level(key, level)
        if named is not None:
            return named.title
        return level if key in _SELF_TOLD else f"{name_of(key)} {level}"
    if key == "stations":
        return counted(int(level), "station")
    shown = quantity(study, key)
    text = plain(shown.shown(level))
    return f"{text} {shown.unit}" if shown.unit else f"{shown.name} {text}"


def server_names(levels: Sequence[Level]) -> dict[Level, str]:
    """Servers by what tells them apart: the service, the host or the folder."""
    services = {level: _service_of(str(level)) for level in levels}
    urls = {level: urlsplit(str(level)) for level in levels}
    hosts = {level: url.netloc.rpartition("@")[2] for level, url in urls.items()}
    places = {
        level: services[level] if url.scheme == "file" else f"{services[level]} {url.path}"
        for level, url in urls.items()
    }
    for named in (services, hosts, places):
        if len(set(named.values())) == len(levels) and all(named.values()):
            return named
    return {level: str(level) for level in levels}


def _service_of(server: str) -> str:
    if server.startswith("file:"):
        return unquote(urlsplit(server).path)
    found = schemes().get(server.partition("://")[0].lower()) or SERVICES.get(server)
    return found.title if found is not None else server


def link_text(run: RunRecord, conditions: Iterable[str | None] = ()) -> str:
    """Where a run measured; `conditions`: the links of what is shown, `None` for the run's."""
    where = measured_where(run)
    if where.testbed != run.testbed.get("name"):
        return f"{where.testbed}, {where.link}"
    own = where.link or "of no stated speed"
    links = [*dict.fromkeys(link or own for link in conditions)] or [own]
    return f"testbed {where.testbed}, link{'s' * (len(links) > 1)} {' and '.join(links)}"


def quoted(text: str) -> str:
    return f"\N{LEFT DOUBLE QUOTATION MARK}{text}\N{RIGHT DOUBLE QUOTATION MARK}"


def as_printed(value: PublishedValue) -> str:
    """A number as published, with its digits, unit and qualifier."""
    has_unit = value.unit in value.published or value.unit in ("ratio", "share")
    text = value.published if has_unit else f"{value.published} {value.unit}"
    is_said = value.bound is None or _SAYS_SO.search(text)
    return text if is_said else f"{BOUNDS[value.bound or '~']} {text}"


def values_text(shown: Quantity, values: Sequence[float]) -> str:
    """List values that are too few for an interval."""
    return "; ".join(number(shown.shown(value)) for value in values)


def name_of(key: str) -> str:
    """
    A key in words, without its unit.

    Examples:
        >>> name_of("rtt_p99_ns"), name_of("retransmitted_segments")
        ('round-trip time 99th percentile', 'retransmitted segments')
    """
    for suffix in _SUFFIXES:
        key = key.removesuffix(suffix)
    return " ".join(_ABBREVIATIONS.get(word, word) for word in key.split("_"))
