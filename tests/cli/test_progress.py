"""What a run promises at its beginning, and what it says on the way."""

import re
from pathlib import Path
from typing import Any

import pytest
from command_line import COUNTED, STREAM, Lanlab

from lanlab.cli.running import watch
from lanlab.store import open_store


def test_without_a_terminal_progress_is_an_occasional_line(
    lanlab: Lanlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "PLAIN_S", 0.01)
    said = lanlab("stream", "--testbed", "loopback", "--time", "1.5", "--rate", "1M", "--json")

    lines = [line for line in said.err.splitlines() if line.startswith("trial 1 of 1,")]
    assert len(lines) >= 5
    assert "about 2 s left" in lines[0]
    assert "bit/s, received" in lines[-1]
    assert said.json()["n"] == 1


def test_a_run_without_a_search_states_its_maximum_number_of_trials(
    lanlab: Lanlab, folder: Path
) -> None:
    single = lanlab(*STREAM)
    study = lanlab("run", "small.toml", "--testbed", "loopback")

    assert "at most 1 trial, about 1 s" in single.err
    assert "at most 6 trials, plus repeats of failed ones, about " in study.err


def test_the_time_left_of_a_simulation_is_of_this_machine_and_not_of_the_simulated_one(
    lanlab: Lanlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trial of 10 minutes on the clock of its machines takes a moment here, and how long is not
    known before one has ended."""
    said_after = []
    started = watch.RunWatch.trial_started

    def seen(self: watch.RunWatch, *more: Any) -> None:
        started(self, *more)
        said_after.append(self._doing)

    monkeypatch.setattr(watch.RunWatch, "trial_started", seen)
    said = lanlab(
        *("echo", "--testbed", "simulated", "--machines", "vista-ipv4,vista-ipv4"),
        *("--time", "600", "--rate", "10", "--trials", "2"),
    )

    assert said.code == 0, said.err
    first, second = said_after
    assert "left" not in first
    assert re.search(r", about \d+ s left$", second)


def test_a_search_promises_no_number_of_trials(lanlab: Lanlab) -> None:
    said = lanlab(
        *("saturation", "--testbed", "loopback", "--goals", "10%", "--high", "2M", "--low", "1M"),
        *("--time", "0.2", "--warmup", "0", "--trials", "1", "--width", "30%", "--json"),
    )

    assert said.code == 0, said.err
    assert "at most" not in said.err
    assert "about 10 trials, plus repeats of disturbed or failed ones (a search stops" in said.err


@pytest.mark.parametrize(
    ("asked", "size_bytes"),
    [
        (("--transport", "tcp"), 131_072),
        (("--transport", "tcp", "--rate", "1M"), 1408),
        (("--transport", "tcp", "--bytes", "100kB"), 1408),
        (("--transport", "tcp", "--size", "500"), 500),
        (("--transport", "udp"), 1408),
    ],
)
def test_bulk_tcp_uses_messages_of_128_kib_by_default(
    asked: tuple[str, ...], size_bytes: int, lanlab: Lanlab
) -> None:
    time = () if "--bytes" in asked else ("--time", "0.3")
    said = lanlab("stream", *COUNTED, *asked, *time, "--json")

    assert said.code == 0, said.err
    assert said.json()["parameters"]["message_size_bytes"] == size_bytes
    with open_store(None) as store:
        [trial] = store.trials("last")
    assert trial.parameters["message_size_bytes"] == size_bytes


@pytest.mark.parametrize(
    ("testbed", "link", "driver", "size"),
    [
        ("virtual", None, "lanlab", "131072"),
        ("virtual", "unshaped:switch", "lanlab,iperf3", "131072"),
        ("virtual", "100M", "lanlab", "1408"),
        ("loopback", None, "lanlab,sockperf", "1408"),
    ],
)
def test_on_a_shaped_link_messages_are_of_one_segment(
    testbed: str, link: str | None, driver: str, size: str
) -> None:
    from lanlab.cli.commands.stream import _default_size

    assert _default_size(True, testbed, link, driver) == size
