"""The figures of stations, in the form of a study file."""

from __future__ import annotations


def station_figures(
    experiment: str, within_s: float | None = None, of: str = "mean"
) -> list[dict[str, object]]:
    """
    The figures of stations, in the form of a study file.

    Args:
        of: Which response time: `mean`, `p50`, `p90` or `p99`.
    """
    limit = {} if within_s is None else {"within_s": within_s}
    response = f"response_{of}_ns"
    drawn: tuple[tuple[str, str, dict[str, object]], ...] = (
        ("response_against_stations", "Response time by stations", {"metric": response, **limit}),
        (
            "throughput_against_stations",
            "Throughput by stations",
            {"metric": "operations_per_s"},
        ),
        ("station_fairness", "Fairness among stations", {}),
    )
    return [
        {"figure": name, "title": title, "experiments": [experiment], **more}
        for name, title, more in drawn
    ]
