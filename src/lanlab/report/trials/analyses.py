"""
Runs each analysis of a run's trials separately: one that fails affects no other and hides no trial.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from lanlab.frozen import dataclass

_Found = TypeVar("_Found")
#: Failures of the machine or the installation. They end every command, with their own message.
_OF_THE_MACHINE = (ImportError, MemoryError, OSError)
#: Maximum length of a kept message, in characters, because a record may contain any text.
_MOST_CHARACTERS = 200


@dataclass(frozen=True)
class FailedAnalysis:
    name: str
    error: Exception

    @property
    def kind(self) -> str:
        return type(self.error).__name__

    @property
    def message(self) -> str:
        lines = (line.strip() for line in str(self.error).splitlines())
        return next(filter(None, lines), "no details")[:_MOST_CHARACTERS]

    def to_json(self) -> dict[str, str]:
        return {"analysis": self.name, "kind": self.kind, "message": self.message}


class Analyses:
    def __init__(self) -> None:
        self.failed: list[FailedAnalysis] = []

    def of(self, name: str, compute: Callable[[], _Found], instead: _Found) -> _Found:
        try:
            return compute()
        except _OF_THE_MACHINE:
            raise
        except Exception as error:
            self.add(FailedAnalysis(name, error))
            return instead

    def add(self, failed: FailedAnalysis) -> None:
        """Keep a failure, once if the same analysis fails for several parts of an answer."""
        if failed.to_json() not in [one.to_json() for one in self.failed]:
            self.failed.append(failed)

    def each(self, name: str, compute: Callable[[], Sequence[_Found]]) -> list[_Found]:
        found: Sequence[_Found] = ()
        return list(self.of(name, compute, found))

    def lines(self) -> list[str]:
        by_reason: dict[str, list[str]] = {}
        for one in self.failed:
            by_reason.setdefault(f"{one.kind}: {one.message}", []).append(one.name)
        return [
            f"Analysis failed: {', '.join(names)} ({reason}). The trials are not affected."
            for reason, names in by_reason.items()
        ]
