"""Listens on a segment, by an engine without rights."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import cast

from lanlab import captures
from lanlab.captures import RECORDING_FAILED
from lanlab.engine import Engine
from lanlab.errors import EngineError
from lanlab.messages import Heard
from lanlab.performers.engine_host import CANCEL_S, cancel
from lanlab.testbeds.raw_links import engine_without_rights, raw_link

_SETUP_S = 30.0


def listen(interface: str, longest_s: float, most_frames: int, pcap: Path | None) -> Heard:
    """
    The traffic on a segment until the time is over, enough frames were received, or Ctrl-C.

    Raises:
        UnmetNeed: This process lacks the right.
        UsageError: The interface is gone or down.
        EngineError: The interface was taken down, or the file cannot be created.
    """
    with raw_link(interface) as link, Engine("here", engine_without_rights(link)) as engine:
        request = {
            "type": "listen",
            "link": {"descriptor": link.descriptor},
            "longest_ns": round(longest_s * 1e9),
            "most_frames": most_frames,
            "pcap": None if pcap is None else str(pcap),
        }
        asked = engine.start(request)
        over = threading.Event()
        asked.on_over = over.set
        asked.wait_ready(_SETUP_S)
        ended: list[EngineError] = []
        try:
            over.wait(longest_s + _SETUP_S)
            heard = cast("Heard", asked.result(CANCEL_S))
        except EngineError as error:
            # A full disk does not affect the lists.
            if error.code != RECORDING_FAILED or error.partial is None:
                raise
            ended, heard = [error], cast("Heard", error.partial)
        except KeyboardInterrupt:
            # Ctrl-C ends the listening normally.
            cancelled = cancel(engine, asked, ended, within_s=CANCEL_S)
            if cancelled is None:
                raise
            heard = cast("Heard", cancelled)
        why = next((one.message for one in ended if one.code == RECORDING_FAILED), None)
    if pcap is not None:
        captures.note(str(pcap), heard["recorded_frames"], heard["unrecorded_frames"], why)
    return heard
