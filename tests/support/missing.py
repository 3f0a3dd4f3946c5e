"""What a test needs of the machine and does not find."""

import os
from typing import NoReturn

import pytest

from lanlab.errors import UnmetNeed


def missing(what: str | UnmetNeed) -> NoReturn:
    if isinstance(what, UnmetNeed):
        what = f"{what.message} ({what.hint})"
    if os.environ.get("LANLAB_REQUIRE_PEERS") == "1":
        pytest.fail(what)
    pytest.skip(what)
