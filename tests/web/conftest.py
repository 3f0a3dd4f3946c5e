"""Fixtures of the live page's tests: a store of runs that were never measured, and its server."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, browser
from undrawn import drawn, undrawn
from web_serving import serving

from lanlab.web.server import WebServer

#: Fixtures of all tests here: pages have stand-ins for figures, unless a test asks for `drawn`.
__all__ = ["drawn", "undrawn"]

# The synthetic runs of other tests; before what uses them is imported.
for _folder in ("cli", "report", "analysis"):
    sys.path.append(str(Path(__file__).parents[1] / _folder))


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from stored_runs import make_store

    place = tmp_path_factory.mktemp("web") / "store.sqlite"
    make_store(place)
    return place


@pytest.fixture
def server(store: Path) -> Iterator[WebServer]:
    with serving(store) as found:
        yield found


@pytest.fixture(scope="module")
def page() -> Iterator[Browser]:
    with browser() as found:
        yield found
