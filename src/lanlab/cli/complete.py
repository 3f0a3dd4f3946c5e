"""What the shell may complete. If something goes wrong, nothing is completed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

import typer

from lanlab.errors import LabError


def _beginning(names: list[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def testbeds(incomplete: str) -> list[str]:
    """Names of testbeds."""
    from lanlab.testbeds.registry import TESTBEDS

    return _beginning(sorted(TESTBEDS), incomplete)


def studies(incomplete: str) -> list[str]:
    """Names of built-in studies."""
    from lanlab.studies import known_studies

    return _beginning(list(known_studies()), incomplete)


def drivers(incomplete: str) -> list[str]:
    """Names of drivers; behind a comma, the next."""
    from lanlab.workloads.drivers.registry import DRIVER_NAMES

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in _beginning(list(DRIVER_NAMES), last)]


def scales(context: typer.Context, incomplete: str) -> list[str]:
    """Scales of the study that the command line names already."""
    with contextlib.suppress(LabError):
        from lanlab.studies import load_study

        name = context.params.get("study")
        # `lanlab run` takes several.
        name = name[0] if isinstance(name, list | tuple) and name else name
        if name:
            return _beginning(list(load_study(name).study.scale), incomplete)
    return _beginning(["quick", "full"], incomplete)


def services(incomplete: str) -> list[str]:
    """Names of file services; behind a comma, the next."""
    from lanlab.services import SERVICES

    return choices(list(SERVICES))(incomplete)


def choices(values: Sequence[str]) -> Callable[[str], list[str]]:
    """Some values; behind a comma, the next."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{value}" for value in _beginning(list(values), last)]

    return complete


def runs(context: typer.Context, incomplete: str) -> list[str]:
    """Runs in the store, by id and by name."""
    with contextlib.suppress(LabError):
        from lanlab.store import open_store
        from lanlab.store.labels import label_of

        with open_store(context.params.get("store")) as store:
            found = store.runs()
            names = [name for run in found if (name := label_of(run).name)]
            return _beginning(["last", *(run.id for run in found), *names], incomplete)
    return []


def tags(context: typer.Context, incomplete: str) -> list[str]:
    """Tags of runs in the store."""
    with contextlib.suppress(LabError):
        from lanlab.store import open_store
        from lanlab.store.labels import label_of

        with open_store(context.params.get("store")) as store:
            found = {tag for run in store.runs() for tag in label_of(run).tags}
            return _beginning(sorted(found), incomplete)
    return []
