"""
Machines that fit the published values, which show the range of numbers that a fit leaves open.

Many machines reproduce every fitted value within its published digits; a fit selects one of them.
`bench/ensemble.py` draws others and stores factors for their numbers next to the machines.
"""

from __future__ import annotations

from pydantic import Field

from lanlab.studies.base import Data, Several

#: Size limits of a file. With 20 members, a further one is within their range in 19 of 21 cases.
_MOST_NUMBERS = 256
_MOST_MEMBERS = 200


class Ensemble(Data):
    metric: str
    #: `MACHINE.NUMBER` of each fitted number.
    numbers: Several[str] = Field(min_length=1, max_length=_MOST_NUMBERS)
    members: Several[Several[float]] = Field(min_length=1, max_length=_MOST_MEMBERS)
