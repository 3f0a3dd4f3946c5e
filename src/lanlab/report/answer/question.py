"""The answer to a study's question, with its certainty, from local runs, simulated runs and the
published values. The study file defines the form of the answer (`[[answer]]`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lanlab.analysis.comparison.compare import LEAST_FOR_ORDER
from lanlab.analysis.findings.published_evidence import PublishedEvidence
from lanlab.analysis.published.values import amount_of
from lanlab.analysis.simulation.model_error import model_error_log, ratio_error_log
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.number_text import counted, joined, number, percent, too_few_text
from lanlab.figures.wording import quantity
from lanlab.frozen import dataclass
from lanlab.report.answer.question_forms import (
    LEAST_SHARE,
    Body,
    Found,
    Part,
    best,
    best_part,
    columns_of,
    counts_behind,
    onset_part,
    range_part,
    ratio_part,
)
from lanlab.report.answer.where import listed_alike
from lanlab.report.document.table import Column, Table, words
from lanlab.studies.load import LoadedStudy, known_studies, load_study
from lanlab.studies.model import Answer, Study
from lanlab.studies.plain_level import plain_level
from lanlab.studies.published import Published
from lanlab.workloads.metrics import metric_direction

#: First word of the answer from each source, in the order of the answers.
_OPENINGS = {"measured": "Here", "simulated": "Simulated", "published": "Published"}
_SOURCES = {
    "measured": "On the answer here",
    "simulated": "On the simulated answer",
    "published": "On the published answer",
}
#: What an answer's `on` calls the runs of each kind.
_PLACES = {"simulated": "simulated", "measured": "real"}
_PARTS = {"range": range_part, "ratio": ratio_part, "onset": onset_part}
#: In units of this size, a "kilo" is 1024 bytes.
_KIB_PER_S = 8 * 1024


@dataclass(frozen=True)
class QuestionAnswer:
    #: `published`, `simulated` or `measured`.
    kind: str
    #: Name of the source, as in "run 2026…".
    on: str
    found: tuple[Found, ...]
    #: In one sentence, which begins with the source.
    brief: str
    #: How certain it is, in another sentence; empty if `brief` says so.
    certainty: str = ""
    #: Every condition, for each metric that answers.
    tables: tuple[Table, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(filter(None, (self.brief, self.certainty)))

    def to_json(self) -> dict[str, object]:
        best = [
            {"condition": dict(condition), "level": level, "is_shown": is_shown}
            for condition, level, is_shown in self.found
        ]
        return {"kind": self.kind, "on": self.on, "best": best, "text": self.text}


def question_answers(
    loaded: LoadedStudy, runs: Sequence[RunData], called: Mapping[str, str] | None = None
) -> list[QuestionAnswer]:
    """The answers from local runs, then from simulated runs, then from the published values; those
    of several runs of one kind with the name of their run, which `called` has.
    """
    if not loaded.study.answer:
        return []
    published = Body("published", PublishedEvidence(loaded), loaded.study, loaded.published)
    bodies = [*(_body_of(run, loaded.published) for run in runs), published]
    bodies.sort(key=lambda body: list(_OPENINGS).index(body.kind))
    kinds = [body.kind for body in bodies]
    names = [
        (called or {}).get(b.evidence.title) if kinds.count(b.kind) > 1 else "" for b in bodies
    ]
    found = (_answered(loaded.study, body, name) for body, name in zip(bodies, names, strict=True))
    return [one for one in found if one is not None]


def in_brief(asked: Sequence[QuestionAnswer], own: str = "") -> tuple[list[str], list[str]]:
    """The answers in one sentence each, those of the own kind first and what no run answers last;
    then how certain they are.
    """
    known = sorted(asked, key=lambda one: (one.kind != own, not one.on))
    return [one.brief for one in known], [one.certainty for one in known if one.certainty]


def answer_tables(asked: Sequence[QuestionAnswer]) -> list[Table]:
    """For each metric, the conditions of all answers in one table."""
    found: dict[str, Table] = {}
    for table in (table for one in asked for table in one.tables):
        first = found.get(table.name, replace(table, rows=()))
        found[table.name] = replace(first, rows=(*first.rows, *table.rows))
    return list(found.values())


def all_answers(data: RunData, others: Sequence[RunData] | None) -> list[QuestionAnswer]:
    """
    The answers to the question of a run's study, in the order of `question_answers`.

    Args:
        others: Runs of the other kind, so that a last line says if there is none; `None`: unknown.
    """
    if data.run.study_id in known_studies():
        loaded = load_study(data.run.study_id)
    else:
        loaded = LoadedStudy(data.study, data.published, (), Path(), "")
    if not loaded.study.answer or not data.trials:
        return []
    said = question_answers(loaded, [data, *(others or ())])
    own = "simulated" if data.study.is_simulated else "measured"
    if own not in {one.kind for one in said}:
        why = "this run has no results that answer the question"
        if not any(_PLACES[own] in one.on for one in loaded.study.answer):
            why = _no_answer(loaded.study)
        said.append(QuestionAnswer(own, "", (), f"{_OPENINGS[own]}: {why}."))
    said.sort(key=lambda one: list(_OPENINGS).index(one.kind))
    if others is None:
        return said
    lacking = lacking_answers(loaded.study, {one.kind for one in said})
    return said + [QuestionAnswer(kind, "", (), text) for kind, text in lacking]


def lacking_answers(study: Study, kinds: Collection[str]) -> list[tuple[str, str]]:
    """Each kind of run of the study that does not answer the question, and why."""
    ways = {"simulated": f"{study.id} --testbed simulated", "measured": study.id}
    found = []
    for kind, on in _PLACES.items():
        if kind not in kinds and any(on in one.on for one in study.experiment):
            way = f"`lanlab run {ways[kind]}`"
            why = f"not run yet; {way} answers it"
            is_answered = any(on in one.on for one in study.answer)
            if not is_answered or (study.subject and kind == "measured"):
                why = _no_answer(study) + f"; {way} measures it for comparison" * is_answered
            found.append((kind, f"{_OPENINGS[kind]}: {why}."))
    return found


def _no_answer(study: Study) -> str:
    return f"not answered, because this computer is not {study.subject or 'such a system'}"


def _body_of(data: RunData, published: Published) -> Body:
    if data.study.is_simulated:
        return Body("simulated", data.evidence, data.study, published, data)
    disturbed = sum(trial.is_disturbed for trial in data.counting)
    said = f"{disturbed} of {len(data.counting)} disturbed" if disturbed else ""
    said = "all disturbed" if disturbed == len(data.counting) > 0 else said
    system = data.evidence.on_this_system()
    return Body("measured", system, data.study, published, data, said)


def _answered(study: Study, body: Body, name: str | None) -> QuestionAnswer | None:
    asked = study.answer
    named = f" ({name})" if name else ""
    found: list[Found] = []
    lacking: list[str] = []
    parts: list[tuple[Answer, Part]] = []
    tables = []
    for ask in asked:
        if ask.form == "best":
            own = best(ask, body)
            found += [(body.own_levels(at), level, is_shown) for at, level, is_shown in own]
            part = best_part(ask, body, own)
        else:
            part = _PARTS[ask.form](ask, body)
        if part is not None:
            parts.append((ask, part))
            tables.append(_table(ask, body, part, named))
        elif body.kind == "published" or _PLACES[body.kind] in ask.on:
            was = "is printed" if body.kind == "published" else f"was {body.kind}"
            lacking.append(f"no {quantity(body.study, ask.metric).name} {was}")
    if not parts:
        return None
    texts = _told(parts, body, are_several=len(asked) > 1)
    opening, context = _OPENINGS[body.kind], _context(asked, body)
    if body.kind == "measured" and study.subject:
        opening, context = "Aside, this computer", f"not {study.subject}, {context}"
    elif body.kind == "published" and any(ask.authors_disagree for ask in asked):
        opening, context = "Published numbers", "authors conclude otherwise"
    short = ", ".join(filter(None, (context, _smaller(body), body.disturbed)))
    # The name of a run stands in the place of how it was measured.
    how = named or (f" ({short})" if short else "")
    brief = f"{opening}{how}: {'; '.join([*texts, *lacking])}."
    known = (_spread(asked, body), *_tried(asked, body), *_provisos(asked, body))
    sure = filter(None, (short * bool(named), *(part.note for _, part in parts), *known))
    said = "; ".join(sure)
    certainty = f"{_SOURCES[body.kind]}{named}: {said}." if said else ""
    return QuestionAnswer(
        body.kind, body.evidence.title, tuple(found), brief, certainty, tuple(tables)
    )


def _table(ask: Answer, body: Body, part: Part, named: str) -> Table:
    columns = (Column("source", "source", "source", is_number=False), *columns_of(ask, body))
    source = words(f"{_OPENINGS[body.kind].lower()}{named}")
    rows = tuple((source, *row) for row in part.rows)
    title = f"The answer by condition: {quantity(body.study, ask.metric).name}"
    return Table(f"answer-{ask.metric}", title, columns, rows)


def _told(parts: Sequence[tuple[Answer, Part]], body: Body, *, are_several: bool) -> list[str]:
    """The parts in words, open questions for the same reason together."""
    said: list[str] = []
    by_reason: dict[str, list[tuple[str, Part]]] = {}
    for ask, part in parts:
        name = quantity(body.study, ask.metric).name
        if part.is_open:
            by_reason.setdefault(part.is_open, []).append((name, part))
        else:
            said.append(
                f"{part.text} for {name}" if ask.form == "best" and are_several else part.text
            )
    for reason, own in by_reason.items():
        of = f" for {listed_alike([name for name, _ in own], 'or')}" if are_several else ""
        largest = max(part.size for _, part in own)
        known = dict.fromkeys(p.text for _, p in own if p.text and p.size == largest)
        said.append("; ".join((f"{reason}{of}", *known)))
    return said


def _context(asked: Sequence[Answer], body: Body) -> str:
    """What the answer rests on, in few words."""
    counts = counts_behind(asked, body)
    if body.kind == "simulated":
        found = dict.fromkeys((ask.metric, _model_error(ask, body)) for ask in asked)
        known = [(metric, error) for metric, error in found if error]
        if not known:
            return "the model's error is not known"
        names = [f"{quantity(body.study, m).name} " if len(known) > 1 else "" for m, _ in known]
        return ", ".join(f"{name}{error}" for name, (_, error) in zip(names, known, strict=True))
    if body.kind == "published" and min(counts, default=1) == 1:
        means = "some means only" if max(counts, default=1) > 1 else "means only"
        year = body.study.source.year if body.study.source else None
        return ", ".join(filter(None, (str(year or ""), means)))
    few = "" if min(counts) == max(counts) else f"{min(counts)} to "
    return f"{few}{counted(max(counts), 'trial')} each"


def _model_error(ask: Answer, body: Body) -> str:
    """The model's error of one metric, by the held-out values of this metric alone, and of which
    levels these are if not of all; empty if it is not known.
    """
    held_out = body.held_out_of(ask)
    error_log = model_error_log(held_out)
    if error_log is None:
        return ""
    # An order is one of ratios.
    if ask.form in ("ratio", "best"):
        error_log = ratio_error_log(error_log)
    said = f"within a factor of {number(math.exp(error_log), 3)}"
    by_level = {} if ask.form in ("ratio", "best") else body.by_level(ask, ask.metric)
    known = {plain_level(ask.factor, one.value.condition.get(ask.factor, "")) for one in held_out}
    of = [title for title, own in by_level.items() if own[0].levels.get(ask.factor) in known]
    return f"{joined(of)} {said}" if 0 < len(of) < len(by_level) else said


def _tried(asked: Sequence[Answer], body: Body) -> Iterator[str]:
    """The levels over which maxima were taken."""
    for ask in asked:
        if ask.form not in ("best", "range"):
            continue
        by_level = body.by_level(ask, ask.metric) if ask.form == "range" else {}
        for title, points in (by_level or {"": body.points(ask, ask.metric)}).items():
            if tried := body.tried(ask, points):
                name = quantity(body.study, ask.metric).name
                of = f" with {title}" if title else ""
                # A simulated peak was searched between the loads.
                between = "" if all(ask.along in p.levels for p in points) else " or between them"
                kind = "highest" if metric_direction(ask.metric) == "more" else "longest"
                yield f"{name}{of} is the {kind} of {tried}{between}"


def _provisos(asked: Sequence[Answer], body: Body) -> Iterator[str]:
    """The units of the numbers."""
    shown = [quantity(body.study, ask.metric) for ask in asked]
    if any(one.si_per_unit == _KIB_PER_S for one in shown):
        yield "1 KB = 1024 bytes"
    if body.kind == "published" and any(one.si_if_1024 for one in body.published.value):
        yield "1 kB taken for 1000 bytes"


def _smaller(body: Body) -> str:
    """The share of the published bytes that a run copied; empty if about all of them."""
    shares = [
        cell.sample.mean / printed
        for cell in body.evidence.cells("copied_bytes")
        if (printed := amount_of(body.published, cell.levels))
    ]
    most = max(shares, default=1.0)
    return f"{percent(most)} of the published bytes" if most < LEAST_SHARE else ""


def _spread(asked: Sequence[Answer], body: Body) -> str:
    if body.kind == "simulated":
        return "; ".join(_model_errors(asked, body))
    counts = counts_behind(asked, body)
    if body.kind == "published" and min(counts, default=1) == 1:
        is_some = max(counts, default=1) > 1
        return f"{'some values have no' if is_some else 'no value has a'} standard deviation"
    if not any(ask.form in ("best", "ratio") for ask in asked):
        return ""
    if body.rankings and not any(one.is_tested for one in body.rankings):
        return too_few_text(min(one.trials for one in body.rankings), LEAST_FOR_ORDER)
    own = ", intervals are not" if any(ask.form == "ratio" for ask in asked) else ""
    return f"verdicts are corrected for all comparisons together{own}"


def _model_errors(asked: Sequence[Answer], body: Body) -> Iterator[str]:
    """The model's error of each metric, and the published values behind it."""
    for metric, ask in {ask.metric: ask for ask in asked}.items():
        name, error = quantity(body.study, metric).name, _model_error(ask, body)
        values = counted(len(body.held_out_of(ask)), "published value")
        known = f"{name}: {error} (95 %, by {values} that had no part in the fit)"
        yield known if error else f"the model's error of {name} is not known"
