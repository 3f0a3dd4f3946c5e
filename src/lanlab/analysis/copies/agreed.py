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


def variants(texts: Iterable[str]) -> str:
    """The text that all trials share, or each with its share of the trials; unknown ones are empty.

    Examples:
        >>> variants(["SFTP 3", "SFTP 3"]), variants(["SFTP 3", "SFTP 3", "SFTP 6"])
        ('SFTP 3', 'SFTP 3 (2 of 3 trials); SFTP 6 (1 of 3 trials)')
    """
    counts = Counter(texts)
    if len(counts) == 1:
        return next(iter(counts))
    of = f"of {counts.total()} trials"
    return "; ".join(f"{text} ({count} {of})" for text, count in counts.most_common() if text)
