"""The metrics of a copy that nobody ran, from what was copied and how long that took."""

from lanlab.workloads.copy.datasets import groups, mean_bytes


def contents(dataset: str) -> tuple[int, int]:
    return round(mean_bytes(dataset)), sum(group["count"] or 0 for group in groups(dataset))


def copied(dataset: str, elapsed_s: float) -> dict[str, float | int]:
    octets, files = contents(dataset)
    return {
        "elapsed_s": elapsed_s,
        "elapsed_ns": round(1e9 * elapsed_s),
        "copied_bytes": octets,
        "copied_files": files,
        "goodput_bps": 8 * octets / elapsed_s,
        "files_per_s": files / elapsed_s,
    }
