"""
A testbed that is made while its user does something else, as importing what it will need: making
one is waiting for other programs, mostly.
"""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Self

from lanlab.errors import LabError
from lanlab.testbeds.base import Testbed
from lanlab.testbeds.registry import is_of_real_hosts, testbed


class Opening:
    """
    A testbed being made, on a thread of its own. The caller of `take` closes it; one that was
    not taken is closed with the `with` block.
    """

    def __init__(self, name: str, hosts: int, link: str, pcap: Path | None = None) -> None:
        """
        Args:
            name, hosts, link, pcap: As `lanlab.testbeds.testbed` takes them.
        """
        self.wanted = (name, hosts, link)
        self.pcap = pcap
        self._made: Testbed | None = None
        self._failed: BaseException | None = None
        #: Not `join`, as a thread counts as ended where an interrupt came while it was joined.
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._make, name=f"opening {name}")
        self._thread.start()

    def _make(self) -> None:
        try:
            self._made = testbed(*self.wanted, self.pcap)
        except BaseException as failed:
            # Raised where it is waited for.
            self._failed = failed
        finally:
            self._over.set()

    def take(self) -> Testbed:
        """
        Wait for the testbed.

        Raises:
            LabError: What `lanlab.testbeds.testbed` raises.
            RuntimeError: It was taken before.
        """
        self._over.wait()
        if self._failed is not None:
            raise self._failed
        made, self._made = self._made, None
        if made is None:
            raise RuntimeError("a testbed is taken once")
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
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
