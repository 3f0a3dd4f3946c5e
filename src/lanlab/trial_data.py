"""
The parts of a run's and a trial's record. Only type checkers read their types, in
`trial_data.pyi`; at run time each is a `dict`.

A record may come from another version of lanlab, so any key may be missing.
"""

from lanlab.messages import __getattr__ as __getattr__

Level = bool | int | float | str


def result_of(raw, role):
    """The result of a role in a trial's record; empty if it has none."""
    return raw.get(role) or {}


def setup_of(raw):
    return raw.get("setup") or {}


def facts_of(raw):
    return raw.get("facts") or {}


def pollution_of(raw):
    """The judgement on disturbances in a trial's record; `None` if it was not judged."""
    return raw.get("pollution")
