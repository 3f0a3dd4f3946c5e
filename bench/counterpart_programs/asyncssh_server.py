"""AsyncSSH with one user: PORT ROOT USER PASSWORD KEY."""

import asyncio
import sys

import asyncssh

port, root, user, password, key = sys.argv[1:]


class Server(asyncssh.SSHServer):
    """One user with a password."""

    def begin_auth(self, username: str) -> bool:
        """Everybody must log in."""
        return True

    def password_auth_supported(self) -> bool:
        """By password."""
        return True

    def validate_password(self, username: str, given: str) -> bool:
        """Let one user in."""
        return (username, given) == (user, password)


async def main() -> None:
    """Serve until killed."""
    await asyncssh.listen(
        "127.0.0.1",
        int(port),
        server_factory=Server,
        server_host_keys=[key],
        sftp_factory=lambda channel: asyncssh.SFTPServer(channel, chroot=root),
    )
    await asyncio.Event().wait()


asyncio.run(main())
