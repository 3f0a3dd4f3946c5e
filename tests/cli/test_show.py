"""`lanlab show`: everything that a study published, by sections."""

import itertools
import re
from pathlib import Path

import pytest
from command_line import SMALL_STUDY, Lanlab
from kept_runs import keep
from synthetic_runs import synthetic_run

from lanlab.cli.results.study_text import SECTIONS
from lanlab.studies.load import known_studies, load_study


@pytest.mark.parametrize("name", known_studies())
def test_everything_that_was_published_is_shown(name: str, lanlab: Lanlab) -> None:
    loaded = load_study(name)

    said = lanlab("show", name).out

    flat = re.sub(r"\s+", " ", said)
    for table in loaded.published.table:
        assert f"{table.where}: {table.title}" in flat
    first = {line.split(" ")[0] for line in said.splitlines()}
    assert {finding.id for finding in loaded.findings} <= first
    assert {one.id for one in loaded.published.discrepancy} <= first
    assert {figure.number for figure in loaded.published.figure} <= first
    numbers = lanlab("show", name, "--only", "numbers").out
    listed = {line.split(" ")[0] for line in numbers.splitlines()}
    assert {value.id for value in loaded.published.printed} <= listed


def test_a_table_is_shown_as_it_was_laid_out(lanlab: Lanlab) -> None:
    lines = lanlab("show", "schomer-claason", "--only", "tables").out.splitlines()

    rows = [re.split(r"\s{2,}", line.strip()) for line in lines]
    assert ["operating system", "protocol", "data set", "Time", "Throughput"] in rows
    assert ["Windows 98 SE", "NWLink (IPX/SPX)", "1 file of 623 MB", "320", "16"] in rows
    assert [
        "NetBEUI", "1 file of 623 MB",
        "missing (264 to 268; 266 to 270 if the mean was cut)", "266*", "264*", "265*", "264*",
    ] in rows  # fmt: skip
    assert "(* heading lost)" in lines


def row_of(said: str, name: str) -> list[str]:
    """The cells of a finding, whose texts are wrapped."""
    lines = said.splitlines()
    head = next(line for line in lines if line.startswith("finding "))
    starts = [one.start() for one in re.finditer(r"\S+(?: \S+)*", head)]
    first = next(n for n, line in enumerate(lines) if line.startswith(f"{name} "))
    rest = itertools.takewhile(lambda line: line.startswith(" "), lines[first + 1 :])
    own = [lines[first], *rest]
    ends = [*starts[1:], None]
    return [
        " ".join(filter(None, (line[a:b].strip() for line in own)))
        for a, b in zip(starts, ends, strict=True)
    ]


def test_a_finding_is_shown_with_statement_and_verdict(lanlab: Lanlab) -> None:
    said = lanlab("show", "milanovic-srbljic", "--only", "findings").out

    assert max(map(len, said.splitlines())) <= 200
    cells = row_of(said, "f4")
    assert cells[0] == "f4"
    assert cells[1].startswith("With 2-byte UDP messages goodput is low")
    assert cells[2].startswith("receiving speed at UDP, Windows NT 4.0 Workstation,")
    assert cells[3].startswith("does not hold (means only: no test): with all of")
    assert cells[4] == "Section III, par. 3"


def test_verdicts_that_differ_from_manual_ones_are_marked(lanlab: Lanlab) -> None:
    said = lanlab("show", "schomer-claason", "--only", "findings").out

    assert row_of(said, "f12")[3].startswith(
        "undecided, and the means disagree (by hand: does not hold): "
    )
    flat = re.sub(r"\s+", " ", said)
    assert "14 findings by the published values: 6 hold, 0 do not hold, 8 undecided" in flat


def test_json_has_the_verdicts_with_their_numbers(lanlab: Lanlab) -> None:
    findings = lanlab("show", "schomer-claason", "--json").json()["findings"]

    judged = {one["id"]: one["judged"] for one in findings}
    assert judged["f8"]["verdict"] == "holds"
    assert judged["f8"]["comparisons"][0]["p_holm"] < 0.05


def test_discrepancies_are_listed_gravest_first(lanlab: Lanlab) -> None:
    said = lanlab("show", "schomer-claason", "--only", "discrepancies").out

    severities = re.findall(r"^d\d+\s+(major|minor|note|scan)\b", said, re.MULTILINE)
    assert severities == ["major"] * 2 + ["minor"] * 5 + ["note"] * 3 + ["scan"]


@pytest.mark.parametrize("section", SECTIONS)
def test_single_sections_can_be_shown(section: str, lanlab: Lanlab) -> None:
    said = lanlab("show", "milanovic-srbljic", "--only", section)

    assert said.code == 0
    head = "\n".join(lanlab("show", "milanovic-srbljic").out.splitlines()[:2])
    assert said.out.startswith(head)
    assert len(said.out.splitlines()) > 4
    other = "testbed" if section != "testbed" else "lost"
    both = lanlab("show", "milanovic-srbljic", "--only", f"{section}, {other}").out
    assert len(both.splitlines()) > len(said.out.splitlines())


def test_an_unknown_section_gets_a_suggestion(lanlab: Lanlab) -> None:
    said = lanlab("show", "poo-tan", "--only", "nubers")

    assert (said.code, said.out) == (2, "")
    assert said.err == "error: no section named `nubers`\nhint: did you mean `numbers`?\n"


def test_levels_with_units_are_shown_in_one_unit(lanlab: Lanlab, folder: Path) -> None:
    text = SMALL_STUDY.replace("[50, 100]", '[64, "64KiB"]').replace(
        "[scale.quick]",
        """[[finding]]
id = "large"
claim = "Large writes are faster."

[finding.statement]
form = "less"
metric = "goodput_bps"
a = { message_size_bytes = 64 }
b = { message_size_bytes = "64KiB" }

[scale.quick]""",
    )
    (folder / "own.toml").write_text(text.replace('rate_bps = "1M"', 'transport = "tcp"'))

    said = lanlab("show", "own.toml")
    assert said.code == 0, said.err
    assert "message size: 64 B, 65,536 B" in said.out
    assert "(message size 64 B) below (message size 65,536 B)" in said.out


def test_json_cells_refer_to_existing_numbers(lanlab: Lanlab) -> None:
    shown = lanlab("show", "manford-kolahi", "--json").json()

    ids = {value["id"] for value in shown["published"]["value"]}
    cells = [cell for table in shown["tables"] for row in table["rows"] for cell in row["cells"]]
    assert len(cells) == 11 * 5 + 11 * 3
    assert set(cells) <= ids
    assert {finding["id"]: finding["in_words"] for finding in shown["findings"]}["f8"] == (
        "goodput_bps at os vista: rising with each step of message_size_bytes; for each ip_version"
    )


def test_a_run_is_printed_again_with_its_tables(lanlab: Lanlab, folder: Path) -> None:
    made = synthetic_run("schomer-claason", "quick", link_rate_bps=100_000_000)
    where = str(folder / "kept.sqlite")
    keep(Path(where), [made.pair()])

    said = lanlab("show", "last", "--store", where)
    assert said.code == 0
    flat = re.sub(r"\s+", " ", said.out)
    for words in (
        "cost per byte and per file",
        "how the copies went",
        "Published and measured",
        f"done: {len(made.trials)} trials, 0 failed",
    ):
        assert words in flat, words
    assert lanlab("show", made.run.id, "--store", where).out == said.out
    refused = lanlab("show", "last", "--only", "tables", "--store", where)
    assert refused.code == 2
    assert "--only is for studies; `last` is a run" in refused.err


def test_experiments_are_listed_with_names_in_place_of_ids(lanlab: Lanlab) -> None:
    said = lanlab("show", "brutman-mtcp", "--only", "experiments").out

    assert "Memory to memory over TCP with the Xircom adapter, simulated" in said
    assert "  machine: PCjr (NEC V20, 4.77 MHz), AMD 80386-40\n" in said
    assert "measures rate; retransmitted segments; " in said and "goodput_bps" not in said
    assert "  stack: system, small\n" in said


def test_places_of_machines_have_names(lanlab: Lanlab) -> None:
    said = lanlab("show", "manford-kolahi", "--only", "machines").out
    assert "\nWindows Vista SP1, IPv4 " in said
    assert "ip_version" not in said and "os vista" not in said
