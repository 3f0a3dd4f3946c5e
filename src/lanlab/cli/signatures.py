"""Commands whose options are made: typer reads them from a function's signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args


def as_command(
    run: Callable[..., None], command: Callable[..., None], options: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    """`run` as typer shall see it: with the name and help of `command`, and these options."""
    # By these typer makes options; functions have no such attribute by themselves.
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in options}
    run.__doc__, run.__name__ = command.__doc__, command.__name__
    return run


def with_more(
    run: Callable[..., None],
    command: Callable[..., None],
    wanted: Mapping[str, Any],
    *,
    behind: str,
    without: str = "",
) -> Callable[..., None]:
    """
    `run` as `command` with more options.

    Args:
        wanted: What they are, by name; one that is not given is `None`, or of a flag false.
        behind: The option of the command that they stand behind.
        without: The argument of the command that `run` makes of them.
    """
    own = {
        name: one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, one in inspect.signature(command, eval_str=True).parameters.items()
        if name != without
    }
    made = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if get_args(annotation)[0] is bool else None,
            annotation=annotation,
        )
        for name, annotation in wanted.items()
    ]
    place = list(own).index(behind) + 1
    # What its other options are made of.
    for key, value in vars(command).items():
        setattr(run, key, value)
    options = list(own.values())
    return as_command(run, command, [*options[:place], *made, *options[place:]])
