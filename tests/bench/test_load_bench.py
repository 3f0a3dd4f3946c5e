"""The judges of `lanlab load`: what they read of other programs, and their verdicts."""

import load_flent
import pytest
from load_judge import Seen, judge

pytestmark = pytest.mark.long

LINK = "10M:cable+tbf"
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


def test_a_flent_data_file_has_pings_with_and_without_load() -> None:
    alone, loaded = load_flent.parts_of(DATA, 2)
    assert (alone.median_ms, alone.p99_ms, alone.goodput_mbps) == (1.0, 1.0, None)
    # 6 of the one stream and 3 of the other, from 105 to 107 s.
    assert (loaded.median_ms, loaded.p99_ms) == (9.0, 9.0)
    assert loaded.goodput_mbps == pytest.approx(9.0)


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
