"""The fit of machines: it recovers costs that are known, and changes nothing else in their file."""

import sys
from pathlib import Path

import pytest
from programs import ran

from lanlab.studies.load import load_study

FIT = Path(__file__).parents[2] / "bench" / "fit.py"

pytestmark = pytest.mark.long


STUDY = """
schema = 1
id = "made-up"
title = "Two machines of known costs"

[testbed]
link = "100M"

[[experiment]]
id = "sizes"
title = "Goodput"
on = ["simulated"]
workload = "stream"
metrics = ["goodput_bps"]
parameters = { transport = "udp" }

[experiment.factors]
message_size_bytes = [64, 256, 1000]

[scale.quick]
parameters = { time_s = 0.05, warmup_s = 0.01 }
trials = { min = 2, max = 2 }
"""
#: What a message costs the machine that the numbers were printed of: 60 µs and 50 ns a byte.
EACH_US, EACH_NS = 60.0, 50.0
#: Printed of each size, bit/s. The last is held out.
PRINTED = {size: 8e9 * size / (1e3 * EACH_US + EACH_NS * size) for size in (64, 256, 1000)}


def _published() -> str:
    rows = [
        f'{{ id = "g{size}", metric = "goodput_bps", statistic = "mean", published = "{rate:.1f}", '
        f'value = {rate:.1f}, unit = "bit/s", si = {rate:.1f}, si_unit = "bit/s", '
        f'where = "Table I", '
        f'kind = "table", experiment = "sizes", '
        f'condition = {{ transport = "udp", message_size_bytes = {size} }} }}'
        for size, rate in PRINTED.items()
    ]
    return "schema = 1\nvalue = [\n  " + ",\n  ".join(rows) + ",\n]\n"


MACHINES = """
schema = 1
held_out = ["g1000"]

[[machine]]
id = "pc"
title = "a PC"

[machine.numbers]
# Both start far off.
send_call_us = { value = 30, fitted = ["g64", "g256"] }
send_call_ns_per_byte = { value = 100, fitted = ["g64", "g256"] }
ring_frames = { value = 64, assumed = "large enough" }
queue_frames = { value = 64, assumed = "large enough" }
transmit_queue_frames = { value = 64, assumed = "large enough" }
receive_buffer_bytes = { value = 65536, assumed = "large enough" }
send_buffer_bytes = { value = 65536, assumed = "large enough" }
window_bytes = { value = 8760, assumed = "no experiment uses TCP" }
delayed_ack_ms = { value = 200, assumed = "no experiment uses TCP" }
nagle = { value = 1, assumed = "no experiment uses TCP" }

[[place]]
when = { transport = "udp" }
machines = ["pc", "pc"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "study"
    made.mkdir()
    (made / "study.toml").write_text(STUDY)
    (made / "published.toml").write_text(_published())
    (made / "machines.toml").write_text(MACHINES)
    return made


def _fit(folder: Path, *options: str) -> str:
    command = [sys.executable, str(FIT), str(folder), *options]
    done = ran(command)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_fit_recovers_known_costs_and_predicts_held_out_values(folder: Path) -> None:
    said = _fit(folder)
    written = (folder / "machines.toml").read_text()
    simulation = load_study(str(folder)).study.simulation
    assert simulation is not None
    numbers = simulation.machine[0].numbers
    assert numbers["send_call_us"].value == pytest.approx(EACH_US, rel=0.01)
    assert numbers["send_call_ns_per_byte"].value == pytest.approx(EACH_NS, rel=0.03)
    (held_out,) = (line for line in said.splitlines() if line.startswith("g1000"))
    assert held_out.endswith("held out") and abs(float(held_out.split()[3])) < 1
    lines = [(a, b) for a, b in zip(MACHINES.splitlines(), written.splitlines(), strict=True)]
    changed = [old.split()[0] for old, new in lines if old != new]
    assert changed == ["send_call_us", "send_call_ns_per_byte"]
    _fit(folder)
    assert (folder / "machines.toml").read_text() == written


# Each takes a second of a processor at each of eleven sizes, or at one.
@pytest.mark.parametrize(
    ("only", "number"), [("rtt.384.", 2), pytest.param("rtt.", 6, marks=pytest.mark.long)]
)
def test_all_printed_round_trips_of_manford_kolahi_are_simulated_within_a_tenth(
    only: str, number: int
) -> None:
    command = [sys.executable, str(FIT), "manford-kolahi", "--check", "--only", only]
    done = ran(command, check=True)
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("rtt.")]
    assert len(lines) == number
    assert {name: error for name, _, _, error, *_ in lines if abs(float(error)) > 10} == {}
