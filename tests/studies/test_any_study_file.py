"""Whatever a study file says, it loads or is refused as a bad study."""

import contextlib
import copy
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lanlab.errors import BadStudy
from lanlab.studies.load import load_study, parse_findings, parse_published, parse_study
from lanlab.studies.vocabulary import of_published

_WORDS = st.sampled_from(
    ["stream", "echo", "udp", "tcp", "rate_bps", "time_s", "message_size_bytes", "quick", "id",
     "udp-500", "goodput_bps", "10M", "0", "-1M", "9" * 400, "1e99G", "parameters", "bool",
     "form", "less", "all", "of", "os", "w98se", "elapsed_ns", "trial", "metric", "take", "at"]
)  # fmt: skip
_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | st.text(max_size=5)
    | _WORDS
    | st.datetimes()
)
_KEYS = _WORDS | st.text(max_size=5)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(_WORDS | st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)

_GOOD = {
    name: load_study(name).study.model_dump(mode="json", by_alias=True, exclude_none=True)
    for name in ("milanovic-srbljic", "manford-kolahi", "brutman-mtcp", "poo-tan")
}
_PUBLISHED = load_study("schomer-claason").published
_FINDINGS = {
    "schema": 1,
    "finding": [
        finding.model_dump(mode="json", exclude_none=True)
        for finding in load_study("schomer-claason").findings
    ],
}


def _containers(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = [value] if isinstance(value, dict | list) and value else []
    return own + [found for item in inner for found in _containers(item)]


@given(st.dictionaries(_KEYS, _VALUES, max_size=5))
def test_any_toml_is_a_study_or_refused(data: dict[str, Any]) -> None:
    with contextlib.suppress(BadStudy):
        parse_study(data, "study.toml")
    with contextlib.suppress(BadStudy):
        parse_published(data, "published.toml")


@settings(max_examples=200)
@given(st.data())
def test_any_changed_study_is_valid_or_refused(data: st.DataObject) -> None:
    study = _changed(_GOOD[data.draw(st.sampled_from(sorted(_GOOD)))], data)

    with contextlib.suppress(BadStudy):
        parse_study(study, "study.toml")


@settings(max_examples=200)
@given(st.data())
def test_any_changed_publication_is_valid_or_refused(
    data: st.DataObject,
) -> None:
    published = _changed(_PUBLISHED.model_dump(mode="json", exclude_none=True), data)
    findings = _changed(_FINDINGS, data)

    with contextlib.suppress(BadStudy):
        parse_published(published, "published.toml")
    with contextlib.suppress(BadStudy):
        words, numbers = of_published(_PUBLISHED), _PUBLISHED.numbers()
        parse_findings(findings, "findings.toml", words, numbers)


def _changed(good: dict[str, Any], data: st.DataObject) -> dict[str, Any]:
    changed = copy.deepcopy(good)
    table = data.draw(st.sampled_from(_containers(changed)))
    key = data.draw(st.sampled_from(list(table) if isinstance(table, dict) else range(len(table))))
    if data.draw(st.booleans()) and isinstance(table, dict):
        table[data.draw(_WORDS)] = table.pop(key)
    else:
        table[key] = data.draw(_VALUES)
    return changed


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=50) | st.text(max_size=50).map(str.encode))
def test_a_file_of_any_bytes_is_a_study_or_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "study.toml"
    file.write_bytes(content)
    with contextlib.suppress(BadStudy):
        load_study(str(file))
