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
    at: str,
    are_argument: bool = False,
    defaults: Mapping[str, Any] | None = None,
) -> Callable[..., None]:
    """
    `run` as `command` with more options.

    Args:
        wanted: What they are, by name; one that is not given is `None`, or of a flag false.
        at: The option of the command that they stand behind.
        are_argument: Whether `at` is the argument that `run` makes of them, in place of which they
            stand.
        defaults: What others are that are not given.
    """
    own = {
        name: one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, one in inspect.signature(command, eval_str=True).parameters.items()
    }
    made = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=(defaults or {}).get(name, False if get_args(annotation)[0] is bool else None),
            annotation=annotation,
        )
        for name, annotation in wanted.items()
    ]
    # What its other options are made of.
    for key, value in vars(command).items():
        setattr(run, key, value)
    options, place = list(own.values()), list(own).index(at)
    before = options[: place if are_argument else place + 1]
    return as_command(run, command, [*before, *made, *options[place + 1 :]])
