"""Who may read the page: by method, peer, Host, Origin, what the browser says, and token."""

import pytest

from lanlab.web.access import new_token, refusal

_TOKEN = "t0ken"
_HOST = {"Host": "127.0.0.1:8080"}


def _refused(
    path: str = f"/{_TOKEN}/", method: str = "GET", peer: str = "127.0.0.1", **fields: str
) -> int | None:
    headers = _HOST | {name.replace("_", "-"): value for name, value in fields.items()}
    found = refusal(method, path, headers, peer, _TOKEN)
    return None if found is None else found.status


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:9", "LOCALHOST", "[::1]:80"])
def test_any_loopback_name_and_port_is_allowed(host: str) -> None:
    assert _refused(Host=host) is None


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "127.0.0.1.evil.example:8080", "192.0.2.1", "a@127.0.0.1", "0.0.0.0:1"],
)
def test_a_foreign_name_for_this_machine_is_refused(host: str) -> None:
    assert _refused(Host=host) == 403


@pytest.mark.parametrize("peer", ["192.0.2.1", "fe80::1", "::", "nonsense"])
def test_only_loopback_clients_are_allowed(peer: str) -> None:
    assert _refused(peer=peer) == 403


@pytest.mark.parametrize(
    "path", ["/", "/t0kem/", "/T0KEN/", "//t0ken/", "t0ken", "/\N{LATIN SMALL LETTER E WITH ACUTE}"]
)
def test_a_wrong_token_is_refused(path: str) -> None:
    assert _refused(path) == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_only_reading_requests_are_allowed(method: str) -> None:
    assert _refused(method=method) == 405


def test_pages_of_other_origins_are_refused() -> None:
    assert _refused(Origin="http://127.0.0.1:8080") is None
    assert _refused(Origin="http://127.0.0.1:8081") == 403
    assert _refused(Origin="null") == 403
    assert _refused(Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors") == 403
    assert _refused(Sec_Fetch_Site="same-site", Sec_Fetch_Dest="script") == 403


def test_a_link_may_be_followed_from_anywhere_but_not_into_a_frame() -> None:
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert _refused(**link, Sec_Fetch_Dest="document") is None
    assert _refused(**link, Sec_Fetch_Dest="iframe") == 403


def test_tokens_are_long_and_differ() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(token) >= 43 for token in tokens)
