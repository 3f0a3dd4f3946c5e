"""The tutorial: its study file is accepted, and its commands run in their order."""

import re
import shlex
from pathlib import Path

from command_line import Lanlab

_PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
#: What a shell does, and not lanlab.
_SHELL = {"make setup", ". .venv/bin/activate"}


def test_every_command_of_the_tutorial_runs(lanlab: Lanlab, folder: Path) -> None:
    text = _PAGE.read_text()
    [study] = re.findall(r"Save this as `my-study\.toml`:\n\n```toml\n(.*?)```", text, re.DOTALL)
    (folder / "my-study.toml").write_text(study)
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    assert len(lines) >= 9 and set(lines) >= _SHELL

    for line in lines:
        if line in _SHELL:
            continue
        words = shlex.split(line)
        assert words[0] == "lanlab"
        said = lanlab(*words[1:])
        # A machine that cannot have the virtual LAN has all that this page needs, and a busy one
        # may leave the finding undecided.
        allowed = {"doctor": (0, 1), "run": (0, 3)}.get(words[1], (0,))
        assert said.code in allowed, (line, said.err)
    assert (folder / "lanlab-results").is_dir()


def test_every_page_is_listed_once_by_kind() -> None:
    index = (_PAGE.parent / "README.md").read_text()
    listed = set(re.findall(r"\]\(([a-z-]+\.md)", index))

    assert listed == {path.name for path in _PAGE.parent.glob("*.md")} - {"README.md"}
    kinds = re.findall(r"^## (.*)$", index, re.MULTILINE)
    assert kinds == ["Tutorial", "How-to guides", "Reference", "Explanations", "Results"]
