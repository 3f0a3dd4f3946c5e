"""Words that product code and pages do not use."""

from pathlib import Path

import pytest
from plain_words import LEFT, WORDS, files, places

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a server is told of it", ["told"]),
        ("Beside them, so many as\nwhatever", ["Beside", "so many", "whatever"]),
        ("untold, besides, something", []),
        ("the user `nobody`, nobody:x:65534, `self.nobody`", []),
        ("nobody answers", ["nobody"]),
    ],
)
def test_only_whole_words_are_found_and_the_user_nobody_is_allowed(
    text: str, found: list[str]
) -> None:
    assert [word for _, word in places(text)] == [word.lower() for word in found]


def test_python_code_and_pages_have_no_old_fashioned_words() -> None:
    paths = files(ROOT)["src and docs"]
    left = [(path.name, *one) for path in paths for one in places(path.read_text("utf-8"))]
    assert [one for one in left if one[2] not in LEFT["src and docs"]] == []
    assert set(LEFT) == set(files(ROOT))
    assert all(set(words) <= set(WORDS) for words in LEFT.values()) and all(WORDS.values())
