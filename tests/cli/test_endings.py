"""How commands end: one sentence and a code, wherever output, memory or lanlab itself fails."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import COMMAND, STREAM, Lanlab, environment, lanlab_process, on_full_disk
from programs import ran
from waiting import until

#: Text and JSON with letters beyond ASCII; help; what goes by rich and what does not.
COMMANDS = [["stations", "--help"], ["show", "poo-tan"], ["studies"], ["show", "poo-tan", "--json"]]


@pytest.mark.parametrize(
    "args",
    [["show", "milanovic-srbljic"], ["show", "milanovic-srbljic", "--json"]],
    ids=["text", "json"],
)
def test_unencodable_characters_are_replaced(args: list[str], folder: Path) -> None:
    whole = lanlab_process(folder, *args, PYTHONIOENCODING="utf-8")
    for changes in (
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ):
        said = lanlab_process(folder, *args, **changes)
        assert (said.code, said.err) == (0, "")
        assert said.out.isascii()
        if "--json" in args:
            assert said.json() == whole.json()
        else:
            assert not whole.out.isascii()


def test_our_symbols_have_ascii_replacements(folder: Path) -> None:
    code = (
        "from lanlab.cli.terminal.output import make_readable; make_readable()\n"
        "print('5 µs ± 1 … ä \\udc80')"
    )

    done = ran([sys.executable, "-c", code], env=environment(PYTHONIOENCODING="ascii"), check=True)

    assert done.stdout == "5 us +- 1 ... \\xe4 \\udc80\n"


FULL = [(args, False) for args in (*COMMANDS, ["--help"], ["--version"], ["doctor"])]


@pytest.mark.parametrize(("args", "is_all_full"), [*FULL, (COMMANDS[1], True), (COMMANDS[3], True)])
def test_a_full_output_gives_one_error_line(
    args: list[str], is_all_full: bool, folder: Path
) -> None:
    done = on_full_disk(folder, *args, is_all_full=is_all_full)
    assert done.returncode == 1
    expected = "error: standard output cannot be written: No space left on device\n"
    assert is_all_full or done.stderr == expected


def started(folder: Path, *args: str, stdout: int = subprocess.PIPE) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [*COMMAND, *args],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )

    def is_ready() -> bool:
        if process.poll() is not None:  # `--help` is soon done
            return True
        # Before, while Python itself starts, a signal is Python's.
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
        caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
        return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)

    until(is_ready, "the handlers of signals")
    return process


@pytest.mark.parametrize("args", [["--help"], ["show", "poo-tan"], ["stream", "--time", "9"]])
def test_ctrl_c_gives_one_line_and_one_exit_code_at_any_moment(
    args: list[str], folder: Path
) -> None:
    for at in range(0, 8, 2):
        process = started(folder, *args, *(["--testbed", "loopback"] if "stream" in args else []))
        time.sleep(0.05 * at)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        last = [line for line in err.splitlines() if line.startswith("error: ")]
        # It may have been done before.
        assert (process.returncode, len(last)) in ((1, 1), (0, 0)), err
        assert "Traceback" not in err and "Exception ignored" not in err
        assert process.returncode == 0 or "interrupted" in last[0]


def test_the_ctrl_c_handler_is_set_before_any_import() -> None:
    code = """
import sys
def noted(number, handler):
    print(number, *sorted(set(sys.modules) - before))
    raise SystemExit
sys.modules["_signal"].signal = noted
before = set(sys.modules)
from lanlab.cli import main
main()
"""
    done = ran((sys.executable, "-c", code), check=True)
    assert done.stdout.split() == [str(int(signal.SIGINT)), "lanlab", "lanlab.cli"]


def test_ctrl_c_ends_a_command_blocked_on_its_pipe(folder: Path) -> None:
    reader, writer = os.pipe()
    process = started(folder, "show", "poo-tan", "--json", stdout=writer)
    os.close(writer)
    os.read(reader, 1)
    process.send_signal(signal.SIGINT)

    _, err = process.communicate(timeout=60)

    os.close(reader)
    assert process.returncode == 1
    assert err == "error: interrupted before the command was done\n"


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (KIB * 1024, resource.RLIM_INFINITY))
"""


def test_too_little_memory_is_an_error_before_libraries_fail(folder: Path) -> None:
    run = "sys.argv = ['lanlab', 'stream', '--testbed', 'loopback']\n"
    main = "from lanlab.cli import main; main()"
    load = (
        "from lanlab.cli.terminal.memory import watch_imports; watch_imports(); "
        "import scipy.special"
    )
    said = [
        ran(
            [sys.executable, "-c", LIMITED.replace("KIB", kib) + code],
            cwd=folder,
            env=environment(),
        )
        for kib, code in (("250000", run + main), ("150000", load))
    ]

    assert said[0].returncode == 1
    assert said[0].stderr == (
        "error: not enough memory for this command: numpy, scipy may take "
        "328 MiB\nhint: close other programs, or raise the limit (`ulimit -v`, here 250000 KiB)\n"
    )
    assert not (folder / "lanlab-results").exists()
    assert said[1].stderr.splitlines()[-1] == "MemoryError: scipy may take 200 MiB"


def test_figures_are_drawn_without_a_home(folder: Path, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()

    said = lanlab_process(
        folder,
        *("show", "poo-tan", "--only", "lost", "--figures", "drawn"),
        HOME="/proc/none",
        XDG_CACHE_HOME="",
        XDG_CONFIG_HOME="",
        MPLCONFIGDIR="",
        TMPDIR=str(temporary),
    )

    assert said.code == 0
    assert said.err.splitlines() == ["wrote 3 figures to drawn"]
    assert list(temporary.iterdir()) == []


def test_an_internal_error_is_reported_and_its_traceback_kept(
    lanlab: Lanlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mistaken(where: object) -> None:
        raise KeyError("goodput")

    monkeypatch.setattr("lanlab.store.open_store", mistaken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    said = lanlab("runs")

    assert (said.code, said.out) == (1, "")
    error, hint = said.err.splitlines()
    assert error == (
        "error: this is a bug in lanlab (KeyError: 'goodput'); the trials that had ended are saved"
    )
    (file,) = tmp_path.glob("lanlab-error-*.txt")
    assert hint == f"hint: the traceback is in {file}; please report it"
    assert "in mistaken" in file.read_text(encoding="utf-8")

    monkeypatch.setenv("LANLAB_TRACEBACK", "1")
    assert "in mistaken" in lanlab("runs").err
    assert list(tmp_path.glob("lanlab-error-*.txt")) == [file]


@pytest.mark.parametrize("what", ["zeroed", "cut"])
def test_every_command_reports_a_damaged_store_with_a_hint(
    what: str, lanlab: Lanlab, folder: Path
) -> None:
    import sqlite3

    assert lanlab(*STREAM).code == 0
    store = Path("lanlab-results", "store.sqlite")
    connection = sqlite3.connect(store)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    data = store.read_bytes()
    commands = ("runs", "report last", "show last", "compare last --by io", "run --resume last")
    codes = set()
    for page in range(len(data) // size):
        start = max(100, page * size)
        end = (page + 1) * size
        kept = data[end:] if what == "zeroed" else b""
        store.write_bytes(data[:start] + bytes(end - start if kept else 0) + kept)
        for command in commands:
            said = lanlab(*command.split())
            codes.add(said.code)
            if said.code == 1:
                assert said.err.startswith(f"error: {store}"), (page, command, said.err)
                assert "\nhint: " in said.err
    assert {1} <= codes <= {0, 1, 2}
