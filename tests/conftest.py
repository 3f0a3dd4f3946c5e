"""
What holds of all tests: they can be interrupted, and a disturbed moment fails none.

A test that failed while the host took the processors away is tried again. Nothing is hidden by it:
what fails for another reason fails each time, and what was tried again is counted and named at the
end. `figure_test` does more for tests whose subject is a figure.
"""

from __future__ import annotations

import signal
from collections.abc import Generator

import hypothesis
import pytest
from _pytest.runner import runtestprotocol
from quiet_machine import Disturbance, disturbance

# How long an example took says more of the machine than of us.
hypothesis.settings.register_profile("lanlab", deadline=None)
hypothesis.settings.load_profile("lanlab")

# A shell's `make test &` ignores it, and so would all that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

#: Not to be looked through for examples: there are several of this name.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]

#: How often a test runs at most.
ATTEMPTS = 3

SPOILT = "tried again"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test; again, if it failed in a disturbed moment."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for attempt in range(1, ATTEMPTS + 1):
        with disturbance() as host:
            reports = runtestprotocol(item, log=False, nextitem=nextitem)
        spoilt = attempt < ATTEMPTS and host.spoils and any(report.failed for report in reports)
        for report in reports:
            if spoilt and report.failed:
                _excuse(report, host)
            item.ihook.pytest_runtest_logreport(report=report)
        if not spoilt:
            break
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
