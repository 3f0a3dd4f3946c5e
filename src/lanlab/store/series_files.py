"""
Series as files next to a store file: `STORE.series/RUN/NUMBER-NAME.parquet`.

A file is written whole under another name, synchronised, and named, before the row that refers to
it is committed. So a row has its file, also after a crash; what may be left is a file without a
row, which `tidy` removes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import IO

from lanlab.errors import StoreError
from lanlab.store import parquet
from lanlab.store.place import refuse_network_share
from lanlab.store.series import AnySeries, SeriesEntry

#: Names that are given here; other files there are left alone.
_OURS = re.compile(r"\d+-[a-z0-9-]+\.parquet(\.new)?")


def sync_directory(directory: Path) -> None:
    """Put the names in it on disk too; on Windows there is no such call and no need."""
    if os.name != "posix":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class SeriesFiles:
    """The directory of a store's series."""

    def __init__(self, store: Path) -> None:
        self.directory = store.with_name(store.name + ".series")

    def path(self, run_id: str, number: int, name: str) -> Path:
        """Where a series lies, or would lie."""
        return self.directory / run_id / f"{number}-{name}.parquet"

    def write(self, run_id: str, number: int, series: AnySeries) -> SeriesEntry:
        """
        Write a series; when this returns, it is on disk.

        Raises:
            FileExistsError: There is a file of that name; it is not touched.
            StoreError: It cannot be written; nothing of it is left.
        """
        path = self.path(run_id, number, series.name)
        try:
            self._make(path.parent)
            return _write(series, path, {"run": run_id, "trial": str(number)})
        except FileExistsError:
            raise
        except OSError as error:
            raise _explain(error, path) from error

    def _make(self, folder: Path) -> None:
        if folder.is_dir():
            return
        refuse_network_share(folder)
        # Not with parents: where the store's own directory is gone, none is made in its place.
        for each in (self.directory, folder):
            each.mkdir(exist_ok=True)
            sync_directory(each.parent)

    def remove(self, run_id: str, number: int, names: Sequence[str]) -> None:
        """Take back what was written; what cannot be removed is left to `tidy`."""
        for name in names:
            with contextlib.suppress(OSError):
                self.path(run_id, number, name).unlink()

    @contextlib.contextmanager
    def open(self, run_id: str, number: int, name: str) -> Iterator[IO[bytes]]:
        """
        The file of a series.

        Raises:
            StoreError: It is missing or cannot be read.
        """
        path = self.path(run_id, number, name)
        try:
            with path.open("rb") as file:
                yield file
        except FileNotFoundError:
            raise StoreError(
                f"{path}: is missing; the store says that trial {number} has this series",
                hint=f"keep `{self.directory.name}` next to the store when you copy or move it; "
                "everything else of the run can still be read",
            ) from None
        except OSError as error:
            raise StoreError(
                f"{path}: cannot be read: {error.strerror or error}",
                hint="check the file's owner and mode, and the disk",
            ) from error

    def tidy(self, run_id: str, referred: Collection[tuple[int, str]]) -> None:
        """
        Remove a run's files that no row refers to.

        Args:
            referred: Number and name of each series that there is a row of.

        Raises:
            StoreError: The directory cannot be read or written.
        """
        kept = {f"{number}-{name}.parquet" for number, name in referred}
        folder = self.directory / run_id
        try:
            for path in folder.iterdir():
                if _OURS.fullmatch(path.name) and path.name not in kept:
                    path.unlink()
        except FileNotFoundError:
            return
        except OSError as error:
            raise _explain(error, folder) from error

    def remove_empty_folders(self, run_id: str) -> None:
        """Remove the folder of a run, and that of all runs; what has something in it stays."""
        for folder in (self.directory / run_id, self.directory):
            with contextlib.suppress(OSError):
                folder.rmdir()


def _write(series: AnySeries, path: Path, about: dict[str, str]) -> SeriesEntry:
    unfinished = path.with_name(path.name + ".new")
    claimed = finished = False
    try:
        with unfinished.open("wb") as file:
            entry = parquet.write(series, file, about)
            file.flush()
            os.fsync(file.fileno())
        # The name is claimed first, as putting a file in place would replace another unseen.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        claimed = True
        unfinished.replace(path)
        sync_directory(path.parent)
        finished = True
        return entry
    finally:
        if not finished:
            with contextlib.suppress(OSError):
                unfinished.unlink(missing_ok=True)
            if claimed:
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)


def _explain(error: OSError, path: Path) -> StoreError:
    hint = "check the owner and mode of the store's directory, or name another with --store"
    cause = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        cause = "the disk is full"
        hint = "make room on it; what was committed before is safe, and the run can be resumed"
    elif error.errno == errno.ENOENT:
        cause = "cannot be written: its directory is gone"
        hint = "look where the store's directory went; what it had can be resumed from there"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        cause = f"cannot be written: {cause}"
    return StoreError(f"{path}: {cause}", hint=hint)
