"""`lanlab echo`: round trips, measured."""

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
    SizeOption,
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


def echo(
    transport: TransportOption = "udp",
    ip: IpOption = 4,
    size: SizeOption = "128",
    time: TimeOption = None,
    requests: Annotated[int | None, typer.Option("--requests", help="Measure so many.")] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            "--rate",
            help="Requests/s on a fixed schedule; latency then counts from the intended time. "
            "Default: the next request when the reply is there.",
        ),
    ] = None,
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="TIME", help="A later reply is a time-out.")
    ] = "1",
    receive: ReceiveOption = "auto",
    timestamps: TimestampsOption = "program",
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
    """Send requests that come back and time them.

    Examples: lanlab echo --link 100M --size 128 --time 2;
    lanlab echo --testbed loopback --rate 1000 --json
    """
    from lanlab.cli import single
    from lanlab.cli.drivers import print_drivers
    from lanlab.cli.terminal import print_json, print_lines
    from lanlab.report.echo_text import echo_lines
    from lanlab.workloads.drivers.registry import OWN

    if time is None and requests is None:
        time = "3"
    parameters: dict[str, Any] = {
        "transport": transport,
        "ip_version": ip,
        "message_size_bytes": size,
        "time_s": time,
        "requests": requests,
        "rate_requests_per_s": rate,
        "timeout_s": timeout,
        "receive": receive,
        "timestamps": timestamps,
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
        "echo", parameters, trials=trials, testbed=testbed, link=link, seed=seed, store=store
    )
    if as_json:
        print_json(single.as_json(run, records))
        single.finish(run, records, verbose=verbose)
        return
    if driver != OWN:
        print_drivers(run, records)
        single.finish(run, records, verbose=verbose)
        return
    for trial in records:
        if trial.status == "done":
            print_lines("\n".join(echo_lines(trial)))
    print_lines(f"kept as     {run.id}")
    single.finish(run, records, verbose=verbose)
