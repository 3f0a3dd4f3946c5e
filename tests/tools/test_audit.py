"""`tools/audit.py`: a vulnerability is found, and what cannot be checked is said."""

import os
import subprocess
import sys
from pathlib import Path

import audit
import pytest

TOOLS = Path(__file__).parents[2] / "tools"

pytestmark = pytest.mark.long

needs_deny = pytest.mark.skipif(
    audit._cargo_deny() is None, reason="needs cargo-deny (`make test-programs`)"
)

#: As RustSec writes one; of a crate that the engine has, and all its versions.
ADVISORY = """\
```toml
[advisory]
id = "RUSTSEC-2020-9999"
package = "{crate}"
date = "2020-01-01"
url = "https://example.invalid/made-up"

[versions]
patched = []
```

# Made up for a test

It does nothing.
"""


def database(folder: Path, crate: str) -> str:
    place = folder / "crates" / crate
    place.mkdir(parents=True)
    (place / "RUSTSEC-2020-9999.md").write_text(ADVISORY.format(crate=crate))
    for command in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "."),
        ("-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "-qm", "one"),
    ):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    return str(folder)


@needs_deny
def test_an_advisory_for_a_linked_crate_is_found(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert audit.audit_crates(database(tmp_path, "serde_json")) == audit.FOUND
    told = capfd.readouterr()
    assert "RUSTSEC-2020-9999" in told.err
    assert "audit: checked" not in told.out


@needs_deny
def test_exit_code_3_means_an_incomplete_check(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(TOOLS / "audit.py"), "--rustsec", str(tmp_path / "nothing")],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=os.environ | {"https_proxy": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"},
    )
    assert done.returncode == 3, done.stdout + done.stderr
    assert done.stdout.count("NOT CHECKED") == 2
