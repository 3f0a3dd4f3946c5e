"""
Alternates runs of several settings, so that changing load affects all alike.

A series has turns, in each of which every side runs once. The first of two turns has the sides in
an order drawn from the series' seed, the second in reverse order: a steady drift over both cancels
out in the difference of sides. Each run is stored like any other and contains all that the series
needs to continue; there is no other record of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from lanlab.analysis.comparison.alternation import LETTERS, place_of, series_id
from lanlab.engine import engine_path
from lanlab.errors import RunInterrupted, StoreError, UnknownName, UsageError
from lanlab.frozen import dataclass
from lanlab.outside import json_of
from lanlab.plan.conditions import expand
from lanlab.plan.plan import Plan
from lanlab.run.runner import (
    RunRequest,
    Watcher,
    clusters,
    new_id,
    new_run,
    refuse_programs,
    resume_run,
)
from lanlab.store import RunRecord
from lanlab.store.database import Store
from lanlab.studies.load import parse_study
from lanlab.studies.model import Study
from lanlab.studies.scaling import at_scale
from lanlab.trial_data import SeriesPlan
from lanlab.workloads import workload

MOST_TURNS = 1000
_ENGINE = "LANLAB_ENGINE"


@dataclass(frozen=True)
class SideRequest:
    name: str
    request: RunRequest
    #: Path of the side's engine; `None`: the usual one.
    engine: str | None = None


@dataclass(frozen=True)
class Step:
    turn: int
    turns: int
    side: int
    name: str
    done: int
    total: int


Watching = Callable[[Step], AbstractContextManager[Watcher]]


def order_of_turn(seed: int, turn: int, sides: int) -> list[int]:
    """
    The sides in the order in which a turn runs them.

    Examples:
        >>> [order_of_turn(7, turn, 2) for turn in range(4)]
        [[0, 1], [1, 0], [1, 0], [0, 1]]
    """
    order = list(range(sides))
    random.Random(f"{seed} {turn // 2}").shuffle(order)
    return order if turn % 2 == 0 else order[::-1]


def new_series(
    sides: Sequence[SideRequest], turns: int, seed: int | None, store: Store, watching: Watching
) -> list[RunRecord]:
    """
    Run each side once in each turn.

    Args:
        sides: At least 2.
        turns: At least 2, because a spread needs two.
        seed: Seed of all orders; `None` draws one.
        store: Takes the runs.
        watching: Called for every run.

    Returns:
        The runs of the series, oldest first.

    Raises:
        UsageError: It cannot be run as asked; nothing is in the store.
        RunInterrupted: The user ended it; it can be resumed.
    """
    _check(sides, turns)
    drawn = secrets.randbelow(2**32) if seed is None else seed
    plan: SeriesPlan = {
        "id": new_id("series"),
        "seed": drawn,
        "turns": turns,
        "sides": [
            {
                "name": side.name,
                "study": side.request.study.model_dump(mode="json", exclude_none=True),
                "scale": side.request.scale,
                "testbed": side.request.testbed,
                "link": side.request.link,
                "command": side.request.command,
                "engine": None if side.engine is None else _engine_facts(side.engine),
            }
            for side in sides
        ],
    }
    is_allowed = all(side.request.allows_commands for side in sides)
    return _go_on(plan, {}, store, watching, is_allowed)


def resume_series(
    runs: Sequence[RunRecord], store: Store, watching: Watching, *, allows_commands: bool = False
) -> list[RunRecord]:
    """
    Continue a series.

    Args:
        runs: Its runs so far; at least one.
        store, watching: As for `new_series`.
        allows_commands: As for `resume_run`; the record also names engines.

    Raises:
        UsageError: It is complete, or an engine has changed; and as `resume_run`.
        RunInterrupted: As `new_series`.
    """
    kept = {key: value for key, value in (runs[0].alternation or {}).items() if key not in _PLACE}
    plan = cast("SeriesPlan", kept)
    whole = plan["turns"] * len(plan["sides"])
    if sum(run.status in ("done", "failed") for run in runs) >= whole:
        raise UsageError(
            f"series {plan['id']} is complete",
            hint=f"see it with `lanlab compare {plan['id']}{store.option}`",
        )
    refuse_programs(_programs(plan), allows_commands)
    for side in plan["sides"]:
        engine = side["engine"]
        if engine is not None and _engine_facts(engine["path"]) != engine:
            raise UsageError(
                f"the engine {engine['path']} is not the one that series {plan['id']} began with",
                hint="restore the original, or start a new series",
            )
    return _go_on(plan, _by_place(runs), store, watching, allows_commands)


def _programs(plan: SeriesPlan) -> list[str]:
    engines = [side["engine"] for side in plan["sides"] if side["engine"] is not None]
    named = [f"engine `{engine['path']}`" for engine in engines]
    return [*named, *clusters([str(side["testbed"]) for side in plan["sides"]])]


_PLACE = frozenset({"turn", "side"})


def _go_on(
    plan: SeriesPlan,
    runs: dict[tuple[int, int], RunRecord],
    store: Store,
    watching: Watching,
    allows_commands: bool,
) -> list[RunRecord]:
    sides, total = plan["sides"], plan["turns"] * len(plan["sides"])
    done = 0
    places = [
        (turn, side)
        for turn in range(plan["turns"])
        for side in order_of_turn(plan["seed"], turn, len(sides))
    ]
    try:
        for turn, side in places:
            there = runs.get((turn, side))
            if there is None or there.status in ("interrupted", "running"):
                step = Step(turn, plan["turns"], side, sides[side]["name"], done, total)
                with watching(step) as watcher, _engine(sides[side]["engine"]):
                    runs[turn, side] = (
                        new_run(_request(plan, turn, side, allows_commands), store, watcher)
                        if there is None
                        else resume_run(there.id, store, watcher, allows_commands=allows_commands)
                    )
            done += 1
    except (RunInterrupted, KeyboardInterrupt):
        # Ctrl-C may have come before the first run began: then there is nothing to continue.
        with contextlib.suppress(StoreError):
            runs |= _by_place([run for run in store.runs() if series_id(run) == plan["id"]])
        if not runs:
            raise
        allowed = " --allow-commands" if allows_commands or _programs(plan) else ""
        ended = sum(run.status in ("done", "failed") for run in runs.values())
        raise RunInterrupted(
            f"series {plan['id']} was interrupted after {ended} of {total} runs; what had ended is "
            "saved",
            hint=f"continue with `lanlab run --resume {plan['id']}{allowed}{store.option}`",
        ) from None
    return sorted(runs.values(), key=lambda run: run.started_at)


def _by_place(runs: Sequence[RunRecord]) -> dict[tuple[int, int], RunRecord]:
    found = [(place_of(run), run) for run in runs]
    return {(place.turn, place.side): run for place, run in found if place is not None}


def _request(plan: SeriesPlan, turn: int, side: int, allows_commands: bool) -> RunRequest:
    own = plan["sides"][side]
    return RunRequest(
        study=Study.model_validate(own["study"]),
        scale=own["scale"],
        testbed=own["testbed"],
        link=own["link"],
        seed=random.Random(f"{plan['seed']} trials {turn}").randrange(2**32),
        command=own["command"],
        alternation={**plan, "turn": turn, "side": side},
        allows_commands=allows_commands,
    )


def _check(sides: Sequence[SideRequest], turns: int) -> None:
    if not 2 <= turns <= MOST_TURNS:
        raise UsageError(
            f"--alternate: found {turns}; allowed: 2 to {MOST_TURNS} turns",
            hint="5 turns give an interval of a useful width",
        )
    if not 2 <= len(sides) <= len(LETTERS):
        raise UsageError(f"--alternate: found {len(sides)} sides; allowed: 2 to {len(LETTERS)}")
    common: set[str] | None = None
    for side in sides:
        Plan(side.request.study, side.request.scale, 0)
        own = {
            f"{one.experiment} {one.workload} {sorted(one.factors.items())}"
            for one in expand(side.request.study, side.request.scale)
        }
        common = own if common is None else common & own
    if not common:
        raise UsageError(
            "the sides have no condition in common",
            hint="give experiments and factors the same names and levels in both studies",
        )


def _engine_facts(path: str) -> dict[str, str]:
    with _engine({"path": path}):
        full = Path(engine_path()).absolute()
    return {"path": str(full), "sha256": hashlib.sha256(full.read_bytes()).hexdigest()}


@contextlib.contextmanager
def _engine(facts: dict[str, str] | None) -> Iterator[None]:
    before = os.environ.get(_ENGINE)
    if facts is not None:
        os.environ[_ENGINE] = facts["path"]
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_ENGINE, None)
        else:
            os.environ[_ENGINE] = before


def with_settings(side: SideRequest, settings: Sequence[str]) -> SideRequest:
    """
    A side with other settings.

    Args:
        side: The one to change.
        settings: Each `KEY=VALUE`: `scale`, `testbed`, `link`, `engine`, or a parameter of the
            study's experiments, which is set in all that take it.

    Raises:
        UsageError: One is not `KEY=VALUE`, or belongs to no experiment.
        BadStudy: The study does not allow the value.
    """

    own: dict[str, str] = {}
    parameters: dict[str, str] = {}
    for setting in settings:
        key, equals, value = (part.strip() for part in setting.partition("="))
        if not (key and equals and value):
            raise UsageError(
                f"--with: found `{setting}`; allowed: KEY=VALUE", hint="write e.g. io=batch"
            )
        (own if key in ("scale", "testbed", "link", "engine") else parameters)[key] = value
    engine = own.pop("engine", side.engine)
    request = replace(side.request, **own)  # type: ignore[arg-type]
    if parameters:
        request = replace(request, study=with_parameters(request.study, request.scale, parameters))
    return SideRequest(f"{side.name} with {', '.join(settings)}", request, engine)


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
