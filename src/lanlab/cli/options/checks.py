"""Checks of a command's options before their values are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from lanlab.cli.help.overview import overview
from lanlab.cli.help.pages import (
    NO_LIMIT,
    Click,
    every_section,
    range_words,
    sections,
    whole_words,
    without_topic,
    write_text,
    write_topics,
)
from lanlab.cli.options.foreign import OWN_COMMANDS, own_option
from lanlab.errors import UsageError
from lanlab.units import PLAIN_NUMBER

#: By type: the pattern of a value, and its name in errors. `int` and `float` would also accept
#: digits of other scripts, `1_000`, `nan` and `inf`.
_NUMBERS: Mapping[object, tuple[re.Pattern[str], str]] = {
    int: (re.compile(r"\s*[+-]?[0-9]{1,30}\s*"), "a whole number"),
    float: (PLAIN_NUMBER, "a number"),
}


#: Types whose values need no conversion.
_PLAIN = (str, bool, str | None, bool | None)
_PLAIN_LISTS = (list[str], list[str] | None)

_DIGITS = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_NUMBER = re.compile(rf"{_DIGITS.pattern}[a-zA-Z/%]*")
_UNIT = re.compile(r"(?i:[kmgt]?i?b(?:it)?(?:/s|ps)?|%|[mun]?s(?:ec(?:onds?)?)?|min(?:utes?)?)")
_HOST = re.compile(r"(?:[\w.+-]+@)?[A-Za-z0-9][\w.-]*(?::[0-9]+)?")


class Commands(TyperGroup):
    def get_help(self, ctx: Click) -> str:
        return overview()

    def parse_args(self, ctx: Click, args: list[str]) -> list[str]:
        for param in self.get_params(ctx):
            _take_plain_as_it_is(param, None)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Click, args: list[str]) -> tuple[str | None, Click, list[str]]:
        hint = None if args[0] in self.commands else OWN_COMMANDS.get(args[0])
        if hint is not None and not ctx.resilient_parsing:
            raise UsageError(f"no such command: {args[0]}", hint=hint)
        return super().resolve_command(ctx, args)


class Command(TyperCommand):
    """A command with paged help. It refuses empty values, options as values, and non-numbers."""

    def get_help(self, ctx: Click) -> str:
        with whole_words():
            return super().get_help(ctx)

    def parse_args(self, ctx: Click, args: list[str]) -> list[str]:
        params = self.get_params(ctx)
        args = without_topic(ctx, args, self._options(ctx))
        hints = get_type_hints(self.callback) if self.callback is not None else {}
        for param in params:
            _take_plain_as_it_is(param, hints.get(param.name or ""))
        if args and not ctx.resilient_parsing:
            known = {name for param in params for name in param.opts}
            try:
                given, rest, _ = self.make_parser(ctx).parse_args(args=list(args))
            except Exception as error:
                # Typer's class for these errors is private.
                option = getattr(error, "option_name", None)
                hint = None
                if option is not None and option not in known:
                    hint = own_option(option, known, str(ctx.info_name))
                if hint is None:
                    raise
                raise UsageError(f"no such option: {option}", hint=hint) from None
            flags = {name for one in params if getattr(one, "is_flag", False) for name in one.opts}
            _refuse_loose_unit(rest, args, flags)
            _refuse_bare_host(rest, args, known)
            self._check(given, args, params, hints)
        return super().parse_args(ctx, args)

    def format_help_text(self, ctx: Click, formatter: Click) -> None:
        write_text(ctx, formatter, self.help or "", self._options(ctx))

    def format_options(self, ctx: Click, formatter: Click) -> None:
        params = {str(param.name): param for param in self.get_params(ctx)}
        for title, records in sections(ctx, params).items():
            with formatter.section(title):
                formatter.write_dl(records)
        write_topics(ctx, formatter, self._options(ctx))

    def sections(self, ctx: Click) -> Mapping[str, Sequence[tuple[str, str]]]:
        return every_section(ctx, {str(param.name): param for param in self.get_params(ctx)})

    def _options(self, ctx: Click) -> list[str]:
        return [str(one.name) for one in self.get_params(ctx) if one.opts[0].startswith("-")]

    @staticmethod
    def _check(
        given: Mapping[str, object],
        args: Sequence[str],
        params: Sequence[Click],
        hints: Mapping[str, object],
    ) -> None:
        known = {name for param in params for name in param.opts if name.startswith("-")}
        for param in params:
            value = given.get(param.name or "")
            if isinstance(value, str) and param.opts[0].startswith("-"):
                _check_value(param, value, args, known)
                check_number(param.opts[0], value, hints.get(param.name or ""))
                _check_range(param, value)


class _AsItIs:
    @staticmethod
    def coerce(value: object, **_: object) -> object:
        return value


class _AsList:
    @staticmethod
    def coerce(value: Iterable[object] | None, **_: object) -> object:
        return list(value or ())


def _take_plain_as_it_is(param: Click, hint: object) -> None:
    """Leave an omitted option, a text or a flag unconverted, as typer would, but without its
    parser: it would import pydantic and build a model for each of a command's dozens of options.
    """
    if hint in _PLAIN_LISTS:
        param.get_runtime_param = _AsList
    if param.multiple or param.nargs == -1:
        return
    if hint in _PLAIN or getattr(param, "is_flag", False):
        param.get_runtime_param = _AsItIs
    elif not param.required and param.callback is None:
        process = param.process_value
        param.process_value = lambda ctx, value: None if value is None else process(ctx, value)


def _refuse_loose_unit(rest: Sequence[str], args: Sequence[str], flags: set[str]) -> None:
    for number, unit in pairwise(args):
        if number in flags and unit in rest and _NUMBER.fullmatch(unit):
            raise UsageError(f"unexpected argument: {unit}", hint=f"{number} takes no value")
        if unit in rest and _DIGITS.fullmatch(number) and _UNIT.fullmatch(unit):
            raise UsageError(
                f"unexpected argument: {unit}",
                hint=f"omit the space between number and unit, e.g. `{number}{unit}`",
            )


def _refuse_bare_host(rest: Sequence[str], args: Sequence[str], known: set[str]) -> None:
    if rest and "--to" in known and not (rest[0].startswith("-") or "--to" in args):
        word = rest[0]
        raise UsageError(
            f"unexpected argument: {word}",
            hint=f"to measure to a host, use `--to {word}`"
            if _HOST.fullmatch(word)
            else (
                "name hosts with --to and --from; `lanlab stations` takes one server, "
                "`lanlab copy` and `lanlab metadata` several"
            ),
        )


def _check_value(param: Click, value: str, args: Sequence[str], known: set[str]) -> None:
    option, found = param.opts[0], "nothing"
    if value.strip():
        follows = any(first in param.opts and second == value for first, second in pairwise(args))
        if not (value in known and follows):
            return
        found = f"`{value}`, which is an option"
    raise UsageError(
        f"{option}: found {found}; allowed: {param.metavar or 'a value'}",
        hint=f"add a value after {option}, or omit it",
    )


def check_number(option: str, value: str, kind: object) -> None:
    """Refuse a non-number for an option whose type is `int` or `float`, or an optional one of
    these.
    """
    for one in get_args(kind) or (kind,):
        pattern, allowed = _NUMBERS.get(one, (None, ""))
        if pattern is not None and not pattern.fullmatch(value):
            raise UsageError(
                f"{option}: found `{value}`; allowed: {allowed}, in digits 0 to 9",
                hint=f"write e.g. `{option} 2`",
            )


def _check_range(param: Click, value: str) -> None:
    if param.min is None:
        return
    high = NO_LIMIT if param.max is None else param.max
    # A float has too few digits for the largest seed.
    number = (int if _NUMBERS[int][0].fullmatch(value) else float)(value)
    if not param.min <= number <= high:
        allowed = range_words(param.min, high)
        raise UsageError(f"{param.opts[0]}: found `{value}`; allowed: {allowed}")


def check_values(app: typer.Typer) -> None:
    for registered in app.registered_commands:
        registered.cls = Command
