"""Shell completion offers what `--help` has."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from command_line import Lanlab, environment, lanlab_process
from missing import missing
from programs import ran
from shown_options import shown_options
from typer.completion import get_completion_script

from lanlab.cli.app import COMMANDS, application
from lanlab.store import RunRecord, open_store

#: How each shell runs the script for completion and prints what it would offer for `LINE`. zsh
#: draws its own lists, so that it prints what it is given to draw.
SHELLS = {
    "bash": """
        COMP_WORDS=(LINE) COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
        _lanlab_completion lanlab
        printf '%s\\n' "${COMPREPLY[@]}"
    """,
    "zsh": """
        _arguments() { print -r -- "$@" }
        words=(LINE) CURRENT=${#words}
        _lanlab_completion
    """,
    "fish": "complete -C 'LINE'",
}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", COMMANDS)
def test_completion_offers_every_option(
    shell: str, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMP_WORDS", f"lanlab {name} -")
    monkeypatch.setenv("COMP_CWORD", "2")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", f"lanlab {name} -")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    monkeypatch.setenv("_LANLAB_COMPLETE", f"complete_{shell}")
    with pytest.raises(SystemExit):
        application([name])(prog_name="lanlab")
    offered = set(re.findall(r"(?<![\w-])--?[\w-]+", capsys.readouterr().out))

    assert shown_options(name) <= offered


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("stream --transport ", ["udp", "tcp"]),
        ("stream --transport udp,t", ["udp,tcp"]),
        ("load --load ", ["none", "up", "down", "both"]),
        ("copy --service smb1", ["smb1", "smb1+nbf", "smb1+ipx", "smb1+nbipx", "smb1+spp"]),
        ("runs --tagged ", ["lab2"]),
        ("runs --rename b", ["before-upgrade"]),
        ("runs --note l", ["last"]),
    ],
)
def test_values_are_completed(line: str, offered: list[str], lanlab: Lanlab, folder: Path) -> None:
    with open_store(None) as records:
        bed = {"name": "loopback", "link": "unshaped"}
        began = "2026-11-21T08:00:00.000000+00:00"
        records.start_run(
            RunRecord("20261121-one", "s", {}, "quick", 1, bed, {}, "done", began)
        ).release()
    assert lanlab("runs", "--rename", "last", "before-upgrade").code == 0
    assert lanlab("runs", "--tag", "last", "lab2").code == 0
    words = f"lanlab {line}"
    completed = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    said = lanlab_process(folder, _LANLAB_COMPLETE="complete_bash", **completed)

    assert said.out.split() == offered


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_runs_the_script_for_completion(shell: str, folder: Path) -> None:
    if shutil.which(shell) is None:
        missing(f"there is no {shell}")
    script = get_completion_script(prog_name="lanlab", complete_var="_LANLAB_COMPLETE", shell=shell)
    (folder / "lanlab").write_text(f"#!{sys.executable}\nfrom lanlab.cli import main\nmain()\n")
    (folder / "lanlab").chmod(0o755)
    # A shell that is not interactive has no completion of its own to add to.
    begin = "compdef() { }\n" if shell == "zsh" else ""
    done = ran(
        [
            shell,
            "-c",
            begin + script + "\n" + SHELLS[shell].replace("LINE", "lanlab stream --idle"),
        ],
        env=environment() | {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(folder)},
    )

    assert "--idle-timeout" in done.stdout, done.stderr
    assert "--io" not in done.stdout
