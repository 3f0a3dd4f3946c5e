"""What is printed of studies and stored runs, word for word: a changed sentence shows as a diff."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from command_line import Lanlab, Said
from syrupy.assertion import SnapshotAssertion

from lanlab.studies.load import known_studies

_BLOCKS = {"p", "li", "h1", "h2", "h3", "h4", "tr", "figcaption", "caption", "div", "dt", "dd"}
_UNSEEN = {"style", "script", "svg", "title"}
_ROWS = 6


def printed(said: Said, *unstable: tuple[str, str]) -> str:
    """Exit code, standard output and standard error as one text. Columns are two blanks apart, so
    that a longer word in one row changes that row alone."""
    text = f"exit {said.code}\n{said.out}"
    if said.err:
        text += f"--- standard error\n{said.err}"
    for pattern, instead in unstable:
        text = re.sub(pattern, instead, text)
    return "\n".join(re.sub(r"(?<=\S) {3,}", "  ", line).rstrip() for line in text.splitlines())


@pytest.mark.parametrize(
    "line",
    [
        "studies",
        *(f"show {name} --only testbed,experiments,scales" for name in known_studies()),
        "show brutman-mtcp --only factors,tables,numbers,figures,lost,findings,discrepancies",
        *(f"findings {name}" for name in known_studies()),
    ],
)
def test_study_texts_match_the_snapshots(
    line: str, lanlab: Lanlab, snapshot: SnapshotAssertion
) -> None:
    assert printed(lanlab(*line.split())) == snapshot


@pytest.mark.parametrize(
    "line",
    [
        "runs",
        "show 20261121-08",
        "show 20261121-10",
        "show 20261121-11",
        "show 20261121-12",
        "show 20261121-13",
        "findings manford-kolahi --run 20261121-08",
        "findings milanovic-srbljic --run 20261121-11",
        "compare 20261121-08 20261121-09 --margin 2%",
        "compare 20261121-09 --by ip_version",
        "compare 20261121-08 --published",
        "compare 20261122-080000-series-77aa",
        "compare --before 20261122-00 --after 20261122-01,20261122-11",
        "compare 20261121-10 20261121-08",
        "delete 20261121-08",
    ],
)
def test_stored_run_texts_match_the_snapshots(
    line: str,
    lanlab: Lanlab,
    stored: Path,
    monkeypatch: pytest.MonkeyPatch,
    snapshot: SnapshotAssertion,
) -> None:
    monkeypatch.chdir(stored.parent)
    assert printed(lanlab(*line.split(), "--store", stored.name)) == snapshot


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize(
    "line",
    [
        "runs",
        "show 20261121-08",
        "show 20261121-10",
        "show 20261121-12",
        "compare 20261121-08 20261121-09 --margin 2%",
        "studies",
    ],
)
def test_no_text_exceeds_the_width_of_a_terminal(
    line: str,
    columns: int,
    lanlab: Lanlab,
    stored: Path,
    monkeypatch: pytest.MonkeyPatch,
    snapshot: SnapshotAssertion,
) -> None:
    monkeypatch.chdir(stored.parent)
    store = () if line == "studies" else ("--store", stored.name)
    whole = set(lanlab(*line.split(), *store).out.split())
    monkeypatch.setenv("LANLAB_COLUMNS", str(columns))
    said = lanlab(*line.split(), *store)

    assert [row for row in said.out.splitlines() if len(row) > columns] == []
    # Labels of cells, and what names the columns that are left out, have words of their own.
    own = {"not", "shown", "for", "want", "of", "width:", "the", "rest", "is", "below."}
    known = {word.rstrip(",;.") for word in whole}
    assert {
        word for word in set(said.out.split()) - own if word.rstrip(",;.") not in known
    } == set()
    assert said.out == snapshot


class _Text(HTMLParser):
    """What a reader of a page sees: a line for each paragraph, heading, item or row of a table.
    Of a long table, its first rows: the others have other numbers and no other words."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.lines: list[str] = [""]
        self._hidden = self._rows = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in _UNSEEN
        self._rows = 0 if tag == "table" else self._rows + (tag == "tr")
        if tag in _BLOCKS:
            self.lines.append("")
        elif tag in ("td", "th"):
            self.lines[-1] += " | "

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _UNSEEN
        if tag == "table":
            self._rows = 0
        if tag in _BLOCKS:
            self.lines.append("")

    def handle_data(self, data: str) -> None:
        if not self._hidden and self._rows <= _ROWS:
            self.lines[-1] += data

    def text(self) -> str:
        tidy = (" ".join(line.split()) for line in self.lines)
        return "\n".join(line for line in tidy if line.strip("| "))


@pytest.mark.parametrize("run", ["20261121-08", "20261121-11", "20261121-12", "20261121-13"])
def test_report_pages_match_the_snapshots(
    run: str, lanlab: Lanlab, stored: Path, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    said = lanlab("report", run, "--out", "page", "--store", str(stored))

    [page] = (tmp_path / "page").glob("*.html")
    assert printed(said) == snapshot(name="printed")
    text = _Text(page.read_text(encoding="utf-8")).text()
    # The store says itself when a run ended.
    assert re.sub(r" to [\d:, -]+ UTC", " to END", text) == snapshot(name="page")


def test_the_comparison_page_matches_the_snapshot(
    lanlab: Lanlab, stored: Path, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    lanlab(
        *("compare", "20261121-08", "20261121-09", "--report", "beside.html"),
        *("--store", str(stored)),
    )

    page = (tmp_path / "beside.html").read_text(encoding="utf-8")
    assert _Text(page).text() == snapshot


def test_the_page_of_published_data_matches_the_snapshot(
    lanlab: Lanlab, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    lanlab("show", "manford-kolahi", "--report", "again.html")

    assert _Text((tmp_path / "again.html").read_text(encoding="utf-8")).text() == snapshot
