"""`tools/licences.py`: what is allowed, and that an unknown or forbidden licence is found."""

from pathlib import Path

import licences
import pytest
from licence_sources import Part, packages
from spdx import used

pytestmark = pytest.mark.long

ALLOWED = ("MIT", "Apache-2.0", "Unicode-3.0")


@pytest.mark.parametrize(
    ("expression", "needed"),
    [
        ("MIT", {"MIT"}),
        ("MIT/Apache-2.0", {"MIT", "Apache-2.0"}),
        ("GPL-3.0 OR MIT", {"MIT"}),
        ("GPL-3.0", None),
        ("MIT AND GPL-3.0", None),
        ("GPL-3.0 OR MIT AND Unicode-3.0", {"MIT", "Unicode-3.0"}),
        ("(MIT OR GPL-3.0) AND Unicode-3.0", {"MIT", "Unicode-3.0"}),
        ("(MIT OR Apache-2.0) AND GPL-3.0", None),
        ("Apache-2.0 WITH LLVM-exception", None),
    ],
)
def test_an_expression_is_met_only_by_licences_that_are_allowed(
    expression: str, needed: set[str] | None
) -> None:
    assert used(expression, ALLOWED) == needed


def part(name: str, licence: str, folder: Path | None = None) -> Part:
    return Part(name, "1.0", licence, (), folder)


def test_forbidden_and_unneeded_licences_are_named() -> None:
    problems = licences._check_allowed([part("good", "MIT"), part("bad", "GPL-3.0")], ["MIT", "X"])
    assert problems == [
        "bad 1.0: licence `GPL-3.0`; allowed: MIT, X (deny.toml)",
        "deny.toml: licence `X` is allowed and nothing needs it",
    ]


def test_every_crate_has_its_texts_and_equal_texts_appear_once(tmp_path: Path) -> None:
    for name, text in {"a": "same", "b": "same", "c": "other"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "LICENSE-MIT").write_text(text + "\n")
        (tmp_path / name / "src.rs").write_text("not this")
    own = tmp_path / "LICENSE-APACHE"
    own.write_text("ours\n")
    parts = [part(name, "MIT", tmp_path / name) for name in "abc"]
    text = licences._texts(parts, [own])
    assert text.count("same") == 1 and text.count("other") == 1 and "ours" in text
    assert "a 1.0 LICENSE-MIT\nb 1.0 LICENSE-MIT" in text
    assert "not this" not in text


def test_every_package_that_lanlab_imports_is_listed() -> None:
    names = {each.name for each in packages()}
    assert {"numpy", "scipy", "pydantic", "pydantic-core", "markupsafe", "colorama"} <= names
    # Of development only.
    assert not names & {"pytest", "mypy", "ruff", "maturin", "hatchling"}
