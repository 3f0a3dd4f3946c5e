"""What is said of wrong command lines and wrong study files, word for word."""

from pathlib import Path

import pytest
from command_line import SMALL_STUDY, Lanlab
from syrupy.assertion import SnapshotAssertion

_LINES = (
    "nonesuch",
    "stream --nonesuch",
    "stream --size 0",
    "stream --size 65508",
    "stream --size 1.5",
    "stream --size big",
    "stream --size -5",
    "stream --size --json",
    "stream --size 1e999",
    "stream --time 0",
    "stream --time 2d",
    "stream --time 1000h",
    "stream --time nan",
    "stream --time 1 --messages 5",
    "stream --rate 500G",
    "stream --rate 5M --message-rate 3",
    "stream --flows two",
    "stream --link 40G",
    "stream --link 10M:ring",
    "stream --link=",
    "stream --testbed vitual",
    "stream --nodelay",
    "stream --transport tcp --drain 1",
    "stream --transport quic",
    "stream --tool nonesuch",
    "echo --nodelay",
    "saturation --low 5M --high 1M",
    "saturation --goals 100%",
    "copy nonesuch",
    "copy mixed --service nonesuch",
    "copy mixed /tmp --link 1G",
    "copy mixed ftp://127.0.0.1/ --service sftp",
    "stations --arrivals fixed",
    "stations --limit 0",
    "stations --stations 0",
    "stations --link 1G",
    "run",
    "run milanovic",
    "run smal.toml",
    "run small.toml --scale quik",
    "run small.toml --undecided pass",
    "run small.toml --with io=batch",
    "run small.toml small.toml",
    "run small.toml --alternate 3",
    "run small.toml --alternate 3 --check",
    "run small.toml --check",
    "run --resume last",
    "run --resume last --scale full",
    "show nonesuch",
    "show small.toml --only nonesuch",
    "show small.toml --figures drawn",
    "show last",
    "findings small.toml",
    "report last",
    "report",
    "compare one",
    "compare --csv --json",
    "compare --margin 60%",
    "compare --before last",
    "compare last --by io --published",
    "delete last",
    "runs --store nonesuch://place",
)


@pytest.mark.parametrize("line", _LINES)
def test_wrong_command_lines(
    line: str, lanlab: Lanlab, folder: Path, snapshot: SnapshotAssertion
) -> None:
    said = lanlab(*line.split())

    assert said.out == "" and said.code in (1, 2)
    assert [path.name for path in folder.iterdir()] == ["small.toml"]
    assert f"exit {said.code}\n{said.err}" == snapshot


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("schema = 1", "schema = 99"),
        ("schema = 1", ""),
        ('id = "small"', 'id = "Not An Id"'),
        ('title = "Small messages"', 'titel = "Small messages"'),
        ('workload = "stream"', 'workload = "steam"'),
        ('metrics = ["goodput_bps"]', 'metrics = ["godput_bps"]'),
        ('metrics = ["goodput_bps"]', "metrics = []"),
        ('rate_bps = "1M"', 'rate_bps = "1X"'),
        ('rate_bps = "1M"', 'rat_bps = "1M"'),
        ('rate_bps = "1M"', "nodelay = true"),
        ("[50, 100]", "[]"),
        ("[50, 100]", "[50, 50]"),
        ("[50, 100]", "[50, 0]"),
        ('experiments = ["sizes"]', 'experiments = ["size"]'),
        ("min = 2, max = 2", "min = 3, max = 2"),
        ("[scale.quick]", "[scale.quick"),
        ("time_s = 0.05", "time_s = -1"),
    ],
    ids=lambda text: text,
)
def test_wrong_study_files(
    written: str, instead: str, lanlab: Lanlab, folder: Path, snapshot: SnapshotAssertion
) -> None:
    assert written in SMALL_STUDY
    (folder / "small.toml").write_text(SMALL_STUDY.replace(written, instead, 1))

    said = lanlab("run", "small.toml", "--testbed", "loopback")

    assert (said.code, said.out) == (2, "")
    assert said.err == snapshot
    assert [path.name for path in folder.iterdir()] == ["small.toml"]
