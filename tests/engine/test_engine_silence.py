"""`--end-after-silence` ends an engine after this time without input, and not before."""

import subprocess
import time

import pytest
from programs import ran
from waiting import PATIENCE_S

from lanlab.engine import engine_path


def started(*argv: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [engine_path(), *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )


@pytest.mark.parametrize("argv", [(), ("hold",)])
def test_an_engine_ends_after_silence(argv: tuple[str, ...]) -> None:
    with started(*argv, "--end-after-silence", "3") as engine:
        assert engine.stdin is not None
        for _ in range(16):
            # Four seconds in all: longer than it may hear nothing for.
            time.sleep(0.25)
            engine.stdin.write(b"\n")
            assert engine.poll() is None
        assert engine.wait(PATIENCE_S) == 0


@pytest.mark.parametrize("argv", [(), ("hold",)])
def test_a_silent_engine_still_ends_with_its_input(argv: tuple[str, ...]) -> None:
    with started(*argv, "--end-after-silence", "3600") as engine:
        assert engine.stdin is not None
        engine.stdin.close()
        assert engine.wait(PATIENCE_S) == 0


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "86401"])
def test_an_invalid_silence_is_refused(seconds: str) -> None:
    done = ran([engine_path(), "--end-after-silence", seconds])
    assert done.returncode == 2
    assert done.stderr == f"error: found `{seconds}` seconds; allowed: 1 to 86400\n"
