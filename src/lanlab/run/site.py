"""Where a run measures: a testbed with an engine on each host, made anew when it is damaged."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from lanlab.errors import LabError, RunError
from lanlab.run.hosts import Hosts
from lanlab.testbeds import Testbed, testbed


class Site:
    """A testbed and its engines, until `close`."""

    def __init__(self, name: str, hosts: int, link: str) -> None:
        """
        Args:
            name, hosts, link: As `lanlab.testbeds.testbed` takes them.
        """
        self._wanted = (name, hosts, link)
        #: How often the testbed has been made.
        self.made = 0
        #: Why it was made the last time; `None` the first time.
        self.made_because: str | None = None
        self._make()

    def _make(self) -> None:
        self.bed: Testbed = testbed(*self._wanted)
        try:
            self.hosts = Hosts(self.bed)
        except BaseException:
            self.bed.close()
            raise
        self.made += 1

    def renew(self, damage: str) -> None:
        """
        Put another testbed in the place of a damaged one, with new engines.

        Args:
            damage: What was found, for the records of the trials that follow.

        Raises:
            RunError: It cannot be made again.
        """
        self.close()
        try:
            self._make()
        except LabError as error:
            raise RunError(
                f"the testbed was damaged ({damage}) and cannot be made again: {error.message}",
                hint=error.hint,
            ) from error
        self.made_because = damage

    def close(self) -> None:
        """End engines and testbed. Calling it again does nothing."""
        try:
            self.hosts.close()
        finally:
            self.bed.close()


@contextlib.contextmanager
def opened(name: str, hosts: int, link: str) -> Iterator[Site]:
    """A site for as long as the `with` block."""
    site = Site(name, hosts, link)
    try:
        yield site
    finally:
        site.close()
