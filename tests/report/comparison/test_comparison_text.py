"""What a comparison says: in sentences, in tables, and of records that somebody else wrote."""

import copy
import json
import math
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from synthetic_runs import SyntheticRun, synthetic_run

from lanlab.analysis.comparison.compare import Compared, Sample, compared, judged
from lanlab.analysis.comparison.facts import Differing
from lanlab.errors import LabError, StoreError, UsageError
from lanlab.figures.chart import Chart
from lanlab.figures.forests import published_forest, ratio_forest
from lanlab.report.comparison.compared import between_runs, with_published, within_run
from lanlab.report.comparison.comparison_table import comparison_tables, facts_table, flat
from lanlab.report.comparison.comparison_text import (
    comparison_sentences,
    effect_text,
    sentence,
    verdict_text,
)
from lanlab.store import RunRecord, TrialRecord
from lanlab.store.shape import reading_records
from lanlab.studies.load import load_study
from lanlab.studies.model import Study

Run = tuple[RunRecord, list[TrialRecord]]


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("manford-kolahi").study


def one(
    base: tuple[float, ...],
    other: tuple[float, ...],
    metric: str = "goodput_bps",
    margin: float | None = None,
) -> Compared:
    """Two sides at 128 B over IPv4."""
    sides = [Sample(values, tuple(range(len(values))), 0, 0, 0, 60.0) for values in (base, other)]
    found = compared(
        *sides,
        experiment="throughput",
        metric=metric,
        factors={"ip_version": 4, "message_size_bytes": 128},
        names=("RUN1", "RUN2"),
        basis="mixed",
    )
    return judged([found], margin)[0]


TEN = (99e6, 100e6, 101e6, 100e6)


def test_a_side_may_be_called_like_another_column(study: Study) -> None:
    found = one((0.7, 0.8, 0.9), (0.6, 0.7, 0.8), "jain_index")
    [table] = comparison_tables(study, [replace(found, base_name="p", other_name="condition")])
    assert [column.short for column in table.columns].count("p") == 2
    assert {len(row) for row in table.rows} == {len(table.columns)}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            one(TEN, tuple(1.12 * value for value in TEN)),
            r"RUN2 is 12\.0 % \(10\.\d … 13\.\d %\) faster than RUN1 at IPv4, 128 B\.",
        ),
        (
            one(TEN, tuple(0.9 * value for value in TEN)),
            r"RUN2 is 10\.0+ % \(\d\.\d+ … 11\.\d %\) slower than RUN1 at IPv4, 128 B\.",
        ),
        (
            one(TEN, tuple(3 * value for value in TEN)),
            r"RUN2's throughput is 3\.00 \(2\.9\d … 3\.0\d\) times RUN1's at IPv4, 128 B\.",
        ),
        (
            one((2e6, 2.02e6, 1.98e6), (1.6e6, 1.62e6, 1.58e6), "rtt_mean_ns"),
            r"RUN2's round-trip time is 20\.0 % \(.*\) shorter than RUN1's at IPv4, 128 B\.",
        ),
        (
            one((0.99, 0.98, 0.985), (0.95, 0.94, 0.945), "received_ratio"),
            r"RUN2's received is 4\.00 \(.*\) percentage points lower than RUN1's at IPv4, 128 B\.",
        ),
        (
            one(TEN, tuple(1.001 * value for value in TEN), margin=0.05),
            r"No difference within 5 % between RUN2 and RUN1 at IPv4, 128 B: RUN2 is 0\.100 % .*",
        ),
        (
            one(TEN, (100e6, 102e6, 101e6, 103e6)),
            r"Undecided whether RUN2 and RUN1 differ in throughput at IPv4, 128 B: here "
            r"RUN2 is 1\.50 % \(.*\) faster than RUN1; to decide: about \d+ more runs, "
            r"alternating, \d+ min\.",
        ),
        (
            # Ends far from the ratio are as ratios, too: not "-77 … 2,900 %".
            one((100e6, 500e6, 224e6), (300e6, 200e6, 245e6)),
            r"Undecided whether RUN2 and RUN1 differ in throughput at IPv4, 128 B: here "
            r"RUN2's throughput is 1\.09 \(0\.\d+ … \d[\d,.]*\) times RUN1's; .*",
        ),
        (
            one((100e6,), TEN),
            r"RUN2 was 0\.0\d+ % slower than RUN1 at IPv4, 128 B, but seen in one run of RUN1, "
            r"so no interval\.",
        ),
        (
            one((5e6, 5e6), (5e6, 5e6)),
            r"Throughput of RUN2 and RUN1 at IPv4, 128 B was the same, but there is no interval: "
            r".*",
        ),
        (
            one((), TEN),
            r"No throughput of RUN2 and RUN1 at IPv4, 128 B can be compared: no trial of RUN1 has "
            r"a value\.",
        ),
    ],
)
def test_every_outcome_has_a_sentence(found: Compared, said: str, study: Study) -> None:
    assert re.fullmatch(said, sentence(study, found)), sentence(study, found)


@pytest.mark.parametrize(
    ("factor", "said", "verdict"),
    [
        (1.5, "Undecided whether RUN2 and RUN1 differ in throughput at IPv4, 128 B: here RUN2 "
         "is 12.0 % (\N{MINUS SIGN}25.3 … 68.0 %) faster than RUN1, and the model's error is "
         "greater.",
         "undecided: within the model's error"),
        (math.inf, "Undecided whether RUN2 and RUN1 differ in throughput at IPv4, 128 B: here RUN2 "
         "is 12.0 % faster than RUN1, and the model's error is not known.",
         "undecided: within the model's error"),
        (1.1, "RUN2 is 12.0 % (1.82 … 23.2 %) faster than RUN1 at IPv4, 128 B.",
         "differs, better"),
    ],
)  # fmt: skip
def test_a_simulated_difference_counts_beyond_the_models_error(
    factor: float, said: str, verdict: str, study: Study
) -> None:
    found = one(TEN, tuple(1.12 * value for value in TEN))
    simulated = judged([replace(found, model_factor=factor)], 0.5)[0]
    assert found.verdict == "differs"
    assert (simulated.verdict == "differs") == (factor < 1.12)
    assert simulated.further is None
    assert sentence(study, simulated) == said
    assert verdict_text(simulated) == verdict
    # Seeds of one model are no sample, so there is no ± beside its means, and no p.
    [table] = comparison_tables(study, [simulated])
    texts = [cell.text for cell in table.rows[0]]
    assert not any("±" in text or "0.001" in text for text in texts)
    assert flat(simulated)["model error factor"] == (None if math.isinf(factor) else factor)


def test_equal_seeds_of_two_simulated_runs_are_within_the_models_error(study: Study) -> None:
    found = one((5e6, 5e6), (6e6, 6e6))
    assert found.test is None
    simulated = replace(found, model_factor=1.5)
    assert simulated.verdict == "cannot_tell"
    assert sentence(study, simulated).endswith("and the model's error is greater.")


def test_compared_simulated_runs_take_the_error_of_their_model() -> None:
    """Schomer & Claason's model is right within a factor of 1.77, a ratio within 2.24."""
    made = synthetic_run("schomer-claason", "quick", where="simulated")
    faster = [
        replace(t, metrics={**t.metrics, "elapsed_ns": 0.9 * t.metrics["elapsed_ns"]})
        for t in made.trials
    ]
    other = replace(made.run, id="20261122-081500-schomer-claason-4f2a"), faster
    found = between_runs([made.pair(), other])
    assert {round(each.model_factor, 2) for each in found.found} == {2.24}
    assert {each.verdict for each in found.found} == {"cannot_tell"}
    assert (
        "Simulated throughput: a ratio is right within a factor of 2.24, 95 %, by the model's "
        "error; seeds do not show it." in found.sentences
    )
    assert not any("measured one after another" in each for each in found.sentences)
    by_level = within_run(made.pair(), "os")
    assert {round(each.model_factor, 2) for each in by_level.found} == {2.24}


def test_two_trials_show_no_difference(study: Study) -> None:
    found = one((5e6, 5.01e6), (6e6, 6.01e6))
    assert found.test is not None and found.p_holm is not None and found.p_holm < 0.05
    assert not found.differs
    assert sentence(study, found).endswith(
        "; 2 runs each cannot show an order; run at least 3 (`--alternate 3`)."
    )
    assert verdict_text(found) == "undecided: fewer than 3 runs each"


def test_the_overall_difference_of_a_metric_precedes_each_condition(study: Study) -> None:
    gains = (1.05, 1.12, 1.2)
    found = [one(TEN, tuple(gain * value for value in TEN)) for gain in gains]
    even = one(TEN, (100e6, 102e6, 101e6, 103e6))

    over_all, counts, *_ = comparison_sentences(study, found)
    assert over_all == "RUN2 was 5.00 to 20.0 % faster than RUN1 over 3 conditions."
    assert counts.startswith("3 comparisons")
    less = one(TEN, tuple(0.8 * value for value in TEN))
    both = comparison_sentences(study, [*found, less])[0]
    assert both == "RUN2's throughput was 0.800 to 1.20 times RUN1's over 4 conditions."
    for few in (found[:2], [found[0], even, even]):
        assert not any("over" in text for text in comparison_sentences(study, few))


def test_a_common_reason_is_reported_once(study: Study) -> None:
    undecided = one(TEN, (100e6, 102e6, 101e6, 103e6))

    few = comparison_sentences(study, [undecided] * 6)
    many = comparison_sentences(study, [undecided] * 7)

    assert len(few) == 7 and len(many) == 2
    assert re.fullmatch(
        r"7 comparisons are undecided with these runs; the table says how many more each needs, "
        r"\d+ runs where known\.",
        many[1],
    )


def test_tables_say_effect_and_verdict_in_few_words(study: Study) -> None:
    faster = one(TEN, tuple(1.12 * value for value in TEN))
    assert re.fullmatch(r"1\.120 \(1\.10\d … 1\.13\d\)", effect_text(study, faster))
    assert verdict_text(faster) == "differs, better"
    lower = one((0.99, 0.98, 0.985), (0.95, 0.94, 0.945), "received_ratio")
    assert re.fullmatch(
        r"\N{MINUS SIGN}4\.00 \(\N{MINUS SIGN}5\.\d+ … \N{MINUS SIGN}2\.\d+\) percentage points",
        effect_text(study, lower),
    )
    assert verdict_text(lower) == "differs, worse"


def second(found: SyntheticRun, factor: float) -> Run:
    run = replace(found.run, id="second")
    trials = [
        replace(trial, metrics={k: v * (factor if k == "goodput_bps" else 1) for k, v in
                                trial.metrics.items()})
        for trial in found.trials
    ]  # fmt: skip
    return run, trials


def test_the_forest_has_a_row_for_each_condition_and_the_line_of_equality() -> None:
    own = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    found = between_runs([own.pair(), second(own, 0.95)], 0, ["goodput_bps"], 0.02)

    chart = ratio_forest(found.study, found.found)

    assert chart.sideways and len(chart.x.categories) == 14
    [series] = chart.series
    for point, seen in zip(series.points, found.found, strict=True):
        assert point.y == seen.effect == pytest.approx(0.95)
        assert seen.test is not None and (point.low, point.high) == (seen.test.low, seen.test.high)
    same, margin = chart.limits
    assert {y for _, y in same.points} == {1.0}
    assert sorted({y for _, y in margin.points}) == pytest.approx([1 / 1.02, 1.02])
    assert chart.y.label == "RUN2 / RUN1"


@pytest.mark.parametrize(("basis", "units"), [("mixed", "runs"), ("levels", "trials")])
def test_forest_points_show_the_number_compared(basis: Any, units: str) -> None:
    found = replace(one(TEN, TEN[:3]), basis=basis)
    [point] = ratio_forest(load_study("manford-kolahi").study, [found]).series[0].points
    assert point.condition.endswith(f"RUN2, 3 against 4 {units}")


def test_a_forest_of_differences_is_in_the_shown_unit() -> None:
    own = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    found = between_runs([own.pair(), second(own, 1.0)], 0, ["received_ratio"])

    chart: Chart = ratio_forest(found.study, found.found)
    assert chart.y.unit == "percentage points" and not chart.y.logarithmic
    assert {y for limit in chart.limits for _, y in limit.points} == {0.0}


def test_an_outlying_interval_does_not_squash_the_forest(study: Study) -> None:
    from lanlab.figures.render_matplotlib import _draw

    wild = one((1e6, 1e9), (1e9, 2e6))
    endless = one((1e-150, 1e150), (1e150, 1e-150))
    calm = one(TEN, tuple(1.01 * value for value in TEN))

    _, axes = _draw(ratio_forest(study, [calm, wild, endless]), 6.4)

    low, high = axes.get_xlim()
    assert wild.test is not None and wild.test.high > 1e6 and high < 10
    assert 0.2 < low < 1 < high
    assert flat(endless)["95 % high"] is None
    json.dumps(flat(endless), allow_nan=False)


def test_the_forest_of_published_numbers_has_ratios() -> None:
    own = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    found = with_published(own.pair(), ["goodput_bps"]).found
    chart = published_forest(own.study, found)

    assert [point.y for point in chart.series[0].points] == [seen.ratio for seen in found]
    assert chart.x.categories[0] == "IPv4, 384 B, Windows XP"


def told(first: Run, other: Run) -> str:
    """All that is said of two runs, of the first alone, and beside what was printed."""
    said = []
    with reading_records(first[0].id):
        for make in (
            lambda: between_runs([first, other]),
            lambda: within_run(first, "ip_version"),
            lambda: with_published(first),
        ):
            try:
                found = make()
            except UsageError as error:
                said.append(error.message)
                continue
            said += found.sentences
            said += [table.to_csv() for table in (*found.tables, found.csv())]
            said.append(json.dumps(found.document.to_json(), allow_nan=False))
    return "\n".join(said)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=3,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    return [path, *(found for key, item in inner for found in places(item, (*path, key)))]


@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(data=st.data())
def test_any_changed_record_is_compared_or_refused(data: st.DataObject) -> None:
    own = synthetic_run("manford-kolahi")
    whole: dict[str, Any] = {
        "study": copy.deepcopy(own.run.study),
        "testbed": copy.deepcopy(own.run.testbed),
        "factors": copy.deepcopy(own.trials[0].factors),
        "metrics": copy.deepcopy(own.trials[0].metrics),
        "raw": copy.deepcopy(own.trials[0].raw),
    }
    *way, last = data.draw(st.sampled_from([p for p in places(whole) if len(p) > 1]))
    place: Any = whole
    for key in way:
        place = place[key]
    place[last] = data.draw(_JSON)
    run = replace(own.run, study=whole["study"], testbed=whole["testbed"])
    changed = {key: whole[key] for key in ("factors", "metrics", "raw")}
    trials = [replace(own.trials[0], **changed), *own.trials[1:]]
    try:
        told((run, trials), second(own, 1.1))
    except LabError as error:
        assert isinstance(error, StoreError)


def test_texts_of_records_are_escaped_in_the_page() -> None:
    script = "</title></svg><script>alert(1)</script>"
    own = synthetic_run("manford-kolahi", title=script)
    testbed = {**own.run.testbed, "name": script}
    run, trials = second(own, 1.1)
    found = between_runs([own.pair(), (replace(run, testbed=testbed), trials)])

    page = found.page()

    assert script not in page and "&lt;script&gt;alert(1)" in page
    assert page.count("<script>") == 1


def test_names_tags_and_notes_identify_runs() -> None:
    made = synthetic_run("manford-kolahi", most_trials=12)
    label = {"name": "after", "note": "new cable", "tags": ["lab2"]}
    second = replace(made.run, id=f"{made.run.id}-2", label=label)
    found = between_runs([(made.run, made.trials), (second, made.trials)])

    headings = [column.heading for column in found.runs_table.columns]
    assert headings[-3:] == ["name", "tags", "note"]
    texts = [[cell.text for cell in row[-3:]] for row in found.runs_table.rows]
    assert texts == [["", "", ""], ["after", "lab2", "new cable"]]
    assert [run["label"] for run in found.document.to_json()["runs"]] == [None, label]
    alone = between_runs([(made.run, made.trials), (replace(second, label=None), made.trials)])
    assert "name" not in [column.heading for column in alone.runs_table.columns]


def test_named_runs_are_called_by_name() -> None:
    made = synthetic_run("manford-kolahi", most_trials=40)
    first = replace(made.run, label={"name": "old-cable"})
    second = replace(made.run, id=f"{made.run.id}-2", label={"name": "new-cable"})
    trials = [replace(trial, run_id=second.id) for trial in made.trials]
    found = between_runs([(first, made.trials), (second, trials)])
    assert [side.name for side in found.sides] == ["old-cable", "new-cable"]
    chart = ratio_forest(found.study, found.found)
    assert chart.y.name == "new-cable / old-cable"

    page = found.page()
    assert page.index("<figure") < page.index("What is compared")
    assert len(re.findall("<li>", page[: page.index("<figure")].partition("<details>")[0])) == 3


def test_differing_facts_are_in_words_and_units() -> None:
    facts = [
        Differing("testbed link_rate_bps", ("10000000", "100000000")),
        Differing("hosts memory_bytes", ("8589934592", "not recorded")),
        Differing("version of lanlab", ("0.1.0", "0.2.0")),
    ]
    rows = [[cell.text for cell in row] for row in facts_table(["A", "B"], facts).rows]
    assert rows == [
        ["testbed link rate", "10.00 Mbit/s", "100.0 Mbit/s"],
        ["hosts memory", "8,589,934,592 B", "not recorded"],
        ["version of lanlab", "0.1.0", "0.2.0"],
    ]
