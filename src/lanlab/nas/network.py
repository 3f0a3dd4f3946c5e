"""The speed of the adapter that leads to a host."""

from __future__ import annotations

import contextlib
import socket
import struct
from pathlib import Path

#: ioctl of Linux: the IPv4 address of an interface (netdevice(7)).
_GET_ADDRESS = 0x8915


def adapter_bps(host: str, network: Path = Path("/sys/class/net")) -> float | None:
    """The speed of the Ethernet adapter that leads to a host; `None` if unknown."""
    with contextlib.suppress(OSError, UnicodeError, ValueError):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            # Connecting a datagram socket sends no packet.
            probe.connect((host, 9))
            own = probe.getsockname()[0]
        name = _interface_with(own)
        if name is not None and (network / name / "device").exists():
            speed_mbps = int((network / name / "speed").read_text())
            return 1e6 * speed_mbps if speed_mbps > 0 else None
    return None


def _interface_with(address: str) -> str | None:
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):
                request = struct.pack("256s", name.encode()[:15])
                answer = fcntl.ioctl(asking.fileno(), _GET_ADDRESS, request)
                if socket.inet_ntoa(answer[20:24]) == address:
                    return name
    return None
