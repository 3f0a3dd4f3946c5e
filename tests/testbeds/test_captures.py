"""A file of frames that lacks some: counted, said in the result, and the exit code is 1."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from missing import missing
from small_disks import on_mount

from lanlab import captures

LANLAB = """
import json, os, subprocess, sys
place, *argv = sys.argv[1:]
argv = [word.replace("PLACE", place) for word in argv]
done = subprocess.run(
    [sys.executable, "-c", "from lanlab.cli import main; main()", *argv],
    capture_output=True, text=True, cwd=place,
    env={**os.environ, "LANLAB_STORE": "/dev/shm/%d" % os.getpid()},
)
os.unlink("/dev/shm/%d" % os.getpid())
octets = open(place + "/frames.pcap", "rb").read()
frames, at = 0, 24
while at < len(octets):
    at += 16 + int.from_bytes(octets[at + 8 : at + 12], sys.byteorder)
    frames += 1
print(json.dumps([done.returncode, done.stdout, done.stderr, frames, at == len(octets)]))
"""
STREAM = ("stream", "--testbed", "virtual", "--link", "100M", "--time", "2", "--warmup", "0")


@pytest.mark.skipif(sys.platform != "linux", reason="the virtual LAN is Linux only")
def test_a_full_disk_is_said_and_the_file_has_whole_frames(tmp_path: Path) -> None:
    """2 s at 100 Mbit/s take 25 MB; the disk has 2."""
    if os.geteuid() != 0:
        missing("a file system of its own takes root")
    options = ["-t", "tmpfs", "-o", "size=2m", "tmpfs"]
    argv = (*STREAM, "--pcap", "PLACE/frames.pcap", "--json")
    code, out, err, frames, is_whole = json.loads(on_mount(options, tmp_path, LANLAB, *argv))
    assert code == 1, err
    (capture,) = json.loads(out)["captures"]
    assert capture["file"] == f"{tmp_path}/frames.pcap"
    assert capture["recorded_frames"] == frames > 500
    assert capture["missing_frames"] > 5000
    assert is_whole
    lacking, every = capture["missing_frames"], frames + capture["missing_frames"]
    assert f"error: {tmp_path}/frames.pcap lacks {lacking} of {every} frames: " in err
    assert "No space left on device" in err


@pytest.mark.skipif(sys.platform != "linux", reason="the virtual LAN is Linux only")
def test_a_disk_with_room_lacks_nothing(tmp_path: Path) -> None:
    """Then nothing is said but the counts."""
    if os.geteuid() != 0:
        missing("a file system of its own takes root")
    options = ["-t", "tmpfs", "-o", "size=64m", "tmpfs"]
    argv = (*STREAM, "--pcap", "PLACE/frames.pcap", "--json")
    code, out, err, frames, is_whole = json.loads(on_mount(options, tmp_path, LANLAB, *argv))
    assert code == 0, err
    (capture,) = json.loads(out)["captures"]
    assert (capture["recorded_frames"], capture["missing_frames"]) == (frames, 0)
    assert is_whole
    assert "lacks" not in err


def test_what_is_noted_is_said_once() -> None:
    captures.take()
    captures.note("a.pcap", 10, 0)
    captures.note("b.pcap", 10, 0)
    captures.note("b.pcap", 10, 30)
    captures.note_unknown("c.pcap", "the engine was ended by signal 9")
    assert [one["missing_frames"] for one in captures.to_json()["captures"]] == [0, 30]
    said = [text for text, _ in captures.take()]
    assert said == [
        "b.pcap lacks 30 of 40 frames: the disk did not keep up",
        "c.pcap may lack frames: the engine was ended by signal 9",
    ]
    assert captures.take() == []
    assert captures.to_json() == {}
