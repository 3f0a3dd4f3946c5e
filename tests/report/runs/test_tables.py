"""The tables of a run, for CSV, page and terminal."""

import csv
import io
import math
import statistics
from dataclasses import replace

import pytest
from synthetic_runs import SyntheticRun, synthetic_run

from lanlab.analysis.trials.run_data import RunData
from lanlab.report.document.fitted import fitted
from lanlab.report.document.table import Cell, Column, Table
from lanlab.report.metrics.metric_table import metric_table
from lanlab.report.runs.run_text import tables
from lanlab.report.traffic.loss_table import loss_table
from lanlab.report.trials.analyses import Analyses
from lanlab.report.trials.trial_table import trial_table


def goodput(synthetic: SyntheticRun, experiment: str) -> Table:
    run, trials = synthetic.pair()
    return metric_table(
        RunData(run, trials, synthetic.study, synthetic.published), experiment, "goodput_bps"
    )


def read(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.to_csv())))


def test_csv_has_the_study_unit_and_ours_at_full_precision() -> None:
    synthetic = synthetic_run("milanovic-srbljic")
    row = read(goodput(synthetic, "udp-500"))[1]
    values = [
        t.metrics["goodput_bps"]
        for t in synthetic.trials
        if t.experiment == "udp-500" and t.factors == {"rate_bps": 10_600_000}
    ]
    assert float(row["mean (bit/s)"]) == pytest.approx(sum(values) / len(values), rel=1e-15)
    assert float(row["mean (kB/s)"]) * 8000 == pytest.approx(float(row["mean (bit/s)"]))
    assert float(row["share of limit (ratio)"]) == pytest.approx(0.999, abs=0.01)
    assert row["n"] == "2"


def test_readers_see_no_unit_of_a_metric_without_one() -> None:
    run, trials = (synthetic := synthetic_run("milanovic-srbljic")).pair()
    data = RunData(run, trials, synthetic.study, synthetic.published)
    columns = metric_table(data, "udp-500", "jain_index").columns

    assert "Jain's index" in [column.short for column in columns]
    assert not [one for one in columns if "(1)" in f"{one.heading} {one.short}"]
    assert "mean (1)" in [column.name for column in columns]


def test_metric_columns_match_their_names() -> None:
    synthetic = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    for row in read(goodput(synthetic, "throughput")):
        version, size = int(row["ip_version"]), int(row["message_size_bytes"])
        values = [
            trial.metrics["goodput_bps"]
            for trial in synthetic.trials
            if trial.experiment == "throughput"
            and trial.factors == {"ip_version": version, "message_size_bytes": size}
        ]
        limit_bps = 100e6 * size / (size + (28 if version == 4 else 48) + 38)
        logs = [math.log(value) for value in values]
        # Of three trials, on the log scale: Student's t of 97.5 % with two degrees of freedom.
        factor = math.exp(2.776445 * statistics.stdev(logs) / math.sqrt(5))
        mean = statistics.fmean(values)
        expected = {
            "mean": mean,
            "95 % low": mean / factor,
            "95 % high": min(
                mean * factor, max(limit_bps, *values) if mean <= limit_bps else math.inf
            ),
            "standard deviation": statistics.stdev(values),
            "limit": limit_bps,
        }
        counts = [row[name] for name in ("n", "failed", "missing", "polluted", "left out")]
        assert counts == ["5", "0", "0", "0", "0"]
        assert float(row["share of limit (ratio)"]) == pytest.approx(mean / limit_bps)
        for name, bps in expected.items():
            near = 1e-3 if name.startswith("95") else 1e-9
            assert float(row[f"{name} (bit/s)"]) == pytest.approx(bps, rel=near), name
            assert float(row[f"{name} (Mbit/s)"]) == pytest.approx(bps / 1e6, rel=near), name


def test_trial_columns_match_their_names() -> None:
    synthetic = synthetic_run("manford-kolahi")
    late = {
        t.number: {"start_skew_ns": 70 + t.number, "max_lateness_ns": 900 + t.number}
        for t in synthetic.trials
    }
    trials = [
        replace(t, elapsed_s=3.5 + t.number, metrics=t.metrics | late[t.number])
        for t in synthetic.trials
    ]
    measures = {"throughput": ("goodput_bps", "bit/s"), "round-trip": ("rtt_mean_ns", "ns")}
    for row, trial in zip(
        read(trial_table(RunData(synthetic.run, trials, synthetic.study))), trials, strict=True
    ):
        metric, unit = measures[trial.experiment]
        assert (row["metric"], row["unit"]) == (metric, unit)
        assert float(row["result"]) == trial.metrics[metric]
        assert int(row["start skew (ns)"]) == 70 + trial.number
        assert int(row["greatest lateness (ns)"]) == 900 + trial.number
        assert float(row["elapsed (s)"]) == 3.5 + trial.number
        assert (int(row["number"]), int(row["block"])) == (trial.number, trial.block)
        assert (row["purpose"], row["status"], row["counts"]) == ("trial", "done", "True")
        assert {name: int(row[name]) for name in trial.factors} == trial.factors


def test_column_names_are_unique() -> None:
    for name, experiment in (("milanovic-srbljic", "tcp"), ("manford-kolahi", "throughput")):
        header = goodput(synthetic_run(name), experiment).to_csv().splitlines()[0]
        names = next(csv.reader([header]))
        assert len(names) == len(set(names))


def test_published_values_are_in_the_row_of_their_condition() -> None:
    synthetic = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    rows = read(goodput(synthetic, "throughput"))
    row = next(r for r in rows if (r["ip_version"], r["message_size_bytes"]) == ("4", "384"))
    assert float(row["published mean, Windows XP (Mbit/s)"]) == 79.8
    ratio = float(row["measured / published mean, Windows XP (ratio)"])
    assert ratio == pytest.approx(float(row["mean (Mbit/s)"]) / 79.8)
    assert row["published mean, Windows Vista SP1 (Mbit/s)"] == ""


def test_a_published_deviation_is_compared_with_our_deviation() -> None:
    """1.06 Mbit/s of Vista over IPv4 with 384 bytes."""
    synthetic = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    rows = read(goodput(synthetic, "throughput"))
    row = next(r for r in rows if (r["ip_version"], r["message_size_bytes"]) == ("4", "384"))
    assert float(row["published sd, Windows Vista SP1 (Mbit/s)"]) == 1.06
    ratio = float(row["measured / published sd, Windows Vista SP1 (ratio)"])
    assert ratio == pytest.approx(float(row["standard deviation (Mbit/s)"]) / 1.06)


def test_a_condition_without_results_keeps_its_row() -> None:
    synthetic = synthetic_run("manford-kolahi", fails=lambda planned: True)
    rows = read(goodput(synthetic, "throughput"))
    assert len(rows) == 6
    assert all(row["mean (Mbit/s)"] == "" and int(row["failed"]) > 0 for row in rows)


def test_a_single_trial_has_a_mean_and_no_spread() -> None:
    synthetic = synthetic_run("manford-kolahi", most_trials=12)
    rows = [row for row in read(goodput(synthetic, "throughput")) if row["n"] == "1"]
    assert rows
    assert all(row["mean (Mbit/s)"] and not row["95 % low (Mbit/s)"] for row in rows)


def test_every_trial_is_in_the_table_with_its_error() -> None:
    synthetic = synthetic_run("manford-kolahi", fails=lambda planned: planned.number == 2)
    rows = read(trial_table(RunData(synthetic.run, synthetic.trials, synthetic.study)))
    assert [int(row["number"]) for row in rows] == list(range(len(synthetic.trials)))
    assert rows[2]["error"] == "peer.silent: nothing heard for 3 s"
    assert rows[0]["load average before"] == "0.25"


def losses(synthetic: SyntheticRun, experiment: str) -> Table:
    return loss_table(
        RunData(synthetic.run, synthetic.trials, synthetic.study, synthetic.published), experiment
    )


def test_loss_rows_add_up_to_the_offered_load() -> None:
    rows = read(losses(synthetic_run("milanovic-srbljic", "quick"), "udp-500"))
    assert [float(row["offered (messages)"]) for row in rows] == [10_000] * 6
    for row in rows:
        shares = [float(value) for name, value in row.items() if name.endswith("(ratio)")]
        assert len(shares) == 3
        assert sum(shares) == pytest.approx(1)
    assert float(rows[-1]["dropped in the sender's queue (ratio)"]) == pytest.approx(
        0.125, abs=0.01
    )


def test_every_place_of_loss_has_its_own_column() -> None:
    """Of 10,000 messages a number at each place that is at no other."""
    words = {
        "skipped_messages": "skipped, as the next was due",
        "unsent_messages": "not sent in time",
        "refused_messages": "refused by the sending host",
        "lost_sender_queue_messages": "dropped in the sender's queue",
        "lost_link_messages": "lost on the link",
        "lost_backlog_messages": "dropped in the receiving host's backlog",
        "lost_socket_buffer_messages": "dropped in the receiver's socket buffer",
        "lost_late_messages": "arrived after the end",
    }
    lost = {place: 2**power for power, place in enumerate(words)}
    counted = lost | {"offered_messages": 10_000, "received_messages": 10_000 - sum(lost.values())}
    synthetic = synthetic_run("milanovic-srbljic", "quick", distorts=lambda had, _: had | counted)
    for row in read(losses(synthetic, "udp-500")):
        assert (row["n"], float(row["offered (messages)"])) == ("3", 10_000)
        assert float(row["received (ratio)"]) == pytest.approx(0.9745)
        for place, name in words.items():
            assert float(row[f"{name} (ratio)"]) == pytest.approx(lost[place] / 10_000), name


def test_uncounted_trials_have_no_loss_row() -> None:
    synthetic = synthetic_run("milanovic-srbljic", fails=lambda p: p.experiment == "udp-2")
    assert not losses(synthetic, "tcp").rows
    assert not losses(synthetic, "udp-2").rows
    assert losses(synthetic, "udp-500").rows


def test_the_terminal_explains_losses_of_studies_that_draw_them() -> None:
    for name, explained in (("milanovic-srbljic", 2), ("manford-kolahi", 0)):
        titles = [
            str(table.title) for table in tables(RunData(*synthetic_run(name).pair()), Analyses())
        ]
        assert sum("where messages were lost" in title for title in titles) == explained
    spared = synthetic_run("milanovic-srbljic", link_rate_bps=100_000_000)
    assert not [t for t in tables(RunData(*spared.pair()), Analyses()) if "lost" in str(t.title)]


def test_trials_name_their_measuring_program() -> None:
    synthetic = synthetic_run("milanovic-srbljic")
    table = trial_table(RunData(synthetic.run, synthetic.trials, synthetic.study))
    row = next(row for row in read(table) if row["experiment"] == "tcp")
    assert (row["io"], row["receive"], row["times by"]) == ("single", "poll", "program")
    assert (row["messages at once"], row["read size (B)"]) == ("1", "262144")
    assert row["receive chosen because"] == "it took the most"
    assert row["write size (B)"] in ("500", "2")


def test_csv_texts_are_never_formulas() -> None:
    table = Table("t", "t", (Column("a"),), ((Cell("=1+1", "=1+1"),), (Cell(-1.5, "-1.5"),)))
    assert table.to_csv() == "a\r\n'=1+1\r\n-1.5\r\n"


@pytest.mark.parametrize("name", ["milanovic-srbljic", "manford-kolahi"])
def test_the_terminal_shows_every_experiment(name: str) -> None:
    synthetic = synthetic_run(name)
    shown = tables(RunData(*synthetic.pair()), Analyses())
    text = "\n".join(line for table in shown for line, _ in fitted(table, 120))
    for experiment in synthetic.study.experiment:
        assert (experiment.title in text) == ("real" in experiment.on)
    # Two trials have no interval, but their values.
    assert "; " in text and "±" not in text


@pytest.mark.parametrize("word", ["simulated", "measured"])
def test_simulated_tables_never_say_measured(word: str) -> None:
    made = synthetic_run("schomer-claason")
    on = ("simulated" if word == "simulated" else "real",)
    alike = tuple(one.model_copy(update={"on": on}) for one in made.study.experiment)
    study = made.study.model_copy(update={"experiment": alike})
    experiment = made.trials[0].experiment
    of = (made.run, made.trials, study, made.published)
    table = metric_table(RunData(*of), experiment, "elapsed_ns")
    other = "measured" if word == "simulated" else "simulated"
    texts = [table.title, *(name for c in table.columns for name in vars_of(c))]
    assert any(word in text.lower() for text in texts), texts
    assert not any(other in text.lower() for text in texts), texts


def vars_of(column: Column) -> tuple[str, str, str]:
    return column.name, column.heading, column.short
