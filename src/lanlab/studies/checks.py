"""Checks of a well-formed study file: names exist, and conditions can run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pydantic import ValidationError

from lanlab.errors import UsageError
from lanlab.studies.base import Level
from lanlab.studies.model import Experiment, Figure, Search, Study
from lanlab.studies.problems import (
    Problem,
    allowed_by,
    did_you_mean,
    listed,
    repeated,
    show,
    unknown,
)
from lanlab.studies.scaling import (
    MAX_CONDITIONS,
    ExperimentAtScale,
    combinations,
    done_at,
    experiment_at_scale,
    is_numeric,
    validated,
    working,
)
from lanlab.testbeds.link import parse_link
from lanlab.workloads import WORKLOADS
from lanlab.workloads.definitions import definitions


def problems(study: Study) -> Iterator[Problem]:
    """All errors of a well-formed study, simple ones first.

    Conditions are built and validated only if all names are right.
    """
    plain = [*_study_problems(study), *_experiment_problems(study), *_scale_problems(study)]
    yield from plain
    if not plain:
        yield from _finding_problems(study)
        for scale_name in study.scale:
            yield from _condition_problems(study, scale_name)


def _finding_problems(study: Study) -> Iterator[Problem]:
    if study.finding:
        # Imported here, because the models of findings take long to build.
        from lanlab.studies.finding_checks import finding_problems
        from lanlab.studies.vocabulary import of_study

        yield from finding_problems(study.finding, of_study(study), {})


def _study_problems(study: Study) -> Iterator[Problem]:
    link = study.testbed.link
    try:
        parse_link(link)
    except UsageError as error:
        said = error.message + (f"; {error.hint}" if error.hint else "")
        yield Problem("testbed.link", show(link), "a link such as `10M` or `unshaped`", said)

    if not study.experiment:
        yield Problem("experiment", "none", "at least one")
    if study.experiment and not study.scale:
        yield Problem("scale", "{}", "at least one")

    ids = [experiment.id for experiment in study.experiment]
    yield from repeated("experiment", ids, "experiments ")
    for number, figure in enumerate(study.figure):
        yield from unknown(f"figure.{number}.experiments", figure.experiments, ids)
        yield from _figure_problems(f"figure.{number}", study, figure)

    if study.simulation is not None:
        from lanlab.studies.machine_checks import machine_problems

        for problem in machine_problems(study.simulation):
            yield replace(problem, key=f"simulation.{problem.key}")
    yield from _counterpart_problems(study)
    used = [WORKLOADS[e.workload] for e in study.experiment if e.workload in WORKLOADS]
    shown = {key for entry in used for key in (*entry.metrics, *entry.Parameters.model_fields)}
    if used:
        yield from unknown("units.*", study.units, sorted(shown))


def _counterpart_problems(study: Study) -> Iterator[Problem]:
    drawn = [experiment.id for experiment in study.experiment]
    factors = {name: () for e in study.experiment for name in (*e.parameters, *e.factors)}
    for number, one in enumerate(study.counterpart):
        place = f"counterpart.{number}"
        ours = [str(level) for levels in one.levels.values() for level in levels]
        if one.factor == "experiment":
            yield from unknown(f"{place}.levels", ours, drawn)
        else:
            yield from unknown(f"{place}.factor", [one.factor], [*factors, "experiment"])
        yield from unknown(f"{place}.only_at", one.only_at, ours)


def _figure_problems(place: str, study: Study, figure: Figure) -> Iterator[Problem]:
    drawn = [e for e in study.experiment if e.id in figure.experiments and e.workload in WORKLOADS]
    for experiment in drawn:
        metrics = WORKLOADS[experiment.workload].metrics
        if figure.metric is not None:
            yield from unknown(f"{place}.metric", [figure.metric], metrics)
        yield from unknown(f"{place}.at.*", figure.at, experiment.factors)
        if figure.factor is None:
            continue
        yield from unknown(f"{place}.factor", [figure.factor], experiment.factors)
        if figure.factor in experiment.factors and not is_numeric(
            experiment.workload, figure.factor
        ):
            yield Problem(
                f"{place}.factor", show(figure.factor), "a factor whose levels are numbers"
            )


def _experiment_problems(study: Study) -> Iterator[Problem]:
    for experiment in study.experiment:
        place = f"experiment.{experiment.id}"
        entry = WORKLOADS.get(experiment.workload)
        if entry is None:
            yield from unknown(f"{place}.workload", [experiment.workload], WORKLOADS)
            continue
        fields = list(entry.Parameters.model_fields)
        is_simulated = experiment.on == ("simulated",)
        placing = _place_factors(study) if is_simulated else frozenset()
        if "simulated" in experiment.on and study.simulation is None:
            yield Problem(
                f"{place}.on",
                "`simulated`",
                "`real`, as this study has no machines to simulate",
                "describe them in a machines.toml next to the study file",
            )
        for part, keys in (("parameters", experiment.parameters), ("factors", experiment.factors)):
            yield from unknown(f"{place}.{part}.*", keys, [*fields, *sorted(placing)])
        yield from unknown(f"{place}.metrics", experiment.metrics, entry.metrics)
        if experiment.search is not None:
            yield from _search_problems(f"{place}.search", experiment, experiment.search)


def _place_factors(study: Study) -> frozenset[str]:
    from lanlab.studies.machines import place_factors

    return place_factors(study.simulation)


def _search_problems(place: str, experiment: Experiment, search: Search) -> Iterator[Problem]:
    entry = WORKLOADS[experiment.workload]
    if search.factor not in entry.Parameters.model_fields:
        allowed = f"a factor of workload `{entry.name}`"
        yield Problem(f"{place}.factor", show(search.factor), allowed)
    if list(search.loss_goals) != sorted(set(search.loss_goals)):
        yield Problem(
            f"{place}.loss_goals", show(list(search.loss_goals)), "each once, the smallest first"
        )
    if experiment.factors:
        yield Problem(
            f"experiment.{experiment.id}.factors",
            f"{listed(experiment.factors)} together with a search",
            "a search or factors, not both",
            "write one experiment with a search for each combination of levels",
        )


def _scale_problems(study: Study) -> Iterator[Problem]:
    by_id = {experiment.id: experiment for experiment in study.experiment}
    used = [WORKLOADS[e.workload] for e in study.experiment if e.workload in WORKLOADS]
    fields = sorted({key for entry in used for key in entry.Parameters.model_fields})
    for one in study.experiment:
        yield from unknown(f"experiment.{one.id}.scales", one.scales, study.scale)
    for scale_name, scale in study.scale.items():
        if used:
            yield from unknown(f"scale.{scale_name}.parameters.*", scale.parameters, fields)
        for name, own in scale.experiment.items():
            place = f"scale.{scale_name}.experiment.{name}"
            experiment = by_id.get(name)
            if experiment is None:
                yield from unknown(place, [name], by_id)
                continue
            if experiment.workload not in WORKLOADS:
                continue
            known = list(WORKLOADS[experiment.workload].Parameters.model_fields)
            if experiment.on == ("simulated",):
                known += sorted(_place_factors(study))
            yield from unknown(f"{place}.parameters.*", own.parameters, known)
            yield from unknown(f"{place}.factors.*", own.factors, experiment.factors)
            if own.search:
                yield from _scaled_search_problems(f"{place}.search", experiment, own.search)


def _scaled_search_problems(
    place: str, experiment: Experiment, changes: Mapping[str, object]
) -> Iterator[Problem]:
    if experiment.search is None:
        allowed = f"none, as `experiment.{experiment.id}` has no search"
        yield Problem(place, "changes to a search", allowed)
        return
    try:
        search = Search.model_validate({**experiment.search.model_dump(), **changes})
    except ValidationError as error:
        from lanlab.studies.schema_problems import schema_problems

        for problem in schema_problems(error, changes):
            hint, allowed = problem.hint, problem.allowed
            if problem.found == "an unknown key":
                allowed = listed(Search.model_fields)
                hint = did_you_mean(problem.key, Search.model_fields)
            yield Problem(f"{place}.{problem.key}", problem.found, allowed, hint)
        return
    yield from _search_problems(place, experiment, search)


def _condition_problems(study: Study, scale_name: str) -> Iterator[Problem]:
    scale = study.scale[scale_name]
    left = MAX_CONDITIONS
    for experiment in done_at(study.experiment, scale_name):
        scaled = experiment_at_scale(experiment, scale)
        yield from _overlap_problems(scaled, scale_name)
        for key, levels in scaled.factors.items():
            if not levels:
                yield Problem(_source(study, scale_name, scaled, key), "[]", "at least one level")
        count = math.prod(len(levels) for levels in scaled.factors.values())
        left -= count
        if left < 0:
            yield Problem(
                f"experiment.{experiment.id}.factors",
                f"{count} conditions (scale `{scale_name}`)",
                f"at most {MAX_CONDITIONS} in a scale, all experiments together",
            )
            return
        if scaled.search is None:
            yield from _level_problems(study, scale_name, scaled)
        else:
            yield from _time_problems(study, scale_name, scaled)
            yield from _bound_problems(study, scale_name, scaled, scaled.search)


def _overlap_problems(scaled: ExperimentAtScale, scale_name: str) -> Iterator[Problem]:
    varied = dict.fromkeys(scaled.factors, "a factor")
    if scaled.search is not None:
        varied[scaled.search.factor] = "the factor of the search"
    for key, role in varied.items():
        if key in scaled.parameters:
            yield Problem(
                f"experiment.{scaled.experiment.id}.parameters.{key}",
                f"{show(scaled.parameters[key])} (scale `{scale_name}`)",
                f"nothing, as `{key}` is {role} of this experiment",
            )


def _level_problems(study: Study, scale_name: str, scaled: ExperimentAtScale) -> Iterator[Problem]:
    seen: set[tuple[Level, ...]] = set()
    reported: set[str] = set()
    is_trusted = "trust" not in scaled.parameters
    for levels in combinations(scaled.factors):
        for problem in _fit(study, scale_name, scaled, levels):
            if problem.key not in reported:
                reported.add(problem.key)
                yield problem
        if scaled.experiment.on == ("simulated",) and study.simulation is not None:
            from lanlab.studies.counterparts import place_at

            key = f"experiment.{scaled.experiment.id}.factors"
            at = {**scaled.parameters, **levels}
            if place_at(study, at, scaled.experiment.id) is None:
                yield Problem(
                    key,
                    f"{_condition(levels) or 'its only condition'}, which is at no place",
                    "conditions that a [[place]] in machines.toml fits",
                )
                return
        if reported:
            continue
        name = scaled.experiment.workload
        values = validated(name, working(name, {**scaled.parameters, **levels}))
        # Validation removes it where no server shows a certificate or host key.
        is_trusted = is_trusted or values.model_dump(include={"trust"}).get("trust") is not None
        identity = tuple(getattr(values, key, level) for key, level in levels.items())
        if identity in seen:
            key = f"experiment.{scaled.experiment.id}.factors"
            yield Problem(key, f"{_condition(levels)} twice (scale `{scale_name}`)", "once")
            return
        seen.add(identity)
    if not is_trusted and not reported:
        yield Problem(
            _source(study, scale_name, scaled, "trust"),
            f"{show(scaled.parameters['trust'])} (scale `{scale_name}`)",
            "none, as no server of this experiment has a certificate or host key",
        )


def _time_problems(study: Study, scale_name: str, scaled: ExperimentAtScale) -> Iterator[Problem]:
    """A search sets the length of its trials, so they cannot end after a fixed amount."""
    for key in ("messages", "bytes"):
        if key in scaled.parameters:
            found = f"{show(scaled.parameters[key])} together with a search (scale `{scale_name}`)"
            yield Problem(_source(study, scale_name, scaled, key), found, "`time_s` in its place")


def _bound_problems(
    study: Study, scale_name: str, scaled: ExperimentAtScale, search: Search
) -> Iterator[Problem]:
    ends = []
    for end, level in (("low", search.low), ("high", search.high)):
        found = list(_fit(study, scale_name, scaled, {search.factor: level}, end))
        yield from found
        if found:
            return
        name = scaled.experiment.workload
        parameters = working(name, {**scaled.parameters, search.factor: level})
        ends.append(getattr(validated(name, parameters), search.factor))
    low, high = ends
    if not low < high:
        yield Problem(
            _search_source(study, scale_name, scaled, "low"),
            f"{show(search.low)} with high {show(search.high)} (scale `{scale_name}`)",
            "low below high",
        )


def _fit(
    study: Study,
    scale_name: str,
    scaled: ExperimentAtScale,
    levels: Mapping[str, Level],
    search_end: str | None = None,
) -> Iterator[Problem]:
    name = scaled.experiment.workload
    condition = _condition(levels) or "its only condition"
    try:
        validated(name, working(name, {**scaled.parameters, **levels}))
    except OverflowError:
        key = f"experiment.{scaled.experiment.id}"
        yield Problem(key, f"a number too large in {condition}", "numbers that can be")
    except ValidationError as error:
        known = definitions(WORKLOADS[name].Parameters)
        for detail in error.errors(include_url=False):
            if not detail["loc"]:
                # An error of the whole model: its message names the values that do not fit
                # together.
                key = f"experiment.{scaled.experiment.id}"
                found = f"{condition} (scale `{scale_name}`): {allowed_by(detail)}"
                yield Problem(key, found, f"values that workload `{name}` can combine")
                continue
            field = str(detail["loc"][0])
            if search_end is not None and field in levels:
                key = _search_source(study, scale_name, scaled, search_end)
            else:
                key = _source(study, scale_name, scaled, field)
            found = f"{show(detail['input'])} in {condition} (scale `{scale_name}`)"
            yield Problem(key, found, allowed_by(detail, known.get(field)))


def _source(study: Study, scale_name: str, scaled: ExperimentAtScale, key: str) -> str:
    experiment = scaled.experiment
    scale = study.scale[scale_name]
    own = scale.experiment.get(experiment.id)
    for part in ("parameters", "factors"):
        if own is not None and key in getattr(own, part):
            return f"scale.{scale_name}.experiment.{experiment.id}.{part}.{key}"
    if key in scale.parameters:
        return f"scale.{scale_name}.parameters.{key}"
    part = "factors" if key in experiment.factors else "parameters"
    return f"experiment.{experiment.id}.{part}.{key}"


def _search_source(study: Study, scale_name: str, scaled: ExperimentAtScale, key: str) -> str:
    name = scaled.experiment.id
    own = study.scale[scale_name].experiment.get(name)
    if own is not None and key in own.search:
        return f"scale.{scale_name}.experiment.{name}.search.{key}"
    return f"experiment.{name}.search.{key}"


def _condition(levels: Mapping[str, Level]) -> str:
    return ", ".join(f"{key}={show(level)}" for key, level in levels.items())
