"""Splits a study into the part that runs on real hosts and the part that is simulated."""

from __future__ import annotations

from lanlab.errors import UsageError
from lanlab.studies.model import RunsOn, Study
from lanlab.studies.scaling import done_at


def study_on(study: Study, where: RunsOn, scale: str | None = None) -> Study:
    """
    A study reduced to what runs in one place, as in a run's record.

    Args:
        where: `real` for testbeds with hosts, `simulated` for modelled machines.
        scale: Keep only what a run at this scale executes.

    Raises:
        UsageError: None of its experiments runs there.
    """
    done = study.experiment if scale is None else done_at(study.experiment, scale)
    kept = {one.id for one in done if where in one.on}
    if not kept:
        known = "only simulated experiments" if where == "real" else "no simulated experiment"
        at = "" if len(done) == len(study.experiment) else f" at scale `{scale}`"
        raise UsageError(
            f"study `{study.id}` has {known}{at}",
            hint="use `--testbed simulated`"
            if where == "real"
            else 'write `on = ["simulated"]` in an experiment, and machines in a machines.toml '
            "next to the study file; docs/simulation.md shows how",
        )
    machines = study.simulation if where == "simulated" else None
    is_there_alone = all(one.on == (where,) and one.id in kept for one in study.experiment)
    if is_there_alone and machines == study.simulation:
        return study
    # Drop scales without remaining experiments.
    own = {name: one.id in kept for one in study.experiment for name in one.scales}
    scales = {
        name: scale.model_copy(
            update={
                "experiment": {key: one for key, one in scale.experiment.items() if key in kept}
            }
        )
        for name, scale in study.scale.items()
        if own.get(name, True)
    }
    figures = tuple(
        figure.model_copy(update={"experiments": drawn})
        for figure in study.figure
        if (drawn := tuple(name for name in figure.experiments if name in kept))
    )
    return study.model_copy(
        update={
            # An experiment for both places is recorded with the place where it runs.
            "experiment": tuple(
                one.model_copy(update={"on": (where,)})
                for one in study.experiment
                if one.id in kept
            ),
            "scale": scales,
            "figure": figures,
            "simulation": machines,
        }
    )
