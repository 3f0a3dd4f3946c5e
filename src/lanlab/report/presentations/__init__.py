"""How each workload is shown: a module of its name for each, with its tables, figures and
sentences. A command imports those that it shows; what only a run of several conditions has is
imported where it is shown."""

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
