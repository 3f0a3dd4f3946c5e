"""What a single measurement does beside measuring: imports, and programs that it starts."""

import json
import sys
from pathlib import Path

from programs import ran

#: Runs a command line and prints, as its last line: modules that were imported by the end of it and
#: those that were while the ends measured, and the programs that were started between the first
#: trial's beginning and the last one's end.
_LOOKED_AT = """
import json, subprocess, sys
started, during, imported = [], [], []
popen = subprocess.Popen.__init__
def noted(self, argv, *rest, **settings):
    started.append(list(map(str, argv)))
    popen(self, argv, *rest, **settings)
subprocess.Popen.__init__ = noted
from lanlab.run import runner
from lanlab.performers import conductor
trial, attempt = runner.run_trial, conductor._TimedRun.run
def one_trial(*all, **settings):
    before = len(started)
    try:
        return trial(*all, **settings)
    finally:
        during.append(started[before:])
def one_attempt(*all, **settings):
    before = set(sys.modules)
    try:
        return attempt(*all, **settings)
    finally:
        imported.extend(set(sys.modules) - before)
runner.run_trial, conductor._TimedRun.run = one_trial, one_attempt
from lanlab.cli import app
try:
    app.run()
except SystemExit as end:
    assert not end.code, end.code
print(json.dumps([sorted(sys.modules), imported, during]))
"""


def looked_at(store: Path, *arguments: str) -> tuple[list[str], list[str], list[list[list[str]]]]:
    """Modules in the end, those imported while measuring, and programs of each trial."""
    command = (sys.executable, "-c", _LOOKED_AT, *arguments, "--store", str(store))
    done = ran(command)
    assert done.returncode == 0, done.stderr
    modules, imported, during = json.loads(done.stdout.splitlines()[-1])
    return modules, imported, during


def test_a_measurement_loads_nothing_while_it_measures(tmp_path: Path) -> None:
    """Whatever is imported while something is measured takes processor time from it."""
    command = ("stations", "--testbed", "loopback", "--readings", "20", "--stations", "1")
    modules, imported, during = looked_at(tmp_path / "a.db", *command, "--trials", "2")
    assert "numpy" in modules
    # Codecs and such that Python itself loads as they are needed.
    assert [
        name
        for name in imported
        if name.startswith(("lanlab", "numpy", "backports", "compression"))
    ] == []
    assert during == [[], []]


def test_a_stream_imports_only_its_own_modules(tmp_path: Path) -> None:
    """Other workloads, drivers, file services, figures, statistics: each is waited for before the
    measurement or behind it."""
    command = ("stream", "--testbed", "loopback", "--messages", "50")
    modules, _, _ = looked_at(tmp_path / "a.db", *command)
    others = (
        "echo.workload",
        "copy.workload",
        "stations.workload",
        "services.server_url",
        "services.parameters",
        "drivers.base",
    )
    unneeded = {f"lanlab.workloads.{name}" for name in others} | {
        "jinja2",
        "lanlab.analysis.statistics",
        "lanlab.cli.commands.copy",
        "lanlab.figures.registry",
        "lanlab.plan.search",
        "lanlab.report.runs.run_page",
        "lanlab.performers.servers.of_trial",
        "lanlab.performers.programs",
        "lanlab.studies.findings",
        "lanlab.studies.published",
        "lanlab.testbeds.remote",
        "lanlab.testbeds.virtual",
        "matplotlib",
        "numpy",
        "pyarrow",
        "scipy",
    }
    assert unneeded & set(modules) == set()


#: Runs a command line and prints, as its last line: modules that were imported when hosts began to
#: be made, and by the end.
_AT_HOSTS = """
import atexit, json, sys
from lanlab.cli import main
begun = []
class Noted:
    def find_spec(self, name, path, target=None):
        if name == "lanlab.testbeds.opening":
            begun.extend(sys.modules)
sys.meta_path.insert(0, Noted())
atexit.register(lambda: print(json.dumps([begun, sorted(sys.modules)])))
main()
"""


def modules_of(store: Path, *arguments: str) -> tuple[set[str], set[str]]:
    command = (sys.executable, "-c", _AT_HOSTS, *arguments, "--store", str(store))
    done = ran(command)
    assert done.returncode == 0, done.stderr
    begun, ended = json.loads(done.stdout.splitlines()[-1])
    return set(begun), set(ended)


def test_hosts_are_created_before_run_modules_are_imported(tmp_path: Path) -> None:
    command = ("stream", "--testbed", "loopback", "--messages", "50")
    begun, ended = modules_of(tmp_path / "a.db", *command)
    later = {"lanlab.analysis", "lanlab.performers", "lanlab.plan", "lanlab.run", "lanlab.store"}
    assert later <= ended
    assert later & begun == set()


def test_a_stream_imports_no_unneeded_file_readers(tmp_path: Path) -> None:
    command = ("stream", "--testbed", "virtual", "--messages", "50")
    _, ended = modules_of(tmp_path / "a.db", *command)
    unneeded = {
        "concurrent.futures",
        "email",
        "importlib.metadata",
        "socket",
        "tempfile",
        "tomllib",
        "zipfile",
    }
    assert (unneeded | {"lanlab.studies.machines"}) & ended == set()


def test_stations_of_one_trial_load_no_statistics(tmp_path: Path) -> None:
    command = ("stations", "--testbed", "loopback", "--stations", "1", "--readings", "20")
    modules, _, _ = looked_at(tmp_path / "a.db", *command, "--trials", "1")
    assert {"lanlab.analysis.statistics", "scipy"} & set(modules) == set()


def test_a_trial_on_a_virtual_link_starts_no_program(tmp_path: Path) -> None:
    command = ("stream", "--testbed", "virtual", "--messages", "50", "--trials", "2")
    _, _, during = looked_at(tmp_path / "a.db", *command)
    assert during
    assert not any(during)
