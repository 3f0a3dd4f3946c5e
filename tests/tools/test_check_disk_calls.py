"""Only one module of the product makes, replaces and removes names on disk."""

import pytest
from check_disk_calls import ALLOWED, ROOT, main, places

pytestmark = pytest.mark.long


def test_no_other_module_removes_or_replaces() -> None:
    assert main() == 0


@pytest.mark.parametrize(
    "source",
    [
        "path.unlink(missing_ok=True)",
        "atexit.register(shutil.rmtree, folder)",
        "os.replace(a, b)",
        "new.replace(path)",
        "os.remove(a)",
        "from os import remove as gone",
        "Path('x').mkdir()",
        "os.removedirs(a)",
        "path.rename(other)",
        "path.open('wb')",
        "open(path, 'a')",
        "path.write_text('x')",
        "tempfile.mkdtemp()",
    ],
)
def test_each_way_around_it_is_found(source: str) -> None:
    assert [line for line, _ in places(source)] == [1]


def test_each_exception_still_needs_to_be_one() -> None:
    for name, reason in ALLOWED.items():
        assert reason and list(places((ROOT / name).read_text())), name
