"""
Series as files next to a store file: `STORE.series/RUN/NUMBER-NAME.parquet`.

A file is written completely under another name, synchronised and renamed. Only then is the row that
refers to it committed, so every row has its file, even after a crash. A crash may leave a file
without a row, which `tidy` removes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO

from lanlab.disk import Entry, entries, entry, sync_directory
from lanlab.errors import StoreError, system_hint
from lanlab.store import parquet
from lanlab.store.place import refuse_network_share
from lanlab.store.series import Series, SeriesEntry

_UNFINISHED = ".new"
_OURS = re.compile(rf"\d+-[a-z0-9-]+\.parquet({re.escape(_UNFINISHED)})?")


class SeriesFiles:
    def __init__(self, store: Path) -> None:
        self.directory = store.with_name(store.name + ".series")
        self._root = store.parent

    def path(self, run_id: str, number: int, name: str) -> Path:
        return self.directory / run_id / f"{number}-{name}.parquet"

    def write(self, run_id: str, number: int, series: Series) -> SeriesEntry:
        """
        Write a series. When this returns, it is on disk.

        Raises:
            FileExistsError: A file with that name exists; it is not changed.
            StoreError: The file cannot be written; no part of it remains.
        """
        path = self.path(run_id, number, series.name)
        try:
            if not path.parent.is_dir():
                refuse_network_share(path.parent)
            about = {"run": run_id, "trial": str(number)}
            with self._entry(path, makes_folders=True) as place, self._new(path) as unfinished:
                return _write(series, place, unfinished, path.parent, about)
        except FileExistsError:
            raise
        except OSError as error:
            raise _explain(error, path) from error

    def _entry(self, path: Path, *, makes_folders: bool = False) -> AbstractContextManager[Entry]:
        """The file of a series. No folder may be a link, and the store's folder must exist."""
        below = path.relative_to(self._root).as_posix()
        return entry(self._root, below, makes_folders=makes_folders, when_made=sync_directory)

    def _new(self, path: Path) -> AbstractContextManager[Entry]:
        return self._entry(path.with_name(path.name + _UNFINISHED))

    def remove(self, run_id: str, number: int, names: Sequence[str]) -> None:
        """Remove the files written so far. If that fails, `tidy` removes the rest later."""
        for name in names:
            with (
                contextlib.suppress(OSError),
                self._entry(self.path(run_id, number, name)) as place,
            ):
                place.remove()

    @contextlib.contextmanager
    def open(self, run_id: str, number: int, name: str) -> Iterator[IO[bytes]]:
        """
        The file of a series.

        Raises:
            StoreError: It is missing or cannot be read.
        """
        path = self.path(run_id, number, name)
        try:
            with self._entry(path) as place, place.open() as file:
                yield file
        except FileNotFoundError:
            raise StoreError(
                f"{path}: this file, a series of trial {number}, is missing",
                hint=f"keep `{self.directory.name}` next to the store when you move it; the rest "
                "of the run is readable",
            ) from None
        except OSError as error:
            raise StoreError(
                f"{path}: cannot be read: {error.strerror or error}",
                hint=system_hint(error, "the rest of the run is readable without it"),
            ) from error

    def tidy(self, run_id: str, referred: Collection[tuple[int, str]]) -> None:
        """
        Remove a run's files that no row refers to.

        Args:
            referred: Number and name of each series with a row.

        Raises:
            StoreError: The directory cannot be read or written.
        """
        kept = {f"{number}-{name}.parquet" for number, name in referred}
        try:
            with entries(self._root, f"{self.directory.name}/{run_id}") as found:
                for name, place in found.items():
                    if _OURS.fullmatch(name) and name not in kept and _is_ours(place, name):
                        place.remove()
        except FileNotFoundError:
            return
        except OSError as error:
            raise _explain(error, self.directory / run_id) from error

    def remove_empty_folders(self, run_id: str) -> None:
        """Remove the empty folder of a run, and the store's folder if it is empty."""
        for folder in (self.directory / run_id, self.directory):
            with contextlib.suppress(OSError), self._entry(folder) as place:
                place.remove_empty_folder()


def _is_ours(place: Entry, name: str) -> bool:
    facts = place.facts()
    if facts is None or not stat.S_ISREG(facts.st_mode):
        return False
    with place.open() as file:
        return parquet.is_of_lanlab(file, is_whole=not name.endswith(_UNFINISHED))


def _write(
    series: Series, place: Entry, unfinished: Entry, folder: Path, about: dict[str, str]
) -> SeriesEntry:
    if unfinished.facts() is not None:
        if not _is_ours(unfinished, _UNFINISHED):
            raise OSError(errno.ELOOP, "lanlab did not make it", f"{unfinished.name}")
        # A killed process left the file.
        unfinished.remove()
    is_named = False
    try:
        with unfinished.create() as file:
            found = parquet.write(series, file, about)
            file.flush()
            os.fsync(file.fileno())
        place.take_free(unfinished)
        is_named = True
        sync_directory(folder)
        return found
    except BaseException:
        with contextlib.suppress(OSError):
            (place if is_named else unfinished).remove()
        raise


def _explain(error: OSError, path: Path) -> StoreError:
    hint = system_hint(error, "name another store with --store")
    cause = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        cause = "the disk is full"
        hint = "make room on it; what was committed before is safe, and the run can be resumed"
    elif error.errno in (errno.ELOOP, errno.ENOTDIR):
        cause = f"a link or a file of somebody else's is in the way: {cause}"
    elif error.errno == errno.ENOENT:
        cause = "cannot be written: its directory is gone"
        hint = "look where the store's directory went; what it had can be resumed from there"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        cause = f"cannot be written: {cause}"
    return StoreError(f"{path}: {cause}", hint=hint)
