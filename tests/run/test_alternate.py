"""Series of runs in turns: order, what is stored, how they end and go on."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from small_runs import Interrupting, Watching, a_store, on_loopback, small_study

from lanlab.engine import engine_path
from lanlab.errors import BadStudy, RunInterrupted, UnknownName, UsageError
from lanlab.run.alternate import (
    SideRequest,
    Step,
    new_series,
    order_of_turn,
    resume_series,
    with_settings,
)
from lanlab.studies.load import parse_study

SHORT = small_study()


def a_side(name: str = "a") -> SideRequest:
    data = SHORT.model_dump(mode="json", exclude_none=True)
    data["experiment"] = data["experiment"][:1]
    data["experiment"][0]["factors"] = {"message_size_bytes": [100]}
    return SideRequest(name, on_loopback(parse_study(data, "small.toml"), None))


class Watched:
    """Keeps the steps; the run at one of them is interrupted after a trial."""

    def __init__(self, interrupted: int | None = None) -> None:
        self.steps: list[Step] = []
        self._interrupted = interrupted

    @contextlib.contextmanager
    def __call__(self, step: Step) -> Iterator[Watching]:
        self.steps.append(step)
        is_last = self._interrupted == len(self.steps)
        yield Interrupting(1) if is_last else Watching()


def test_turns_alternate_the_order_of_sides() -> None:
    firsts = set()
    for seed in range(20):
        turns = [order_of_turn(seed, turn, 3) for turn in range(6)]
        assert all(sorted(turn) == [0, 1, 2] for turn in turns)
        assert all(turns[turn + 1] == turns[turn][::-1] for turn in (0, 2, 4))
        assert turns == [order_of_turn(seed, turn, 3) for turn in range(6)]
        firsts.add(tuple(turns[0]))
    assert len(firsts) > 3


def test_a_series_runs_every_side_in_every_turn_and_can_be_resumed(tmp_path: Path) -> None:
    sides = [a_side("one"), with_settings(a_side("two"), ["io=batch"])]
    with a_store(tmp_path) as store:
        with pytest.raises(RunInterrupted, match=r"interrupted after 2 of 4 runs") as error:
            new_series(sides, 2, 7, store, Watched(interrupted=3))
        kept = store.runs()
        series = kept[0].alternation["id"] if kept[0].alternation else ""
        assert error.value.hint == f"continue with `lanlab run --resume {series}`"
        assert [run.status for run in kept] == ["done", "done", "interrupted"]

        watched = Watched()
        done = resume_series(kept, store, watched)

        assert [run.id for run in done[:3]] == [run.id for run in kept]
        assert [(step.turn, step.side) for step in watched.steps] == [
            (1, side) for side in order_of_turn(7, 1, 2)
        ]
        places = [run.alternation or {} for run in done]
        assert [(one["turn"], one["side"]) for one in places] == [
            (turn, side) for turn in (0, 1) for side in order_of_turn(7, turn, 2)
        ]
        for run, place in zip(done, places, strict=True):
            assert run.status == "done"
            io = {trial.parameters["io"] for trial in store.trials(run.id)}
            assert io == {"batch" if place["side"] else "auto"}
        # Both sides of a turn have their conditions in the same order.
        seeds = {one["turn"]: set[int]() for one in places}
        for run, place in zip(done, places, strict=True):
            seeds[place["turn"]].add(run.seed)
        assert [len(own) for own in seeds.values()] == [1, 1]
        with pytest.raises(UsageError, match=f"series {series} is complete"):
            resume_series(done, store, watched)


def test_a_side_can_have_its_own_engine(tmp_path: Path) -> None:
    other = tmp_path / "other-engine"
    other.write_text(f'#!/bin/sh\necho used >> "{tmp_path}/used"\nexec "{engine_path()}" "$@"\n')
    other.chmod(0o755)
    before = os.environ.get("LANLAB_ENGINE")
    sides = [a_side(), with_settings(a_side(), [f"engine={other}"])]
    with a_store(tmp_path) as store:
        with pytest.raises(RunInterrupted):
            new_series(sides, 2, 7, store, Watched(interrupted=3))
        # Two hosts of one run or two.
        used = len((tmp_path / "used").read_text().split())
        assert used in (2, 4)
        assert os.environ.get("LANLAB_ENGINE") == before
        with pytest.raises(UsageError, match="run programs or send passwords: engine"):
            resume_series(store.runs(), store, Watched())
        other.write_text(other.read_text() + "\n")
        with pytest.raises(UsageError, match="is not the one that series"):
            resume_series(store.runs(), store, Watched(), allows_commands=True)


@pytest.mark.parametrize("turns", [0, 1, 1001])
def test_turns_that_give_no_spread_are_refused(turns: int, tmp_path: Path) -> None:
    with a_store(tmp_path) as store, pytest.raises(UsageError, match=f"--alternate: found {turns}"):
        new_series([a_side(), a_side()], turns, 1, store, Watched())


def test_sides_with_nothing_in_common_are_refused_before_anything_runs(tmp_path: Path) -> None:
    data = a_side().request.study.model_dump(mode="json", exclude_none=True)
    data["experiment"][0]["factors"] = {"message_size_bytes": [200]}
    other = replace(a_side().request, study=parse_study(data, "other.toml"))
    watched = Watched()
    with a_store(tmp_path) as store, pytest.raises(UsageError, match="no condition in common"):
        new_series([a_side(), SideRequest("b", other)], 2, 1, store, watched)
    assert watched.steps == []


def test_settings_apply_only_where_meaningful() -> None:
    side = SideRequest("s", on_loopback(SHORT))

    both = with_settings(side, ["timeout_s=2", "link=10M", "scale=quick"])
    assert (both.request.link, both.name) == ("10M", "s with timeout_s=2, link=10M, scale=quick")
    own = both.request.study.scale["quick"].experiment
    assert own["round-trips"].parameters["timeout_s"] == 2 and "sizes" not in own
    one = with_settings(side, ["sizes.io=batch"]).request.study.scale["quick"].experiment
    assert one["sizes"].parameters == {"io": "batch"}

    with pytest.raises(UsageError, match="is a factor of experiment `sizes`"):
        with_settings(side, ["message_size_bytes=100"])
    with pytest.raises(UnknownName, match="no parameter of this study named `colour`"):
        with_settings(side, ["colour=red"])
    with pytest.raises(UsageError, match="--with: found `io`; allowed: KEY=VALUE"):
        with_settings(side, ["io"])
    with pytest.raises(BadStudy, match="io"):
        with_settings(side, ["io=sideways"])
