"""What to do about a server stands only where its cause was seen."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator, Sequence

import pytest
from copying import copy
from trial_running import Pair

from lanlab.errors import EngineError


@contextlib.contextmanager
def ftp_server(answers: Sequence[bytes]) -> Iterator[int]:
    """A server that greets with the first answer, and has the next one for each command."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def talk() -> None:
            with contextlib.suppress(OSError):
                while True:
                    there, _ = listener.accept()
                    with there, there.makefile("rb") as lines:
                        for answer in answers:
                            there.sendall(answer + b"\r\n")
                            lines.readline()

        threading.Thread(target=talk, daemon=True).start()
        yield listener.getsockname()[1]


@pytest.mark.parametrize(
    ("user", "answers", "code", "hint"),
    [
        ("me", [b"421 Too many connections"], "service.refused", "accepts no more sessions now"),
        ("me", [b"220 x", b"331 x", b"421 Too many"], "service.refused", "no more sessions"),
        (
            "me",
            [b"220 x", b"331 x", b"530 Login incorrect."],
            "service.login",
            "the user name and the password",
        ),
        (
            "me",
            [b"220 x", b"530 Non-anonymous sessions must use encryption."],
            "service.login",
            "use ftps://",
        ),
        ("", [b"220 x", b"530 No anonymous login here."], "service.login", "name a user"),
        ("me", [b"220 x", b"550 Not you."], "service.login", None),
    ],
)
def test_an_ftp_server_that_lets_nobody_in(
    pair: Pair,
    monkeypatch: pytest.MonkeyPatch,
    user: str,
    answers: list[bytes],
    code: str,
    hint: str | None,
) -> None:
    """A full one has no wrong port, and another refusal no wrong password."""
    monkeypatch.setenv("LANLAB_PASSWORD", "secret")
    with ftp_server(answers) as port:
        at = f"{user}@" if user else ""
        server = f"ftp://{at}127.0.0.1:{port}/"
        error = copy(pair.engines, server=server, timeout_s=2.0).error
    assert isinstance(error, EngineError)
    assert error.code == code
    assert error.hint is None if hint is None else hint in (error.hint or "")
