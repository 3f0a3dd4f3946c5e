"""Failed trials: the reason, the results up to then, and what replaced them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar, cast

from lanlab.analysis.trials.attempts import Place, place_of, places_of
from lanlab.frozen import dataclass
from lanlab.roles import ROLES
from lanlab.store import TrialHead, TrialRecord
from lanlab.trial_data import result_of, setup_of
from lanlab.workloads import WORKLOADS

_Trial = TypeVar("_Trial", bound=TrialRecord | TrialHead)
#: Counters of one end's result, by the result's kind, with their names.
_COUNTS = {
    "stream_sent": ("total_messages", "sent"),
    "stream_received": ("total_messages", "received"),
    "echo_requested": ("requests", "requested"),
    "echo_responded": ("answered_messages", "answered"),
    "stationed": ("readings_count", "attempts at operations:"),
}


@dataclass(frozen=True)
class Failure:
    trial: TrialRecord
    code: str
    message: str
    hint: str | None
    end: str | None
    #: `retried`: another trial was run at its position. `polluted_counts`: an earlier, disturbed
    #: trial counts there. `missing`: no trial counts there.
    fate: Literal["retried", "polluted_counts", "missing"]
    retried_as: int | None
    #: What both ends had counted when the trial failed, in words; empty if unknown.
    seen: str

    def to_json(self) -> dict[str, object]:
        """As JSON, without the cause, which is in the trial's `error`."""
        return {"fate": self.fate, "retried_as": self.retried_as, "seen": self.seen}


def failures(trials: Sequence[TrialRecord]) -> list[Failure]:
    """The failed trials of a run, in order.

    Args:
        trials: All trials of the run, in order.
    """
    failed = [trial for trial in trials if trial.status == "failed"]
    by_place = _by_place(trials) if failed else {}
    found = []
    for trial in failed:
        at_place = by_place[place_of(trial)]
        later = [other.number for other in at_place if other.number > trial.number]
        counts = any(other.status == "done" for other in at_place)
        error = trial.error or {}
        found.append(
            Failure(
                trial,
                str(error.get("code", "unknown")),
                str(error.get("message", "unknown")),
                error.get("hint"),
                error.get("end"),
                "retried" if later else "polluted_counts" if counts else "missing",
                later[0] if later else None,
                _seen(trial.workload, trial.raw),
            )
        )
    return found


def kind_of(trial: TrialRecord) -> tuple[str, str]:
    """The server that failed, or else the experiment, and the code of the error."""
    code = str((trial.error or {}).get("code", "unknown"))
    return str(trial.factors.get("server", trial.experiment)), code


def place_and_reason(trial: TrialRecord) -> tuple[str, str]:
    """The place of a failed trial, as in ` at smb://nas/data`, and the reason."""
    message = str((trial.error or {}).get("message", "unknown"))
    server = str(trial.factors.get("server", ""))
    # A user's server is measured from this machine, which needs no name.
    is_users = any("://" in str(trial.parameters.get(key)) for key in ("server", "peer"))
    reason = message.removeprefix("host0: ") if is_users else message
    return f" at {server}" if server else "", reason


def by_kind(failed: Sequence[Failure]) -> list[list[Failure]]:
    """Failures by server and code, ordered by their last trials."""
    found: dict[tuple[str, str], list[Failure]] = {}
    for failure in failed:
        kind = kind_of(failure.trial)
        found[kind] = [*found.pop(kind, []), failure]
    return list(found.values())


def missing_places(trials: Sequence[_Trial]) -> list[_Trial]:
    if all(trial.status == "done" for trial in trials):
        return []
    return [
        at_place[-1]
        for at_place in _by_place(trials).values()
        if all(trial.status == "failed" for trial in at_place)
    ]


def _by_place(trials: Sequence[_Trial]) -> dict[Place, list[_Trial]]:
    found: dict[Place, list[_Trial]] = {}
    for trial, place in zip(trials, places_of(trials), strict=True):
        found.setdefault(place, []).append(trial)
    return found


def _seen(workload: str, raw: Mapping[str, object]) -> str:
    said = []
    for role in ROLES[workload]:
        result = cast("dict[str, object]", result_of(raw, role))
        key, word = _COUNTS.get(str(result.get("kind")), ("", ""))
        if key in result:
            said.append(f"{word} {result[key]}")
    progress = cast("dict[str, float] | None", raw.get("progress"))
    is_all = len(said) == 2 or WORKLOADS[workload].has_one_count
    if not is_all and progress is not None:
        asked = setup_of(raw).get("requests") or ROLES[workload]
        # With a peer only one end reports; otherwise the second end counts arrivals.
        counted = progress["messages"]
        role = [one for one in ROLES[workload] if one in asked][-1]
        said.append(f"after {progress['elapsed_s']:.2f} s the {role} had {counted} messages")
    return ", ".join(said)
