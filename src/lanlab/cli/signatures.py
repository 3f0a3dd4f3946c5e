"""Commands whose options are made: typer reads them from a function's signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence


def as_command(
    run: Callable[..., None], command: Callable[..., None], options: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    """`run` as typer shall see it: with the name and help of `command`, and these options."""
    # By these typer makes options; functions have no such attribute by themselves.
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in options}
    run.__doc__, run.__name__ = command.__doc__, command.__name__
    return run
