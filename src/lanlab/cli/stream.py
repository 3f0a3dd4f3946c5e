"""`lanlab stream`: one stream, measured."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lanlab.cli.flow_options import (
    CongestionOption,
    DriverOption,
    DscpOption,
    IpOption,
    NodelayOption,
    ReceiveBufferOption,
    ReceiveOption,
    ReceiverProcessorOption,
    SendBufferOption,
    SenderProcessorOption,
    SilenceOption,
    TimeOption,
    TimestampsOption,
    TransportOption,
    TrialsOption,
    WarmupOption,
)
from lanlab.cli.options import (
    DEFAULT_TESTBED,
    JsonOption,
    LinkOption,
    SeedOption,
    StoreOption,
    TestbedOption,
    VerboseOption,
)

#: As iperf3 writes by default.
_BULK_BYTES = 128 * 1024


def stream(
    transport: TransportOption = "udp",
    ip: IpOption = 4,
    size: Annotated[
        str | None,
        typer.Option(
            "--size",
            metavar="SIZE",
            help="Payload of a message, as in 500, 1408 or 64KiB. Default: 1408; 128KiB over TCP "
            "as fast as possible where the link is unshaped.",
        ),
    ] = None,
    time: TimeOption = None,
    amount: Annotated[
        str | None, typer.Option("--bytes", metavar="SIZE", help="Measure so much, as in 10MB.")
    ] = None,
    messages: Annotated[int | None, typer.Option("--messages", help="Measure so many.")] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            "--rate",
            metavar="RATE",
            help="Sending rate, as in 5M or 500kB/s. Default: all there is.",
        ),
    ] = None,
    message_rate: Annotated[
        float | None, typer.Option("--message-rate", help="Sending rate, messages/s.")
    ] = None,
    flows: Annotated[int, typer.Option("--flows", help="Parallel flows, 1 to 1000.")] = 1,
    io: Annotated[
        str,
        typer.Option("--io", help="Messages a system call: `single`, `batch`, `segment`, `auto`."),
    ] = "auto",
    receive: ReceiveOption = "auto",
    timestamps: TimestampsOption = "program",
    threads: Annotated[
        int | None,
        typer.Option(
            "--threads",
            help="Threads of each end, 1 to 64. Default: as many as flows, at most as processors.",
        ),
    ] = None,
    read_size: Annotated[
        str,
        typer.Option(
            "--read-size", metavar="SIZE", help="Most that one read takes (TCP), as in 64KiB."
        ),
    ] = "1MiB",
    when_late: Annotated[
        str,
        typer.Option(
            "--when-late",
            help="Messages whose slot has passed: `catch_up` without a burst, or `skip` them.",
        ),
    ] = "catch_up",
    drain: Annotated[
        str,
        typer.Option(
            "--drain", metavar="TIME", help="What comes later after the end is lost (UDP)."
        ),
    ] = "0.5",
    receiver_quota: Annotated[
        str | None,
        typer.Option(
            "--receiver-quota",
            metavar="SHARE",
            help="Slow the receiver: share of a processor that each of its threads may use, "
            "0.01 to 1, or as in 50%.",
        ),
    ] = None,
    receiver_work: Annotated[
        str,
        typer.Option(
            "--receiver-work",
            metavar="TIME",
            help="Slow the receiver: time that it works on each message, as in 5us.",
        ),
    ] = "0",
    receiver_rivals: Annotated[
        int,
        typer.Option(
            "--receiver-rivals",
            help="Slow the receiver: busy threads on the processor of each of its own, 0 to 16.",
        ),
    ] = 0,
    sender_processor: SenderProcessorOption = None,
    receiver_processor: ReceiverProcessorOption = None,
    nodelay: NodelayOption = False,
    congestion_control: CongestionOption = None,
    send_buffer: SendBufferOption = None,
    receive_buffer: ReceiveBufferOption = None,
    dscp: DscpOption = 0,
    warmup: WarmupOption = None,
    silence: SilenceOption = "3",
    driver: DriverOption = "lanlab",
    trials: TrialsOption = 1,
    testbed: TestbedOption = DEFAULT_TESTBED,
    link: LinkOption = None,
    seed: SeedOption = None,
    store: StoreOption = None,
    verbose: VerboseOption = False,
    as_json: JsonOption = False,
) -> None:
    """Send messages from one host to another and count what arrives.

    Examples: lanlab stream --link 10M --size 1408 --time 3;
    lanlab stream --testbed loopback --transport tcp --size 128KiB --json
    """
    from lanlab.cli import single
    from lanlab.cli.drivers import print_drivers
    from lanlab.cli.terminal import print_json
    from lanlab.workloads.drivers.registry import OWN

    if time is None and amount is None and messages is None:
        time = "3"
    if size is None:
        is_paced = rate is not None or message_rate is not None
        is_bulk = transport == "tcp" and amount is None and messages is None and not is_paced
        size = _default_size(is_bulk, testbed, link, driver)
    parameters: dict[str, Any] = {
        "transport": transport,
        "ip_version": ip,
        "message_size_bytes": size,
        "time_s": time,
        "bytes": amount,
        "messages": messages,
        "rate_bps": rate,
        "rate_messages_per_s": message_rate,
        "flows": flows,
        "io": io,
        "receive": receive,
        "timestamps": timestamps,
        "threads": threads,
        "read_bytes": read_size,
        "when_late": when_late,
        "drain_s": drain,
        "receiver_quota_ratio": receiver_quota,
        "receiver_work_s": receiver_work,
        "receiver_rivals": receiver_rivals,
        "sender_processor": sender_processor,
        "receiver_processor": receiver_processor,
        "nodelay": nodelay,
        "congestion_control": congestion_control,
        "send_buffer_bytes": send_buffer,
        "receive_buffer_bytes": receive_buffer,
        "dscp": dscp,
        "warmup_s": warmup,
        "silence_s": silence,
        "driver": driver,
    }
    run, records = single.measure(
        "stream", parameters, trials=trials, testbed=testbed, link=link, seed=seed, store=store
    )
    if as_json:
        print_json(single.as_json(run, records))
    elif driver != OWN:
        print_drivers(run, records)
    else:
        _print(run, records)
    single.finish(run, records, verbose=verbose)


def _default_size(is_bulk: bool, testbed: str, link: str | None, driver: str) -> str:
    """
    The size of messages where none is asked for.

    A message is one system call: small ones measure what calls cost, not what TCP carries. On a
    shaped link, and with a rate or amount to keep, a few hundred of large ones would be all there
    is of a trial, so that it stays with messages of one segment.
    """
    from lanlab.testbeds.link import parse_link
    from lanlab.workloads.drivers.registry import DRIVERS

    is_shaped = testbed != "loopback" and parse_link(link or "unshaped").rate_bps is not None
    others = [DRIVERS[name.strip()] for name in driver.split(",") if name.strip() in DRIVERS]
    takes = all(one.abilities()["stream"].sizes["tcp"][1] >= _BULK_BYTES for one in others)
    return str(_BULK_BYTES) if is_bulk and not is_shaped and takes else "1408"


def _print(run: Any, trials: list[Any]) -> None:
    from lanlab.analysis.summary import interval_of_mean
    from lanlab.cli.terminal import print_lines
    from lanlab.report.stream_text import stream_lines
    from lanlab.units import format_rate

    done = [trial for trial in trials if trial.status == "done"]
    for trial in done:
        print_lines("\n".join(stream_lines(run, trial)))
    goodputs = [t.metrics["goodput_bps"] for t in done if "goodput_bps" in t.metrics]
    interval = interval_of_mean("goodput_bps", goodputs)
    if interval is not None:
        mean = sum(goodputs) / len(goodputs)
        low, high = (format_rate(value) for value in interval)
        failed = len(trials) - len(done)
        lacking = f" of {len(trials)}, {failed} failed" if failed else " trials"
        sure = f"95 % confidence interval of the mean {low} to {high}, {len(goodputs)}{lacking}"
        print_lines(f"mean        {format_rate(mean)} ({sure})")
    print_lines(f"kept as     {run.id}")
