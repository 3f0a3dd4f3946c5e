"""`docs/reference.md` says what the tables of parameters, metrics and services say."""

import re

import reference

from lanlab.workloads import WORKLOADS
from lanlab.workloads.definitions import definitions
from lanlab.workloads.metrics import OPERATIONS, REVERSE_STREAM


def test_the_reference_is_current() -> None:
    assert reference.TARGET.read_text() == reference.page()


def test_a_row_says_what_its_definition_says() -> None:
    rows = reference.page().splitlines()

    assert (
        "| `silence_s` | `--idle-timeout` | 0.1 to 600 s | 3 s | "
        "Give up on a peer that is silent for this time; over TCP, for twice this time plus 1 s. |"
    ) in rows
    assert "| `flows` | `--flows`, `-P` | 1 to 1,000 | 1 | Parallel flows. |" in rows
    assert any(row.startswith("- less is better: ") and "`blocked_ratio`, " in row for row in rows)
    assert "| `sftp` | SFTP | 22 | `ssh://` |  |" in rows


def test_options_of_several_workloads_are_reported_once_and_completely() -> None:
    rows = [row for row in reference.page().splitlines() if row.startswith(("| `", "- "))]

    assert len(rows) == len(set(rows))
    keys = {
        key.replace("OPERATION", operation)
        for row in rows
        for key in re.findall(r"`((?:OPERATION_)?[a-z][a-z\d_]*)`", row)
        for operation in OPERATIONS
    }
    for kind in WORKLOADS.values():
        assert set(definitions(kind.Parameters)) | set(kind.metrics) - set(REVERSE_STREAM) <= keys
