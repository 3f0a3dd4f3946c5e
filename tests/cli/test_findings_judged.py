"""`lanlab findings` and `lanlab run --check`: conclusions judged by print and by real runs."""

import re
import shutil
from pathlib import Path

import pytest
from command_line import Lanlab

from lanlab.studies.load import known_studies

#: Five trials of a rate and of a hundred times that, so that even a busy machine tells them apart.
STUDY = """
schema = 1
id = "rates"
title = "Rates"

[[experiment]]
id = "rates"
title = "Goodput at a rate"
workload = "stream"
metrics = ["goodput_bps"]
parameters = { message_size_bytes = 50 }
factors = { rate_bps = ["100k", "10M"] }

[scale.quick]
trials = { min = 5, max = 5, repeat_polluted = 0 }
parameters = { time_s = 0.15, warmup_s = 0 }

[scale.full]
trials = { min = 3, max = 3 }
parameters = { time_s = 0.15, warmup_s = 0 }
[scale.full.experiment.rates]
factors = { rate_bps = ["100k", "10M", "20M"] }
"""
HOLDS = """
[[finding]]
id = "more"
claim = "A hundred times the rate brings more than five times the goodput."
[finding.statement]
form = "ratio"
metric = "goodput_bps"
a = { rate_bps = "10M" }
b = { rate_bps = "100k" }
min = 5
"""
FAILS = """
[[finding]]
id = "less"
claim = "A hundred times the rate brings less."
[finding.statement]
form = "less"
metric = "goodput_bps"
a = { rate_bps = "10M" }
b = { rate_bps = "100k" }
"""
ELSEWHERE = """
[[finding]]
id = "still-more"
claim = "Twice that rate brings more still."
[finding.statement]
form = "less"
metric = "goodput_bps"
a = { rate_bps = "10M" }
b = { rate_bps = "20M" }
"""


def write(folder: Path, *findings: str) -> None:
    (folder / "rates.toml").write_text(STUDY + "".join(findings))


def test_a_run_is_checked_by_its_study_s_findings(lanlab: Lanlab, folder: Path) -> None:
    write(folder, HOLDS, FAILS, ELSEWHERE)
    said = lanlab("run", "rates.toml", "--testbed", "loopback", "--check", "--json")

    assert said.code == 1
    answer = said.json()
    assert answer["status"] == "done"
    verdicts = {one["id"]: one["verdict"] for one in answer["check"]["findings"]}
    assert verdicts == {"more": "holds", "less": "does not hold", "still-more": "not tested"}
    assert answer["check"]["failed"] == ["less"]
    assert answer["check"]["outcome"] == "failed"
    [more] = answer["check"]["findings"][0]["comparisons"]
    # On a quiet machine every trial keeps its rate to the last octet.
    assert more["test"] in ("Student's t by block", "none: no trial differed")
    assert 5 < more["low"] <= more["value"] <= more["high"]
    assert "sending rate 20 Mbit/s" in answer["check"]["findings"][2]["reasons"][0]

    again = lanlab("findings", "rates.toml", "--run", "last", "--json").json()
    assert again["run"] == answer["run"]
    assert again["findings"] == answer["check"]["findings"]
    text = lanlab("findings", "rates.toml", "--run", "last").out
    assert "less  does not hold" in text
    assert "1 holds, 1 does not hold, 0 undecided, 1 not tested" in text


def test_untested_findings_fail_a_check_only_with_undecided_fail(
    lanlab: Lanlab, folder: Path
) -> None:
    write(folder, HOLDS, ELSEWHERE)
    mild = lanlab("run", "rates.toml", "--testbed", "loopback", "--check")
    strict = lanlab("run", "rates.toml", "--testbed", "loopback", "--check", "--undecided", "fail")

    assert (mild.code, strict.code) == (0, 1)
    counts = "(1 holds, 0 do not hold, 0 undecided, 1 not tested)"
    assert mild.out.rstrip().endswith(f"check passed {counts}")
    assert "1 not tested by run" in mild.out and ": still-more. " in " ".join(mild.out.split())
    assert "still-more  not tested" in strict.out
    assert strict.out.rstrip().endswith(f"check failed: still-more {counts}")
    runs = [f"--run={run['run']}" for run in lanlab("runs", "--json").json()["runs"]]
    both = lanlab("findings", "rates.toml", *runs).out
    assert "more" in both and "Twice that rate" not in both
    assert "1 not tested by these runs: still-more. " in " ".join(both.split())
    whole = lanlab("findings", "rates.toml", *runs, "-v").out
    assert "still-more" in whole and "not tested by" not in whole


def test_a_check_that_decides_nothing_does_not_pass(lanlab: Lanlab, folder: Path) -> None:
    write(folder, HOLDS)
    study = folder / "rates.toml"
    study.write_text(study.read_text().replace("min = 5, max = 5", "min = 1, max = 1"))
    said = lanlab("run", "rates.toml", "--testbed", "loopback", "--check")
    passed = lanlab(
        "run", "rates.toml", "--testbed", "loopback", "--check", "--undecided", "pass", "--json"
    )

    assert said.code == 3
    counts = "(0 hold, 0 do not hold, 1 undecided, 0 not tested)"
    assert said.out.rstrip().endswith(f"check undecided: more {counts}")
    assert passed.code == 0
    assert passed.json()["check"]["outcome"] == "passed"


def test_findings_beside_a_study_are_in_the_record_of_its_runs(
    lanlab: Lanlab, folder: Path
) -> None:
    own = folder / "own"
    own.mkdir()
    (own / "study.toml").write_text(STUDY)
    (own / "findings.toml").write_text("schema = 1\n" + HOLDS)
    assert lanlab("run", "own", "--testbed", "loopback", "--check").code == 0
    shutil.rmtree(own)
    html = Path(lanlab("report", "last", "--json").json()["html"]).read_text(encoding="utf-8")

    assert "A hundred times the rate brings more than five times the goodput." in html


def test_published_findings_are_judged_by_their_own_numbers(lanlab: Lanlab) -> None:
    said = lanlab("findings", "schomer-claason")

    assert said.code == 0
    assert max(map(len, said.out.splitlines())) <= 200
    lines = unwrapped(said.out).splitlines()
    at = lines.index("f4  undecided, though the means agree")
    assert lines[at + 1].strip().startswith("Under Windows 2000 the large file is fastest")
    # Nobody can run trials of 2001: what is told is how many it would have taken.
    assert "with the published spread, " in lines[at + 4]
    assert "trials of a condition would have decided it" in lines[at + 4]
    assert "shown in 2 of 4 cases, refuted in 1; claimed in at least 3" in said.out
    assert "[our inference] Many small files" in said.out
    assert "corrected for 24 tests" in said.out
    assert "6 hold, 0 do not hold, 8 undecided, 0 not tested" in " ".join(said.out.split())


def test_json_texts_have_names_in_place_of_keys(lanlab: Lanlab) -> None:
    judged = lanlab("findings", "schomer-claason", "--json").json()["findings"]
    judged += [
        one["judged"] for one in lanlab("show", "schomer-claason", "--json").json()["findings"]
    ]
    texts = [each["what"] for one in judged for each in one["comparisons"]]

    assert any("Windows 98 SE" in text for text in texts)
    assert not any("w98se" in text for text in texts)


def test_untested_findings_take_one_line(lanlab: Lanlab) -> None:
    said, whole = lanlab("findings", "poo-tan").out, lanlab("findings", "poo-tan", "-v").out

    ids = re.findall(r"^(\w+)  not tested", whole, re.M)
    assert len(ids) > 10 and "not tested by" not in whole
    folded = " ".join(said.split())
    assert f"{len(ids)} not tested by the published values: {', '.join(ids)}." in folded
    assert not re.search(r"^\w+  not tested", said, re.M)
    tested = re.findall(r"^\w+  (?!not tested).*$", whole, re.M)
    assert tested and re.findall(r"^\w+  (?=holds|does|undecided).*$", said, re.M) == tested


def test_a_run_is_not_judged_by_another_study(lanlab: Lanlab, folder: Path) -> None:
    write(folder, HOLDS)
    lanlab("run", "small.toml", "--testbed", "loopback")
    said = lanlab("findings", "rates.toml", "--run", "last")

    assert (said.code, said.out) == (2, "")
    assert "belongs to study `small`, not to `rates`" in said.err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["findings", "small.toml"], "study `small` has no findings"),
        (["findings", "rates.toml"], "has no published values to check its findings against"),
        (["findings", "schomer"], "did you mean `schomer-claason`?"),
        (["run", "small.toml", "--testbed", "loopback", "--check"], "`small` has no findings"),
        (
            ["run", "rates.toml", "--testbed", "loopback", "--undecided", "pass"],
            "--undecided needs --check",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_unjudgeable_findings_are_refused_before_the_run(
    arguments: list[str], reason: str, lanlab: Lanlab, folder: Path
) -> None:
    write(folder, HOLDS)
    said = lanlab(*arguments)

    assert (said.code, said.out) == (2, "")
    assert reason in said.err
    assert not (folder / "lanlab-results").exists()


def test_a_mistake_in_a_finding_names_form_key_and_the_allowed_values(
    lanlab: Lanlab, folder: Path
) -> None:
    write(folder, HOLDS.replace("min = 5", "least = 5"))
    said = lanlab("run", "rates.toml", "--testbed", "loopback", "--check")

    assert said.code == 2
    assert "`finding.more.statement.least`" in said.err
    assert "(form `ratio`)" in said.err
    assert "min, max" in said.err


def unwrapped(said: str) -> str:
    return re.sub(r"\n {6}(?=\S)", " ", said)


#: Words that were unreadable, or spoke of old experiments as if they could go on.
_UNREADABLE = re.compile(
    r"(… any|any …)|whatever \d|more trials would decide|\b\w+_(ns|bps|bytes|ratio)\b|\bp -?inf|nan"
)


@pytest.mark.parametrize("name", known_studies())
def test_verdicts_on_publications_are_readable_sentences(name: str, lanlab: Lanlab) -> None:
    said = unwrapped(lanlab("findings", name, "--verbose").out)

    lines = [line for line in said.splitlines() if line.startswith("    - ")]
    assert not [line for line in lines if _UNREADABLE.search(line)]
    for line in lines:
        if "means only" in line and " … " in line:
            assert "rounding allows" in line, line
        if re.search(r"\bp (below )?[0-9]", line):
            assert re.search(r"corrected for \d+ tests", line), line
        if "lost trials" in line:
            assert "for every possible value of" in line, line
    if name == "manford-kolahi":
        assert "change from packet size 384 B to 1,152 B" in said
        assert "128 B to 1,408 B" not in said
