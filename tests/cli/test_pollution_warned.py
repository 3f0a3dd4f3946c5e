"""What disturbed a measurement is said where it is measured."""

import pytest
from command_line import ECHO, STREAM, Lanlab

from lanlab.analysis.disturbances.detect import Finding, Judgement
from lanlab.run import trial as run_trial

WORK = Finding("foreign_cpu", "sender", 0.9, 0.12, True)


@pytest.fixture
def _busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_trial, "judge", lambda *_: Judgement((WORK,), ()))


@pytest.mark.usefixtures("_busy")
@pytest.mark.parametrize("command", [STREAM, ECHO])
def test_a_single_measurement_warns_and_is_not_repeated(
    lanlab: Lanlab, command: tuple[str, ...]
) -> None:
    said = lanlab(*command)

    assert said.code == 0
    assert (
        "warning: other processes used 0.9 of a CPU (limit 0.12); rates may be too low and "
        "times too long: stop other programs on this machine"
    ) in said.err.splitlines()
    assert "warning" not in said.out


@pytest.mark.usefixtures("_busy")
def test_one_line_counts_the_disturbed_trials(lanlab: Lanlab) -> None:
    said = lanlab(*STREAM, "--trials", "3", "--json")

    assert [line for line in said.err.splitlines() if line.startswith("warning")] == [
        "warning: 3 of 3 trials were disturbed (other processes 3); use -v for details"
    ]
    for trial in said.json()["trials"]:
        assert [f["code"] for f in trial["pollution"]["findings"]] == ["foreign_cpu"]


@pytest.mark.usefixtures("_busy")
def test_verbose_output_has_a_warning_for_each_trial(lanlab: Lanlab) -> None:
    said = lanlab(*STREAM, "--trials", "3", "-v")

    warnings = [line for line in said.err.splitlines() if line.startswith("warning")]
    assert [line[:33] for line in warnings[:-1]] == [
        f"warning: trial {n}: other processes" for n in range(3)
    ]
    assert warnings[-1] == "warning: 3 of 3 trials were disturbed (other processes 3)"
    assert "3 trials, 3 disturbed" in said.out


@pytest.mark.usefixtures("_busy")
def test_stations_have_one_line_beside_their_table(lanlab: Lanlab) -> None:
    said = lanlab(
        *("stations", "--service", "memory", "--stations", "1,2", "--trials", "2"),
        *("--readings", "20", "--testbed", "loopback"),
    )

    assert said.code == 0, said.err
    assert [line for line in said.err.splitlines() if "disturb" in line] == [
        "warning: 4 of 4 trials were disturbed (other processes 4); use -v for details"
    ]


@pytest.mark.usefixtures("_busy")
def test_a_run_says_how_many_trials_were_disturbed(lanlab: Lanlab) -> None:
    said = lanlab("run", "small.toml", "--testbed", "loopback")
    verbose = lanlab("run", "small.toml", "--testbed", "loopback", "--verbose")

    assert said.code == 0
    assert "other processes" not in said.err
    assert "warning" not in said.err
    above_tables = said.out.partition("\n\n")[0]
    assert "6 of 6 trials were disturbed (other processes 6): they are in means" in above_tables
    assert "†" in said.out.partition("\n\n")[2]
    assert verbose.err.count("other processes used 0.9 of a CPU") == 6
