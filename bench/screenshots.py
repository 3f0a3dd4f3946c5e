"""
Screenshots of lanlab's pages at two widths, light and dark.

    .venv/bin/python bench/screenshots.py shots              # all, whole pages
    .venv/bin/python bench/screenshots.py shots --first      # what is seen before scrolling
    .venv/bin/python bench/screenshots.py shots --page page/report.html

Pages of made-up runs: the list of runs, a run, reports of a study, a search, copies and stations,
of two runs together, a comparison, and a study's printed numbers. It takes Chromium, and half a
minute.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lanlab.report.page.own_files import write_file
from lanlab.report.published.published_chapter import study_page
from lanlab.report.runs.build import build_report
from lanlab.store import open_store
from lanlab.studies.load import load_study

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "cli"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "report"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "analysis"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "web"))

from browser import Browser, browser
from stored_runs import make_store
from web_serving import serving

WIDTHS = (1280, 390)
STUDY, SEARCH, COPIES, STATIONS = (
    "20261121-080000-disturbed-0001",
    "20261121-100000-search-0003",
    "20261121-120000-copies-0005",
    "20261121-130000-stations-0006",
)
FASTER = "20261121-090000-faster-0002"


@contextmanager
def pages(folder: Path) -> Iterator[dict[str, str]]:
    """Addresses of all pages by name, for as long as they are served."""
    place = folder / "store.sqlite"
    make_store(place)
    with open_store(str(place)) as records:
        both = [(records.run(name), records.trials(name)) for name in (STUDY, FASTER)]
    together = build_report(both, folder / "together").html
    printed = folder / "printed.html"
    write_file(study_page(load_study("milanovic-srbljic")), printed)
    with serving(place) as server:
        home = server.url.rstrip("/")
        yield {
            "list": server.url,
            "run": f"{home}/run/{STUDY}",
            "study": f"{home}/run/{STUDY}/report",
            "search": f"{home}/run/{SEARCH}/report",
            "copies": f"{home}/run/{COPIES}/report",
            "stations": f"{home}/run/{STATIONS}/report",
            "two-runs": together.as_uri(),
            "comparison": f"{home}/compare?run={STUDY}&run={FASTER}",
            "printed": printed.as_uri(),
        }


def take(page: Browser, name: str, url: str, folder: Path, *, first: bool) -> None:
    """A page at each width, light and dark."""
    for width in WIDTHS:
        for dark in (False, True):
            page.look(width=width, dark=dark, still=True)
            page.open(url)
            page.wait(0.3)
            path = folder / f"{name}-{width}-{'dark' if dark else 'light'}.png"
            page.screenshot(path, whole=not first)
            print(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", action="store_true", help="only what is seen before scrolling")
    parser.add_argument(
        "--page", type=Path, action="append", help="a file in place of made-up runs"
    )
    parser.add_argument("--only", help="names of pages, with commas between")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, browser() as page:
        if given.page:
            for one in given.page:
                take(page, one.stem, one.resolve().as_uri(), given.folder, first=given.first)
            return
        with pages(Path(made)) as found:
            for name in given.only.split(",") if given.only else found:
                take(page, name, found[name], given.folder, first=given.first)


if __name__ == "__main__":
    main()
