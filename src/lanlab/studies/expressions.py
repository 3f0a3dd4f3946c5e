"""
Small expressions over published numbers, for discrepancies and findings.

`abs(value('t.a') / value('t.b') - 1) < 0.02`: numbers, `+ - * /`, comparisons, `and`, `or`, `not`,
`abs`, `min`, `max`, `round`, and `value('ID')`, the published number with that id in its published
unit. Nothing else is allowed, so that expressions from any study file can be evaluated safely.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
from collections.abc import Callable

#: Longest expression; the longest in lanlab's own studies has about 500 characters.
MAX_LENGTH = 2000
MAX_DEPTH = 40
_MAX_NODES = MAX_DEPTH + 3

_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FUNCTIONS: dict[str, tuple[Callable[..., float], int, int]] = {
    "abs": (abs, 1, 1),
    "min": (min, 2, 20),
    "max": (max, 2, 20),
    # With no digits given, Python would return an int; both round half to even.
    "round": (round, 1, 1),
}
_ALLOWED = "numbers, + - * /, < <= == != >= >, and, or, not, abs, min, max, round, value('ID')"


class BadExpression(ValueError):
    """An error of an expression: what was found, and what is allowed."""

    def __init__(self, found: str, allowed: str = _ALLOWED) -> None:
        super().__init__(f"found {found}; allowed: {allowed}")
        self.found = found
        self.allowed = allowed


def evaluate(expression: str, value: Callable[[str], float]) -> bool | float:
    """
    The value of an expression.

    Args:
        expression: In the language above, at most `MAX_LENGTH` characters.
        value: The number of an id, in its published unit; raises `KeyError` for an unknown id.

    Returns:
        A truth value for a comparison or a combination of such, else a finite number.

    Raises:
        BadExpression: It uses anything else, names an unknown id, divides by zero, or is not
            finite.

    Examples:
        >>> evaluate("round(8 * 623 / value('time')) == 19", {"time": 263.0}.__getitem__)
        True
    """
    return _Reader(value).any(_parsed(expression), MAX_DEPTH)


def _parsed(expression: str) -> ast.expr:
    if len(expression) > MAX_LENGTH:
        raise BadExpression(f"{len(expression)} characters", f"at most {MAX_LENGTH}")
    try:
        found = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BadExpression("what is no expression") from None
    # Check the depth before any recursion over the tree, including that for error messages.
    level: list[ast.AST] = [found]
    for _ in range(_MAX_NODES):
        level = [below for node in level for below in ast.iter_child_nodes(node)]
        if not level:
            return found
    raise _too_deep()


def _too_deep() -> BadExpression:
    return BadExpression("operations within operations", f"at most {MAX_DEPTH} deep")


class _Reader:
    """Evaluates a tree, including operands after `or` and `and`, so that their errors are found."""

    def __init__(self, value: Callable[[str], float]) -> None:
        self._value = value

    def any(self, node: ast.expr, depth: int) -> bool | float:
        if depth == 0:
            raise _too_deep()
        match node:
            case ast.BoolOp(op=joint, values=parts):
                truths = [self._truth(part, depth - 1) for part in parts]
                return all(truths) if isinstance(joint, ast.And) else any(truths)
            case ast.UnaryOp(op=ast.Not(), operand=part):
                return not self._truth(part, depth - 1)
            case ast.Compare(left=left, ops=kinds, comparators=others):
                numbers = [self._number(part, depth - 1) for part in (left, *others)]
                return all(
                    self._compared(kind, *pair)
                    for kind, pair in zip(kinds, itertools.pairwise(numbers), strict=True)
                )
            case _:
                return self._number(node, depth)

    def _compared(self, kind: ast.cmpop, a: float, b: float) -> bool:
        if type(kind) not in _COMPARISONS:
            raise BadExpression(f"`{type(kind).__name__}`")
        return _COMPARISONS[type(kind)](a, b)

    def _truth(self, node: ast.expr, depth: int) -> bool:
        found = self.any(node, depth)
        if not isinstance(found, bool):
            raise BadExpression(f"the number `{ast.unparse(node)}`", "a comparison there")
        return found

    def _number(self, node: ast.expr, depth: int) -> float:
        if depth == 0:
            raise _too_deep()
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                found = self._done(lambda: number, node)
            case ast.UnaryOp(op=ast.USub(), operand=part):
                found = -self._number(part, depth - 1)
            case ast.BinOp(left=left, op=kind, right=right) if type(kind) in _ARITHMETIC:
                a, b = self._number(left, depth - 1), self._number(right, depth - 1)
                found = self._done(lambda: _ARITHMETIC[type(kind)](a, b), node)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                found = self._called(name, arguments, node, depth)
            case _:
                raise BadExpression(f"`{ast.unparse(node)[:60]}`")
        return found

    def _called(self, name: str, arguments: list[ast.expr], node: ast.expr, depth: int) -> float:
        if name == "value":
            match arguments:
                case [ast.Constant(value=str() as identifier)]:
                    try:
                        return self._value(identifier)
                    except KeyError:
                        raise BadExpression(
                            f"no published number `{identifier}`", "the id of one that has a value"
                        ) from None
            raise BadExpression(f"`{ast.unparse(node)[:60]}`", "value('ID')")
        if name not in _FUNCTIONS:
            raise BadExpression(f"`{name}`")
        function, least, most = _FUNCTIONS[name]
        if not least <= len(arguments) <= most:
            allowed = f"{least}" if least == most else f"{least} to {most}"
            raise BadExpression(f"{len(arguments)} arguments of `{name}`", allowed)
        numbers = [self._number(argument, depth - 1) for argument in arguments]
        return self._done(lambda: function(*numbers), node)

    def _done(self, operation: Callable[[], float], node: ast.expr) -> float:
        try:
            found = float(operation())
        except (ZeroDivisionError, OverflowError):
            found = math.inf
        if not math.isfinite(found):
            raise BadExpression(
                f"`{ast.unparse(node)[:60]}`, which is not finite", "finite numbers"
            )
        return found
