"""How each workload is presented: one module per workload, with its tables, figures and sentences.
Commands import only the modules they need; code for runs of several conditions is imported where it
is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module

from lanlab.lazily import Lazily
from lanlab.report.presentations.base import Presentation
from lanlab.roles import ROLES


def _of(workload: str) -> Presentation:
    found: Presentation = import_module(f"{__name__}.{workload}").PRESENTATION
    return found


PRESENTATIONS: Mapping[str, Presentation] = Lazily({name: partial(_of, name) for name in ROLES})
