"""Sums over published numbers: what can be said, what comes out, and what is refused."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanlab.studies.expressions import MAX_LENGTH, BadExpression, evaluate

NUMBERS = {"a": 263.0, "t1.b-c": 19.0, "zero": 0.0}


def found(expression: str) -> bool | float:
    return evaluate(expression, NUMBERS.__getitem__)


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("1 + 2 * 3 - 4 / 8", 6.5),
        ("-(2 - 5)", 3),
        ("1 / 3", 1 / 3),
        ("value('a') / value('t1.b-c')", 263 / 19),
        ("round(8 * 623 / value('a')) == value('t1.b-c')", True),
        ("round(8 * 623 / value('a')) != value('t1.b-c')", False),
        ("1 < 2 < 3", True),
        ("1 < 3 < 2", False),
        ("2 >= 2 and 2 <= 2", True),
        ("1 > 2 or 3 > 2", True),
        ("not 1 > 2", True),
        ("not (1 < 2 and 2 < 3)", False),
        ("abs(3 - 5)", 2),
        ("min(3, 1, 2) + max(3, 1, 2)", 4),
        ("0.1 + 0.2 == 0.3", False),
        ("  1e3  ", 1000),
    ],
)
def test_expressions_have_their_value(expression: str, result: bool | float) -> None:
    assert found(expression) == result
    assert isinstance(found(expression), bool) == isinstance(result, bool)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "what is no expression"),
        ("1 +", "what is no expression"),
        ("a = 1", "what is no expression"),
        ("\0", "what is no expression"),
        ("(" * 500 + "1" + ")" * 500, "what is no expression"),
        ("1; 2", "what is no expression"),
        ("__import__('os')", "found `__import__`; allowed: numbers,"),
        ("value.__class__", "found `value.__class__`"),
        ("(lambda: 1)()", "allowed: numbers,"),
        ("[1, 2]", "found `[1, 2]`"),
        ("'a'", "found `'a'`"),
        ("True", "found `True`"),
        ("x", "found `x`"),
        ("2 ** 9", "found `2 ** 9`"),
        ("7 // 2", "found `7 // 2`"),
        ("1 if 2 > 1 else 3", "allowed: numbers,"),
        ("1 in (1, 2)", "found `(1, 2)`"),
        ("1 is 1", "found `Is`"),
        ("1j", "found `1j`"),
        ("value('no')", "no published number `no`; allowed: the id of one that has a value"),
        ("value(a)", "found `value(a)`; allowed: value('ID')"),
        ("value('a', 'a')", "allowed: value('ID')"),
        ("value(name='a')", "found `value(name='a')`"),
        ("abs(1, 2)", "found 2 arguments of `abs`; allowed: 1"),
        ("min(1)", "found 1 arguments of `min`; allowed: 2 to 20"),
        ("round(1.25, 1)", "found 2 arguments of `round`; allowed: 1"),
        ("min(*value('a'))", "found 1 arguments of `min`"),
        ("1 and 2", "found the number `1`; allowed: a comparison there"),
        ("not 1", "found the number `1`"),
        ("(1 < 2) + 1", "found `1 < 2`"),
        ("1 / value('zero')", "found `1 / value('zero')`, which is not finite"),
        ("1e308 * 10", "which is not finite"),
        ("1e400", "which is not finite"),
        ("9" * 400, "which is not finite"),
        # Behind what decides already, too.
        ("1 < 2 or value('no') > 1", "no published number `no`"),
        ("+".join("1" * (MAX_LENGTH // 2 + 2)), f"allowed: at most {MAX_LENGTH}"),
        ("-" * 60 + "1", "allowed: at most 40 deep"),
        ("a" + ".b" * 400, "allowed: at most 40 deep"),
        ("value('a')" + "[1]" * 400 + " > 1", "allowed: at most 40 deep"),
        ("lambda: " * 200 + "1", "allowed: at most 40 deep"),
    ],
)
def test_inexpressible_statements_are_refused_with_the_allowed_forms(
    expression: str, message: str
) -> None:
    with pytest.raises(BadExpression) as caught:
        found(expression)

    assert message in str(caught.value)


_PARTS = st.sampled_from(
    ["1", "0", "2.5", "value('a')", "value('no')", "+", "-", "*", "/", "<", "==", "and", "or",
     "not", "(", ")", ",", "min(", "abs(", "round(", "x", "'", "**", "9" * 400, "1e400"]
)  # fmt: skip


@given(st.lists(_PARTS, max_size=25).map(" ".join) | st.text(max_size=30))
def test_any_expression_is_finite_or_refused(text: str) -> None:
    try:
        answer = found(text)
    except BadExpression:
        return
    assert isinstance(answer, bool) or math.isfinite(answer)
