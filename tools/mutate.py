"""
Small faults that can be put into a Python file, one at a time; `tools/mutants.py` tries them.

No fault is made where none could show, or where a type or a sentence is all that changes:

1. in texts, docstrings, annotations, decorators and what an error says;
2. in `__repr__` and `__str__`, and in what only a type checker runs;
3. in `strict=` of `zip` and in `encoding=`, which change nothing on the machines that tests have;
4. in the order of the arguments of `min`, `max` and their like.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARE: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_CALLED = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}
_EITHER_WAY = {"min", "max", "hypot", "gcd", "minimum", "maximum", "isclose", "allclose"}
_SPOKEN = {"__repr__", "__str__"}
_UNSEEN = ("hint", "description", "title", "strict", "encoding")
_TEXT = (ast.JoinedStr, ast.FormattedValue)


@dataclass(frozen=True)
class Mutant:
    """One fault: where, what it looks like, and the whole file with it."""

    line: int
    end_line: int
    #: Its function or class, to find it again.
    where: str
    was: str
    now: str
    source: str

    @property
    def told(self) -> str:
        """Without its line, which moves, and on one line."""
        was, now = (" ".join(text.split()) for text in (self.was, self.now))
        return f"({self.where}): `{was}` -> `{now}`"

    def __str__(self) -> str:
        return f"{self.line} {self.told}"


def mutants(source: str) -> list[Mutant]:
    """Every fault that can be put into this file, in the order of its lines."""
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    octets = source.encode()
    found: dict[str, Mutant] = {}
    for node, where, decides in _places(tree, "module"):
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        was = octets[begin:end].decode()
        as_it_is = ast.unparse(node)
        for changed in _changes(node, decides):
            now = changed if isinstance(changed, str) else ast.unparse(changed)
            # Brackets keep what binds looser than the place it stands in.
            text = f"({now})" if isinstance(node, ast.expr) else now
            whole = (octets[:begin] + text.encode() + octets[end:]).decode()
            if now != as_it_is:
                found.setdefault(
                    whole, Mutant(node.lineno, node.end_lineno, where, was, now, whole)
                )
    return sorted(found.values(), key=lambda mutant: (mutant.line, mutant.was, mutant.now))


def _places(node: ast.AST, where: str) -> Iterator[tuple[ast.AST, str, bool]]:
    """Each node that may be changed, its function, and whether something depends on its truth."""
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or _left_out(node, field, child):
                continue
            inner = where
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = child.name if where == "module" else f"{where}.{child.name}"
            if hasattr(child, "lineno"):
                yield child, inner, field in ("test", "ifs")
            yield from _places(child, inner)


def _left_out(parent: ast.AST, field: str, child: ast.AST) -> bool:
    if field in ("annotation", "returns", "type_params", "decorator_list", "bases"):
        return True
    if isinstance(child, _TEXT) or isinstance(parent, ast.Raise):
        return True
    if isinstance(parent, ast.keyword) and parent.arg in _UNSEEN:
        return True
    if isinstance(child, ast.FunctionDef) and child.name in _SPOKEN:
        return True
    if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
        return True
    return isinstance(child, ast.Assign) and ast.unparse(child.targets[0]) == "__all__"


def _with(node: ast.AST, **fields: object) -> ast.AST:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, _TEXT) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def _changes(node: ast.AST, decides: bool) -> Iterator[ast.AST | str]:
    if decides and not isinstance(node, ast.Compare | ast.UnaryOp):
        yield ast.UnaryOp(op=ast.Not(), operand=node)
    match node:
        case ast.Compare(ops=[operator]):
            for other in _COMPARE[type(operator)]:
                yield _with(node, ops=[other()])
        case ast.Compare(ops=[first, *rest]):
            yield _with(node, ops=[_COMPARE[type(first)][0](), *rest])
            yield _with(node, ops=[first, *rest[:-1], _COMPARE[type(rest[-1])][0]()])
        case (
            ast.BinOp(left=left, op=op, right=right)
            | ast.AugAssign(target=left, op=op, value=right)
        ):
            if type(op) in _ARITHMETIC and not _is_text(left) and not _is_text(right):
                yield _with(node, op=_ARITHMETIC[type(op)]())
        case ast.BoolOp(op=op):
            yield _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.Constant(value=bool() as value):
            yield str(not value)
        case ast.Constant(value=int() as value):
            yield str(value + 1)
        case ast.Constant(value=float() as value):
            yield repr(value * 1.1 if value else 1.0)
        case ast.IfExp():
            yield node.body
            yield node.orelse
        case ast.Expr(value=ast.Call()) | ast.Raise():
            yield "pass"
        case ast.Continue():
            yield "break"
        case ast.Break():
            yield "continue"
        case ast.Call():
            yield from _calls(node)


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    name = ast.unparse(node.func)
    head, _, last = name.rpartition(".")
    if last in _CALLED:
        other = f"{head}.{_CALLED[last]}" if head else _CALLED[last]
        yield _with(node, func=ast.parse(other, mode="eval").body)
    if (
        last not in _EITHER_WAY
        and len(node.args) >= 2
        and not any(isinstance(it, ast.Starred) for it in node.args[:2])
    ):
        yield _with(node, args=[node.args[1], node.args[0], *node.args[2:]])
    for at, keyword in enumerate(node.keywords):
        if keyword.arg not in (None, *_UNSEEN):
            yield _with(node, keywords=node.keywords[:at] + node.keywords[at + 1 :])
