"""A file of frames that lacks some: counted, said in the result, and the exit code is 1."""

import json
import os
from pathlib import Path
from typing import Any

from missing import missing
from small_disks import on_mount

from lanlab import captures

LANLAB = """
import json, subprocess, sys
place, *argv = sys.argv[1:]
done = subprocess.run(
    [sys.executable, "-c", "from lanlab.cli import main; main()", *argv],
    capture_output=True, text=True, cwd=place,
)
octets = open(place + "/frames.pcap", "rb").read()
frames, at = 0, 24
while at < len(octets):
    at += 16 + int.from_bytes(octets[at + 8 : at + 12], sys.byteorder)
    frames += 1
print(json.dumps([done.returncode, done.stdout, done.stderr, frames, at == len(octets)]))
"""
STREAM = ("stream", "--testbed", "virtual", "--link", "100M", "--time", "2", "--warmup", "0")


def streamed(folder: Path, size: str) -> tuple[int, dict[str, Any], str, int]:
    """Exit code, what is said of the file, errors, and the frames that it has. 2 s at 100 Mbit/s
    take 25 MB."""
    if os.geteuid() != 0:
        missing("the virtual LAN on a file system of its own takes root")
    disk = folder / "disk"
    disk.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={size}", "tmpfs"]
    argv = (*STREAM, "--store", f"{folder}/store.sqlite", "--pcap", "frames.pcap", "--json")
    code, out, err, frames, is_whole = json.loads(on_mount(options, disk, LANLAB, *argv))
    (capture,) = json.loads(out)["captures"]
    assert capture["file"] == f"{disk}/frames.pcap"
    assert is_whole
    return code, capture, err, frames


def test_a_full_disk_is_reported_and_the_capture_has_whole_frames(tmp_path: Path) -> None:
    code, capture, err, frames = streamed(tmp_path, "2m")
    assert code == 1, err
    assert capture["recorded_frames"] == frames > 500
    lacking = capture["missing_frames"]
    assert lacking > 5000
    place = f"{tmp_path}/disk/frames.pcap"
    assert f"error: {place} lacks {lacking} of {frames + lacking} frames: " in err
    assert f"`{place}` cannot be written: No space left on device" in err


def test_a_complete_capture_reports_only_counts(tmp_path: Path) -> None:
    code, capture, err, frames = streamed(tmp_path, "64m")
    assert code == 0, err
    assert (capture["recorded_frames"], capture["missing_frames"]) == (frames, 0)
    assert "lacks" not in err


def test_capture_notes_are_reported_once() -> None:
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
