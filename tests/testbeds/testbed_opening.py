"""Opening testbeds in tests, or skipping the test where this machine cannot have them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from missing import missing

from lanlab.errors import UnmetNeed
from lanlab.testbeds.base import Testbed as Bed
from lanlab.testbeds.registry import testbed as open_testbed

Open = Callable[[str, int, str], Bed]


@contextmanager
def opening() -> Iterator[Open]:
    """Gives what opens testbeds, or skips where this machine cannot have them; closes them."""
    with ExitStack() as opened:

        def open_or_skip(name: str, hosts: int, link: str) -> Bed:
            try:
                return opened.enter_context(open_testbed(name, hosts, link))
            except UnmetNeed as error:
                missing(error)

        yield open_or_skip
