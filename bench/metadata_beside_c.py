"""
Files created and removed a second in a directory: `lanlab metadata` beside a small C program.

    python bench/metadata_beside_c.py [--runs 9] [--files 1000] [--directory DIR]

Both work in turns on one tree of ten directories. Needs a C compiler.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

_PROGRAM = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
int main(int count, char **arguments) {
    int files = atoi(arguments[1]);
    char name[64];
    if (count != 2 || files < 1) return 2;
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof name, "d%d", i);
        if (mkdir(name, 0755)) return 1;
    }
    double begun = now();
    for (int i = 0; i < files; i++) {
        snprintf(name, sizeof name, "d%d/f%d", i * 10 / files, i);
        int file = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
        if (file < 0 || close(file)) return 1;
    }
    double created = now();
    for (int i = 0; i < files; i++) {
        snprintf(name, sizeof name, "d%d/f%d", i * 10 / files, i);
        if (unlink(name)) return 1;
    }
    printf("%f %f\n", created - begun, now() - created);
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof name, "d%d", i);
        if (rmdir(name)) return 1;
    }
    return 0;
}
"""


def _own(directory: Path, files: int, store: Path) -> float:
    lanlab = Path(sys.executable).with_name("lanlab")
    command = [lanlab, "metadata", directory, "--files", str(files), "--trials", "1", "--json"]
    done = subprocess.run(
        [*map(str, command), "--store", str(store)], capture_output=True, text=True, check=True
    )
    metrics = json.loads(done.stdout)
    return float(metrics["files_created_and_removed_per_s"])


def _peer(program: Path, directory: Path, files: int) -> float:
    done = subprocess.run(
        [str(program), str(files)], cwd=directory, capture_output=True, text=True, check=True
    )
    return files / sum(map(float, done.stdout.split()))


def main() -> None:
    """Print the rates of all runs, their medians and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--directory", type=Path, default=Path("/dev/shm"))
    asked = parser.parse_args()
    own, peer = [], []
    with tempfile.TemporaryDirectory(dir=asked.directory) as place:
        source, program = Path(place) / "peer.c", Path(place) / "peer"
        source.write_text(_PROGRAM)
        subprocess.run(["cc", "-O2", "-o", str(program), str(source)], check=True)
        work = Path(place) / "work"
        work.mkdir()
        for _ in range(asked.runs):
            own.append(_own(work, asked.files, Path(place) / "store.sqlite"))
            peer.append(_peer(program, work, asked.files))
            print(f"lanlab {own[-1]:,.0f} files/s, C {peer[-1]:,.0f} files/s", flush=True)
    lanlab, beside = statistics.median(own), statistics.median(peer)
    print(f"medians: lanlab {lanlab:,.0f}, C {beside:,.0f}: {lanlab / beside:.3f}")


if __name__ == "__main__":
    main()
