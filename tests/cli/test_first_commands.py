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
    ("strem", 2, "stream"),
    ("ping nas", 2, "echo"),
    ("iperf3 -c nas", 2, "stream"),
    ("speedtest", 2, "lanlab stream --to HOST"),
    ("list", 2, "runs"),
    ("stream --to", 2, "--to"),
    ("stream --udp", 2, "use --transport udp"),
    ("stream --size 1,5k", 2, "1.5k"),
    ("stream --rate 10 Mbit/s", 2, "e.g. `10Mbit/s`"),
    ("stream --time 3 sec", 2, "e.g. `3sec`"),
    ("stream --json --live 0.1", 2, "hint: --live takes no value\n"),
    ("stream --json 10.0.0.1", 2, "use `--to 10.0.0.1`"),
    ("echo --peer nas:445", 2, "write e.g. `tcp://nas:445`"),
    ("stream --peer nas:5001", 2, "write e.g. `tcp://nas:5001`"),
    ("copy", 2, "SOURCE"),
    ("copy nothere smb://nas/share", 2, "nothere"),
    ("copy mixed smb:/nas/share", 2, "write it as `smb://nas/share`"),
    ("saturation nas", 2, "--to"),
    ("serve", 2, "DIRECTORY"),
    ("serve /nowhere", 2, "hint: make it\n"),
    ("compare", 2, "name two runs"),
    ("show manford", 2, "manford-kolahi"),
    ("findings", 2, "STUDY is missing"),
    ("nas", 2, "hint: write e.g. `lanlab nas nas.lan --user me --share data`; see `lanlab nas"),
    ("runs", 1, "measure first, e.g. with `lanlab stream`"),
    ("stream nas", 2, "to measure to a host, use `--to nas`"),
    ("stream alice@nas:2222", 2, "use `--to alice@nas:2222`"),
    ("echo 192.168.7.2", 2, "use `--to 192.168.7.2`"),
    ("load nas", 2, "use `--to nas`"),
    ("stream smb://nas/share", 2, "`lanlab stations` takes one server, `lanlab copy` and"),
    ("copy mixed //nas/share", 2, "write it as `smb://nas/share`"),
    ("copy mixed \\\\nas\\share\\a", 2, "write it as `smb://nas/share/a`"),
    ("copy mixed \\nasshare", 2, "a shell removes backslashes"),
    ("copy //nas/share mixed", 2, "write it as `smb://nas/share`"),
    ("stations \\\\nas\\share", 2, "write it as `smb://nas/share`"),
    ("copy mixed nas:/export", 2, "`nfs://nas/export`, or `sftp://nas//export`"),
    ("stream --csv out.csv", 2, "use --export-csv FILE"),
    ("stream --duration 3", 2, "use --time"),
    ("echo --count 5", 2, "use --requests"),
    ("stream --count 5", 2, "use --messages"),
    ("stream --bandwith 5M", 2, "use --flow-rate"),
    ("stream --lenght 5", 2, "use --size"),
    ("stations --users 5", 2, "use --stations"),
    ("copy mixed --users 5", 2, "use --parallel"),
    ("stream --users 5", 2, "use --flows"),
    ("stations --bs 4k", 2, "use --size"),
    ("copy mixed --bs 4k", 2, "use --block"),
    ("stations --numjobs 4", 2, "use --stations"),
    ("stations --iodepth 4", 2, "use --stations, each of which waits for its reply"),
    ("copy mixed --iodepth 4", 2, "use --depth"),
    ("stations --rw randread", 2, "use --read or --write"),
    ("copy mixed --rw read", 2, "use --download; without it files are uploaded"),
    ("stations --rwmixread 70", 2, "use --read-ratio"),
    ("stream --ipv6", 2, "use -6"),
    ("runs --csv", 2, "use --json"),
    ("tuor", 2, "'tour'"),
    ("run small.toml --scal quick", 2, "--scale"),
    ("run small", 2, "did you mean `small.toml`?"),
    ("show small.tml", 2, "did you mean `small.toml`?"),
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
