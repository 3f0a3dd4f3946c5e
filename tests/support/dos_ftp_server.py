"""An FTP server as DOS has them: names have 8 characters, a dot and 3; others are refused."""

import contextlib
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

_SHORT = re.compile(r"[A-Za-z0-9_-]{1,8}(\.[A-Za-z0-9_-]{1,3})?")


@contextlib.contextmanager
def dos_ftp_server(root: Path, *, is_read_only: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Serve a directory to everybody; gives the port, and the commands that come."""
    commands: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    there, _ = listener.accept()
                    session = _Session(there, root, commands, is_read_only)
                    threading.Thread(target=session.talk, daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1], commands


class _Session:
    def __init__(
        self, there: socket.socket, root: Path, commands: list[str], is_read_only: bool
    ) -> None:
        self._there, self._root, self._commands = there, root, commands
        self._is_read_only = is_read_only
        self._data: socket.socket | None = None
        self._directory = root

    def talk(self) -> None:
        with contextlib.suppress(OSError), self._there:
            self._say("220 DOS")
            # mTCP's FTPSRV of 2013 executes only the first command of a segment.
            while segment := self._there.recv(4096):
                command = segment.decode().split("\r\n")[0]
                self._commands.append(command)
                verb, _, rest = command.partition(" ")
                self._say(self._answer(verb.upper(), rest))

    def _say(self, text: str) -> None:
        self._there.sendall(f"{text}\r\n".encode())

    def _answer(self, verb: str, rest: str) -> str:
        if verb in ("USER", "PASS", "TYPE", "NOOP", "OPTS"):
            return "230 in" if verb in ("USER", "PASS") else "200 done"
        if verb == "FEAT":
            return "211-has\r\n MDTM\r\n SIZE\r\n211 end"
        if verb == "PWD":
            return '257 "/"'
        if verb == "PASV":
            self._data = socket.create_server(("127.0.0.1", 0))
            port = self._data.getsockname()[1]
            return f"227 at (127,0,0,1,{port >> 8},{port & 255})"
        if verb == "QUIT":
            return "221 bye"
        path = self._path(rest)
        if path is None:
            return "550 no such name"
        try:
            return self._on(verb, path)
        except OSError as error:
            return f"550 {error.strerror}"

    def _path(self, name: str) -> Path | None:
        names = [one for one in name.split("/") if one not in ("", ".")]
        if not all(_SHORT.fullmatch(one) for one in names):
            return None
        return (self._root if name.startswith("/") else self._directory).joinpath(*names)

    def _on(self, verb: str, path: Path) -> str:
        if verb in ("MKD", "STOR", "DELE", "RMD") and self._is_read_only:
            return "550 the disk is write-protected"
        if verb == "SIZE":
            return f"213 {path.stat().st_size}"
        if verb == "MKD":
            path.mkdir()
            return "257 made"
        if verb == "CWD":
            if not path.is_dir():
                return "550 no such directory"
            self._directory = path
            return "250 there"
        if verb == "DELE":
            path.unlink()
            return "250 deleted"
        if verb == "RMD":
            path.rmdir()
            return "250 removed"
        if verb in ("STOR", "RETR", "LIST"):
            return self._transfer(verb, path)
        return "502 not here"

    def _transfer(self, verb: str, path: Path) -> str:
        assert self._data is not None
        if verb == "RETR":
            content = path.read_bytes()
        elif verb == "LIST":
            # As DOS has it: what is not there has an empty listing.
            found = sorted(path.iterdir()) if path.is_dir() else []
            content = b"".join(map(_line, found))
        self._say("150 begins")
        with self._data as listener, listener.accept()[0] as there:
            if verb == "STOR":
                with path.open("xb") as file:
                    while piece := there.recv(1 << 16):
                        file.write(piece)
            else:
                there.sendall(content)
        return "226 ended"


def _line(path: Path) -> bytes:
    kind = "d" if path.is_dir() else "-"
    size = 0 if path.is_dir() else path.stat().st_size
    return f"{kind}rw-r--r-- 1 dos dos {size} Jan 01 1990 {path.name}\r\n".encode()
