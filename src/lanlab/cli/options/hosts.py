"""
Decorators that add options to commands. `with_fields` adds the fields of a dataclass. `with_hosts`
adds the options for real hosts, which define the testbed, after `--testbed` to every command that
measures between two hosts.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from typing import Annotated, get_args, get_type_hints

import typer

from lanlab.cli.options.shared import DEFAULT_TESTBED, text_option
from lanlab.errors import UsageError

Command = Callable[..., None]

_THEIRS = "in the measured network. Default: the one ssh connects to."
_OPTIONS: dict[str, object] = {
    "to_host": text_option(
        "--to", "[USER@]HOST", "Host to measure to, by ssh, e.g. alice@nas:2222."
    ),
    "from_host": text_option(
        "--from", "[USER@]HOST", "Host to measure from, by ssh. Default: this machine."
    ),
    "to_address": text_option("--address", "ADDRESS", f"Address of the --to host {_THEIRS}"),
    "from_address": text_option(
        "--from-address", "ADDRESS", f"Address of the --from host {_THEIRS}"
    ),
    "engines": Annotated[
        list[str] | None,
        typer.Option(
            "--engine",
            metavar="ARCH=PATH",
            help="Engine for hosts of another architecture, e.g. aarch64=./lanlab-engine.",
        ),
    ],
    "remove_engine": Annotated[
        bool,
        typer.Option(
            "--remove-engine",
            help="Remove the engine from the hosts afterwards. Default: keep it in ~/.cache/lanlab "
            "there.",
        ),
    ],
}
_FROM_HOSTS = Annotated[
    list[str] | None,
    typer.Option("--from", metavar="[USER@]HOST,...", help="Hosts to measure from, by ssh."),
]


def with_hosts(command: Command, from_host: object = _OPTIONS["from_host"]) -> Command:
    """Add these options to a command; they become its argument `testbed`."""
    wanted = {**_OPTIONS, "from_host": from_host}
    return with_more(
        command, wanted, lambda **values: {"testbed": testbed_of(**values)}, at="testbed"
    )


def with_many_hosts(command: Command) -> Command:
    """Like `with_hosts`, for a command whose work can be spread over several hosts."""
    return with_hosts(command, _FROM_HOSTS)


def testbed_of(
    testbed: str,
    link: str | None = None,
    *,
    to_host: str | None,
    from_host: str | list[str] | None,
    to_address: str | None,
    from_address: str | None,
    engines: list[str] | None,
    remove_engine: bool,
    **_: object,
) -> str:
    """The testbed that the options define."""
    from_hosts = _listed(from_host)
    addresses = {"--address": to_address, "--from-address": from_address}
    hosts = (("--to", to_host), *(("--from", one) for one in from_hosts))
    for option, text in (*hosts, *addresses.items()):
        _refuse_file(option, text or "")
    named = (to_host, to_address, from_address)
    if not (from_hosts or engines or remove_engine or any(each is not None for each in named)):
        return testbed
    from lanlab.engine.travelling import ENGINE_VARIABLE, parse_named_engines
    from lanlab.testbeds.remote.destinations import HERE, PREFIX, parse_destination
    from lanlab.testbeds.remote.installed_engine import REMOVE_VARIABLE

    for architecture, path in parse_named_engines(engines or []).items():
        os.environ[f"{ENGINE_VARIABLE}{architecture.upper()}"] = path
    if remove_engine:
        os.environ[REMOVE_VARIABLE] = "1"
    if to_host is None and not from_hosts:
        lonely = next((name for name, value in addresses.items() if value is not None), None)
        if lonely is not None:
            raise UsageError(f"{lonely} needs --to or --from", hint="name the host, too")
        return testbed
    if testbed != DEFAULT_TESTBED:
        raise UsageError(
            "--to and --from cannot be used with --testbed",
            hint=f"write both hosts as in `--testbed {PREFIX}here,alice@nas`, or omit it",
        )
    if link not in (None, "unshaped"):
        raise UsageError(
            "--link cannot be used with --to and --from: lanlab does not shape a real link",
            hint="omit it",
        )
    if len(from_hosts) > 1 and from_address is not None:
        raise UsageError(
            f"--from-address names one address; --from names {len(from_hosts)} hosts",
            hint="write each with its own, e.g. `--from pc1=192.168.7.1,pc2=192.168.7.2`",
        )
    first, *others = from_hosts or [HERE]
    ends = [first if from_address is None else f"{first}={from_address}"]
    ends.append((to_host or HERE) if to_address is None else f"{to_host or HERE}={to_address}")
    begin, end, *more = (str(parse_destination(text)) for text in (*ends, *others))
    if len({begin, *more}) <= len(more):
        raise UsageError("--from names a host twice", hint="name each host once")
    return f"{PREFIX}{','.join((begin, end, *more))}"


def _refuse_file(option: str, text: str) -> None:
    if text.endswith(".toml") or "/" in text:
        from lanlab.testbeds.remote.destinations import PREFIX

        allowed = "an address" if option.endswith("address") else "a host, as in alice@nas"
        raise UsageError(
            f"{option}: found `{text}`, which is a file; allowed: {allowed}",
            hint=f"for a file of hosts, use `--testbed {PREFIX}{text}`",
        )


def _listed(given: str | list[str] | None) -> list[str]:
    if isinstance(given, list):
        return [each.strip() for text in given for each in text.split(",")]
    return [] if given is None else [given]


def with_more(
    command: Command,
    wanted: Mapping[str, object],
    take: Callable[..., Mapping[str, object]],
    *,
    at: str,
    are_argument: bool = False,
    defaults: Mapping[str, object] | None = None,
    also: Collection[str] = (),
) -> Command:
    """
    A command with more options.

    Args:
        wanted: The options, by name. If not given, an option is `None`, or false for a flag.
        take: Returns arguments of the command from the values of all its options, by name.
        at: The option of the command after which they are inserted.
        are_argument: Whether `at` is the argument that `take` builds from them, and that they
            replace.
        also: Other arguments that `take` uses up.
    """

    def run(**values: object) -> None:
        rest = {name: values[name] for name in values if name not in wanted and name not in also}
        command(**{**rest, **take(**values)})

    own = {
        name: one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, one in inspect.signature(command, eval_str=True).parameters.items()
    }
    made = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=(defaults or {}).get(name, False if bool in get_args(annotation)[:1] else None),
            annotation=annotation,
        )
        for name, annotation in wanted.items()
    ]
    # Among these attributes is the source of the command's generated options.
    for key, value in vars(command).items():
        setattr(run, key, value)
    options, place = list(own.values()), list(own).index(at)
    before = options[: place if are_argument else place + 1]
    # Typer reads these attributes; type checkers do not know them.
    every = [*before, *made, *options[place + 1 :]]
    run.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in every}
    run.__doc__, run.__name__ = command.__doc__, command.__name__
    return run


def with_fields(
    kind: type,
    at: str,
    *,
    left_out: Collection[str] = (),
    also: Collection[str] = (),
    defaults: Mapping[str, object] | None = None,
) -> Callable[[Command], Command]:
    """
    Replace the argument `at` of a command by one option for each field of a dataclass; the command
    still gets it, as an instance.

    Args:
        left_out: Fields that get no option.
        also: Fields in `left_out` whose values another decorator provides.
        defaults: Defaults of the command in place of the fields' own.
    """
    hints = get_type_hints(kind, include_extras=True)
    wanted = {name: hint for name, hint in hints.items() if name not in left_out}
    usual = {one.name: one.default for one in fields(kind)} | dict(defaults or {})

    def take(**values: object) -> Mapping[str, object]:
        return {at: kind(**{name: values[name] for name in (*wanted, *also) if name in values})}

    return lambda command: with_more(
        command, wanted, take, at=at, are_argument=True, defaults=usual, also=also
    )
