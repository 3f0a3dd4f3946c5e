"""What users of other programs type first, and the word that each is answered with."""

import pytest
from command_line import Lanlab

from lanlab.store import open_store

QUICK = ("--testbed", "loopback", "--time", "0.05", "--warmup", "0", "--size", "100")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("stream nas", "to measure to a host, use `--to nas`"),
        ("stream alice@nas:2222", "use `--to alice@nas:2222`"),
        ("echo 192.168.7.2", "use `--to 192.168.7.2`"),
        ("load nas", "use `--to nas`"),
        ("stream smb://nas/share", "`lanlab stations` takes one server, `lanlab copy` and"),
        ("copy mixed //nas/share", "write it as `smb://nas/share`"),
        ("copy mixed \\\\nas\\share\\a", "write it as `smb://nas/share/a`"),
        ("copy mixed \\nasshare", "a shell removes backslashes"),
        ("copy //nas/share mixed", "write it as `smb://nas/share`"),
        ("stations \\\\nas\\share", "write it as `smb://nas/share`"),
        ("copy mixed nas:/export", "`nfs://nas/export`, or `sftp://nas//export`"),
        ("stream --csv out.csv", "use --export-csv FILE"),
        ("stream --duration 3", "use --time"),
        ("echo --count 5", "use --requests"),
        ("stream --count 5", "use --messages"),
        ("stations --users 5", "use --stations"),
        ("copy mixed --users 5", "use --parallel"),
        ("stream --users 5", "use --flows"),
        ("stations --bs 4k", "use --size"),
        ("copy mixed --bs 4k", "use --block"),
        ("stations --numjobs 4", "use --stations"),
        ("stations --iodepth 4", "use --stations, each of which waits for its reply"),
        ("copy mixed --iodepth 4", "use --depth"),
        ("stations --rw randread", "use --read or --write"),
        ("copy mixed --rw read", "use --download; without it files are uploaded"),
        ("stations --rwmixread 70", "use --read-ratio"),
        ("stream --ipv6", "use -6"),
        ("runs --csv", "use --json"),
    ],
)
def test_options_of_other_programs_get_a_hint(line: str, hint: str, lanlab: Lanlab) -> None:
    said = lanlab(*line.split())
    assert (said.code, said.out) == (2, ""), said.err
    assert "hint: " in said.err and hint in said.err


def test_json_has_the_words_of_the_options(lanlab: Lanlab) -> None:
    said = lanlab("stream", *QUICK, "--rate", "1M", "--json").json()
    assert said["options"]["size"] == said["parameters"]["message_size_bytes"] == 100
    assert said["options"]["rate"] == said["parameters"]["rate_bps"] == 1_000_000
    assert said["options"]["tool"] == said["parameters"]["driver"] == "lanlab"

    scan = lanlab("stream", *QUICK, "--rate", "1M,2M", "--json").json()
    assert [trial["options"] for trial in scan["trials"]] == [
        {"rate": trial["factors"]["rate_bps"]} for trial in scan["trials"]
    ]


def test_runs_name_what_they_measured(lanlab: Lanlab) -> None:
    title = "UDP stream, 100-byte messages at 1.00 Mbit/s, 1 flow, 50.0 ms, over loopback"
    said = lanlab("stream", *QUICK, "--rate", "1M")
    assert said.out.splitlines()[0] == title
    with open_store(None) as records:
        assert records.run("last").study["title"] == title
    listed = lanlab("runs", "--json").json()["runs"]
    assert (listed[0]["measured"], listed[0]["result"].split()[0]) == (title, "goodput")
    shown = lanlab("runs").out
    assert title in shown and listed[0]["run"] in shown
