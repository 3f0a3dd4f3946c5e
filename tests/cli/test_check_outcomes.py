"""What `lanlab run --check` comes to: passed, failed or undecided."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from lanlab.analysis.findings.verdicts import Verdicts
from lanlab.cli.commands.findings import Check


def judged(*verdicts: str) -> Verdicts:
    """Findings `f0`, `f1` … with these verdicts."""
    judgements: list[Any] = [
        SimpleNamespace(finding=SimpleNamespace(id=f"f{number}"), verdict=verdict)
        for number, verdict in enumerate(verdicts)
    ]
    return cast(Verdicts, SimpleNamespace(judgements=judgements))


@pytest.mark.parametrize(
    ("verdicts", "check", "outcome"),
    [
        (["holds", "not tested"], Check(), ("passed", [])),
        (["undecided", "undecided"], Check(), ("undecided", ["f0", "f1"])),
        (["holds", "undecided"], Check(), ("undecided", ["f1"])),
        (["holds", "undecided"], Check(passes_undecided=True), ("passed", [])),
        (["undecided", "does not hold"], Check(), ("failed", ["f1"])),
        (["does not hold"], Check(passes_undecided=True), ("failed", ["f0"])),
        (["not tested", "not tested"], Check(), ("undecided", ["f0", "f1"])),
        # Nothing was shown, whatever is let through.
        (["not tested"], Check(passes_undecided=True), ("undecided", ["f0"])),
        (["holds", "not tested"], Check(is_strict=True), ("failed", ["f1"])),
        (["holds", "undecided"], Check(is_strict=True), ("failed", ["f1"])),
    ],
    ids=str,
)
def test_a_check_passes_only_with_shown_and_no_open_findings(
    verdicts: list[str], check: Check, outcome: tuple[str, list[str]]
) -> None:
    assert check.outcome(judged(*verdicts)) == outcome
