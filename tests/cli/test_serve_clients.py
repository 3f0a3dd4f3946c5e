"""`lanlab serve` says who connects, and bounds what a flood has it say."""

import re
import signal
import socket
from pathlib import Path

import pytest
from served import serving


def _dialogue(address: str, *lines: str) -> list[str]:
    port = int(address.rpartition(":")[2].strip("/"))
    with socket.create_connection(("127.0.0.1", port), timeout=20) as stream:
        file = stream.makefile("rw", newline="\r\n", encoding="utf-8")
        said = [file.readline()]
        for line in lines:
            file.write(f"{line}\n")
            file.flush()
            said.append(file.readline())
        return said


def test_log_lines_name_logins_and_refusals(tmp_path: Path) -> None:
    with serving(str(tmp_path), "--service", "ftp", "--user", "anna") as (server, said):
        assert server.stdout is not None
        _dialogue(said["address"], "USER b\x1b[2Job", "PASS x")
        _dialogue(said["address"], "USER anna", f"PASS {said['password']}", "MKD new")
        lines = [server.stdout.readline() for _ in range(3)]
    wanted = (
        r"127\.0\.0\.1  refused: wrong password or user `b\?\[2Job`",
        r"127\.0\.0\.1  logged in as anna",
        r"127\.0\.0\.1  refused: a change: the directory is served read-only",
    )
    for line, words in zip(lines, wanted, strict=True):
        assert re.fullmatch(rf"\d\d:\d\d:\d\d    {words}\n", line), line


@pytest.mark.parametrize(("more", "most"), [((), 60), (("--quiet",), 0)])
def test_a_flood_of_connections_prints_few_lines(
    more: tuple[str, ...], most: int, tmp_path: Path
) -> None:
    with serving(str(tmp_path), "--service", "ftp", *more) as (server, said):
        port = int(said["address"].rpartition(":")[2].strip("/"))
        for number in range(400):
            here = (f"127.0.{1 + number // 200}.{1 + number % 200}", 0)
            with socket.create_connection(("127.0.0.1", port), 20, source_address=here) as stream:
                assert stream.recv(3) == b"220"
        assert server.stdout is not None
        first = server.stdout.readline() if most else ""
        server.send_signal(signal.SIGINT)
        out, _ = server.communicate(timeout=20)
        lines = [line for line in (first + out).splitlines() if "left without a login" in line]
        assert (bool(lines), len(lines) <= most) == (most > 0, True), out
        assert "served      400 connections" in out
