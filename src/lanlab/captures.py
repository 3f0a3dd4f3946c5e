"""Capture files written by this process, and their missing frames, for a command's result and for
the messages at its end.
"""

from __future__ import annotations

from lanlab.frozen import dataclass

#: The engine's error code for an incomplete capture file.
RECORDING_FAILED = "recording.failed"


@dataclass(frozen=True)
class Capture:
    path: str
    recorded_frames: int
    missing_frames: int
    #: Why frames are missing; `None` if the disk was too slow.
    why: str | None

    def to_json(self) -> dict[str, object]:
        return {
            "file": self.path,
            "recorded_frames": self.recorded_frames,
            "missing_frames": self.missing_frames,
        }


_captures: dict[str, Capture] = {}
_unknown: dict[str, str] = {}


def note(path: str, recorded: int, missing: int, why: str | None = None) -> None:
    """
    Add the numbers of frames written to a file, and of missing ones.

    Args:
        why: The system's message, with the file name.
    """
    _captures[path] = Capture(path, recorded, missing, why)


def note_unknown(path: str, why: str) -> None:
    """Mark a file whose writer ended unexpectedly: an unknown number of frames is missing."""
    _unknown[path] = why


def to_json() -> dict[str, object]:
    """For a command's result: `captures`, if there are any."""
    return {"captures": [one.to_json() for one in _captures.values()]} if _captures else {}


def take() -> list[tuple[str, str]]:
    """
    One error for each file with missing frames, with a hint. Afterwards all files are forgotten.
    """
    hint = "name a file on a faster disk with more room, e.g. below /dev/shm"
    said = [
        (
            f"{one.path} lacks {one.missing_frames} of "
            f"{one.recorded_frames + one.missing_frames} frames: "
            f"{one.why or 'the disk did not keep up'}",
            hint,
        )
        for one in _captures.values()
        if one.missing_frames
    ]
    said += [(f"{path} may lack frames: {why}", hint) for path, why in _unknown.items()]
    _captures.clear()
    _unknown.clear()
    return said
