"""Kinds of addresses that hosts have."""

from __future__ import annotations

from typing import Literal

#: Of a network's addresses. An address is text, as its family writes it.
AddressFamily = Literal["ipv4", "ipv6", "mac", "ipx"]
