"""Checks of a study's machines, once they are well-formed."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from lanlab.errors import UsageError
from lanlab.studies.expressions import BadExpression, evaluate
from lanlab.studies.machine_numbers import NUMBERS, REQUIRED, most_waiting
from lanlab.studies.machines import MOST_LIKE, Machine, Origin, Simulation, known_machine
from lanlab.studies.plain_level import plain_level
from lanlab.studies.problems import Problem, did_you_mean, listed, repeated, show, unknown
from lanlab.studies.vocabulary import Vocabulary
from lanlab.testbeds.link import parse_link

if TYPE_CHECKING:
    from lanlab.studies.published import Published

_unknown = functools.partial(unknown, most=40)
_ORIGINS = "one of `published` (an id), `fitted` (ids) and `assumed` (why, 8 characters or more)"


def machine_problems(simulation: Simulation) -> Iterator[Problem]:
    yield from repeated("machine", [one.id for one in simulation.machine])
    yield from repeated("medium", [one.id for one in simulation.medium])
    plain = list(_plain_problems(simulation))
    yield from plain
    if not plain:
        for machine in simulation.machine:
            yield from _missing_numbers(simulation, machine)
            yield from _waiting_problems(simulation, machine)
        yield from _place_problems(simulation)
        yield from _ensemble_problems(simulation)


def _plain_problems(simulation: Simulation) -> Iterator[Problem]:
    for medium in simulation.medium:
        place = f"medium.{medium.id}"
        yield from _origin_problems(place, medium)
        try:
            parsed = parse_link(medium.link)
        except UsageError as error:
            yield Problem(f"{place}.link", show(medium.link), "a link such as `10M`", error.message)
            continue
        if parsed.rate_bps is None:
            yield Problem(f"{place}.link", show(medium.link), "a link of a stated speed")
    names = [one.id for one in simulation.machine]
    for machine in simulation.machine:
        place = f"machine.{machine.id}"
        for key, number in machine.numbers.items():
            at = f"{place}.numbers.{key}"
            kind = NUMBERS.get(key)
            if kind is None:
                yield Problem(at, "an unknown key", listed(NUMBERS), did_you_mean(key, NUMBERS))
                continue
            yield from _origin_problems(at, number)
            if number.by_hand is not None and not number.fitted:
                yield Problem(
                    f"{at}.by_hand", "a number that is not fitted", "together with `fitted`"
                )
            if not kind.allows(number.value):
                yield Problem(f"{at}.value", show(number.value), kind.range)
        if machine.like is not None:
            yield from _unknown(f"{place}.like", [machine.like], names)
            if machine.like in names and (problem := _like_problem(simulation, machine)):
                yield problem


def _origin_problems(place: str, origin: Origin) -> Iterator[Problem]:
    kinds = origin.kinds
    if len(kinds) != 1:
        found = " and ".join(f"`{kind}`" for kind in kinds) or "no origin"
        hint = None if kinds else 'say where the number comes from, e.g. `assumed = "why"`'
        yield Problem(place, found, _ORIGINS, hint)


def _like_problem(simulation: Simulation, machine: Machine) -> Problem | None:
    key = f"machine.{machine.id}.like"
    seen: set[str] = set()
    at: Machine | None = machine
    while at is not None:
        if at.id in seen:
            return Problem(key, show(machine.like), "a machine that is not like it")
        if len(seen) == MOST_LIKE:
            found = f"a chain of more than {MOST_LIKE} machines, each like the next"
            hint = "let it be like one of the later ones, with the numbers that differ"
            return Problem(key, found, f"at most {MOST_LIKE}", hint)
        seen.add(at.id)
        at = simulation.machine_named(at.like) if at.like else None
    return None


def _missing_numbers(simulation: Simulation, machine: Machine) -> Iterator[Problem]:
    """A machine used by a place must have every number that affects its behaviour."""
    if not any(machine.id in place.machines for place in simulation.place):
        return
    known = known_machine(simulation, machine.id).numbers
    lacking = [name for name in REQUIRED if name not in known]
    if lacking:
        yield Problem(
            f"machine.{machine.id}.numbers", f"no {', '.join(lacking)}", listed(REQUIRED) + ", all"
        )


def _waiting_problems(simulation: Simulation, machine: Machine) -> Iterator[Problem]:
    known = known_machine(simulation, machine.id).numbers
    most = most_waiting({name: one.value for name, one in known.items()})
    if most is not None:
        place = f"machine.{machine.id}.numbers.write_behind_blocks"
        found = show(known["write_behind_blocks"].value)
        yield Problem(place, found, f"0 to {most:g}, what the cache holds (`cache_blocks`)")


def _place_problems(simulation: Simulation) -> Iterator[Problem]:
    machines = [one.id for one in simulation.machine]
    media = [one.id for one in simulation.medium]
    for number, place in enumerate(simulation.place):
        yield from _unknown(f"place.{number}.machines", place.machines, machines)
        if place.medium is not None:
            yield from _unknown(f"place.{number}.medium", [place.medium], media)
    plain = [
        {key: plain_level(key, level) for key, level in place.when.items()}
        for place in simulation.place
    ]
    for (one, a), (other, b) in itertools.combinations(enumerate(simulation.place), 2):
        if len(a.when) != len(b.when) or not _fit_together(plain[one], plain[other]):
            continue
        both = {**a.when, **b.when}
        if len(both) > len(a.when) and any(
            third.when == both for third in simulation.place if len(third.when) > len(a.when)
        ):
            continue
        yield Problem(
            f"place.{other}.when",
            f"{show(b.when)}, which fits conditions that place {one} fits as well ({show(a.when)})",
            "places of which at most one fits a condition with as many levels",
            "name one more level in one of them",
        )


def _ensemble_problems(simulation: Simulation) -> Iterator[Problem]:
    known = [f"{one.id}.{name}" for one in simulation.machine for name in one.numbers]
    yield from repeated("ensemble", [one.metric for one in simulation.ensemble])
    for one in simulation.ensemble:
        at = f"ensemble.{one.metric}"
        yield from _unknown(f"{at}.numbers", one.numbers, known)
        for place, factors in enumerate(one.members):
            if len(factors) != len(one.numbers):
                wanted = f"{len(one.numbers)}, one for each of its numbers"
                yield Problem(f"{at}.members.{place}", f"{len(factors)} numbers", wanted)
            elif not all(factor > 0 for factor in factors):
                yield Problem(f"{at}.members.{place}", show(min(factors)), "numbers above 0")


def _fit_together(a: Mapping[str, object], b: Mapping[str, object]) -> bool:
    return all(level == b[key] for key, level in a.items() if key in b)


def published_problems_of(
    simulation: Simulation, published: Published, words: Vocabulary
) -> Iterator[Problem]:
    """
    Conflicts between the machines and the published values, or the study's factors.

    Args:
        simulation: Without errors of its own.
        published: The study's published values.
        words: The factors and levels of the study and the publication.
    """
    numbers = {value.id: value for value in published.value}
    for medium in simulation.medium:
        yield from _unknown(f"medium.{medium.id}", medium.of_ids, numbers)
    for machine in simulation.machine:
        for key, number in machine.numbers.items():
            place = f"machine.{machine.id}.numbers.{key}"
            yield from _unknown(place, number.of_ids, numbers)
            value = numbers.get(number.published or "")
            kind = NUMBERS[key]
            if value is not None and not _is_printed(number.value, value.value):
                yield Problem(
                    f"{place}.value",
                    f"{number.value:g}, where {value.id} is {value.value:g}",
                    f"the published number, in {kind.unit or 'its unit'}",
                )
    yield from _unknown("reading.value", [one.value for one in simulation.reading], numbers)
    yield from repeated("prediction", [one.value for one in simulation.prediction])
    for one in simulation.prediction:
        if one.value not in simulation.fitted and one.value not in simulation.held_out:
            at = f"prediction.{one.value}.value"
            allowed = "a number that is held out, or that something was fitted to later"
            yield Problem(at, show(one.value), allowed)
    for name in simulation.held_out:
        yield from _unknown("held_out", [name], numbers)
        if name in numbers and name in simulation.fitted:
            yield Problem("held_out", show(name), "published numbers that nothing is fitted to")
    yield from _baseline_problems(simulation, {key: one.value for key, one in numbers.items()})
    spoken_of = [(f"place.{number}", one.when) for number, one in enumerate(simulation.place)]
    spoken_of += [(f"medium.{one.id}", one.when) for one in simulation.medium]
    for name, when in spoken_of:
        for factor, level in when.items():
            at = f"{name}.when.{factor}"
            yield from _unknown(at, [factor], words.factors)
            if factor in words.factors and not words.has_level(factor, level):
                levels = words.factors[factor]
                yield Problem(
                    at, show(level), listed(map(str, levels)), did_you_mean(level, map(str, levels))
                )


def _baseline_problems(simulation: Simulation, printed: Mapping[str, float]) -> Iterator[Problem]:
    yield from repeated("baseline", [one.value for one in simulation.baseline])
    predicted = [one.value for one in simulation.prediction]
    for one in simulation.baseline:
        at = f"baseline.{one.value}"
        if one.value not in simulation.held_out and one.value not in predicted:
            yield Problem(f"{at}.value", show(one.value), "a number that is held out or predicted")
        others = {key: number for key, number in printed.items() if key != one.value}
        try:
            guess = evaluate(one.guess, others.__getitem__)
        except BadExpression as error:
            yield Problem(f"{at}.guess", error.found, error.allowed)
            continue
        if isinstance(guess, bool) or guess <= 0:
            found = f"what comes to {show(guess)}"
            yield Problem(f"{at}.guess", found, "a number above 0, from other published numbers")


def _is_printed(value: float, printed: float) -> bool:
    return abs(value - printed) <= 1e-9 * max(abs(value), abs(printed))
