"""
Options of every command that measures: how often, where, over what, and where results go. A command
has them as its argument `settings`, by `with_run_settings`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from lanlab.cli import options
from lanlab.cli.host_options import with_hosts
from lanlab.cli.run_hooks import NO_HOOKS, RunHooks, with_run_hooks
from lanlab.cli.signatures import as_command
from lanlab.frozen import dataclass


@dataclass(frozen=True)
class RunSettings:
    """What these options ask for."""

    testbed: str
    link: str | None = None
    #: A file for the frames on the link.
    pcap: str | None = None
    seed: int | None = None
    store: str | None = None
    verbose: bool = False
    as_json: bool = False
    #: Of each condition.
    trials: int = 1
    #: On the simulated testbed, that at each end.
    machines: str | None = None
    #: Commands around the trials, and files for the results.
    hooks: RunHooks = NO_HOOKS


#: In the order of `--help`.
_OPTIONS: Mapping[str, tuple[Any, Any]] = {
    "trials": (options.TrialsOption, None),
    "testbed": (options.TestbedOption, options.DEFAULT_TESTBED),
    "link": (options.LinkOption, None),
    "machines": (options.MachinesOption, None),
    "pcap": (options.PcapOption, None),
    "seed": (options.SeedOption, None),
    "store": (options.StoreOption, None),
    "verbose": (options.VerboseOption, False),
    "as_json": (options.JsonOption, False),
}

Command = Callable[..., None]


def with_run_settings(
    trials: int | None,
    *,
    simulated: bool = True,
    hosts: Callable[[Command], Command] = with_hosts,
    live_interval: str | None = "--interval",
) -> Callable[[Command], Command]:
    """
    Give a command these options, where its argument `settings` stands in `--help`.

    Args:
        trials: Default of `--trials`; `None`: the command has such an option of its own, or none.
        simulated: Whether machines of the simulated testbed can be named.
        hosts: What adds the options that name real hosts.
        live_interval: The option for the length of live lines; `None`: neither that nor commands
            around the trials.
    """
    left_out = {"trials"} if trials is None else set()
    left_out |= set() if simulated else {"machines"}

    def made(command: Command) -> Command:
        with_all = hosts(_with(command, trials, left_out))
        return with_all if live_interval is None else with_run_hooks(with_all, live_interval)

    return made


def _with(command: Command, trials: int | None, left_out: set[str]) -> Command:
    own = dict(inspect.signature(command, eval_str=True).parameters)
    place = list(own).index("settings")
    del own["settings"]
    made = {
        name: inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=trials if name == "trials" else default,
            annotation=annotation,
        )
        for name, (annotation, default) in _OPTIONS.items()
        if name not in left_out
    }

    def run(*, hooks: RunHooks = NO_HOOKS, **values: Any) -> None:
        common = {name: values.pop(name) for name in made}
        command(**values, settings=RunSettings(**common, hooks=hooks))

    # What its other options are made of.
    for key, value in vars(command).items():
        setattr(run, key, value)
    others = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own.values()]
    return as_command(run, command, [*others[:place], *made.values(), *others[place:]])
