"""
Opens a testbed with its engines on a thread, while the caller does something else, such as
importing modules: most of the time is spent waiting for other programs.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self

from lanlab.errors import LabError
from lanlab.frozen import dataclass
from lanlab.testbeds.base import Simulates, Testbed
from lanlab.testbeds.registry import is_of_real_hosts, testbed

if TYPE_CHECKING:
    from lanlab.testbeds.engines import HostEngine

#: How long the importing thread may keep Python's lock when the other one is ready. With the
#: default, 5 ms, each of dozens of waits for a program takes that much longer.
_SWITCH_S = 0.0005


@dataclass(frozen=True)
class Opened:
    bed: Testbed
    #: Engines by host; `None` if not started yet.
    engines: dict[str, HostEngine] | None = None

    def close(self) -> None:
        try:
            if self.engines is not None:
                from lanlab.testbeds.engines import close_engines

                close_engines(self.engines)
        finally:
            self.bed.close()


class Opening:
    """
    A testbed being opened on its own thread. The caller of `take` closes it; if it is not taken,
    the `with` block closes it.

    Engines are started too, except on real hosts, where this needs a connection, and on simulated
    ones, which have none.
    """

    def __init__(self, name: str, hosts: int, link: str, pcap: Path | None = None) -> None:
        """
        Args:
            name, hosts, link, pcap: As in `lanlab.testbeds.testbed`.
        """
        self.wanted = (name, hosts, link)
        self.pcap = pcap
        self._made: Opened | None = None
        self._failed: BaseException | None = None
        self._is_wanted = True
        #: Not `join`, because a thread counts as ended if an interrupt arrived while it was joined.
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._make, name=f"opening {name}")
        self._thread.start()

    def _make(self) -> None:
        interval_s = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_S)
        try:
            self._made = self._opened()
        except BaseException as failed:
            # Raised in the thread that waits.
            self._failed = failed
        finally:
            sys.setswitchinterval(interval_s)
            self._over.set()

    def _opened(self) -> Opened:
        bed = testbed(*self.wanted, self.pcap)
        has_engines = not is_of_real_hosts(self.wanted[0]) and not isinstance(bed, Simulates)
        # Report a refused value without waiting for engines.
        if not has_engines or not self._is_wanted:
            return Opened(bed)
        try:
            from lanlab.testbeds.engines import start_engines

            return Opened(bed, start_engines(bed.hosts))
        except BaseException:
            bed.close()
            raise

    def take(self) -> Opened:
        """
        Wait for the testbed.

        Raises:
            LabError: The errors of `lanlab.testbeds.testbed`, and of starting engines.
            RuntimeError: It was taken before.
        """
        self._over.wait()
        if self._failed is not None:
            raise self._failed
        made, self._made = self._made, None
        if made is None:
            raise RuntimeError("a testbed can be entered only once")
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_wanted = False
        if not self._over.is_set() and is_of_real_hosts(self.wanted[0]):
            from lanlab.testbeds.remote.connection import give_up_connecting

            # Copying an engine over a slow line takes minutes, and the testbed is no longer needed.
            give_up_connecting()
        self._over.wait()
        made, self._made = self._made, None
        if made is not None:
            # The error that ended the block takes precedence.
            with contextlib.suppress(LabError):
                made.close()
