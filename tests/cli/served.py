"""`lanlab serve` as a process, and what it said."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from command_line import COMMAND
from programs import ran

from lanlab.testbeds.namespaces import Namespace

#: The last one is of a line that goes on with the one before.
_FIELDS = (
    *(
        "serving",
        "address",
        "reached",
        "clients",
        "mount",
        "user",
        "password",
        "signing",
        "identity",
        "dialects",
    ),
    "protection",
    "",
)


@contextmanager
def serving(
    *argv: str, prefix: Sequence[str] = ()
) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """
    A server, and what it said in its first lines.

    Args:
        prefix: Put before the command, starts it on another host.
    """
    server = subprocess.Popen(
        [*prefix, *COMMAND, "serve", *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    try:
        said: dict[str, str] = {}
        for line in server.stdout:
            name, _, rest = line.partition(" ")
            if name not in _FIELDS:
                break
            said[name] = rest.strip()
        yield server, said
    finally:
        server.kill()
        server.communicate()


def run_at(
    host: Namespace, *argv: str, store: Path, password: str = ""
) -> subprocess.CompletedProcess[str]:
    """A command on another host."""
    return ran(
        [*host.command_prefix, *COMMAND, *argv],
        env=os.environ | {"LANLAB_PASSWORD": password, "LANLAB_STORE": str(store)},
    )
