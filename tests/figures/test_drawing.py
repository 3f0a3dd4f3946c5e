"""Figures drawn in other processes: the same bytes, the same errors, and nothing left."""

import os
import signal
import subprocess
from typing import Any

import pytest

from lanlab.figures import drawing
from lanlab.figures.chart import Axis, Chart, Point, Series
from lanlab.figures.drawing import begin, other_processes
from lanlab.figures.render_matplotlib import to_drawing, to_files

POINT = Point(1.0, 2.0, 1.5, 2.5, (2.0,), "")
CHART = Chart("t", Axis("x", "s"), Axis("y", ""), (Series("one", (POINT,)),))


def drawn(jobs: list[tuple[Any, ...]]) -> list[object]:
    return [result() for result in [begin(*job) for job in jobs]]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    found: list[subprocess.Popen[bytes]] = []

    def start(*of: Any, **how: Any) -> subprocess.Popen[bytes]:
        found.append(popen(*of, **how))
        return found[-1]

    popen = subprocess.Popen
    monkeypatch.setattr(drawing, "usable_processors", lambda: 2)
    monkeypatch.setattr(drawing.subprocess, "Popen", start)
    return found


def test_worker_processes_draw_the_same_bytes(started: list[subprocess.Popen[bytes]]) -> None:
    jobs: list[tuple[Any, ...]] = 2 * [(to_drawing, CHART, "a-", 4.0), (to_files, CHART)]
    here = drawn(jobs)
    with other_processes(), other_processes():
        assert drawn(jobs) == here
    assert len(started) == 2
    assert [process.returncode for process in started] == [0, 0]


def test_errors_of_a_drawing_job_are_raised_here(started: list[subprocess.Popen[bytes]]) -> None:
    with other_processes():
        with pytest.raises(ZeroDivisionError):
            drawn([(divmod, 7, 2), (divmod, 1, 0)])
        assert drawn([(divmod, 7, 2)]) == [(3, 1)]


def test_figures_of_an_ended_worker_are_drawn_here(
    started: list[subprocess.Popen[bytes]],
) -> None:
    with other_processes():
        for process in started:
            os.kill(process.pid, signal.SIGKILL)
        assert drawn([(divmod, number, 2) for number in range(5)]) == [
            divmod(number, 2) for number in range(5)
        ]


def test_one_processor_starts_no_worker(
    started: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "usable_processors", lambda: 1)
    with other_processes():
        assert drawn([(divmod, 7, 2)]) == [(3, 1)]
    assert not started
