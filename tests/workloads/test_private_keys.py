"""A private key in place of a password is used over SSH, and reaches no other service."""

import subprocess
from pathlib import Path

import pytest

from lanlab.errors import UsageError
from lanlab.services import SERVICES
from lanlab.workloads.services import server_url
from lanlab.workloads.services.private_keys import needs_passphrase

_KEYS = (
    "-----BEGIN RSA PRIVATE KEY-----\nMII",
    "\ufeff\r\n \r\n-----BEGIN PRIVATE KEY-----\r\nMII",
    "Bag Attributes\n    friendlyName: me\n-----BEGIN ENCRYPTED PRIVATE KEY-----\nMII",
    "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nabc",
    "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n",
)


@pytest.mark.parametrize("key", _KEYS)
@pytest.mark.parametrize(
    "service", [one.name for one in SERVICES.values() if one.has_users and one.name != "sftp"]
)
def test_a_private_key_is_not_a_password_for_another_service(
    monkeypatch: pytest.MonkeyPatch, service: str, key: str
) -> None:
    monkeypatch.setenv("LANLAB_PASSWORD", key)
    url = server_url.parse_url(f"{service}://me@host/share")
    with pytest.raises(UsageError, match="it was not sent") as refused:
        server_url.target_of(url, None)
    assert "BEGIN" not in str(refused.value)


@pytest.mark.parametrize("key", _KEYS)
def test_a_private_key_logs_in_over_ssh(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("LANLAB_PASSWORD", key)
    monkeypatch.setenv("LANLAB_PASSPHRASE", "opens it")
    url = server_url.parse_url("sftp://me@host/")
    credentials = server_url.target_of(url, None)["credentials"]
    assert credentials["secret"] == key
    assert credentials.get("passphrase") == ("opens it" if "ENCRYPTED PRI" in key[20:] else None)


def test_lanlab_prompts_for_the_passphrase_of_a_key(tmp_path: Path) -> None:
    for form in ("RFC4716", "PEM", "PKCS8"):
        for passphrase in ("", "a passphrase"):
            path = tmp_path / f"{form}{len(passphrase)}"
            made = ("ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-m", form, "-N", passphrase)
            subprocess.run([*made, "-f", str(path)], check=True)
            assert needs_passphrase(path.read_text()) == bool(passphrase), path.name


@pytest.mark.parametrize(
    ("url", "user", "domain"),
    [
        ("s3://KEY@host/bucket", "KEY", None),
        ("s3://KEY@host/bucket?region=garage", "KEY", "garage"),
        ("s3s://garage;KEY@host/bucket", "KEY", "garage"),
        ("s3://KEY@host/bucket/below?region=eu-west-1", "KEY", "eu-west-1"),
    ],
)
def test_an_s3_url_sets_the_region(
    monkeypatch: pytest.MonkeyPatch, url: str, user: str, domain: str | None
) -> None:
    monkeypatch.setenv("LANLAB_PASSWORD", "secret")
    credentials = server_url.target_of(server_url.parse_url(url), None)["credentials"]
    assert (credentials["user"], credentials.get("domain")) == (user, domain)
