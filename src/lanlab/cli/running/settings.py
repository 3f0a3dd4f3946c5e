"""
Options of every command that measures: trials, testbed, link, and store. `with_run_settings` adds
them as its argument `settings`.
"""

from __future__ import annotations

from collections.abc import Callable

from lanlab.cli.options import shared as options
from lanlab.cli.options.hosts import Command, with_fields, with_hosts
from lanlab.cli.running.hooks import NO_HOOKS, RunHooks, with_run_hooks
from lanlab.frozen import dataclass


@dataclass(frozen=True)
class RunSettings:
    """In the order of `--help`."""

    trials: options.TrialsOption = 1
    testbed: options.TestbedOption = options.DEFAULT_TESTBED
    link: options.LinkOption = None
    machines: options.MachinesOption = None
    pcap: options.PcapOption = None
    seed: options.SeedOption = None
    store: options.StoreOption = None
    verbose: options.VerboseOption = False
    as_json: options.JsonOption = False
    hooks: RunHooks = NO_HOOKS


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
    left_out = {
        "hooks",
        *(["trials"] if trials is None else []),
        *([] if simulated else ["machines"]),
    }
    with_settings = with_fields(
        RunSettings, "settings", left_out=left_out, also=("hooks",), defaults={"trials": trials}
    )

    def made(command: Command) -> Command:
        with_all = hosts(with_settings(command))
        return with_all if live_interval is None else with_run_hooks(with_all, live_interval)

    return made
