"""A study with changed parameters, as another setting to compare with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lanlab.errors import UnknownName, UsageError
from lanlab.outside import json_of
from lanlab.studies import Study, at_scale
from lanlab.studies.load import parse_study
from lanlab.workloads import workload


def with_parameters(study: Study, scale: str, parameters: Mapping[str, str]) -> Study:
    """
    The study with changed parameters in every experiment that has them.

    Args:
        study: The study to change.
        scale: The scale of the run.
        parameters: In user notation; `io` for every experiment that has it, `udp.io` for one.

    Raises:
        UnknownName: No experiment has the parameter.
        UsageError: It is a factor of an experiment, so it has levels already.
        BadStudy: A value is not allowed.
    """
    data: dict[str, Any] = study.model_dump(mode="json", exclude_none=True)
    own = data["scale"][scale].setdefault("experiment", {})
    for name, text in parameters.items():
        only, _, key = name.rpartition(".")
        taking = []
        for scaled in at_scale(study, scale):
            if only not in ("", scaled.experiment.id):
                continue
            known = workload(scaled.experiment.workload).Parameters.model_fields
            if key in scaled.factors:
                raise UsageError(
                    f"--with: `{key}` is a factor of experiment `{scaled.experiment.id}`",
                    hint=f"compare its levels within one run by `lanlab compare RUN --by {key}`",
                )
            if key in known:
                taking.append(scaled.experiment.id)
        if not taking:
            names = {
                field: None
                for scaled in at_scale(study, scale)
                for field in workload(scaled.experiment.workload).Parameters.model_fields
            }
            raise UnknownName("parameter of this study", name, names)
        for experiment in taking:
            own.setdefault(experiment, {}).setdefault("parameters", {})[key] = _value(text)
    return parse_study(data, f"{study.id} with {', '.join(parameters)}")


def _value(text: str) -> bool | int | float | str:
    try:
        value = json_of(text)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float) else text
