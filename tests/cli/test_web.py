"""`lanlab web` as its users start and end it."""

import json
import os
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from command_line import COMMAND


def _started(*options: str, **settings: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "web", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **settings},
    )


def _ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=30)
    assert process.returncode == 0, said
    return said


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "store.sqlite")


def test_it_prints_an_address_that_answers_and_ends_by_ctrl_c(store: str) -> None:
    process = _started("--store", store)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    assert lines[0].split() == ["store", store]
    assert lines[2] == "end it with Ctrl-C\n"
    url = lines[1].split()[1]
    with urllib.request.urlopen(url, timeout=20) as answer:
        assert b"<h1>Runs</h1>" in answer.read()
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(url.rsplit("/", 2)[0] + "/wrong/", timeout=20)
    out, err = _ended(process)
    assert err == ""
    token = url.rsplit("/", 2)[1]
    assert token not in out
    assert not Path(store).exists()


def test_programs_get_the_address_as_json(store: str) -> None:
    process = _started("--store", store, "--json")
    assert process.stdout is not None
    text = "".join(iter(process.stdout.readline, "}\n")) + "}"
    assert json.loads(text)["url"].startswith("http://127.0.0.1:")
    _ended(process)


def test_the_token_is_in_no_argument_of_the_browser(store: str, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    program = tmp_path / "browser"
    program.write_text(
        '#!/bin/sh\nfile="${1#file://}"\n'
        f'{{ echo "$1"; stat -c %a "$(dirname "$file")"; cat "$file"; }} > {seen}.new\n'
        f"mv {seen}.new {seen}\n"
    )
    program.chmod(0o755)
    process = _started("--store", store, "--open", BROWSER=str(program))
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    url = lines[1].split()[1]
    for _ in range(200):
        if seen.exists():
            break
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    address, mode, *text = seen.read_text().splitlines()
    assert url.rsplit("/", 2)[1] not in address
    assert mode == "700"
    assert url in "\n".join(text)
    _ended(process)
    assert not Path(address.removeprefix("file://")).exists()
