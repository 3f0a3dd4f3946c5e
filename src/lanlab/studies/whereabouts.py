"""The part of a study that runs on real hosts, and the part that is simulated."""

from __future__ import annotations

from lanlab.errors import UsageError
from lanlab.studies.model import Study, Whereabouts


def study_on(study: Study, where: Whereabouts) -> Study:
    """
    A study with only what runs there, as a run of it is recorded.

    Args:
        where: `real` for every testbed of hosts that are there, `simulated` for modelled machines.

    Raises:
        UsageError: None of its experiments runs there.
    """
    kept = {one.id for one in study.experiment if where in one.on}
    if study.experiment and not kept:
        known = "only simulated experiments" if where == "real" else "no simulated experiment"
        raise UsageError(
            f"study `{study.id}` has {known}",
            hint="use `--testbed simulated`"
            if where == "real"
            else 'write `on = ["simulated"]` in an experiment, and machines in a machines.toml '
            "beside the study file; docs/simulation.md shows how",
        )
    machines = study.simulation if where == "simulated" else None
    is_there_alone = all(one.on == (where,) for one in study.experiment)
    if is_there_alone and machines == study.simulation:
        return study
    scales = {
        name: scale.model_copy(
            update={
                "experiment": {key: one for key, one in scale.experiment.items() if key in kept}
            }
        )
        for name, scale in study.scale.items()
    }
    figures = tuple(
        figure.model_copy(update={"experiments": drawn})
        for figure in study.figure
        if (drawn := tuple(name for name in figure.experiments if name in kept))
    )
    return study.model_copy(
        update={
            # What runs on both is recorded as where it ran.
            "experiment": tuple(
                one.model_copy(update={"on": (where,)})
                for one in study.experiment
                if where in one.on
            ),
            "scale": scales,
            "figure": figures,
            "simulation": machines,
            # What waits for other systems is not what a simulation waits for.
            "waiting": study.waiting if where == "real" else (),
        }
    )
