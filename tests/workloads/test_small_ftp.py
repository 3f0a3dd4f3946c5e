"""Files over lanlab's own TCP to and from servers of FTP over the kernel's, on the virtual LAN."""

from collections.abc import Iterator
from typing import Any

import pytest
from missing import missing
from trial_running import Pair, opened_pair

from lanlab.errors import EngineError, UnmetNeed
from lanlab.performers import metrics_of, perform_between
from lanlab.workloads import WORKLOADS, CounterChanges, TrialOutcome
from lanlab.workloads.copy.parameters import CopyParameters

ADDRESS = "10.77.0.77"
MEMORY_BYTES = 600_000


@pytest.fixture(scope="module", params=["100M", "100M:cable,loss=1%", "unshaped"])
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    with opened_pair("virtual", request.param) as pair:
        yield pair


@pytest.fixture(scope="module")
def clean() -> Iterator[Pair]:
    with opened_pair("virtual", "100M") as pair:
        yield pair


def over_small(**given: Any) -> dict[str, Any]:
    small = {"stack": "small", "stack_address": ADDRESS, "stack_memory_bytes": MEMORY_BYTES}
    return {"service": "ftp", "dataset": "1x200000B", "medium": "tmpfs", **small, **given}


def perform(pair: Pair, given: dict[str, Any]) -> TrialOutcome:
    kind = WORKLOADS["copy"]
    condition = kind.Parameters.model_validate(given)
    return perform_between(kind, condition, pair.end(0), pair.end(1), pair.lead_s)


def copied(pair: Pair, **given: Any) -> dict[str, float | int]:
    given = over_small(**given)
    outcome = perform(pair, given)
    if isinstance(outcome.error, UnmetNeed):
        missing(outcome.error)
    if outcome.error is not None:
        raise outcome.error
    result = outcome.results["client"]
    assert 0 < result["stack"]["held_bytes"] <= result["stack"]["memory_bytes"] == MEMORY_BYTES
    kind = WORKLOADS["copy"]
    condition = kind.Parameters.model_validate(given)
    return metrics_of(kind, condition, outcome, CounterChanges())


@pytest.mark.parametrize("server", ["embedded", "vsftpd"])
@pytest.mark.parametrize("direction", ["upload", "download"])
def test_a_file_arrives_complete(pair: Pair, server: str, direction: str) -> None:
    metrics = copied(pair, server=server, direction=direction)

    assert metrics["copied_bytes"] == 200_000
    assert metrics["stack_held_bytes"] <= MEMORY_BYTES


def test_on_the_virtual_lan_it_has_an_unused_address(clean: Pair) -> None:
    addresses = {host.addresses["ipv4"] for host in clean.bed.hosts}

    assert copied(clean, stack_address=None)["copied_files"] == 1
    assert {host.spare_address for host in clean.bed.hosts}.isdisjoint({*addresses, None})


def test_a_stream_after_a_copy_is_the_only_station_at_its_address(clean: Pair) -> None:
    copied(clean, stack_address=None)

    stream = {"transport": "tcp", "peer": "tcp", "message_size_bytes": 1460, "bytes": 146_000}
    outcome = clean.exchange("stream", **stream, stack="small", warmup_s=0)
    assert outcome.error is None, outcome.error


def failure(pair: Pair, **given: Any) -> EngineError:
    outcome = perform(pair, over_small(**given))
    assert isinstance(outcome.error, EngineError)
    return outcome.error


@pytest.mark.parametrize("direction", ["upload", "download"])
def test_too_little_memory_for_the_buffers_is_refused_with_a_sufficient_size(
    clean: Pair, direction: str
) -> None:
    error = failure(clean, stack_memory_bytes=64_000)

    assert error.code == "request.value"
    assert "found 64000; allowed: " in error.message
    least = int(error.message.split("allowed: ")[1].split()[0])
    failure(clean, stack_memory_bytes=least - 1)
    given = over_small(stack_memory_bytes=least, dataset="40x1kB", direction=direction)
    outcome = perform(clean, given)
    assert outcome.error is None, outcome.error
    result = outcome.results["client"]
    assert result["stack"]["held_bytes"] <= least
    assert sum(result["file_times"]["retries"]) == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"stack_address": "::1"}, "allowed: an IPv4 address"),
        ({"stack_profile": "mtpc"}, "allowed: mtcp, "),
        ({"service": "sftp"}, "service `ftp`"),
        ({"parallel_files": 2}, "allowed with stack `small`: 1"),
        ({"send_buffer_bytes": 100_000}, "1460 to 65535"),
        ({"stack": "system"}, "stack `small`"),
    ],
)
def test_options_unsupported_by_the_small_stack_are_refused(
    given: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        CopyParameters.model_validate(over_small(**given))
