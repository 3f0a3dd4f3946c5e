"""The parameters of `stations`."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from lanlab.services import SERVICES
from lanlab.workloads.definitions import parameter
from lanlab.workloads.parameters import Seconds, Share, SizeBytes
from lanlab.workloads.services.parameters import ServiceParameters
from lanlab.workloads.without_effect import STATIONS_NEEDS, refuse_without_effect

#: Default limit of single readings that are kept: 10 MB in an engine.
_KEPT_READINGS = 250_000
#: Default readings of each station: as many as in the published measurements.
_READINGS = 800
#: Default limit for the readings of all stations; more take minutes.
_READINGS_OF_ALL = 800_000
#: Maximum readings of all stations on request: 640 MB in an engine.
_MOST_ASKED_READINGS = 2**24
#: Default size of the files of all stations together, bytes.
_FILES_BYTES = 256 * 2**20


class StationsParameters(ServiceParameters):
    workload = "stations"
    # `memory` shows the cost of measuring itself.
    needs_files = False

    stations: int = parameter(1, "Number of stations.", ge=1, le=10_000)
    operation: Literal["read", "write", "mix"] = parameter(
        "read", "Operation of each station.", option=None
    )
    read_ratio: Share = parameter(
        0.5,
        "Share of reads in a mix, e.g. 70%. Default: read only.",
        option="--read-ratio",
        ge=0,
        le=1,
    )
    access: Literal["sequential", "random"] = parameter(
        "sequential", "Order of the blocks within a file."
    )
    message_size_bytes: SizeBytes = parameter(
        6000, "Bytes per operation, e.g. 6k or 64KiB.", option="--size", ge=1, le=64 * 2**20
    )
    file_size_bytes: SizeBytes | None = parameter(
        None,
        "Size of each station's file. Default: 1 MiB, and no more than 256 MiB for all stations.",
        ge=1,
        le=2**40,
    )
    file_blocks: int | None = parameter(
        None,
        "Size of each station's file in operations, in place of --file-size.",
        option=None,
        ge=1,
        le=2**32,
    )
    think_time_s: Seconds = parameter(
        0.0, "Pause of a station between operations (closed loop).", ge=0, le=3600
    )
    loop: Literal["closed", "open"] = parameter(
        "closed",
        "`closed`: a station starts its next operation when the last one has ended; `open`: "
        "operations start at a rate.",
        option=None,
    )
    arrivals: Literal["fixed", "poisson"] = parameter(
        "poisson", "Distribution of arrivals in an open loop."
    )
    rate_operations_per_s: float | None = parameter(
        None,
        "Open loop: total operations/s, independent of replies.",
        option="--rate",
        gt=0,
        le=1e7,
    )
    sync: Literal["none", "each"] = parameter(
        "none", "`each` counts a write when it is on the server's disk."
    )
    readings_per_station: int | None = parameter(
        None,
        "Operations per station; at most 16,777,216 in total. Default, without --time or "
        "--interval: 800, and no more than 800,000 in total.",
        option="--readings",
        ge=1,
        le=10_000_000,
    )
    warm_up_readings: int = parameter(
        0,
        "Uncounted operations at the start of each station, e.g. while a cache fills.",
        option=None,
        ge=0,
        le=1_000_000,
    )
    time_s: Seconds | None = parameter(
        None,
        "Start no operation after this time. Above 250,000 readings, only every 2nd, 4th, ... is "
        "saved.",
        gt=0,
        le=86_400,
    )
    longest_s: Seconds | None = parameter(
        None,
        "Time limit of each step of a trial beyond --time. Default: a few minutes, more for many "
        "stations and files.",
        ge=0.1,
        le=366 * 86_400,
    )
    interval_ratio: Share | None = parameter(
        None, "Stop when the mean response time is known to this precision, e.g. 2%.", gt=0, lt=1
    )
    verify: bool = parameter(True, "Compare what is read with what was written there.")
    seed: int = parameter(1, "Seed of random access and arrivals.", option=None, ge=0, le=2**63 - 1)
    connects_at_once: int = parameter(32, "Connections opened at once.", option=None, ge=1, le=1024)
    threads: int | None = parameter(
        None,
        "Threads per host for the stations. Default: one per CPU; for NFS and SMB, one per two "
        "CPUs.",
        option=None,
        simulated=[None, 1],
        ge=1,
        le=64,
    )

    @model_validator(mode="after")
    def _loop_fits(self) -> StationsParameters:
        if self.loop == "open":
            if self.rate_operations_per_s is None:
                raise ValueError("an open loop needs rate_operations_per_s")
            if self.think_time_s:
                raise ValueError("think_time_s needs a closed loop")
        elif self.rate_operations_per_s is not None:
            raise ValueError("rate_operations_per_s needs loop `open`")
        refuse_without_effect(self, STATIONS_NEEDS)
        return self

    @model_validator(mode="after")
    def _server_has_sessions(self) -> StationsParameters:
        system = self.system_profile
        if system is not None and not self.is_users_server and self.stations > system.sessions:
            raise ValueError(
                f"stations: found {self.stations}; allowed: 1 to {system.sessions}, the sessions "
                f"of {system.title}"
            )
        return self

    @model_validator(mode="after")
    def _file_holds_a_message(self) -> StationsParameters:
        if self.file_size_bytes is not None and self.file_size_bytes < self.message_size_bytes:
            raise ValueError(
                f"file_size_bytes: found {self.file_size_bytes}; allowed: at least one message "
                f"({self.message_size_bytes})"
            )
        return self

    @model_validator(mode="after")
    def _file_has_one_size(self) -> StationsParameters:
        if self.file_size_bytes is not None and self.file_blocks is not None:
            raise ValueError("file_blocks and file_size_bytes cannot be used together")
        if self.own_file_size_bytes > 2**40:
            raise ValueError(
                f"file_blocks: a file of {self.own_file_size_bytes} bytes; allowed: up to {2**40}"
            )
        return self

    @model_validator(mode="after")
    def _readings_can_be_kept(self) -> StationsParameters:
        readings = (self.readings_per_station or 0) * self.stations
        if readings > _MOST_ASKED_READINGS:
            raise ValueError(
                f"readings_per_station: found {readings} for all stations together; allowed: "
                f"{_MOST_ASKED_READINGS}; with time_s instead, readings are thinned"
            )
        return self

    @property
    def simulated_clients(self) -> int:
        return self.stations

    @property
    def own_file_size_bytes(self) -> int:
        if self.file_blocks is not None:
            return self.file_blocks * self.message_size_bytes
        share = min(2**20, _FILES_BYTES // self.stations)
        return self.file_size_bytes or max(share, self.message_size_bytes)

    @property
    def kept_readings(self) -> int:
        """
        Single readings that an engine keeps; above it, it keeps every second, fourth and so on.
        """
        return max(_KEPT_READINGS, (self.readings_per_station or 0) * self.stations)

    @property
    def written_bytes(self) -> int:
        """Approximate bytes written to the server before a trial: for a service that only moves
        whole files, each station has up to eight of the size of a message.
        """
        each = self.own_file_size_bytes
        if not SERVICES[self.service].has_blocks:
            each = min(each, 8 * self.message_size_bytes)
        return self.stations * each

    @property
    def readings_each(self) -> int | None:
        """Readings after which a station ends; `None` if only time or the interval ends it."""
        if self.readings_per_station is None and self.time_s is None:
            share = min(_READINGS, _READINGS_OF_ALL // self.stations)
            return None if self.interval_ratio is not None else share
        return self.readings_per_station
