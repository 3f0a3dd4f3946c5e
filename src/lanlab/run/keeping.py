"""
Committing trials to the file that the run was begun in, and to no other.

A program that has a file open goes on writing to it when somebody removes or replaces it: every
trial would seem to be kept, and be gone with the process.
"""

from __future__ import annotations

from pathlib import Path

from lanlab.errors import StoreError
from lanlab.store import Store, TrialRecord


class Keeper:
    """Commits the trials of one run to a store."""

    def __init__(self, store: Store) -> None:
        """
        Args:
            store: Has the run already. If it is kept in a file, `path` names it.
        """
        self._store = store
        path = getattr(store, "path", None)
        self._path = path if isinstance(path, Path) else None
        self._file = self._found()

    def commit(self, trial: TrialRecord) -> None:
        """
        As `Store.commit_trial`.

        Raises:
            StoreError: The store did not take it, or its file is not there any more; if another
                is in its place, that one is not touched.
        """
        self.check()
        self._store.commit_trial(trial)
        # In the moment between the first look and the end of writing, too.
        self.check()

    def check(self) -> None:
        """
        See that the store's file is the one that the run was begun in.

        Raises:
            StoreError: It is not.
        """
        found = self._found()
        if found == self._file:
            return
        how = "was removed" if found is None else "was replaced by another file"
        raise StoreError(
            f"{self._path}: the store {how} while the run was writing to it; "
            "nothing more is written",
            hint="put the file back and resume the run from it, or start a new run",
        )

    def _found(self) -> tuple[int, int] | None:
        """What identifies the file at the store's path now; `None` without one."""
        if self._path is None:
            return None
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino
