"""The example studies do what they teach."""

from pathlib import Path

import pytest
from command_line import Lanlab
from markupsafe import escape

from lanlab.studies.load import load_study

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").iterdir())
SMOKE_TESTS = [path for path in EXAMPLES if "tiny" in load_study(str(path)).study.scale]


def test_every_example_has_a_smoke_test() -> None:
    assert [path.name for path in EXAMPLES if path not in SMOKE_TESTS] == ["my-network"]


@pytest.mark.parametrize("example", SMOKE_TESTS, ids=lambda path: path.name)
def test_examples_run_and_every_figure_has_data(example: Path, lanlab: Lanlab) -> None:
    said = lanlab("run", str(example), "--scale", "tiny", "--testbed", "loopback", "--json")
    if said.code in (1, 2) and "congestion control `" in said.err:
        pytest.skip(f"this kernel does not let us choose it: {said.err.splitlines()[-1]}")
    assert said.code == 0, said.err

    answer = lanlab("report", "last", "--json").json()
    page = Path(answer["html"]).read_text(encoding="utf-8")
    for figure in load_study(str(example)).study.figure:
        assert f'-title">{escape(figure.title)}' in page
    assert ">measured with</th>" in page
