"""The check for circles of imports between the modules of a crate."""

from pathlib import Path

import pytest
from check_import_circles import circles, imports

pytestmark = pytest.mark.long


def crate(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_a_circle_is_found_through_a_re_exported_name(tmp_path: Path) -> None:
    source = crate(
        tmp_path,
        {
            "lib.rs": "mod a;\nmod b;\n",
            "a/mod.rs": "mod inner;\npub use inner::{Thing, Other};\n",
            "a/inner.rs": "use crate::b::{self, Wish};\npub struct Thing;\n",
            "b.rs": "fn work(thing: crate::a::Thing) {}\npub struct Wish;\n",
        },
    )
    assert circles(imports(source)) == [{("a", "inner"), ("b",)}]


def test_imports_by_tests_and_from_the_parent_are_not_circles(tmp_path: Path) -> None:
    source = crate(
        tmp_path,
        {
            "lib.rs": "mod a;\nmod b;\nuse a::work;\npub struct Bounds;\n",
            "a.rs": "use crate::Bounds;\n#[cfg(test)]\nmod tests {\n    use crate::b::Wish;\n}\n",
            "b.rs": "use super::a::work;\n// use crate::b::Wish;\n",
            "b/tests.rs": "use crate::a;\n",
        },
    )
    assert circles(imports(source)) == []
