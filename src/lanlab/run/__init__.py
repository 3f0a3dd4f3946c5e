"""Run a study on a testbed: plan, engines and store brought together."""

from lanlab.run.runner import RunRequest, Watcher, new_run, resume_run

__all__ = ["RunRequest", "Watcher", "new_run", "resume_run"]
