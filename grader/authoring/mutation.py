"""Make mutants of a source text: copies with one small change each, such as `<` for `<=` or a removed statement.

Only one function and the definitions that it uses are changed.
"""

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from harness import syntax

OTHER_OPERATORS: Final = {
    ast.Lt: "LtE GtE", ast.LtE: "Lt Gt", ast.Gt: "GtE LtE", ast.GtE: "Gt Lt", ast.Eq: "NotEq", ast.NotEq: "Eq",
    ast.Is: "IsNot", ast.IsNot: "Is", ast.In: "NotIn", ast.NotIn: "In", ast.Add: "Sub", ast.Sub: "Add",
    ast.Mult: "Div", ast.Div: "Mult FloorDiv", ast.FloorDiv: "Div", ast.Mod: "FloorDiv", ast.Pow: "Mult",
    ast.LShift: "RShift", ast.RShift: "LShift", ast.BitAnd: "BitOr", ast.BitOr: "BitAnd", ast.BitXor: "BitAnd",
    ast.And: "Or", ast.Or: "And",
}  # fmt: skip
"""The replacements of each operator. A comparison has its opposite, and one that treats equal values differently."""

_PAIRS: Final = "min max, amin amax, minimum maximum, argmin argmax, any all, floor ceil, float64 float32, int64 int32"
NAMES: Final = {one: other for pair in _PAIRS.split(", ") for one, other in (pair.split(), pair.split()[::-1])} | {
    "double": "float"
}
"""The replacement for each name of a function, method or dtype. The builtin `float` has no counterpart."""

UNCHANGED: Final = frozenset({"annotation", "returns", "decorator_list", "type_params", "bases"})
"""Fields of syntax tree nodes that are left unchanged, because the answer does not depend on them."""

KEYS: Final = {
    "always returns its first answer": "0",
    "always returns its first answer to an argument of the same shape or length": (
        'getattr(arguments[0], "shape", len(arguments[0]) if hasattr(arguments[0], "__len__") else 0)'
    ),
}
"""The expression for the key under which an answer is stored, by the description of each way to store answers."""

STORING: Final = """

_answers, _{function} = {{}}, {function}


def {function}(*arguments):
    return _answers.setdefault({key}, _{function}(*arguments))
"""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A source text with one small change in `line` of `file`: the statement `was` became `now`."""

    file: str
    line: int
    was: str
    now: str
    source: str


@dataclass(frozen=True)
class _Place:
    """A node, which is item or attribute `key` of `parent`. The statement `line` shows it, in the function `scope`."""

    parent: Any
    key: Any
    node: ast.AST
    line: ast.AST
    scope: ast.AST

    def put(self, node: ast.AST) -> None:
        if isinstance(self.parent, list):
            self.parent[self.key] = node
        else:
            setattr(self.parent, self.key, node)


def mutants(source: str, function: str, file: str = "") -> Iterator[Mutant]:
    """Yield each changed copy (mutant) of a function in `source`. Yield nothing if the function is missing.

    Raise `SyntaxError` if `source` is not Python.
    """
    tree = syntax.parse(source)
    plain = ast.unparse(tree)
    used, seen = _reachable(tree, function), {plain}
    for mutant in (*_edited(tree, used, file), *_storing(plain, used, function, file)):
        with suppress(SyntaxError, ValueError):  # a copy that does not compile
            compile(mutant.source, "mutant.py", "exec")
            if mutant.source not in seen:
                seen.add(mutant.source)
                yield mutant


def answers(source: str, function: str) -> Iterator[tuple[str, str, bool]]:
    """Yield each function defined at the top level, as an answer that is called `function`.

    Yield its name, the source text without other definitions of both names, and whether this is the text that `source`
    itself means. Raise `SyntaxError` if `source` is not Python.
    """
    tree = syntax.parse(source)
    defined = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
    last = max((at for at, each in enumerate(defined) if each.name == function), default=-1)
    for at, one in enumerate(defined):
        others = {one.name, function}
        kept = [each for each in tree.body if each is one or not others & set(_defined(each))]
        alias = [] if one.name == function else syntax.parse(f"{function} = {one.name}").body
        yield one.name, ast.unparse(ast.Module([*kept, *alias], [])), at == last


def used_alone(source: str, function: str) -> str:
    """Return a source text with blank lines in place of all that does not define a function, or a name that it uses.

    Line numbers stay the same. The text can be executed with the names of its module.
    """
    used = _reachable(syntax.parse(source), function)
    starts = [min([each.lineno, *(one.lineno for one in getattr(each, "decorator_list", []))]) for each in used]
    ends = [each.end_lineno or each.lineno for each in used]
    kept = {line for start, end in zip(starts, ends, strict=True) for line in range(start, end + 1)}
    return "\n".join(line if at in kept else "" for at, line in enumerate(source.splitlines(), start=1))


def _edited(tree: ast.Module, used: list[ast.stmt], file: str) -> Iterator[Mutant]:
    for statement in used:
        for place in _places(_Place(tree.body, tree.body.index(statement), statement, statement, statement)):
            was = _headline(place.line)
            for other, words in _replacements(place):
                place.put(other)
                now = words or _headline(other if place.line is place.node else place.line)
                text = ast.unparse(tree)
                place.put(place.node)
                yield Mutant(file, getattr(place.node, "lineno", 0), was, now, text)


def _storing(plain: str, used: list[ast.stmt], function: str, file: str) -> Iterator[Mutant]:
    line = max((each.lineno for each in used if function in _defined(each)), default=0)
    for words, key in KEYS.items() if line else ():
        yield Mutant(file, line, f"{function}(…)", words, plain + STORING.format(key=key, function=function))


def _reachable(tree: ast.Module, function: str) -> list[ast.stmt]:
    found, waiting = set[str](), [function]
    while waiting:
        found.add(name := waiting.pop())
        for each in (each for each in tree.body if name in _defined(each)):
            waiting += {node.id for node in ast.walk(each) if isinstance(node, ast.Name)} - found
    return [each for each in tree.body if found & set(_defined(each))]


def _defined(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    return _stored(statement) if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign) else []


def _stored(node: ast.AST) -> list[str]:
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]


def _headline(node: ast.AST) -> str:
    node = copy.copy(node)
    for field, empty in (("body", [ast.Pass()]), ("orelse", []), ("finalbody", []), ("decorator_list", [])):
        if isinstance(getattr(node, field, None), list):
            setattr(node, field, empty)
    return ast.unparse(node).strip().partition("\n")[0]


def _places(place: _Place) -> Iterator[_Place]:
    """Yield a place, and the places of all nodes in it whose change may change an answer."""
    yield place
    node = place.node
    if isinstance(node, ast.Raise | ast.Assert) or _is_text(node):
        return
    scope = node if isinstance(node, ast.FunctionDef) else place.scope
    in_text = isinstance(node, ast.JoinedStr | ast.FormattedValue)  # text and format specifications are not changed
    for field, value in ast.iter_fields(node):
        in_list = isinstance(value, list)
        held = [(value, at, each) for at, each in enumerate(value)] if in_list else [(node, field, value)]
        for parent, key, child in held if field not in UNCHANGED else ():
            if isinstance(child, ast.AST) and not (in_text and isinstance(child, ast.Constant | ast.JoinedStr)):
                shows_itself = isinstance(child, ast.stmt | ast.match_case | ast.ExceptHandler)
                yield from _places(_Place(parent, key, child, child if shows_itself else place.line, scope))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _replacements(place: _Place) -> Iterator[tuple[ast.AST, str]]:
    """Yield the replacements of a node. Words describe the change if the statement's first line does not show it."""
    node: Any = place.node
    if isinstance(node, ast.expr):
        yield from ((other, "") for other in _expressions(node))
    elif isinstance(node, ast.If):
        yield from ((_with(node, test=ast.Constant(value)), "") for value in (True, False))
    elif isinstance(node, ast.While):
        yield _with(node, test=ast.Constant(False)), ""
    elif isinstance(node, ast.AugAssign):
        yield from ((_with(node, op=other), "") for other in _other_operators(node.op))
    elif isinstance(node, ast.Continue):
        yield ast.Break(), ""
    if isinstance(node, ast.For | ast.While):
        yield _with(node, body=[*node.body, ast.Break()], orelse=[]), "(ends after its first round)"
    if _can_be_dropped(place):
        yield ast.Pass(), "(dropped)"


def _can_be_dropped(place: _Place) -> bool:
    node = place.node
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        times = Counter(_stored(place.scope))
        times.update(each.arg for each in ast.walk(place.scope) if isinstance(each, ast.arg))
        return node.value is not None and not any(times[name] == 1 for target in targets for name in _stored(target))
    body = getattr(place.scope, "body", None)
    if isinstance(node, ast.Return) and body is place.parent and place.key == len(body) - 1:
        return False
    kinds = ast.Expr | ast.AugAssign | ast.For | ast.With | ast.Return | ast.Raise | ast.Delete | ast.Break
    return isinstance(node, kinds) and not _is_text(node)


def _expressions(node: Any) -> Iterator[ast.expr]:
    if isinstance(node, ast.Constant):
        yield from map(ast.Constant, _other_values(node.value))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not | ast.Invert):
        yield node.operand
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in NAMES:
        yield _with(node, id=NAMES[node.id])
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr in {*NAMES, "float"}:
        yield _with(node, attr=NAMES.get(node.attr, "double"))
    elif isinstance(node, ast.Slice):
        yield from (_with(node, **{end: None}) for end in ("lower", "upper", "step") if getattr(node, end))
    elif isinstance(node, ast.Compare):
        for at, operator in enumerate(node.ops):
            yield from (_with(node, ops=_put(node.ops, at, other)) for other in _other_operators(operator))
    elif isinstance(node, ast.BinOp | ast.BoolOp):
        yield from (_with(node, op=other) for other in _other_operators(node.op))
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.Call):
        yield from (_with(node, keywords=_put(node.keywords, at)) for at, each in enumerate(node.keywords) if each.arg)
        if isinstance(node.func, ast.Name) and node.func.id == "sorted":
            yield ast.Call(ast.Name("list", ast.Load()), node.args, [])
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        for at, each in enumerate(node.generators):
            for number in range(len(each.ifs)):
                free = _with(each, ifs=_put(each.ifs, number))
                yield _with(node, generators=_put(node.generators, at, free))


def _other_operators(operator: ast.AST) -> Iterator[ast.AST]:
    yield from (getattr(ast, name)() for name in OTHER_OPERATORS.get(type(operator), "").split())


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


def _put(items: list[Any], at: int, *others: Any) -> list[Any]:
    return [*items[:at], *others, *items[at + 1 :]]


def _with(node: Any, **fields: Any) -> Any:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
