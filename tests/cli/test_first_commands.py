"""What people type first, typos and habits among it: each is answered with what to do next."""

import pytest
from command_line import Lanlab

#: The line, its exit code, and words of the answer.
FIRST = (
    ("", 2, "`lanlab tour` shows everything"),
    ("--help", 0, "`lanlab tour` shows everything"),
    ("-h", 0, "stream"),
    ("--version", 0, "lanlab "),
    ("help", 2, "lanlab --help"),
    ("tuor", 2, "tour"),
    ("strem", 2, "stream"),
    ("ping nas", 2, "echo"),
    ("iperf3 -c nas", 2, "stream"),
    ("speedtest", 2, "lanlab stream --to HOST"),
    ("list", 2, "runs"),
    ("stream nas", 2, "use `--to nas`"),
    ("stream --to", 2, "--to"),
    ("stream -c nas", 2, "use --to HOST"),
    ("stream --udp", 2, "use --transport udp"),
    ("stream --duration 3", 2, "use --time"),
    ("stream --size 1,5k", 2, "1.5k"),
    ("stream --rate 10 Mbit/s", 2, "e.g. `10M`"),
    ("stream --time 3 sec", 2, "e.g. `3s`"),
    ("stream --testbed vitual", 2, "virtual"),
    ("echo 192.168.7.2", 2, "use `--to 192.168.7.2`"),
    ("echo --peer nas:445", 2, "write e.g. `tcp://nas:445`"),
    ("stream --peer nas:5001", 2, "write e.g. `tcp://nas:5001`"),
    ("load nas", 2, "use `--to nas`"),
    ("copy", 2, "SOURCE"),
    ("copy mixed //nas/share", 2, "write it as `smb://nas/share`"),
    ("copy nothere smb://nas/share", 2, "nothere"),
    ("copy mixed smb:/nas/share", 2, "write it as `smb://nas/share`"),
    ("stations --users 5", 2, "use --stations"),
    ("saturation nas", 2, "--to"),
    ("serve", 2, "DIRECTORY"),
    ("serve /nowhere", 2, "hint: make it\n"),
    ("show last", 1, "lanlab run STUDY"),
    ("report last", 1, "lanlab run STUDY"),
    ("compare", 2, "name a second run"),
    ("run milanovic", 2, "milanovic-srbljic"),
    ("show manford", 2, "manford-kolahi"),
    ("findings", 2, "study is missing"),
    ("runs", 1, "measure first, e.g. with `lanlab stream`"),
    ("studies", 0, "milanovic-srbljic"),
)


@pytest.mark.parametrize(("line", "code", "words"), FIRST, ids=[line for line, *_ in FIRST])
def test_output_names_the_next_step(line: str, code: int, words: str, lanlab: Lanlab) -> None:
    said = lanlab(*line.split())

    assert said.code == code, said.err
    assert words in said.out + said.err
    if code:
        assert said.out == "" and "Traceback" not in said.err
        assert max(map(len, said.err.splitlines())) < 400
