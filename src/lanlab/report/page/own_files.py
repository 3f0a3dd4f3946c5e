"""Writes files where a user may have other files, and replaces only unchanged files of lanlab's.

In a folder, `lanlab-files.sha256` lists the files that lanlab wrote (`sha256sum --check` reads it).
A single file is listed in `.lanlab-exports.sha256` next to it. If another file is in the way, an
error names it before anything is written.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from lanlab.disk import TemporaryFolder, entry, if_there, is_inside, make_folders
from lanlab.errors import StoreError, UsageError, system_hint

LIST_NAME = "lanlab-files.sha256"
_EXPORTS_NAME = ".lanlab-exports.sha256"
_PREFIX = ".lanlab-"
_LIST_HEAD = (
    "# Files that lanlab wrote here. It replaces these while they are unchanged, and no others."
)
_LISTED = re.compile(r"([0-9a-f]{64})  (.+)")
_MOST_BYTES = 2**28
_MOST_NAMED = 5
#: Digest of an empty file, which reserves a name before the content is moved there.
_EMPTY = hashlib.sha256().hexdigest()

_Listed = Mapping[str, frozenset[str]]


def check_folder(names: Iterable[str], folder: Path) -> None:
    """
    Refuse a folder into which files of these names must not be written.

    Args:
        names: Paths relative to the folder, separated by `/`.
        folder: Need not exist.

    Raises:
        UsageError: The path is not a folder, or one of the files exists and was not written by
            lanlab or was changed since.
        StoreError: It cannot be read.
    """
    with _reading(folder):
        _refuse(names, folder, _listed(folder))


def write_folder(files: Mapping[str, bytes], folder: Path) -> None:
    """
    Write files into a folder. Earlier files of lanlab's that are not among them are removed; all
    other files stay.

    Args:
        files: Content by path relative to the folder. The last one is written last.
        folder: Created if missing.

    Raises:
        UsageError: As in `check_folder`; nothing was written.
        StoreError: A file cannot be written. All earlier files are still there.
    """
    with _reading(folder):
        before = _listed(folder)
        _refuse(files, folder, before)
    try:
        is_new = not folder.exists()
        make_folders(folder)
        try:
            with TemporaryFolder(_PREFIX, folder) as made:
                _write_and_move(files, folder, made, before)
        except BaseException:
            if is_new:
                with contextlib.suppress(OSError), entry(folder.parent, folder.name) as place:
                    place.remove_empty_folder()
            raise
    except OSError as error:
        raise _unwritten(folder, error) from error


def check_file(path: Path) -> None:
    """
    Refuse to replace a file that lanlab did not write, or that was changed since.

    Raises:
        UsageError: The path is such a file.
        StoreError: It cannot be read.
    """
    with _reading(path):
        listing = path.parent / _EXPORTS_NAME
        if os.path.lexists(listing) and not _is_list(listing):
            path, why = listing, "lanlab did not write it"
        elif not os.path.lexists(path):
            return
        elif not _is(path, stat.S_ISREG):
            why = "is not a regular file"
        elif _is_own(path.parent, path.name, _listed(path.parent, _EXPORTS_NAME)):
            return
        else:
            why = "lanlab did not write it as it is now"
    said = f"{path} already exists, and {why}; it was not replaced"
    raise UsageError(said, hint="name another file, or move it away")


def write_file(text: str, path: Path) -> None:
    """
    Write a file of any format atomically. An earlier file of lanlab's is replaced.

    Raises:
        UsageError: Another file is in the way; it was not changed.
        StoreError: The file cannot be written. The earlier file is still there.
    """
    check_file(path)
    folder = path.parent
    try:
        make_folders(folder)
        before = _listed(folder, _EXPORTS_NAME)
        with TemporaryFolder(_PREFIX, folder) as made:
            _write_and_move({path.name: text.encode()}, folder, made, before, _EXPORTS_NAME)
    except OSError as error:
        raise _unwritten(path, error) from error


def _write_and_move(
    files: Mapping[str, bytes],
    folder: Path,
    made: Path,
    before: _Listed,
    list_name: str = LIST_NAME,
) -> None:
    digests = {name: frozenset({_digest(content)}) for name, content in files.items()}
    # An empty file may reserve the name until the file is written.
    both = {**before} | {
        name: before.get(name, frozenset()) | found | {_EMPTY} for name, found in digests.items()
    }
    is_folder = list_name == LIST_NAME
    written = {
        name: _written(content, made / str(number))
        for number, (name, content) in enumerate(files.items())
    }
    list_between = _written(_list_of(both), made / "between")
    # Exports of other names stay, while a folder is of one report.
    list_after = _written(_list_of(digests if is_folder else {**before, **digests}), made / "after")
    # List both the old and the new digest, in case this is interrupted.
    _put(list_between, folder, list_name, _is_list_content)
    for name, path in written.items():
        _put(path, folder, name, partial(_is_own_content, digests=both[name]))
    for name in (before.keys() - files.keys()) if is_folder else ():
        _remove(folder, name, before)
    _put(list_after, folder, list_name, _is_list_content)


def _remove(folder: Path, name: str, listed: _Listed) -> None:
    with if_there(), entry(folder, name) as place:
        if not _is_own_content(place.read(_MOST_BYTES), listed[name]):
            return
        place.remove()
    parent, _, _ = name.rpartition("/")
    if parent:
        with contextlib.suppress(OSError), entry(folder, parent) as place:
            place.remove_empty_folder()


def _written(content: bytes, path: Path) -> Path:
    with entry(path.parent, path.name) as place, place.create() as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return path


def _put(new: Path, folder: Path, name: str, is_ours: Callable[[bytes | None], bool]) -> None:
    """
    Move a file into a folder, or into its subfolder, which is created if missing.

    Raises:
        OSError: A file that is not ours has appeared there since the first check.
    """
    with entry(folder, name, makes_folders=True) as place:
        if place.facts() is not None and not is_ours(place.read(_MOST_BYTES)):
            raise FileExistsError(errno.EEXIST, "another program changed it meanwhile", name)
        place.take(new)


def _refuse(names: Iterable[str], folder: Path, listed: _Listed) -> None:
    """
    Raises:
        UsageError: A user's file is in the way.
    """
    if os.path.lexists(folder) and not folder.is_dir():
        raise UsageError(
            f"{folder} is not a folder",
            hint="name a folder; lanlab creates it if it does not exist",
        )
    foreign = list(dict.fromkeys(_in_the_way(names, folder, listed)))
    if foreign:
        more = f" and {len(foreign) - _MOST_NAMED} more" if len(foreign) > _MOST_NAMED else ""
        named = ", ".join(foreign[:_MOST_NAMED]) + more
        raise UsageError(
            f"{folder} has files that lanlab did not make: {named}; nothing was written",
            hint="name another folder, or move these away",
        )


def _in_the_way(names: Iterable[str], folder: Path, listed: _Listed) -> Iterator[str]:
    if os.path.lexists(folder / LIST_NAME) and not _is_list(folder / LIST_NAME):
        yield f"{LIST_NAME} (not written by lanlab)"
    for name in names:
        for parent in [*Path(name).parents][-2::-1]:
            if os.path.lexists(folder / parent) and not _is(folder / parent, stat.S_ISDIR):
                yield f"{parent.as_posix()} (no folder)"
                break
        else:
            if os.path.lexists(folder / name) and not _is_own(folder, name, listed):
                why = "changed since lanlab wrote it" if name in listed else "not written by lanlab"
                yield f"{name} ({why})"


def _listed(folder: Path, list_name: str = LIST_NAME) -> _Listed:
    """The digests of each name that lanlab wrote; several if a write was interrupted."""
    path = folder / list_name
    found: dict[str, frozenset[str]] = {}
    if not _is_list(path):
        return found
    for line in path.read_text(encoding="utf-8").splitlines():
        match = _LISTED.fullmatch(line)
        # The list may come from elsewhere: ignore names outside the folder.
        if match and is_inside(match[2]):
            found[match[2]] = found.get(match[2], frozenset()) | {match[1]}
    return found


def _list_of(digests: _Listed) -> bytes:
    lines = [f"{digest}  {name}" for name in sorted(digests) for digest in sorted(digests[name])]
    return "\n".join((_LIST_HEAD, *lines, "")).encode()


def _is_list(path: Path) -> bool:
    if not _is(path, stat.S_ISREG) or path.stat().st_size > _MOST_BYTES:
        return False
    return _is_list_content(path.read_bytes())


def _is_list_content(content: bytes | None) -> bool:
    # An interrupted write reserved this name.
    return content is not None and (not content or content.startswith(f"{_LIST_HEAD}\n".encode()))


def _is_own(folder: Path, name: str, listed: _Listed) -> bool:
    if name not in listed:
        return False
    with if_there(), entry(folder, name) as place:
        return _is_own_content(place.read(_MOST_BYTES), listed[name])
    return False


def _is_own_content(content: bytes | None, digests: frozenset[str]) -> bool:
    return content is not None and _digest(content) in digests


def _is(path: Path, kind: Callable[[int], bool]) -> bool:
    return os.path.lexists(path) and kind(path.lstat().st_mode)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise StoreError(
            f"cannot read {path}: {getattr(error, 'strerror', None) or error}",
            hint=system_hint(error, "name another place"),
        ) from error


def _unwritten(path: Path, error: OSError) -> StoreError:
    where = (
        f" ({error.filename})" if error.filename and str(path) not in str(error.filename) else ""
    )
    return StoreError(
        f"{path} could not be written: {error.strerror or error}{where}",
        hint=system_hint(error, "name another place"),
    )
