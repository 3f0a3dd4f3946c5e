"""How a stream over TCP begins, by what tshark sees on the link."""

from pathlib import Path

from captures import fields_of
from command_line import Lanlab
from peer_finding import missing

RECEIVER = "10.77.0.2"
FIRST_SEGMENTS = 8


def test_each_of_the_first_segments_is_acknowledged(lanlab: Lanlab, tmp_path: Path) -> None:
    pcap = tmp_path / "frames.pcap"
    done = lanlab(
        *("stream", "--transport", "tcp", "--testbed", "virtual", "--link", "10M"),
        *("--size", "16KiB", "--time", "0.5", "--warmup", "0", "--pcap", str(pcap)),
    )
    if done.code != 0 and "namespace" in done.err:
        missing(done.err)
    assert done.code == 0, done.err
    segments = _segments(pcap)
    sent = [end for is_receiver, length, end, _ in segments if not is_receiver and length]
    acknowledged = {ack for is_receiver, _, _, ack in segments if is_receiver}
    # The first is the session's question.
    first = sent[1 : 1 + FIRST_SEGMENTS]
    assert len(first) == FIRST_SEGMENTS
    assert [end for end in first if end not in acknowledged] == []


def _segments(pcap: Path) -> list[tuple[bool, int, int, int]]:
    """Of each: is it the receiver's, its octets, the number after them, what it acknowledges."""
    fields = ("ip.src", "tcp.len", "tcp.nxtseq", "tcp.ack")
    return [
        (source == RECEIVER, int(length), int(end or 0), int(ack or 0))
        for source, length, end, ack in fields_of(pcap, fields, "-Y", "tcp")
    ]
