"""Options and commands of other programs, with their equivalents in lanlab."""

from __future__ import annotations

from collections.abc import Collection

from lanlab.errors import closest

#: By the foreign option: lanlab's options with further text. The hint uses the first that the
#: command has.
_SAME: dict[str, tuple[tuple[str, str], ...]] = {
    "-c": (("--to", " HOST; lanlab starts the other end there, by ssh"),),
    "-s": (("--to", " HOST at the other end; lanlab starts a server there by itself"),),
    "-p": (("--port", ""),),
    "-B": (("--from-address", ", or --address for the other end"),),
    "-w": (("--receive-buffer", " and --send-buffer"), ("--warmup", "")),
    "-N": (("--nodelay", ""),),
    "-C": (("--congestion-control", ""),),
    "-O": (("--warmup", ""),),
    "-k": (("--messages", ""),),
    "-d": (("--bidirectional", ""),),
    "-V": (("--verbose", ""),),
    "-S": (("--dscp", ", which is -S divided by 4"),),
    "-A": (("--sender-processor", " and --receiver-processor"),),
    "-r": (("--trials", ""),),
    "-m": (("--trials", ""),),
    "-P": (("--parallel", ""),),
    "--conclude": (("--cleanup", ", which runs after each trial"),),
    "--flows": (("--parallel", ""),),
    "--peer": (("--to", " HOST; only `stream` and `echo` measure hosts without lanlab"),),
    "--rate": (("--high", " and --low, between which lanlab searches"),),
    "--ipv6": (("-6", ""),),
    "--ipv4": (("-4", ""),),
    "--csv": (("--export-csv", " FILE"), ("--json", "; `lanlab report` writes every table as CSV")),
    "--users": (("--stations", ""), ("--parallel", ""), ("--flows", "")),
    "--count": (("--requests", ""), ("--messages", ""), ("--readings", ""), ("--trials", "")),
    "--duration": (("--time", ""), ("--longest", "")),
    "--json-stream": (("--live", " with --json"),),
    "--length": (("--block", ""), ("--size", "")),
    "--depth": (("--depth", ""), ("--stations", ", each of which waits for its reply")),
    "--direction": (("--read", " or --write"), ("--download", "; without it files are uploaded")),
    "--mix": (("--read-ratio", ""),),
    "--bitrate": (("--flow-rate", ", or --rate for all flows together"), ("--rate", "")),
    "--num": (("--bytes", ""),),
    "--tcp": (("--transport", " tcp"),),
    "--udp": (("--transport", " udp"),),
    "--parallel": (("--flows", ""),),
}
_NAMES = {
    "--affinity": "-A",
    "--bandwidth": "--bitrate",
    "--bidir": "-d",
    "--bind": "-B",
    "--block": "--length",
    "--block-size": "--length",
    "--blockcount": "-k",
    "--bs": "--length",
    "--client": "-c",
    "--clients": "--users",
    "--concurrency": "--users",
    "--iterations": "--count",
    "--iodepth": "--depth",
    "--numjobs": "--users",
    "--rw": "--direction",
    "--rwmixread": "--mix",
    "--runtime": "--duration",
    "--seconds": "--duration",
    "--len": "--length",
    "--min-runs": "-m",
    "--omit": "-O",
    "--runs": "-r",
    "--server": "-s",
    "--tos": "-S",
    "--window": "-w",
}

#: Options that moved to another command.
_MOVED = {
    ("serve", name): "`lanlab peer iperf3` serves clients of other programs"
    for name in ("--peer", "--clients", "--longest", "--rate-limit")
}

#: What to use in place of a command that lanlab does not have.
OWN_COMMANDS = {
    "bench": "`lanlab tour` begins; `lanlab --help` lists the commands",
    "fio": "`lanlab copy` measures files, `lanlab stations` many clients that read or write blocks",
    "help": "`lanlab --help` lists the commands, `lanlab COMMAND --help` explains one",
    "iperf": "`lanlab stream --to HOST` does that; `--tool iperf3` runs iperf3 itself",
    "list": "`lanlab runs` lists the runs, `lanlab studies` the studies",
    "netperf": "`lanlab stream --to HOST` does that; `--tool netperf` runs netperf itself",
    "ping": "`lanlab echo --to HOST` measures round trips",
    "speedtest": "`lanlab stream --to HOST` measures goodput, `lanlab load --to HOST` also latency",
    "version": "use --version",
}
OWN_COMMANDS |= {"iperf3": OWN_COMMANDS["iperf"], "mtr": OWN_COMMANDS["ping"]}
OWN_COMMANDS |= {"ls": OWN_COMMANDS["list"], "dd": OWN_COMMANDS["fio"]}
OWN_COMMANDS["test"] = OWN_COMMANDS["bench"]


def own_option(option: str, known: Collection[str], command: str = "") -> str | None:
    """
    What to use in place of an option that a command does not have.

    Examples:
        >>> own_option("--client", {"--to"})
        'use --to HOST; lanlab starts the other end there, by ssh'
        >>> own_option("--client", {"--port"}) is None
        True
    """
    if (command, option) in _MOVED:
        return _MOVED[command, option]
    for name, rest in _SAME.get(_NAMES.get(option, option), ()):
        if name in known:
            return f"use {name}{rest}"
    meant = closest(option, [*known, *_SAME, *_NAMES], 0.8)
    return None if meant in (None, option, *known) else own_option(str(meant), known, command)
