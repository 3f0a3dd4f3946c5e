"""The manual page has what `--help` has."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import manual
import pytest
from missing import missing
from shown_options import shown_options

from lanlab.cli.app import COMMANDS


def section_of(name: str) -> str:
    _, _, rest = manual.page().partition(f'.SS "lanlab {name}"\n')
    return re.split(r"^\.S[SH] ", rest, maxsplit=1, flags=re.MULTILINE)[0].replace("\\-", "-")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_listed_in_its_section(name: str) -> None:
    section = section_of(name)
    heads = re.findall(r"^\.TP\n\\fB(.*)\\fR$", section, flags=re.MULTILINE)
    named = {word for head in heads for word in re.findall(r"(?<![\w-])--?[\w-]+", head)}

    assert shown_options(name) <= named
    assert f"lanlab {name}" in section


@pytest.mark.parametrize(
    "text", [".so /etc/passwd", "'quoted", "a\\b", "-x ~ ^ `bold`", "200 µs…", "a\n.b"]
)
def test_text_is_not_mistaken_for_a_request(text: str) -> None:
    if shutil.which("groff") is None:
        missing("there is no groff")
    source = f".TH X 1\n.nh\n.PP\n{manual._marked(' '.join(text.split()))}\n"
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-P-cbou"],
        input=source, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stderr == ""
    assert " ".join(text.replace("`", "").split()) in done.stdout


@pytest.mark.parametrize(
    "judge",
    [
        ["man", "--warnings=w", "--local-file"],
        ["groff", "-man", "-ww", "-Tutf8"],
        ["mandoc", "-Tlint", "-Wwarning"],
    ],
    ids=lambda judge: judge[0],
)
def test_formatters_find_nothing_wrong_with_the_page(judge: list[str], tmp_path: Path) -> None:
    if shutil.which(judge[0]) is None:
        missing(f"there is no {judge[0]}")
    if (
        judge[0] == "man"
        and b"--warnings"
        not in subprocess.run(["man", "--help"], capture_output=True, check=False).stdout
    ):
        pytest.skip("this man has no --warnings")
    page = tmp_path / "lanlab.1"
    page.write_text(manual.page())
    done = subprocess.run(
        [*judge, page],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"LC_ALL": "C.UTF-8"},
    )
    complaints = [
        line
        for line in (done.stdout if judge[0] == "mandoc" else done.stderr).splitlines()
        # The same sources are to make the same page on any day.
        if "missing date" not in line
    ]

    assert complaints == []
    assert judge[0] == "mandoc" or (done.returncode == 0 and "lanlab stations" in done.stdout)
