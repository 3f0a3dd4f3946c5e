"""The question of each study is answered by what it published, and by runs."""

from dataclasses import replace

import pytest
from copy_runs import copy_run
from synthetic_runs import synthetic_run

from lanlab.report.published.question import lacking_answers, question_answers, question_lines
from lanlab.studies import known_studies, load_study
from lanlab.studies.runs_on import study_on


@pytest.mark.parametrize("name", known_studies())
def test_every_study_has_a_published_answer(name: str) -> None:
    loaded = load_study(name)
    (printed,) = question_answers(loaded, [])
    assert printed.kind == "published" and printed.text.startswith("Published: ")
    kinds = [kind for kind, _ in lacking_answers(loaded.study, [printed.kind])]
    # Current servers are none of Poo and Tan's.
    assert kinds == (["simulated"] if name == "poo-tan" else ["simulated", "measured"])


def test_publications_name_the_fastest_protocol_by_condition() -> None:
    (printed,) = question_answers(load_study("schomer-claason"), [])
    assert printed.text == (
        "Published: shortest transfer time: NWLink (IPX/SPX) (Windows 98 SE, 198 files, 472 MB), "
        "TCP/IP (Windows 2000 SP2, 1 file, 623 MB; Windows 2000 SP2, 198 files, 472 MB); "
        "shortest mean, not shown to differ: TCP/IP (Windows 98 SE, 1 file, 623 MB) (5 trials "
        "each, comparisons corrected together)."
    )


def test_systems_known_by_published_ratios_are_ranked() -> None:
    (printed,) = question_answers(load_study("poo-tan"), [])
    assert printed.found[0][1:] == ("novell-an286", True)
    assert printed.text.endswith(
        "; no mean response time is printed (printed numbers, all without a spread)."
    )


def test_published_speeds_stay_within_the_link() -> None:
    (printed,) = question_answers(load_study("milanovic-srbljic"), [])
    assert "to 1,104 kB/s" in printed.text and "2,208" not in printed.text
    assert "500 bytes: less is received than sent from 500 kB/s (Pentium 133," in printed.text


def test_a_speed_under_overload_is_no_maximum() -> None:
    study = load_study("milanovic-srbljic")
    (printed,) = question_answers(study, [])
    assert "500 bytes: highest receiving speed 552 kB/s (Pentium 133, Windows NT" in printed.text
    assert (
        ", 110 kB/s (486 DX2-66, Windows NT 4.0 Workstation), taken for its speed at 1,325 kB/s "
        "sent;" in printed.text
    )


def test_a_simulated_range_is_of_the_published_conditions() -> None:
    run = synthetic_run("milanovic-srbljic", "quick", where="simulated")
    simulated, _ = question_lines(run.pair(), None)
    small, large, *_ = simulated.split("; ")
    # Nothing of 2 bytes was published under Linux; the 486 has a speed at one load.
    assert "Linux" not in small
    assert large.count("486 DX2-66") == 1
    assert "(486 DX2-66, Windows NT 4.0 Workstation) at 1,325 kB/s sent" in large


def test_ip_versions_are_compared_at_the_same_size() -> None:
    (printed,) = question_answers(load_study("manford-kolahi"), [])
    vista, xp, _ = printed.text.split("; ")
    # 26.5 / 24.0 and 85.6 / 84.6 Mbit/s.
    assert vista.endswith(
        "(Windows Vista SP1): 1.10 \N{MULTIPLICATION SIGN} for the least values, 1.01 "
        "\N{MULTIPLICATION SIGN} for the greatest values"
    )
    # The greatest value over IPv4, 86 Mbit/s, is at 1,152 bytes, where IPv6 has 75.6 of at most 81.
    assert xp.endswith(
        "1.05 \N{MULTIPLICATION SIGN} for the least values, 1.36 \N{MULTIPLICATION SIGN} at 384 B, "
        "1.14 \N{MULTIPLICATION SIGN} at 1,152 B"
    )


def test_a_transport_run_ranks_nwlink_with_the_others() -> None:
    study = study_on(load_study("schomer-claason").study, "real", "transports")
    costs = {
        "smb1": (2e-7, 0.1, 0.0),
        "smb1+nbf": (2e-7, 0.12, 0.0),
        "smb1+ipx": (1e-7, 0.01, 0.0),
        "smb1+nbipx": (1e-7, 0.02, 0.0),
    }
    run, trials = copy_run(study, costs, 0.003, scale="transports")
    lines = question_lines((run, trials), ())
    assert [line.partition(":")[0] for line in lines] == ["Here", "Published", "Simulated"]
    assert lines[0].startswith("Here: shortest transfer time: NWLink (IPX/SPX) in both conditions")
    assert lines[2] == (
        "Simulated: not run yet; `lanlab run schomer-claason --testbed simulated` answers it."
    )


def test_an_answer_names_services_by_their_titles() -> None:
    here, *_ = question_lines(synthetic_run("schomer-claason", "tiny", where="real").pair(), None)
    assert "NFS 3" in here and "nfs" not in here


def test_a_ratio_of_two_trials_has_no_interval() -> None:
    here, *_ = question_lines(synthetic_run("manford-kolahi", "tiny", where="real").pair(), None)
    over, _, sure = here.partition(" at 128 B")
    assert over.endswith(" \N{MULTIPLICATION SIGN}") and "(2 trials each" in sure, here


def test_messages_that_were_not_sent_are_not_lost() -> None:
    quick = synthetic_run("milanovic-srbljic", "quick")
    unsent = {"received_ratio": 0.8, "loss_ratio": 0.0}
    trials = [replace(one, metrics={**one.metrics, **unsent}) for one in quick.trials]
    here, *_ = question_lines((quick.run, trials), None)
    assert "no more than 1 % lost up to" in here and "more than 1 % lost from" not in here


def test_the_answer_counts_disturbed_trials_and_says_if_there_is_none() -> None:
    quick = synthetic_run("milanovic-srbljic", "quick")
    seen = {"pollution": {"findings": [{"repeat_helps": True}]}}
    disturbed = [replace(one, raw={**one.raw, **seen}) for one in quick.trials[:2]]
    here, *_ = question_lines((quick.run, [*disturbed, *quick.trials[2:]]), None)
    assert here.endswith(f"; 2 of {len(quick.trials)} trials disturbed).")
    other = synthetic_run("poo-tan", "quick")
    here, *_ = question_lines((other.run, other.trials), ())
    assert here == "Here: the question is about systems that this run does not have."
    lacking = [replace(one, metrics={}) for one in quick.trials]
    here, *_ = question_lines((quick.run, lacking), ())
    assert here == "Here: this run has no results that answer the question."
