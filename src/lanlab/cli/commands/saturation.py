"""`lanlab saturation`: the highest load that a link or host carries without loss."""

from __future__ import annotations

from lanlab.cli.options.parameters import Given, ParametersOf
from lanlab.cli.options.shared import option
from lanlab.cli.running.settings import RunSettings, with_run_settings
from lanlab.errors import UsageError
from lanlab.units import of_option, parse_rate_bps, parse_share

#: Upper end of the search on a link of unknown speed, bit/s: more than a program can send as
#: messages.
_HIGHEST_BPS = 10_000_000_000
_LOWEST_RATIO = 0.01
#: Factor of the link's capacity, so that the limit lies within the range.
_BEYOND = 1.2


_PARAMETERS = ("message_size_bytes", "ip_version", "io", "send_buffer_bytes")


@with_run_settings(trials=None, simulated=False, live_interval=None)
@ParametersOf(
    "stream",
    only=(*_PARAMETERS, "receive_buffer_bytes", "warmup_s", "silence_s"),
    # The buffer must be small, so that even short trials fill it.
    defaults={"send_buffer_bytes": "32KiB", "warmup_s": "0.2 s"},
)
def saturation(
    goals: str = option("--goals", "LIST", "Loss ratios to search for.", "0,0.1%,1%"),
    low: str | None = option("--low", "RATE", "Lowest load. Default: 1 % of --high."),
    high: str | None = option(
        "--high", "RATE", "Highest load. Default: 1.2 times the link speed; unshaped, 10G."
    ),
    time: str = option("--time", "TIME", "Length of a confirming trial.", "2"),
    trials: int = option("--trials", "NUMBER", "Trials at each load.", 3, min=1, max=99),
    width: str = option(
        "--width", "SHARE", "Stop the search when the bounds are this close.", "1%"
    ),
    curve: int = option(
        "--curve", "NUMBER", "Extra loads to measure for a curve.", 0, min=0, max=1000
    ),
    *,
    given: Given,
    settings: RunSettings,
) -> None:
    """Search for the highest load that loses no more than a goal.

    Sends UDP messages. Short trials search; full-length trials confirm (RFC 9971).

    Examples: lanlab saturation --link 10M --size 500 --goals 0,0.1%,1%;
    lanlab saturation --testbed loopback --size 64 --curve 12
    """
    from lanlab.analysis.links.wires import wire_asked_for
    from lanlab.analysis.trials.summary import limit_of
    from lanlab.cli.options.levels import check_commas, checked
    from lanlab.cli.results.printing import print_run
    from lanlab.cli.running import single
    from lanlab.report.trials.subject import subject
    from lanlab.store import store_option

    if settings.testbed == "simulated":
        raise UsageError(
            "`lanlab saturation` cannot run on testbed `simulated`",
            hint="run it on `virtual`, or a study with a search on `simulated`",
        )
    parameters = checked("stream", {**given, "transport": "udp", "time_s": time})
    limit_bps = limit_of("rate_bps", parameters, wire_asked_for(settings.link or "unshaped"))
    default_bps = round(_BEYOND * limit_bps) if limit_bps else _HIGHEST_BPS
    high_bps = default_bps if high is None else of_option("--high", parse_rate_bps, high)
    lowest_bps = max(1, round(_LOWEST_RATIO * high_bps))
    low_bps = lowest_bps if low is None else of_option("--low", parse_rate_bps, low)
    if not 0 < low_bps < high_bps:
        said = f"--low {low_bps:,} bit/s must be below --high {high_bps:,} bit/s"
        raise UsageError(said, hint="lanlab searches between --low and --high")
    wanted = [goal.strip() for goal in goals.split(",")]
    check_commas("--goals", wanted, "SHARE")
    search = {
        "factor": "rate_bps",
        "low": low_bps,
        "high": high_bps,
        "loss_goals": sorted({_share("--goals", goal) for goal in wanted}),
        "trials": trials,
        "width_ratio": _share("--width", width),
        "curve": curve,
    }
    run, records = single.measure_study(
        {
            "id": "saturation",
            "title": f"saturation of a {subject('stream', parameters, searched='rate_bps')}",
            "workload": "stream",
            "metrics": ["goodput_bps", "received_ratio"],
            "parameters": parameters,
            "search": search,
        },
        settings,
        figure="saturation_curve",
    )
    print_run(run, records, settings.as_json, option=store_option(settings.store))
    # The text of the answer already includes the number of disturbed trials.
    single.finish(run, records, verbose=settings.verbose, summary=settings.as_json)


def _share(option: str, text: str) -> float:
    """Parse a share of all messages, as in `0.1%` or `0.001`."""
    try:
        share = parse_share(text)
    except UsageError:
        share = -1.0
    if not 0 <= share < 1 or (option == "--width" and not share):
        raise UsageError(
            f"{option}: found `{text.strip()}`; allowed: a share below 100 %",
            hint="write e.g. `0.1%` or `0.001`",
        )
    return share
