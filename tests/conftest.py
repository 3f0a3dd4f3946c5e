"""
What holds of all tests: they can be interrupted, and a disturbed moment fails none.

A test that failed while the host took the processors away is tried again, and so is once a test of
figures. Each such attempt is counted and named at the end; where there are many, CI fails.

Long tests run by `--long`: all of them, or a share of them. What each file of tests took is printed
for `tools/check_test_log.py` if `LANLAB_FILE_TIMES` is set.
"""

from __future__ import annotations

import itertools
import os
import signal
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest
from _pytest.runner import runtestprotocol
from long_tests import check_choice, is_chosen
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


MARKS = {
    "figures": "the subject is a figure of this machine",
    "alone": "work of other tests at the same time could fail it",
    "long": "takes long: left out unless --long includes it",
    "rights": "what the user may do changes what happens: CI runs it without root, too",
}

#: Name of the property of a report that says what its part of a test took of the processors.
PROCESSOR_S = "processor_s"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the choice of long tests."""
    parser.addoption(
        "--long",
        default="none",
        metavar="all|none|K/N",
        help="Long tests to run: all, none (default), or share K of N, K from 0 to N - 1.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marks known, and refuse a share that there is not."""
    for name, meaning in MARKS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    try:
        check_choice(config.getoption("--long"))
    except ValueError as error:
        raise pytest.UsageError(f"--long: {error}") from None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the long tests that were not chosen."""
    choice = config.getoption("--long")
    left_out = {
        item
        for item in items
        if item.get_closest_marker("long") and not is_chosen(item.nodeid, choice)
    }
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test; again, if it failed and may have failed for the machine."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for attempt in itertools.count(1):
        seen, before_s = watch(), _processor_s()
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        host = seen()
        reports[-1].user_properties.append((PROCESSOR_S, _processor_s() - before_s))
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


def _processor_s() -> float:
    """What this process and those that it has waited for took of the processors."""
    return sum(os.times()[:4])


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
    """Name what was tried again, and why, and what each file took."""
    yield
    if "LANLAB_FILE_TIMES" in os.environ:
        _write_file_times(terminalreporter)
    for report in terminalreporter.stats.get(SPOILT, []):
        for name, text in report.sections:
            if name == SPOILT:
                terminalreporter.write_line(f"AGAIN {text}")


def _write_file_times(terminalreporter: pytest.TerminalReporter) -> None:
    wall_s: dict[str, float] = defaultdict(float)
    processor_s: dict[str, float] = defaultdict(float)
    for report in itertools.chain.from_iterable(terminalreporter.stats.values()):
        # A long test has no budget: it is left out of `make test`.
        if isinstance(report, pytest.TestReport) and "long" not in report.keywords:
            file = report.nodeid.partition("::")[0]
            wall_s[file] += report.duration
            processor_s[file] += sum(
                float(str(value)) for name, value in report.user_properties if name == PROCESSOR_S
            )
    for file in sorted(wall_s, key=lambda file: -wall_s[file]):
        terminalreporter.write_line(f"FILE {wall_s[file]:.1f} s {processor_s[file]:.1f} s {file}")
