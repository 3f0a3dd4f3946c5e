"""The testbed of a run with an engine on each host, set up again when it is damaged."""

from __future__ import annotations

from collections import deque

from lanlab.closing import Closing
from lanlab.errors import EngineError, LabError, RunError
from lanlab.performers import SIMULATORS, Hosts, Performer, SimulatedTrial, performer_for
from lanlab.plan.plan import PlannedTrial
from lanlab.store import RunRecord
from lanlab.studies.model import Study
from lanlab.testbeds import Opened, Opening, Testbed, testbed
from lanlab.testbeds.base import Simulates
from lanlab.testbeds.pcap import numbered
from lanlab.workloads.parameters import TrialParameters

_MOST_EXPECTED = 64
_LOGIN = "service.login"
#: Codes of a server that is gone, hangs, or has become very slow.
_SILENT = {f"service.{why}" for why in ("refused", "unreachable", "timed_out", "reset")}
_SILENT |= {"copy.too_long"}
#: Least number of failed trials in a row, of their conditions, and seconds from the first: one
#: condition that takes too long, or a server that restarts (an NFS 4 server then refuses to open
#: files for 90 s), does not end the others.
_TRIALS, _CONDITIONS, _SILENT_S = 3, 2, 120.0


class OpenTestbed(Closing):
    """A testbed with an engine on each host, until `close`."""

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


class LostServers:
    """
    Users' servers that a run has given up, so that the rest of their trials fail at once: logins
    may lock a user out, and each condition would wait its whole time-out for a server that hangs.
    """

    def __init__(self) -> None:
        self._failed: dict[str, list[tuple[str, float]]] = {}
        self._lost: dict[str, LabError] = {}

    def check(self, planned: PlannedTrial) -> None:
        """
        Raises:
            LabError: The trial's server has been given up; the error of its last trial.
        """
        if (lost := self._lost.get(_server(planned))) is not None:
            raise lost

    def note(
        self, planned: PlannedTrial, error: LabError | None, window_s: tuple[float, float]
    ) -> None:
        """
        Note how a trial ended.

        Args:
            window_s: When it began and ended.
        """
        server = _server(planned)
        code = error.code if isinstance(error, EngineError) else ""
        if error is None or code not in {_LOGIN, *_SILENT}:
            self._failed.pop(server, None)
            return
        failed = self._failed.setdefault(server, [])
        failed.append((f"{planned.experiment} {planned.factors}", window_s[0]))
        conditions = {condition for condition, _ in failed}
        is_long = window_s[1] - failed[0][1] >= _SILENT_S
        is_silent = len(failed) >= _TRIALS and len(conditions) >= _CONDITIONS and is_long
        if server and (is_silent or code == _LOGIN):
            self._lost[server] = error


def _server(planned: PlannedTrial) -> str:
    """The URL of a user's server; empty for others, of which each trial starts its own."""
    return planned.values.other_server if planned.values.is_users_server else ""
