"""
Options of every command that measures: trials, testbed, link, and store. `with_run_settings` adds
them as its argument `settings`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lanlab.cli import options
from lanlab.cli.host_options import with_hosts, with_more
from lanlab.cli.run_hooks import NO_HOOKS, RunHooks, with_run_hooks
from lanlab.frozen import dataclass


@dataclass(frozen=True)
class RunSettings:
    testbed: str
    link: str | None = None
    pcap: str | None = None
    seed: int | None = None
    store: str | None = None
    verbose: bool = False
    as_json: bool = False
    trials: int = 1
    machines: str | None = None
    hooks: RunHooks = NO_HOOKS


#: In the order of `--help`.
_OPTIONS: Mapping[str, object] = {
    "trials": options.TrialsOption,
    "testbed": options.TestbedOption,
    "link": options.LinkOption,
    "machines": options.MachinesOption,
    "pcap": options.PcapOption,
    "seed": options.SeedOption,
    "store": options.StoreOption,
    "verbose": options.VerboseOption,
    "as_json": options.JsonOption,
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
    Add these options to a command, at the place of its argument `settings` in `--help`.

    Args:
        trials: Default of `--trials`; `None` if the command defines its own or has none.
        simulated: Whether machines of the simulated testbed can be named.
        live_interval: Name of the option for the interval of live lines; `None` to add neither it
            nor the options for commands around trials.
    """
    left_out = {"trials"} if trials is None else set()
    left_out |= set() if simulated else {"machines"}
    wanted = {name: option for name, option in _OPTIONS.items() if name not in left_out}
    defaults = {"trials": trials, "testbed": options.DEFAULT_TESTBED}

    def made(command: Command) -> Command:
        def run(*, hooks: RunHooks = NO_HOOKS, **values: Any) -> None:
            common = {name: values.pop(name) for name in wanted}
            command(**values, settings=RunSettings(**common, hooks=hooks))

        with_all = with_more(
            run, command, wanted, at="settings", are_argument=True, defaults=defaults
        )
        with_all = hosts(with_all)
        return with_all if live_interval is None else with_run_hooks(with_all, live_interval)

    return made
