"""
The measurements of `lanlab nas`: one large file and many small files, up and down, and metadata, by
one client and by eight. Their sizes keep the run within its time limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lanlab.frozen import dataclass
from lanlab.store.records import Level
from lanlab.trial_data import ExperimentData
from lanlab.units import format_size

#: Files copied to check a server before planning, by the metric that they yield.
CHECKS: Mapping[str, str] = {"goodput_bps": "1x2MB", "files_per_s": "20x16kB"}
#: Seconds. Sleeping disks need up to 15 to spin up; copies to the slowest server are planned for 1.
_LIMITS: Mapping[str, Level] = {"timeout_s": 20, "longest_s": 60}
_SMALL_BYTES = 16_000
#: Purposes of the measurements, in the order of the answer.
FILES: Mapping[str, str] = {
    "large": "large files",
    "small": "many small files",
    "metadata": "creating and removing files",
}
CLIENTS = (1, 8)
_LARGE_BYTES = (100_000, 1_000_000_000)
_SMALL_FILES = (8, 4_000)
#: Share of a trial's time spent on copying; the rest is setup, comparison and cleanup.
_COPYING_RATIO = 0.4
#: Time of the metadata operations on one file with their checks, in copies of a small file.
_METADATA_COPIES = 5


@dataclass(frozen=True)
class Scale:
    trials: int
    #: Time for all copies together, s.
    budget_s: float


QUICK = Scale(7, 120.0)
USUAL = Scale(12, 600.0)


@dataclass(frozen=True)
class Speed:
    goodput_bps: float
    files_per_s: float


@dataclass(frozen=True)
class Task:
    id: str
    #: Title in tables, as in "one large file, up, 1 client".
    title: str
    workload: str
    metric: str
    parameters: Mapping[str, Level]

    def experiment(self, targets: Sequence[str], common: Mapping[str, Level]) -> ExperimentData:
        """In the form of a study file: targets in random order in each block."""
        return {
            "id": self.id,
            "title": self.title,
            "workload": self.workload,
            "metrics": [self.metric],
            "parameters": {**self.parameters, **_LIMITS, **common},
            "factors": {"server": list(targets)},
        }


def tasks(scale: Scale, slowest: Speed, targets: int) -> tuple[Task, ...]:
    """
    The tasks of a plan.

    Args:
        slowest: The lowest goodput and the fewest files per second of all targets.
        targets: Number of measured targets.
    """
    count = (2 * 2 + 1) * len(CLIENTS)
    copying_s = _COPYING_RATIO * scale.budget_s / (scale.trials * count * targets)
    large_bytes = _within(slowest.goodput_bps / 8 * copying_s, *_LARGE_BYTES)
    small_files = _within(slowest.files_per_s * copying_s, *_SMALL_FILES)
    empty_files = _within(small_files / _METADATA_COPIES, *_SMALL_FILES)
    found = []
    for kind in ("large", "small"):
        for clients in CLIENTS:
            # Each client has a file.
            dataset = f"{_round(small_files)}x{_SMALL_BYTES // 1000}kB"
            if kind == "large":
                dataset = f"{clients}x{_round(large_bytes / clients)}B"
            found += [_copy(kind, clients, dataset, way) for way in ("upload", "download")]
    found += [_metadata(clients, round(empty_files / clients) * clients) for clients in CLIENTS]
    return tuple(found)


def _copy(kind: str, clients: int, dataset: str, direction: str) -> Task:
    files = "one large file" if (kind, clients) == ("large", 1) else FILES[kind]
    return Task(
        f"{kind}-{direction}-{clients}",
        f"{files}, {direction}, {_clients(clients)}",
        "copy",
        "goodput_bps" if kind == "large" else "files_per_s",
        {"dataset": dataset, "direction": direction, "parallel_files": clients},
    )


def _metadata(clients: int, files: int) -> Task:
    return Task(
        f"metadata-{clients}",
        f"{FILES['metadata']}, {_clients(clients)}",
        "metadata",
        "files_created_and_removed_per_s",
        {"files": files, "client_count": clients},
    )


def bytes_needed(found: Sequence[Task]) -> int:
    from lanlab.workloads.copy.datasets import mean_bytes

    datasets = [str(task.parameters["dataset"]) for task in found if "dataset" in task.parameters]
    return int(max(map(mean_bytes, datasets)))


def study(
    host: str,
    targets: Sequence[str],
    found: Sequence[Task],
    trials: int,
    common: Mapping[str, Level],
) -> dict[str, object]:
    """
    The plan as a study.

    Args:
        common: Parameters of every copy.
    """
    title = f"Which protocol of {host} is fastest, and for what"
    figures = [{"figure": "bars", "title": task.title, "experiments": [task.id]} for task in found]
    experiments = [task.experiment(targets, common) for task in found]
    return _study("nas", title, experiments, {"min": trials, "max": trials}) | {"figure": figures}


def check_study(
    host: str, targets: Sequence[str], dataset: str, common: Mapping[str, Level]
) -> dict[str, object]:
    """One small copy to each target, to check access and estimate the speed."""
    task = Task("check", dataset, "copy", "goodput_bps", {"dataset": dataset, "retries": 0})
    policy = {"min": 1, "max": 1, "retry_failed": 0}
    title = f"Whether lanlab may copy to {host}"
    return _study("nas-check", title, [task.experiment(targets, common)], policy)


def _study(
    name: str, title: str, experiments: Sequence[ExperimentData], trials: Mapping[str, int]
) -> dict[str, object]:
    return {
        "schema": 1,
        "id": name,
        "title": title,
        "testbed": {"hosts": 2},
        "experiment": list(experiments),
        "scale": {"single": {"trials": {**trials, "repeat_polluted": 0}}},
    }


def in_words(found: Sequence[Task]) -> str:
    of = {task.id: task.parameters for task in found}
    large = format_size(
        int(str(of["large-upload-1"]["dataset"]).partition("x")[2].removesuffix("B"))
    )
    small = str(of["small-upload-1"]["dataset"]).partition("x")[0]
    return (
        f"one file of {large} and {small} files of {_SMALL_BYTES // 1000} kB, up and down, and "
        f"{of['metadata-1']['files']:,} empty files created and removed, by {CLIENTS[0]} and "
        f"{CLIENTS[1]} clients"
    )


def _within(value: float, low: int, high: int) -> float:
    return min(max(value, low), high)


def _round(value: float) -> int:
    unit: int = 10 ** max(0, len(str(int(value))) - 2)
    return int(value) // unit * unit


def _clients(clients: int) -> str:
    return "1 client" if clients == 1 else f"{clients} clients"
