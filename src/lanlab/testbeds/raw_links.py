"""
Sockets for whole Ethernet frames, opened here with the necessary right and passed to an engine that
has none: the process that reads foreign frames has no rights.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

from lanlab.engine import engine_path
from lanlab.engine.command import EngineCommand
from lanlab.errors import EngineLost, UnmetNeed, UsageError
from lanlab.frozen import dataclass

_ROUTES = Path("/proc/net/route")
_IPV6_ROUTES = Path("/proc/net/ipv6_route")
_SETTINGS = Path("/proc/sys/net/ipv4/conf")
#: `SIOCGIFFLAGS`, `SIOCGIFHWADDR`, `SIOCGIFMTU`, `include/uapi/linux/sockios.h`; `IFNAMSIZ` and
#: `IFF_UP`.
_GET_FLAGS, _GET_ADDRESS, _GET_MTU, _NAME_BYTES, _UP = 0x8913, 0x8927, 0x8921, 16, 1
#: Largest payload of a frame (IEEE 802.3), used in full by protocols without IP.
_FULL_FRAME_BYTES = 1500
#: `ARPHRD_ETHER`, `include/uapi/linux/if_arp.h`.
_ETHERNET = 1
#: Interval of keepalives to the engine, seconds.
_HEARTBEAT_S = 5.0


@dataclass(frozen=True)
class RawLink:
    interface: str
    descriptor: int


def interfaces() -> list[str]:
    found = []
    for _, name in socket.if_nameindex():
        with contextlib.suppress(OSError):
            (family,) = struct.unpack_from("H", _ask(name, _GET_ADDRESS), _NAME_BYTES)
            if family == _ETHERNET:
                found.append(name)
    return sorted(found)


def _ask(interface: str, request: int) -> bytes:
    """The system's facts on an interface (netdevice(7))."""
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        # A `struct ifreq` is shorter than this.
        answer: bytes = fcntl.ioctl(asked, request, interface.encode().ljust(256, b"\0"))
        return answer


def has_default_route(interface: str) -> bool:
    with contextlib.suppress(OSError):
        for line in _ROUTES.read_text().splitlines()[1:]:
            columns = line.split()
            if columns[0] == interface and columns[1] == columns[7] == "00000000":
                return True
    with contextlib.suppress(OSError):
        for line in _IPV6_ROUTES.read_text().splitlines():
            columns = line.split()
            if columns[-1] == interface and columns[0] == "0" * 32 and columns[1] == "00":
                return True
    return False


def forwards(interface: str) -> bool:
    """Whether the system forwards IPv4 packets that come by an interface."""
    with contextlib.suppress(OSError):
        return (_SETTINGS / interface / "forwarding").read_text().strip() == "1"
    return False


def check_interface(interface: str, *, allow_default_route: bool, sends: bool = True) -> None:
    """
    Check that an interface may be used for whole frames.

    Args:
        allow_default_route: Whether it may be the interface of the default route.
        sends: Whether frames are sent, not only received.

    Raises:
        UsageError: The interface is missing, has the default route, or cannot send full frames.
    """
    known = interfaces()
    if interface not in known:
        names = ", ".join(known) or "none"
        raise UsageError(
            f"--interface: no Ethernet interface named `{interface}`", hint=f"interfaces: {names}"
        )
    if not allow_default_route and has_default_route(interface):
        raise UsageError(
            f"--interface: `{interface}` has the default route to the rest of the network",
            hint="name another interface, or add --allow-default-route if you are allowed to do "
            "this on that network",
        )
    (mtu_bytes,) = struct.unpack_from("i", _ask(interface, _GET_MTU), _NAME_BYTES)
    if sends and mtu_bytes < _FULL_FRAME_BYTES:
        raise UsageError(
            f"--interface: `{interface}` has an MTU of {mtu_bytes}; full frames need "
            f"{_FULL_FRAME_BYTES}",
            hint=f"raise it: `ip link set dev {interface} mtu {_FULL_FRAME_BYTES}`",
        )


@contextlib.contextmanager
def raw_link(interface: str) -> Iterator[RawLink]:
    """
    A socket for the whole frames of an interface: the only step that needs a right (`CAP_NET_RAW`).

    Raises:
        UnmetNeed: This process lacks the right.
        UsageError: The interface is gone or down.
    """
    try:
        # Protocol 0: the socket receives nothing until the engine has set its filter.
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    except PermissionError:
        raise UnmetNeed(
            "capturing the frames of an interface needs root",
            hint="run it with sudo; only the socket is opened as root",
        ) from None
    with opened:
        try:
            opened.bind((interface, 0))
        except OSError as error:
            raise UsageError(f"--interface: `{interface}`: {error.strerror}") from None
        if not _is_up(interface):
            raise UsageError(
                f"--interface: `{interface}` is down",
                hint=f"enable it: `ip link set dev {interface} up`",
            )
        yield RawLink(interface, opened.fileno())


def _is_up(interface: str) -> bool:
    (flags,) = struct.unpack_from("H", _ask(interface, _GET_FLAGS), _NAME_BYTES)
    return bool(flags & _UP)


def engine_without_rights(link: RawLink) -> EngineCommand:
    """The command of an engine that receives a link and has no rights, except those of the user who
    called sudo, if any.
    """
    argv = [os.fspath(engine_path()), "--without-rights"]
    user, group = os.environ.get("SUDO_UID"), os.environ.get("SUDO_GID")

    def begin() -> subprocess.Popen[bytes]:
        pipe: int = subprocess.PIPE
        is_root = os.geteuid() == 0
        as_user = is_root and user is not None and group is not None
        try:
            return subprocess.Popen(
                argv,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                pass_fds=(link.descriptor,),
                # Ctrl-C in the terminal is for lanlab.
                start_new_session=True,
                user=int(user) if as_user and user else None,
                group=int(group) if as_user and group else None,
                extra_groups=[] if as_user else None,
            )
        except OSError as error:
            raise EngineLost(f"cannot start `{argv[0]}`: {error.strerror}") from error

    return EngineCommand((), "here", None, _HEARTBEAT_S, lambda: None, begin)
