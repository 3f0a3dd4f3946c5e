"""The answer to a study's question, with its certainty, from local runs, simulated runs and the
published values. The study file defines the form of the answer (`[[answer]]`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from lanlab.analysis.attempts import counting
from lanlab.analysis.findings.published_evidence import PublishedEvidence
from lanlab.analysis.findings.run_evidence import RunEvidence
from lanlab.analysis.findings.sample import Trials
from lanlab.analysis.model_error import model_error_log
from lanlab.analysis.published import amount_of, published_numbers
from lanlab.figures.number_text import counted, number, percent
from lanlab.figures.wording import quantity
from lanlab.frozen import dataclass
from lanlab.report.published.question_forms import (
    LEAST_SHARE,
    Body,
    Found,
    best,
    best_text,
    onset_text,
    range_text,
    ratio_text,
)
from lanlab.report.published.values_table import Run
from lanlab.studies import LoadedStudy, Published, Study, known_studies, load_study
from lanlab.studies.model import Answer

#: First word of the answer from each source, in the order of the answers.
_OPENINGS = {"measured": "Here", "simulated": "Simulated", "published": "Published"}
#: What an answer's `on` calls the runs of each kind.
_PLACES = {"simulated": "simulated", "measured": "real"}
_TEXTS = {"range": range_text, "ratio": ratio_text, "onset": onset_text}
#: In units of this size, a "kilo" is 1024 bytes.
_KIB_PER_S = 8 * 1024


@dataclass(frozen=True)
class QuestionAnswer:
    #: `published`, `simulated` or `measured`.
    kind: str
    #: Name of the source, as in "run 2026…".
    on: str
    found: tuple[Found, ...]
    text: str

    def to_json(self) -> dict[str, object]:
        best = [
            {"condition": dict(condition), "level": level, "is_shown": is_shown}
            for condition, level, is_shown in self.found
        ]
        return {"kind": self.kind, "on": self.on, "best": best, "text": self.text}


def question_answers(loaded: LoadedStudy, runs: Sequence[Run]) -> list[QuestionAnswer]:
    """The answers from local runs, then from simulated runs, then from the published values."""
    if not loaded.study.answer:
        return []
    published = Body("published", PublishedEvidence(loaded), loaded.study, loaded.published)
    bodies = [*(_body_of(run, loaded.published) for run in runs), published]
    bodies.sort(key=lambda body: list(_OPENINGS).index(body.kind))
    found = (_answered(loaded.study.answer, body, published) for body in bodies)
    return [one for one in found if one is not None]


def question_lines(run: Run, others: Sequence[Run] | None) -> list[str]:
    """
    The answers to the question of a run's study: a line for each body of evidence, in the order of
    `question_answers`.

    Args:
        others: Runs of the other kind, so that a last line says if there is none; `None`: unknown.
    """
    record, trials = run
    study = Study.model_validate(record.study)
    if record.study_id in known_studies():
        loaded = load_study(record.study_id)
    else:
        loaded = LoadedStudy(study, published_numbers(record), (), Path(), "")
    if not loaded.study.answer or not trials:
        return []
    said = [(one.kind, one.text) for one in question_answers(loaded, [run, *(others or ())])]
    own = "simulated" if study.is_simulated else "measured"
    if own not in dict(said):
        why = "this run has no results that answer the question"
        if not any(_PLACES[own] in one.on for one in loaded.study.answer):
            why = "the question is about systems that this run does not have"
        said.append((own, f"{_OPENINGS[own]}: {why}."))
    said.sort(key=lambda one: list(_OPENINGS).index(one[0]))
    said += [] if others is None else lacking_answers(loaded.study, dict(said))
    return [text for _, text in said]


def lacking_answers(study: Study, kinds: Collection[str]) -> list[tuple[str, str]]:
    """Each kind of run that could answer the question but does not exist yet, with a line."""
    could = {
        kind: any(on in one.on for one in study.experiment)
        and any(on in one.on for one in study.answer)
        for kind, on in _PLACES.items()
    }
    ways = {"simulated": f"{study.id} --testbed simulated", "measured": study.id}
    return [
        (kind, f"{_OPENINGS[kind]}: not run yet; `lanlab run {ways[kind]}` answers it.")
        for kind, is_possible in could.items()
        if is_possible and kind not in kinds
    ]


def _body_of(run: Run, published: Published) -> Body:
    record, trials = run
    evidence = RunEvidence.of(record, trials)
    if evidence.is_model:
        from lanlab.report.simulation.accuracy_table import held_out_of

        error = model_error_log(held_out_of(record, trials))
        return Body("simulated", evidence, evidence.study, published, error)
    counted = counting(trials)
    disturbed = sum(trial.is_disturbed for trial in counted)
    said = f"{disturbed} of {len(counted)} trials disturbed" if disturbed else ""
    system = evidence.on_this_system()
    return Body("measured", system, evidence.study, published, disturbed=said)


def _answered(asked: Sequence[Answer], body: Body, published: Body) -> QuestionAnswer | None:
    found: list[Found] = []
    said: list[str] = []
    lacking: list[str] = []
    for ask in asked:
        if ask.form == "best":
            own = best(ask, body)
            found += own
            texts = list(best_text(ask, body, own))
        else:
            texts = list(_TEXTS[ask.form](ask, body, published))
        said += texts
        if not texts and (body.kind == "published" or _PLACES[body.kind] in ask.on):
            was = "is printed" if body.kind == "published" else f"was {body.kind}"
            lacking.append(f"no {quantity(body.study, ask.metric).name} {was}")
    if not said:
        return None
    said += lacking
    sure = "; ".join(filter(None, (_spread(asked, body), body.disturbed, *_provisos(asked, body))))
    text = f"{_OPENINGS[body.kind]}: {'; '.join(said)} ({sure})."
    return QuestionAnswer(body.kind, body.evidence.title, tuple(found), text)


def _provisos(asked: Sequence[Answer], body: Body) -> Iterator[str]:
    """How the numbers are to be read: their unit, and a smaller amount than was published."""
    shown = [quantity(body.study, ask.metric) for ask in asked]
    if any(one.si_per_unit == _KIB_PER_S for one in shown):
        yield "1 KB = 1024 bytes"
    if body.kind == "published" and any(one.si_if_1024 for one in body.published.value):
        yield "1 kB taken for 1000 bytes"
    shares = [
        cell.sample.mean / printed
        for cell in body.evidence.cells("copied_bytes")
        if (printed := amount_of(body.published, cell.levels))
    ]
    if max(shares, default=1.0) < LEAST_SHARE:
        yield f"with {percent(max(shares))} of the published bytes"


def _spread(asked: Sequence[Answer], body: Body) -> str:
    if body.kind == "simulated":
        if body.error_log is None:
            return "the model's error is not known"
        return f"right within a factor of {number(math.exp(body.error_log), 3)}, 95 %"
    samples = [p.sample for ask in asked for p in body.points(ask, ask.metric)]
    counts = [
        len(one.values) + len(one.missing) if isinstance(one, Trials) else getattr(one, "n", 1)
        for one in samples
    ]
    if body.kind == "published" and min(counts, default=1) == 1:
        which = "some" if max(counts, default=1) > 1 else "all"
        return f"printed numbers, {which} without a spread"
    few = "" if min(counts) == max(counts) else f"{min(counts)} to "
    which = "comparisons corrected together" if any(a.form == "best" for a in asked) else ""
    return ", ".join(filter(None, (f"{few}{counted(max(counts), 'trial')} each", which)))
