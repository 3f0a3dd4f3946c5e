"""A table that makes an entry when it is asked for: what nobody names is not imported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

_T = TypeVar("_T")


class Lazily(Mapping[str, _T]):
    """By name, what makes each entry; it is called once."""

    def __init__(self, makers: Mapping[str, Callable[[], _T]]) -> None:
        self._makers = makers
        self._made: dict[str, _T] = {}

    def __getitem__(self, name: str) -> _T:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)
