"""Commands with generated options. Typer reads options from a function's signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args


def as_command(
    run: Callable[..., None], command: Callable[..., None], options: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    """`run` for typer, with these options and the name and help of `command`."""
    # Typer reads these attributes; type checkers do not know them.
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
    `run` as `command`, with more options.

    Args:
        wanted: The options, by name. If not given, an option is `None`, or false for a flag.
        at: The option of the command after which they are inserted.
        are_argument: Whether `at` is the argument that `run` builds from them, and that they
            replace.
        defaults: Values of options that are not given.
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
    # Among these attributes is the source of the command's generated options.
    for key, value in vars(command).items():
        setattr(run, key, value)
    options, place = list(own.values()), list(own).index(at)
    before = options[: place if are_argument else place + 1]
    return as_command(run, command, [*before, *made, *options[place + 1 :]])
