"""`lanlab findings`: a study's conclusions, judged by its own numbers or by a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from lanlab.cli import complete
from lanlab.cli.options import JsonOption, StoreOption, StudyArgument, flag, option
from lanlab.cli.terminal import answer, print_json, print_lines, print_table
from lanlab.errors import UsageError
from lanlab.frozen import dataclass

if TYPE_CHECKING:
    from lanlab.analysis.findings import Verdicts
    from lanlab.store import RunRecord, TrialRecord
    from lanlab.studies import Finding, LoadedStudy, Study


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
    from lanlab.analysis.findings import judge_published, judge_run, verdicts_as_data
    from lanlab.store import open_store
    from lanlab.store.shape import reading_records
    from lanlab.studies import load_study

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
                        hint="`lanlab runs` lists the runs with their studies",
                    )
            trials = {record.id: records.trials(record.id) for record in found}
        with reading_records(", ".join(trials)):
            bodies = {
                record.id: judge_run(loaded.findings, record, trials[record.id]) for record in found
            }
    if len(bodies) > 1:
        if loaded.published.value:
            bodies = {"": judge_published(loaded), **bodies}
        of_runs = [(one, trials[one.id]) for one in found]
        if as_json:
            _print_bodies_as_json(loaded, bodies, of_runs)
        else:
            _print_bodies(loaded, bodies, of_runs, verbose=verbose)
        return
    ((run_id, verdicts),) = bodies.items()
    if as_json:
        print_json({"study": loaded.study.id, "run": run_id or None, **verdicts_as_data(verdicts)})
        return
    print_verdicts(verdicts, loaded.study, verbose=verbose)


def _print_bodies_as_json(
    loaded: LoadedStudy,
    bodies: dict[str, Verdicts],
    runs: list[tuple[RunRecord, list[TrialRecord]]],
) -> None:
    from lanlab.analysis.findings import verdicts_as_data
    from lanlab.report.findings.finding_table import kind_of
    from lanlab.report.published.question import question_answers
    from lanlab.report.published.values_table import values_table

    values = values_table(loaded.published, runs)
    answers = question_answers(loaded, runs)
    evidence = [
        {"kind": kind_of(one), "run": name or None, **verdicts_as_data(one)}
        for name, one in bodies.items()
    ]
    asked = {"question": [one.to_json() for one in answers], "values": values.to_json()}
    print_json({"study": loaded.study.id, "evidence": evidence, **(asked if answers else {})})


def _print_bodies(
    loaded: LoadedStudy,
    bodies: dict[str, Verdicts],
    runs: list[tuple[RunRecord, list[TrialRecord]]],
    *,
    verbose: bool,
) -> None:
    from lanlab.report.findings.finding_table import evidence_table, findings_in, tested_by_runs
    from lanlab.report.findings.finding_text import untested_line
    from lanlab.report.published.question import question_answers
    from lanlab.report.published.values_table import values_table

    values = values_table(loaded.published, runs)
    for one in question_answers(loaded, runs):
        print_lines(one.text)
    if values.rows:
        print_table(values)
    found = list(bodies.values())
    shown = findings_in(found) if verbose else tested_by_runs(found)
    if shown:
        table = evidence_table(found, shown)
        print_table(table)
    untested = [finding for finding in findings_in(found) if finding not in shown]
    if untested:
        print_lines(untested_line(untested, "these runs"))


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
    from lanlab.analysis.findings import judge_run, verdicts_as_data
    from lanlab.cli.results import print_run, run_as_json
    from lanlab.report.findings.finding_text import counts
    from lanlab.store.shape import reading_records
    from lanlab.studies import Study

    if not as_json:
        # Print the trials first, so that a failed check does not hide them.
        print_run(run, trials, False, option=option)
    with reading_records(run.id):
        verdicts = judge_run(findings, run, trials)
        outcome, reasons = check.outcome(verdicts)
        if as_json:
            checked: dict[str, object] = {
                "outcome": outcome,
                "strict": check.is_strict,
                "failed": reasons if outcome == "failed" else [],
                "undecided": reasons if outcome == "undecided" else [],
                **verdicts_as_data(verdicts),
            }
            print_json({**run_as_json(run, trials), "check": checked})
            return _CODES[outcome]
    # A strict check can fail because of untested findings, so show them.
    print_verdicts(verdicts, Study.model_validate(run.study), verbose=check.is_strict)
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
        print_lines("\n".join([claim, *(f"    - {line}" for line in evidence_lines(one, study))]))
    if untested:
        print_lines(untested_line([one.finding for one in untested], verdicts.on))
    print_lines(counts_sentence(verdicts))
