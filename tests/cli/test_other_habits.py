"""The words of the options in answers, and what runs are called."""

from command_line import STREAM, Lanlab

from lanlab.store import open_store

SHORT = (*STREAM, "--size", "100")


def test_json_has_the_words_of_the_options(lanlab: Lanlab) -> None:
    said = lanlab(*SHORT, "--rate", "1M", "--json").json()
    assert said["options"]["size"] == said["parameters"]["message_size_bytes"] == 100
    assert said["options"]["rate"] == said["parameters"]["rate_bps"] == 1_000_000
    assert said["options"]["tool"] == said["parameters"]["driver"] == "lanlab"

    scan = lanlab(*SHORT, "--rate", "1M,2M", "--json").json()
    assert [trial["options"] for trial in scan["trials"]] == [
        {"rate": trial["factors"]["rate_bps"]} for trial in scan["trials"]
    ]


def test_runs_name_what_they_measured(lanlab: Lanlab) -> None:
    title = "UDP stream, 100-byte messages at 1.00 Mbit/s, 1 flow, 50 in all, over loopback"
    said = lanlab(*SHORT, "--rate", "1M")
    assert said.out.splitlines()[0] == title
    with open_store(None) as records:
        assert records.run("last").study["title"] == title
    listed = lanlab("runs", "--json").json()["runs"]
    assert (listed[0]["measured"], listed[0]["result"].split()[0]) == (title, "goodput")
    shown = lanlab("runs").out
    assert title in shown and listed[0]["run"] in shown
