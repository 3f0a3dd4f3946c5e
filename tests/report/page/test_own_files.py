"""What lanlab wrote is replaced; what the user wrote or changed never is."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from lanlab.errors import StoreError, UsageError
from lanlab.report.page import own_files
from lanlab.report.page.own_files import LIST_NAME, check_folder, write_file, write_folder


def _texts(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != LIST_NAME]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def test_earlier_files_are_replaced_and_stale_ones_removed(tmp_path: Path) -> None:
    write_folder({"a/1": b"1", "b/2": b"2", "page": b"p"}, tmp_path)
    (tmp_path / "a" / "mine").write_text("mine")
    write_folder({"a/3": b"3", "page": b"q"}, tmp_path)
    assert _texts(tmp_path) == {"a/mine": "mine", "a/3": "3", "page": "q"}
    assert not (tmp_path / "b").exists()
    assert not list(tmp_path.glob(".lanlab-*"))


def test_sha256sum_accepts_the_list(tmp_path: Path) -> None:
    write_folder({"a/1": b"1", "page": b"p"}, tmp_path)
    done = subprocess.run(["sha256sum", "--check", "--strict", LIST_NAME], cwd=tmp_path, check=True)
    assert done.returncode == 0


def test_files_changed_by_the_user_are_kept(tmp_path: Path) -> None:
    write_folder({"a": b"1", "b": b"2", "c": b"3"}, tmp_path)
    (tmp_path / "a").write_text("edited")
    with pytest.raises(
        UsageError, match=r"a \(changed since lanlab wrote it\); nothing was written"
    ):
        write_folder({"a": b"4", "b": b"5"}, tmp_path)
    assert _texts(tmp_path) == {"a": "edited", "b": "2", "c": "3"}
    # Where it is not in the way, it stays.
    write_folder({"b": b"5"}, tmp_path)
    assert _texts(tmp_path) == {"a": "edited", "b": "5"}


@pytest.mark.parametrize("kind", ["file", "link", "dangling link", "fifo", "folder"])
def test_obstacles_are_named_and_kept(kind: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("outside")
    out = tmp_path / "out"
    out.mkdir()
    place = out / "page"
    {
        "file": lambda: place.write_text("mine"),
        "link": lambda: place.symlink_to(outside),
        "dangling link": lambda: place.symlink_to(tmp_path / "nowhere"),
        "fifo": lambda: os.mkfifo(place),
        "folder": place.mkdir,
    }[kind]()
    before = place.lstat()
    for refuse in (
        lambda: check_folder(["page"], out),
        lambda: write_folder({"page": b"p"}, out),
        lambda: write_file("p", place),
    ):
        with pytest.raises(UsageError, match="page"):
            refuse()
    assert place.lstat() == before
    assert outside.read_text() == "outside" and not (tmp_path / "nowhere").exists()
    assert [path.name for path in out.iterdir()] == ["page"]


def test_nothing_is_written_through_a_linked_folder(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    out = tmp_path / "out"
    out.mkdir()
    (out / "figures").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match=r"figures \(no folder\)"):
        write_folder({"figures/a": b"1", "page": b"p"}, out)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_list_cannot_name_files_outside_its_folder(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("mine")
    out = tmp_path / "out"
    write_folder({"page": b"p"}, out)
    digest = hashlib.sha256(b"mine").hexdigest()
    with (out / LIST_NAME).open("a") as file:
        file.write(f"{digest}  ../mine\n{digest}  {mine}\n")
    write_folder({"page": b"q"}, out)
    assert mine.read_text() == "mine"


@pytest.mark.parametrize("content", [b"", b"mine"])
def test_a_hostile_list_removes_nothing_through_a_link(tmp_path: Path, content: bytes) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    for place in (outside / "mine", outside / "deep" / "mine"):
        place.write_bytes(content)
    out = tmp_path / "out"
    write_folder({"sub/stale": b"s", "page": b"p"}, out)
    (out / "figures").symlink_to(outside)
    (out / "sub" / "on").symlink_to(outside)
    names = ("figures/mine", "figures/deep/mine", "sub/on/mine", "sub/on/deep/mine")
    with (out / LIST_NAME).open("a") as file:
        for name in names:
            for digest in (hashlib.sha256(content).hexdigest(), "0" * 64):
                file.write(f"{digest}  {name}\n")
    write_folder({"page": b"q"}, out)
    assert (outside / "mine").read_bytes() == (outside / "deep" / "mine").read_bytes() == content
    assert not (out / "sub" / "stale").exists()


def test_an_empty_file_is_lanlabs_only_by_its_digest(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_folder({"a": b"1", "b": b"", "page": b"p"}, out)
    for name in ("a", "page"):
        (out / name).write_bytes(b"")
    with pytest.raises(UsageError, match=r"page \(changed since lanlab wrote it\)"):
        write_folder({"page": b"q"}, out)
    (out / "page").write_bytes(b"p")
    write_folder({"page": b"q"}, out)
    assert _texts(out) == {"a": "", "page": "q"}


@pytest.mark.parametrize("when", ["a directory", "a file"])
def test_a_directory_replaced_by_a_link_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "stale").write_text("stale")
    out = tmp_path / "out"
    write_folder({"figures/stale": b"stale", "page": b"p"}, out)
    replace, unlink = os.replace, os.unlink
    swapped: list[str] = []

    def swap() -> None:
        if not swapped:
            swapped.append("")
            (out / "figures").rename(out / "was")
            (out / "figures").symlink_to(outside)

    def replaced(source: Path, target: str, **places: int) -> None:
        if str(target).endswith("new"):
            swap()
        replace(source, target, **places)

    def unlinked(path: str, **places: int) -> None:
        if str(path).endswith("stale"):
            swap()
        unlink(path, **places)

    with monkeypatch.context() as patch:
        if when == "a file":
            patch.setattr(os, "unlink", unlinked)
            write_folder({"page": b"q"}, out)
        else:
            patch.setattr(os, "replace", replaced)
            with pytest.raises(StoreError, match=r"Not a directory .*figures"):
                write_folder({"figures/new": b"new", "figures/stale": b"other"}, out)
    assert swapped
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("stale", "stale")]


def test_a_user_file_with_the_name_of_the_list_is_kept(tmp_path: Path) -> None:
    (tmp_path / LIST_NAME).write_text("\nmine")
    with pytest.raises(UsageError, match=LIST_NAME):
        write_folder({"page": b"p"}, tmp_path)
    assert (tmp_path / LIST_NAME).read_text() == "\nmine"


def test_a_file_that_appears_during_the_write_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder({"a": b"1"}, tmp_path)
    written = own_files._written

    def slowly(content: bytes, path: Path) -> Path:
        (tmp_path / "b").write_text("mine")
        return written(content, path)

    monkeypatch.setattr(own_files, "_written", slowly)
    with pytest.raises(StoreError, match="another program changed it meanwhile"):
        write_folder({"a": b"2", "b": b"3"}, tmp_path)
    assert (tmp_path / "b").read_text() == "mine"


def test_an_interrupted_write_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder({"a": b"1", "b": b"2"}, tmp_path)
    replace, calls = os.replace, []

    def cut(source: Path, target: str, **places: int) -> None:
        calls.append(target)
        if len(calls) == 3:  # The list, the first file, and then no more.
            raise KeyboardInterrupt
        replace(source, target, **places)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", cut)
        with pytest.raises(KeyboardInterrupt):
            write_folder({"a": b"3", "c": b"4"}, tmp_path)
    write_folder({"a": b"5", "b": b"6", "c": b"7"}, tmp_path)
    assert _texts(tmp_path) == {"a": "5", "b": "6", "c": "7"}


def test_a_new_folder_is_removed_if_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lanlab.report.page.own_files.os.fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        write_folder({"a": b"1"}, tmp_path / "out")
    with pytest.raises(StoreError, match="No space left"):
        write_file("p", tmp_path / "page")
    assert not list(tmp_path.iterdir())


def test_a_page_is_replaced_until_it_is_changed(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    write_file("<p>one</p>\n", page)
    write_file("<p>two</p>\n", page)
    assert page.read_text() == "<p>two</p>\n"
    page.write_text(page.read_text().replace("two", "my own words"))
    with pytest.raises(UsageError, match="did not write it as it is now; it was not replaced"):
        write_file("<p>three</p>\n", page)
    assert "my own words" in page.read_text()
