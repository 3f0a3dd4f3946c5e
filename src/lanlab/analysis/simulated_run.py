"""The simulated conditions of a stored run, and their distance from the published values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from lanlab.analysis.findings.evidence import Cell
from lanlab.analysis.findings.run_evidence import RunEvidence
from lanlab.analysis.findings.sample import Trials
from lanlab.analysis.published import amount_of
from lanlab.analysis.simulated import Accuracy, SimulatedCell, accuracies, fitted_names
from lanlab.analysis.summary import limit_of
from lanlab.analysis.wires import Wire, wire_at
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import Published, at_scale


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
    thinned = _thinned(evidence)
    return {
        metric: [
            replace(
                simulated_cell(metric, cell, wire_at(evidence.run, cell.levels, evidence.study)),
                thinned=thinned.get(cell.group.partition(" ")[0], frozenset()),
            )
            for cell in evidence.cells(metric)
            if cell.name not in others
        ]
        for metric in metrics
    }


def _thinned(evidence: RunEvidence) -> dict[str, frozenset[str]]:
    scaled = at_scale(evidence.study, evidence.run.scale)
    return {
        one.experiment.id: frozenset(
            name
            for name, levels in one.experiment.factors.items()
            if set(levels) - set(one.factors.get(name, ()))
        )
        for one in scaled
    }


def _is_of_another_amount(cell: Cell, published: Published) -> bool:
    assert isinstance(cell.sample, Trials)
    amount = amount_of(published, cell.levels)
    return amount is not None and not math.isclose(amount, cell.sample.mean, rel_tol=0.01)


def simulated_cell(metric: str, cell: Cell, wire: Wire | None) -> SimulatedCell:
    assert isinstance(cell.sample, Trials)
    limit = limit_of(metric, dict(cell.levels), wire)
    return SimulatedCell(cell.levels, cell.sample.mean, limit, cell.name, cell.stands == "greatest")
