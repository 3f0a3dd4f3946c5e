"""Counts the frames that a trial's hosts sent on lanlab's own medium during the timed step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from lanlab.performers.engine_host import EngineHost
from lanlab.testbeds.base import HasMedium
from lanlab.trial_data import MediumSeen, SimulatedSent

_COUNTED = ("frames", "bytes")


class SentOnMedium:
    """
    The readings of a medium around the timed step of a trial.

    Args:
        medium: The testbed that has it.
        hosts: Hosts of the trial by role.
    """

    def __init__(self, medium: HasMedium, hosts: Mapping[str, Sequence[EngineHost]]) -> None:
        self._medium = medium
        self._roles = {host.engine.name: role for role, own in hosts.items() for host in own}
        self._before: dict[str, dict[str, int]] = {}

    def begin(self) -> None:
        self._before = self._read()

    def until_now(self) -> MediumSeen | None:
        """
        For the record: `sent` since the beginning, by role, and the medium's `lateness` meanwhile.

        Returns:
            `None` for a link without a medium.
        """
        now = self._read()
        read = self._medium.medium_read()
        if read is None:
            return None
        sent = {
            role: {name: count - self._before[role][name] for name, count in counts.items()}
            for role, counts in now.items()
        }
        return {"sent": cast("dict[str, SimulatedSent]", sent), "lateness": read["lateness"]}

    def _read(self) -> dict[str, dict[str, int]]:
        found = {role: dict.fromkeys(_COUNTED, 0) for role in self._roles.values()}
        for interface, counts in self._medium.medium_counters().items():
            role = self._roles.get(interface.partition("/")[0])
            if role is not None:
                for name in _COUNTED:
                    found[role][name] += counts[f"medium_{name}"]
        return found
