"""`lanlab findings`: a study's conclusions, judged by its own numbers or by a run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from lanlab.cli.options import complete
from lanlab.cli.options.shared import JsonOption, StoreOption, StudyArgument, flag, option
from lanlab.cli.terminal.remarks import answer, deliver, print_json
from lanlab.errors import UsageError
from lanlab.frozen import dataclass

if TYPE_CHECKING:
    from lanlab.analysis.findings.verdicts import Verdicts
    from lanlab.analysis.trials.run_data import RunData
    from lanlab.report.document.document import Document
    from lanlab.store import RunRecord, TrialRecord
    from lanlab.studies.findings import Finding
    from lanlab.studies.load import LoadedStudy
    from lanlab.studies.model import Study


def findings(
    study: StudyArgument,
    run: list[str] | None = option(
        "--run",
        "RUN",
        "Run to check the findings against (its id, a unique prefix, or `last`); repeat "
        "it to compare runs with each other and with the published values. Default: check "
        "the published values.",
        autocompletion=complete.runs,
    ),
    store: StoreOption = None,
    verbose: bool = flag("--verbose -v", "Also show untested findings, and why."),
    as_json: JsonOption = False,
) -> None:
    """Check the findings of a study, with the numbers of each verdict.

    A finding holds, does not hold, is undecided, or is not tested because the run lacks its
    conditions. For an undecided finding lanlab reports how many more trials would decide it.

    Examples: lanlab findings schomer-claason;
    lanlab findings my-study.toml --run last --json;
    lanlab findings manford-kolahi --run MEASURED --run SIMULATED
    """
    from lanlab.analysis.findings.as_data import verdicts_as_data
    from lanlab.analysis.findings.judge import judge_published, judge_run
    from lanlab.analysis.trials.run_data import RunData
    from lanlab.report.findings.finding_text import counts_sentence, readable
    from lanlab.store import open_store
    from lanlab.store.shape import reading_records
    from lanlab.studies.load import load_study

    loaded = load_study(study)
    if not loaded.findings:
        raise UsageError(
            f"study `{loaded.study.id}` has no findings",
            hint="write them as [[finding]] in the study file; docs/studies.md has the forms",
        )
    names = run or []
    if not names:
        if not loaded.published.value:
            raise UsageError(
                f"study `{loaded.study.id}` has no published values to check its findings against",
                hint=f"check them against a run: `lanlab run {study} --check`, "
                f"or `lanlab findings {study} --run last`",
            )
        bodies = {"": judge_published(loaded)}
    else:
        with open_store(store) as records:
            found = [records.run(name) for name in names]
            for record in found:
                if record.study_id != loaded.study.id:
                    raise UsageError(
                        f"run {record.id} belongs to study `{record.study_id}`, "
                        f"not to `{loaded.study.id}`",
                        hint="`lanlab runs` says what each run measured",
                    )
            runs = [RunData(record, records.trials(record.id)) for record in found]
        with reading_records(", ".join(record.id for record in found)):
            bodies = {data.run.id: judge_run(loaded.findings, data) for data in runs}
    if len(bodies) > 1:
        if loaded.published.value:
            bodies = {"": judge_published(loaded), **bodies}
        deliver(_of_bodies(loaded, bodies, runs, verbose=verbose), as_json)
        return
    ((run_id, verdicts),) = bodies.items()
    if as_json:
        said = verdicts_as_data(verdicts, partial(readable, study=loaded.study))
        data = {"study": loaded.study.id, "run": run_id or None, **said}
        print_json({"answer": [counts_sentence(verdicts)], **data})
        return
    print_verdicts(verdicts, loaded.study, verbose=verbose)


def _of_bodies(
    loaded: LoadedStudy,
    bodies: dict[str, Verdicts],
    runs: list[RunData],
    *,
    verbose: bool,
) -> Document:
    from lanlab.analysis.findings.as_data import verdicts_as_data
    from lanlab.report.answer.question import in_brief, question_answers
    from lanlab.report.document.document import Document
    from lanlab.report.findings.finding_table import (
        evidence_table,
        findings_in,
        kind_of,
        tested_by_runs,
    )
    from lanlab.report.findings.finding_text import readable, untested_line
    from lanlab.report.published.values_table import values_table

    found = list(bodies.values())
    shown = findings_in(found) if verbose else tested_by_runs(found)
    values = values_table(loaded.published, runs)
    untested = [finding for finding in findings_in(found) if finding not in shown]
    asked = question_answers(loaded, runs)
    brief, in_full = in_brief(asked)
    words = partial(readable, study=loaded.study)
    evidence = [
        {"kind": kind_of(one), "run": name or None, **verdicts_as_data(one, words)}
        for name, one in bodies.items()
    ]
    data = {"question": [one.to_json() for one in asked], "values": values.to_json()}
    return Document(
        answer=brief,
        leads=len(brief),
        body=[one for one in (values, evidence_table(found, shown)) if one.rows],
        in_full=in_full,
        more=[untested_line(untested, "these runs")] if untested else [],
        data={"study": loaded.study.id, "evidence": evidence, **(data if asked else {})},
    )


_CODES = {"passed": 0, "failed": 1, "undecided": 3}


@dataclass(frozen=True)
class Check:
    passes_undecided: bool = False
    is_strict: bool = False

    def outcome(
        self, verdicts: Verdicts
    ) -> tuple[Literal["passed", "failed", "undecided"], list[str]]:
        failing = {"does not hold"} | ({"undecided", "not tested"} if self.is_strict else set())
        failed = _ids(verdicts, failing)
        if failed:
            return "failed", failed
        undecided = [] if self.passes_undecided else _ids(verdicts, {"undecided"})
        if undecided:
            return "undecided", undecided
        untested = _ids(verdicts, {"not tested"})
        # A check without any tested finding has not passed.
        if len(untested) == len(verdicts.judgements):
            return "undecided", untested
        return "passed", []


def _ids(verdicts: Verdicts, wanted: set[str]) -> list[str]:
    return [one.finding.id for one in verdicts.judgements if one.verdict in wanted]


def print_checked(
    run: RunRecord,
    trials: list[TrialRecord],
    findings: Sequence[Finding],
    check: Check,
    as_json: bool,
    option: str,
) -> int:
    """Print a run's answer and the verdicts on its study's findings.

    Returns:
        The exit code: 0 passed, 1 failed, 3 undecided.
    """
    from lanlab.analysis.findings.as_data import verdicts_as_data
    from lanlab.analysis.findings.judge import judge_run
    from lanlab.analysis.trials.run_data import RunData
    from lanlab.cli.results.printing import print_run, run_as_json
    from lanlab.report.findings.finding_text import counts, readable
    from lanlab.store.shape import reading_records
    from lanlab.studies.model import Study

    if not as_json:
        # Print the trials first, so that a failed check does not hide them.
        print_run(run, trials, False, option=option)
    with reading_records(run.id):
        study = Study.model_validate(run.study)
        verdicts = judge_run(findings, RunData(run, trials))
        outcome, reasons = check.outcome(verdicts)
        if as_json:
            checked: dict[str, object] = {
                "outcome": outcome,
                "strict": check.is_strict,
                "failed": reasons if outcome == "failed" else [],
                "undecided": reasons if outcome == "undecided" else [],
                **verdicts_as_data(verdicts, partial(readable, study=study)),
            }
            print_json({**run_as_json(run, trials), "check": checked})
            return _CODES[outcome]
    # A strict check can fail because of untested findings, so show them.
    print_verdicts(verdicts, study, verbose=check.is_strict)
    because = f": {', '.join(reasons)}" if reasons else ""
    answer().print(f"check {outcome}{because} ({counts(verdicts)})", wrap=False)
    return _CODES[outcome]


def print_verdicts(verdicts: Verdicts, study: Study, *, verbose: bool = False) -> None:
    """Print each finding with its verdict and evidence, then the number of each verdict.

    Args:
        verbose: Whether to show untested findings as well, instead of only counting them.
    """
    from lanlab.report.findings.finding_table import is_tested
    from lanlab.report.findings.finding_text import (
        claim_origin,
        counts_sentence,
        evidence_lines,
        untested_line,
        verdict_text,
    )

    console = answer()
    shown = [one for one in verdicts.judgements if verbose or is_tested(one)]
    untested = [one for one in verdicts.judgements if not (verbose or is_tested(one))]
    for one in shown:
        console.print(f"{one.finding.id}  {verdict_text(one)}", bold=True, wrap=False)
        claim = f"    {claim_origin(one.finding)}{one.finding.claim}"
        console.print("\n".join([claim, *(f"    - {o}" for o in evidence_lines(one, study))]))
    if untested:
        console.print(untested_line([one.finding for one in untested], verdicts.on))
    console.print(counts_sentence(verdicts))
