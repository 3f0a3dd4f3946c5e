"""
Options for the parameters of a workload, generated from their definitions.

Models load slowly, so a command only names its workload, and options are built only for the command
that was typed.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lanlab.cli.options import complete
from lanlab.cli.options.hosts import Command, with_more
from lanlab.errors import UsageError
from lanlab.frozen import dataclass

if TYPE_CHECKING:
    from lanlab.workloads.definitions import Definition

#: Parameters from the command line, by key; `None` if not given.
Given = dict[str, Any]
_COMPLETED = {"driver": complete.drivers, "service": complete.services}
_METAVARS = {int: "NUMBER", float: "NUMBER", str: "TEXT"}
_LONGEST_RANGE = len("0 to 10,000,000")
_MADE_OF = "__made_of__"


@dataclass(frozen=True)
class ParametersOf:
    """
    Adds the options for a workload's parameters to a command. They become its argument `given`, at
    whose place `--help` lists them.
    """

    workload: str
    #: Only these, in this order. If empty, all with an option that the command does not define.
    only: Sequence[str] = ()
    first: Sequence[str] = ()
    #: Defaults of the command in place of the parameters' own.
    defaults: Mapping[str, str] = field(default_factory=dict)
    #: Whether a value may be a list or a range (`cli.options.levels`), which the command parses.
    takes_lists: bool = False

    def __call__(self, command: Command) -> Command:
        setattr(command, _MADE_OF, self)
        return command


def with_options(command: Command) -> Command:
    """A command with its options, if some are generated from a workload's parameters."""
    made_of: ParametersOf | None = getattr(command, _MADE_OF, None)
    if made_of is None:
        return command
    own = inspect.signature(command, eval_str=True).parameters
    chosen = _chosen(made_of, own)
    wanted = {
        name: annotation
        for one in chosen
        for name, annotation in ((one.key, _option(one, made_of)), *_flags(one).items())
    }

    def take(**values: Any) -> Given:
        given = {one.key: values[one.key] for one in chosen}
        for one in chosen:
            _take_flags(one, [values[name] for name in _flags(one)], given)
        unset = {key: text for key, text in made_of.defaults.items() if given.get(key) is None}
        return {"given": {**given, **unset}}

    return with_more(command, wanted, take, at="given", are_argument=True)


def _flags(one: Definition) -> dict[str, object]:
    return {
        f"{one.key}_flag_{place}": Annotated[bool, typer.Option(*flag.names, help=flag.help)]
        for place, flag in enumerate(one.flags)
    }


def _take_flags(one: Definition, are_set: Sequence[bool], given: Given) -> None:
    names = [flag.names[-1] for flag, is_set in zip(one.flags, are_set, strict=True) if is_set]
    if given[one.key] is not None and names:
        names.append(str(one.option))
    if len(names) > 1:
        raise UsageError(
            f"{' and '.join(names)} cannot be used together", hint="use only one of them"
        )
    if names:
        given[one.key] = next(
            flag.value for flag, is_set in zip(one.flags, are_set, strict=True) if is_set
        )


def _chosen(made_of: ParametersOf, own: Mapping[str, object]) -> list[Definition]:
    from lanlab.workloads import workload
    from lanlab.workloads.definitions import definitions

    found = definitions(workload(made_of.workload).Parameters)
    if made_of.only:
        return [found[key] for key in made_of.only]
    keys = dict.fromkeys((*made_of.first, *found))
    return [found[key] for key in keys if found[key].option is not None and key not in own]


def _option(one: Definition, made_of: ParametersOf) -> object:
    assert one.option_names is not None
    is_flag = one.kind is bool and not one.is_on
    kind: Any = bool if is_flag else one.kind | None
    if one.unit is not None or (made_of.takes_lists and one.kind is not bool):
        kind = str | None
    metavar = one.metavar or "|".join(one.choices) or _METAVARS.get(one.kind)
    info = typer.Option(
        one.option_names,
        *([one.short] if one.short else []),
        metavar=metavar,
        help=_help(one, made_of.defaults.get(one.key)),
        hidden=one.is_hidden,
        autocompletion=_COMPLETED.get(one.key)
        or (complete.choices(one.choices) if one.choices else None),
    )
    return Annotated[kind, info]


def _help(one: Definition, own_default: str | None) -> str:
    default = own_default or one.default_text
    said = [f"default: {default}"] if default and "Default:" not in one.help else []
    # A bound far from usual values is not worth showing.
    if one.unit is None and 0 < len(one.range) <= _LONGEST_RANGE:
        said.append(one.range)
    return f"{one.help} [{'; '.join(said)}]" if said else one.help
