"""
Options of every command that measures: the user's commands around trials, and export files.
`with_run_hooks` adds them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lanlab.cli.options.hosts import Command, with_more
from lanlab.cli.options.shared import text_option
from lanlab.cli.terminal.remarks import print_json_in_one_line, say
from lanlab.errors import LabError, StoreError, UsageError
from lanlab.frozen import dataclass
from lanlab.units import time_of
from lanlab.user_files import user_path

if TYPE_CHECKING:
    from lanlab.store import RunRecord, TrialRecord
    from lanlab.store.database import Store

_TIMEOUT = "60"


_COMMANDS: Mapping[str, object] = {
    "setup": text_option(
        "--setup", "CMD", "Shell command to run when the condition changes, untimed."
    ),
    "prepare": text_option("--prepare", "CMD", "Shell command to run before each trial, untimed."),
    "cleanup": text_option("--cleanup", "CMD", "Shell command to run after each trial, untimed."),
    "command_timeout": text_option(
        "--command-timeout",
        "TIME",
        f"Time limit of each of these commands. [default: {_TIMEOUT} s]",
    ),
}


def _live_options(interval: str) -> dict[str, object]:
    return {
        "interval": text_option(
            f"{interval} -i",
            "TIME",
            "Interval between progress lines; 0 prints none. Default: 1 s on a terminal, for "
            "trials longer than 2 s.",
        ),
        "live": Annotated[
            bool,
            typer.Option(
                "--live",
                help="With --json: print one JSON line for each interval, then one for the result.",
            ),
        ],
    }


#: The shortest interval, because engines do not report progress more often.
_SHORTEST_S = 0.25
_OTHER = "name a file for each"
_FORMATS = {
    "markdown": "Markdown with the answer and tables of the means",
    "csv": "a CSV table of every metric at every condition",
    "json": "a JSON object with every trial",
    "openmetrics": "OpenMetrics text for a collector such as Prometheus",
    "intervals": "a CSV table of the stored intervals of every trial",
}
_EXPORTS: Mapping[str, object] = {
    f"export_{name}": text_option(f"--export-{name}", "FILE", f"Also write {what}.")
    for name, what in _FORMATS.items()
}


@dataclass(frozen=True)
class LiveOption:
    #: `None` if not given; 0 for no lines.
    interval_s: float | None = None
    is_json: bool = False


@dataclass(frozen=True)
class RunHooks:
    #: In the form of a study file; empty without commands.
    commands: Mapping[str, object] = field(default_factory=dict)
    exports: Mapping[str, Path] = field(default_factory=dict)
    live: LiveOption = field(default_factory=LiveOption)

    def check(self, store: str | None) -> None:
        """Check before measuring that each file can be written.

        Args:
            store: The store for the results, as for `open_store`; it may not exist yet.

        Raises:
            StoreError: A folder or file cannot be read.
        """
        if not self.exports:
            return
        from lanlab.report.page.own_files import check_file
        from lanlab.store.place import store_place

        paths = list(self.exports.values())
        place = store_place(store)
        for path in paths:
            if not isinstance(place, str) and path.resolve() == place.resolve():
                raise UsageError(f"{path} is both the store and an export", hint=_OTHER)
            if paths.count(path) > 1:
                raise UsageError(f"{path} is used for two exports", hint=_OTHER)
            check_file(path)

    def write(self, run: RunRecord, trials: list[TrialRecord], records: Store) -> None:
        """Write the results of a run to the files. Errors are reported after the answer."""
        if not self.exports:
            return
        from lanlab.cli.terminal.exit_report import tell_after_the_answer
        from lanlab.report.page.own_files import write_file

        for name, path in self.exports.items():
            try:
                write_file(_content(name, path, run, trials, records), path)
            except LabError as error:
                tell_after_the_answer(error)
            else:
                say(f"wrote {path}")


NO_HOOKS = RunHooks()


def _content(
    name: str, path: Path, run: RunRecord, trials: list[TrialRecord], records: Store
) -> str:
    """The content of an export.

    Raises:
        StoreError: An analysis for it failed. The run is saved.
    """
    from lanlab.report.trials.analyses import Analyses

    analyses = Analyses()
    text = analyses.of(f"--export-{name}", lambda: _written(name, run, trials, records), None)
    if text is None:
        raise StoreError(
            f"{path} was not written. {' '.join(analyses.lines())}",
            hint=f"`lanlab show {run.id}{records.option}` prints the trials; please report this",
        )
    return text


def _written(name: str, run: RunRecord, trials: list[TrialRecord], records: Store) -> str:
    from lanlab.analysis.trials.run_data import RunData
    from lanlab.report.exports.condition_values import value_table
    from lanlab.report.exports.openmetrics import openmetrics_text
    from lanlab.report.runs.run_text import markdown

    data = RunData(run, trials)
    if name == "markdown":
        return markdown(data)
    if name == "csv":
        return value_table(data).to_csv()
    if name == "openmetrics":
        return openmetrics_text(data)
    if name == "intervals":
        from lanlab.report.exports.condition_values import interval_table

        return interval_table(trials, records).to_csv()

    from lanlab.cli.results.printing import run_as_json

    return json.dumps(run_as_json(run, trials), indent=2, allow_nan=False) + "\n"


def with_run_hooks(command: Command, live_interval: str = "--interval") -> Command:
    """
    Add these options to a command, as its argument `hooks`.

    Args:
        live_interval: Name of the option for the interval of live lines, for a command whose
            `--interval` means something else.
    """
    wanted = {**_COMMANDS, **_live_options(live_interval), **_EXPORTS}
    return with_more(
        command, wanted, lambda **values: {"hooks": _hooks(live_interval, **values)}, at="verbose"
    )


def _hooks(
    live_interval: str,
    *,
    as_json: bool,
    command_timeout: str | None,
    interval: str | None,
    live: bool,
    store: str | None = None,
    **others: object,
) -> RunHooks:
    commands = {
        name: others[name] for name in ("setup", "prepare", "cleanup") if others[name] is not None
    }
    if command_timeout is not None and not commands:
        raise UsageError("--command-timeout needs --setup, --prepare or --cleanup", hint="omit it")
    if commands:
        commands["timeout_s"] = time_of("--command-timeout", command_timeout or _TIMEOUT)
    files = {name: file for name in _FORMATS if (file := others[f"export_{name}"]) is not None}
    for name, file in files.items():
        if file == "-":
            raise UsageError(
                f"--export-{name}: found `-`; allowed: FILE",
                hint="write `./-` for a file of that name; --json prints to standard output",
            )
    hooks = RunHooks(
        commands,
        {name: user_path(str(file)) for name, file in files.items()},
        _live(interval, live_interval, is_live=live, is_json=as_json),
    )
    hooks.check(store)
    return hooks


def _live(interval: str | None, option: str, *, is_live: bool, is_json: bool) -> LiveOption:
    if is_live and not is_json:
        raise UsageError(
            "--live needs --json", hint=f"{option} 1 prints readable lines on any output"
        )
    interval_s = None if interval is None else time_of(option, interval, "0 s")
    if interval_s is not None and 0 < interval_s < _SHORTEST_S:
        raise UsageError(f"{option}: found `{interval}`; allowed: 0, or {_SHORTEST_S:g} s to 24 h")
    if is_live and interval_s == 0:
        raise UsageError(
            f"--live and {option} 0 cannot be used together", hint="use only one of them"
        )
    if is_live:
        print_json_in_one_line()
    return LiveOption(interval_s, is_live)
