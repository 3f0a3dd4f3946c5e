"""What stands for the levels that a publication varied."""

from typing import Any

import pytest

from lanlab.errors import BadStudy
from lanlab.studies.counterparts import in_published_words, names_of, place_at, published_level
from lanlab.studies.load import load_study, parse_study

_STUDY = {
    "schema": 1,
    "id": "copies",
    "title": "Copies",
    "experiment": [
        {
            "id": "copies",
            "title": "Copies",
            "workload": "copy",
            "metrics": ["elapsed_ns"],
            "factors": {"service": ["ftp", "smb"], "dataset": ["many-small"]},
        }
    ],
    "scale": {"quick": {}},
}


def with_counterpart(**one: Any) -> dict[str, Any]:
    return {**_STUDY, "counterpart": [one]}


def test_a_level_takes_the_name_of_its_counterpart() -> None:
    study = load_study("schomer-claason").study
    levels = {"service": "nfs", "dataset": "1x6230kB", "medium": "disk"}

    assert in_published_words(study, "upload", levels) == [
        {"protocol": "nfs", "dataset": "one-large-file", "medium": "disk"}
    ]
    assert names_of(study, ("service", "dataset")) == ("protocol", "dataset")
    assert published_level(study, "dataset", "schomer-many") == "many-small-files"
    assert published_level(study, "dataset", "many-small-files") == "many-small-files"


def test_one_experiment_may_represent_several_levels() -> None:
    study = load_study("brutman-mtcp").study

    assert in_published_words(study, "speed-test", {"bytes": 260_163}) == [
        {"bytes": 260_163, "test": "speedtest", "direction": "send"},
        {"bytes": 260_163, "test": "speedtest", "direction": "receive"},
    ]
    levels = {"direction": "download", "dataset": "brutman-medium"}
    assert in_published_words(study, "ftp", levels) == [
        {"test": "ftp", "direction": "receive", "bytes": 1_376_275}
    ]


@pytest.mark.parametrize("scale", ["full", "standard", "quick", "tiny"])
@pytest.mark.parametrize("name", ["schomer-claason", "brutman-mtcp"])
def test_every_dataset_of_every_scale_represents_a_published_one(name: str, scale: str) -> None:
    from lanlab.plan.conditions import expand

    study = load_study(name).study
    of_copies = [c for c in expand(study, scale) if c.workload == "copy"]
    assert of_copies
    for condition in of_copies:
        for words in in_published_words(study, condition.experiment, condition.parameters):
            assert (words.get("bytes") or words.get("dataset")) != condition.factors["dataset"]


def test_a_condition_that_has_the_published_factor_itself_needs_no_counterpart() -> None:
    """As one on machines that stand for a system, whose service today's stand for otherwise."""
    study = load_study("poo-tan").study
    novell = {"system": "novell-an286", "service": "ncp"}

    assert in_published_words(study, "novell-read", novell) == [novell]
    assert in_published_words(study, "read-write", {"service": "nfs"}) == [{"system": "nfs"}]


def test_without_counterparts_a_condition_is_itself() -> None:
    study = parse_study(_STUDY, "copies.toml")

    assert in_published_words(study, "copies", {"service": "ftp"}) == [{"service": "ftp"}]


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (
            {"published": "protocol", "factor": "servce"},
            "`counterpart.0.factor`: found unknown name 'servce'",
        ),
        (
            {"published": "test", "factor": "experiment", "levels": {"ftp": ["copys"]}},
            "`counterpart.0.levels`: found unknown name 'copys'",
        ),
        (
            {
                "published": "protocol",
                "factor": "service",
                "levels": {"tcpip": ["smb"]},
                "only_at": {"smb1": {"os": "w98se"}},
            },
            "`counterpart.0.only_at`: found unknown name 'smb1'",
        ),
    ],
)
def test_an_unknown_counterpart_is_refused(one: dict[str, Any], said: str) -> None:
    with pytest.raises(BadStudy) as refused:
        parse_study(with_counterpart(**one), "copies.toml")
    assert said in str(refused.value.message) + str(refused.value.hint)


def test_a_machine_place_may_name_a_published_level() -> None:
    study = load_study("schomer-claason").study
    for service, protocol in {"smb1+nbf": "netbeui", "smb1+ipx": "nwlink"}.items():
        place = place_at(study, {"os": "w98se", "service": service})
        assert place is not None and place.machines[0] == f"celeron400-w98se-{protocol}"
    tcp = place_at(study, {"os": "w98se", "service": "smb1"})
    assert tcp is not None and tcp.when == {"os": "w98se"}
    assert place_at(study, {"service": "smb1"}) is None
