"""Shell completion. On any error, nothing is completed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import typer

from lanlab.errors import LabError

if TYPE_CHECKING:
    from lanlab.store.labels import RunLabel


def _beginning(names: list[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def testbeds(incomplete: str) -> list[str]:
    from lanlab.testbeds.registry import TESTBEDS

    return _beginning(sorted(TESTBEDS), incomplete)


def studies(incomplete: str) -> list[str]:
    from lanlab.studies.load import known_studies

    return _beginning(list(known_studies()), incomplete)


def drivers(incomplete: str) -> list[str]:
    from lanlab.workloads.drivers.registry import DRIVER_NAMES

    return choices(DRIVER_NAMES)(incomplete)


def scales(context: typer.Context, incomplete: str) -> list[str]:
    with contextlib.suppress(LabError):
        from lanlab.studies.load import load_study

        name = context.params.get("study")
        # `lanlab run` accepts several studies; use the first.
        name = name[0] if isinstance(name, list | tuple) and name else name
        if name:
            return _beginning(list(load_study(name).study.scale), incomplete)
    return _beginning(["quick", "full"], incomplete)


def services(incomplete: str) -> list[str]:
    from lanlab.services import SERVICES

    return choices(list(SERVICES))(incomplete)


def choices(values: Sequence[str]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{value}" for value in _beginning(list(values), last)]

    return complete


def runs(context: typer.Context, incomplete: str) -> list[str]:
    labels = _labels(context)
    if labels is None:
        return []
    names = [label.name for label in labels.values() if label.name]
    return _beginning(["last", *labels, *names], incomplete)


def tags(context: typer.Context, incomplete: str) -> list[str]:
    found = {tag for label in (_labels(context) or {}).values() for tag in label.tags}
    return _beginning(sorted(found), incomplete)


def _labels(context: typer.Context) -> dict[str, RunLabel] | None:
    """Labels of the runs in the store, by id; `None` if the store cannot be read."""
    with contextlib.suppress(LabError):
        from lanlab.store import open_store
        from lanlab.store.labels import label_of

        with open_store(context.params.get("store")) as store:
            return {run.id: label_of(run) for run in store.runs()}
    return None
