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
    "stream --transport tcp --size 17MiB",
    "stream --time -1",
    "stream --link 10\u0661M",
    "stream --flows \u0661",
    "run small.toml --scale=",
    "report last --out=",
    "stream --bytes 0",
    "stream --rate 0",
    "stream --message-rate nan",
    "stream --testbed loopback --link 10M",
    "stream --testbed loopback --pcap f.pcap",
    "echo --testbed virtual --pcap f.pcap",
    "stream --testbed virtual --link 10M,loss=200%",
    "stream --testbed loopback --interval x",
    "stations --limit x",
    "stream --peer iperf3://",
    "stream --transport sctp",
    "stream --ip 5",
    "stream --congestion-control cubic",
    "stream --transport tcp --io segment",
    "stream --flows 1001",
    "stream --receive wait",
    "stream --timestamps mine",
    "stream --threads 65",
    "stream --read-size 17MiB",
    "stream --on-late hurry",
    "stream --drain 61",
    "stream --receiver-quota 0",
    "stream --receiver-work 2",
    "stream --receiver-rivals 17",
    "stream --sender-processor=-1",
    "echo --receiver-processor 1024",
    "echo --receive wait",
    "stream --dscp 64",
    "stream --trials 0",
    "stream --seed -1",
    "saturation --goals 0%,2",
    "saturation --goals 0,,1%",
    "saturation --width 0%",
    "saturation --low 5M --high 5M",
    "saturation --size 0",
    "saturation --time 0",
    "saturation --io segment --link 10M",
    "stream --colour 5",
    "stream -c nas",
    "echo -s",
    "stream -p 5201",
    "stream --client=nas",
    "stream --conclude true",
    "copy -P 4",
    "serve -c nas",
    "echo --size 0",
    "echo --size 65508",
    "echo --rate inf",
    "echo --timeout 0",
    "echo --idle-timeout 0",
    "run small.toml --resume last",
    "run --resume last --link 10M",
    "run small.toml --testbed loopback --link 10M",
    "runs --store postgresql://ada:secret@db/lab",
    "runs --store postgresql://db/lab?port=0",
    "stream --store mysql://x",
    "report last --store=",
    "copy smb://nas/share --testbed loopback",
    "copy smb://nas/share ftp://nas/ --testbed loopback",
    "copy ftp://nas/ one two --testbed loopback",
    "copy many-small ftp://nas/ ftp://nas/ --testbed loopback",
    "copy many-small ftp://nas/ smb1+nbf://NAS/DATA --testbed loopback",
    "copy many-small ftp://nas/ sftp://me@nas/ --testbed loopback",
    "copy many-small smb://me:pw1@nas/share --testbed loopback",
    "copy many-small sftp://me@nas/ --testbed loopback",
    "copy many-small gopher://nas/ --testbed loopback",
    "copy /no/such/directory ftp://nas/ --testbed loopback",
    "copy many-smal --service ftp --testbed loopback",
    "copy many-small --service gopher --testbed loopback",
    "copy many-small --service ftp --server nonsense --testbed loopback",
    "copy many-small --parallel 65 --testbed loopback",
    "copy many-small ftp://nas/ --service ftp --testbed loopback",
    "copy many-small --password-file x --testbed loopback",
    "stations smb://me:pw1@nas/share --testbed loopback",
    "stations sftp://me@nas/ --testbed loopback",
    "stations gopher://nas/ --testbed loopback",
    "stations /no/such/directory --testbed loopback",
    "stations ftp://nas/ --service ftp --testbed loopback",
    "stations --service gopher --testbed loopback",
    "stations --stations 1,zwei --testbed loopback",
    "stations --stations 0 --testbed loopback",
    "stations --stations 10001 --testbed loopback",
    "stations --stations 1-500 --testbed loopback",
    "stations --read --write --testbed loopback",
    "stations --statistic p42 --testbed loopback",
    "stations --limit 0 --testbed loopback",
    "stations --interval 2 --testbed loopback",
    "stations --size 65MiB --testbed loopback",
    "stations --read-ratio 1.5 --testbed loopback",
    "stations --password-file x --testbed loopback",
)


@pytest.fixture(autouse=True)
def _no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANLAB_PASSWORD", "LANLAB_PASSWORD_FILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("line", _LINES)
def test_wrong_command_lines(
    line: str, lanlab: Lanlab, folder: Path, snapshot: SnapshotAssertion
) -> None:
    said = lanlab(*line.split())

    assert said.out == "" and said.code in (1, 2)
    assert [path.name for path in folder.iterdir()] == ["small.toml"]
    assert "secret" not in said.err and "pw1" not in said.err
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
