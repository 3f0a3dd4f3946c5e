"""What every workload exports, in every form, by judges that are not ours."""

from collections import Counter
from pathlib import Path

import pytest
from command_line import Lanlab
from export_judges import read_csv, read_json, read_markdown, read_openmetrics

from lanlab.analysis.trials.run_data import RunData
from lanlab.report.document.table import Cell, Column, Table
from lanlab.report.exports.condition_values import value_table
from lanlab.report.exports.openmetrics import _name, openmetrics_text
from lanlab.report.runs.run_text import markdown
from lanlab.workloads import WORKLOADS
from lanlab.workloads.metrics import METRICS

LOOPBACK = ("--testbed", "loopback", "--trials", "2", "--warmup", "0.05")
FORMS = ("markdown", "csv", "json", "openmetrics", "intervals")
COMMANDS = {
    "stream": ("stream", *LOOPBACK, "--messages", "200", "--rate", "1M", "--size", "64,128"),
    "both ways": ("stream", *LOOPBACK, "--messages", "20", "--rate", "1M", "--bidirectional"),
    "tcp": (
        *("stream", *LOOPBACK, "--messages", "20", "--rate", "1M"),
        *("--transport", "tcp", "-P", "2"),
    ),
    "echo": ("echo", *LOOPBACK, "--requests", "100"),
    # Both ways have what each way has.
    "load": (
        *("load", *LOOPBACK, "--time", "0.5", "--transport", "udp", "--rate", "1M"),
        *("--load", "none,both"),
    ),
    "copy": ("copy", "3x6kB", "--service", "ftp", "--testbed", "loopback", "--trials", "2"),
    "stations": (
        *("stations", "--service", "webdav", "--testbed", "loopback", "--stations", "1,2"),
        *("--readings", "20", "--trials", "2", "--size", "1k", "--file-size", "10k"),
    ),
}
#: Of echoes, copies and stations there are none.
WITH_INTERVALS = ("stream", "both ways", "tcp", "load")
#: A quantity that is kept in two units is there once, in the base unit.
IN_TWO_UNITS = {("elapsed_s", "elapsed_ns")}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANLAB_CACHE", str(tmp_path / "cache"))


@pytest.mark.usefixtures("any_load")
@pytest.mark.parametrize("what", COMMANDS)
def test_every_export_of_every_workload_is_valid(what: str, lanlab: Lanlab, folder: Path) -> None:
    files = {form: folder / f"out.{form}" for form in FORMS}
    exports = [word for form in FORMS for word in (f"--export-{form}", str(files[form]))]
    said = lanlab(*COMMANDS[what], *exports)
    assert said.code == 0, said.err

    answer = read_json(files["json"].read_text(encoding="utf-8"))
    rows = read_csv(files["csv"].read_bytes())
    samples = read_openmetrics(files["openmetrics"].read_text(encoding="utf-8"))
    tables = read_markdown(files["markdown"].read_text(encoding="utf-8"))
    intervals = read_csv(files["intervals"].read_bytes())

    conditions = {tuple(sorted(trial["factors"].items())) for trial in answer["trials"]}
    assert {len(table) for table in tables} >= {1 + len(conditions)}
    per_metric = Counter(row["metric"] for row in rows)
    assert set(per_metric.values()) == {len(conditions)}
    expected = Counter(
        float(row["mean"]) / _name(row["metric"])[2]
        for row in rows
        if row["mean"] and row["metric"] not in {second for _, second in IN_TWO_UNITS}
    )
    assert expected == Counter(
        value
        for (name, labels), value in samples.items()
        if ("statistic", "mean") in labels and not name.endswith("trials")
    )
    assert bool(intervals) == (what in WITH_INTERVALS)
    assert {int(row["trial"]) for row in intervals} <= {t["number"] for t in answer["trials"]}


def test_metrics_of_a_workload_have_unique_names() -> None:
    for name, kind in WORKLOADS.items():
        by_name: dict[str, list[str]] = {}
        for key in kind.metrics:
            by_name.setdefault(_name(key)[0], []).append(key)
        shared = {tuple(keys) for keys in by_name.values() if len(keys) > 1}
        assert shared <= IN_TWO_UNITS, name


def test_no_metric_key_clashes_with_a_trial_key() -> None:
    of_trial = {
        *("number", "experiment", "block", "purpose", "status", "is_polluted", "counts"),
        *("pollution", "factors", "time_s", "error", "failure", "modes", "agreed", "commands"),
        *("hosts", "streams_bps", "run", "testbed", "link", "workload", "parameters", "n"),
        *("failed_trials", "captures", "drivers", "trials"),
    }
    assert of_trial.isdisjoint(METRICS)


def test_exports_escape_every_name_and_title() -> None:
    from synthetic_runs import synthetic_run

    odd = 'a|b `c` *d* _e_ <f> [g](h) &amp; ~~i~~ $j$ \\ "k"\r\nl, =1+1'
    made = synthetic_run("milanovic-srbljic", "tiny", title=odd)
    run, trials = made.pair()
    for experiment in run.study["experiment"]:
        experiment["title"] = odd
    tables = read_markdown(markdown(RunData(run, trials)))
    assert tables
    read_openmetrics(openmetrics_text(RunData(run, trials)))
    assert read_csv(value_table(RunData(run, trials)).to_csv().encode())
    table = Table("t", "t", (Column('x,"y"'), Column("z")), ((Cell(odd, ""), Cell(1.5, "")),))
    (row,) = read_csv(table.to_csv().encode())
    assert row == {'x,"y"': odd, "z": "1.5"}
    shown = Table("t", "t", (Column("x"),), ((Cell("=1+1", ""),), (Cell(-1.5, ""),)))
    assert [row["x"] for row in read_csv(shown.to_csv().encode())] == ["'=1+1", "-1.5"]
