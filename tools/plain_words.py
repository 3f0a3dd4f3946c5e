"""
Words of a private language, which this project does not use, and what to write instead.

    python tools/plain_words.py            # prints each place that is not allowed, and fails

Each area may keep the number of lines that it still has: a change that removes some lowers it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: What to write instead.
WORDS: Mapping[str, str] = {
    "told": "seen, reported, known, or what the thing is: a result, a message",
    "beside": "next to, with, during, compared with",
    "so many": "a number, or `how many`",
    "so much": "a number, or `how much`",
    "so long": "a time, or `how long`",
    "whoever": "a client, a user, or `who`",
    "whatever": "any, all, or `what`",
    "nobody": "no client, no host, no user",
    "crew": "worker threads",
    "desk": "what it is: a queue, a channel",
    "of the time": "period, as in period hardware",
    "left out": "omitted",
    "leave out": "omit",
    "exclude each other": "cannot be used together",
    "makes no sense": "is malformed",
    "of its own": "its own, separate",
    "that there is not": "unknown, missing",
}
#: Lines of each area that still have one, at most; a word without a number is not allowed there.
LEFT: Mapping[str, Mapping[str, int]] = {
    "src and docs": {
        "of the time": 25,
        "of its own": 72,
        "exclude each other": 6,
        "left out": 59,
        "leave out": 8,
        "that there is not": 10,
    },
    "crates": {
        "of its own": 104,
        "left out": 38,
        "told": 7,
        "makes no sense": 10,
        "exclude each other": 7,
        "beside": 18,
        "nobody": 12,
        "of the time": 31,
        "leave out": 9,
        "that there is not": 8,
    },
    "tests, bench and tools": {
        "whatever": 79,
        "of its own": 90,
        "nobody": 81,
        "told": 512,
        "beside": 192,
        "of the time": 32,
        "so much": 9,
        "so many": 28,
        "whoever": 22,
        "left out": 44,
        "so long": 10,
        "leave out": 7,
        "exclude each other": 7,
        "that there is not": 6,
    },
}
#: The user `nobody`, and a word that engines of older versions say.
ALLOWED = re.compile(r"[`\"\[]nobody\b|\bnobody[:=]|\.nobody\b|^\s*nobody = |\bas nobody\b")
_WORD = {word: re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE) for word in WORDS}


def places(text: str) -> Iterator[tuple[int, str]]:
    """
    Lines of a text with one of the words, each with the word.

    Examples:
        >>> list(places("a result\\nis told so many times"))
        [(2, 'told'), (2, 'so many')]
        >>> list(places("server `nobody`"))
        []
    """
    for number, line in enumerate(text.splitlines(), 1):
        kept = ALLOWED.sub("", line)
        yield from ((number, word) for word, pattern in _WORD.items() if pattern.search(kept))


def files(root: Path = ROOT) -> dict[str, list[Path]]:
    """Files of each area."""
    product = [*(root / "src").rglob("*.py"), *(root / "src").rglob("*.jinja")]
    pages = [*(root / "docs").glob("*.md"), root / "README.md"]
    others = [*(root / "tests").rglob("*.py"), *(root / "bench").rglob("*.py")]
    others += [*(root / "tools").glob("*.py"), root / "CONTRIBUTING.md"]
    own = {Path(__file__).name, "test_plain_words.py"}
    return {
        "src and docs": sorted([*product, *pages]),
        "crates": sorted((root / "crates").rglob("*.rs")),
        "tests, bench and tools": sorted(path for path in others if path.name not in own),
    }


def main() -> None:
    failed = False
    for area, paths in files().items():
        found = [
            (path, *place) for path in paths for place in places(path.read_text(encoding="utf-8"))
        ]
        counts = Counter(word for _, _, word in found)
        for word, count in counts.items():
            most = LEFT[area].get(word, 0)
            if count <= most:
                continue
            failed = True
            print(f"{area}: {count} lines with `{word}`, {most} allowed; write {WORDS[word]}")
            for path, number, _ in [place for place in found if place[2] == word][: count - most]:
                print(f"  {path.relative_to(ROOT)}:{number}")
    if failed:
        sys.exit("words of a private language; tools/plain_words.py says what to write instead")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    main()
