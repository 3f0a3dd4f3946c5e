"""
The small TCP held against the kernel's, as client and as server, on the virtual LAN: every byte
both ways at the same time, each direction closed by itself, where frames are lost, doubled and
overtaken and windows close.
"""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from captures import marked, running
from missing import missing
from peer_finding import peer_program
from trial_running import Pair, opened_pair

PORT = 5001
SHORT_BYTES, LONG_BYTES = 200_000, 10_000_000
WITHIN_S = 300
#: The kernel's end: sends a file and the end of it, and reads into another one after a pause.
KERNEL = """
import shutil, socket, sys, threading, time
does, address, port, pause_s, sent, received = sys.argv[1:]
if does == "listen":
    listener = socket.create_server((address, int(port)))
    print("listening", flush=True)
    end = listener.accept()[0]
else:
    end = socket.create_connection((address, int(port)), 20)
    end.settimeout(None)

def send():
    with open(sent, "rb") as file:
        end.sendfile(file)
    end.shutdown(socket.SHUT_WR)

sending = threading.Thread(target=send)
sending.start()
time.sleep(float(pause_s))
with open(received, "wb") as file, end.makefile("rb") as came:
    shutil.copyfileobj(came, file)
sending.join()
"""
LONG = pytest.mark.long
LINKS = ["100M", "100M:cable,loss=1%", "100M:cable,loss=5%"]


@pytest.fixture(scope="module")
def small_tcp() -> Path:
    """What speaks over the small TCP: an example of Rust, built with its tests."""
    target = Path(__file__).parents[2] / "target"
    found = [target / kind / "examples" / "small_tcp" for kind in ("release", "debug")]
    built = [path for path in found if path.exists()]
    return built[0] if built else missing("need `cargo build -p lanlab-connections --examples`")


@pytest.fixture(scope="module", params=LINKS)
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    with opened_pair("virtual", request.param) as pair:
        yield pair


@pytest.fixture(scope="module")
def clean() -> Iterator[Pair]:
    with opened_pair("virtual", "100M") as pair:
        yield pair


def moved(
    pair: Pair,
    small_tcp: Path,
    directory: Path,
    role: str,
    size_bytes: int,
    pauses_s: tuple[float, float] = (0, 0),
    faults: tuple[int, int] = (0, 0),
) -> dict[str, Any]:
    """
    Move files of `size_bytes` both ways, which must be the same; what the small end counted.

    Args:
        role: What the small end does: `connect` or `listen`.
        pauses_s: Before the small end and the kernel's begin to read, seconds.
        faults: Frames of a hundred at the small end that are doubled, and that are overtaken.
    """
    small_host, kernel_host = pair.bed.hosts
    kernel_address = kernel_host.addresses["ipv4"]
    address = kernel_address.rpartition(".")[0] + ".77"
    numbers = random.Random(size_bytes)
    files = {name: directory / name for name in ("a", "b", "a-came", "b-came")}
    for name in ("a", "b"):
        files[name].write_bytes(numbers.randbytes(size_bytes))
    is_server = role == "listen"
    to = str(PORT) if is_server else f"{kernel_address}:{PORT}"
    given = [str(round(1000 * pauses_s[0])), *map(str, faults)]
    small = [*small_host.command_prefix, str(small_tcp), "eth0", address, role, to, *given]
    kernel = [
        *(*kernel_host.command_prefix, sys.executable, "-c", KERNEL),
        *(("connect", address) if is_server else ("listen", kernel_address)),
        *(str(PORT), str(pauses_s[1]), str(files["b"]), str(files["a-came"])),
    ]

    @contextmanager
    def kernel_end() -> Iterator[subprocess.Popen[str]]:
        with subprocess.Popen(kernel, stdout=subprocess.PIPE, text=True) as program:
            try:
                yield program
            finally:
                program.kill()

    with (
        files["a"].open("rb") as sent,
        files["b-came"].open("wb") as received,
    ):

        def small_end() -> subprocess.Popen[str]:
            pipe = subprocess.PIPE
            return subprocess.Popen(small, stdin=sent, stdout=received, stderr=pipe, text=True)

        if is_server:
            with small_end() as program:
                try:
                    assert program.stderr is not None
                    assert program.stderr.readline() == "listening\n"
                    with kernel_end() as peer:
                        said = program.communicate(timeout=WITHIN_S)[1]
                        assert peer.wait(20) == 0
                finally:
                    program.kill()
        else:
            with kernel_end() as peer:
                assert peer.stdout is not None
                assert peer.stdout.readline() == "listening\n"
                with small_end() as program:
                    try:
                        said = program.communicate(timeout=WITHIN_S)[1]
                    finally:
                        program.kill()
                assert peer.wait(20) == 0
    assert program.returncode == 0, said
    counted: dict[str, Any] = json.loads(said.splitlines()[-1])
    assert (counted["sent"], counted["received"]) == (size_bytes, size_bytes)
    assert files["a"].read_bytes() == files["a-came"].read_bytes()
    assert files["b"].read_bytes() == files["b-came"].read_bytes()
    assert counted["held_bytes"] <= counted["most_bytes"]
    assert counted["is_closed"]
    return counted


@pytest.mark.parametrize("role", ["connect", "listen"])
@pytest.mark.parametrize("size_bytes", [SHORT_BYTES, pytest.param(LONG_BYTES, marks=LONG)])
def test_every_byte_arrives_in_both_directions(
    pair: Pair, small_tcp: Path, tmp_path: Path, role: str, size_bytes: int
) -> None:
    # Many losses are followed by the least time-out of the small TCP, a second.
    divisor = 5 if pair.bed.link.loss_ratio > 0.02 else 1
    counted = moved(pair, small_tcp, tmp_path, role, size_bytes // divisor)

    if pair.bed.link.loss_ratio == 0:
        assert counted["retransmitted"] == 0


@pytest.mark.parametrize("role", ["connect", "listen"])
@pytest.mark.parametrize("faults", [(10, 0), (0, 10), (5, 5)], ids=["doubled", "late", "both"])
@pytest.mark.parametrize("size_bytes", [SHORT_BYTES, pytest.param(LONG_BYTES, marks=LONG)])
def test_duplicate_and_late_frames_change_nothing(
    clean: Pair,
    small_tcp: Path,
    tmp_path: Path,
    role: str,
    faults: tuple[int, int],
    size_bytes: int,
) -> None:
    moved(clean, small_tcp, tmp_path, role, size_bytes, faults=faults)


@pytest.mark.parametrize("role", ["connect", "listen"])
@pytest.mark.parametrize("pauses_s", [(0.4, 0), (0, 0.4)], ids=["small", "kernel"])
@pytest.mark.parametrize("size_bytes", [SHORT_BYTES, pytest.param(LONG_BYTES, marks=LONG)])
def test_a_temporarily_closed_window_reopens(
    clean: Pair,
    small_tcp: Path,
    tmp_path: Path,
    role: str,
    pauses_s: tuple[float, float],
    size_bytes: int,
) -> None:
    moved(clean, small_tcp, tmp_path, role, size_bytes, pauses_s)


def test_one_end_can_be_silent(clean: Pair, small_tcp: Path, tmp_path: Path) -> None:
    for role in ("connect", "listen"):
        moved(clean, small_tcp, tmp_path, role, 0)


@pytest.mark.parametrize("role", ["connect", "listen"])
def test_tshark_finds_nothing_malformed_and_nothing_sent_again(
    clean: Pair, small_tcp: Path, tmp_path: Path, role: str
) -> None:
    asked, host = clean.bed.hosts[1].addresses["ipv4"], clean.bed.hosts[1]
    names = ("frame.len", "ip.src", "tcp.len", "_ws.malformed", "tcp.analysis.retransmission")
    fields = [part for name in names for part in ("-e", name)]
    tshark = (peer_program("tshark"), "-i", "eth0", "-n", "-l", "-Q", "-T", "fields")

    def mark(size_bytes: int) -> None:
        outcome = clean.exchange(
            "echo", peer=f"icmp://{asked}", message_size_bytes=size_bytes, requests=1
        )
        assert outcome.error is None, outcome.error

    taken = ("-f", f"icmp or (tcp port {PORT})", "-E", "separator=,", *fields)
    with running(host, *tshark, *taken) as capture:
        marked([capture], "102,", lambda: mark(60))
        moved(clean, small_tcp, tmp_path, role, SHORT_BYTES)
        mark(61)
        frames = [line.split(",") for line in capture.until("103,")]

    assert sum(int(frame[2]) for frame in frames if frame[2]) >= 2 * SHORT_BYTES
    assert [frame for frame in frames if frame[3]] == []
    # The kernel sends its last segment again where this host is busy and the acknowledgement late
    # (RFC 8985, 7.2).
    again = [frame for frame in frames if frame[1] != asked and frame[4]]
    assert again == []
