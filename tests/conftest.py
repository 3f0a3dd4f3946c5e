"""
What holds of all tests: they can be interrupted, long ones run only with `--long`, and the few that
`tests/flaky.txt` names may be tried again.

What each file of tests took of the processors is written to the file that LANLAB_FILE_TIMES names,
for `tools/check_budgets.py`.
"""

import gc
import os
import signal
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest

# How long an example took says more of the machine than of us.
hypothesis.settings.register_profile("lanlab", deadline=None)
hypothesis.settings.load_profile("lanlab")

# A shell's `make test &` ignores it, and so would all that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

#: Not to be looked through for examples: there are several of this name.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]

MARKS = {
    "figures": "it measures this machine, which must be idle: left out unless --long includes it",
    "long": "takes long: left out unless --long includes it",
    "rights": "what the user may do changes what happens: CI runs it without root, too",
    "flaky": "may be tried again (pytest-rerunfailures); named in tests/flaky.txt",
}

#: Name of the property of a report that says what its test took of the processors.
PROCESSOR_S = "processor_s"
_BEFORE_S = pytest.StashKey[float]()
_FILE_TIMES_S: dict[str, float] = defaultdict(float)


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """No test finds what a user's runs have kept, or leaves anything there."""
    place = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LANLAB_CACHE", str(place))
        yield place


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="Run the long tests, too.")


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in MARKS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """All tests stay to the end: to look for garbage among them is a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    flaky = _listed("flaky.txt", 0)
    for item in items:
        if item.nodeid in flaky:
            item.add_marker(pytest.mark.flaky(reruns=2))
    # What takes longest is begun first, so that no worker is left with it at the end.
    rank = {file: number for number, file in enumerate(_listed("slow_files.txt", 1))}
    items.sort(key=lambda item: rank.get(item.nodeid.partition("::")[0], len(rank)))
    if config.getoption("--long"):
        return
    long_ones = [item for item in items if _is_long(item)]
    if long_ones:
        config.hook.pytest_deselected(items=long_ones)
        items[:] = [item for item in items if not _is_long(item)]


def _listed(name: str, column: int) -> list[str]:
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return [line.split()[column] for line in lines if line and not line.startswith("#")]


def _is_long(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("long", "figures"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    item.stash[_BEFORE_S] = _processor_s()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "teardown" and not _is_long(item):
        report.user_properties.append((PROCESSOR_S, _processor_s() - item.stash[_BEFORE_S]))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    for name, value in report.user_properties if report.when == "teardown" else ():
        if name == PROCESSOR_S:
            _FILE_TIMES_S[report.nodeid.partition("::")[0]] += float(str(value))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Append what each file took to the file that is asked for; not in workers."""
    place = os.environ.get("LANLAB_FILE_TIMES")
    if place and not hasattr(session.config, "workerinput"):
        with Path(place).open("a", encoding="utf-8") as out:
            out.writelines(f"{took_s:.2f} {file}\n" for file, took_s in _FILE_TIMES_S.items())


def _processor_s() -> float:
    """What this process and those that it has waited for took of the processors."""
    return sum(os.times()[:4])
