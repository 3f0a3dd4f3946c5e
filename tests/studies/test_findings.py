"""Findings as data: every form, and how a mistake is told."""

import copy
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from lanlab.errors import BadStudy
from lanlab.studies.findings import FORMS, Finding, Findings
from lanlab.studies.load import known_studies, load_study, parse_findings, parse_study
from lanlab.studies.statement_words import in_words
from lanlab.studies.vocabulary import Vocabulary, of_published, of_study

WORDS = Vocabulary(
    metrics=("speed_bps", "delay_ns"),
    factors={"os": ("xp", "vista", "linux"), "size_bytes": (2, 500), "rate_bps": (), "on": (True,)},
)
NUMBERS = {"a": 2.0, "b": 1.0}

#: One statement of each form.
EXAMPLES: dict[str, dict[str, Any]] = {
    "less": {"a": {"os": "xp"}, "b": {"os": ["vista", "linux"]}, "by_ratio": 2},
    "order": {"along": "os", "levels": ["xp", "linux"]},
    "ratio": {"a": {"os": "xp", "take": "least"}, "b": {"os": "vista"}, "min": 1.5},
    "difference": {"a": {"os": "xp"}, "b": {"os": "vista"}, "min": -1, "max": 2e6},
    "equivalent": {"a": {"os": "xp"}, "b": {"os": "vista"}, "margin_ratio": 0.05},
    "value": {"at": {"os": "xp"}, "max": 5},
    "share": {"min": 0.9},
    "monotone": {"along": "size_bytes", "direction": "rising", "for_each": ["os"]},
    "trend": {"along": "rate_bps", "direction": "falling"},
    "no_trend": {"along": "size_bytes", "margin_ratio": 0.1},
    "peak_then_decline": {"along": "size_bytes", "peak_at_most": 2, "decline_ratio": 0.1},
    "extreme": {"along": "os", "at_level": "xp", "kind": "least", "only": True},
    "sign": {"a": {"os": "xp"}, "b": {"os": "vista"}, "along": "size_bytes", "positive": [2]},
    "same_order": {"along": "os", "across": "size_bytes"},
    "clusters": {"along": "os", "groups": [["xp"], ["vista", "linux"]]},
    "widens": {
        "a": {"os": "xp"}, "b": {"os": "vista"}, "along": "size_bytes",
        "direction": "rising", "by": "ratio",
    },
    "count": {"of": {"form": "value", "min": 1}, "over": ["os"], "min": 2},
    "all": {"of": [{"form": "value", "min": 1}, {"form": "value", "metric": "delay_ns", "max": 2}]},
    "any": {"of": [{"form": "value", "min": 1}, {"form": "value", "max": 2}]},
    "untestable": {"why": "nobody did it"},
}  # fmt: skip


def file_of(statement: dict[str, Any]) -> dict[str, Any]:
    return {"schema": 1, "finding": [{"id": "f1", "claim": "So it is.", "statement": statement}]}


def of_form(form: str, **changes: Any) -> dict[str, Any]:
    return copy.deepcopy({"form": form, "metric": "speed_bps", **EXAMPLES[form], **changes})


def mistaken(statement: dict[str, Any]) -> BadStudy:
    with pytest.raises(BadStudy) as caught:
        parse_findings(file_of(statement), "findings.toml", WORDS, NUMBERS)
    return caught.value


def test_every_form_has_an_example() -> None:
    assert list(EXAMPLES) == list(FORMS)


@pytest.mark.parametrize("form", EXAMPLES)
def test_a_form_is_read_written_and_reported(form: str, snapshot: SnapshotAssertion) -> None:
    units = {"speed_bps": "bit/s", "delay_ns": "ns"}

    found = parse_findings(file_of(of_form(form)), "findings.toml", WORDS, NUMBERS)

    [finding] = found.finding
    assert in_words(finding.statement, units) == snapshot
    written = json.loads(json.dumps(found.model_dump(mode="json")))
    assert Findings.model_validate(written) == found


@pytest.mark.parametrize("form", ["knee", "threshold", "effect"])
def test_a_form_of_earlier_versions_is_read_from_records_alone(form: str) -> None:
    former = {"form": form, "metric": "speed_bps", "along": "size_bytes", "between": [2, 500]}
    finding = Finding.model_validate(file_of(former)["finding"][0])

    assert in_words(finding.statement, {}) == (f"speed_bps: form `{form}` of an earlier version")
    refused = mistaken(former)
    assert f"found '{form}'; allowed: less, order" in str(refused)


@pytest.mark.parametrize("form", EXAMPLES)
def test_levels_with_units_are_told_in_lanlabs_units(form: str) -> None:
    text = json.dumps(of_form(form)).replace('"os"', '"message_size_bytes"')
    for system, size in (("xp", "1KiB"), ("vista", "2KiB"), ("linux", "4KiB")):
        text = text.replace(f'"{system}"', f'"{size}"')
    finding = Finding.model_validate({"id": "f", "claim": "", "statement": json.loads(text)})

    said = in_words(finding.statement, {})
    assert "KiB" not in said
    assert "1KiB" not in text or "1024" in said


@pytest.mark.parametrize(
    "statement",
    [
        {"form": "lesss"},
        {"a": {}},
        of_form("less", by_ratio=0.5),
        of_form("less", by_ration=2),
        {"form": "less", "metric": "speed_bps", "a": {"os": "xp"}},
        of_form("less", a={"os": {}}),
        of_form("less", a={"os": []}),
        of_form("less", a={"os": "xp", "take": "most"}),
        of_form("less", metric="speed"),
        of_form("less", b={"metric": "delay"}),
        of_form("less", a={"osx": "xp"}),
        of_form("less", a={"os": ["xp", "mac"]}),
        of_form("less", a={"size_bytes": True}),
        of_form("less", a={"on": 1}),
        of_form("less", a={"rate_bps": "fast"}),
        of_form("less", for_each=["oss"]),
        of_form("less", at={"os": "mac"}),
        {key: value for key, value in of_form("less").items() if key != "metric"},
        of_form("order", levels=["xp"]),
        of_form("order", levels=["xp", "mac"]),
        of_form("order", levels=["xp", "xp"]),
        of_form("order", along="so"),
        of_form("ratio", min=None),
        of_form("ratio", max=1),
        of_form("equivalent", margin=1),
        of_form("equivalent", margin_ratio=1),
        of_form("extreme", a={"os": "xp"}),
        of_form("extreme", at_level="mac"),
        of_form("sign", positive=[]),
        of_form("sign", negative=[3]),
        of_form("same_order", across="x"),
        of_form("clusters", groups=[["xp"], ["xp"]]),
        of_form("widens", direction="up"),
        of_form("count", of={"form": "value", "min": "1"}),
        of_form("all", of=[{"form": "value", "min": 1, "at": {"os": "mac"}}]),
        of_form("all", of=[]),
        of_form("all", of=[of_form("all", of=[of_form("all", of=[of_form("all")])])]),
        of_form("less", a={"size": 2}),
        of_form("less", a={"os": "vist"}),
    ],
)
def test_an_error_in_a_finding_names_place_allowed_values_and_hint(
    statement: dict[str, Any], snapshot: SnapshotAssertion
) -> None:
    error = mistaken(statement)
    assert f"{error}\nhint: {error.hint}" == snapshot


def test_too_deeply_nested_statements_are_refused() -> None:
    statement: dict[str, Any] = {"form": "value", "min": 1}
    for _ in range(2000):
        statement = {"form": "all", "of": [statement]}

    assert "tables within tables without end" in str(mistaken(statement))


@pytest.mark.parametrize(
    ("recompute", "message"),
    [
        ("value('a') > value('b')", None),
        ("value('a') < value('b')", "found what comes to False; allowed: what is true of the"),
        ("value('a') - value('b')", "found what comes to 1.0; allowed: what is true"),
        ("value('c') > 1", "found no published number `c`"),
        ("import os", "found what is no expression"),
    ],
)
def test_evidence_that_does_not_recompute_is_refused(recompute: str, message: str | None) -> None:
    data = file_of(of_form("value"))
    data["finding"][0]["expected"] = {"verdict": "holds", "because": "", "recompute": recompute}

    if message is None:
        parse_findings(data, "findings.toml", WORDS, NUMBERS)
        return
    with pytest.raises(BadStudy, match=r"`finding\.f1\.expected\.recompute`") as caught:
        parse_findings(data, "findings.toml", WORDS, NUMBERS)
    assert message in str(caught.value)


def test_an_id_given_twice_is_refused() -> None:
    data = file_of(of_form("value"))
    data["finding"] *= 2

    with pytest.raises(BadStudy, match=r"`finding\.f1\.id`: found 2 findings of this id"):
        parse_findings(data, "findings.toml", WORDS, NUMBERS)


OWN = """
schema = 1
id = "mine"
title = "Mine"
[[experiment]]
id = "sweep"
title = "Sweep"
workload = "stream"
metrics = ["goodput_bps"]
parameters = { transport = "udp" }
factors = { message_size_bytes = [100, "1kB"], ip_version = [4, 6] }
[[finding]]
id = "ipv6-is-slower"
claim = "IPv6 is slower."
[finding.statement]
form = "less"
metric = "goodput_bps"
a = { ip_version = 6 }
b = { ip_version = 4 }
[scale.quick]
parameters = { time_s = 0.1, warmup_s = 0 }
[scale.more]
parameters = { time_s = 0.1, warmup_s = 0 }
experiment.sweep.factors = { message_size_bytes = [100, 1400] }
"""


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ({"message_size_bytes": 1000}, None),
        ({"message_size_bytes": "0.1kB"}, None),
        ({"message_size_bytes": 1400}, None),
        ({"transport": "udp"}, None),
        ({"message_size_bytes": 200}, "found 200, no level of `message_size_bytes`"),
        ({"transport": "tcp"}, "found 'tcp', no level of `transport` (form `less`); allowed: udp"),
        ({"message_size": 100}, "found unknown factor 'message_size'"),
        ({"metric": "goodput"}, "found unknown metric 'goodput'"),
    ],
)
def test_user_findings_use_the_factors_of_their_study(
    at: dict[str, Any], message: str | None, tmp_path: Path
) -> None:
    data = tomllib.loads(OWN)
    data["finding"][0]["statement"]["at"] = at

    if message is None:
        assert parse_study(data, "study.toml").finding[0].id == "ipv6-is-slower"
        return
    with pytest.raises(BadStudy) as caught:
        parse_study(data, "study.toml")
    assert "`finding.ipv6-is-slower.statement.at." in str(caught.value)
    assert message in str(caught.value)


def test_findings_are_read_from_the_study_and_a_file_next_to_it(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(OWN)
    (tmp_path / "findings.toml").write_text(
        'schema = 1\n[[finding]]\nid = "rates"\nclaim = "Fast."\n'
        'statement = { form = "value", metric = "goodput_bps", min = 1 }\n'
    )

    assert [one.id for one in load_study(str(tmp_path)).findings] == ["rates", "ipv6-is-slower"]
    # A file of another name stands by itself.
    (tmp_path / "study.toml").rename(tmp_path / "mine.toml")
    found = load_study(str(tmp_path / "mine.toml")).findings
    assert [one.id for one in found] == ["ipv6-is-slower"]


FINDINGS = [
    pytest.param(finding, id=f"{name}:{finding.id}")
    for name in known_studies()
    for finding in load_study(name).findings
]


@pytest.mark.parametrize("finding", FINDINGS)
def test_published_findings_have_an_expected_verdict(finding: Finding) -> None:
    expected = finding.expected

    assert expected is not None
    if finding.decided_by == "published":
        # Of what only repeats the claim nothing is left to decide it.
        assert (expected.verdict != "not tested") or finding.stated_by
        assert expected.recompute
    else:
        assert expected.verdict == "not tested"
    if expected.verdict in ("holds", "does not hold"):
        assert expected.means is None
    if finding.statement.form == "untestable":
        assert finding.decided_by == "text"


def test_the_source_of_a_finding_is_kept() -> None:
    """80 conclusions of the texts, 4 read from tables, 5 of ours, and no more."""
    findings = {
        f"{name}:{one.id}": one.origin
        for name in known_studies()
        for one in load_study(name).findings
    }
    assert {key for key, origin in findings.items() if origin == "tables"} == {
        f"brutman-mtcp:f{number}" for number in (2, 3, 4, 5)
    }
    assert {key for key, origin in findings.items() if origin == "ours"} == {
        "brutman-mtcp:f1",
        "manford-kolahi:f16",
        "poo-tan:f29",
        "poo-tan:f31",
        "schomer-claason:f13",
    }
    assert len(findings) == 92


def test_a_claim_refers_to_existing_numbers() -> None:
    study = load_study("poo-tan")
    [finding] = [one for one in study.findings if one.id == "f13"]
    data = {
        "schema": 1,
        "finding": [
            {
                **finding.model_dump(mode="json", exclude_none=True, by_alias=True),
                "stated_by": ["x.novell.r75"],
            }
        ],
    }
    words = of_published(study.published) | of_study(study.study)
    with pytest.raises(BadStudy, match=r"f13\.stated_by") as refused:
        parse_findings(data, "findings.toml", words, study.published.numbers())
    assert refused.value.hint == "did you mean `x.novell.r750`?"


def test_margins_chosen_by_us_are_marked() -> None:
    for name in known_studies():
        for finding in load_study(name).findings:
            text = json.dumps(finding.statement.model_dump(mode="json"))
            if '"equivalent"' in text or '"no_trend"' in text:
                assert re.search(r"\bours?\b", finding.note or ""), finding.id


def test_the_docs_explain_every_form() -> None:
    root = Path(__file__).parents[2]
    text = (root / "docs" / "studies.md").read_text(encoding="utf-8")

    rows = re.findall(r"^\| (`[a-z_`, ]+) \| [^|]+ \| `[^|]+` \|$", text, re.MULTILINE)
    explained = [name.strip("`") for row in rows for name in row.split(", ")]
    assert explained == list(FORMS)
    [block] = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    [shown] = tomllib.loads(block)["finding"]
    [first] = load_study(str(root / "examples" / "my-network")).study.finding
    assert Finding.model_validate(shown) == first
