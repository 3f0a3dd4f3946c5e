"""Trials over lanlab's own medium: what it loses, delays and holds back."""

from contextlib import closing

from trial_running import opened_pair

from lanlab.performers import Hosts, performer_for
from lanlab.testbeds.registry import testbed as open_testbed
from lanlab.testbeds.virtual import VirtualTestbed
from lanlab.workloads import workload
from lanlab.workloads.stream.losses import LOST_IN_THE_MEDIUM, LOST_ON_THE_WAY


def test_losses_of_a_medium_are_named_and_add_up() -> None:
    with opened_pair("virtual", "10M,loss=20%") as pair:
        trial = pair.trial("stream", message_size_bytes=64, messages=2000, rate_bps="2M")
    metrics = trial.metrics
    places = (*LOST_ON_THE_WAY, *LOST_IN_THE_MEDIUM)
    assert metrics["lost_messages"] == sum(metrics[place] for place in places)
    # Five standard deviations of a binomial: 5 * sqrt(2000 * 0.2 * 0.8).
    assert abs(metrics["lost_chance_messages"] - 400) <= 90


def test_simultaneous_senders_collide_on_a_hub_and_not_on_a_switch() -> None:
    for link, collides in (("10M:hub", True), ("10M:switch", False)):
        with opened_pair("virtual", link) as pair:
            pair.trial("stream", transport="tcp", message_size_bytes=1448, time_s=0.4)
            counts = pair.bed.counters()
            assert isinstance(pair.bed, VirtualTestbed)
            read = pair.bed.medium_read()
        assert read is not None
        assert (counts["host1/eth0"]["medium_collisions"] > 0) == collides
        assert (read["collisions"] > 0) == collides
        assert read["busy_ns"] > 0


def test_a_sender_faster_than_the_medium_waits_and_loses_nothing() -> None:
    with opened_pair("virtual", "10M") as pair:
        trial = pair.trial("stream", message_size_bytes=1472, time_s=0.5)
    # A receiver that is kept from reading for long has no room.
    assert trial.metrics["lost_messages"] == trial.metrics["lost_socket_buffer_messages"]
    assert trial.metrics["blocked_ratio"] > 0.5


def test_a_delay_is_on_the_way_of_each_frame() -> None:
    with opened_pair("virtual", "100M,delay=20ms") as pair:
        trial = pair.trial("echo", message_size_bytes=64, requests=5)
    assert trial.metrics["rtt_min_ns"] >= 40_000_000


def test_frames_and_bytes_of_a_copy_match_those_on_the_medium() -> None:
    """Twice the file differs by what its second half takes; the station counts the same frames, and
    some more before, to find its server and log in."""
    kind, counted = workload("copy"), []
    with open_testbed("virtual", 2, "100M") as bed, closing(Hosts(bed)) as hosts:
        for dataset in ("1x300kB", "1x600kB"):
            asked = {"service": "smb1+nbf", "dataset": dataset, "verify": "none"}
            parameters = kind.Parameters.model_validate(asked)
            outcome = performer_for(parameters, bed, hosts).perform(kind, parameters, None)
            assert outcome.error is None
            sent, own = outcome.setup["medium"]["sent"], outcome.results["client"]["carrier"]
            before = own["sent_frames"] - sent["client"]["frames"]
            assert 0 < before < 40
            assert sent["server"]["frames"] > 20
            assert outcome.setup["medium"]["lateness"]["deliveries"] > 200
            counted.append(sent["client"]["bytes"] + sent["server"]["bytes"])
    # Each 1482 bytes have 36 around them, and acknowledgements go back.
    assert 1.024 < (counted[1] - counted[0]) / 300_000 < 1.1
