"""The simulated conditions of a stored run, and their distance from the published values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lanlab.analysis.findings.evidence import Cell
from lanlab.analysis.findings.run_evidence import RunEvidence
from lanlab.analysis.published.values import amount_of
from lanlab.analysis.simulation.accuracy import (
    Accuracy,
    accuracies,
    fitted_names,
    kept_accuracies,
)
from lanlab.analysis.simulation.model_error import held_out_values, with_others
from lanlab.analysis.trials.run_data import RunData
from lanlab.studies.published import Published


def run_accuracies(data: RunData) -> list[Accuracy]:
    """Every published number with its counterpart in a simulated run; empty for others."""
    simulation, published = data.study.simulation, data.published
    if simulation is None or not data.study.is_simulated or not published.value:
        return []
    return accuracies(published, simulation, simulated_cells(data.evidence, published))


def held_out_of(data: RunData) -> list[Accuracy]:
    """The published values that can test the model of a simulated run: the held-out values that are
    stored with its study, and the run's own values that nothing was fitted to.
    """
    simulation = data.study.simulation
    if simulation is None or not data.study.is_simulated:
        return []
    kept = held_out_values(kept_accuracies(data.published, simulation))
    return with_others(kept, data.once(run_accuracies))


def fitted_conditions(evidence: RunEvidence, published: Published) -> dict[str, set[str]]:
    """Names of the conditions of a simulated run by their fitted value, for any amount copied."""
    if evidence.study.simulation is None:
        return {}
    cells = simulated_cells(evidence, published, any_amount=True)
    return fitted_names(published, evidence.study.simulation, cells)


def simulated_cells(
    evidence: RunEvidence, published: Published, *, any_amount: bool = False
) -> Mapping[str, Sequence[Cell]]:
    """The conditions of a run by metric, for metrics with published values. By default, only copies
    of the published amount are included: the rate depends on the amount if files have costs.
    """
    metrics = dict.fromkeys(value.metric for value in published.value)
    moved_bytes = {cell.name: cell for cell in evidence.cells("copied_bytes")}
    others = {
        name
        for name, cell in moved_bytes.items()
        if not any_amount and _is_of_another_amount(cell, published)
    }
    return {
        metric: [cell for cell in evidence.cells(metric) if cell.name not in others]
        for metric in metrics
    }


def _is_of_another_amount(cell: Cell, published: Published) -> bool:
    amount = amount_of(published, cell.levels)
    return amount is not None and not math.isclose(amount, cell.sample.mean, rel_tol=0.01)
