"""What differs from workload to workload stands in the row of each: its class in `workloads` and
its presentation in `report`. No other module asks which workload it has."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import lanlab
from lanlab.report.presentations import PRESENTATIONS
from lanlab.roles import ROLES
from lanlab.workloads import WORKLOADS

SOURCE = Path(lanlab.__file__).parent


def asked(text: str) -> Iterator[int]:
    """Lines that ask which workload they have: by its name, or by what only its trials have."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            names = {getattr(one, "id", getattr(one, "attr", "")) for one in sides}
            literals = {
                each.value
                for one in sides
                for each in ast.walk(one)
                if isinstance(each, ast.Constant)
            }
            if names & {"workload", "parameters"} and literals & set(WORKLOADS):
                yield node.lineno
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr":
            of, name, *default = node.args
            whose = ast.unparse(of).rpartition(".")[2]
            if default and whose in ("parameters", "values") and isinstance(name, ast.Constant):
                yield node.lineno


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('trial.workload == "copy"', [1]),
        ('x = 1\nif workload not in ("stream", "load"):\n    pass', [2]),
        ('"stations" in experiment.factors', []),
        ('"stations" in trial.parameters', [1]),
        ('getattr(trial.values, "peer", None)', [1]),
        ("getattr(parameters, key, None)", []),
        ('key == "stations" or workload == other', []),
    ],
)
def test_questions_for_the_kind_of_workload_are_found(text: str, lines: list[int]) -> None:
    assert list(asked(text)) == lines


def test_no_module_depends_on_the_kind_of_workload() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in sorted(SOURCE.rglob("*.py"))
        if SOURCE / "workloads" not in path.parents
        for line in asked(path.read_text("utf-8"))
    ]
    assert found == []


def test_every_workload_has_a_row_in_each_table() -> None:
    assert list(PRESENTATIONS) == list(WORKLOADS) == list(ROLES)
    for name, kind in WORKLOADS.items():
        assert set(kind.scan_metrics) <= set(kind.metrics), name
