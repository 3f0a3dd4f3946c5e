"""The live page in a real Chromium: accessible, quiet on the console, live, by keyboard too."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from browser import Browser, axe_script
from synthetic_runs import SyntheticRun, synthetic_run
from web_serving import serving

from lanlab.store import open_store
from lanlab.store.database import Store
from lanlab.web.server import WebServer

_DISTURBED = "20261121-080000-disturbed-0001"
_SEARCH = "20261121-100000-search-0003"


@pytest.fixture(autouse=True)
def _as_new(page: Browser) -> Iterator[None]:
    """Each test has a quiet page, and leaves one: no error or warning, no request elsewhere."""
    page.look()
    page.call("Page.navigate", url="about:blank")
    page.wait(0.1)
    page.events.clear()
    yield
    assert page.complaints() == []
    assert {url.split("/")[2].split(":")[0] for url in page.requested() if "//" in url} <= {
        "127.0.0.1"
    }


def _open_run(page: Browser, server: WebServer, run_id: str) -> None:
    page.open(f"{server.url}run/{run_id}")
    page.until("document.body.dataset.results")


@contextmanager
def _measuring(place: Path, trials: int) -> Iterator[tuple[SyntheticRun, Store]]:
    """A run that this process executes, with the first of its trials."""
    made = synthetic_run("milanovic-srbljic", most_trials=trials)
    with open_store(str(place)) as records:
        records.start_run(replace(made.run, status="running", ended_at=None)).release()
        with records.acquire_run(made.run.id):
            records.commit_trial(made.trials[0])
            yield made, records


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing(page: Browser, server: WebServer, width: int, dark: bool) -> None:
    script = axe_script()
    page.look(width=width, dark=dark)
    for path, sign in (
        ("", "document.querySelector('.runs')"),
        (f"run/{_DISTURBED}", "document.body.dataset.results"),
        (f"run/{_SEARCH}", "document.body.dataset.results"),
        (f"run/{_DISTURBED}/trial/0", "document.querySelector('dl')"),
    ):
        page.open(server.url + path)
        page.until(sign)
        assert page.violations(script) == [], path
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def test_small_tables_need_no_scrolling_on_a_phone_and_others_say_so(
    page: Browser, server: WebServer
) -> None:
    page.look(width=390)
    page.open(f"{server.url}run/{_DISTURBED}/report")
    tables = "[...document.querySelectorAll('table.stacked, table.few')]"
    page.evaluate("document.querySelectorAll('details').forEach(one => {one.open = true})")
    assert page.evaluate(
        f"{tables}.some(one => /contradicts itself/.test(one.caption.textContent))"
    )
    fits = "({parentElement: box}) => box.scrollWidth <= box.clientWidth"
    page.until("document.querySelector('.more')")
    assert page.evaluate(f"{tables}.some(one => one.className === 'few')")
    assert page.evaluate(f"{tables}.every({fits})")
    # Each other table fits, or says that it scrolls.
    every = "[...document.querySelectorAll('.scroll > table')]"
    says = "(one => one.parentElement.matches('.more') || (" + fits + ")(one))"
    assert page.evaluate(f"{every}.every({says})")
    hint = "getComputedStyle(document.querySelector('.more caption'), '::after').content"
    assert "scroll sideways" in page.evaluate(hint)


def test_the_page_works_by_keyboard(page: Browser, server: WebServer) -> None:
    _open_run(page, server, _DISTURBED)
    page.key("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    places = "document.getElementById('{}').getBoundingClientRect().top"
    assert page.evaluate(f"{places.format('results')} < {places.format('chart')}")
    # Tables of results come first, and each is a stop: it scrolls.
    for _ in range(40):
        page.key("Tab")
        if page.evaluate("document.activeElement.id") == "chart":
            break
    texts = []
    for _ in range(2):
        page.key("ArrowRight")
        texts.append(page.evaluate("document.getElementById('tip').textContent"))
    assert not page.evaluate("document.getElementById('tip').hidden")
    first, second = (re.match(r"trial (\d+); ", text) for text in texts)
    assert first and second and int(first[1]) < int(second[1])
    page.key("Enter")
    page.until(f"location.pathname.endsWith('/trial/{second[1]}')")


def test_two_runs_are_compared_from_the_list(page: Browser, server: WebServer) -> None:
    page.open(server.url)
    page.until("document.querySelector('.runs')")
    assert page.evaluate("document.getElementById('compare').disabled")
    for run in (_DISTURBED, "20261121-090000-faster-0002"):
        page.evaluate(f"document.querySelector('input[value=\"{run}\"]').click()")
    page.evaluate("document.getElementById('compare').click()")
    page.until("document.title.includes('comparison') && document.querySelector('.drawing svg')")
    assert page.violations(axe_script()) == []
    page.evaluate("document.querySelector('.home a').click()")
    page.until("document.querySelector('.runs')")


def test_a_displayed_run_grows_with_new_trials(page: Browser, tmp_path: Path) -> None:
    place = tmp_path / "store.sqlite"
    with serving(place) as server, _measuring(place, 8) as (made, records):
        page.open(f"{server.url}run/{made.run.id}")
        page.until("document.body.dataset.done == 1")
        page.until("document.querySelector('.next').textContent.startsWith('Measuring now')")
        assert page.evaluate("document.querySelector('.status').textContent") == "running"
        for done, trial in enumerate(made.trials[1:], 2):
            records.commit_trial(trial)
            page.until(f"document.body.dataset.done == {done}")
        page.until("document.querySelectorAll('.trials tbody tr:not(.pad)').length == 8")
        page.until("document.body.dataset.results == 8")
        records.finish_run(made.run.id, "interrupted")
        page.until("document.querySelector('.status').textContent == 'interrupted'")
        page.until("[...document.links].some((one) => one.href.endsWith('/report'))")


def test_only_disturbed_trials_can_be_shown(page: Browser, server: WebServer) -> None:
    _open_run(page, server, _DISTURBED)
    count = "Number(document.getElementById('count').textContent.split(' ')[0])"
    page.until(f"{count} > 0")
    everything = page.evaluate(count)
    page.evaluate("document.getElementById('only').click()")
    page.until(f"{count} < {everything}")
    assert page.evaluate(
        "[...document.querySelectorAll('.trials tbody tr:not(.pad)')].every((row) =>"
        " row.cells[3].textContent || row.cells[5].textContent === 'failed')"
    )


def test_a_long_table_has_only_rows_that_can_be_seen(page: Browser, server: WebServer) -> None:
    _open_run(page, server, _DISTURBED)
    rows = "document.querySelectorAll('.trials tbody tr:not(.pad)').length"
    total = page.evaluate(
        "Number(document.querySelector('.trials table').ariaRowCount ?? "
        "document.querySelector('.trials table').getAttribute('aria-rowcount'))"
    )
    assert page.evaluate(rows) < total
    page.evaluate("document.getElementById('trials').scrollTop = 1e7")
    page.until(
        "[...document.querySelectorAll('.trials tbody th')].some((one) => one.textContent === '0')"
    )
    assert page.evaluate(rows) < total


def test_with_reduced_motion_nothing_moves_by_itself(page: Browser, server: WebServer) -> None:
    page.look(still=True)
    _open_run(page, server, _SEARCH)
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    assert page.evaluate("document.getAnimations().length") == 0


def test_a_server_that_has_ended_is_reported(page: Browser, store: Path) -> None:
    with serving(store) as server:
        _open_run(page, server, _SEARCH)
    page.until("document.getElementById('trouble').textContent.includes('may have been ended')")
    assert page.evaluate("document.querySelectorAll('.trials tbody tr').length") > 3
    page.call("Page.navigate", url="about:blank")
    page.events.clear()


def test_a_store_that_goes_away_is_reported(page: Browser, store: Path, tmp_path: Path) -> None:
    place, away = tmp_path / "store.sqlite", tmp_path / "away.sqlite"
    place.write_bytes(store.read_bytes())
    with serving(place) as server:
        _open_run(page, server, _SEARCH)
        place.rename(away)
        page.until("!document.getElementById('trouble').hidden")
        away.rename(place)
        page.until("document.getElementById('trouble').hidden")
