"""Values of others: each is in its range and finite, or refused with what it is."""

from pathlib import Path

import pytest

from lanlab.engine.contract import Mismatch, definition
from lanlab.errors import LabError
from lanlab.outside import BadValue, json_of, toml_of
from lanlab.run.alternate import _value
from lanlab.store.labels import id_of_name
from lanlab.testbeds.remote.destinations import read_destinations

DEEP = 100_000 * "["
NO_VALUES = [DEEP, "NaN", "-Infinity", "1e999", "9" * 5000, "{", "\ud800"]


@pytest.mark.parametrize("text", NO_VALUES)
def test_an_invalid_value_is_one_error(text: str) -> None:
    with pytest.raises(BadValue):
        json_of(text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("number", [1e300, float("inf"), float("nan"), 10**30, -1])
def test_a_number_of_a_report_that_no_test_can_have_is_refused(number: float) -> None:
    """As of an iperf3 server whose jitter is 1e300 s."""
    report = {"cpu_util_total": number}
    with pytest.raises(Mismatch, match=r"is negative|too large"):
        definition("PeerReport")(report)


@pytest.mark.parametrize("text", NO_VALUES)
def test_a_run_name_that_is_not_json_has_no_owner(text: str) -> None:
    assert id_of_name("x", [("a", text), ("b", '{"name": "x"}')]) == "b"


@pytest.mark.parametrize("text", NO_VALUES)
def test_a_command_line_parameter_that_is_not_a_number_is_a_text(text: str) -> None:
    assert _value(text) == text


def test_endless_tables_are_refused_wherever_a_user_names_a_file(tmp_path: Path) -> None:
    file = tmp_path / "deep.toml"
    file.write_text(f"a = {DEEP[:30_000]}")
    with pytest.raises(ValueError, match="without end"):
        toml_of(file.read_bytes())
    for key in ("a." * 10_000, '"\\"" . ' * 50):
        with pytest.raises(ValueError, match="without end"):
            toml_of(f"{key}b = 1".encode())
    assert toml_of(b"a" + 30 * b".a" + b" = 1")["a"]
    with pytest.raises(LabError, match="without end"):
        read_destinations(str(file))
