"""This machine with one of its Ethernet interfaces, for a server that does not use IP."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

from lanlab.engine.command import EngineCommand
from lanlab.messages import LinkPlace
from lanlab.testbeds.loopback import LoopbackTestbed
from lanlab.testbeds.pcap import check_pcap
from lanlab.testbeds.raw_links import engine_without_rights, raw_link


class InterfaceTestbed(LoopbackTestbed):
    """
    The interface's socket is opened here; the engine of the first host, which reads its frames,
    receives it and has no rights.
    """

    def __init__(self, interface: str, hosts: int, pcap: Path | None = None) -> None:
        """
        Args:
            pcap: Write every frame that the engine receives or sends to this file.

        Raises:
            UnmetNeed: This process lacks the right.
            UsageError: The interface is gone or down.
        """
        file = None if pcap is None else check_pcap(pcap)
        super().__init__(hosts, "unshaped")
        self.name = f"interface:{interface}"
        self._opened = contextlib.ExitStack()
        link = self._opened.enter_context(raw_link(interface))

        raw: LinkPlace = {"descriptor": link.descriptor}
        if file is not None:
            raw = {"recorded": {**raw, "pcap": str(file)}}

        def start_engine() -> EngineCommand:
            return engine_without_rights(link)

        first = replace(self.hosts[0], interface=interface, start_engine=start_engine, raw_link=raw)
        self.hosts = (first, *self.hosts[1:])

    def facts(self) -> dict[str, object]:
        return {**super().facts(), "interface": self.hosts[0].interface}

    def close(self) -> None:
        self._opened.close()
