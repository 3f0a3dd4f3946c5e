"""
The pages deny no capability that lanlab has: each denial is compared with the help of all commands
and the tables of services, and each summary with the table below it.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import manual
import pytest

from lanlab.services import CARRIERS, SERVICES
from lanlab.testbeds.link import JoinedBy

ROOT = Path(__file__).parents[2]


def help_text() -> str:
    return manual.page().replace("\\-", "-")


def names_any(*words: str) -> bool:
    known = {part for name in (*SERVICES, *CARRIERS) for part in name.split("+")}
    return not known.isdisjoint(words)


#: Denials that a page may contain, each with a check that is true once lanlab has the capability.
#: A denial of anything else fails the test until it has a line here.
IS_THERE: dict[str, Callable[[], bool]] = {
    r"NetBIOS over IPX": lambda: names_any("nbipx"),
    r"XNS": lambda: names_any("xns", "spp"),
    r"packet burst of NCP": lambda: (ROOT / "crates/wire/src/ncp/burst.rs").exists(),
    r"wireless": lambda: not {"wireless", "wifi", "radio"}.isdisjoint(get_args(JoinedBy)),
    r"latency under load|beside streams": lambda: "lanlab load" in help_text(),
    r"delay or loss|links with": lambda: "--link" in help_text(),
    r"[Mm]any client hosts": lambda: "--client-hosts" in help_text(),
    r"\ba simulator": lambda: "--machines" in help_text(),
}


def denials() -> list[tuple[str, str]]:
    found = []
    for page in sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]):
        text = page.read_text(encoding="utf-8")
        parts = re.findall(r"^## Not there yet$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        items = [
            item for part in parts for item in re.findall(r"^- (.*?)[;.]$", part, re.M | re.DOTALL)
        ]
        assert bool(items) == bool(parts), f"{page.name}: what is not there is no list"
        items += [
            item for part in re.findall(r"Not yet: ([^.]*)\.", text) for item in part.split(";")
        ]
        found += [(page.name, item.strip()) for item in items]
    return found


def test_some_pages_deny_capabilities() -> None:
    assert {page for page, _ in denials()} == {"limits.md"}


@pytest.mark.parametrize(("page", "item"), denials())
def test_capabilities_denied_by_a_page_do_not_exist(page: str, item: str) -> None:
    known = [is_there for words, is_there in IS_THERE.items() if re.search(words, item)]
    assert known, f"{page} denies `{item}`: say in this file how to see that"
    assert not any(is_there() for is_there in known), f"{page} denies `{item}`, which is there"


@pytest.mark.parametrize(
    "item",
    ["links with delay or loss", "a simulator", "latency under load", "many client hosts at once"],
)
def test_existing_capabilities_are_not_denied(item: str) -> None:
    assert any(is_there() for words, is_there in IS_THERE.items() if re.search(words, item))


def test_the_share_of_small_faults_is_that_of_the_last_samples() -> None:
    text = (ROOT / "bench/results/reliability.md").read_text(encoding="utf-8")
    summary = re.search(r"the tests catch (\d+) to (\d+) %, by part", text)
    assert summary
    last: dict[str, int] = {}
    for row in text.split("| part | code |", 1)[1].splitlines()[2:]:
        if not row.startswith("|"):
            break
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        found = re.search(r"\((\d+) %\)", cells[2])
        assert found, row
        last[cells[0]] = int(found[1])
    assert len(last) > 5
    assert (min(last.values()), max(last.values())) == (int(summary[1]), int(summary[2]))
