"""The words of a ranking, by tables of what was shown."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from synthetic_runs import synthetic_run

from lanlab.analysis.comparison import ranking as ranked_levels
from lanlab.analysis.comparison.ranking import Ranked, Ranking, rankings
from lanlab.analysis.trials.run_data import RunData
from lanlab.report.answer import ranking_text
from lanlab.report.answer.ranking_text import ranked_text, ranking_sentences
from lanlab.studies.load import load_study
from lanlab.studies.model import Study
from lanlab.studies.published import Published

STUDY = load_study("schomer-claason").study
RUN = synthetic_run("schomer-claason").run
#: Titles of the services of `Ranking`s here.
NAMES = {"smb": "SMB", "nfs": "NFS 3", "ftp": "FTP", "sftp": "SFTP", "webdav": "WebDAV"}
MORE = ("smb", "nfs", "ftp", "sftp", "webdav", "s3", "s3s", "ftps")


def ranked(text: str) -> Ranked:
    """`ftp 1.5 1.4 1.6 >smb`: a level, what it is worse by, its interval, what it is behind."""
    level, *numbers = text.partition(">")[0].split()
    behind = tuple(text.partition(">")[2].split())
    return Ranked(level, *map(float, numbers), behind=behind) if numbers else Ranked(level, None)


def ranking(text: str, **changes: Any) -> Ranking:
    """Groups apart by `|`, levels of a group by `,`."""
    groups = tuple(
        tuple(ranked(one) for one in group.split(",")) for group in text.split("|") if group
    )
    plain: dict[str, Any] = {
        "experiment": "e",
        "metric": "elapsed_ns",
        "factor": "service",
        "condition": {},
        "groups": groups,
        "lacking": (),
        "is_tested": True,
    }
    return Ranking(**{**plain, **changes})


def said(*own: Ranking, study: Study = STUDY) -> str:
    data = RunData(RUN, (), study, Published(schema=1))
    return ranking_text._why_unranked(data, own) or ranking_text._sentence(data, own, "")


@pytest.mark.parametrize(
    ("text", "changes", "expected"),
    [
        ("smb 1|nfs 1.5 1.4 1.6", {},
         "Transfer time, fastest first: SMB, then NFS 3 50 % slower (40 to 60 %)."),
        ("smb 1|nfs 1.5", {}, "Transfer time, fastest first: SMB, then NFS 3 50 % slower."),
        ("smb 1|nfs", {}, "Transfer time, fastest first: SMB, then NFS 3."),
        ("smb 1|nfs 1.1 1.05 1.2,ftp 1.12 1.1 1.2", {},
         "Transfer time, fastest first: SMB, then NFS 3 10 % slower (5.0 to 20 %) and FTP "
         "12 % slower (10 to 20 %) (no difference shown)."),
        ("smb 1|nfs 1.09 1.05 1.13", {},
         "Transfer time, fastest first: SMB, then NFS 3 9.0 % slower (5.0 to 13 %)."),
        ("smb 1,nfs 1.01|ftp 1.5 1.4 1.6", {},
         "Transfer time, fastest first: SMB and NFS 3 (no difference shown), then FTP 50 % "
         "slower than SMB (40 to 60 %)."),
        ("smb 1,nfs 1.1 >smb,ftp 1.2 >smb nfs", {},
         "Transfer time: SMB, NFS 3 and FTP (shown: NFS 3 slower than SMB; FTP slower than SMB and "
         "NFS 3; no other difference)."),
        ("smb 1", {"lacking": ("nfs", "ftp")}, "Transfer time: SMB (no result of NFS 3 and FTP)."),
        ("smb 1|nfs 2", {"metric": "jain_index"},
         "Jain's index, best first: SMB, then NFS 3 2.0 times worse."),
        ("smb,nfs", {"is_tested": False, "trials": 1},
         "SMB and NFS 3 are not ranked by transfer time: 1 trial each cannot show an order; run at "
         "least 5 (`--trials 5`, or `trials` of a study)."),
        ("smb 1,nfs 1.5 1.4 1.6,ftp 1.05", {"is_tested": False, "trials": 3},
         "Transfer time, fastest mean first: SMB, NFS 3 50 % slower, FTP 5.0 % slower. 3 "
         "trials each cannot show an order; run at least 5 (`--trials 5`, or `trials` of a "
         "study)."),
        ("smb 1", {"is_tested": False, "lacking": ("nfs",)},
         "No ranking: there is no result of NFS 3."),
    ],
)  # fmt: skip
def test_the_order_its_ratios_and_what_is_open_are_told(
    text: str, changes: Mapping[str, Any], expected: str
) -> None:
    assert said(ranking(text, **changes)) == expected


@pytest.mark.parametrize(
    ("count", "words"),
    [(2, "both"), (3, "all three"), (4, "all four"), (5, "all five"), (6, "all six"),
     (7, "all seven"), (8, None)],
)  # fmt: skip
def test_services_at_the_limit_of_the_network_are_counted(count: int, words: str | None) -> None:
    levels = MORE[:count]
    limited: dict[str, Any] = {"at_limit": frozenset(levels), "limit_bps": 94.1e6}
    network = "as fast as the network (94.1 Mbit/s)"
    text = said(ranking(",".join(f"{level} 1" for level in levels), **limited))
    assert text.startswith(
        "Transfer time: " + (f"{words} are {network}." if words else "SMB, NFS 3")
    )
    assert text.endswith(f"are {network}." if words else f", {network}.")
    if count == 3:
        lacking = said(ranking("smb 1,nfs 1", lacking=("ftp",), **limited))
        assert lacking == f"Transfer time: SMB and NFS 3, {network} (no result of FTP)."
        slower = said(ranking("smb 1,nfs 1,ftp 1|sftp 2", **limited))
        assert slower.endswith(f": SMB, NFS 3 and FTP, {network}, then SFTP 2.0 times slower "
                               "than SMB.")  # fmt: skip
        some = said(ranking("smb 1,nfs 1,sftp 1", **limited))
        assert some == "Transfer time: SMB, NFS 3 and SFTP (no difference shown)."


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (Ranked("smb", None), "SMB"),
        (Ranked("smb", 1.1, 1.05, 1.2), "SMB 10 % slower than NFS 3 (5.0 to 20 %)"),
        (Ranked("smb", 1.0999, 1.05, 1.2), "SMB 10.0 % slower than NFS 3 (5.0 to 20 %)"),
        (Ranked("smb", 1.005, None, 1.2), "SMB 0.50 % slower than NFS 3"),
        (Ranked("smb", 1.005, 1.001, None), "SMB 0.50 % slower than NFS 3"),
    ],
)
def test_ratios_below_two_are_percentages(level: Ranked, expected: str) -> None:
    assert ranked_text(level, NAMES, "elapsed_s", "slower", " than NFS 3") == expected


def test_a_rate_is_slower_by_less_than_all_of_it() -> None:
    def of_rate(*worse: float) -> str:
        return ranked_text(Ranked("smb", *worse), NAMES, "goodput_bps", "slower", "")

    assert of_rate(1.96, 1.41, 2.73) == "SMB 49 % slower (29 to 63 %)"
    assert of_rate(2.5, 2.0, 4.0) == "SMB 2.5 times slower (2.0 to 4.0)"


def alike(*levels: str, **changes: Any) -> Ranking:
    return ranking(",".join(f"{level} 1" for level in levels), **changes)


FIVE = MORE[:5]


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ([alike(*FIVE)], "No difference in transfer time was shown between any two of the 5 "
         "services."),
        ([alike(*FIVE, condition={"dataset": "1x6MB"}), alike(*FIVE, condition={"dataset": "x"})],
         "No difference in transfer time was shown between any two of the 5 services with one file "
         "of 6 MB or x."),
        ([alike(*FIVE, condition={"dataset": f"{n}x1B"}) for n in (1, 2, 3, 4)],
         "No difference in transfer time was shown between any two of the 5 services."),
        ([alike(*FIVE, condition={"dataset": f"{n}x1B"}) for n in (1, 2, 3)],
         "No difference in transfer time was shown between any two of the 5 services with one file "
         "of 1 B or 2 files of 1 B or 3 files of 1 B."),
        ([alike(*FIVE, condition={"dataset": "1x1B"}), alike(*FIVE)],
         "No difference in transfer time was shown between any two of the 5 services."),
        ([alike("w98", "w2k", "xp", "nt4", "me", factor="os")],
         "No difference in transfer time was shown between any two of the 5 systems."),
    ],
)  # fmt: skip
def test_many_levels_without_a_difference_get_one_short_sentence(
    own: Sequence[Ranking], expected: str
) -> None:
    assert said(*own) == expected


@pytest.mark.parametrize(
    "own",
    [
        [alike(*MORE[:4])],
        [alike(*FIVE), alike(*MORE[:6])],
        [alike(*FIVE, lacking=("s3",))],
        [alike(*FIVE, at_limit=frozenset(FIVE), limit_bps=1e6)],
        [ranking("smb 1,nfs 1,ftp 1,sftp 1,webdav 1 >smb")],
        [alike(*FIVE), ranking("smb 1|nfs 1,ftp 1,sftp 1,webdav 1")],
    ],
)
def test_what_was_shown_of_some_is_not_left_out(own: Sequence[Ranking]) -> None:
    assert "any two" not in said(*own)
    assert ranking_text._all_alike(STUDY, own, "transfer time") is None


@pytest.mark.parametrize(("count", "is_short"), [(6, False), (7, True)])
def test_more_than_six_conditions_are_told_by_their_order(count: int, is_short: bool) -> None:
    """The most common order first, without ratios; sizes in order are ranges."""
    sizes = [{"dataset": f"1x{n}B"} for n in range(1, count + 1)]
    own = [ranking("nfs 1|smb 2", condition=sizes[0])]
    own += [ranking("smb 1|nfs 1.5 1.4 1.6", condition=one) for one in sizes[1:]]
    text = said(*own)
    if is_short:
        assert text == (
            "Transfer time, fastest first, in 6 of 7 conditions: SMB, then NFS 3; with one file of "
            "1 B: NFS 3, then SMB."
        )
        sizes = [replace(one, condition={"message_size_bytes": n}) for n, one in enumerate(own, 1)]
        assert said(*sizes) == (
            "Transfer time, fastest first, from 2 B up: SMB, then NFS 3; at 1 B: NFS 3, then SMB."
        )
    else:
        assert text.startswith(
            "Transfer time, fastest first, with one file of 1 B: NFS 3, then SMB 2.0 "
        )
        assert text.count("40 to 60 %") == 5


def as_simulated(study: Study) -> Study:
    own = tuple(one.model_copy(update={"on": ("simulated",)}) for one in study.experiment)
    return study.model_copy(update={"experiment": own})


def test_a_simulated_run_shows_the_error_of_its_model_once_and_without_one_no_order() -> None:
    known = ranking("smb 1|nfs 2", model_factor=2.2414)
    unknown = replace(known, model_factor=None)
    a, b, *_ = (own.id for own in STUDY.experiment)

    def said(one: Ranking) -> list[str]:
        data = RunData(RUN, (), as_simulated(STUDY), Published(schema=1))
        data.found[rankings] = {a: (one,), b: (one,)}
        return [*itertools.chain(*ranking_sentences(data))]

    error = (
        "Simulated ratios within the model's error, a factor of 2.24 for transfer time, show no "
        "order."
    )
    assert said(known)[2:] == [error]
    assert all("SMB, then NFS 3 2.0" in one for one in said(known)[:2])
    assert [one.partition(": ")[2] for one in said(unknown)] == [
        "SMB and NFS 3 are not ranked by transfer time: the model's error is not known."
    ] * 2


def test_only_measured_experiments_without_a_load_are_ranked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A search and a sweep of loads have none."""
    asked: list[str] = []
    monkeypatch.setattr(
        ranked_levels, "_groups", lambda data, name, conditions: asked.append(name) or []
    )
    found = synthetic_run("milanovic-srbljic", "quick")
    measured = {one.experiment for one in found.trials}
    study = found.study
    assert rankings(RunData(found.run, found.trials, study)) == {}
    loads = {
        one.id
        for one in study.experiment
        if {"rate_bps", "rate_messages_per_s"} & set(one.factors) or one.search is not None
    }
    assert set(asked) == measured - loads
    asked.clear()
    assert rankings(RunData(found.run, [], study)) == {} and not asked


def test_conditions_without_an_order_are_told_once() -> None:
    """Which mean is greater says nothing there."""
    sizes = ({"message_size_bytes": size} for size in (1, 2, 3))
    orders = ("smb 1,nfs 1.1", "nfs 1,smb 1.1", "smb 1,nfs 1.1")
    own = [replace(ranking(order), condition=at) for order, at in zip(orders, sizes, strict=True)]
    assert said(*own) == "Transfer time: SMB and NFS 3 (no difference shown)."
