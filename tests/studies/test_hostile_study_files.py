"""A study file made to do harm is refused as a bad study, soon and in little memory."""

from __future__ import annotations

import multiprocessing
import resource
import time
from pathlib import Path

import pytest

from lanlab.errors import BadStudy, UsageError
from lanlab.studies.load import load_study

#: Of a processor, whatever runs beside us; without a bound these would take hours and gigabytes.
MOST_S, MOST_BYTES = 5.0, 300 << 20

GOOD = """
schema = 1
id = "small"
title = "Small"

[[experiment]]
id = "rates"
title = "Rates"
workload = "stream"
metrics = ["goodput_bps"]
parameters = { time_s = 0.2, message_size_bytes = 500 }
factors = { rate_bps = [1000000, 2000000] }

[scale.quick]
"""
MANY = ", ".join(str(1000 + number) for number in range(1000))


def with_factors(factors: str) -> str:
    return GOOD.replace("factors = { rate_bps = [1000000, 2000000] }", f"factors = {{ {factors} }}")


HOSTILE = {
    "a product of 10^9": with_factors(
        f"rate_bps = [{MANY}], message_size_bytes = [{MANY}], flows = [{MANY}]"
    ).replace(", message_size_bytes = 500 }", " }"),
    "a hundred thousand levels": with_factors(
        f"rate_bps = [{', '.join(str(1000 + number) for number in range(100_000))}]"
    ),
    "one level ten thousand times": with_factors(f"rate_bps = [{10_000 * '1000, '}]"),
    "deep lists": with_factors(f"rate_bps = {400 * '['}1{400 * ']'}"),
    "very deep lists": with_factors(f"rate_bps = {100_000 * '['}"),
    "deep tables": GOOD + "\n[" + ".".join("a" * 2 for _ in range(5_000)) + "]\n",
    "NaN": with_factors("rate_bps = [nan]"),
    "infinite": with_factors("rate_bps = [inf, -inf]"),
    "huge": with_factors(f"rate_bps = [{4_000 * '9'}]"),
    "very huge": with_factors(f"rate_bps = [{500_000 * '9'}]"),
    "huge time": GOOD.replace("time_s = 0.2", "time_s = 1e308"),
    "huge trials": GOOD + f"trials = {{ min = 1, max = {10**15} }}\n",
    "a path for an id": GOOD.replace('id = "small"', 'id = "../../../etc/cron.d/x"'),
    "a path for an experiment": GOOD.replace('id = "rates"', 'id = "../../x"'),
    "a path for a scale": GOOD + '[scale."../../x"]\n',
    "escapes for an id": GOOD.replace('id = "small"', 'id = "\\u001b]0;x\\u0007"'),
    "an id twice": GOOD + GOOD[GOOD.index("[[experiment]]") : GOOD.index("[scale")],
    "a key twice": GOOD + "[scale.quick]\n",
    "a host a metre long": GOOD + f"[testbed]\nhosts = {10**9}\n",
    "a long name": GOOD.replace('id = "small"', f'id = "{"a" * 500_000}"'),
    "too long a file": GOOD + "#" * (1 << 20),
    "empty": "",
    "null": "\0" * 1000,
}


def _load(path: str, told: multiprocessing.connection.Connection) -> None:
    # Memory that a process of this name has already is not the file's.
    began = time.process_time()
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        load_study(path)
        said = "loaded"
    except UsageError as error:
        said = f"{type(error).__name__}: {error.message}"
    except BaseException as error:
        said = f"a defect: {type(error).__name__}: {str(error)[:200]}"
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    told.send((said, time.process_time() - began, grown))


def loaded_apart(path: Path) -> tuple[str, float, int]:
    """What comes of loading a file in a process of its own: word, seconds, bytes."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_load, args=(str(path), theirs))
    process.start()
    try:
        assert ours.poll(60), "it takes more than a minute"
        found: tuple[str, float, int] = ours.recv()
        return found
    finally:
        process.kill()
        process.join()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_soon_and_in_little_memory(tmp_path: Path, name: str) -> None:
    load_study("manford-kolahi")  # What loading takes at first is not the file's.
    path = tmp_path / "study.toml"
    path.write_text(HOSTILE[name])
    said, took_s, grown = loaded_apart(path)
    assert said.startswith(("BadStudy: ", "UsageError: ")), said[:300]
    assert len(said) < 1_000
    assert took_s < MOST_S
    assert grown < MOST_BYTES


def test_the_unmodified_study_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(GOOD)
    assert load_study(str(path)).study.id == "small"


@pytest.mark.parametrize("name", ["../../etc/passwd", "/dev/zero", "a\0b", "x" * 5000, "~/x.toml"])
def test_an_invalid_study_name_is_refused(name: str) -> None:
    with pytest.raises((UsageError, BadStudy)):
        load_study(name)


def test_a_study_file_that_never_ends_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.symlink_to("/dev/zero")
    with pytest.raises((UsageError, BadStudy)):
        load_study(str(path))
