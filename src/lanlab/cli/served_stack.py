"""`lanlab serve --stack small`: FTP over lanlab's own TCP, at its own address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lanlab.cli.served_names import only_for
from lanlab.errors import UsageError, of_name
from lanlab.messages import StackFacts

if TYPE_CHECKING:
    from lanlab.performers.servers.embedded import OwnStack
    from lanlab.services import Service

STACKS = ("system", "small")
MEMORY = "512kB"

StackOption = Annotated[
    str,
    typer.Option(
        "--stack",
        metavar="|".join(STACKS),
        help="TCP for FTP: the system's, or lanlab's own (`small`), with an address of its own.",
    ),
]
StackAddressOption = Annotated[
    str | None,
    typer.Option(
        "--stack-address",
        metavar="ADDRESS",
        help="Unused IPv4 address for the small TCP.",
    ),
]
StackMemoryOption = Annotated[
    str,
    typer.Option(
        "--stack-memory",
        metavar="SIZE",
        help="Memory limit of the small TCP; it limits the concurrent clients.",
    ),
]


def own_stack_of(
    offered: Service,
    stack: str,
    address: str | None,
    memory: str,
    interface: str | None,
    given_address: str,
    *,
    allow_default_route: bool,
) -> OwnStack | None:
    """
    The station that serves; `None` to use the system's TCP.

    Args:
        address: Value of `--stack-address`.
        given_address: Value of `--address`.

    Raises:
        UsageError: The service is not FTP, or the station has no address or interface.
    """
    import ipaddress

    from lanlab.performers.servers.embedded import OwnStack
    from lanlab.testbeds.raw_links import check_interface
    from lanlab.units import parse_size_bytes
    from lanlab.workloads.small_stack import without_address

    of_name("stack", stack, dict.fromkeys(STACKS))
    if stack == "system":
        if address is not None or memory != MEMORY:
            raise UsageError(
                "--stack-address and --stack-memory have no effect with the system's TCP",
                hint="omit them, or add `--stack small`",
            )
        return None
    if offered.name != "ftp":
        raise only_for("--stack small", offered.name, "ftp")
    if given_address != "127.0.0.1":
        raise UsageError(
            "--address cannot be used with --stack small, which has its own address",
            hint="omit it, and give an unused address with --stack-address",
        )
    if address is None:
        problem = without_address()
        raise UsageError(str(problem), hint=problem.__notes__[0])
    try:
        ipaddress.IPv4Address(address)
    except ValueError:
        raise UsageError(
            f"--stack-address: found `{address}`; allowed: an unused IPv4 address"
        ) from None
    if interface is None:
        raise UsageError(
            "--stack small needs --interface",
            hint="add e.g. `--interface eth1`",
        )
    check_interface(interface, allow_default_route=allow_default_route)
    return OwnStack(interface, address, parse_size_bytes(memory))


def stack_words(counted: StackFacts) -> str:
    """
    The memory and traffic of the small stack, in words.

    Examples:
        >>> stack_words({"held_bytes": 81_234, "memory_bytes": 512_000, "sent_frames": 70,
        ...              "received_frames": 65, "dropped_frames": 0})
        'at most 81,234 of 512,000 B held; 70 frames sent, 65 received'
    """
    text = (
        f"at most {counted['held_bytes']:,} of {counted['memory_bytes']:,} B held; "
        f"{counted['sent_frames']} frames sent, {counted['received_frames']} received"
    )
    dropped = counted["dropped_frames"]
    return f"{text}, {dropped} dropped by the system" if dropped else text
