"""Licence expressions (SPDX): whether what is allowed suffices for them."""

from __future__ import annotations

import re
from collections.abc import Collection

_TOKEN = re.compile(r"\s*(\(|\)|/|[A-Za-z0-9.+-]+)")


def _tokens(expression: str) -> list[str]:
    found, at = [], 0
    text = expression.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"`{expression}` is no licence expression")
        found.append(match[1])
        at = match.end()
    return found


def used(expression: str, allowed: Collection[str]) -> set[str] | None:
    """
    The licences under which something may be used, of those that are allowed.

    Args:
        expression: As in `(MIT OR Apache-2.0) AND Unicode-3.0`; an exception (`WITH`) belongs to
            the licence before it. Older crates write `/` for `OR`.
        allowed: Identifiers, as in `MIT` and `Apache-2.0 WITH LLVM-exception`.

    Returns:
        All that are needed, every allowed choice of an `OR`; `None` if they do not suffice.

    Raises:
        ValueError: It is no licence expression.

    Examples:
        >>> sorted(used("(MIT OR GPL-3.0) AND Zlib", {"MIT", "Zlib"}))
        ['MIT', 'Zlib']
        >>> used("MIT AND GPL-3.0", {"MIT"}) is None
        True
    """
    tokens = _tokens(expression)

    def alternative() -> set[str] | None:
        found = together()
        while tokens and tokens[0] in ("OR", "/"):
            tokens.pop(0)
            other = together()
            found = other if found is None else found if other is None else found | other
        return found

    def together() -> set[str] | None:
        found = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            other = one()
            found = None if found is None or other is None else found | other
        return found

    def one() -> set[str] | None:
        if not tokens or tokens[0] in (")", "AND", "OR", "WITH", "/"):
            raise ValueError(f"`{expression}` is no licence expression")
        name = tokens.pop(0)
        if name == "(":
            found = alternative()
            if not tokens or tokens.pop(0) != ")":
                raise ValueError(f"`{expression}` is no licence expression")
            return found
        if tokens and tokens[0] == "WITH":
            tokens.pop(0)
            if not tokens:
                raise ValueError(f"`{expression}` is no licence expression")
            name = f"{name} WITH {tokens.pop(0)}"
        return {name} if name in allowed else None

    found = alternative()
    if tokens:
        raise ValueError(f"`{expression}` is no licence expression")
    return found
