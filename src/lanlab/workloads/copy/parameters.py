"""The parameters of `copy`."""

from __future__ import annotations

from typing import Literal

from pydantic import field_validator, model_validator

from lanlab.errors import UsageError
from lanlab.messages import SocketOptions
from lanlab.workloads.copy import datasets
from lanlab.workloads.definitions import parameter
from lanlab.workloads.parameters import YEAR_S, Seconds, Share, SizeBytes
from lanlab.workloads.services.parameters import ServiceParameters
from lanlab.workloads.services.small_stack import (
    ADDRESS_HELP,
    MEMORY_HELP,
    PROFILE_HELP,
    check_small_stack,
)
from lanlab.workloads.without_effect import COPY_NEEDS, refuse_without_effect


class CopyParameters(ServiceParameters):
    workload = "copy"

    direction: Literal["upload", "download"] = parameter(
        "upload", "Which way the measured files go.", option=None
    )
    dataset: str = parameter(
        "schomer-large",
        "Files to copy: a dataset by its name or description (1000x6kB), or `dir:` and the "
        "absolute path of a directory.",
        option=None,
    )
    dataset_seed: int = parameter(
        1, "Seed of the contents of a dataset.", option=None, ge=0, le=2**63 - 1
    )
    compressible_ratio: Share = parameter(
        0.0, "Share of each file of a dataset that is zeros.", option=None, ge=0, le=1
    )
    parallel_files: int = parameter(
        1, "Files copied at once, each on its own connection.", option="--parallel", ge=1, le=64
    )
    medium: Literal["memory", "tmpfs", "disk"] = parameter(
        "memory", "Where this host keeps the dataset."
    )
    client_directory: str | None = parameter(
        None,
        "Directory that a download writes to. Default: a temporary one on the medium.",
        option=None,
    )
    sync: Literal["none", "file"] = parameter(
        "none", "`file` flushes each file to disk before it counts."
    )
    cache: Literal["warm", "cold"] = parameter(
        "warm", "`cold` drops the page caches of both hosts before each trial."
    )
    verify: Literal["content", "size", "none"] = parameter(
        "content", "What to compare after an upload."
    )
    longest_s: Seconds | None = parameter(
        None,
        "Time limit of each step of a trial. Default: 2 min plus the transfer time at 5 kB/s.",
        ge=0.1,
        le=YEAR_S,
    )
    block_bytes: SizeBytes | None = parameter(
        None, "Bytes per read or write call.", ge=512, le=8 * 2**20
    )
    depth: int | None = parameter(None, "Calls in flight per file.", ge=1, le=256)
    send_buffer_bytes: SizeBytes | None = parameter(
        None, "SO_SNDBUF of the client.", option=None, ge=1024, le=2**30
    )
    receive_buffer_bytes: SizeBytes | None = parameter(
        None, "SO_RCVBUF of the client.", option=None, ge=1024, le=2**30
    )

    stack: Literal["system", "small"] = parameter(
        "system",
        "TCP for FTP: the system's, or lanlab's own (`small`), with an address of its own.",
        simulated=["system"],
    )
    stack_address: str | None = parameter(None, ADDRESS_HELP, metavar="ADDRESS")
    stack_profile: str | None = parameter(None, PROFILE_HELP, metavar="NAME")
    stack_memory_bytes: SizeBytes = parameter(600_000, MEMORY_HELP, ge=1_000, le=2**24)

    @field_validator("dataset")
    @classmethod
    def _known_dataset(cls, dataset: str) -> str:
        try:
            if not dataset.startswith(datasets.DIRECTORY):
                datasets.groups(dataset)
            elif not dataset.removeprefix(datasets.DIRECTORY).startswith(("/", "\\")) and (
                ":" not in dataset[5:7]
            ):
                raise ValueError("dataset: found a relative path; allowed: an absolute one")
        except UsageError as error:
            text = f"{error.message}; {error.hint}" if error.hint else error.message
            raise ValueError(text if text.startswith("dataset: ") else f"dataset: {text}") from None
        return dataset

    @model_validator(mode="after")
    def _all_has_effect(self) -> CopyParameters:
        refuse_without_effect(self, COPY_NEEDS)
        if self.stack == "small":
            profile, address = self.stack_profile, self.stack_address
            check_small_stack(profile, address, self.ip_version, self.socket_options())
            if self.parallel_files != 1:
                raise ValueError(
                    f"parallel_files: found {self.parallel_files}; allowed with stack `small`: 1"
                )
        return self

    def socket_options(self) -> SocketOptions:
        return {
            "send_buffer_bytes": self.send_buffer_bytes,
            "receive_buffer_bytes": self.receive_buffer_bytes,
        }

    @property
    def tree(self) -> str | None:
        """The directory whose files are copied; `None` for a dataset."""
        if not self.dataset.startswith(datasets.DIRECTORY):
            return None
        return self.dataset.removeprefix(datasets.DIRECTORY)
