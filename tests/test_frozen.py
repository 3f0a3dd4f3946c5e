"""Frozen dataclasses of ours beside those of the standard library."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any

import pytest

from lanlab import frozen

Maker = Callable[..., Any]
MAKERS: list[Maker] = [frozen.dataclass, dataclasses.dataclass]


@frozen.dataclass(frozen=True)
class Pickled:
    a: int
    b: tuple[int, ...] = ()


def classes(dataclass: Maker) -> tuple[Any, Any, Any]:
    @dataclass(frozen=True)
    class Plain:
        a: int
        b: float = 1.5
        c: list[int] = field(default_factory=list)
        d: str = field(default="secret", repr=False)
        e: int = field(default=7, compare=False)
        f: int = field(default=3, init=False)
        g: list[int] = field(default_factory=list, init=False)

    @dataclass(frozen=True)
    class ByName(Plain):
        h: int = field(kw_only=True)

        def __post_init__(self) -> None:
            if self.h < 0:
                raise ValueError("below 0")

    @dataclass(frozen=True)
    class Own:
        a: float

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

        def __repr__(self) -> str:
            return "own"

    return Plain, ByName, Own


@pytest.mark.parametrize("dataclass", MAKERS)
def test_objects_are_made_shown_and_compared(dataclass: Maker) -> None:
    plain, by_name, own = classes(dataclass)
    one = plain(1)
    assert (one.a, one.b, one.c, one.d, one.e, one.f, one.g) == (1, 1.5, [], "secret", 7, 3, [])
    assert one.c is not plain(1).c
    assert repr(one).endswith("Plain(a=1, b=1.5, c=[], e=7, f=3, g=[])")
    assert one == plain(1, 1.5, [], e=8) and one != plain(2) and one != by_name(1, h=0)
    assert (one == (1,)) is False
    assert repr(by_name(1, h=2)).endswith("ByName(a=1, b=1.5, c=[], e=7, f=3, g=[], h=2)")
    with pytest.raises(ValueError, match="below 0"):
        by_name(1, h=-1)
    assert own(1.0) == own(2.0) and repr(own(1.0)) == "own"
    assert hash(own(1.0)) == hash(own(1.0)) != hash(own(2.0))


@pytest.mark.parametrize("dataclass", MAKERS)
def test_missing_and_extra_keys_are_named(dataclass: Maker) -> None:
    plain, by_name, _ = classes(dataclass)
    with pytest.raises(
        TypeError, match=r"__init__\(\) missing 1 required positional argument: 'a'"
    ):
        plain()
    with pytest.raises(TypeError, match="unexpected keyword argument 'f'"):
        plain(1, f=4)
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'h'"):
        by_name(1)


@pytest.mark.parametrize("dataclass", MAKERS)
def test_fields_cannot_be_set_or_deleted(dataclass: Maker) -> None:
    one = classes(dataclass)[0](1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'a'"):
        one.a = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'a'"):
        del one.a
    assert one.a == 1


@pytest.mark.parametrize("dataclass", MAKERS)
def test_the_standard_library_takes_them_for_dataclasses(dataclass: Maker) -> None:
    plain, by_name, _ = classes(dataclass)
    one = plain(1, c=[2])
    assert dataclasses.replace(one, b=2.5) == plain(1, 2.5, [2])
    assert dataclasses.asdict(one) == {
        "a": 1, "b": 1.5, "c": [2], "d": "secret", "e": 7, "f": 3, "g": []
    }  # fmt: skip
    assert copy.deepcopy(one) == one
    assert plain.__match_args__ == ("a", "b", "c", "d", "e")
    assert list(inspect.signature(by_name).parameters) == ["a", "b", "c", "d", "e", "h"]


def test_equal_objects_have_one_hash_and_are_pickled() -> None:
    one = Pickled(1, (2, 3))
    assert {one: "found"}[Pickled(1, (2, 3))] == "found"
    assert hash(one) != hash(Pickled(1, (2, 4)))
    assert pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(TypeError, match="unhashable"):
        hash(Pickled([]))  # type: ignore[arg-type]
