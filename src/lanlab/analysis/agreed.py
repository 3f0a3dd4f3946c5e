"""The settings that both ends of a file service negotiated: protocol, cipher, key exchange. They
affect the rate, so figures show them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from lanlab.store import TrialRecord


def agreed_of(trial: TrialRecord) -> dict[str, str | None] | None:
    """`protocol`, `protection` and `server` of a trial; `None` without a file service."""
    facts = trial.result("client").get("facts")
    if not isinstance(facts, Mapping):
        return None
    return {
        "protocol": facts.get("protocol"),
        "protection": facts.get("protection"),
        "server": facts.get("server"),
    }


def agreed_words(trial: TrialRecord) -> str:
    """For example `SFTP 3, SSH 2, aes128-gcm, key exchange curve25519-sha256`; empty if unknown."""
    agreed = agreed_of(trial) or {}
    said = (agreed.get("protocol"), agreed.get("protection"))
    return ", ".join(str(each) for each in said if each not in (None, "none"))


def all_agreed_words(trials: Iterable[TrialRecord]) -> str:
    """The settings of all trials; if they differ, each variant with its number of trials."""
    counts = Counter(words for trial in trials if (words := agreed_words(trial)))
    if len(counts) == 1:
        return next(iter(counts))
    return "; ".join(f"{words} ({count} trials)" for words, count in counts.most_common())
