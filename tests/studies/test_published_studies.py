"""The studies that come with lanlab, and the examples."""

import json
from collections import Counter
from pathlib import Path

import pytest
from every_one import check_each

from lanlab.figures.registry import FIGURES
from lanlab.studies.load import known_studies, load_study
from lanlab.studies.model import Study
from lanlab.studies.published import PublishedValue
from lanlab.studies.runs_on import study_on
from lanlab.studies.scaling import at_scale
from lanlab.workloads import WORKLOADS

EXAMPLES = sorted(map(str, (Path(__file__).parents[2] / "examples").iterdir()))

#: Numbers that each paper prints, every occurrence counted, by sort of place.
COUNTS = {
    "brutman-mtcp": {"table": 63, "text": 2, "testbed": 15},
    "manford-kolahi": {"table": 88, "text": 50, "restated": 25, "testbed": 15, "related": 10},
    "milanovic-srbljic": {"text": 23, "restated": 3, "testbed": 38, "cover": 7},
    "poo-tan": {"text": 25, "testbed": 40, "derived": 3},
    "schomer-claason": {"table": 84, "text": 2, "restated": 22, "testbed": 11},
}
#: Studies of which something can be run.
RUNNABLE = [name for name in known_studies() if load_study(name).study.experiment]

VALUES = [
    (f"{name}:{value.id}", value)
    for name in known_studies()
    for value in load_study(name).published.value
]


def test_every_study_that_comes_with_lanlab_is_counted_here() -> None:
    assert list(COUNTS) == list(known_studies())


@pytest.mark.parametrize("name", COUNTS)
def test_every_published_number_is_stored_once(name: str) -> None:
    values = list(load_study(name).published.printed)

    assert Counter(value.kind for value in values) == COUNTS[name]
    assert len({value.id for value in values}) == len(values)


def test_a_number_of_a_metric_has_the_unit_of_the_metric() -> None:
    def check(value: PublishedValue) -> None:
        units = {
            key: metric.unit
            for entry in WORKLOADS.values()
            for key, metric in entry.metrics.items()
        }
        if value.statistic in ("ratio", "gain", "deficit", "share_of_link"):
            assert value.si_unit == "ratio"
        elif value.metric in units:
            assert value.si_unit == units[value.metric]

    check_each(VALUES, check)


@pytest.mark.parametrize(
    ("study", "identifier", "si", "condition"),
    [
        ("manford-kolahi", "p.vista.ipv6.384", 69.1e6,
         {"transport": "udp", "os": "vista", "ip_version": 6, "message_size_bytes": 384}),
        ("manford-kolahi", "rtt.384.ipv4", 14.1e6,
         {"transport": "udp", "os": "vista", "ip_version": 4, "message_size_bytes": 384}),
        ("manford-kolahi", "t1.xp.ipv4.1280", 3.16e6,
         {"transport": "udp", "os": "xp", "ip_version": 4, "message_size_bytes": 1280}),
        ("milanovic-srbljic", "u2.cel", 48e3,
         {"transport": "udp", "host": "celeron", "os": "nt4", "message_size_bytes": 2}),
    ],
)  # fmt: skip
def test_hand_checked_numbers_have_their_value_and_condition(
    study: str, identifier: str, si: float, condition: dict[str, object]
) -> None:
    [value] = [v for v in load_study(study).published.value if v.id == identifier]

    assert value.si == si
    assert value.condition == condition


@pytest.mark.parametrize("name", [*RUNNABLE, *EXAMPLES])
def test_every_study_has_its_scales_and_figures(name: str) -> None:
    study = load_study(name).study

    assert {"quick", "full"} <= set(study.scale)
    assert {figure.figure for figure in study.figure} <= FIGURES.keys()
    drawn = {identifier for figure in study.figure for identifier in figure.experiments}
    assert drawn == {experiment.id for experiment in study.experiment}


@pytest.mark.parametrize("name", [*COUNTS, *EXAMPLES])
def test_a_study_kept_as_json_is_the_same_study(name: str) -> None:
    study = load_study(name).study

    assert Study.model_validate(json.loads(json.dumps(study.model_dump(mode="json")))) == study


def test_full_scale_of_manford_kolahi_equals_the_publication() -> None:
    study = load_study("manford-kolahi").study
    full = study.scale["full"]
    published = {v.id: v.value for v in load_study("manford-kolahi").published.value}

    assert full.parameters["messages"] == published["w.pkts"] == 1_000_000
    assert (full.trials.min, full.trials.max) == (published["w.runs"], published["w.runs"])
    for experiment in study.experiment:
        assert experiment.factors["ip_version"] == (4, 6)
        assert experiment.factors["message_size_bytes"] == tuple(range(128, 1409, 128))


def test_sweeps_of_milanovic_srbljic_end_at_1_2_times_the_limit_of_the_link() -> None:
    """Ethernet takes 38 octets and pads a frame to 84 with preamble and gap; UDP/IPv4 takes 28."""
    study = study_on(load_study("milanovic-srbljic").study, "real")
    checked = 0
    for experiment in study.experiment:
        size = experiment.parameters.get("message_size_bytes")
        if isinstance(size, int):
            limit_kb_per_s = 10e6 / 8 * size / max(84, size + 28 + 38) / 1000
            levels = experiment.factors.get("rate_bps", ())
            highest = levels[-1] if experiment.search is None else experiment.search.high
            in_kb_per_s = float(str(highest).removesuffix("kB/s"))
            assert in_kb_per_s == pytest.approx(1.2 * limit_kb_per_s, rel=0.001)
            checked += 1
    assert checked == 4


def _what_runs(study: Study, scale: str) -> set[tuple[object, ...]]:
    """What a scale's title may tell of its experiments, of those that cross most levels."""
    amounts = ("time_s", "messages", "requests", "readings_per_station", "bytes")
    found = at_scale(study, scale)
    most = {
        (name, max(len(one.factors.get(name, ())) for one in found))
        for name in ("message_size_bytes", "stations", "rate_bps")
    }
    timed = [one for one in found if one.experiment.search is None]
    return most | {
        (one.trials.min, one.trials.max, *map(one.parameters.get, amounts)) for one in timed
    }


@pytest.mark.parametrize("name", RUNNABLE)
def test_titles_of_scales_say_where_a_simulation_differs(name: str) -> None:
    study = load_study(name).study
    real, simulated = study_on(study, "real"), study_on(study, "simulated")
    both = set(real.scale) & set(simulated.scale) - {"tiny"}
    assert both
    for scale in both:
        differs = _what_runs(real, scale) != _what_runs(simulated, scale)
        assert not differs or "simulated" in study.scale[scale].title, scale
