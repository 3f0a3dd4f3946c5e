"""What a byte and a file cost, from runs whose costs are known."""

import pytest
from copy_runs import copy_run, copy_study

from lanlab.analysis.copies.cost import CopyCost, Cost, copy_costs
from lanlab.analysis.trials.run_data import RunData

_COSTS = {"ftp": (1e-8, 2e-3, 0.0), "smb": (2e-8, 1e-3, 0.0)}
_TWO = ("1x62MB", "200x100kB")


def costs(found: tuple[CopyCost, ...]) -> dict[str, CopyCost]:
    return {str(one.factors["service"]): one for one in found}


def is_near(found: Cost | None, truth: float, share: float) -> bool:
    return found is not None and abs(found.value / truth - 1) < share


def test_exact_times_give_the_exact_costs_of_each_service() -> None:
    found = costs(
        copy_costs(RunData(*copy_run(copy_study(["ftp", "smb"], _TWO), _COSTS)), "copies")
    )

    for service, (byte_s, file_s, _) in _COSTS.items():
        one = found[service]
        assert is_near(one.per_byte, byte_s, 1e-6) and is_near(one.per_file, file_s, 1e-6)
        assert one.copied == ((62_000_000, 1, 5), (20_000_000, 200, 5))
        assert one.trials == 10
        # Two datasets fit whatever was seen: nothing is left to be off.
        assert one.per_trial is None and one.residual_ratio is None
        assert one.note == "the cost of a trial cannot be separated and is taken as 0"


def test_noisy_times_give_covering_intervals_that_separate_services() -> None:
    run = copy_run(copy_study(["ftp", "smb"], _TWO), _COSTS, spread=0.02)
    found = costs(copy_costs(RunData(*run), "copies"))

    for service, (byte_s, file_s, _) in _COSTS.items():
        for cost, truth in ((found[service].per_byte, byte_s), (found[service].per_file, file_s)):
            assert cost is not None and cost.low is not None and cost.high is not None
            assert cost.low < truth < cost.high
            assert cost.high - cost.low < 0.4 * truth
    ftp, smb = found["ftp"].per_byte, found["smb"].per_byte
    assert ftp and smb and ftp.high and smb.low and ftp.high < smb.low


def test_a_third_dataset_identifies_the_cost_of_a_trial() -> None:
    study = copy_study(["ftp"], [*_TWO, "1x1kB"])
    (found,) = copy_costs(RunData(*copy_run(study, {"ftp": (1e-8, 2e-3, 0.25)})), "copies")

    assert is_near(found.per_byte, 1e-8, 1e-6) and is_near(found.per_file, 2e-3, 1e-6)
    assert is_near(found.per_trial, 0.25, 1e-6)
    assert found.note == ""


def test_one_dataset_identifies_nothing_and_reports_it() -> None:
    (found,) = copy_costs(RunData(*copy_run(copy_study(["ftp"], _TWO[:1]), _COSTS)), "copies")

    assert found.per_byte is found.per_file is found.per_trial is None
    assert found.note == "not identified: one dataset cannot separate bytes from files"


def test_datasets_of_equal_mean_size_identify_nothing() -> None:
    (found,) = copy_costs(
        RunData(*copy_run(copy_study(["ftp"], ["10x1MB", "20x1MB"]), _COSTS)), "copies"
    )

    assert found.per_byte is None
    assert found.note == "not identified: the datasets have files of one mean size"


def test_single_files_do_not_separate_file_and_trial_costs() -> None:
    study = copy_study(["ftp"], ["1x260kB", "1x1MB", "1x3MB"])
    (found,) = copy_costs(RunData(*copy_run(study, {"ftp": (1e-8, 2e-3, 0.25)})), "copies")

    assert is_near(found.per_byte, 1e-8, 1e-6) and is_near(found.per_trial, 0.252, 1e-6)
    assert found.per_file is None and found.residual_ratio == pytest.approx(0, abs=1e-6)
    assert found.note == "every dataset has 1 file: the cost of a trial is that of its files too"


def test_costs_that_change_with_the_size_are_noticed() -> None:
    study = copy_study(["ftp"], [*_TWO, "1x1kB", "20x1MB"])
    run, trials = copy_run(study, {"ftp": (1e-8, 2e-3, 0.25)}, spread=0.002)
    for trial in trials:
        if trial.metrics["copied_files"] == 20:
            trial.metrics["elapsed_s"] *= 1.1
    (found,) = copy_costs(RunData(run, trials), "copies")

    assert found.residual_ratio is not None and found.residual_ratio > 0.02
    assert found.p_lack is not None and found.p_lack < 0.001


def test_failed_trials_are_excluded_from_the_fit() -> None:
    run, trials = copy_run(
        copy_study(["ftp", "smb"], _TWO),
        _COSTS,
        fails=lambda planned: planned.parameters["service"] == "smb",
    )
    (found,) = copy_costs(RunData(run, trials), "copies")

    assert found.factors == {"service": "ftp"}


def test_a_dataset_with_a_single_trial_leaves_no_interval() -> None:
    (found,) = copy_costs(RunData(*copy_run(copy_study(["ftp"], _TWO, trials=1), _COSTS)), "copies")

    assert found.per_byte is not None and found.per_byte.low is None
    assert "no interval: a dataset has a single trial" in found.note


def test_a_cost_is_never_below_zero() -> None:
    """Many small files that are faster than one large one would make a file cost less than 0."""
    run = copy_run(copy_study(["ftp"], _TWO), {"ftp": (1e-8, -5e-4, 0.0)}, spread=0.01)
    (one,) = copy_costs(RunData(*run), "copies")

    assert one.per_file is not None and one.per_byte is not None and one.per_byte.low is not None
    assert (one.per_file.value, one.per_file.low) == (0, 0)
    # One cost of a byte for 62 MB in 0.62 s and 20 MB in 0.1 s.
    assert 0.1 / 20e6 < one.per_byte.value < 0.62 / 62e6
