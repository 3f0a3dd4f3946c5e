"""Targets that are one place under two names, and directories that are no network mount."""

from pathlib import Path

import pytest

from lanlab import linux
from lanlab.cli.places.same_places import local_file_system, same_places

MOUNTS = """\
1 0 8:1 / / rw - ext4 /dev/vda1 rw
2 1 0:9 / /mnt/nas rw - nfs4 nas:/volume rw
3 1 0:9 / /mnt/data rw - cifs //nas/data rw
4 1 0:9 / /mnt/nas/local rw - tmpfs tmpfs rw
5 1 0:9 / /home/me/nas rw - fuse.sshfs me@nas:/ rw
"""


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("smb://me@127.0.0.1/data", "smb://me@localhost/DATA/", True),
        ("smb://me@127.0.0.1/data", "smb://me@127.0.0.1:445/data", True),
        ("smb://me@127.0.0.1/data", "smb://me@127.0.0.1:4450/data", False),
        ("smb://me@127.0.0.1/data", "smb://me@127.0.0.1/data/tmp", False),
        ("nfs://127.0.0.1/data", "nfs://127.0.0.1/DATA", False),
        ("nfs://127.0.0.1/data", "smb://127.0.0.1/data", False),
        ("sftp://me@127.0.0.1/", "sftp://you@127.0.0.1/", False),
        ("ftp://me@127.0.0.1/", "ftp://me@127.0.0.2/", False),
    ],
)
def test_one_place_under_two_names_is_found(first: str, second: str, is_same: bool) -> None:
    assert same_places([first, second]) == ([(first, second)] if is_same else [])


def test_links_to_one_directory_are_the_same_place(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").symlink_to(tmp_path / "a")
    urls = [(tmp_path / name).as_uri() for name in "ab"]
    assert same_places(urls) == [(urls[0], urls[1])]


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("/mnt/nas/tmp", None),
        ("/mnt/data", None),
        ("/home/me/nas/x", None),
        ("/mnt/nas/local", "tmpfs"),
        ("/mnt/nas2", "ext4"),
    ],
)
def test_local_directories_and_mounts_are_distinguished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, kind: str | None
) -> None:
    monkeypatch.setattr(linux, "MOUNTS", tmp_path / "mounts")
    assert local_file_system(Path(place)) is None
    (tmp_path / "mounts").write_text(MOUNTS)
    assert local_file_system(Path(place)) == kind
