"""Files of frames that this process had written, and what they lack: said in the result of a
command, and when it ends."""

from __future__ import annotations

from typing import Any

from lanlab.frozen import dataclass

#: The engine's code of a file that could not be written to its end.
RECORDING_FAILED = "recording.failed"


@dataclass(frozen=True)
class Capture:
    path: str
    recorded_frames: int
    missing_frames: int
    #: Why frames are missing; `None`: the disk did not keep up.
    why: str | None

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.path,
            "recorded_frames": self.recorded_frames,
            "missing_frames": self.missing_frames,
        }


_captures: dict[str, Capture] = {}
_unknown: dict[str, str] = {}


def note(path: str, recorded: int, missing: int, why: str | None = None) -> None:
    """
    What a file has and lacks, of all its frames so far.

    Args:
        why: What the system said, with the name of the file.
    """
    _captures[path] = Capture(path, recorded, missing, why)


def note_unknown(path: str, why: str) -> None:
    """How much a file has is not known, as what wrote it has ended otherwise."""
    _unknown[path] = why


def to_json() -> dict[str, Any]:
    """For the result of a command: `captures`, if there are any."""
    return {"captures": [one.to_json() for one in _captures.values()]} if _captures else {}


def take() -> list[tuple[str, str]]:
    """An error for each file that lacks frames, with what to do; from then on all are forgotten."""
    hint = "name a file on a disk that has room and is fast enough, such as one in memory"
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
