"""Places and logins of file services: URLs of users' own servers, and passwords."""

from __future__ import annotations

import binascii
import contextlib
import ipaddress
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lanlab.addresses import bare, is_of_one_link, zone_of
from lanlab.errors import UsageError
from lanlab.frozen import dataclass
from lanlab.messages import Credentials, Target, Trust
from lanlab.service_options import options_of
from lanlab.services import SERVICES, schemes
from lanlab.user_files import read_user_file, text_of
from lanlab.workloads.services import private_keys

#: Largest password, and largest file of trusted certificates or host keys, bytes. The engine has
#: the second limit, too.
_MOST_PASSWORD_BYTES = 2**16
_MOST_TRUST_BYTES = 2**24
#: Prefix of a fingerprint: in hexadecimal digits, or in base64 as OpenSSH prints it.
_SHA256 = "sha256:"

#: Environment variables of a password, and of a file with it.
_VARIABLES = ("LANLAB_PASSWORD", "LANLAB_PASSWORD_FILE")

#: Passwords and passphrases from prompts, by URL; never written anywhere.
_asked: dict[str, str] = {}
_passphrases: dict[str, str] = {}


@dataclass(frozen=True)
class ServerUrl:
    text: str
    service: str
    host: str
    port: int | None
    user: str | None
    share: str | None
    directory: str
    #: Parameters after `?`.
    options: Mapping[str, str] = field(default_factory=dict)
    #: The user's domain, if given after `?`; for S3 the region.
    domain: str | None = None

    @property
    def needs_password(self) -> bool:
        return self.user is not None and SERVICES[self.service].has_users

    @property
    def usual_port(self) -> int | None:
        """The given port, or the default port of the service; `None` for a directory."""
        return self.port or SERVICES[self.service].port


def is_url(text: str) -> bool:
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text) is not None


def is_server_file(text: str) -> bool:
    """Whether a `server` parameter names a file that describes a server."""
    return text.endswith(".toml") and not is_url(text)


def parse_url(text: str) -> ServerUrl:
    """
    Read the URL of a file service, as in `smb://user@nas/share/below` or `sftp://host:2222/`.

    Raises:
        UsageError: The service is unknown, there is a password, or the host or share is missing.
    """
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"`{text}` is not a URL: {error}") from None
    if parts.password is not None:
        # The password is not repeated.
        raise UsageError(
            "a URL with a password, which the shell history and every user of this machine may see",
            hint="omit it; use LANLAB_PASSWORD, --password-file, or the prompt",
        )
    known = schemes()
    found = known.get(parts.scheme.lower())
    if found is None:
        allowed = ", ".join(sorted(known))
        raise UsageError(f"`{parts.scheme}://`: no such file service; allowed: {allowed}")
    service = found.name
    known_options = [row.key for row in options_of(found) if row.in_url]
    if found.domain_option is not None:
        known_options.append(found.domain_option)
    if (parts.query and not known_options) or parts.fragment:
        raise UsageError(f"`{text}`: found `?` or `#`; write them as %3F and %23")
    options = _options(text, parts.query, known_options)
    domain = options.pop(found.domain_option or "", None)
    path = unquote(parts.path)
    if found.is_local:
        if parts.netloc not in ("", "localhost"):
            raise UsageError(f"`{text}`: name the service of the remote files, e.g. sftp://")
        return ServerUrl(text, service, "", None, None, None, path)
    if not parts.hostname and not found.has_nearest:
        raise UsageError(f"`{text}`: no host; write it as {service}://HOST/…")
    # A zone follows `%25` (RFC 6874); most people write `%`.
    address, percent, zone = (parts.hostname or "").partition("%")
    host = f"{address}{percent}{unquote(zone.removeprefix('25'))}"
    if is_of_one_link(host) and not zone_of(host):
        raise UsageError(
            f"`{text}`: {host} is a link-local address without an interface",
            hint=f"add this host's interface to it, e.g. `[{host}%25eth0]`",
        )
    if found.port == 0 and port is not None:
        raise UsageError(f"`{text}`: {found.title} servers have no port")
    share: str | None = None
    names = [name for name in path.split("/") if name]
    if found.share == "export":
        share, names = "/" + "/".join(names), []
    elif found.share is not None:
        if not names:
            what = found.share
            raise UsageError(f"`{text}`: no {what}; write it as {service}://HOST/{what.upper()}")
        share = names.pop(0)
    user = unquote(parts.username) if parts.username else None
    directory = "/".join(names)
    if found.has_login_directory:
        directory = _from_login(path, names)
    return ServerUrl(text, service, host, port, user, share, directory, options, domain)


def _from_login(path: str, names: list[str]) -> str:
    """A directory in the engine's form, where paths begin at the login directory and a leading `/`
    means the root of the server. Other clients write `//` (or `/%2F`) for the root, and `/~/` for
    the login directory.
    """
    if path.startswith("//"):
        return f"/{'/'.join(names)}"
    return "/".join(names[1:] if names[:1] == ["~"] else names)


def _options(text: str, query: str, allowed: Sequence[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for part in query.split("&") if query else ():
        key, is_given, value = part.partition("=")
        if key not in allowed or not is_given:
            names = ", ".join(f"`{one}=`" for one in allowed)
            raise UsageError(
                f"`{text}`: found `{part}` after `?`; allowed: {names}",
                hint="write a `?` in a name as %3F",
            )
        if key in options:
            raise UsageError(f"`{text}`: found `{key}=` twice; allowed: once")
        options[key] = unquote(value)
    return options


def is_address(host: str) -> bool:
    with contextlib.suppress(ValueError):
        ipaddress.ip_address(host)
        return True
    return False


def is_local(text: str) -> bool:
    """Whether a `server` parameter names a directory of this host."""
    return parse_url(text).service == "directory"


def remember_password(url: str, secret: str) -> None:
    """Use this password for that URL until this process ends."""
    _asked[url] = secret


def password_of(url: ServerUrl) -> str | None:
    """The password for a URL: from a prompt, from LANLAB_PASSWORD, or from the file that
    LANLAB_PASSWORD_FILE names; `None` if there is none.

    Raises:
        UsageError: The file cannot be read.
    """
    if url.text in _asked:
        return _asked[url.text]
    secret, file = map(os.environ.get, _VARIABLES)
    return secret if secret is not None or file is None else read_password_file(Path(file))


def password_variable(server: str) -> str | None:
    """The environment variable from which this server would get a password, if any."""
    if not is_url(server) or server in _asked or not parse_url(server).needs_password:
        return None
    return next((name for name in _VARIABLES if name in os.environ), None)


def remember_passphrase(url: str, passphrase: str) -> None:
    _passphrases[url] = passphrase


def passphrase_of(url: ServerUrl) -> str | None:
    """The passphrase of the private key for a URL: from a prompt, or from LANLAB_PASSPHRASE."""
    return _passphrases.get(url.text, os.environ.get("LANLAB_PASSPHRASE"))


def check_password(secret: str, service: str) -> str:
    """
    A password that may be sent to a server.

    Args:
        service: Title of the service.

    Raises:
        UsageError: It is a private key.
    """
    if private_keys.is_private_key(secret):
        raise UsageError(
            f"{service} cannot use a private key as a password; it was not sent",
            hint="give the user's password; only sftp:// uses private keys",
        )
    return secret


def agent_of(url: ServerUrl) -> str | None:
    """The placeholder for a password if a running ssh-agent logs in; `None` if there is none."""
    socket = os.environ.get("SSH_AUTH_SOCK")
    return f"ssh-agent:{socket}" if url.service == "sftp" and socket else None


def read_password_file(path: Path) -> str:
    """The password in a file: all of it, without the final line feed.

    Raises:
        UsageError: The file cannot be read, is not a regular file, empty or too long, or others
            may read it.
    """
    content = read_user_file(path, "password file", _MOST_PASSWORD_BYTES)
    if not content.strip():
        raise UsageError(f"password file `{path}` is empty", hint="write the password into it")
    if path.stat().st_mode & 0o077:
        hint = f"chmod 600 {shlex.quote(str(path))}"
        raise UsageError(f"password file `{path}` is readable by other users", hint=hint)
    try:
        return text_of(content).removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        found = "UTF-16" if "UTF-16" in error.reason else "no UTF-8"
        raise UsageError(
            f"password file `{path}`: found {found}; allowed: UTF-8", hint="save it as UTF-8"
        ) from None


def target_of(url: ServerUrl, trust: str | None) -> Target:
    """
    A user's own server in a request to an engine, with its password and without its address.

    Args:
        trust: `sha256:HEX` of a certificate or host key, `SHA256:` and its base64 as `ssh-keygen
            -l` prints it, or the path of a file of trusted ones; `None`: the system's trust.

    Raises:
        UsageError: It needs a password and there is none, or the file of trusted certificates or
            keys cannot be read.
    """
    if url.service == "directory":
        return {"service": "directory", "directory": url.directory}
    secret = password_of(url)
    if url.needs_password and secret is None:
        raise UsageError(
            f"no password for `{url.text}`",
            hint="give it in LANLAB_PASSWORD, or name a file by LANLAB_PASSWORD_FILE",
        )
    trusted = checked_trust(trust)
    service = SERVICES[url.service]
    if secret is not None and url.service != "sftp":
        check_password(secret, service.title)
    credentials: Credentials | None = None
    if url.user is not None:
        credentials = {"user": url.user, "secret": secret or ""}
        if private_keys.is_private_key(secret or ""):
            if private_keys.needs_passphrase(secret or ""):
                credentials |= {"passphrase": passphrase_of(url)}
        elif url.domain is not None:
            credentials |= {"domain": url.domain}
        # The form of URLs and that of Windows.
        separated = re.fullmatch(r"([^;\\]*)[;\\](.*)", url.user)
        if service.has_domains and separated:
            credentials |= {"user": separated[2], "domain": separated[1]}
    return {
        "service": service.engine_name,
        "port": url.port,
        # A zone has no meaning to the server.
        "server_name": bare(url.host) or None,
        "share": url.share,
        "directory": url.directory,
        "credentials": credentials,
        "trust": trusted,
    }


def trust_of(trust: str | None) -> Trust:
    """The server's trust in the form of a request to an engine.

    Raises:
        UsageError: It is not a SHA-256.
    """
    if trust is None:
        return "system"
    if trust[: len(_SHA256)].lower() == _SHA256:
        return {"sha256": _digits_of(trust[len(_SHA256) :])}
    return {"file": str(Path(trust).absolute())}


def checked_trust(trust: str | None) -> Trust:
    """As `trust_of`; also checks the file, which the engine reads.

    Raises:
        UsageError: It is not a SHA-256, or the file cannot be read.
    """
    trusted = trust_of(trust)
    if isinstance(trusted, dict) and "file" in trusted:
        read_user_file(Path(trusted["file"]), "trust file", _MOST_TRUST_BYTES)
    return trusted


def _digits_of(fingerprint: str) -> str:
    """The 64 hexadecimal digits of a SHA-256, from those (with or without colons between bytes) or
    from 43 characters of base64, which OpenSSH writes without `=`.

    Examples:
        >>> _digits_of("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU")[:8]
        'e3b0c442'
    """
    digits = fingerprint.replace(":", "").lower()
    if re.fullmatch(r"[0-9a-f]{64}", digits):
        return digits
    base64 = fingerprint.rstrip("=")
    if re.fullmatch(r"[A-Za-z0-9+/]{43}", base64):
        return binascii.a2b_base64(f"{base64}=").hex()
    raise UsageError(
        "trust: malformed text; allowed: sha256: and 64 hexadecimal digits, or SHA256: and 43 "
        "characters of base64",
        hint="`ssh-keygen -lf KEY.pub` prints it for a host key, `openssl x509 -noout -fingerprint "
        "-sha256` for a certificate",
    )
