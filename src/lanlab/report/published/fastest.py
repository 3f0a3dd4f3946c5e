"""Which level of the factor that a publication compared is fastest, by print and by each run, and
how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lanlab.analysis.findings.judge import judge, judge_run
from lanlab.analysis.findings.published_evidence import PublishedEvidence
from lanlab.analysis.findings.verdicts import Judgement, Verdicts
from lanlab.analysis.ranking import RANKED
from lanlab.frozen import dataclass
from lanlab.report.findings.evidence_table import kind_of
from lanlab.report.published.values_table import Run, level_title, printed_means
from lanlab.studies import Finding, Level, LoadedStudy, Published

_METRIC = "elapsed_ns"
#: A condition, the level with the shortest mean there, and whether it is shown to be the fastest.
_Found = tuple[Mapping[str, Level], Level, bool]


@dataclass(frozen=True)
class Fastest:
    #: `published`, `measured` or `simulated`.
    kind: str
    #: What it is, as in "run 2026…".
    on: str
    found: tuple[_Found, ...]
    text: str

    def to_json(self) -> dict[str, Any]:
        found = [
            {"condition": dict(condition), "level": level, "is_shown": is_shown}
            for condition, level, is_shown in self.found
        ]
        return {"kind": self.kind, "on": self.on, "fastest": found, "text": self.text}


def fastest(loaded: LoadedStudy, runs: Sequence[Run]) -> list[Fastest]:
    """
    Which level is the fastest at each printed condition, by print and by each run that has it.

    Each level is held against all others of its condition; the comparisons of one body of evidence
    are corrected together (`docs/studies.md`).

    Returns:
        None of a study that says of no such factor what stands for it.
    """
    study, published = loaded.study, loaded.published
    along = next((one.published for one in study.counterpart if one.factor in RANKED), None)
    printed = printed_means(published, _METRIC)
    if along is None or not printed:
        return []
    asked = _asked(printed_conditions(published), along)
    if not asked:
        return []
    findings = [finding for *_, finding in asked]
    bodies = [judge(findings, PublishedEvidence(loaded))]
    bodies += [judge_run(findings, run, trials) for run, trials in runs]
    return [one for body in bodies if (one := _of(body, asked, published, along)).found]


def printed_conditions(published: Published) -> list[Mapping[str, Level]]:
    return [value.condition for value in printed_means(published, _METRIC)]


_Asked = tuple[Mapping[str, Level], Level, Finding]


def _asked(conditions: Sequence[Mapping[str, Level]], along: str) -> list[_Asked]:
    """Of each condition without the factor, and each of its levels there, whether it is fastest."""
    groups: dict[str, tuple[Mapping[str, Level], list[Level]]] = {}
    for condition in conditions:
        if along in condition:
            rest = {name: own for name, own in condition.items() if name != along}
            groups.setdefault(repr(rest), (rest, []))[1].append(condition[along])
    found: list[_Asked] = []
    for condition, levels in groups.values():
        for level in levels if len(levels) > 1 else ():
            statement = {
                "form": "extreme",
                "metric": _METRIC,
                "at": {**condition, along: levels},
                "along": along,
                "at_level": level,
                "kind": "least",
            }
            described = {
                "id": f"q{len(found)}",
                "claim": f"{level} is fastest",
                "statement": statement,
            }
            found.append((condition, level, Finding.model_validate(described)))
    return found


def _of(body: Verdicts, asked: Sequence[_Asked], published: Published, along: str) -> Fastest:
    best: dict[str, _Found] = {}
    for (rest, level, _), judged in zip(asked, body.judgements, strict=True):
        own = judged.here if judged.here is not None and judged.verdict == "not tested" else judged
        if _is_least(own):
            best[repr(rest)] = rest, level, own.verdict == "holds"
    found = tuple(best.values())
    return Fastest(kind_of(body), body.on, found, _text(body, found, published, along))


def _is_least(one: Judgement) -> bool:
    return "holds" in (one.verdict, one.means)


def _text(body: Verdicts, found: Sequence[_Found], published: Published, along: str) -> str:
    """By level, where it is shown to be the fastest, and where its mean is the shortest."""
    opening = {
        "published": "As printed",
        "measured": "Measured here",
        "simulated": "In the simulation, by the means of its model",
    }[kind_of(body)]
    shown, open_ones = (
        "; ".join(_places(own, published, along))
        for own in ([one for one in found if one[2]], [one for one in found if not one[2]])
    )
    said = f"fastest is {shown}" if shown else "none is shown to be the fastest"
    rest = f"; by the means alone, which do not show it, {open_ones}" if open_ones else ""
    return f"{opening}, {said}{rest}."


def _places(found: Sequence[_Found], published: Published, along: str) -> list[str]:
    places: dict[Level, list[str]] = {}
    for condition, level, _ in found:
        named = (level_title(published, name, own) for name, own in condition.items())
        places.setdefault(level, []).append(", ".join(named))
    return [
        f"{level_title(published, along, level)} ({'; '.join(where)})"
        for level, where in places.items()
    ]
