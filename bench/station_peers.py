"""Stations beside fio and elbencho, which read and write the same blocks of local files."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from station_trials import ends, median, trial

from lanlab.workloads.stream.fairness import jain_index

#: Where files are in memory, and where they are on a disk.
_MEMORY, _DISK = Path("/dev/shm"), Path("/var/tmp")
#: fio sums the rates of its threads, each over its own time. These do not begin together: 64 of
#: them within 80 ms, in which the first have the machine to themselves, as the last have at the
#: end. In a trial of 1 s the sum is a fifth above what all did in that time, in one of 5 s 2 %.
_LEAST_S = 5
#: lanlab as its command line runs it, where what is read is compared.
_COMPARED = "lanlab, compared"
_OURS = ("lanlab", _COMPARED)
#: A peer that has not ended by then is stuck.
_WITHIN_S = 60.0


@dataclass(frozen=True)
class Cell:
    """One thing to measure by every program."""

    operation: str
    block_bytes: int
    stations: int
    #: Of each station. Small ones stay in the processor's caches, large ones do not: then most of
    #: an operation is the system's copying, which costs every program the same.
    file_bytes: int
    #: Whether each write is brought to the disk; else files are in memory.
    is_synced: bool = False

    @property
    def name(self) -> str:
        """As in `read-6000-15-60000`: operation, block, stations, file."""
        synced = "-synced" if self.is_synced else ""
        shape = f"{self.block_bytes}-{self.stations}-{self.file_bytes}"
        return f"{self.operation}-{shape}{synced}"

    @property
    def place(self) -> Path:
        """Where the files are."""
        return _DISK if self.is_synced else _MEMORY


@dataclass(frozen=True)
class Found:
    """What a program came to."""

    operations_per_s: float
    #: Of its stations; `None` if it does not tell them apart.
    jain_index: float | None
    #: Processor time of an operation, in the program and in the system, nanoseconds.
    cpu_ns: float | None = None


CELLS = (
    *(
        Cell(operation, block, stations, file_bytes)
        for file_bytes in (60_000, 6_000_000)
        for operation in ("read", "write")
        for block in (750, 6000, 30_000)
        for stations in (1, 15, 64)
    ),
    *(Cell("write", 6000, stations, 6_000_000, True) for stations in (1, 15)),
)


def _lanlab(cell: Cell, time_s: float, *, verify: bool = False) -> Found:
    """As `--no-verify`, as the others compare nothing."""
    with ends() as both:
        metrics, told = trial(
            both,
            service="directory",
            server_medium="disk" if cell.is_synced else "tmpfs",
            operation=cell.operation,
            stations=cell.stations,
            message_size_bytes=cell.block_bytes,
            file_size_bytes=cell.file_bytes,
            sync="each" if cell.is_synced else "none",
            time_s=time_s,
            verify=verify,
        )
    cpu_ns = (told["cpu"]["user_ns"] + told["cpu"]["system_ns"]) / told["readings_count"]
    rate, jain = float(metrics["operations_per_s"]), float(metrics.get("jain_index", 1.0))
    return Found(rate, jain, cpu_ns)


def _run(command: list[str]) -> str:
    return subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=_WITHIN_S
    ).stdout


def _fio(cell: Cell, time_s: float, *more: str) -> Found:
    with tempfile.TemporaryDirectory(dir=cell.place) as folder:
        command = ["fio", "--name=station", f"--directory={folder}", "--ioengine=psync"]
        command += [
            f"--rw={cell.operation}",
            f"--bs={cell.block_bytes}",
            f"--size={cell.file_bytes}",
        ]
        command += [f"--numjobs={cell.stations}", "--thread", "--time_based", "--fallocate=none"]
        command += [f"--runtime={time_s:g}", "--output-format=json", "--invalidate=0"]
        # All files are there before the first operation, as lanlab's are.
        command += ["--create_serialize=1", "--overwrite=1"]
        command += [*(["--fdatasync=1"] if cell.is_synced else []), *more]
        said = _run(command)
    jobs = json.loads(said[said.index("{") :])["jobs"]
    rates = [float(job[cell.operation]["iops"]) for job in jobs]
    # Percent of the time that a thread ran, milliseconds.
    cpu_ns = sum((job["usr_cpu"] + job["sys_cpu"]) * job["job_runtime"] * 1e4 for job in jobs)
    operations = sum(job[cell.operation]["total_ios"] for job in jobs)
    return Found(sum(rates), jain_index(rates), cpu_ns / max(1, operations))


def _fio_refilled(cell: Cell, time_s: float) -> Found:
    """As lanlab has it: no block is what another was, so that no server can make less of it."""
    return _fio(cell, time_s, "--refill_buffers=1")


def _elbencho(cell: Cell, time_s: float) -> Found:
    with tempfile.TemporaryDirectory(dir=cell.place) as folder:
        files = [str(Path(folder, f"s{number}")) for number in range(cell.stations)]
        blocks = cell.file_bytes // cell.block_bytes
        common = ["-t", str(cell.stations), "-b", str(cell.block_bytes)]
        common += ["-s", str(blocks * cell.block_bytes), "--nolive", *files]
        _run(["elbencho", "-w", *common])
        out = Path(folder, "result.csv")
        way = ["-w"] if cell.operation == "write" else ["-r"]
        command = ["elbencho", *way, "--infloop", "--timelimit", f"{max(1, round(time_s))}"]
        _run([*command, "--csvfile", str(out), *common])
        head, row = (line.split(",") for line in out.read_text().splitlines()[:2])
    column = next(i for i, name in enumerate(head) if name.strip().lower() == "iops [last]")
    # It tells nothing of single threads in its file.
    return Found(float(row[column]), None)


_PROGRAMS: Mapping[str, Callable[[Cell, float], Found]] = {
    "lanlab": _lanlab,
    _COMPARED: partial(_lanlab, verify=True),
    "fio": _fio,
    "fio refilled": _fio_refilled,
    "elbencho": _elbencho,
}


def _can(program: str, cell: Cell) -> bool:
    # elbencho knows no word for bringing each write to the disk, and what is read fills no buffer.
    cannot = {
        "elbencho": cell.is_synced,
        "fio refilled": cell.operation == "read",
        _COMPARED: cell.operation == "write",
    }
    return not cannot.get(program, False)


def _is_here(program: str) -> bool:
    return program in _OURS or shutil.which(program.partition(" ")[0]) is not None


def measured(runs: int, time_s: float, only: str = "") -> Iterator[str]:
    """
    Every cell by every program that is here, in blocks of random order: a table, by lines.

    Args:
        only: Those cells whose name begins so.
    """
    time_s = max(_LEAST_S, round(time_s))
    programs = [name for name in _PROGRAMS if _is_here(name)]
    missing = [name for name in _PROGRAMS if name not in programs]
    found: dict[tuple[Cell, str], list[Found]] = {}
    cells = [cell for cell in CELLS if cell.name.startswith(only)]
    turns = [(cell, name) for cell in cells for name in programs if _can(name, cell)]
    for _ in range(runs):
        for cell, name in random.sample(turns, len(turns)):
            found.setdefault((cell, name), []).append(_PROGRAMS[name](cell, time_s))
    yield "## Beside fio and elbencho"
    yield ""
    yield "Files in memory (tmpfs), those of `synced` on this machine's disk; a thread a station,"
    yield f"blocks in order, {time_s:g} s; medians of {runs}, with Jain's index of the stations"
    yield "and the processor time of an operation, in the program and in the system."
    yield "`refilled`: with `--refill_buffers`, so that its blocks differ as lanlab's do."
    if missing:
        yield f"Not installed: {', '.join(missing)}."
    yield ""
    yield from table(programs, found)
    yield ""


def table(programs: list[str], found: Mapping[tuple[Cell, str], list[Found]]) -> Iterator[str]:
    """
    A line for each cell; its last columns are lanlab over the better of the others, without and
    with comparing what was read.

    Args:
        programs: `lanlab` and those beside it.
    """
    heads = " | ".join(f"{name}, op/s (Jain; CPU)" for name in programs)
    ratios = " | ".join(f"{name} / better" for name in _OURS)
    yield f"| operation | octets | of files of | stations | {heads} | {ratios} |"
    yield "|---" * (4 + len(programs) + len(_OURS)) + "|"
    for cell in dict.fromkeys(cell for cell, _ in found):
        rates = {
            name: median(one.operations_per_s for one in found[cell, name])
            for name in programs
            if (cell, name) in found
        }
        texts = [
            f"{rates[name]:,.0f} ({_fairness(found[cell, name])}{_cpu(found[cell, name])})"
            if name in rates
            else ""
            for name in programs
        ]
        better = max((rate for name, rate in rates.items() if name not in _OURS), default=None)
        ratios = [
            "" if better is None or name not in rates else f"{rates[name] / better:.2f}"
            for name in _OURS
        ]
        operation = cell.operation + (", synced" if cell.is_synced else "")
        shape = (cell.block_bytes, cell.file_bytes, cell.stations)
        cells = [operation, *map(str, shape), *texts, *ratios]
        yield f"| {' | '.join(cells)} |"


def _fairness(found: Iterable[Found]) -> str:
    told = [one.jain_index for one in found if one.jain_index is not None]
    return f"{median(told):.2f}" if told else "not told"


def _cpu(found: Iterable[Found]) -> str:
    told = [one.cpu_ns for one in found if one.cpu_ns is not None]
    return f"; {median(told):,.0f} ns" if told else ""
