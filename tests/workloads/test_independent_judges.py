"""
Programs that others wrote measure the same link and find the same.

They are skipped where they are not installed; with LANLAB_REQUIRE_PEERS=1 that is a failure.
"""

from collections.abc import Iterator

import pytest
from captures import captured
from trial_running import Pair, opened_pair


@pytest.fixture(scope="module")
def lan() -> Iterator[Pair]:
    with opened_pair("virtual", "10M") as pair:
        yield pair


def test_tshark_sees_every_datagram_once(lan: Pair) -> None:
    """A paced trial of 300 messages in 3 flows, on the wire: 300 datagrams of that length."""
    flows = 3
    source, target = lan.bed.hosts
    with captured([target], source, target.addresses["ipv4"], 500) as end:
        trial = lan.trial(
            "stream", message_size_bytes=500, messages=300, rate_messages_per_s=1000, flows=flows
        )
        (ports,) = end()
    assert len(ports) == trial.source["sent_messages"] == trial.target["total_messages"] == 300
    assert len(set(ports)) == flows
    assert all(ports.count(port) == 300 // flows for port in ports)
