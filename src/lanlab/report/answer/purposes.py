"""The fastest service of a file server for each purpose: a sentence, and a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lanlab.analysis.comparison.ranking import Ranking, rankings
from lanlab.analysis.links.limits import reaches_limit, tcp_limit_bps
from lanlab.analysis.trials.attempts import counting
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.number_text import counted, joined, percent
from lanlab.frozen import dataclass
from lanlab.nas.plan import FILES
from lanlab.report.answer.ranking_text import level_names, ranked_text
from lanlab.report.copies.copy_text import why_words
from lanlab.report.document.table import Cell, Column, Table, words
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.units import format_rate

#: Below this share of the network's rate, something else is the limit.
_FAR_BELOW = 0.9
_COLUMNS = (
    Column("purpose", "for what", "for what", is_number=False),
    Column("fastest", "fastest", "fastest", is_number=False),
    Column("others", "others", "others", is_number=False),
)
_REASONS = (
    Column("purpose", "for what", "for what", is_number=False),
    Column("service", "service", "service", is_number=False),
    Column("time", "time of each file", "time of each file", is_number=False),
)


@dataclass(frozen=True)
class Purpose:
    """One experiment, with the levels that are not shown to be slower than the best."""

    title: str
    ranking: Ranking

    @property
    def best(self) -> frozenset[Level]:
        return frozenset(one.level for one in self.ranking.groups[0] if not one.behind)


@dataclass(frozen=True)
class Purposes:
    sentence: str
    table: Table
    purposes: tuple[Purpose, ...]
    #: Round trips for each small file, by service; empty for services without such a count.
    why: str
    names: Mapping[Level, str]
    #: Explains the time of each file of one client: task, service, words.
    reasons: Table
    #: How many trials were disturbed; empty if none.
    disturbed: str

    def to_json(self) -> dict[str, object]:
        return {
            "why": self.why,
            "reasons": self.reasons.to_json(),
            "purposes": [
                {
                    "purpose": one.title,
                    "fastest": sorted(map(str, one.best)),
                    **one.ranking.to_json(),
                }
                for one in self.purposes
            ],
        }


def purposes_of(run: RunRecord, trials: Sequence[TrialRecord]) -> Purposes:
    """The answer of a run in which each experiment varies one ranked factor."""
    data = RunData(run, trials)
    ranked = data.once(rankings)
    purposes = tuple(Purpose(data.study.titles[name], own[0]) for name, own in ranked.items())
    levels: dict[Level, None] = {}
    for one in purposes:
        for group in one.ranking.groups:
            levels |= dict.fromkeys(ranked.level for ranked in group)
        levels |= dict.fromkeys(one.ranking.lacking)
    factor = purposes[0].ranking.factor if purposes else "server"
    names = level_names(data.study, factor, list(levels))
    table = Table(
        "purposes",
        "Fastest service by purpose",
        _COLUMNS,
        tuple(_row(one, names) for one in purposes),
    )
    why = _why(trials, factor, names)
    reasons = _reasons(data, factor, names)
    disturbed = sum(one.is_disturbed for one in data.counting)
    said = f"{disturbed} of {len(data.counting)} trials were disturbed." if disturbed else ""
    return Purposes(_sentence(purposes, names), table, purposes, why, names, reasons, said)


def _reasons(data: RunData, factor: str, names: Mapping[Level, str]) -> Table:
    """A breakdown of the time of each service's median trial, for each copy by one client."""
    rows = []
    for experiment in data.study.experiment:
        if experiment.parameters.get("parallel_files") != 1:
            continue
        for level, name in names.items():
            own = sorted(
                (
                    trial
                    for trial in data.trials
                    if trial.experiment == experiment.id
                    and trial.factors.get(factor) == level
                    and "explained_ratio" in trial.metrics
                ),
                key=lambda trial: trial.metrics["elapsed_s"],
            )
            if own and (said := why_words(own[(len(own) - 1) // 2])):
                rows.append((words(experiment.title), words(name), words(said)))
    title = "Time of each file: round trips by their mean response time, and bytes by their rate"
    return Table("reasons", title, _REASONS, tuple(rows))


def _why(trials: Sequence[TrialRecord], factor: str, names: Mapping[Level, str]) -> str:
    """The round trips that a client waits for when it copies a small file, by direction."""
    parts = []
    for direction in ("upload", "download"):
        needs: dict[str, list[str]] = {}
        for level, name in names.items():
            counts = [
                trial.metrics["exchanges_per_file"]
                for trial in trials
                if trial.experiment == f"small-{direction}-1"
                and trial.factors.get(factor) == level
                and "exchanges_per_file" in trial.metrics
            ]
            if counts:
                needs.setdefault(f"{sum(counts) / len(counts):.3g}", []).append(name)
        ordered = sorted(needs.items(), key=lambda one: float(one[0]))
        if ordered:
            said = (f"{count} over {joined(own)}" for count, own in ordered)
            parts.append(f"{direction}: {', '.join(said)}")
    return f"Round trips for each small file, {'; '.join(parts)}." if parts else ""


def _sentence(purposes: Sequence[Purpose], names: Mapping[Level, str]) -> str:
    tested = [one for one in purposes if one.ranking.is_tested]
    is_known = any(one.ranking.groups[0][0].worse for one in purposes)
    if len(names) < 2 or not (tested or is_known):
        return "No ranking: it takes two services with two trials each."
    if not tested:
        few = counted(min(one.ranking.trials for one in purposes), "trial")
        return (
            f"Fastest by mean: {_by_kind(purposes, names, by_mean=True)}; no order is shown, as "
            f"{few} each cannot show one."
        )
    if all(one.best == frozenset(names) for one in purposes):
        if all(one.ranking.at_limit >= frozenset(names) for one in tested):
            limit = format_rate(tested[0].ranking.limit_bps or 0.0)
            return f"All of {joined(list(names.values()))} are as fast as the network ({limit})."
        return f"No difference was shown between {joined(list(names.values()))}: use any."
    # A service that lacks a result for an experiment is not among its best.
    always = [names[level] for level in names if all(level in one.best for one in purposes)]
    if len(always) == 1:
        return (
            f"Use {always[0]}: nothing else was shown to be faster in any of {len(tested)} tests."
        )
    if always:
        return (
            f"Use {joined(always)}: no difference between them was shown, and nothing was faster."
        )
    return f"Fastest: {_by_kind(purposes, names)}."


def _by_kind(
    purposes: Sequence[Purpose], names: Mapping[Level, str], *, by_mean: bool = False
) -> str:
    parts = []
    for kind, files in FILES.items():
        own = [one for one in purposes if one.ranking.experiment.startswith(kind)]
        tops = [{one.ranking.groups[0][0].level} if by_mean else one.best for one in own]
        best = [names[level] for level in names if all(level in top for top in tops)]
        words = joined(best) if best else "it depends, see the table"
        if len(best) > 1 and not any(one.ranking.is_tested for one in own):
            words = "not known"
        parts.append(f"for {files} {words}")
    return "; ".join(parts)


def _row(purpose: Purpose, names: Mapping[Level, str]) -> tuple[Cell, ...]:
    ranking = purpose.ranking
    everyone = [ranked for group in ranking.groups for ranked in group]
    best = [names[one.level] for one in everyone if one.level in purpose.best]
    text = joined(best)
    if not ranking.is_tested:
        top = everyone[0]
        text = f"{names[top.level]} by mean (not shown)" if top.worse else "not tested"
    elif purpose.best <= ranking.at_limit:
        text += f" (as fast as the network, {format_rate(ranking.limit_bps or 0.0)})"
    elif len(best) > 1:
        text += " (no difference shown)"
    others = [
        ranked_text(one, names, ranking.metric, "slower", "")
        for one in everyone
        if one.level not in purpose.best
    ]
    others += [f"{names[level]}: no result" for level in ranking.lacking]
    return words(purpose.title), words(text), words(", ".join(others) or "none")


def network_sentence(
    trials: Sequence[TrialRecord], names: Mapping[Level, str], speed_bps: float | None
) -> str:
    """Whether the network limits the copies of large files, judged by the speed of this host's
    adapter; empty without such copies.
    """
    rates: dict[tuple[str, str], list[float]] = {}
    for trial in counting(trials):
        name = names.get(trial.factors.get("server", ""))
        if name is not None and trial.experiment.startswith("large-"):
            rates.setdefault((name, trial.experiment), []).append(trial.metrics["goodput_bps"])
    if not rates:
        return ""
    if speed_bps is None:
        return "Whether the network is the limit is unknown: this host's adapter states no speed."
    limit_bps = tcp_limit_bps(speed_bps, 4)
    slow = {name for (name, _), own in rates.items() if not reaches_limit(own, limit_bps)}
    fast = [name for name in dict.fromkeys(name for name, _ in rates) if name not in slow]
    limit = f"{format_rate(limit_bps)} over this host's adapter of {format_rate(speed_bps)}"
    if not fast:
        best_bps, best = max((sum(own) / len(own), name) for (name, _), own in rates.items())
        share = best_bps / limit_bps
        said = f"Large files reach at most {percent(share)} of the network ({best}; {limit})"
        return f"{said}: it is not the limit." if share < _FAR_BELOW else f"{said}."
    if len(fast) == len(names):
        return f"The network is the limit for large files ({limit}): use any service."
    return f"For large files the network is the limit of {', '.join(fast)} ({limit})."
