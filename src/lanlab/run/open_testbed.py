"""The testbed of a run with an engine on each host, set up again when it is damaged."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator

from lanlab.errors import LabError, RunError
from lanlab.performers import SIMULATORS, Hosts, Performer, SimulatedTrial, performer_for
from lanlab.plan import PlannedTrial
from lanlab.run.lost_servers import LostServers
from lanlab.store import RunRecord
from lanlab.studies import Study
from lanlab.testbeds import Opened, Opening, Testbed, testbed
from lanlab.testbeds.base import Simulates
from lanlab.testbeds.pcap import numbered
from lanlab.workloads.parameters import TrialParameters

_MOST_EXPECTED = 64


class OpenTestbed:
    """A testbed and its engines, until `close`."""

    def __init__(self, name: str, hosts: int, link: str, opening: Opening | None = None) -> None:
        """
        Args:
            name, hosts, link: As in `lanlab.testbeds.testbed`.
            opening: An opening of this testbed that has already begun, to be used.
        """
        self._wanted = (name, hosts, link)
        is_same = opening is not None and opening.wanted == self._wanted
        self._opening = opening if is_same else None
        #: Capture file for the frames on the link; each new testbed has its own.
        self._pcap = opening.pcap if opening is not None and is_same else None
        self.lost = LostServers()
        self.made = 0
        #: Why the testbed was set up the last time; `None` the first time.
        self.made_because: str | None = None
        self._study: tuple[str, Study] | None = None
        #: Simulated trials that are expected next.
        self.expected: deque[tuple[PlannedTrial, SimulatedTrial]] = deque(maxlen=_MOST_EXPECTED)
        self._make()

    def _make(self) -> None:
        opening, self._opening = self._opening, None
        made = opening.take() if opening is not None else Opened(self._anew())
        self.bed: Testbed = made.bed
        try:
            self.hosts = Hosts(self.bed, has_engines=not self.is_simulated, engines=made.engines)
        except BaseException:
            made.close()
            raise
        self.made += 1

    def _anew(self) -> Testbed:
        if self._pcap is None:
            return testbed(*self._wanted)
        return testbed(*self._wanted, numbered(self._pcap, self.made))

    @property
    def is_simulated(self) -> bool:
        return self.bed.name in SIMULATORS

    def performer(
        self, parameters: TrialParameters, trial: SimulatedTrial | None = None
    ) -> Performer:
        """The performer of a condition's trials here; see `performer_for`."""
        return performer_for(parameters, self.bed, self.hosts, trial)

    def versions(self) -> dict[str, str]:
        if isinstance(self.bed, Simulates):
            return self.bed.versions()
        return self.hosts.versions()

    def study_of(self, run: RunRecord) -> Study:
        if self._study is None or self._study[0] != run.id:
            self._study = run.id, Study.model_validate(run.study)
        return self._study[1]

    def renew(self, damage: str) -> None:
        """
        Replace a damaged testbed, with new engines.

        Args:
            damage: The damage, for the records of the following trials.

        Raises:
            RunError: It cannot be set up again.
        """
        self.close()
        try:
            self._make()
        except LabError as error:
            raise RunError(
                f"the testbed was damaged ({damage}) and cannot be set up again: {error.message}",
                hint=error.hint,
            ) from error
        self.made_because = damage

    def close(self) -> None:
        try:
            self.hosts.close()
        finally:
            self.bed.close()


@contextlib.contextmanager
def opened(
    name: str, hosts: int, link: str, opening: Opening | None = None
) -> Iterator[OpenTestbed]:
    """A testbed with engines for as long as the `with` block."""
    made = OpenTestbed(name, hosts, link, opening)
    try:
        yield made
    finally:
        made.close()
