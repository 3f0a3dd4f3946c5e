"""Programs of a host reached by ssh: found and started there, and ended with the connection."""

from __future__ import annotations

import secrets
import shlex
import subprocess
from collections.abc import Callable, Sequence

from lanlab.errors import RunError
from lanlab.frozen import dataclass
from lanlab.pipes import run_briefly

_WITHIN_S = 10.0
#: Reads a one-line script and runs it; the following words are `$0` and `$@`. The login shell may
#: be any: `lanlab.testbeds.remote.connection.HOLDER` explains why the script is not part of the
#: command.
_READ = """exec sh -c 'read -r script; eval "$script"'"""
#: Marks where the program's output begins, runs it, ends it when the connection or lanlab ends, and
#: finally prints its CPU time to the error output (`times` of POSIX).
_SCRIPT = (
    'echo "$0"; exec 3<&0; "$@" 3<&- </dev/null & p=$!; '
    "(read -r x <&3; kill -9 $p) >/dev/null 2>&1 & w=$!; "
    "wait $p; c=$?; kill $w 2>/dev/null; times >&2; exit $c"
)


@dataclass(frozen=True)
class StartedThere:
    argv: tuple[str, ...]
    first_line: str
    mark: str


@dataclass(frozen=True)
class RemotePrograms:
    label: str
    command: Callable[..., tuple[str, ...]]

    def started(self, argv: Sequence[str]) -> StartedThere:
        mark = f"lanlab-{secrets.token_hex(8)}"
        words = self.command(_READ, mark, *map(shlex.quote, argv))
        return StartedThere(words, f"{_SCRIPT}\n", mark)

    def printed_by(self, *argv: str) -> str | None:
        """
        The output of a short-lived program there; `None` if it is missing or failed.

        Raises:
            RunError: There was no answer.
        """
        words = self.command('exec sh -c \'exec "$0" "$@"\'', *map(shlex.quote, argv))
        try:
            done = run_briefly(words, _WITHIN_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RunError(f"{self.label}: `{argv[0]}`: {error}", host=self.label) from None
        return done.stdout if done.returncode == 0 else None
