"""How long this machine takes to copy and to compare octets: what no program does faster."""

from __future__ import annotations

import ctypes
import ctypes.util
import statistics
import time
from collections.abc import Callable

_MOST_CALLS = 20_000
_BATCH_CALLS = 50
#: All calls of a loop together move no more, so that it takes well below a second.
_MOST_BYTES = 500_000_000


def copy_and_compare_ns(octets: int, spread_bytes: int) -> tuple[float, float]:
    """
    Time of one copy and of one comparison, by the C library, nanoseconds.

    Args:
        octets: Of each, at least 1.
        spread_bytes: They are taken in turns from so much memory, as blocks of many files are, and
            brought into one buffer.
    """
    library = ctypes.CDLL(ctypes.util.find_library("c"))
    pointers = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    for call in (library.memcpy, library.memcmp):
        call.argtypes = pointers
    library.memcpy.restype = ctypes.c_void_p
    blocks = max(1, spread_bytes // octets)
    source = ctypes.create_string_buffer(blocks * octets)
    buffer = ctypes.create_string_buffer(octets)
    # Memory that was never written may be one page of the system's, however much it is.
    for memory in (source, buffer):
        ctypes.memset(memory, 1, len(memory))
    calls = max(100, min(_MOST_CALLS, _MOST_BYTES // octets))
    at, to = ctypes.addressof(source), ctypes.addressof(buffer)
    places = [at + octets * (number * 7919 % blocks) for number in range(calls)]

    def of(call: Callable[..., object], length: int) -> float:
        each = []
        for first in range(0, calls, _BATCH_CALLS):
            batch = places[first : first + _BATCH_CALLS]
            began = time.perf_counter_ns()
            for place in batch:
                call(to, place, length)
            each.append((time.perf_counter_ns() - began) / len(batch))
        # What the system did beside only ever adds; of the least a few were lucky.
        return statistics.quantiles(each, n=10)[0]

    # A call without an octet is what Python takes for calling.
    nothing = of(library.memcpy, 0)
    copy, compare = of(library.memcpy, octets), of(library.memcmp, octets)
    return max(0.0, copy - nothing), max(0.0, compare - nothing)
