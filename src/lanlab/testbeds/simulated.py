"""
Hosts that are modelled machines in virtual time, joined by a modelled link.

They have no addresses of this machine and send none of its traffic: an engine computes each trial.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from lanlab.addresses import AddressFamily
from lanlab.engine import Engine, engine_path
from lanlab.errors import UsageError
from lanlab.testbeds.base import Host, LinkFacts, Testbed
from lanlab.testbeds.link import parse_link
from lanlab.testbeds.pcap import check_pcap, numbered
from lanlab.testbeds.worlds import Worlds

NAME = "simulated"
MAX_HOSTS = 2
#: Addresses for documentation (RFC 5737, RFC 3849): no host of any network has them.
_IPV4, _IPV6 = "192.0.2.{}", "2001:db8::{}"


class SimulatedTestbed(Testbed):
    name = NAME
    start_lead_s = 0.0

    def __init__(self, hosts: int, link: str, pcap: Path | None = None) -> None:
        """
        Args:
            pcap: Write the frames of the first trial to this file, and those of each other trial to
                one next to it.

        Raises:
            UsageError: A simulation does not support this number of hosts or link, or the capture
                file exists.
            EngineLost: The engine does not start.
        """
        if hosts != MAX_HOSTS:
            raise UsageError(f"simulated: {hosts} hosts; allowed: {MAX_HOSTS}")
        request = parse_link(link)
        if request.rate_bps is None:
            raise UsageError(
                f"simulated: link `{link}` has no speed; allowed: a link of a stated speed",
                hint="give one, e.g. `--link 100M` or `--link 10M:hub`",
            )
        self.link = dataclasses.replace(
            LinkFacts.of(request, request.topology or "cable"),
            shape="medium",
            queue_bytes=None,
            switch_queue_bytes=None,
            burst_bytes=None,
            precise=False,
        )
        self.hosts = tuple(
            Host(f"host{number}", _addresses(number), (), runs_programs=False)
            for number in range(hosts)
        )
        self._pcap = None if pcap is None else check_pcap(pcap)
        # The file of a dropped world would block the file of its trial.
        most = None if pcap is None else 1
        self.worlds = Worlds(lambda: Engine("simulator", [engine_path()]), most)

    def pcap_of(self, number: int) -> Path | None:
        """The capture file of a trial, by its number from 0; `None` for no file."""
        return None if self._pcap is None else numbered(self._pcap, number)

    def versions(self) -> dict[str, str]:
        return {"lanlab-engine": self.worlds.engine_version}

    def facts(self) -> dict[str, object]:
        return {"link": self.link.to_json()}

    def close(self) -> None:
        self.worlds.close()


def _addresses(number: int) -> dict[AddressFamily, str]:
    return {"ipv4": _IPV4.format(number + 1), "ipv6": _IPV6.format(number + 1)}
