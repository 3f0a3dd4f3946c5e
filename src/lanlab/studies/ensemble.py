"""
Machines that agree with print: what a fit leaves open of their numbers.

Many machines have every fitted value within its printed digits, and a fit names one of them.
`bench/ensemble.py` draws others and writes, next to the machines, what multiplies their numbers.
"""

from __future__ import annotations

from pydantic import Field

from lanlab.studies.base import Data, Several

#: Bounds of a file. 20 members have the next one within their range in 19 of 21 cases.
_MOST_NUMBERS = 256
_MOST_MEMBERS = 200


class Ensemble(Data):
    metric: str
    #: `MACHINE.NUMBER` of each number that was fitted to it.
    numbers: Several[str] = Field(min_length=1, max_length=_MOST_NUMBERS)
    members: Several[Several[float]] = Field(min_length=1, max_length=_MOST_MEMBERS)
