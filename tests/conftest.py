"""
What holds of all tests: they can be interrupted, and a disturbed moment fails none.

A test that failed while the host took the processors away is tried again, and so is once a test of
figures. Each such attempt is counted and named at the end; where there are many, CI fails.
"""

from __future__ import annotations

import itertools
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest
from _pytest.runner import runtestprotocol
from quiet_machine import Disturbance, await_quiet, may_run_again, watch

# How long an example took says more of the machine than of us.
hypothesis.settings.register_profile("lanlab", deadline=None)
hypothesis.settings.load_profile("lanlab")

# A shell's `make test &` ignores it, and so would all that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

#: Not to be looked through for examples: there are several of this name.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]

SPOILT = "tried again"


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """No test finds what a user's runs have kept, or leaves anything there."""
    place = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LANLAB_CACHE", str(place))
        yield place


def pytest_configure(config: pytest.Config) -> None:
    """Make the marks known."""
    for mark in (
        "figures: the subject is a figure of this machine",
        "alone: nothing may run beside it",
        "long: left out of `make test`, run by `make test-long`",
    ):
        config.addinivalue_line("markers", mark)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test; again, if it failed and may have failed for the machine."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for attempt in itertools.count(1):
        seen = watch()
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        host = seen()
        failed = any(report.failed for report in reports)
        is_again = failed and may_run_again(item, attempt, host)
        for report in reports:
            if is_again and report.failed:
                _excuse(report, host)
            item.ihook.pytest_runtest_logreport(report=report)
        if not is_again:
            break
        if host.spoils:
            await_quiet()
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _excuse(report: pytest.TestReport, host: Disturbance) -> None:
    """A failure that says nothing: no failure, and not forgotten."""
    # By its types pytest knows three outcomes; a fourth is what pytest_report_teststatus is for.
    report.outcome = SPOILT  # type: ignore[assignment]
    crash = getattr(report.longrepr, "reprcrash", None)
    said = str(crash.message if crash else report.longrepr).partition("\n")[0]
    report.sections.append((SPOILT, f"{report.nodeid}: {host}: {said}"))


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Beside passed, failed and skipped."""
    if report.outcome == SPOILT:
        return SPOILT, "R", SPOILT.upper()
    return None


@pytest.hookimpl(wrapper=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter,
) -> Generator[None, None, None]:
    """Name what was tried again, and why."""
    yield
    for report in terminalreporter.stats.get(SPOILT, []):
        for name, text in report.sections:
            if name == SPOILT:
                terminalreporter.write_line(f"AGAIN {text}")
