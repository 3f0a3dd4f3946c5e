"""`lanlab stream`: one stream, measured."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lanlab.cli.flow_options import (
    CongestionOption,
    DscpOption,
    IpOption,
    NodelayOption,
    ReceiveBufferOption,
    SendBufferOption,
    SilenceOption,
    SizeOption,
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
)


def stream(
    transport: TransportOption = "udp",
    ip: IpOption = 4,
    size: SizeOption = "1408",
    time: Annotated[
        str | None,
        typer.Option("--time", metavar="TIME", help="Measure so long, as in 3 or 250ms."),
    ] = None,
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
    flows: Annotated[int, typer.Option("--flows", help="Parallel flows, 1 to 128.")] = 1,
    io: Annotated[
        str,
        typer.Option("--io", help="Messages a system call: `single`, `batch`, `segment`, `auto`."),
    ] = "auto",
    nodelay: NodelayOption = False,
    congestion_control: CongestionOption = None,
    send_buffer: SendBufferOption = None,
    receive_buffer: ReceiveBufferOption = None,
    dscp: DscpOption = 0,
    warmup: WarmupOption = "0.2",
    silence: SilenceOption = "3",
    trials: TrialsOption = 1,
    testbed: TestbedOption = DEFAULT_TESTBED,
    link: LinkOption = None,
    seed: SeedOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Send messages from one host to another and count what arrives.

    Examples: lanlab stream --link 10M --size 1408 --time 3;
    lanlab stream --testbed loopback --transport tcp --size 128KiB --json
    """
    from lanlab.cli import single
    from lanlab.cli.terminal import print_json

    if time is None and amount is None and messages is None:
        time = "3"
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
        "nodelay": nodelay,
        "congestion_control": congestion_control,
        "send_buffer_bytes": send_buffer,
        "receive_buffer_bytes": receive_buffer,
        "dscp": dscp,
        "warmup_s": warmup,
        "silence_s": silence,
    }
    run, records = single.measure(
        "stream", parameters, trials=trials, testbed=testbed, link=link, seed=seed, store=store
    )
    if as_json:
        print_json(single.as_json(run, records))
    else:
        _print(run, records)
    single.finish(run, records)


def _print(run: Any, trials: list[Any]) -> None:
    from lanlab.analysis.summary import limit_of, student_interval
    from lanlab.cli.one_way import one_way_text
    from lanlab.cli.terminal import answer
    from lanlab.units import format_rate, format_time

    console = answer()
    goodputs = []
    for trial in trials:
        if trial.status != "done":
            continue
        m, sent = trial.metrics, trial.raw["source"]
        limit = limit_of("goodput_bps", trial.parameters, run.testbed["link_rate_bps"])
        share = f", {100 * m['goodput_bps'] / limit:.2f} % of the link's limit" if limit else ""
        goodputs.append(m["goodput_bps"])
        lines = [f"goodput     {format_rate(m['goodput_bps'])}{share}"]
        if "received_ratio" in m:
            lines.append(
                f"received    {100 * m['received_ratio']:.4g} % of {m['offered_messages']} messages"
                f" offered: lost {m['lost_messages']}, refused {m['refused_messages']}, "
                f"not sent in time {m['unsent_messages']}"
            )
        if trial.parameters["transport"] == "udp":
            lines.append(
                f"order       {m['reordered_messages']} out of order, "
                f"{m['duplicate_messages']} duplicates"
            )
        elif "messages_per_segment" in m:
            lines.append(
                f"segments    {m['messages_per_segment']:.3g} messages in each, "
                f"{m['retransmitted_segments']} sent again"
            )
        if "delay_variation_mean_ns" in m:
            lines.append(
                f"delay varies by {format_time(m['delay_variation_mean_ns'] / 1e9)} in the mean, "
                f"{format_time(m['delay_variation_p99_ns'] / 1e9)} at the 99th percentile"
            )
        one_way = one_way_text(m)
        if one_way is not None:
            lines.append(f"one way     {one_way}")
        lines.append(
            f"processor   {m['sender_cpu_s']:.2f} s sending, {m['receiver_cpu_s']:.2f} s receiving "
            f"(io {sent['io']}, at most {sent['burst_messages']} messages at once)"
        )
        console.print("\n".join(lines))
    interval = student_interval(goodputs)
    if interval is not None:
        mean = sum(goodputs) / len(goodputs)
        low, high = (format_rate(value) for value in interval)
        sure = f"95 % interval {low} to {high}, {len(goodputs)} trials"
        console.print(f"mean        {format_rate(mean)} ({sure})")
    console.print(f"kept as     {run.id}")
