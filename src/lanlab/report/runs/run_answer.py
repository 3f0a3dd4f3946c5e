"""All sentences of a run, for every rendering."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from lanlab.analysis.trials.run_data import RunData
from lanlab.report.answer.answers import answer_of
from lanlab.report.answer.question import all_answers, answer_tables, in_brief
from lanlab.report.document.document import Document
from lanlab.report.trials.analyses import Analyses


def run_answer(data: RunData, analyses: Analyses, others: Sequence[RunData] | None) -> Document:
    """
    The answers to the study's question, then the results; below them their conditions, how certain
    they are, and the caveats.

    Args:
        others: As for `all_answers`.
    """
    own = "simulated" if data.study.is_simulated else "measured"
    asked = analyses.each("answers to the question", partial(all_answers, data, others))
    brief, in_full = in_brief(asked, own)
    results, remarks = answer_of(data, analyses)
    # Disturbed means say so at the answer, as answers to a question do.
    is_told = any(one.kind == own and one.on for one in asked)
    disturbed = not is_told and any(trial.is_disturbed for trial in data.counting)
    return Document(
        answer=(*brief, *results),
        question=data.study.question if asked else "",
        body=answer_tables(asked),
        leads=sum(bool(one.on) or one.kind == own for one in asked),
        caution="".join(remarks[:disturbed]),
        in_full=in_full,
        more=remarks[disturbed:],
        data={"question": [one.to_json() for one in asked]} if asked else {},
    )
