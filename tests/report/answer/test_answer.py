"""What a run answers in words."""

import re
from copy import deepcopy
from dataclasses import replace

from answered import sentences
from synthetic_runs import synthetic_run


def test_a_saturation_answer_lists_each_goal_and_link_share() -> None:
    synthetic = synthetic_run("milanovic-srbljic", "quick")
    first = sentences(synthetic.run, synthetic.trials)[0]
    ends = r"(?: ± \S+| \(\S+ … \S+\))"
    goal = rf"(\S+){ends} kB/s \((\S+) % of what this Ethernet can carry\)"
    shape = (
        rf"With 500-byte UDP messages, nothing was lost up to {goal}; "
        rf"at most 1 % was lost up to {goal}\."
    )
    found = re.fullmatch(shape, first)
    assert found is not None, first
    strict, strict_share, loose, loose_share = (float(n.replace(",", "")) for n in found.groups())
    # The model carries 99.9 % of the limit, 1,104 kB/s, give or take 0.3 %.
    assert 1060 < strict < loose < 1130
    assert 96 < strict_share < loose_share < 102


def test_a_simulated_answer_is_not_measured_and_has_no_interval() -> None:
    synthetic = synthetic_run("milanovic-srbljic", "quick", where="simulated")
    study = {key: value for key, value in synthetic.run.study.items() if key != "answer"}
    said = sentences(replace(synthetic.run, study=study), synthetic.trials)
    own = [text for text in said if text.startswith("The highest")]
    assert own and all(", the highest speed offered, " in text for text in own)
    assert not re.search(r"\d ± |\d \(\S+ … ", " ".join(own))
    # The answer to the question has them.
    told = sentences(*synthetic.pair())
    assert not any(text.startswith("The highest") for text in told)


def test_a_limiting_sender_is_named() -> None:
    def slow(metrics: dict[str, float | int], rate_bps: float) -> dict[str, float | int]:
        share = min(1.0, 7e6 / rate_bps)
        return {
            **metrics,
            "goodput_ratio": share,
            "offered_messages": 1_000_000,
            "unsent_messages": round(1_000_000 * (1 - share)),
        }

    synthetic = synthetic_run("milanovic-srbljic", "quick", distorts=slow)
    first = sentences(synthetic.run, synthetic.trials)[0]

    assert first.endswith(
        "nothing was lost up to 875.0 kB/s (79.2 % of what this Ethernet can carry), sender "
        "limited. The sender reached at most 875.0 kB/s; the network may carry more."
    )


def test_a_search_of_another_version_is_not_called_undecided() -> None:
    synthetic = synthetic_run("milanovic-srbljic", "quick")
    strange = [replace(trial, block=trial.block + 1) for trial in synthetic.trials]

    assert sentences(synthetic.run, strange)[0] == (
        "UDP, 500-byte messages: saturation: the end of the search is not known, because another "
        "version of lanlab planned its trials. The trials are saved."
    )


def test_a_sentence_follows_the_numbers() -> None:
    synthetic = synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000)
    before = sentences(synthetic.run, synthetic.trials)
    halved = [
        replace(t, metrics={**t.metrics, "goodput_bps": t.metrics["goodput_bps"] / 2})
        if "goodput_bps" in t.metrics and t.factors["ip_version"] == 6
        else t
        for t in synthetic.trials
    ]
    after = sentences(synthetic.run, halved)
    whole, half = (
        next(text for text in said if text.startswith("UDP throughput")) for said in (before, after)
    )
    assert whole.endswith("; from 1,152 B up: both are as fast as the network.")
    assert half == "UDP throughput, fastest first: IPv4, as fast as the network, then IPv6."


def test_ip_versions_are_ranked_first() -> None:
    synthetic = synthetic_run("manford-kolahi", "standard", link_rate_bps=100_000_000)
    said = sentences(synthetic.run, synthetic.trials)
    # Of 194 octets on the wire to 214: each version reaches its own limit, 10 % apart at 128 bytes
    # and 2.3 % at 768.
    assert said[0] == (
        "UDP throughput, fastest first, from 768 B up: both are as fast as the network; up to "
        "640 B: IPv4, as fast as the network, then IPv6."
    )


def test_each_sweep_has_its_own_sentence() -> None:
    synthetic = synthetic_run("milanovic-srbljic", "quick")
    study = deepcopy(dict(synthetic.run.study))
    del study["answer"]
    study["experiment"] = [one for one in study["experiment"] if one["id"] == "udp-500"]
    study["experiment"][0]["factors"]["ip_version"] = [4, 6]
    study["scale"]["quick"]["experiment"] = {
        "udp-500": study["scale"]["quick"]["experiment"]["udp-500"]
    }
    trials = [
        replace(
            trial,
            factors={**trial.factors, "ip_version": version},
            parameters={**trial.parameters, "ip_version": version},
            metrics={
                **trial.metrics,
                "goodput_bps": trial.metrics["goodput_bps"] / (version - 3),
                "received_ratio": trial.metrics["received_ratio"] / (version - 3),
            },
        )
        for trial in synthetic.trials
        if trial.experiment == "udp-500"
        for version in (4, 6)
    ]
    found = sentences(replace(synthetic.run, study=study), trials)
    four, six = (text for text in found if text.startswith("The highest"))
    assert "messages with IPv4 was 1,105.3" in four and "83.4 % of the messages" in four
    assert "messages with IPv6 was 368.4" in six and "27.8 % of the messages" in six
    # What never left did not get lost on the way.
    sent = {"offered_messages": 1000, "sent_messages": 900}
    late = [replace(trial, metrics={**trial.metrics, **sent}) for trial in trials]
    said = next(t for t in sentences(replace(synthetic.run, study=study), late) if "highest" in t)
    assert said.endswith("83.4 % of the messages offered arrived, and 10.00 % were not sent.")


def test_a_token_bucket_run_qualifies_its_round_trips() -> None:
    shaped = synthetic_run("manford-kolahi", link_rate_bps=100_000_000)
    said = " ".join(sentences(shaped.run, shaped.trials))
    assert "token bucket" in said
    assert "118 µs for 1408 bytes over IPv4. On a wire, both frames would take 234 µs" in said
    wire = synthetic_run("manford-kolahi", link_rate_bps=100_000_000, shape="wire")
    assert "token bucket" not in " ".join(sentences(wire.run, wire.trials))


def test_failures_and_an_interruption_are_reported() -> None:
    synthetic = synthetic_run(
        "manford-kolahi", fails=lambda planned: planned.number == 3, most_trials=10
    )
    said = sentences(synthetic.run, synthetic.trials)
    assert "1 of 10 trials failed and are in no mean." in said
    assert "The run is interrupted: only the trials that had ended are shown." in said


def test_a_run_without_results_makes_no_claim() -> None:
    for failing in (True, False):
        synthetic = synthetic_run(
            "manford-kolahi", fails=lambda planned: True, most_trials=None if failing else 0
        )
        said = " ".join(sentences(synthetic.run, synthetic.trials))
        assert "Mbit/s" not in said
        assert said
