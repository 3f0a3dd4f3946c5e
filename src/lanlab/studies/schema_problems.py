"""Converts pydantic's errors on a study's files into problems; imported only for errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from lanlab.studies import findings, model
from lanlab.studies.problems import Problem, allowed_by, did_you_mean, listed, show

#: A key that only records have: `load_study` refuses it.
_NOT_IN_FILES = (model.Study, "commands")
#: The types in `model.Level`, for each of which pydantic reports an error.
_LEVEL_PARTS = {"bool", "int", "float", "str"}


#: Common wrong names for a form of a statement, with the right one.
_FORMS_MEANT = {
    **dict.fromkeys(
        ("equal", "equals", "same", "similar", "within", "close", "eq", "=", "=="),
        "`equivalent` with `margin_ratio`",
    ),
    **dict.fromkeys(
        ("greater", "more", "larger", "higher", "above", "faster", "gt", ">", "bigger"),
        "`less` with `a` and `b` the other way round",
    ),
    **dict.fromkeys(
        ("smaller", "lower", "fewer", "below", "slower", "lt", "<", "lesser"), "`less`"
    ),
    **dict.fromkeys(
        ("between", "range", "in_range", "at_least", "at_most", "bounds", "limit"),
        "`value` with `min`, `max` or both",
    ),
    **dict.fromkeys(
        ("rising", "increasing", "increases", "grows", "falling", "decreasing", "decreases"),
        "`monotone` or `trend` with `direction`",
    ),
    **dict.fromkeys(("constant", "flat", "stable", "steady"), "`no_trend` with `margin_ratio`"),
    **dict.fromkeys(("and", "every", "both"), "`all`"),
    **dict.fromkeys(("or", "either", "some"), "`any`"),
}


def _form_meant(tag: str) -> str | None:
    meant = _FORMS_MEANT.get(tag.strip().lower())
    return f"did you mean {meant}?" if meant else did_you_mean(tag, findings.FORMS)


def schema_problems(
    error: ValidationError, data: Any, root: type[BaseModel] = model.Study
) -> list[Problem]:
    """The errors that the pydantic model `root` finds in `data`, one for each key."""
    problems: dict[str, Problem] = {}
    for detail in error.errors(include_url=False, include_context=True):
        location, form = _without_forms(detail["loc"], data)
        if location and location[-1] in _LEVEL_PARTS and detail["type"].endswith("_type"):
            location, allowed = location[:-1], "true, false, a number or a text"
        else:
            allowed = allowed_by(detail)
        found, hint = show(detail["input"]), None
        if detail["type"] == "missing":
            found = "nothing"
        elif detail["type"] == "extra_forbidden":
            known = _known_keys(location[:-1], form, root)
            found, allowed = "an unknown key", listed(known)
            hint = did_you_mean(location[-1], known)
        elif detail["type"] in ("union_tag_invalid", "union_tag_not_found"):
            tag = detail["ctx"].get("tag") if "ctx" in detail else None
            location, found = (*location, "form"), "nothing" if tag is None else show(tag)
            allowed, hint = listed(findings.FORMS), tag and _form_meant(str(tag))
        elif detail["type"] == "literal_error" and isinstance(detail["input"], str):
            # pydantic writes the allowed values as 'rising' or 'falling'.
            hint = did_you_mean(detail["input"], re.findall(r"'([^']*)'", allowed))
        elif detail["type"] == "float_type" and isinstance(detail["input"], str):
            hint = "write a number, in the metric's SI unit (bit/s, ns, bytes) or as a ratio"
        if form is not None:
            found = f"{found} (form `{form}`)"
        key = _dotted(location, data)
        problems.setdefault(key, Problem(key, found, allowed, hint))
    return list(problems.values())


def _without_forms(
    location: tuple[str | int, ...], data: Any
) -> tuple[tuple[str | int, ...], str | None]:
    kept: list[str | int] = []
    form = None
    for step in location:
        if isinstance(data, dict) and step in findings.FORMS and data.get("form") == step:
            form = str(step)
            continue
        kept.append(step)
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            data = None
    return tuple(kept), form


def _known_keys(
    location: tuple[str | int, ...], form: str | None, root: type[BaseModel]
) -> list[str]:
    table, steps = root, iter(location)
    for step in steps:
        kind: Any = next((f.annotation for name, f in _named(table) if name == step), None)
        if (table, step) == (model.Study, "finding"):
            # A study's model does not name them, because they are built only for findings.
            kind = tuple[findings.Finding, ...]
        models = list(_models_in(kind))
        if not models:
            break
        # Only statements have several forms.
        table = models[0] if len(models) == 1 else findings.FORMS.get(form or "", root)
        if get_origin(kind) in (dict, tuple):
            next(steps, None)
    return [name for name, _ in _named(table) if (table, name) != _NOT_IN_FILES]


def _named(table: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    return ((field.alias or name, field) for name, field in table.model_fields.items())


def _models_in(kind: Any) -> Iterator[type[BaseModel]]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for part in get_args(kind):
        yield from _models_in(part)


def _dotted(location: tuple[str | int, ...], data: Any) -> str:
    """A location in dotted notation: `experiment.udp-500.factors.rate_bps.3`."""
    parts = []
    for step in location:
        if step == "[key]":
            continue
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            data = None
        named = data.get("id") if isinstance(step, int) and isinstance(data, dict) else None
        parts.append(named if isinstance(named, str) else str(step))
    return ".".join(parts) or "the file"
