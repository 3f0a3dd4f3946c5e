"""Randomised complete blocks: each block runs every condition once, in its own order.

A drift of the machine over a run then affects all conditions alike and is not taken for an effect.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

_T = TypeVar("_T")


def block_order(conditions: Sequence[_T], *, seed: int, block: int) -> list[_T]:
    """The conditions of one block in random order.

    The order depends only on the arguments, so that a resumed run continues in the same order.

    Examples:
        >>> block_order(["a", "b", "c", "d"], seed=1, block=0)
        ['a', 'c', 'b', 'd']
        >>> block_order(["a", "b", "c", "d"], seed=1, block=1)
        ['c', 'a', 'b', 'd']
    """
    order = list(conditions)
    random.Random(f"{seed}:{block}").shuffle(order)
    return order
