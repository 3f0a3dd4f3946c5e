"""Where commands write: never over a user's file, and never where nothing was named."""

from pathlib import Path

import pytest
from command_line import Lanlab


@pytest.mark.parametrize(
    "command",
    [
        "report last --out",
        "tour --out",
        "show poo-tan --only lost --figures",
        "show poo-tan --only lost --report",
        "compare last --published --report",
    ],
)
def test_an_empty_path_is_not_the_current_directory(
    command: str, folder: Path, lanlab: Lanlab
) -> None:
    said = lanlab(*command.split(), "")
    option = command.split()[-1]
    assert (said.code, said.out) == (2, "")
    assert f"error: {option}: found nothing; allowed: F" in said.err
    assert [path.name for path in folder.iterdir()] == ["small.toml"]


def test_a_tour_whose_report_would_replace_a_file_is_refused_before_it_runs(
    folder: Path, lanlab: Lanlab
) -> None:
    (folder / "report.html").write_text("mine")
    said = lanlab("tour", "--out", ".", "--testbed", "loopback", "--scale", "tiny")
    assert (said.code, said.out) == (2, "")
    assert "report.html (not written by lanlab)" in said.err
    assert (folder / "report.html").read_text() == "mine"
    assert not (folder / "lanlab-results").exists()


def test_figures_and_pages_keep_existing_files(folder: Path, lanlab: Lanlab) -> None:
    show = ("show", "poo-tan", "--only", "lost")
    assert lanlab(*show, "--figures", "drawn", "--report", "page.html").code == 0
    assert lanlab(*show, "--figures", "drawn", "--report", "page.html").code == 0
    figure = next((folder / "drawn").glob("*.svg"))
    for path, option in ((figure, "drawn"), (folder / "page.html", "page.html")):
        path.write_text("mine")
        said = lanlab(*show, "--figures" if option == "drawn" else "--report", option)
        assert said.code == 2 and path.name in said.err
        assert path.read_text() == "mine"
