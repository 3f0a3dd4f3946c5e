"""`lanlab copy` at WebDAV servers that take other ways in than Basic."""

from pathlib import Path

import pytest
from command_line import Lanlab
from dav_server import SECRET, dav_server

COPY = ("copy", "12x6kB", "--trials", "1")


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANLAB_PASSWORD", SECRET)


@pytest.mark.parametrize("algorithm", ["MD5", "MD5-sess", "SHA-256", "SHA-512-256-sess"])
def test_a_server_of_digest_is_copied_to_and_never_gets_the_password(
    algorithm: str, served: Path, lanlab: Lanlab
) -> None:
    with dav_server(served, f"Digest {algorithm}") as server:
        done = lanlab(*COPY, server.url)
        assert done.code == 0, done.err
        # PROPFIND, MKCOL and the mark; 12 files there and back; all of it removed.
        assert server.answered > 40
        assert server.seen_passwords == []
    assert list(served.iterdir()) == []


@pytest.mark.parametrize("says_stale", [True, False])
def test_an_expired_nonce_is_replaced(says_stale: bool, served: Path, lanlab: Lanlab) -> None:
    with dav_server(served, "Digest SHA-256") as server:
        server.nonce_lasts, server.says_stale = 25, says_stale
        done = lanlab(*COPY, server.url)
        assert done.code == 0, done.err
    assert list(served.iterdir()) == []


def test_a_public_server_gets_no_unrequested_password(served: Path, lanlab: Lanlab) -> None:
    with dav_server(served, "Digest MD5") as server:
        server.is_public = True
        done = lanlab(*COPY, server.url)
        assert done.code == 0, done.err
        assert server.seen_passwords == []
    assert list(served.iterdir()) == []


def test_a_file_refused_by_a_busy_server_is_resent(served: Path, lanlab: Lanlab) -> None:
    with dav_server(served, "Basic") as server:
        server.busy_each = 4
        done = lanlab(*COPY, server.url)
        assert done.code == 0, done.err
    assert " refused)" in done.out
    assert list(served.iterdir()) == []


@pytest.mark.parametrize(
    ("scheme", "hint"),
    [
        ("Digest SHA-256", "the server rejected the user name or password (Digest SHA-256 scheme)"),
        ("Basic", "the server rejected the user name or password (Basic scheme)"),
    ],
)
def test_a_wrong_password_is_reported_with_the_scheme(
    scheme: str, hint: str, served: Path, lanlab: Lanlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANLAB_PASSWORD", "wrong")
    with dav_server(served, scheme) as server:
        done = lanlab(*COPY, server.url)
    assert (done.code, hint in done.err) == (1, True), done.err


@pytest.mark.parametrize("scheme", ["Negotiate", "Digest SHA-3"])
def test_an_unsupported_scheme_is_named(scheme: str, served: Path, lanlab: Lanlab) -> None:
    with dav_server(served, scheme) as server:
        done = lanlab(*COPY, server.url)
        assert server.seen_passwords == []
    assert done.code == 1
    assert (
        f"the server wants `{scheme}`; spoken: Digest (MD5, SHA-256, SHA-512-256), Basic"
        in done.err
    )


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("https://nas.example/dav/", "it is at `https://nas.example/dav/`: ask there, over TLS"),
        ("http://nas.example/dav/", "it is at `http://nas.example/dav/`: give that as the URL"),
        ("/remote.php/dav/", "it is at `/remote.php/dav/` of the same server"),
    ],
)
def test_a_redirect_names_the_new_location(
    place: str, said: str, served: Path, lanlab: Lanlab
) -> None:
    with dav_server(served, "Basic") as server:
        server.elsewhere = place
        done = lanlab(*COPY, server.url)
    assert done.code == 1
    assert said in done.err
