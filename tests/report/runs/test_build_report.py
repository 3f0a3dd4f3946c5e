"""The report as it is written."""

import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from programs import ran
from synthetic_runs import SyntheticRun, synthetic_run
from undrawn import nothing_drawn

from lanlab.errors import UsageError
from lanlab.report.runs.build import build_report
from lanlab.studies.runs_on import RunsOn

_VOID = {"meta", "link", "br", "img", "input", "hr"}


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.headings: list[int] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag not in _VOID:
            self.open.append(tag)
        if found.get("id"):
            self.ids.append(found["id"] or "")
        if tag == "a":
            self.links.append(found.get("href") or "")
        elif tag in ("img", "script", "link", "iframe", "image", "use"):
            for name in ("src", "href", "xlink:href"):
                if found.get(name):
                    self.loads.append(found[name] or "")
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def both() -> list[SyntheticRun]:
    return [
        synthetic_run("milanovic-srbljic", fails=lambda planned: planned.number == 4),
        synthetic_run("manford-kolahi", link_rate_bps=100_000_000),
    ]


@pytest.fixture(scope="module")
def folder(both: list[SyntheticRun], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report") / "deep" / "out"
    with nothing_drawn():
        paths = build_report([synthetic.pair() for synthetic in both], out)
    assert all(path.is_file() for path in (paths.html, *paths.figures, *paths.tables))
    # The figures of the studies, and two published tables with what is like them here.
    assert len(paths.figures) == 3 * (11 + 2)
    assert {path.suffix for path in paths.figures} == {".svg", ".pdf", ".png"}
    assert {path.suffix for path in paths.tables} == {".csv"}
    return out


@pytest.fixture(scope="module")
def page(folder: Path) -> _Page:
    return _Page((folder / "report.html").read_text(encoding="utf-8"))


def test_a_page_of_several_runs_does_not_call_them_measured(folder: Path) -> None:
    assert "<h1>2 runs</h1>" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("names", "most_trials"),
    [
        # What was measured first, and printed numbers with it.
        pytest.param(("manford-kolahi",), 5, id="one"),
        pytest.param(
            ("milanovic-srbljic", "manford-kolahi"), None, id="two", marks=pytest.mark.long
        ),
    ],
)
def test_a_drawn_page_loads_nothing_and_is_written_the_same_again(
    names: Sequence[str], most_trials: int | None, tmp_path: Path, drawn: None
) -> None:
    runs = [
        synthetic_run(name, link_rate_bps=100_000_000, most_trials=most_trials).pair()
        for name in names
    ]
    first = build_report(runs, tmp_path / "first")
    assert len(first.figures) >= 4
    _loads_nothing(first.html)
    _leads_somewhere(first.html)

    build_report(runs, tmp_path / "again")
    for path in sorted((tmp_path / "first").rglob("*")):
        if path.is_file():
            other = tmp_path / "again" / path.relative_to(tmp_path / "first")
            assert other.read_bytes() == path.read_bytes(), path.name


def test_the_page_loads_nothing_from_anywhere(folder: Path) -> None:
    _loads_nothing(folder / "report.html")


def _loads_nothing(html: Path) -> None:
    text = html.read_text(encoding="utf-8")
    assert all(load.startswith(("#", "data:")) for load in _Page(text).loads)
    assert "@import" not in text
    assert not re.search(r"url\((?!#|&#34;#|\"#)", text)


def test_links_resolve_and_ids_are_unique(folder: Path) -> None:
    _leads_somewhere(folder / "report.html")


def _leads_somewhere(html: Path) -> None:
    begins = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<", ".csv": b""}
    page = _Page(html.read_text(encoding="utf-8"))
    assert len(page.ids) == len(set(page.ids))
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids
        elif link.startswith(("figures/", "tables/")):
            content = (html.parent / link).read_bytes()
            assert content and content.startswith(begins[Path(link).suffix])
        elif link not in ("references.bib", "files.html"):
            assert link.startswith("https://doi.org/")


def test_a_page_of_several_runs_is_short_and_its_data_are_files(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert len(text) < 1_000_000
    words = re.sub(r"(?s)<(style|script).*?</\1>|<[^>]+>", " ", text).split()
    assert len(words) < 2_500
    text = (folder / "files.html").read_text(encoding="utf-8")
    linked = {link for link in _Page(text).links if link.startswith(("figures/", "tables/"))}
    files = {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.parent != folder
    }
    assert linked == files


def test_headings_never_skip_a_level(page: _Page) -> None:
    assert page.open == []
    assert page.headings[0] == 1
    steps = zip(page.headings, page.headings[1:], strict=False)
    assert all(after <= before + 1 for before, after in steps)


def test_the_page_has_everything_to_repeat_a_run(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "lanlab run manford-kolahi --scale tiny --testbed virtual --link 100M --seed 7" in text
    assert "nothing heard for 3 s" in text


def test_the_page_of_one_run_says_how_its_trials_were_measured(
    both: list[SyntheticRun], tmp_path: Path
) -> None:
    text = build_report([both[1].pair()], tmp_path).html.read_text(encoding="utf-8")
    assert "one message per call (single messages follow this rate), rec" in text


@pytest.mark.parametrize("where", ["real", "simulated"])
def test_a_page_says_when_it_was_made_and_what_its_seed_repeats(
    where: RunsOn, tmp_path: Path
) -> None:
    run = synthetic_run("manford-kolahi", "tiny", where=where)
    text = build_report([run.pair()], tmp_path).html.read_text(encoding="utf-8")
    is_simulated = where == "simulated"
    assert ("and with the same version of lanlab the same numbers." in text) == is_simulated
    assert ("Intervals are corrected for all tests together." in text) != is_simulated
    assert re.search(r'<p class="note">\w+ on 2026-11-21, testbed \w+, link ', text)


def test_a_hostile_title_is_only_text(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    synthetic = synthetic_run("manford-kolahi", title=hostile)
    text = build_report([synthetic.pair()], tmp_path).html.read_text(encoding="utf-8")
    assert hostile not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_a_hostile_study_id_never_becomes_a_path(tmp_path: Path) -> None:
    synthetic = synthetic_run("manford-kolahi")
    run = type(synthetic.run)(**{**vars(synthetic.run), "study_id": "../../x"})
    paths = build_report([(run, synthetic.trials)], tmp_path / "out")
    assert all(path.parent.parent == tmp_path / "out" for path in paths.figures)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["milanovic-srbljic", "manford-kolahi"])
@pytest.mark.parametrize("most_trials", [0, 1, 7])
def test_an_early_interrupted_run_has_a_report(name: str, most_trials: int, tmp_path: Path) -> None:
    synthetic = synthetic_run(name, most_trials=most_trials)
    text = build_report([synthetic.pair()], tmp_path).html.read_text(encoding="utf-8")
    assert "interrupted" in text


def test_two_runs_of_one_study_keep_their_files_apart(tmp_path: Path) -> None:
    synthetic = synthetic_run("manford-kolahi")
    paths = build_report([synthetic.pair(), synthetic.pair()], tmp_path)
    # Those of each run, and one of both.
    assert len(paths.figures) == 3 * (2 * (2 + 2) + 1)
    assert _Page(paths.html.read_text(encoding="utf-8")).open == []


@pytest.mark.parametrize("name", ["report.html", "figures", "tables/notes.csv"])
def test_a_users_file_of_a_reports_name_is_never_replaced(name: str, tmp_path: Path) -> None:
    paper = tmp_path / "paper"
    mine = [paper / "figures" / "mine.svg", paper / "tables" / "mine.csv", paper / name]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_dir():
            path.write_text("mine")
    build = [synthetic_run("manford-kolahi", most_trials=1).pair()]
    if name == "report.html":
        with pytest.raises(UsageError, match=r"report\.html \(not written by lanlab\)"):
            build_report(build, paper)
        assert {path for path in paper.rglob("*") if path.is_file()} == {*mine}
    else:
        build_report(build, paper)
        build_report([synthetic_run("milanovic-srbljic", most_trials=1).pair()], paper)
    assert all(path.read_text() == "mine" for path in mine if path.is_file())


def test_an_unwritable_report_leaves_nothing(tmp_path: Path) -> None:
    occupied = tmp_path / "occupied"
    occupied.write_text("a file, no folder")
    synthetic = synthetic_run("manford-kolahi", most_trials=1)
    with pytest.raises(UsageError, match="occupied is not a folder"):
        build_report([synthetic.pair()], occupied)
    assert [path.name for path in tmp_path.iterdir()] == ["occupied"]
    assert occupied.read_text() == "a file, no folder"


def test_importing_the_report_loads_no_drawing_library() -> None:
    import sys

    code = (
        "import sys, lanlab.report.runs.build, lanlab.report.runs.run_text; "
        "import lanlab.report.answer.answers; "
        "print([m for m in ('matplotlib', 'numpy', 'scipy', 'jinja2') if m in sys.modules])"
    )
    done = ran([sys.executable, "-c", code], check=True)
    assert done.stdout.strip() == "[]"


def test_published_figures_have_our_values_marked(
    folder: Path, both: list[SyntheticRun], tmp_path: Path
) -> None:
    drawn = {path.name for path in (folder / "figures").glob("*published*.svg")}
    assert drawn == {
        "manford-kolahi-published-table-1-goodput-bps-sd.svg",
        "manford-kolahi-published-table-2-rtt-mean-ns-sd.svg",
    }
    assert (folder / "tables/manford-kolahi-published-discrepancies.csv").is_file()

    page = build_report([both[1].pair()], tmp_path).html.read_text(encoding="utf-8")
    assert page.count("Published values</h3>") == 1
    assert 'id="manford-kolahi-published"' in page
    assert "measured here" in page


def test_a_study_without_published_values_gets_no_rereading_chapter(tmp_path: Path) -> None:
    synthetic = synthetic_run("manford-kolahi", most_trials=2)
    run = replace(synthetic.run, study_id="my-own")
    page = build_report([(run, synthetic.trials)], tmp_path).html.read_text(encoding="utf-8")
    assert "Reading the published data again" not in page


def test_name_tags_and_note_of_a_run_are_on_its_page(tmp_path: Path) -> None:
    made = synthetic_run("milanovic-srbljic", most_trials=3)
    label = {"name": "before-upgrade", "note": "<i>new cable</i>", "tags": ["lab2", "old"]}
    named = replace(made.run, label=label)
    text = build_report([(named, made.trials)], tmp_path / "named").html.read_text()
    plain = build_report([(made.run, made.trials)], tmp_path / "plain").html.read_text()

    for title, said in (
        ("Name", "before-upgrade"), ("Tags", "lab2, old"), ("Note", "&lt;i&gt;new cable&lt;/i&gt;")
    ):  # fmt: skip
        assert f"<dt>{title}</dt><dd>{said}</dd>" in text
        assert f"<dt>{title}</dt>" not in plain
