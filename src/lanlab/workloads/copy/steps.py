"""The steps of one trial of a copy: prepare, time, verify, and clean up, also after a failure."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from lanlab import trial_data as m
from lanlab.errors import UsageError
from lanlab.workloads.copy import datasets
from lanlab.workloads.parameters import YEAR_S, nanoseconds
from lanlab.workloads.services.parameters import set_parts, working_name
from lanlab.workloads.services.simulated import SIMULATED_DIRECTORY, simulated_target
from lanlab.workloads.services.small_stack import requested
from lanlab.workloads.steps import TOO_LONG_HINT, EngineReport, Part, Server, Stage, Steps

if TYPE_CHECKING:
    from lanlab.workloads.copy.parameters import CopyParameters

#: Extra time for connecting and preparing.
_SETUP_S = 120.0
#: Slower copies (5 kB/s) are given up unless the user allows more: a server that rarely answers
#: would hold up a study for ever.
_SLOWEST_BPS = 40e3
#: An engine that does not end a step in time is stopped.
_BEYOND_S = 60.0
#: A server learns of a broken connection within a round trip and a time slice of its processor.
_CUT_NOTICED_S = 0.3
_FILE_TIMES = ("number", "bytes", "opened_ns", "first_byte_ns", "closed_ns", "retries")


class CopySteps(Steps):
    """The steps of a copy: files from the client to the server, or back."""

    too_long_hint = TOO_LONG_HINT
    counts_sent = True

    def __init__(self, parameters: CopyParameters) -> None:
        self._parameters = parameters
        self.setup_s = _SETUP_S + parameters.timeout_s
        self._server: Server
        self._spec: m.Spec
        self._remove: Callable[[BaseException | None], None]

    def open(self, stage: Stage) -> None:
        parameters = self._parameters
        directory = _client_directory(parameters, stage, self.longest_s())
        self._server = stage.serve(parameters, 0)
        target = self._server.target.copy()
        if parameters.stack == "small":
            address, memory_bytes = parameters.stack_address, parameters.stack_memory_bytes
            stack = requested(address, memory_bytes, parameters.stack_profile, stage, "client")
            target["options"] = {"ftp": {"stack": stack}}
        self._spec = _spec(parameters, target, directory)
        self._remove = stage.to_remove(parameters, "copy_empty", self._spec, self.longest_s())

    def prepare(self, stage: Stage) -> None:
        """Put the source files on the server; both hosts drop their cached copies if requested."""
        stage.setup["prepared"] = prepared = self._ask(stage, "copy_prepare")
        self._spec["files_digest"] = prepared["files_digest"]
        if self._parameters.cache == "cold":
            stage.setup["caches"] = _drop_caches(self._spec, self._server, stage)
        role, directory = self._fills()
        if directory is not None:
            stage.make_memory_ready(role, prepared["bytes"], prepared["files"], directory)

    def _fills(self) -> tuple[str, str | None]:
        """The role and directory of the destination, and whether it is on a disk; `None` if there
        is none.
        """
        if self._parameters.direction == "upload":
            return "server", self._server.root
        return "client", _directory_of(self._spec["client"])

    def timed(self, stage: Stage) -> Sequence[Sequence[Part]]:
        return [[Part("client", lambda _: {"type": "copy", "spec": self._spec})]]

    def collect(self, reports: Sequence[EngineReport]) -> dict[str, m.RoleResult]:
        client = next(iter(reports), None)
        if client is None or client.result is None:
            return {}
        return {"client": with_file_times(client.result, client.lines)}

    def check(self, stage: Stage) -> None:
        if self._parameters.direction == "upload":
            stage.setup["checked"] = self._ask(stage, "copy_check")

    def empty(self, stage: Stage, failed: BaseException | None) -> None:
        if failed is not None and "prepared" in stage.setup:
            # The server would otherwise finish pending requests after the clean-up.
            time.sleep(_CUT_NOTICED_S)
        self._remove(failed)

    def _ask(self, stage: Stage, kind: str) -> m.Result:
        return stage.ask("client", {"type": kind, "spec": self._spec}, self.longest_s())

    def longest_s(self) -> float:
        parameters = self._parameters
        return max(_longest_s(parameters), _usual_longest_s(parameters)) + _BEYOND_S


def with_file_times(result: m.Copied, lines: Mapping[str, Sequence[m.Line]]) -> m.RoleResult:
    """A client's result with the times of its files, which arrived in lines before it."""
    copied = lines.get("copied_files", ())
    lists = [cast("dict[str, list[int]]", line) for line in copied]
    columns = {name: [value for line in lists for value in line[name]] for name in _FILE_TIMES}
    return cast("m.RoleResult", {**result, "file_times": columns})


def simulated_spec(parameters: CopyParameters) -> m.Spec:
    """
    A copy between modelled machines: the client's files are on its machine.

    Raises:
        UsageError: The source is a directory of this host, or the service cannot be simulated.
    """
    if parameters.tree is not None:
        raise UsageError(
            f"dataset: found `{parameters.dataset}`; allowed on testbed `simulated`: a dataset",
            hint="name one, such as `1000x6kB`",
        )
    return {**_spec(parameters, simulated_target(parameters), None), **SIMULATED_DIRECTORY}


def _longest_s(parameters: CopyParameters) -> float:
    given_s = parameters.longest_s
    return _usual_longest_s(parameters) if given_s is None else given_s


def _usual_longest_s(parameters: CopyParameters) -> float:
    tree = parameters.tree
    octets = datasets.mean_bytes(parameters.dataset) if tree is None else datasets.tree_bytes(tree)
    waits_s = (parameters.retries + 1) * parameters.timeout_s
    return min(YEAR_S, _SETUP_S + waits_s + 8 * octets / _SLOWEST_BPS)


def _client_directory(parameters: CopyParameters, stage: Stage, within_s: float) -> str | None:
    """The directory on the client, including its dataset; `None` without one."""
    if parameters.direction == "download":
        if parameters.client_directory is not None:
            return parameters.client_directory
        if parameters.medium == "memory":
            return None
        return stage.directory("client", parameters.medium)
    if parameters.tree is not None:
        return parameters.tree
    if parameters.medium == "memory":
        return None
    described = _dataset(parameters)
    key = datasets.key(described)
    return stage.dataset("client", parameters.medium, key, described, within_s)


def _dataset(parameters: CopyParameters) -> m.Spec:
    return datasets.spec(parameters.dataset, parameters.dataset_seed, parameters.compressible_ratio)


def _spec(parameters: CopyParameters, target: m.Target, directory: str | None) -> m.Spec:
    tree = parameters.tree
    return {
        "service": {
            **set_parts(target),
            "timeout_ns": nanoseconds(parameters.timeout_s),
            "send_buffer_bytes": parameters.send_buffer_bytes,
            "receive_buffer_bytes": parameters.receive_buffer_bytes,
        },
        "working_name": working_name(parameters),
        "token": secrets.token_hex(16),
        "direction": parameters.direction,
        "files": {"dataset": _dataset(parameters)} if tree is None else {"tree": tree},
        "client": "memory" if directory is None else {"directory": directory},
        "parallel_files": parameters.parallel_files,
        "block_bytes": parameters.block_bytes,
        "depth": parameters.depth,
        "sync": parameters.sync,
        "verify": parameters.verify,
        "retries": parameters.retries,
        "longest_ns": nanoseconds(_longest_s(parameters)),
    }


def _directory_of(side: m.ClientSide) -> str | None:
    return side["directory"] if isinstance(side, dict) else None


def _drop_caches(spec: m.Spec, server: Server, stage: Stage) -> dict[str, m.DroppedCaches]:
    """Drop cached file data on both hosts; hosts that share a kernel share its cache.

    Each end's record says what was dropped: everything, or, without the rights for that, the files
    of that end. An end without files has nothing to drop.
    """
    found: dict[str, m.DroppedCaches] = {}
    directory = _directory_of(spec["client"])
    shares = stage.share_a_kernel()
    for role, place in (("client", directory), ("server", server.root)):
        if place is None:
            continue
        if shares and any(each["of"] == "everything" for each in found.values()):
            continue
        began = time.monotonic()
        dropped = stage.ask(role, {"type": "drop_caches", "directory": place}, _SETUP_S)
        found[role] = cast("m.DroppedCaches", dropped)
        found[role]["elapsed_s"] = time.monotonic() - began
    if server.root is None:
        found["server"] = {"of": "nothing", "reason": "the server is on a host of its own"}
    return found
