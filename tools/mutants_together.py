"""
Small faults of Rust that are built together: for `tools/mutants_rust.py`.

A function with faults gets one body for each of them next to its own, and the environment says
which of them runs. So a sample is compiled once, and a fault costs its tests alone. What cannot
stand so is left to the caller: a fault outside of a function, in one that constants call, in one
that returns `impl Trait`, in one around or within another.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mutants_engine import outlasts

#: Number of the fault that runs; none if it is missing.
_VARIABLE = "LANLAB_FAULT"
_CHOICE = f"""
pub(crate) fn fault_in_use() -> usize {{
    static NUMBER: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *NUMBER.get_or_init(|| std::env::var("{_VARIABLE}").map_or(0, |text| text.parse().unwrap()))
}}
"""
#: What is no code: comments, strings, characters.
_NO_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\])'""", re.DOTALL
)
#: All tests of a program take this, and `TIMES` what they take without a fault, at most.
MOST_S = 20.0
TIMES = 10
MOST_MEMORY_BYTES = 8 << 30


class Suite(NamedTuple):
    """Tests of a crate of the workspace."""

    crate: str
    #: Arguments for `cargo test`.
    options: tuple[str, ...] = ()
    #: What the tests' names hold.
    name: str = ""


class _Program(NamedTuple):
    """A program of tests."""

    path: Path
    suite: Suite


def together(
    tree: Path, suites: Sequence[Suite], faults: Sequence[dict[str, Any]], env: dict[str, str]
) -> Iterator[tuple[str, str]]:
    """
    Try faults, as `cargo mutants --list --json` lists them, with tests of their crate and others.

    Args:
        tree: The sources, which are as before at the end.
        suites: What tries them; those of the faults' crate are the first.
        faults: All of one crate.
        env: Environment of cargo and of the tests.

    Yields:
        Names and outcomes: `caught`, `missed` or `unviable`. Those left to the caller do not come.
    """
    numbered = {number: fault for number, fault in enumerate(faults, 1) if _can_stand(fault)}
    library = f"crates/{suites[0].crate}/src/lib.rs"
    names = {fault["file"] for fault in numbered.values()} | {library}
    right = {name: (tree / name).read_text() for name in names}
    try:
        while True:
            for name, text in right.items():
                own = {at: fault for at, fault in numbered.items() if fault["file"] == name}
                changed = with_faults(text, own)
                for at in own:
                    if _mark(at) not in changed:
                        del numbered[at]
                end = _CHOICE if name == library else ""
                (tree / name).write_text(changed + end)
            programs, errors = [], []
            for suite in suites:
                if not errors:
                    more, errors = _build(tree, suite, env)
                    programs += more
            if not errors:
                break
            for at, is_its_own in _blamed(tree, errors, numbered).items():
                fault = numbered.pop(at)
                if is_its_own:
                    yield fault["name"], "unviable"
        took_s = {}
        for program in programs:
            time_s = _passes(tree, program, env, 0, 600.0)
            if time_s is None:
                raise SystemExit(f"without a fault a test fails in {program.path}")
            took_s[program] = time_s
        for at, fault in numbered.items():
            is_missed = all(
                _passes(tree, program, env, at, MOST_S + TIMES * took_s[program]) is not None
                for program in sorted(programs, key=took_s.__getitem__)
            )
            yield fault["name"], "missed" if is_missed else "caught"
    finally:
        for name, text in right.items():
            (tree / name).write_text(text)


def with_faults(text: str, faults: dict[int, dict[str, Any]]) -> str:
    """
    A file whose functions hold, next to their bodies, those with faults, by their numbers.

    Of functions around each other the outermost has its faults alone.

    Args:
        text: The file.
        faults: By number, each with `function`, `span` and `replacement` of cargo-mutants.
    """
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)

    def place(point: dict[str, int]) -> int:
        return starts[point["line"] - 1] + point["column"] - 1

    code = _NO_CODE.sub(lambda found: " " * len(found[0]), text)
    functions: dict[tuple[int, int], list[int]] = {}
    for number, fault in faults.items():
        span = fault["function"]["span"]
        functions.setdefault((place(span["start"]), place(span["end"])), []).append(number)
    parts, done = [], 0
    for (start, end), numbers in sorted(functions.items()):
        named = re.compile(rf"\bfn\s+{re.escape(_name(faults[numbers[0]]))}\b")
        head = named.search(code, start, end)
        if start < done or head is None:
            continue
        opening, closing = _body(code, head.end()), end - 1
        # Constants do not choose. Where one calls this function, the compiler says so.
        constant = re.compile(r"\bconst\s+").search(code, start, head.start())
        cut, then = (constant.start(), constant.end()) if constant else (start, start)
        parts.append(text[done:cut] + text[then : opening + 1])
        parts.append(" match crate::fault_in_use() {\n")
        for number in numbers:
            span = faults[number]["span"]
            first, last = place(span["start"]), place(span["end"])
            body = text[opening + 1 : first] + faults[number]["replacement"]
            parts.append(f"{_mark(number)} {number} => {{ {body} {text[last:closing]}\n}}\n")
        parts.append(f"// Its own:\n_ => {{ {text[opening + 1 : closing]}\n}} }}")
        done = closing
    return "".join([*parts, text[done:]])


def _mark(number: int) -> str:
    return f"/* fault {number}. */"


def _can_stand(fault: dict[str, Any]) -> bool:
    function = fault["function"]
    return function is not None and "impl " not in function["return_type"]


def _name(fault: dict[str, Any]) -> str:
    return str(fault["function"]["function_name"]).rpartition("::")[2]


def _body(code: str, after: int) -> int:
    """Where the body of a function begins: its first brace outside of parentheses."""
    depth = 0
    for at in range(after, len(code)):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(code[at], 0)
        if code[at] == "{" and depth == 0:
            return at
    raise ValueError("a function without a body")


def _build(
    tree: Path, suite: Suite, env: dict[str, str]
) -> tuple[list[_Program], list[dict[str, Any]]]:
    """The programs of tests, or what the compiler found."""
    command = ["cargo", "test", "-p", f"lanlab-{suite.crate}", *suite.options]
    command += ["--no-run", "--message-format=json"]
    built = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True)
    messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
    errors = [
        message["message"]
        for message in messages
        if message["reason"] == "compiler-message"
        and message["message"]["level"] == "error"
        and message["message"]["spans"]
    ]
    if built.returncode != 0 and not errors:
        raise SystemExit(f"tests were not built:\n{built.stderr}")
    programs = [
        _Program(Path(message["executable"]), suite)
        for message in messages
        if message["reason"] == "compiler-artifact"
        and message["profile"]["test"]
        and message["executable"]
    ]
    return programs, errors


def _blamed(
    tree: Path, errors: list[dict[str, Any]], faults: dict[int, dict[str, Any]]
) -> dict[int, bool]:
    """The faults that errors lie in; as `False` those that cannot stand with others."""
    found: dict[int, bool] = {}
    for error in errors:
        if (error["code"] or {}).get("code") == "E0015":
            # A constant, or a constant function, calls it.
            called = set(re.findall(r"\w+", error["message"]))
            mine = {at for at, fault in faults.items() if _name(fault) in called}
            if mine:
                found |= dict.fromkeys(mine, False)
                continue
        for span in error["spans"]:
            path = tree / span["file_name"]
            if not (span["is_primary"] and path.is_file()):
                continue
            above = path.read_text().split("\n")[: span["line_start"]]
            marks = [line for line in above if line.startswith(("/* fault ", "// Its own:"))]
            number = re.match(r"/\* fault (\d+)\.", marks[-1]) if marks else None
            if number:
                found[int(number[1])] = True
            else:
                name = str(Path(span["file_name"]))
                found |= {at: False for at, fault in faults.items() if fault["file"] == name}
    found = {at: how for at, how in found.items() if at in faults}
    if not found:
        raise SystemExit("\n".join(str(error["rendered"]) for error in errors))
    return found


def _passes(
    tree: Path, program: _Program, env: dict[str, str], number: int, most_s: float
) -> float | None:
    """What the tests of a program take, s; `None` if one fails, or they take longer."""
    begin = time.monotonic()
    root = tree / "crates" / program.suite.crate
    process = subprocess.Popen(
        [program.path, "--quiet", *filter(None, [program.suite.name])],
        cwd=root,
        env=env | {_VARIABLE: str(number), "CARGO_MANIFEST_DIR": str(root)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_limit_memory,
    )
    if outlasts(process, most_s) or process.returncode != 0:
        return None
    return time.monotonic() - begin


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
