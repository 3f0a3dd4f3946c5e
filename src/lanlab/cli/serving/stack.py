"""`lanlab serve --stack small`: FTP over lanlab's own TCP, at its own address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanlab.cli.serving.names import only_for
from lanlab.cli.serving.options import MEMORY, STACKS, FileOptions
from lanlab.errors import UsageError, of_name
from lanlab.messages import StackFacts
from lanlab.services import Service
from lanlab.units import of_option, parse_size_bytes

if TYPE_CHECKING:
    from lanlab.performers.servers.embedded import OwnStack


def own_stack_of(offered: Service, options: FileOptions, given_address: str) -> OwnStack | None:
    """
    The station that serves; `None` to use the system's TCP.

    Args:
        given_address: Value of `--address`.

    Raises:
        UsageError: The service is not FTP, or the station has no address or interface.
    """
    import ipaddress

    from lanlab.performers.servers.embedded import OwnStack
    from lanlab.testbeds.raw_links import check_interface
    from lanlab.workloads.services.small_stack import without_address

    address = options.stack_address
    of_name("stack", options.stack, dict.fromkeys(STACKS))
    if options.stack == "system":
        if address is not None or options.stack_memory != MEMORY:
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
    if options.interface is None:
        raise UsageError("--stack small needs --interface", hint="add e.g. `--interface eth1`")
    check_interface(options.interface, allow_default_route=options.allow_default_route)
    memory_bytes = of_option("--stack-memory", parse_size_bytes, options.stack_memory)
    return OwnStack(options.interface, address, memory_bytes)


def stack_words(counted: StackFacts) -> str:
    """The memory and traffic of the small stack, in words."""
    text = (
        f"at most {counted['held_bytes']:,} of {counted['memory_bytes']:,} B held; "
        f"{counted['sent_frames']} frames sent, {counted['received_frames']} received"
    )
    dropped = counted["dropped_frames"]
    return f"{text}, {dropped} dropped by the system" if dropped else text
