"""What tests of testbeds share."""

from collections.abc import Iterator

import pytest
from testbed_opening import Open, opening


@pytest.fixture
def open_bed() -> Iterator[Open]:
    with opening() as open_or_skip:
        yield open_or_skip
