"""`lanlab show --figures` and `--report`: published numbers drawn."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from command_line import Lanlab

from lanlab.figures.published import published_figures
from lanlab.figures.render_matplotlib import FILE_KINDS
from lanlab.report.page.own_files import LIST_NAME
from lanlab.studies.load import known_studies, load_study


def test_every_figure_is_written_in_each_form(folder: Path, lanlab: Lanlab, drawn: None) -> None:
    said = lanlab("show", "poo-tan", "--only", "lost", "--figures", "drawn")

    loaded = load_study("poo-tan")
    names = {one.name for one in published_figures(loaded.study, loaded.published)}
    assert said.code == 0 and f"wrote {len(names)} figures to drawn" in said.err
    written = {path.name for path in (folder / "drawn").iterdir()}
    drawn = {f"poo-tan-{name}.{kind}" for name in names for kind in FILE_KINDS}
    assert written == {*drawn, LIST_NAME, "references.bib"}
    for path in (folder / "drawn").glob("*.svg"):
        assert ElementTree.parse(path).getroot().tag.endswith("svg")


@pytest.mark.parametrize("name", known_studies())
def test_the_page_opens_offline(name: str, folder: Path, lanlab: Lanlab) -> None:
    check_page(name, folder, lanlab)


@pytest.mark.parametrize(
    "name",
    [
        name if name == "manford-kolahi" else pytest.param(name, marks=pytest.mark.long)
        for name in known_studies()
    ],
)
def test_a_drawn_page_opens_offline(name: str, folder: Path, lanlab: Lanlab, drawn: None) -> None:
    check_page(name, folder, lanlab)


def check_page(name: str, folder: Path, lanlab: Lanlab) -> None:
    said = lanlab("show", name, "--only", "lost", "--report", "again.html")

    assert said.code == 0
    page = (folder / "again.html").read_text(encoding="utf-8")
    loaded = load_study(name)
    assert "<h2>Published values</h2>" in page
    for one in loaded.published.discrepancy:
        assert f'<td data-name="id">{one.id}</td>' in page
    figures = published_figures(loaded.study, loaded.published)
    assert page.count("<figure ") == len(figures)
    assert not re.search(r'(src|href)="(?!#|data:|https://doi\.org/)', page)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_the_page_has_every_discrepancy_recomputed(folder: Path, lanlab: Lanlab) -> None:
    lanlab("show", "schomer-claason", "--only", "lost", "--report", "again.html")

    page = (folder / "again.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    assert "In megabytes it would be 2.4." in page
    rows = re.findall(r"<tr>(?:(?!</tr>).)*<td[^>]*>d\d+</td>.*?</tr>", page, re.DOTALL)
    counts = [sum(text in row for row in rows) for text in ("", ">yes<", "nothing to compute")]
    assert counts == [11, 7, 4]


def test_a_study_that_published_nothing_is_refused(folder: Path, lanlab: Lanlab) -> None:
    for option in ("--figures", "--report"):
        said = lanlab("show", "small.toml", option, "x")
        assert (said.code, said.out) == (2, "")
        assert "no published values to draw" in said.err
    assert not (folder / "x").exists()


def test_an_unwritable_folder_is_an_error(folder: Path, lanlab: Lanlab) -> None:
    (folder / "file").write_text("")
    said = lanlab("show", "poo-tan", "--only", "lost", "--report", "file/x.html")
    assert said.code == 1 and "could not be written" in said.err
