"""Runs studies on a testbed: combines plan, engines and store."""

from lanlab.run.runner import RunRequest, Watcher, new_run, resume_run

__all__ = ["RunRequest", "Watcher", "new_run", "resume_run"]
