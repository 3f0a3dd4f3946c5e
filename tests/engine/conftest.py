"""What tests of the engine share."""

from collections.abc import Iterator

import pytest
from raw_engine import RawEngine


@pytest.fixture(scope="module")
def engine() -> Iterator[RawEngine]:
    with RawEngine() as started:
        yield started
        assert started.is_usable()
