"""Options of `stream` and `echo`: what flows between two hosts."""

from __future__ import annotations

from typing import Annotated

import typer

from lanlab.cli import complete

TransportOption = Annotated[str, typer.Option("--transport", help="`udp` or `tcp`.")]
IpOption = Annotated[int, typer.Option("--ip", help="IP version: 4 or 6.")]
SizeOption = Annotated[
    str,
    typer.Option("--size", metavar="SIZE", help="Payload of a message, as in 500, 1408 or 64KiB."),
]
TimeOption = Annotated[
    str | None,
    typer.Option("--time", metavar="TIME", help="Measure so long, as in 3 or 250ms."),
]
WarmupOption = Annotated[
    str | None,
    typer.Option(
        "--warmup",
        metavar="TIME",
        help="Kept out of the figures, as in 500ms. Default: 0.2, or what the driver can.",
    ),
]
DriverOption = Annotated[
    str,
    typer.Option(
        "--driver",
        metavar="NAME,...",
        help="What measures: `lanlab`, or another program as `iperf3` (`lanlab doctor` lists "
        "them). Several, with commas, take turns in random order, `--trials` times each.",
        autocompletion=complete.drivers,
    ),
]
NodelayOption = Annotated[bool, typer.Option("--nodelay", help="Set TCP_NODELAY.")]
CongestionOption = Annotated[
    str | None,
    typer.Option(
        "--congestion-control",
        metavar="NAME",
        help="Of TCP, as in cubic; flows take several, as in cubic,bbr, in turn.",
    ),
]
ReceiveOption = Annotated[
    str,
    typer.Option(
        "--receive",
        help="How to wait for messages: `block` in the system's call, `poll` (sleep 200 µs, then "
        "take all), `spin` (never sleep), `auto` (try them here, say which).",
    ),
]
TimestampsOption = Annotated[
    str,
    typer.Option("--timestamps", help="Whose clock readings times are: `program` or `kernel`."),
]
SenderProcessorOption = Annotated[
    int | None,
    typer.Option("--sender-processor", metavar="NUMBER", help="Bind the sending end to it."),
]
ReceiverProcessorOption = Annotated[
    int | None,
    typer.Option("--receiver-processor", metavar="NUMBER", help="Bind the receiving end to it."),
]
SendBufferOption = Annotated[
    str | None, typer.Option("--send-buffer", metavar="SIZE", help="SO_SNDBUF of both ends.")
]
ReceiveBufferOption = Annotated[
    str | None, typer.Option("--receive-buffer", metavar="SIZE", help="SO_RCVBUF of both ends.")
]
DscpOption = Annotated[
    int, typer.Option("--dscp", help="Differentiated services code point, 0 to 63.")
]
SilenceOption = Annotated[
    str, typer.Option("--silence", metavar="TIME", help="Give up on a peer after so long.")
]
TrialsOption = Annotated[
    int, typer.Option("--trials", min=1, max=10_000, help="How often to measure.")
]
