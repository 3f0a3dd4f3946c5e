"""URLs of users' own servers, and whom to trust there."""

import base64
import hashlib
import re

import pytest

from lanlab.errors import UsageError
from lanlab.workloads.services.server_url import parse_url, target_of, trust_of

DIGEST = hashlib.sha256(b"a host key")
HEX, BASE64 = DIGEST.hexdigest(), base64.b64encode(DIGEST.digest()).decode()


@pytest.mark.parametrize(
    ("path", "directory"),
    [
        ("/data", "data"),
        ("/~/data/a", "data/a"),
        ("/~", ""),
        ("//data", "/data"),
        ("/%2Fdata", "/data"),
        ("//", "/"),
        ("/", ""),
        ("", ""),
    ],
)
@pytest.mark.parametrize("scheme", ["sftp", "ftp", "ftps"])
def test_a_path_begins_at_the_login_by_default(scheme: str, path: str, directory: str) -> None:
    assert parse_url(f"{scheme}://me@nas{path}").directory == directory


@pytest.mark.parametrize("before", ["", "me@"])
def test_a_url_without_a_host_means_the_nearest_server_if_the_service_finds_servers(
    before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANLAB_PASSWORD", "secret")
    url = parse_url(f"ncp://{before}/SYS/DATA/A")
    assert (url.host, url.share, url.directory) == ("", "SYS", "DATA/A")
    assert target_of(url, None)["server_name"] is None
    assert target_of(parse_url("ncp://fs1/SYS"), None)["server_name"] == "fs1"
    for scheme in ("smb1+ipx", "smb1+nbf", "smb", "sftp"):
        with pytest.raises(UsageError, match=f"no host; write it as {re.escape(scheme)}://HOST/"):
            parse_url(f"{scheme}://{before}/SYS/DATA")
    with pytest.raises(UsageError, match="no volume"):
        parse_url(f"ncp://{before}/")


def test_without_a_login_directory_a_tilde_is_a_name() -> None:
    assert parse_url("webdav://nas/~/data").directory == "~/data"
    assert parse_url("webdav://nas//data").directory == "data"


@pytest.mark.parametrize(
    "text",
    [
        f"sha256:{HEX}",
        f"SHA256:{HEX.upper()}",
        "sha256:" + ":".join(HEX[at : at + 2].upper() for at in range(0, 64, 2)),
        f"SHA256:{BASE64.rstrip('=')}",
        f"sha256:{BASE64}",
    ],
)
def test_a_fingerprint_may_be_written_as_other_programs_print_it(text: str) -> None:
    assert trust_of(text) == {"sha256": HEX}


@pytest.mark.parametrize(
    "text", ["SHA256:", "sha256:00", f"SHA256:{BASE64[:40]}", "SHA256:" + 43 * "*"]
)
def test_an_invalid_fingerprint_is_refused_and_not_read_as_a_file(text: str) -> None:
    with pytest.raises(UsageError, match="allowed: sha256: and 64 hexadecimal digits") as refused:
        trust_of(text)
    assert "ssh-keygen -lf" in (refused.value.hint or "")


@pytest.mark.parametrize("user", ["CORP;bob", "CORP%5Cbob", "CORP\\bob"])
def test_a_windows_domain_user_can_be_written_either_way(
    user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANLAB_PASSWORD", "secret")
    told = target_of(parse_url(f"smb://{user}@nas/share"), None)["credentials"]
    assert told == {"user": "bob", "domain": "CORP", "secret": "secret"}
    plain = target_of(parse_url("sftp://carol%40corp.example@nas/"), None)["credentials"]
    assert plain["user"] == "carol@corp.example"
