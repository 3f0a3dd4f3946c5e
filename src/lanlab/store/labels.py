"""Labels of runs: a name, note and tags from the user."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from lanlab.errors import UnknownName, UsageError
from lanlab.frozen import dataclass
from lanlab.outside import json_of
from lanlab.store.encoding import Row
from lanlab.store.records import RunRecord
from lanlab.trial_data import LabelRecord

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TAG = re.compile(r"[^\s,]{1,64}")
_MOST_TAGS = 32
_LONGEST_NOTE = 4_000
#: Ids that an error names one by one; a store may hold thousands.
_MOST_IDS = 10


@dataclass(frozen=True)
class RunLabel:
    """
    A run's label.

    Raises:
        UsageError: A name or tag has a character that is not allowed, the note is too long, or
            there are too many tags.
    """

    name: str | None = None
    note: str | None = None
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.name is not None and (not _NAME.fullmatch(self.name) or self.name == "last"):
            raise UsageError(
                f"name: found `{self.name}`; allowed: up to 64 letters, digits and `._-`, but not "
                "`last`"
            )
        if self.note is not None and len(self.note) > _LONGEST_NOTE:
            raise UsageError(f"note: found {len(self.note)} characters; allowed: {_LONGEST_NOTE:,}")
        for tag in self.tags:
            if not _TAG.fullmatch(tag):
                raise UsageError(
                    f"tag: found `{tag}`; allowed: up to 64 characters without spaces or commas"
                )
        if len(self.tags) > _MOST_TAGS:
            raise UsageError(f"tags: found {len(self.tags)}; allowed: {_MOST_TAGS}")

    def to_json(self) -> LabelRecord | None:
        """The stored form; `None` for an empty label."""
        tags = list(dict.fromkeys(self.tags))
        found = {"name": self.name, "note": self.note, "tags": tags}
        kept = {key: value for key, value in found.items() if value}
        return cast("LabelRecord", kept) if kept else None


def label_of(run: RunRecord) -> RunLabel:
    """The label of a run. Invalid parts are omitted."""
    return label_from(run.label)


def label_facts(run: RunRecord) -> list[tuple[str, str]]:
    label = label_of(run)
    rows = (("Name", label.name), ("Tags", ", ".join(label.tags)), ("Note", label.note))
    return [(title, text) for title, text in rows if text]


def label_from(data: LabelRecord | None) -> RunLabel:
    """The stored label; `label_of` omits invalid parts."""
    known = data if isinstance(data, Mapping) else {}
    name, note, tags = (known.get(key) for key in ("name", "note", "tags"))
    try:
        return RunLabel(
            name if isinstance(name, str) else None,
            note if isinstance(note, str) else None,
            tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        )
    except UsageError:
        return RunLabel()


def check_name(name: str, run_id: str, runs: Iterable[RunRecord]) -> None:
    """
    Refuse a name that could also refer to another run.

    Raises:
        UsageError: Another run has the name, or an id begins with it.
    """
    for run in runs:
        if run.id != run_id and label_of(run).name == name:
            raise UsageError(f"run {run.id} has the name `{name}`", hint="choose another one")
        if run.id.startswith(name):
            raise UsageError(
                f"`{name}` is a prefix of the id of run {run.id}", hint="choose another name"
            )


def id_of_name(name: str, rows: Sequence[Row]) -> str | None:
    """
    The id of the run with a name; `None` if no run has it.

    Args:
        rows: Id and label of each run, as stored.
    """
    for run_id, label in rows:
        if label is None:
            continue
        try:
            data = json_of(label) if isinstance(label, str) else label
        except ValueError:
            continue
        if isinstance(data, dict) and data.get("name") == name:
            return str(run_id)
    return None


def id_among(name: str, ids: list[str]) -> str:
    """
    The id that is `name` or begins with it, or for `last` the last one.

    Raises:
        UnknownName: No id matches.
        UsageError: Several ids match.
    """
    found = ids[-1:] if name == "last" else [run_id for run_id in ids if run_id == name]
    if not found and name:
        found = [run_id for run_id in ids if run_id.startswith(name)]
    if len(found) > 1:
        more = f" and {len(found) - _MOST_IDS:,} more" if len(found) > _MOST_IDS else ""
        raise UsageError(
            f"`{name}` is a prefix of {len(found):,} run ids: {', '.join(found[:_MOST_IDS])}{more}",
            hint="write a longer prefix",
        )
    if not found:
        # List only the newest runs, because there may be hundreds.
        close = difflib.get_close_matches(name, ids, n=1, cutoff=0.4)
        raise UnknownName("run", name, close or ids[-5:])
    return found[0]
