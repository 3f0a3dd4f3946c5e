"""A PostgreSQL server of the tests' own: made, started, stopped and surely ended."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

from missing import missing
from programs import ran

#: Debian keeps the server's programs off PATH, in a folder for each version.
_DEBIAN = Path("/usr/lib/postgresql")
_PATIENCE_S = 60.0


def server_programs() -> Path:
    """The folder of `initdb` and `postgres`, or a skip; with LANLAB_REQUIRE_PEERS=1 a failure."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += sorted(_DEBIAN.glob("*/bin"), key=lambda path: -int(path.parent.name))
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    return missing("need PostgreSQL's `initdb` and `postgres`, not found; apt install postgresql")


class PostgresServer:
    """
    A cluster in a folder of its own, on a free port of 127.0.0.1 and on a local socket.

    It keeps what it acknowledges (`fsync` is on), lets `user` in by SCRAM alone, and has one empty
    database, `lab`.
    """

    user = "ada"
    password = "s3cr:et\\"
    database = "lab"

    def __init__(self) -> None:
        self._programs = server_programs()
        self.folder = Path(tempfile.mkdtemp(prefix="lanlab-postgres-"))
        self._become: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0
        try:
            self._make()
            self.start()
            self._first_database()
        except BaseException:
            self.close()
            raise

    def _make(self) -> None:
        if os.geteuid() == 0:
            # PostgreSQL refuses to run as root.
            import pwd

            names = {entry.pw_name for entry in pwd.getpwall()}
            name = "postgres" if "postgres" in names else "nobody"
            entry = pwd.getpwnam(name)
            os.chown(self.folder, entry.pw_uid, entry.pw_gid)
            ids = [f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups"]
            self._become = ["setpriv", *ids]
        secret = self.folder / "password"
        secret.write_text(self.password + "\n")
        secret.chmod(0o644)
        self._run(
            str(self._programs / "initdb"),
            *("--pgdata", str(self.folder / "data"), "--username", self.user),
            *("--pwfile", str(secret), "--auth", "scram-sha-256", "--encoding", "UTF8"),
            *("--no-locale", "--no-sync"),
        )

    def _run(self, *command: str) -> None:
        done = ran([*self._become, *command], cwd="/")
        assert done.returncode == 0, done.stderr

    def start(self, *settings: str) -> None:
        assert self._process is None
        deadline = time.monotonic() + _PATIENCE_S
        # It stays the same, so that a store's URL means the same after a restart.
        self.port = self.port or _free_port()
        options = [
            f"port={self.port}",
            "listen_addresses=127.0.0.1",
            f"unix_socket_directories={self.folder}",
            "fsync=on",
            "max_connections=30",
            "shared_buffers=16MB",
            *settings,
        ]
        # Should this process be killed, the kernel ends the server (`SIGQUIT`: at once).
        dying = []
        if shutil.which("setpriv"):
            dying = [*(self._become or ["setpriv"]), "--pdeathsig", "QUIT"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *dying,
                    str(self._programs / "postgres"),
                    *("-D", str(self.folder / "data")),
                    *(part for option in options for part in ("-c", option)),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
            )
        while time.monotonic() < deadline:
            assert self._process.poll() is None, (self.folder / "log").read_text()
            # The file says so only when connections are taken; before, it may be empty or cut.
            with contextlib.suppress(OSError, IndexError, ValueError):
                state = (self.folder / "data" / "postmaster.pid").read_text().split("\n")
                if int(state[0]) == self._process.pid and state[7].strip() == "ready":
                    return
            time.sleep(0.02)
        raise AssertionError(f"PostgreSQL did not start within {_PATIENCE_S:g} s")

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(number)
        try:
            process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _first_database(self) -> None:
        self.sql(f"CREATE DATABASE {self.database}", database="postgres")

    def sql(self, *statements: str, database: str = "") -> list[list[object]]:
        """Execute statements as the owner of everything; gives the last one's rows."""
        import pg8000.native

        connection = pg8000.native.Connection(
            self.user,
            host="127.0.0.1",
            port=self.port,
            database=database or self.database,
            password=self.password,
            timeout=30,
        )
        try:
            rows: list[list[object]] = []
            for statement in statements:
                rows = connection.run(statement) or []
            return rows
        finally:
            connection.close()

    def url(self, schema: str = "", *, local: bool = False, **options: str) -> str:
        """A store's URL, by TCP or by the local socket; there is no password in it."""
        host = urllib.parse.quote(str(self.folder), safe="") if local else "127.0.0.1"
        if schema:
            options["schema"] = schema
        query = f"?{urllib.parse.urlencode(options)}" if options else ""
        return f"postgresql://{self.user}@{host}:{self.port}/{self.database}{query}"

    def close(self) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    try:
        yield server
    finally:
        server.close()
