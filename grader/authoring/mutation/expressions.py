"""Replace one expression of a syntax tree: a comparison, an operator, a constant, a dtype, or a function's name."""

import ast
import copy
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

COMPARISONS: Final[Mapping[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
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
"""The replacements of each comparison: its opposite, and the comparison that treats equal values differently."""

OPERATORS: Final[Mapping[type[ast.operator], tuple[type[ast.operator], ...]]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Div,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitAnd,),
}

_PAIRS: Final = (
    ("min", "max"),
    ("amin", "amax"),
    ("minimum", "maximum"),
    ("argmin", "argmax"),
    ("any", "all"),
    ("floor", "ceil"),
    ("float64", "float32"),
    ("int64", "int32"),
    ("double", "float"),
)
NAMES: Final = {**dict(_PAIRS), **{other: one for one, other in _PAIRS}}
"""The replacement for each name of a function, method or dtype."""

ONE_WAY: Final = frozenset({"float"})
"""Names that are replaced only as attributes, as in `torch.float`. The builtin `float` has no counterpart `double`."""


def alternatives(node: ast.expr) -> Iterator[ast.expr]:
    """Yield changed versions of the expression `node`, such as `a <= b` for `a < b`."""
    if isinstance(node, ast.Constant):
        yield from map(_constant, _other_values(node.value))
    elif isinstance(node, ast.UnaryOp):
        yield from _dropped(node)
    elif isinstance(node, ast.Name | ast.Attribute):
        yield from _renamed(node)
    elif isinstance(node, ast.Slice):
        yield from (_with(node, **{end: None}) for end in ("lower", "upper", "step") if getattr(node, end))
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        yield from _unfiltered(node)
    else:
        yield from chain(_operators(node), _choices(node), _calls(node))


def _operators(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.Compare):
        for at, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                yield _with(node, ops=[*node.ops[:at], other(), *node.ops[at + 1 :]])
    elif isinstance(node, ast.BinOp):
        yield from (_with(node, op=other()) for other in OPERATORS.get(type(node.op), ()))
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())


def _choices(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)


def _calls(node: ast.expr) -> Iterator[ast.expr]:
    """Yield copies of a call that each lack one keyword argument, and `list(items)` for `sorted(items)`."""
    if not isinstance(node, ast.Call):
        return
    for at, keyword in enumerate(node.keywords):
        if keyword.arg:
            yield _with(node, keywords=[*node.keywords[:at], *node.keywords[at + 1 :]])
    if isinstance(node.func, ast.Name) and node.func.id == "sorted":
        yield ast.Call(ast.Name("list", ast.Load()), node.args, [])


def _dropped(node: ast.UnaryOp) -> Iterator[ast.expr]:
    if isinstance(node.op, ast.USub | ast.Not | ast.Invert):
        yield node.operand


def _renamed(node: ast.Name | ast.Attribute) -> Iterator[ast.expr]:
    name = node.id if isinstance(node, ast.Name) else node.attr
    if name not in NAMES or not isinstance(node.ctx, ast.Load):
        return
    if isinstance(node, ast.Attribute):
        yield _with(node, attr=NAMES[name])
    elif name not in ONE_WAY:
        yield _with(node, id=NAMES[name])


def _unfiltered(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> Iterator[ast.expr]:
    for at, each in enumerate(node.generators):
        for number in range(len(each.ifs)):
            free = copy.copy(each)
            free.ifs = [*each.ifs[:number], *each.ifs[number + 1 :]]
            yield _with(node, generators=[*node.generators[:at], free, *node.generators[at + 1 :]])


def _other_values(value: object) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1)
    elif isinstance(value, float):
        yield from (value * 2, value / 2) if value else (1.0,)
    elif isinstance(value, str) and value in NAMES:
        yield NAMES[value]
    elif isinstance(value, str | bytes) and value:
        yield type(value)()


def _constant(value: Any) -> ast.expr:
    if isinstance(value, int | float) and value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def _with(node: Any, **fields: Any) -> Any:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
