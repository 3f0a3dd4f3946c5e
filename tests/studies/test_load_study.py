"""Loading studies: what is found, and how a mistake is told."""

import copy
import hashlib
import tomllib
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from lanlab.errors import BadStudy, UsageError
from lanlab.studies.load import load_study, parse_published, parse_study
from lanlab.studies.model import Study
from lanlab.studies.scaling import at_scale

STUDY = """
schema = 1
id = "mine"
title = "Mine"
[[experiment]]
id = "sweep"
title = "Sweep"
workload = "stream"
metrics = ["goodput_bps"]
parameters = { transport = "udp", message_size_bytes = 500 }
factors = { rate_bps = ["1M", "2M"] }
[[experiment]]
id = "limit"
title = "Limit"
workload = "stream"
metrics = ["goodput_bps"]
search = { factor = "rate_bps", low = "1M", high = "9M", loss_goals = [0, 0.01] }
[[figure]]
figure = "bars"
title = "Bars"
experiments = ["sweep"]
[scale.quick]
parameters = { time_s = 0.1, warmup_s = 0 }
"""


def mistaken(place: str, value: object) -> BadStudy:
    """The error for the study above with `value` put at the dotted `place`."""
    data: Any = tomllib.loads(STUDY)
    *path, last = place.split(".")
    table = data
    for step in path:
        table = table[int(step)] if isinstance(table, list) else table.setdefault(step, {})
    table[last] = value
    with pytest.raises(BadStudy) as caught:
        parse_study(data, "study.toml")
    return caught.value


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("experiment.0.parameters.message_size_bytes", 0),
        ("experiment.0.parameters.message_size_bytes", True),
        ("scale.quick.parameters.time_s", -1),
        ("scale.quick.experiment.sweep.factors.rate_bps", ["fast"]),
        ("experiment.0.factors.rate_bps", ["1M", 1_000_000]),
        ("experiment.0.factors.rate_bps", []),
        ("experiment.0.parameters.rate_bps", "1M"),
        ("experiment.1.parameters.rate_bps", "1M"),
        ("scale.quick.parameters.messages", 5),
        ("experiment.1.search.low", "9M"),
        ("scale.quick.experiment.limit.search.high", "fast"),
        ("scale.quick.experiment.limit.search.trials", 0),
        ("scale.quick.experiment.sweep.search.trials", 1),
        ("experiment.1.search.loss_goals", [0, 1]),
        ("experiment.1.search.loss_goals", [0.01, 0]),
        ("experiment.1.search.metric", "loss_ratio"),
        ("experiment.1.parameters.messages", 5),
        ("experiment.1.factors.flows", [1, 2]),
        ("testbed.link", "10 furlongs"),
        ("schema", 2),
        ("scale.quick.trials", {"min": 3, "max": 1}),
        ("scale.quick.trials", {"min": True}),
        ("experiment.1.id", "sweep"),
        ("experiment.0.id", "No Id"),
        ("experiment.0.factors.rate_bps", [{}]),
        ("scale", {}),
        ("experiment.0.workload", "steam"),
        ("experiment.0.metrics", ["goodput"]),
        ("experiment.0.parameters.message_size", 5),
        ("experiment.0.factors.flow", [1]),
        ("experiment.0.parametres", {}),
        ("figure.0.experiments", ["swep"]),
        ("figure.0.metric", "goodput"),
        ("figure.0.factor", "rate"),
        ("scale.quick.experiment.limmit", {}),
        ("scale.quick.parameters.time", 1),
        ("scale.quick.experiment.sweep.factors.rate", [1]),
        ("scale.quick.experiment.limit.search.trial", 1),
        ("experiment.1.search.width", 0.1),
        ("units.goodput", {"unit": "kB/s", "si_per_unit": 1}),
        ("experiment.0.metrics", []),
        ("experiment.0.parameters.nodelay", True),
    ],
)
def test_a_mistake_is_reported_with_key_finding_allowed_values_and_hint(
    place: str, value: object, snapshot: SnapshotAssertion
) -> None:
    error = mistaken(place, value)
    assert f"{error}\nhint: {error.hint}" == snapshot


def test_a_figure_against_a_factor_without_numbers_is_refused() -> None:
    data = tomllib.loads(STUDY)
    data["experiment"][0]["factors"] = {"io": ["single", "batch"]}
    data["figure"][0]["factor"] = "io"

    with pytest.raises(BadStudy, match="a factor whose levels are numbers"):
        parse_study(data, "study.toml")


def test_a_certificate_without_a_server_that_shows_one_is_refused() -> None:
    data = tomllib.loads(STUDY)
    data["experiment"] = [
        {
            "id": "sweep",
            "title": "Copies",
            "workload": "copy",
            "metrics": ["goodput_bps"],
            "parameters": {"dataset": "1x1kB", "trust": "sha256:" + 64 * "0"},
            "factors": {"server": ["smb://nas/a", "ftp://nas/b"]},
        }
    ]
    data["scale"]["quick"] = {}

    with pytest.raises(BadStudy, match="no server of this experiment has a certificate or host"):
        parse_study(data, "study.toml")
    data["experiment"][0]["factors"]["server"].append("sftp://nas/c")
    assert parse_study(data, "study.toml").experiment[0].id == "sweep"


def test_further_mistakes_are_listed_in_the_hint() -> None:
    data = tomllib.loads(STUDY)
    data["experiment"][0]["metrics"] = ["a", "b", "c", "d", "e", "f", "g"]

    with pytest.raises(BadStudy) as caught:
        parse_study(data, "study.toml")

    hint = caught.value.hint or ""
    assert hint.count("also `experiment.sweep.metrics`: found unknown name") == 4
    assert hint.endswith("and 2 more")


def test_more_conditions_than_a_run_can_have_are_refused_before_they_are_made() -> None:
    data = tomllib.loads(STUDY)
    data["experiment"][0]["factors"] = {
        "rate_bps": list(range(1, 1002)),
        "flows": list(range(1, 129)),
        "dscp": list(range(64)),
    }

    with pytest.raises(BadStudy, match=r"found 8200192 conditions .* allowed: at most 10000"):
        parse_study(data, "study.toml")


def test_a_scale_overrides_the_study_and_its_own_entry_overrides_both() -> None:
    data = tomllib.loads(STUDY)
    data["experiment"][0]["parameters"] |= {"warmup_s": 5, "dscp": 1}
    data["scale"]["quick"] = {
        "parameters": {"time_s": 1, "warmup_s": 2, "requests": 7},
        "experiment": {"sweep": {"parameters": {"time_s": 3}, "factors": {"rate_bps": [9]}}},
    }
    data["experiment"].append(
        {"id": "rtt", "title": "", "workload": "echo", "metrics": ["rtt_mean_ns"]}
    )
    data["scale"]["quick"]["experiment"]["rtt"] = {"parameters": {"dscp": 2}}
    study = Study.model_validate(data)

    sweep, _, rtt = at_scale(study, "quick")

    assert sweep.parameters == {
        "transport": "udp", "message_size_bytes": 500, "warmup_s": 2, "dscp": 1, "time_s": 3,
    }  # fmt: skip
    assert sweep.factors == {"rate_bps": (9,)}
    assert rtt.parameters == {"time_s": 1, "warmup_s": 2, "requests": 7, "dscp": 2}


def test_a_study_is_found_by_id_by_folder_and_by_file(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(STUDY)

    assert load_study("milanovic-srbljic").study.id == "milanovic-srbljic"
    by_folder = load_study(str(tmp_path))
    assert by_folder == load_study(str(file))
    assert by_folder.path == file
    assert by_folder.published.value == ()
    assert by_folder.sha256 == hashlib.sha256(STUDY.encode()).hexdigest()


def test_bundled_studies_are_cached_and_user_studies_reread(tmp_path: Path) -> None:
    assert load_study("poo-tan") is load_study("poo-tan")

    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    before = load_study(str(tmp_path)).study
    file.write_text(STUDY.replace('title = "', 'title = "edited ', 1))
    assert load_study(str(tmp_path)).study.title == f"edited {before.title}"


def test_published_numbers_are_read_from_next_to_the_study(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "published.toml").write_text('schema = 1\nvalue = [{ id = "a" }]\n')

    with pytest.raises(BadStudy, match=r"published\.toml: `value\.a\.metric`: found nothing"):
        load_study(str(tmp_path))


def test_a_published_id_given_twice_is_refused() -> None:
    value = load_study("manford-kolahi").published.value[0].model_dump()

    with pytest.raises(BadStudy, match=r"found the id twice; allowed: once"):
        parse_published({"schema": 1, "value": [value, copy.copy(value)]}, "published.toml")


@pytest.mark.parametrize("path", ["./nowhere", "nowhere.toml", "a\0/b", "x" * 5000 + "/y", "."])
def test_a_path_without_a_study_is_refused_as_a_path(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="no study"):
        load_study(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"schema = \n", r"`line 1, column 10`: found Invalid value; allowed: TOML"),
        (b"schema = [", r"`end of document`: found Invalid value; allowed: TOML"),
        (b"a = '\xff'", r"`byte 5`: found what is not UTF-8"),
        (b"a = " + b"9" * 5000, r"allowed: TOML"),
        (b"a = " + b"[" * 5000 + b"]" * 5000, r"tables within tables"),
        (b"#" * (2**20 + 1), r"found 1048577 bytes or more; allowed: at most 1048576"),
        (b"", r"found nothing; allowed: a value; this key is required"),
    ],
)
def test_an_invalid_study_file_names_the_place_of_the_error(
    tmp_path: Path, content: bytes, message: str
) -> None:
    file = tmp_path / "study.toml"
    file.write_bytes(content)

    with pytest.raises(UsageError, match=message):
        load_study(str(file))
