"""What commands answer, to people and to programs."""

import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from command_line import COMMAND, ECHO, STREAM, Lanlab, Said, environment, lanlab_process
from copy_runs import copy_run
from kept_runs import keep

from lanlab.studies.load import load_study
from lanlab.studies.runs_on import study_on
from lanlab.testbeds.needs import Need


def test_a_study_is_run_and_answered_as_json(lanlab: Lanlab) -> None:
    said = lanlab("run", "small.toml", "--testbed", "loopback", "--seed", "7", "--json")

    assert said.code == 0
    answer = said.json()
    assert (answer["study"], answer["seed"], answer["status"]) == ("small", 7, "done")
    assert [trial["number"] for trial in answer["trials"]] == list(range(6))
    assert all(trial["modes"]["receive"] != "auto" for trial in answer["trials"])
    assert said.err.startswith(f"run {answer['run']}: quick, on loopback (unshaped), ")


def test_a_study_run_ends_with_tables_sentences_and_the_report_path(lanlab: Lanlab) -> None:
    said = lanlab("run", "small.toml", "--testbed", "loopback")

    assert said.code == 0
    assert "Goodput of small messages" in said.out
    assert "done: 6 trials, 0 failed; `lanlab report " in said.out
    assert "goodput" not in said.err


@pytest.mark.parametrize(
    ("args", "key"),
    [
        ([*STREAM, "--size", "100", "--rate", "1M"], "goodput_bps"),
        ([*STREAM, "--transport", "tcp"], "goodput_bps"),
        (ECHO, "rtt_p99_ns"),
    ],
)
def test_json_of_a_single_measurement_uses_store_keys(
    args: list[str], key: str, lanlab: Lanlab
) -> None:
    one = lanlab(*args, "--json").json()
    two = lanlab(*args, "--trials", "2", "--json").json()

    assert one[key] == one["trials"][0][key] > 0
    assert one["modes"] == one["trials"][0]["modes"]
    assert one["modes"]["receive"] in ("block", "poll", "spin")
    first, second = (trial[key] for trial in two["trials"])
    assert two[key] == pytest.approx((first + second) / 2)


SMALL_SEARCH = (
    "saturation", "--testbed", "loopback", "--size", "200", "--low", "50k", "--high", "400k",
    "--time", "0.1", "--warmup", "0.02", "--trials", "1", "--width", "50%", "--curve", "3",
)  # fmt: skip


def test_a_saturation_search_prints_a_row_for_each_goal(lanlab: Lanlab) -> None:
    said = lanlab(*SMALL_SEARCH, "--goals", "0%,5%")

    assert said.code == 0
    lines = said.out.splitlines()
    # A busy machine gives no exact limit.
    begins = ("With 200-byte UDP messages, ", "The network carries at least ", "What the network ")
    assert lines[0].startswith(begins)
    wanted = "Saturation of a UDP stream, 200-byte messages, 1 flow, 100 ms, over loopback"
    title = lines.index(wanted)
    assert [row.split()[0] for row in lines[title + 2 : title + 4]] == ["nothing", "5"]
    assert "`lanlab report " in said.out


def test_json_of_a_saturation_search_has_a_result_for_each_goal(lanlab: Lanlab) -> None:
    answer = lanlab(*SMALL_SEARCH, "--goals", "5%,0", "--json").json()

    (search,) = answer["searches"]
    assert (search["factor"], search["metric"], search["limit"]) == (
        "rate_bps", "goodput_ratio", None,
    )  # fmt: skip
    assert [goal["loss_ratio"] for goal in search["goals"]] == [0, 0.05]
    for goal in search["goals"]:
        assert {"kind", "lower", "upper", "throughput"} < goal.keys()
        assert all(50e3 <= goal[end] <= 400e3 for end in ("lower", "upper") if goal[end])
    lengths = {(trial["purpose"], trial["time_s"]) for trial in answer["trials"]}
    assert lengths == {("search", 0.025), ("confirm", 0.1), ("curve", 0.1)}
    assert sum(trial["purpose"] == "curve" for trial in answer["trials"]) >= 3


def test_a_single_measurement_prints_throughput_loss_and_run_name(lanlab: Lanlab) -> None:
    stream = lanlab(*STREAM, "--size", "100", "--rate", "1M", "--trials", "3")
    echo = lanlab(*ECHO)
    verbose = lanlab(*ECHO, "-v")

    assert (stream.code, echo.code) == (0, 0)
    assert not any("method      " in said.out for said in (stream, echo))
    assert "method      " in verbose.out
    assert "trial  " in stream.out and re.search(r"\nmean +\S+ [kM]?bit/s \(", stream.out)
    assert "round trip  mean " in echo.out
    assert all("saved as    2" in said.out for said in (stream, echo))


def test_a_failed_measurement_exits_with_1_and_gives_the_reason(lanlab: Lanlab) -> None:
    amount = ("--messages", "1", "--message-rate", "0.0004")
    said = lanlab("stream", "--testbed", "loopback", *amount, "--json")

    assert said.code == 1
    assert "0.001 to 100,000,000" in said.json()["trials"][0]["error"]["message"]
    assert "error: host1: " in said.err and "0.001 to 100,000,000" in said.err


def test_a_run_with_an_abandoned_condition_exits_with_1(lanlab: Lanlab, folder: Path) -> None:
    text = (folder / "small.toml").read_text()
    broken = text.replace('rate_bps = "1M"', "rate_messages_per_s = 0.0004, messages = 1")
    (folder / "small.toml").write_text(broken.replace("messages = 50 ", "messages = 1 "))

    said = lanlab("run", "small.toml", "--testbed", "loopback", "--json")

    assert said.code == 1
    assert said.json()["status"] == "failed"
    assert "failed: host1: " in said.err and "0.001 to 100,000,000" in said.err


def test_studies_are_listed_with_their_titles(lanlab: Lanlab) -> None:
    listed = {study["id"]: study for study in lanlab("studies", "--json").json()["studies"]}
    assert list(listed) == [
        "brutman-mtcp", "manford-kolahi", "milanovic-srbljic", "poo-tan", "schomer-claason",
    ]  # fmt: skip
    said = lanlab("studies").out
    for name, study in listed.items():
        assert name in said
        shown = lanlab("show", name, "--json").json()
        assert shown["study"]["id"] == name
        assert shown["published"]["value"]
        assert shown["findings"] and shown["published"]["discrepancy"]
        assert list(shown["estimates"]) == study["scales"]
        assert shown["estimates"]["full"]["trials"] >= shown["estimates"]["quick"]["trials"] > 0
        assert shown["study"]["title"] in lanlab("show", name, "--only", "testbed").out


def test_brackets_in_titles_are_not_markup(lanlab: Lanlab, folder: Path) -> None:
    text = (folder / "small.toml").read_text()
    title = "[/b] [red]"
    (folder / "small.toml").write_text(text.replace("Goodput of small messages", title))

    shown, ran = lanlab("show", "small.toml"), lanlab("run", "small.toml", "--testbed", "loopback")

    assert (shown.code, ran.code) == (0, 0)
    assert title in shown.out
    assert title in ran.out


def test_runs_are_listed_newest_last(lanlab: Lanlab) -> None:
    first = lanlab(*STREAM, "--json").json()["run"]
    second = lanlab("run", "small.toml", "--testbed", "loopback", "--json").json()["run"]

    rows = lanlab("runs", "--json").json()["runs"]

    assert [row["run"] for row in rows] == [first, second]
    assert [row["trials"] for row in rows] == [1, 6]
    assert {row["status"] for row in rows} == {"done"}
    lines = lanlab("runs").out.splitlines()
    assert [line.split()[0] for line in lines] == ["run", first, second]


def test_a_report_is_written_to_the_named_folder(lanlab: Lanlab, folder: Path) -> None:
    lanlab("run", "small.toml", "--testbed", "loopback")

    said = lanlab("report", "last", "--out", "mine")
    as_json = lanlab("report", "last", "last", "--json").json()

    assert said.code == 0
    page = Path(said.out.strip())
    assert page.parent == Path("mine")
    assert page.read_text().lstrip().lower().startswith("<!doctype html>")
    assert Path(as_json["html"]).is_file()
    assert as_json["tables"] and as_json["figures"]
    assert all(Path(path).is_file() for path in (*as_json["tables"], *as_json["figures"]))


#: Where no rights are needed: at its smallest, on loopback.
TOUR = ("tour", "--scale", "tiny", "--testbed", "loopback", "--out", "here", "--json")


def test_the_tour_runs_two_studies_and_reports_them(lanlab: Lanlab, folder: Path) -> None:
    check_tour(lanlab(*TOUR), folder)


@pytest.mark.long
def test_the_tour_runs_two_studies_and_draws_them(tmp_path: Path) -> None:
    said = lanlab_process(tmp_path, *TOUR)

    check_tour(said, tmp_path)
    page = Path(tmp_path, said.json()["html"])
    assert len(list((tmp_path / "here").rglob("*.svg"))) == page.read_text().count("<figure ")


def check_tour(said: Said, folder: Path) -> None:
    assert said.code == 0, said.err
    answer = said.json()
    assert [run["study"] for run in answer["runs"]] == [
        *("milanovic-srbljic", "milanovic-srbljic"),
        *("manford-kolahi", "manford-kolahi"),
    ]
    assert [run["testbed"] for run in answer["runs"]] == 2 * ["loopback", "simulated"]
    assert {run["status"] for run in answer["runs"]} == {"done"}
    page = (folder / answer["html"]).read_text()
    answered = "<dt>The answer</dt><dd>Here .*?<dd>Simulated.*?<dd>Published"
    assert len(re.findall(answered, page)) == 2
    assert page.index("<dt>The answer</dt>") < page.index("<dt>The authors found</dt>")
    assert page.count("statements that no run here could test</summary>") == 2
    assert list((folder / "here").rglob("*.csv"))


@pytest.mark.parametrize("able", [True, False])
def test_the_doctor_exits_with_0_only_if_every_testbed_works(
    able: bool, lanlab: Lanlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs = [
        Need("tc", able, "/sbin/tc" if able else "not found", "apt install iproute2"),
        Need("IPv6", False, "::1 cannot be bound", "sysctl", required=False),
    ]
    monkeypatch.setattr("lanlab.testbeds.needs.needs", lambda name: needs)

    said, as_json = lanlab("doctor"), lanlab("doctor", "--json")

    assert said.code == as_json.code == (0 if able else 1)
    assert ("apt install iproute2" in said.out) is not able
    answer = as_json.json()
    assert answer.keys() == {
        *("loopback", "virtual", "simulated", "ssh", "tools", "drivers", "services", "servers"),
        *("store", "answer"),
    }
    assert {answer[bed]["able"] for bed in ("loopback", "virtual")} == {able}
    assert answer["virtual"]["needs"][0]["found"] is able


def test_the_doctor_looks_at_this_machine(lanlab: Lanlab) -> None:
    answer = lanlab("doctor", "--json").json()

    assert answer["loopback"]["able"]


def test_colour_is_off_into_a_file(tmp_path: Path) -> None:
    said = lanlab_process(tmp_path, "show", "milanovic-srbljic")

    assert said.code == 0
    assert "\x1b" not in said.out + said.err


def test_a_closed_pipe_gives_no_error(tmp_path: Path) -> None:
    for args in (["show", "manford-kolahi"], ["studies", "--json"], ["--help"]):
        process = subprocess.Popen(
            [*COMMAND, *args],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        said = process.stderr.read().decode()
        process.stderr.close()
        process.wait(timeout=120)
        assert said == ""


def test_json_answers_have_no_nan_or_infinity(lanlab: Lanlab) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    for args in (["doctor"], ["studies"], ["show", "manford-kolahi"], STREAM):
        json.loads(lanlab(*args, "--json").out, parse_constant=refuse)


def test_page_and_json_state_the_answer_of_the_simulated_run(
    lanlab: Lanlab, tmp_path: Path
) -> None:
    store = str(tmp_path / "both.sqlite")
    options = ("--scale", "tiny", "--testbed", "simulated", "--store", store)
    costs = defaultdict(lambda: (9e-8, 1e-3, 0.0))
    study = study_on(load_study("schomer-claason").study, "real", "tiny")
    measured = copy_run(study, costs, 0.01, scale="tiny")
    keep(Path(store), [measured])
    assert lanlab("run", "schomer-claason", *options).code == 0
    page = lanlab("report", measured[0].id, "--store", store).out.strip()
    found = lanlab("show", measured[0].id, "--json", "--store", store).json()
    answer, kinds = found["answer"], [one["kind"] for one in found["question"]]
    assert kinds == ["measured", "simulated", "published"]
    assert [re.split("[ :,]", one)[0] for one in answer[:3]] == ["Aside", "Simulated", "Published"]
    for text in (Path(page).read_text(encoding="utf-8"), " ".join(answer)):
        assert "Simulated (within" in text and "not run yet" not in text
    text = Path(page).read_text(encoding="utf-8")
    first, _, rest = text.partition("What the answers rest on")
    begin = first.partition('<ul class="answer">')[2]
    leads = [begin.index(f"<li>{kind}") for kind in ("Aside", "Simulated", "Published")]
    assert leads == sorted(leads) and begin.startswith("\n<li>Aside, this computer (")
    assert "The answer by condition" in rest and "On the published answer" in rest
