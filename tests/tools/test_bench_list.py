"""The list of commands that print figures of the pages is whole, and its links lead somewhere."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = ROOT / "bench" / "README.md"
TEXT = LIST.read_text(encoding="utf-8")


def test_every_program_of_the_bench_is_in_the_list() -> None:
    named = set(re.findall(r"bench/(\w+\.py)", TEXT))
    programs = {
        path.name
        for path in (ROOT / "bench").glob("*.py")
        if 'if __name__ == "__main__"' in path.read_text(encoding="utf-8")
    }
    assert named == programs


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_every_page_and_section_exists() -> None:
    links = re.findall(r"\]\(\.\./(docs/[\w-]+\.md)(?:#([\w-]+))?\)", TEXT)
    assert len(links) > 30
    for page, section in links:
        assert not section or section in anchors(ROOT / page), f"{page}#{section}"
