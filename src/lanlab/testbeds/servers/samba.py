"""
Samba, for SMB 2 and 3, and, with its old dialects enabled, for SMB 1.

It has its own users, but each must exist on the system as well. The requested name is mapped to the
server's own user (`username map`).
"""

from __future__ import annotations

from lanlab.errors import UnmetNeed
from lanlab.testbeds.servers.base import Launch, Place, Server
from lanlab.testbeds.servers.users import other_user

SHARE = "data"

_NEW_DIALECTS = "server min protocol = SMB2_02"
# The responses of these dialects are weak, and accepted only if SMB 1 was requested. Messages are
# signed if the client requests it.
_OLD_DIALECTS = """\
server min protocol = LANMAN1
ntlm auth = ntlmv1-permitted
lanman auth = yes
server signing = auto"""


class Samba(Server):
    name = "samba"
    services = ("smb", "smb1")
    programs = ("smbd", "pdbedit")
    how_to_get = "apt install samba"
    needs_user = True

    def __init__(self, *settings: str) -> None:
        """
        Args:
            settings: More lines of its configuration, for all shares.
        """
        self._settings = settings

    def launch(self, place: Place) -> Launch:
        assert place.credentials is not None
        (port,) = place.ports
        place.folder("state")
        place.write("users", f"{place.user} = {place.credentials.user}\n")
        text = place.fill(
            "samba.conf",
            port=port,
            address=place.address,
            guest=_another_user(place.user),
            private=place.private,
            dialects=_OLD_DIALECTS if place.service == "smb1" else _NEW_DIALECTS,
            settings="\n".join(self._settings),
            share=SHARE,
            served=place.served,
            user=place.user,
        )
        configuration = str(place.write("smb.conf", text))
        password = f"{place.credentials.secret}\n"
        make_user = [self.path("pdbedit"), "-s", configuration, "-a", "-t", "-u", place.user]
        place.run(make_user, password * 2)
        logs = (place.private / "smbd.log", place.private / "log.smbd")
        # smbd tries to lead a process group, which the leader of a session must not. At its end it
        # kills its group, so the keeper gives it a separate one.
        argv = [self.path("smbd"), "-F", "--no-process-group", "-s", configuration]
        return Launch([*argv, "-l", str(place.private)], port, share=SHARE, logs=logs)


def _another_user(user: str) -> str:
    """A system user for Samba's guest account: it must exist, and cannot log in."""
    if (other := other_user(user)) is not None:
        return other
    raise UnmetNeed("server `samba` needs a second system user", hint="useradd a user")
