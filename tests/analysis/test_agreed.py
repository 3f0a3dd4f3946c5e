"""Protocol, cipher and key exchange are told wherever a figure of a file service is."""

import csv
import io
from dataclasses import replace
from typing import Any

from copy_runs import copy_run, copy_study

from lanlab.analysis.comparison.facts import differing_facts
from lanlab.analysis.copies.agreed import agreed_words, variants
from lanlab.analysis.trials.run_data import RunData
from lanlab.cli.results.printing import run_as_json, single_as_json
from lanlab.report.copies.copy_text import moved_words
from lanlab.report.trials.trial_table import trial_table
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies.model import Study

_GCM = "SSH 2, aes128-gcm, key exchange curve25519-sha256"
_CHACHA = "SSH 2, chacha20-poly1305, key exchange curve25519-sha256"
_STUDY = copy_study(["sftp"], ["1x62MB"])


def over(protection: str) -> tuple[RunRecord, list[TrialRecord]]:
    facts = {"protocol": "SFTP 3", "protection": protection, "server": "lanlab", "no_delay": True}
    run, trials = copy_run(_STUDY, {"sftp": (1e-8, 1e-3, 0.0)}, 0.01)
    return run, [replace(trial, raw={"client": {"facts": facts}}) for trial in trials]


def told_in_json(told: dict[str, Any]) -> list[Any]:
    return [trial["agreed"] for trial in told["trials"]]


def test_text_table_and_json_name_the_cipher() -> None:
    run, trials = over(_GCM)
    agreed = {"protocol": "SFTP 3", "protection": _GCM, "server": "lanlab"}

    assert agreed_words(trials[0]) == f"SFTP 3, {_GCM}"
    assert moved_words(trials[0]).startswith(f"SFTP 3, {_GCM}")
    assert told_in_json(single_as_json(run, trials)) == [agreed] * len(trials)
    assert told_in_json(run_as_json(run, trials)) == [agreed] * len(trials)
    study: Study = _STUDY
    rows = list(csv.DictReader(io.StringIO(trial_table(RunData(run, trials, study)).to_csv())))
    assert {row["agreed with the server"] for row in rows} == {f"SFTP 3, {_GCM}"}


def test_runs_with_different_ciphers_are_reported_as_different() -> None:
    (found,) = differing_facts([over(_GCM), over(_CHACHA)])
    assert found.name == "protocol of Copies"
    assert found.values == (f"SFTP 3, {_GCM}", f"SFTP 3, {_CHACHA}")
    assert differing_facts([over(_GCM), over(_GCM)]) == ()


def test_agreed_values_that_vary_are_counted() -> None:
    one, other = over(_GCM)[1][:2], over(_CHACHA)[1][:1]
    assert variants(map(agreed_words, one)) == f"SFTP 3, {_GCM}"
    mixed = variants(map(agreed_words, [*one, *other]))
    assert mixed == f"SFTP 3, {_GCM} (2 of 3 trials); SFTP 3, {_CHACHA} (1 of 3 trials)"
    assert variants(["", "SFTP 3"]) == "SFTP 3 (1 of 2 trials)"


def test_only_file_services_have_agreed_values() -> None:
    run, trials = copy_run(_STUDY, {"sftp": (1e-8, 1e-3, 0.0)})
    assert agreed_words(trials[0]) == "" and variants(map(agreed_words, trials)) == ""
    assert all("agreed" not in trial for trial in single_as_json(run, trials)["trials"])
    assert "agreed with the server" not in trial_table(RunData(run, trials, _STUDY)).to_csv()
