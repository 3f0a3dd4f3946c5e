"""
Have stock clients put, get, list, rename and remove files at `lanlab serve`.

    .venv/bin/python bench/clients_of_serve.py --keep
    .venv/bin/python bench/clients_of_serve.py --only lftp impacket

With `--keep` the table goes into `bench/results/counterparts.md`; without, results are printed.

Each client has a server of its own on loopback, on a new directory. Its script puts `up.bin` as
`a.bin`, gets that as `down.bin`, and what else it can. The client works if its script ends with 0
and both files equal `up.bin`. A line `differs: …` of its output goes into the table.

Programs of packages (`apt install lftp ncftp tnftp cadaver smbclient libnfs-utils rclone`) are used
as installed; clients without their program are named. Python packages are installed into a
temporary folder, at the versions below, and Go modules and Maven artifacts into their own caches.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from clients_of_serve_scripts import CLIENTS, Client
from counterpart_page import write_table

_TIMEOUT_S = 600.0
_CONTENT = bytes(range(256)) * 1172 + b"\r\n\n"


@dataclass
class Outcome:
    """What became of a client."""

    version: str
    works: bool
    differs: str


class Serve:
    """`lanlab serve` on a directory, until the end of the `with` block."""

    def __init__(self, client: Client, root: Path) -> None:
        lanlab = Path(sys.executable).with_name("lanlab")
        command = [str(lanlab), "serve", str(root), "--service", client.service, "--write"]
        command += ["--quiet", *client.serve]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.said: dict[str, str] = {}
        assert self._process.stdout is not None
        for line in self._process.stdout:
            name, _, rest = line.strip().partition(" ")
            self.said[name] = rest.strip()
            if line.startswith("end it with"):
                break
        # Nobody reads on, so that a full pipe could stop it.
        threading.Thread(target=self._process.stdout.read, daemon=True).start()

    def __enter__(self) -> Serve:
        if "address" not in self.said:
            raise SystemExit(f"lanlab serve did not start: {self.said}")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(10)

    def environment(self) -> dict[str, str]:
        """How a script reaches it."""
        port = re.search(r":(\d+)/?", self.said["address"].split("@")[-1])
        assert port is not None
        return {
            "HOST": "127.0.0.1",
            "PORT": port[1],
            "NAME": "lanlab",
            "SECRET": self.said.get("password", ""),
        }


def _packages(client: Client, folder: Path) -> Path | None:
    """Where the Python packages of a client are; `None` if they cannot be installed."""
    place = folder / re.sub(r"\W+", "-", " ".join(client.pip))
    if client.pip and not place.exists():
        command = [sys.executable, "-m", "pip", "install", "-q", "--target", str(place)]
        if subprocess.run([*command, *client.pip], capture_output=True, check=False).returncode:
            return None
    return place


def _tried(client: Client, folder: Path) -> Outcome | str:
    """What became of a client; or why it was not tried."""
    missing = [program for program in client.programs if shutil.which(program) is None]
    if missing:
        return f"`{missing[0]}` is not installed"
    packages = _packages(client, folder)
    if packages is None:
        return f"{' '.join(client.pip)} could not be installed"
    with tempfile.TemporaryDirectory(dir=folder) as work_name:
        work = Path(work_name)
        root, local = work / "root", work / "local"
        root.mkdir()
        local.mkdir()
        (local / "up.bin").write_bytes(_CONTENT)
        environment = os.environ | {"PYTHONPATH": str(packages), "HOME": str(work)}
        environment["HOME_OF_USER"] = str(Path.home())
        if "go" in client.programs:
            go = subprocess.run(["go", "env", "GOPATH"], capture_output=True, text=True, check=True)
            environment |= {"GOPATH": go.stdout.strip(), "GOCACHE": str(folder / "go-build")}
        with Serve(client, root) as serve:
            environment |= serve.environment() | {"ROOT": str(root)}
            try:
                done = subprocess.run(
                    ["bash", "-eu", "-o", "pipefail", "-c", client.script],
                    cwd=local,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                    timeout=_TIMEOUT_S,
                    check=False,
                )
                output, ended_well = done.stdout, done.returncode == 0
            except subprocess.TimeoutExpired as late:
                text = late.stdout or b""
                output, ended_well = text.decode(errors="replace") + "\ntimed out", False
        files = [root / "a.bin", local / "down.bin"]
        is_same = [path.is_file() and path.read_bytes() == _CONTENT for path in files]
        version = re.search(client.version_pattern, output)
        differs = re.findall(r"^differs: (.*)$", output, re.MULTILINE)
        if not ended_well or not all(is_same):
            print(f"--- {client.name}: up, down: {is_same}\n{output}", file=sys.stderr)
            lines = [line for line in output.splitlines() if line.strip()]
            differs = differs or [lines[-1][:100] if lines else "no output"]
        return Outcome(
            version[1] if version else "?", ended_well and all(is_same), "; ".join(differs)
        )


def main() -> int:
    """Try each client."""
    parser = argparse.ArgumentParser(description="Stock clients at lanlab serve.")
    parser.add_argument(
        "--only", nargs="*", default=(), help="clients or services with these words"
    )
    parser.add_argument(
        "--keep", action="store_true", help="write the table to bench/results/counterparts.md"
    )
    given = parser.parse_args()
    failed, rows = 0, []
    with tempfile.TemporaryDirectory(prefix="lanlab-clients-") as folder:
        for client in CLIENTS:
            whole = f"{client.name} {client.service}"
            if given.only and not any(word in whole for word in given.only):
                continue
            outcome = _tried(client, Path(folder))
            if isinstance(outcome, str):
                print(f"{client.name}: not tried: {outcome}", file=sys.stderr)
                continue
            failed += not outcome.works
            works = "yes" if outcome.works else "no"
            cells = (client.name, outcome.version, client.service, works, outcome.differs)
            print("  ".join(cells), flush=True)
            rows.append(cells)
    if given.keep:
        write_table("clients", ("client", "version", "service", "works", "differs"), rows)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
