"""Round trips below a millisecond are in microseconds wherever they stand, as in their result."""

from dataclasses import replace

import pytest
from synthetic_runs import SyntheticRun, synthetic_run

from lanlab.analysis.published.values import published_numbers
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.registry import build_figure
from lanlab.report.metrics.metric_table import metric_table
from lanlab.report.runs.run_result import result_text
from lanlab.report.runs.run_text import markdown
from lanlab.report.trials.trial_table import trial_table
from lanlab.studies.model import Study


@pytest.fixture(scope="module")
def echoes() -> SyntheticRun:
    """Round trips of 43 to 98 µs."""
    return synthetic_run("manford-kolahi", link_rate_bps=100_000_000, shape="none")


def test_times_have_one_unit_in_lists_tables_and_figures(echoes: SyntheticRun) -> None:
    own = [trial for trial in echoes.trials if "rtt_mean_ns" in trial.metrics]
    data = {**echoes.run.study, "units": {}}
    data["experiment"] = [one for one in data["experiment"] if one["id"] == own[0].experiment]
    data["figure"] = [one for one in data["figure"] if own[0].experiment in one["experiments"]]
    study = Study.model_validate(data)
    run = replace(echoes.run, study=data, study_id="mine")
    published = published_numbers(run)

    table = metric_table(RunData(run, own, study, published), own[0].experiment, "rtt_mean_ns")
    said = {
        "list": result_text(run, own),
        "table": " ".join(column.heading for column in table.columns),
        "trials": " ".join(
            cell.text for row in trial_table(RunData(run, own, study)).rows for cell in row
        ),
        "figure": build_figure(RunData(run, own, study, published), study.figure[0]).y.unit,
        "Markdown": markdown(RunData(run, own)),
    }
    assert {where: "µs" in text for where, text in said.items()} == dict.fromkeys(said, True)
    assert [where for where, text in said.items() if " ms" in text or "(ms)" in text] == []
    # The unit of a table for programs does not depend on its values.
    assert "mean (ms)" in [column.name for column in table.columns]
