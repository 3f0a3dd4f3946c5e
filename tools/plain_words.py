"""
Words of a private language, which this project does not use, and what to write instead.

    python tools/plain_words.py            # prints each place that is not allowed, and fails

Product code in Python and the pages for users have none of them. Rust still has some in comments
and names: a change may not add any, and one that removes some lowers the number here.
"""

from __future__ import annotations

import re
import sys
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
}
#: Lines in Rust, at most.
LEFT_IN_RUST: Mapping[str, int] = {
    "told": 2,
    "beside": 13,
    "so many": 0,
    "so much": 0,
    "so long": 0,
    "whoever": 0,
    "whatever": 0,
    "nobody": 7,
    "crew": 0,
    "desk": 0,
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


def product(root: Path = ROOT) -> Iterator[Path]:
    """Files of Python code and of pages for users."""
    yield from sorted((root / "src").rglob("*.py"))
    yield from sorted((root / "src").rglob("*.jinja"))
    yield from sorted((root / "docs").glob("*.md"))
    yield root / "README.md"


def main() -> None:
    failed = False
    for path in product():
        for number, word in places(path.read_text(encoding="utf-8")):
            failed = True
            where = f"{path.relative_to(ROOT)}:{number}"
            print(f"{where}: `{word}`; write {WORDS[word]}")
    counts = dict.fromkeys(WORDS, 0)
    for path in (ROOT / "crates").rglob("*.rs"):
        for _, word in places(path.read_text(encoding="utf-8")):
            counts[word] += 1
    for word, count in counts.items():
        most = LEFT_IN_RUST.get(word, 0)
        if count > most:
            failed = True
            print(f"crates: {count} lines with `{word}`, {most} allowed; write {WORDS[word]}")
    if failed:
        sys.exit("words of a private language; tools/plain_words.py says what to write instead")


if __name__ == "__main__":
    main()
