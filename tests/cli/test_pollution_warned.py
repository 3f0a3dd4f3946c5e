"""What disturbed a measurement is said where it is measured."""

from __future__ import annotations

import pytest
from command_line import Lanlab

from lanlab.analysis.pollution import Finding, Judgement
from lanlab.run import trial as run_trial

QUICK = ("--testbed", "loopback", "--time", "0.05", "--warmup", "0")
WORK = Finding("foreign_cpu", "source", 0.9, 0.12, True)


@pytest.fixture
def _busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which others are at work in every trial."""
    monkeypatch.setattr(run_trial, "judge", lambda *_: Judgement((WORK,), ()))


@pytest.mark.usefixtures("_busy")
@pytest.mark.parametrize("command", ["stream", "echo"])
def test_a_single_measurement_warns_and_is_not_repeated(lanlab: Lanlab, command: str) -> None:
    """What was seen, why it may mislead, what helps; the answer itself is as ever."""
    said = lanlab(command, *QUICK)

    assert said.code == 0
    assert (
        "warning: other programs used 0.9 of a processor (allowed 0.12); rates are too low and "
        "times too long: end what else runs on this machine"
    ) in said.err.splitlines()
    assert "warning" not in said.out


@pytest.mark.usefixtures("_busy")
def test_of_several_trials_each_warning_names_its_own(lanlab: Lanlab) -> None:
    """And each has its findings in the JSON."""
    said = lanlab("stream", *QUICK, "--trials", "2", "--json")

    assert [f"warning: trial {n}: other programs" in said.err for n in range(3)] == [True] * 2 + [
        False
    ]
    for trial in said.json()["trials"]:
        assert [f["code"] for f in trial["pollution"]["findings"]] == ["foreign_cpu"]


@pytest.mark.usefixtures("_busy")
def test_a_run_says_which_trials_were_polluted(lanlab: Lanlab) -> None:
    """While it goes on, and at its end."""
    said = lanlab("run", "small.toml", "--testbed", "loopback")

    assert said.code == 0
    assert "was polluted: others' work" in said.err
    assert "Polluted trials: 6 of 6 (others' work 6); 0 repeated" in said.out
    assert "†" in said.out
