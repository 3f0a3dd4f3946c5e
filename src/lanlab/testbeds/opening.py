"""
A testbed that is made while its user does something else, as importing what it will need: making
one is waiting for other programs, mostly.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Self

from lanlab.errors import LabError
from lanlab.testbeds.base import Testbed
from lanlab.testbeds.registry import testbed


class Opening:
    """
    A testbed being made, on a thread of its own. Whoever takes it closes it; one that nobody has
    taken is closed with the `with` block.
    """

    def __init__(self, name: str, hosts: int, link: str) -> None:
        """
        Args:
            name, hosts, link: As `lanlab.testbeds.testbed` takes them.
        """
        self.wanted = (name, hosts, link)
        self._made: Testbed | None = None
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._make, name=f"opening {name}")
        self._thread.start()

    def _make(self) -> None:
        try:
            self._made = testbed(*self.wanted)
        except BaseException as failed:
            # Raised where it is waited for.
            self._failed = failed

    def take(self) -> Testbed:
        """
        Wait for the testbed.

        Raises:
            LabError: What `lanlab.testbeds.testbed` raises.
            RuntimeError: It was taken before.
        """
        self._thread.join()
        if self._failed is not None:
            raise self._failed
        made, self._made = self._made, None
        if made is None:
            raise RuntimeError("a testbed is taken once")
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        made, self._made = self._made, None
        if made is not None:
            # What ended the block counts.
            with contextlib.suppress(LabError):
                made.close()
