"""Entries that are imported at first use."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

_T = TypeVar("_T")


class Lazily(Mapping[str, _T]):
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


def instances(package: str, names: Iterable[str], module: str = "") -> Mapping[str, Any]:
    """An instance of each class, such as `Stream` of `stream` + `module`, made at first use."""

    def make(name: str) -> object:
        return getattr(importlib.import_module(f"{package}.{name}{module}"), name.capitalize())()

    return Lazily({name: functools.partial(make, name) for name in names})
