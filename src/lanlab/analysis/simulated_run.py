"""The simulated conditions of a stored run, and their distance from the published values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lanlab.analysis.findings.evidence import Cell
from lanlab.analysis.findings.run_evidence import RunEvidence
from lanlab.analysis.findings.sample import Trials
from lanlab.analysis.published import amount_of
from lanlab.analysis.simulated import Accuracy, SimulatedCell, accuracies, fitted_names
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import Published


def run_accuracies(
    run: RunRecord, trials: Sequence[TrialRecord], published: Published
) -> list[Accuracy]:
    """Every published number with its counterpart in a run; empty for a run on real hosts."""
    evidence = RunEvidence.of(run, trials)
    simulation = evidence.study.simulation
    if simulation is None or not evidence.study.is_simulated or not published.value:
        return []
    return accuracies(published, simulation, simulated_cells(evidence, published))


def fitted_conditions(evidence: RunEvidence, published: Published) -> frozenset[str]:
    """Names of the conditions of a simulated run with a fitted value."""
    if evidence.study.simulation is None:
        return frozenset()
    cells = simulated_cells(evidence, published)
    return fitted_names(published, evidence.study.simulation, cells)


def simulated_cells(
    evidence: RunEvidence, published: Published
) -> Mapping[str, Sequence[SimulatedCell]]:
    """The conditions of a run by metric, for metrics with published values. Only copies of the
    published amount are included: the rate depends on the amount if files have costs of their own.
    """
    metrics = dict.fromkeys(value.metric for value in published.value)
    moved_bytes = {cell.name: cell for cell in evidence.cells("copied_bytes")}
    others = {name for name, cell in moved_bytes.items() if _is_of_another_amount(cell, published)}
    return {
        metric: [simulated_cell(cell) for cell in evidence.cells(metric) if cell.name not in others]
        for metric in metrics
    }


def _is_of_another_amount(cell: Cell, published: Published) -> bool:
    assert isinstance(cell.sample, Trials)
    amount = amount_of(published, cell.levels)
    return amount is not None and not math.isclose(amount, cell.sample.mean, rel_tol=0.01)


def simulated_cell(cell: Cell) -> SimulatedCell:
    assert isinstance(cell.sample, Trials)
    is_peak = cell.stands == "greatest"
    mean = cell.sample.mean
    return SimulatedCell(cell.levels, mean, cell.limit, cell.name, is_peak, cell.thinned)
