"""Metrics of a trial of stations, by name; loads nothing, as every command needs the names."""

from __future__ import annotations

#: Where the result of the stations' end keeps what is summed of its readings.
RECORD = "station_sums"
#: Percentiles of response times, by the names of their metrics.
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
#: Metrics of a trial, with their units.
METRICS = {
    "stations": "stations",
    "operations_per_s": "1/s",
    "goodput_bps": "bit/s",
    "response_mean_ns": "ns",
    "response_sd_ns": "ns",
    **{f"response_{name}_ns": "ns" for name in PERCENTILES},
    # Of the station with the greatest: its standard deviation over its mean.
    "response_cv_ratio": "ratio",
    "jain_index": "",
    "station_operations_min_per_s": "1/s",
    "station_operations_max_per_s": "1/s",
    "station_operations_sd_per_s": "1/s",
    "response_station_min_ns": "ns",
    "response_station_max_ns": "ns",
    "readings": "readings",
    "errors": "errors",
    "error_ratio": "ratio",
    "retries": "retries",
    "wrong_data": "readings",
    "steady_start_ns": "ns",
    "steady_end_ns": "ns",
    "steady_ratio": "ratio",
    "little_ratio": "ratio",
    "start_skew_ns": "ns",
}
