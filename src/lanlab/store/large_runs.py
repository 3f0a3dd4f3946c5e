"""
Trials of large runs, in little memory: metrics are packed, and digests of `raw` are read when used.

The digest of a trial is its `raw` without the largest parts. Each member is on its own line, so
that it can be decoded alone. Omitted parts are read from the record when used.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import operator
import re
import struct
from collections import ChainMap
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from lanlab.store.encoding import from_json
from lanlab.trial_data import RoleResult, result_of

if TYPE_CHECKING:
    from _collections_abc import dict_items, dict_keys, dict_values

    _Names = Sequence[str]
    _Paths = tuple[_Names, _Names, _Names]

#: The largest parts of a record. No list or summary uses them.
_LARGE = frozenset(
    (
        "after",
        "capabilities",
        "commands",
        "histogram",
        "host",
        "interfaces",
        "offloads",
        "requests",
        "tcp",
        "udp_counters",
        "world",
    )
)
_LONGEST_LIST = 64
#: Key in each object of a digest that omits parts. Its value has the path to the object, the
#: omitted names, and the names of nested objects with this key.
_OMITTED = "~"
_PLAIN_KEY = re.compile(r"[a-z_]+")
_KEYS = re.compile(r'^"([a-z_]+)":', re.MULTILINE)
#: As one literal and one more letter, it is found ten times as fast as with the digit before it.
_EXPONENT = re.compile(r"e[+0-9]")
_MARK = f'"{_OMITTED}":[['
#: The value of `_OMITTED` if nothing is omitted.
_COMPLETE: _Paths = ((), (), ())
_NOTHING = object()
#: Digests read at a time.
_WINDOW = 256

Read = Callable[[int], Mapping[str, object]]


def digest_of(raw: Mapping[str, object]) -> str | None:
    """The digest of a trial's `raw`; `None` if a key could be mistaken for `_OMITTED`."""
    if not all(map(_PLAIN_KEY.fullmatch, raw)):
        return None
    try:
        parts = [(key, _pruned(value, [key])) for key, value in raw.items()]
    except ValueError:
        return None
    lines = (f'"{key}":{json.dumps(part, separators=(",", ":"))}' for key, part in parts)
    return "{\n" + ",\n".join(lines) + "\n}"


def _pruned(value: object, path: list[str]) -> object:
    """
    Raises:
        ValueError: A key could be mistaken for the mark of omitted parts.
    """
    if not isinstance(value, dict):
        return value
    if _OMITTED in value:
        raise ValueError(_OMITTED)
    kept: dict[str, object] = {}
    omitted = []
    for key, item in value.items():
        if key in _LARGE or (isinstance(item, list | tuple) and len(item) > _LONGEST_LIST):
            omitted.append(key)
        else:
            kept[key] = _pruned(item, [*path, key])
    inner = [key for key, item in kept.items() if isinstance(item, dict) and _OMITTED in item]
    return {**kept, _OMITTED: [path, omitted, inner]} if omitted or inner else kept


class Digests:
    """The digests of a run, read in batches."""

    def __init__(self, texts: Callable[[int, int], Mapping[int, str]], whole: Read) -> None:
        """
        Args:
            texts: Returns digests by trial, given the first trial number and a count.
            whole: Returns the complete `raw` of a trial.
        """
        self._texts, self._whole = texts, whole
        self._window: tuple[int, Mapping[int, str]] = (-1, {})
        self._decoded: tuple[int, dict[str, object]] = (-1, {})
        self._latest: tuple[int, Mapping[str, object]] = (-1, {})

    def whole(self, number: int) -> Mapping[str, object]:
        if self._latest[0] != number:
            self._latest = number, self._whole(number)
        return self._latest[1]

    def text(self, number: int) -> str:
        """The digest of a trial; empty if the trial has none."""
        first = number - number % _WINDOW
        if self._window[0] != first:
            self._window = first, self._texts(first, _WINDOW)
        return self._window[1].get(number, "")

    def keys(self, number: int) -> Iterable[str]:
        text = self.text(number)
        return _KEYS.findall(text) if text else self.whole(number)

    def member(self, number: int, key: str) -> object:
        """A member of the digest, or `_NOTHING`."""
        if self._decoded[0] != number:
            self._decoded = number, {}
        known = self._decoded[1]
        if key not in known:
            known[key] = self._read(number, key)
        return known[key]

    def chosen(self, number: int, key: str, names: tuple[str, ...]) -> RoleResult:
        """Members of an object in the digest. The others are not decoded, if possible."""
        part = self.part(number, key)
        if part and _is_plain(part):
            with contextlib.suppress(ValueError):
                found = _chooser(names)(part)
                _, omitted, inner = cast("_Paths", found.pop(_OMITTED, _COMPLETE))
                if found.keys().isdisjoint(inner) and not {*omitted}.intersection(names):
                    return cast("RoleResult", found)
        member = self.member(number, key)
        return cast("RoleResult", member) if isinstance(member, Mapping) else {}

    def numbers(self, number: int, key: str, name: str) -> list[float | None] | None:
        part = self.part(number, key)
        # Within a string, the quotes would have backslashes before them.
        return [equal_once(one) for one in _named(name).findall(part)] if part else None

    def part(self, number: int, key: str) -> str:
        """The JSON text of a member; empty if the trial has no digest, or the digest no member."""
        text = self.text(number)
        mark = f'\n"{key}":'
        # Short members are last.
        start = text.rfind(mark)
        if start < 0:
            return ""
        return text[start + len(mark) : text.index("\n", start + 1)].removesuffix(",")

    def _read(self, number: int, key: str) -> object:
        part = self.part(number, key)
        if not part:
            return _NOTHING if self.text(number) else self.whole(number).get(key, _NOTHING)
        if _MARK not in part:
            return equal_once(part)
        return self._bound(_decoded(part), number)

    def _bound(self, value: dict[str, object], number: int) -> object:
        if _OMITTED not in value:
            return value
        path, omitted, inner = cast("_Paths", value.pop(_OMITTED))
        for key in inner:
            value[key] = self._bound(cast("dict[str, object]", value[key]), number)
        return Part(value, omitted, lambda: self._at(number, path)) if omitted else value

    def _at(self, number: int, path: Sequence[str]) -> dict[str, object]:
        found = self.whole(number)
        for key in path:
            found = cast("Mapping[str, object]", found[key])
        return cast("dict[str, object]", found)


def _decoded(part: str) -> dict[str, object]:
    with contextlib.suppress(ValueError):
        if _is_plain(part):
            return cast("dict[str, object]", _decoder()(part, allow_inf_nan=False))
    return cast("dict[str, object]", from_json(part))


def _is_plain(part: str) -> bool:
    """Whether no number can have an exponent: the fast decoders allow infinite numbers."""
    return "E" not in part and not _EXPONENT.search(part)


#: Many trials have equal parts. Readers must not change them.
equal_once = functools.lru_cache(maxsize=4096)(from_json)


class StoredRaw(Mapping[str, object]):
    """The `raw` of a trial, from its digest."""

    __slots__ = ("digests", "is_disturbed", "number")

    def __init__(self, digests: Digests, number: int, is_disturbed: bool | None) -> None:
        self.digests, self.number, self.is_disturbed = digests, number, is_disturbed

    def __getitem__(self, key: str) -> object:
        found = self.digests.member(self.number, key)
        if found is _NOTHING:
            raise KeyError(key)
        return found

    def get(self, key: str, default: object = None) -> object:
        found = self.digests.member(self.number, key)
        return default if found is _NOTHING else found

    def __iter__(self) -> Iterator[str]:
        return iter(self.digests.keys(self.number))

    def __len__(self) -> int:
        return len(list(self.digests.keys(self.number)))


def text_of(raw: Mapping[str, object], key: str) -> str:
    """The JSON text of a member of a trial's `raw`; empty if its digest does not have it whole."""
    part = raw.digests.part(raw.number, key) if isinstance(raw, StoredRaw) else ""
    return "" if _MARK in part else part


def chosen(raw: Mapping[str, object], key: str, names: tuple[str, ...]) -> RoleResult:
    """A role's result in a trial's `raw`, with at least these members; empty if there is none."""
    if isinstance(raw, StoredRaw):
        return raw.digests.chosen(raw.number, key, names)
    return result_of(raw, key)


def numbers(raw: Mapping[str, object], key: str, name: str) -> list[float | None] | None:
    """Numbers of this name anywhere in a member; `None` if there is no digest with this member."""
    return raw.digests.numbers(raw.number, key, name) if isinstance(raw, StoredRaw) else None


def replaced(values: Mapping[str, object], new: dict[str, object]) -> Mapping[str, object]:
    """`values` with replacements, without copying."""
    return ChainMap(new, cast("dict[str, object]", values))


class Part(dict[str, object]):
    """An object of a digest. Its omitted members are read when used."""

    __slots__ = ("_omitted", "_whole")

    def __init__(
        self, kept: dict[str, object], omitted: _Names, whole: Callable[[], dict[str, object]]
    ) -> None:
        super().__init__(kept)
        self._omitted, self._whole = omitted, whole

    def __missing__(self, key: str) -> object:
        if key in self._omitted:
            return self._whole()[key]
        raise KeyError(key)

    def get(self, key: str, default: object = None) -> object:
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or key in self._omitted

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole())

    def __len__(self) -> int:
        return super().__len__() + len(self._omitted)

    def __eq__(self, other: object) -> bool:
        return self._whole() == other

    def __or__(self, other: Any) -> Any:
        return {**self._whole(), **other}

    def keys(self) -> dict_keys[str, object]:
        return self._whole().keys()

    def values(self) -> dict_values[str, object]:
        return self._whole().values()

    def items(self) -> dict_items[str, object]:
        return self._whole().items()

    __hash__ = None


class PackedMetrics(Mapping[str, float | int]):
    """The metrics of a trial, eight bytes a number. Trials with equal names share them."""

    __slots__ = ("form", "packed")

    def __init__(self, form: Form, values: bytes) -> None:
        self.form, self.packed = form, values

    def __getitem__(self, name: str) -> float | int:
        place, one = self.form.places[name]
        found: float | int = one.unpack_from(self.packed, place)[0]
        return found

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self.form.places else default

    def __contains__(self, name: object) -> bool:
        return name in self.form.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.form.places)

    def __len__(self) -> int:
        return len(self.form.places)

    def values(self) -> Any:
        return self.form.all.unpack(self.packed)

    def items(self) -> Any:
        return zip(self.form.places, self.values(), strict=True)


def column(metrics: Sequence[Mapping[str, float | int]], name: str) -> list[float | int | None]:
    """One metric of many trials; `None` where it is missing."""
    found: list[float | int | None] = []
    # In parts, because few trials have other metrics than those around them.
    for first in range(0, len(metrics), _WINDOW):
        part = metrics[first : first + _WINDOW]
        try:
            (form,) = set(map(_form_of, part))
        except (AttributeError, ValueError):
            found += [one.get(name) for one in part]
            continue
        if name not in form.places:
            found += [None] * len(part)
            continue
        place, one = form.places[name]
        octets = memoryview(b"".join(map(_values_of, part)))
        numbers = octets.cast("q" if one is _ONE[int] else "d")
        found += numbers[place // 8 :: len(form.places)].tolist()
    return found


def names_of(metrics: Iterable[Mapping[str, float | int]]) -> Iterable[Container[str]]:
    """The different sets of names that metrics of trials have."""
    sets = (one.form.places if isinstance(one, PackedMetrics) else one for one in metrics)
    return {id(one): one for one in sets}.values()


_form_of: Callable[[object], Form] = operator.attrgetter("form")
_values_of: Callable[[object], bytes] = operator.attrgetter("packed")
_ONE = {int: struct.Struct("=q"), float: struct.Struct("=d")}


class Form:
    """Names and types of metrics, and how their numbers are packed."""

    def __init__(self, names: tuple[str, ...], kinds: tuple[type, ...]) -> None:
        self.names, self.kinds = [*names], [*kinds]
        ones = [_ONE[kind] for kind in kinds]
        self.all = struct.Struct("=" + "".join(one.format[1:] for one in ones))
        self.places = {name: (8 * place, ones[place]) for place, name in enumerate(names)}


_form = functools.lru_cache(maxsize=1024)(Form)
#: Most trials have the form of the trial before.
_latest = [Form((), ())]


def packed(text: object) -> Mapping[str, float | int]:
    """The metrics of a JSON text, packed.

    Raises:
        StoreError: The text has no valid metrics.
    """
    try:
        metrics = _decoder()(text)
        values = metrics.values()
        names, kinds = [*metrics], [*map(type, values)]
        form = _latest[0]
        if names != form.names or kinds != form.kinds:
            form = _latest[0] = _form(tuple(names), tuple(kinds))
        # The sum of the numbers is finite only if all of them are.
        if math.isfinite(sum(values)):
            return PackedMetrics(form, form.all.pack(*values))
    except _UNUSUAL:
        pass
    # The text is invalid or has an unusual form.
    found: Mapping[str, float | int] = from_json(text)
    return found


_UNUSUAL = (ValueError, KeyError, AttributeError, OverflowError, TypeError, struct.error)


@functools.cache
def _decoder() -> Callable[..., Any]:
    # It takes a third of the time of `json`.
    from pydantic_core import from_json

    return from_json


@functools.lru_cache(maxsize=64)
def _chooser(names: tuple[str, ...]) -> Callable[[str], dict[str, object]]:
    """A decoder of these members of an object and `_OMITTED`, twice as fast as of all."""
    from pydantic_core import SchemaValidator

    field = {"type": "typed-dict-field", "schema": {"type": "any"}, "required": False}
    fields: Any = dict.fromkeys((*names, _OMITTED), field)
    return SchemaValidator({"type": "typed-dict", "fields": fields}).validate_json


@functools.lru_cache(maxsize=64)
def _named(name: str) -> re.Pattern[str]:
    return re.compile(f'"{name}":([^,}}]*)')
