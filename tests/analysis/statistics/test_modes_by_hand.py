"""Two modes where they are just to be seen, and one step beside."""

import math

import pytest

from lanlab.analysis.statistics.two_modes import TwoModes, two_modes


def about(*distances: float, middle: float = 80.0) -> list[float]:
    """A condition: its middle trial, and others at these distances of the logarithm from it."""
    return [middle, *(middle * math.exp(distance) for distance in distances)]


#: Four trials that are usual, one hundredth from the middle ones of their conditions.
USUAL = [about(-0.01, 0.01), about(0.01, -0.01, middle=0.5)]


@pytest.mark.parametrize(
    ("apart", "found"),
    [
        # By four times as far as the furthest usual one.
        ([about(-0.0401, 0.0401)], TwoModes(1.04, 2, 9)),
        ([about(-0.0399, 0.0399)], None),
        # About equally far: by half as much again.
        ([about(-0.05, 0.0749)], TwoModes(1.06, 2, 9)),
        ([about(-0.05, 0.0751)], None),
        # One is an outlier, wherever it stands.
        ([about(-0.05)], None),
        ([about(-0.05), about(0.05)], TwoModes(1.05, 2, 10)),
        ([about(-0.05), about(-0.05), about(-0.05)], TwoModes(1.05, 3, 12)),
        # One in between hides them.
        ([about(-0.05, 0.05), about(0.02)], None),
    ],
)
def test_a_second_mode_has_two_trials_equally_far_off(
    apart: list[list[float]], found: TwoModes | None
) -> None:
    assert two_modes([*USUAL, *apart]) == found
    assert two_modes([*apart, *reversed(USUAL)]) == found


def test_the_usual_mode_needs_four_trials() -> None:
    apart = about(-0.05, 0.05)
    assert two_modes([USUAL[0], about(0.01), apart]) is None
    assert two_modes([USUAL[0], about(0.01), about(-0.01), apart]) == TwoModes(1.05, 2, 10)


def test_with_twelve_usual_trials_a_nearer_mode_is_found() -> None:
    """At two and a half times as far, and those apart less alike: by 1.75."""
    many = [*USUAL, about(*[0.01] * 7)]
    assert two_modes([*many, about(0.01, -0.0251, 0.0435)]) == TwoModes(1.03, 2, 18)
    assert two_modes([*many, about(0.01, -0.0249, 0.03)]) is None
    assert two_modes([*many, about(0.01, -0.0251, 0.0445)]) is None
    assert two_modes([*many, about(-0.0251, 0.03)]) is None


def test_single_trials_and_zeros_show_no_modes() -> None:
    apart = about(-0.05, 0.05)
    assert two_modes([*USUAL, apart, [7.0], [0.0, 5.0, 5.0], [-1.0, 1.0]]) == TwoModes(1.05, 2, 9)
    assert two_modes([]) is None


def test_the_middle_of_an_even_number_is_the_lower_one() -> None:
    """Of 1, 1, 2 and 2.1 the second: the others are about twice as much."""
    exact = [[1.0, 1.0, 2.0, 2.1], [5.0, 5.0, 5.0, 5.0]]
    assert two_modes(exact) == TwoModes(2.05, 2, 8)
