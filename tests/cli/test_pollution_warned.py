"""What disturbed a measurement is said where it is measured."""

from __future__ import annotations

import pytest
from command_line import Lanlab

from lanlab.analysis.pollution import Finding, Judgement
from lanlab.run import trial as run_trial

QUICK = ("--testbed", "loopback", "--time", "0.05", "--warmup", "0")
WORK = Finding("foreign_cpu", "sender", 0.9, 0.12, True)


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
def test_of_several_trials_one_line_says_how_many_were_disturbed(lanlab: Lanlab) -> None:
    """And each has its findings in the JSON."""
    said = lanlab("stream", *QUICK, "--trials", "3", "--json")

    assert [line for line in said.err.splitlines() if line.startswith("warning")] == [
        "warning: 3 of 3 trials were disturbed (others' work 3); -v says more of each"
    ]
    for trial in said.json()["trials"]:
        assert [f["code"] for f in trial["pollution"]["findings"]] == ["foreign_cpu"]


@pytest.mark.usefixtures("_busy")
def test_asked_for_each_trial_has_a_warning_of_its_own(lanlab: Lanlab) -> None:
    said = lanlab("stream", *QUICK, "--trials", "2", "-v")

    warnings = [line for line in said.err.splitlines() if line.startswith("warning")]
    assert [line[:32] for line in warnings[:-1]] == [
        f"warning: trial {n}: other programs" for n in range(2)
    ]
    assert warnings[-1] == "warning: 2 of 2 trials were disturbed (others' work 2)"


@pytest.mark.usefixtures("_busy")
def test_stations_have_one_line_beside_their_table(lanlab: Lanlab) -> None:
    said = lanlab(
        *("stations", "--service", "memory", "--stations", "1,2", "--trials", "2"),
        *("--readings", "20", "--testbed", "loopback"),
    )

    assert said.code == 0, said.err
    assert [line for line in said.err.splitlines() if "disturb" in line] == [
        "warning: 4 of 4 trials were disturbed (others' work 4); -v says more of each"
    ]


@pytest.mark.usefixtures("_busy")
def test_a_run_says_how_many_trials_were_disturbed(lanlab: Lanlab) -> None:
    """At its end, in the answer; of each only where that is asked for."""
    said = lanlab("run", "small.toml", "--testbed", "loopback")
    verbose = lanlab("run", "small.toml", "--testbed", "loopback", "--verbose")

    assert said.code == 0
    assert "others' work" not in said.err
    assert "warning" not in said.err
    assert "Polluted trials: 6 of 6 (others' work 6); 0 repeated" in said.out
    assert "†" in said.out
    assert verbose.err.count("other programs used 0.9 of a processor") == 6
