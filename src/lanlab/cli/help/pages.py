"""Help that fits on a screen, with pages by topic: `lanlab copy --help smb1`, or `all`."""

from __future__ import annotations

import contextlib
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lanlab.cli.help.groups import TITLES, grouped, is_common
from lanlab.errors import UsageError

#: Typer uses its own or those of click, by its version.
Click = Any
ALL = "all"
_PAGE = "lanlab.help_page"
_FLAGS = ("-h", "--help")
#: Typer's notation of a numeric range.
_RANGE = re.compile(r"([0-9]+)<=x<=([0-9]+)")
#: A default long enough for separators; no port is.
_DEFAULT = re.compile(r"(default: )([0-9]{6,})\b")
NO_LIMIT = 2**63 - 1
_TYPE = re.compile(r" <.*>$")
_EXAMPLES = re.compile(r"Examples?: ")
_NEXT_EXAMPLE = re.compile(r"; (?=\S*\s?lanlab )")
_MOST_EXAMPLES = 3


@contextlib.contextmanager
def whole_words() -> Iterator[None]:
    wrapper: Any = textwrap.TextWrapper
    kept = wrapper.wordsep_re
    wrapper.wordsep_re = wrapper.wordsep_simple_re
    try:
        yield
    finally:
        wrapper.wordsep_re = kept


def without_topic(ctx: Click, args: Sequence[str], names: Iterable[str]) -> list[str]:
    """The arguments without the topic after `--help`, which is stored in the context."""
    for place, word in enumerate(args[:-1]):
        topic = args[place + 1]
        if word == "--":
            break
        if word not in _FLAGS or topic.startswith("-"):
            continue
        topics = [*grouped(names), ALL]
        if topic in topics:
            ctx.meta[_PAGE] = topic
            return [*args[: place + 1], *args[place + 2 :]]
        if len(args) == 2:
            raise UsageError(f"no help topic `{topic}`", hint=f"topics: {', '.join(topics)}")
    return list(args)


def sections(ctx: Click, params: Mapping[str, Click]) -> dict[str, list[tuple[str, str]]]:
    """Help of the arguments and options on the requested page, by title."""
    page = ctx.meta.get(_PAGE)
    options = [name for name, param in params.items() if param.opts[0].startswith("-")]
    arguments = [name for name in params if name not in options]
    topics = grouped(options)
    shown = {"Arguments": [] if page in topics else arguments}
    for topic, names in topics.items():
        if page in (None, topic, ALL):
            shown[TITLES[topic]] = [name for name in names if page or is_common(name)]
    if not topics:
        shown["Options"] = options
    found = {
        title: [
            (_TYPE.sub("", name), _plain_range(text))
            for one in names
            if (record := _help_record(ctx, params[one], topics))
            for name, text in [record]
        ]
        for title, names in shown.items()
    }
    return {title: records for title, records in found.items() if records}


def every_section(ctx: Click, params: Mapping[str, Click]) -> dict[str, list[tuple[str, str]]]:
    ctx.meta[_PAGE] = ALL
    return sections(ctx, params)


def write_text(ctx: Click, formatter: Click, text: str, names: Iterable[str]) -> None:
    """Write the description of a command. Plain help has two paragraphs and a few examples."""
    page = ctx.meta.get(_PAGE)
    topics = grouped(names)
    if page in topics:
        return
    *prose, last = inspect.cleandoc(text).split("\n\n")
    examples = _examples(last)
    prose = prose if examples else [*prose, last]
    is_short = bool(topics) and page is None
    for paragraph in prose[:2] if is_short else prose:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(" ".join(paragraph.split()))
    if examples:
        with formatter.section("Examples"):
            for one in examples[:_MOST_EXAMPLES] if is_short else examples:
                formatter.write(_example(one, formatter.width))


def _examples(paragraph: str) -> list[str]:
    flowing = " ".join(paragraph.split())
    label = _EXAMPLES.match(flowing)
    return _NEXT_EXAMPLE.split(flowing[label.end() :]) if label else []


def _example(text: str, width: int) -> str:
    indent = "  "
    lines = textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent * 3, break_long_words=False
    )
    return "".join(f"{line}\n" for line in lines)


def write_topics(ctx: Click, formatter: Click, names: Iterable[str]) -> None:
    topics = grouped(names)
    more = [topic for topic, own in topics.items() if not all(map(is_common, own))]
    if ctx.meta.get(_PAGE) is None and more:
        formatter.write_paragraph()
        formatter.write_text(f"More options: {ctx.command_path} --help TOPIC")
        with formatter.indentation():
            formatter.write_text(f"TOPIC: {', '.join(more)}; or {ALL}")


def _help_record(ctx: Click, param: Click, topics: Mapping[str, object]) -> tuple[str, str] | None:
    record: tuple[str, str] | None = param.get_help_record(ctx)
    if record and param.name == "help":
        name = f"{record[0]} [TOPIC]" if topics else record[0]
        return name, "Show this help, or the options on TOPIC." if topics else "Show this help."
    return record


def range_words(low: int, high: int) -> str:
    """A range in words, for help and errors, without an upper bound that is only the store's."""
    return f"{low:,} or more" if high >= NO_LIMIT else f"{low:,} to {high:,}"


def _plain_range(text: str) -> str:
    """An option's help with its range in lanlab's notation: `1 to 10,000`."""
    found = _RANGE.sub(lambda one: range_words(int(one[1]), int(one[2])), text)
    found = _DEFAULT.sub(lambda one: f"{one[1]}{int(one[2]):,}", found)
    return found.replace("  [", " [")
