"""An engine that falls silent: passes lines on between lanlab and the real one until a file is
there, which `FAULT_MUTE_FILE` names; from then on it takes every line and answers none."""

import os
import subprocess
import sys
import threading
from pathlib import Path


def main() -> None:
    silent = Path(os.environ["FAULT_MUTE_FILE"])
    command = [os.environ["FAULT_ENGINE"], *sys.argv[1:]]
    engine = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert engine.stdin is not None and engine.stdout is not None
    answers = engine.stdout

    def pass_on() -> None:
        for line in answers:
            if not silent.exists():
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()

    threading.Thread(target=pass_on, daemon=True).start()
    for line in sys.stdin.buffer:
        engine.stdin.write(line)
        engine.stdin.flush()
    engine.stdin.close()
    engine.wait()


if __name__ == "__main__":
    main()
