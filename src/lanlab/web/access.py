"""
Access to the page: only for requests from a browser on this machine that have the token.

The token is the first part of every path. It is not in a cookie, because browsers send cookies of
127.0.0.1 to every port (RFC 6265, section 8.5), so any other local server would receive it. A URL
belongs to one port, and the page never sends its URL to another site as Referer.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from urllib.parse import urlsplit

from lanlab.frozen import dataclass

#: 256 bits cannot be guessed, so attempts need no limit.
_TOKEN_BYTES = 32
_METHODS = ("GET", "HEAD")
_ASK = "Open the address that `lanlab web` printed."


@dataclass(frozen=True)
class Refusal:
    status: int
    sentence: str


NO_TOKEN = Refusal(403, f"The address has no token in it, or a wrong one. {_ASK}")


def new_token() -> str:
    return secrets.token_urlsafe(_TOKEN_BYTES)


def refusal(
    method: str, path: str, headers: Mapping[str, str], peer: str, token: str
) -> Refusal | None:
    """
    Why a request is refused; `None` if it is allowed.

    Args:
        method: Such as `GET`.
        path: Target of the request, without query.
        headers: Header fields; names in any case.
        peer: Source IP address.
        token: Required first part of the path.
    """
    headers = {name.lower(): value for name, value in headers.items()}
    if not _is_loopback(peer):
        return Refusal(403, "This page is for browsers on the machine of `lanlab web` only.")
    host = _name(headers.get("host", ""))
    if host is None or not (host == "localhost" or _is_loopback(host)):
        # DNS rebinding: another site's page, whose name now resolves to this machine.
        return Refusal(403, f"This page has another address than the one asked for. {_ASK}")
    origin = headers.get("origin")
    if origin is not None and origin != f"http://{headers.get('host', '')}":
        return Refusal(403, f"A page of another origin asked for this one. {_ASK}")
    site = headers.get("sec-fetch-site", "none")
    is_opened = (
        headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    )
    # Links may come from any site; all other requests must come from our own pages.
    if site not in ("same-origin", "none") and not is_opened:
        return Refusal(403, f"A page of another origin asked for this one. {_ASK}")
    if method not in _METHODS:
        return Refusal(405, "This page can only be read: nothing can be sent to it.")
    if not _is(first_part(path), token):
        return NO_TOKEN
    return None


def has_token(head: bytes, token: str) -> bool:
    words = head.split(b"\n", 1)[0].split()
    return len(words) > 1 and _is(first_part(words[1].decode("latin-1")), token)


def _is(found: str, token: str) -> bool:
    return hmac.compare_digest(found.encode(errors="replace"), token.encode())


def first_part(path: str) -> str:
    """The text between the first two slashes.

    Examples:
        >>> first_part("/token/run/1"), first_part("/token"), first_part("*")
        ('token', 'token', '')
    """
    return path.split("/", 2)[1] if path.startswith("/") else ""


def _name(host: str) -> str | None:
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    is_plain = not (parts.path or parts.query or parts.fragment or parts.username)
    return parts.hostname if is_plain else None


def _is_loopback(address: str) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_loopback
