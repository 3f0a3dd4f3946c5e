"""What a test needs of the machine and does not find."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

from lanlab.errors import UnmetNeed


def missing(what: str | UnmetNeed) -> NoReturn:
    """Skip the test; with LANLAB_REQUIRE_PEERS=1, as in CI, fail it."""
    if isinstance(what, UnmetNeed):
        what = f"{what.message} ({what.hint})"
    if os.environ.get("LANLAB_REQUIRE_PEERS") == "1":
        pytest.fail(what)
    pytest.skip(what)
