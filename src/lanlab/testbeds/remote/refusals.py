"""Translates OpenSSH's messages on failed connections into errors with hints."""

from __future__ import annotations

import re
import shlex

from lanlab.errors import LabError, RunError, UsageError
from lanlab.testbeds.remote.destinations import Destination

_MOST_CHARACTERS = 300


def refusal(destination: Destination, said: str, exit_code: int | None) -> LabError:
    """
    The error of a connection that could not be made.

    Args:
        said: ssh's standard error.
        exit_code: Exit code of ssh; `None` if it has not ended.
    """
    label, by_hand = destination.label, by_hand_command(destination)
    for pattern, error, message, hint in _KNOWN:
        found = re.search(pattern, said)
        if found is not None:
            detail = found[1] if found.groups() else ""
            words = {"label": label, "ssh": by_hand, "detail": detail}
            return error(message.format(**words), hint=hint.format(**words))
    last = next((line for line in reversed(said.splitlines()) if line.strip()), "")
    how = f"ssh ended with exit code {exit_code}" if exit_code is not None else "no answer"
    return RunError(
        f"{label}: cannot be reached by ssh: {last[:_MOST_CHARACTERS] or how}",
        hint=f"check that `{by_hand}` works without a prompt",
    )


def by_hand_command(destination: Destination, command: str = "true") -> str:
    port = "" if destination.port is None else f"-p {destination.port} "
    return f"ssh {port}{shlex.quote(destination.ssh or '')} {shlex.quote(command)}"


_KNOWN: tuple[tuple[str, type[LabError], str, str], ...] = (
    (
        r"REMOTE HOST IDENTIFICATION HAS CHANGED",
        UsageError,
        "{label}: the host key is not the one that ssh knows of this host",
        "it may be another machine; ask who runs it, and only then remove the old key with "
        "`ssh-keygen -R`",
    ),
    (
        r"Host key verification failed|No .* host key is known",
        UsageError,
        "{label}: ssh does not know the host key of this host",
        "connect once with `{ssh}`, compare the fingerprint, and accept the key",
    ),
    (
        r"Could not resolve hostname ([^:]+)",
        UsageError,
        "{label}: no host named `{detail}` is known here",
        "check the name, define it in ~/.ssh/config, or give an address",
    ),
    (
        r"Permission denied \(([^)]*)\)|Too many authentication failures",
        UsageError,
        "{label}: ssh login refused; the host allows: {detail}",
        "lanlab asks for no password: let a key in with `ssh-copy-id`, or start ssh-agent; "
        "`{ssh}` must work without a question",
    ),
    (
        r"Connection refused",
        UsageError,
        "{label}: no ssh server listens there (connection refused)",
        "start sshd there, or give its port as in `alice@nas:2222`",
    ),
    (
        r"No route to host|Network is unreachable",
        UsageError,
        "{label}: there is no route to this host",
        "check that it is up, and that `{ssh}` works",
    ),
    (
        r"banner exchange: .*timed out|timed out during banner exchange",
        UsageError,
        "{label}: this port accepts connections, but not as an ssh server",
        "give the port of sshd as in `alice@nas:2222`; `{ssh}` must work",
    ),
    (
        r"Connection timed out|Operation timed out",
        UsageError,
        "{label}: the host does not answer",
        "check that it is up and that no firewall drops ssh; `{ssh}` must work",
    ),
    (
        r"(Bad owner or permissions on [^\n]*|[^\n]*: Bad configuration option: [^\n]*)",
        UsageError,
        "{label}: ssh refuses its configuration: {detail}",
        "mend it until `{ssh}` works",
    ),
)
