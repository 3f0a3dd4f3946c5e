"""The judges of `lanlab load`: what they read of other programs, and their verdicts."""

import json
import sys
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "bench"

if not BENCH.is_dir():
    pytest.skip("the bench is not part of what is installed", allow_module_level=True)
sys.path.insert(0, str(BENCH))

import load_flent  # noqa: E402
from load_judge import Seen, judge, seen_of  # noqa: E402

pytestmark = pytest.mark.long

LINK = "10M:cable+tbf"
ASKED = Namespace(load="up", flows=2, time=2, congestion_control="cubic")
#: What a double of flent writes: pings of 1 ms until 103 s, then streams and pings of 9 ms.
BEGAN = 103.0
DATA = {
    "raw_values": {
        "Ping (ms) ICMP": [
            {"t": 100 + 0.1 * place, "val": 1.0 if place < 30 else 9.0, "seq": place}
            for place in range(90)
        ]
        # One on its way when the streams begin is of neither part, nor one without a reply.
        + [{"t": 103.1, "val": 500.0, "seq": 90}, {"t": 104.0, "val": None, "seq": 91}],
        "TCP upload::1": [
            {"t": BEGAN + 0.5 + 0.5 * place, "dur": 0.5, "val": 40.0 if place < 4 else 6.0}
            for place in range(10)
        ],
        "TCP upload::2": [{"t": BEGAN + 5, "dur": 5.0, "val": 3.0}],
    }
}


def test_a_data_file_of_flent_has_pings_alone_and_beside_its_streams() -> None:
    alone, loaded = load_flent.parts_of(DATA, 2)
    assert (alone.median_ms, alone.p99_ms, alone.goodput_mbps) == (1.0, 1.0, None)
    # 6 of the one stream and 3 of the other, from 105 to 107 s.
    assert (loaded.median_ms, loaded.p99_ms) == (9.0, 9.0)
    assert loaded.goodput_mbps == pytest.approx(9.0)


@pytest.mark.parametrize("lacking", ["Ping (ms) ICMP", "TCP"])
def test_a_data_file_without_pings_or_streams_is_named(lacking: str) -> None:
    raw = {name: each for name, each in DATA["raw_values"].items() if not name.startswith(lacking)}
    with pytest.raises(SystemExit, match="flent left no pings or no streams; it has "):
        load_flent.parts_of({"raw_values": raw}, 2)


def double(folder: Path, name: str, body: str) -> None:
    program = folder / name
    program.write_text(f"#!{sys.executable}\n{body}", encoding="utf-8")
    program.chmod(0o755)


def doubles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exit_code: int = 0) -> Path:
    noted = tmp_path / "arguments.json"
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("FLENT_NOTED", str(noted))
    monkeypatch.setenv("FLENT_DATA", json.dumps(DATA))
    double(
        tmp_path,
        "flent",
        "import gzip, json, os, sys\n"
        "open(os.environ['FLENT_NOTED'], 'w').write(json.dumps(sys.argv[1:]))\n"
        "with gzip.open(sys.argv[sys.argv.index('-D') + 1] + '/a.flent.gz', 'wt') as out:\n"
        "    out.write(os.environ['FLENT_DATA'])\n"
        f"sys.exit({exit_code})\n",
    )
    double(tmp_path, "netserver", "import signal\nsignal.pause()\n")
    for name in ("fping", "netperf"):
        double(tmp_path, name, "")
    return noted


def bed() -> Any:
    host = SimpleNamespace(command_prefix=(), addresses={"ipv4": "127.0.0.1"})
    return SimpleNamespace(hosts=(host, host))


def test_flent_is_asked_for_the_same_streams(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = doubles(tmp_path, monkeypatch)
    _, loaded = load_flent.flent_trial(bed(), ASKED)
    assert loaded.median_ms == 9.0
    told = json.loads(noted.read_text(encoding="utf-8"))
    assert told[:4] == ["tcp_nup", "-4", "-H", "127.0.0.1"]
    assert told[told.index("-l") + 1] == "5" and told[told.index("-d") + 1] == "3"
    assert "upload_streams=2" in told and "tcp_cong_control=cubic" in told


def test_a_flent_that_fails_ends_the_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    doubles(tmp_path, monkeypatch, exit_code=3)
    with pytest.raises(SystemExit, match="flent: "):
        load_flent.flent_trial(bed(), ASKED)


def test_missing_programs_are_named_with_install_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["load_flent.py"])
    monkeypatch.setenv("PATH", str(tmp_path))
    double(tmp_path, "flent", "")
    assert load_flent.main() == 2
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "needs fping, netperf, netserver, not found on PATH. To get it:"
    assert told[1] == "apt install --no-install-recommends flent fping"
    assert sum("github.com/HewlettPackard/netperf" in line for line in told) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--blocks", "1"], "--blocks: found 1; allowed: 2 or more"),
        (["--time", "1"], "--time: found 1; allowed: 2 or more"),
        (["--load", "both", "--flows", "2"], "allowed with --load both: 4"),
    ],
)
def test_parameters_unsupported_by_flent_are_refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    said: str,
) -> None:
    monkeypatch.setattr(sys, "argv", ["load_flent.py", *options])
    with pytest.raises(SystemExit):
        load_flent.main()
    assert said in capsys.readouterr().err


def seen_by(lanlab: list[float], peer: list[float]) -> dict[str, list[Seen]]:
    return {
        "lanlab alone": [Seen(1.0, 1.0) for _ in lanlab],
        "lanlab loaded": [Seen(ms, ms, 9.0) for ms in lanlab],
        "peer alone": [Seen(1.0, 1.0) for _ in peer],
        "peer loaded": [Seen(ms, ms, 9.4) for ms in peer],
    }


def test_a_verdict_is_by_the_difference_within_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    assert judge(seen_by([11, 21, 31.1], [11.1, 20.9, 31]), "peer", "Blocks.", LINK) == 0
    table = capsys.readouterr().out
    assert "| lanlab | 1.00 | 21.03 |" in table and "within both intervals" in table
    # One frame takes 1.23 ms there.
    assert judge(seen_by([12, 22, 32], [11, 21, 31]), "peer", "Blocks.", LINK) == 0
    assert judge(seen_by([13.5, 23.4, 33.5], [11, 21, 31]), "peer", "Blocks.", LINK) == 1
    assert "they differ" in capsys.readouterr().out
    # At 100 Mbit/s it takes a tenth.
    assert judge(seen_by([12, 22, 32.1], [11, 21, 31]), "peer", "Blocks.", "100M") == 1


def test_the_99th_percentile_of_few_is_the_greatest() -> None:
    assert seen_of([3.0, 1.0, 2.0]) == Seen(2.0, 3.0, None)
