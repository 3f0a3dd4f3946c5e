"""
A testbed that is made, with its engines, while its user does something else, as importing what it
will need: making one is waiting for other programs, mostly.
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

#: How long the importing thread keeps Python to itself when the other one can go on. With Python's
#: default, 5 ms, each of some dozens of waits for a program is that much longer.
_SWITCH_S = 0.0005


@dataclass(frozen=True)
class Opened:
    bed: Testbed
    #: By host; `None` if they are not started yet.
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
    A testbed being made, on a thread of its own. The caller of `take` closes it; one that was
    not taken is closed with the `with` block.

    Engines are started too, except on real hosts, where that takes a connection, and on simulated
    ones, which have none.
    """

    def __init__(self, name: str, hosts: int, link: str, pcap: Path | None = None) -> None:
        """
        Args:
            name, hosts, link, pcap: As `lanlab.testbeds.testbed` takes them.
        """
        self.wanted = (name, hosts, link)
        self.pcap = pcap
        self._made: Opened | None = None
        self._failed: BaseException | None = None
        self._is_wanted = True
        #: Not `join`, as a thread counts as ended where an interrupt came while it was joined.
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._make, name=f"opening {name}")
        self._thread.start()

    def _make(self) -> None:
        interval_s = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_S)
        try:
            self._made = self._opened()
        except BaseException as failed:
            # Raised where it is waited for.
            self._failed = failed
        finally:
            sys.setswitchinterval(interval_s)
            self._over.set()

    def _opened(self) -> Opened:
        bed = testbed(*self.wanted, self.pcap)
        has_engines = not is_of_real_hosts(self.wanted[0]) and not isinstance(bed, Simulates)
        # A value that is refused is said without waiting for engines.
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
            LabError: What `lanlab.testbeds.testbed` raises, and starting engines.
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

            # Copying an engine over a slow line takes minutes, and the testbed is not needed.
            give_up_connecting()
        self._over.wait()
        made, self._made = self._made, None
        if made is not None:
            # What ended the block counts.
            with contextlib.suppress(LabError):
                made.close()
