"""Entries and names that are imported at first use."""

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


def instances(package: str, names: Iterable[str]) -> Mapping[str, Any]:
    """An instance of each class, such as `Stream` of the module `stream`, made at first use."""

    def make(name: str) -> object:
        return getattr(importlib.import_module(f"{package}.{name}"), name.capitalize())()

    return Lazily({name: functools.partial(make, name) for name in names})


def names_of(package: str, modules: Mapping[str, tuple[str, ...]]) -> Callable[[str], object]:
    """
    The `__getattr__` of a package (PEP 562) that imports some names at first use.

    Args:
        modules: The names that each module of the package provides.
    """
    places = {name: module for module, names in modules.items() for name in names}

    def get(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{places[name]}"), name)

    return get
