"""The texts that a lesson prints about each result of a claim, read from the lesson's source without a run.

A text can contain values that only a run can measure. They are replaced by "…".
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

VALUE: Final = "…"
"""The replacement for a value that the lesson measures."""


@dataclass(frozen=True, slots=True)
class Said:
    """The texts of a lesson for the results of one claim. A text is empty if the lesson has none."""

    held: str = ""
    refuted: str = ""
    unclear: str = ""


@dataclass(frozen=True, slots=True)
class AskedLater:
    """A question that a lesson makes from earlier results, with "…" for measured values. A guess has no options."""

    question: str
    options: tuple[str, ...] = ()


def said_about_claims(file: Path) -> dict[str, Said]:
    """Return the texts of a lesson's file about each claim, by the claim's id."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    ids = dict(_claims(tree))
    found: dict[str, Said] = {}
    for call in _calls(tree, "words"):
        variable = ast.unparse(call.func).rpartition(".")[0]
        if variable in ids:
            before = found.get(ids[variable], Said())
            texts = {each.arg: text_of(each.value) for each in call.keywords if each.arg}
            found[ids[variable]] = Said(
                *(_joined(getattr(before, name), texts.get(name, "")) for name in ("held", "refuted", "unclear"))
            )
    return found


def asked_later(file: Path, function: str) -> AskedLater:
    """Return the question that a function of a lesson's file returns. Raise `ValueError` if it returns none."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Return) and isinstance(inner.value, ast.Call):
                    return _question(inner.value)
    raise ValueError(f"{file.name}: the function {function} does not return a question.")


def text_of(node: ast.expr) -> str:
    """Return the text of an expression. Parts that only a run can compute become "…"."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(map(text_of, values))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return text_of(left) + text_of(right)
        case ast.IfExp(body=body, orelse=other):
            return " / ".join(dict.fromkeys((text_of(body), text_of(other))))
        case _:
            return VALUE


def _question(call: ast.Call) -> AskedLater:
    question = text_of(call.args[0]) if call.args else VALUE
    options = call.args[1] if len(call.args) > 1 else None
    texts = [text_of(each) for each in options.values] if isinstance(options, ast.Dict) else []
    return AskedLater(question, tuple(texts))


def _claims(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the variable and the id of each claim."""
    for node in tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        call, target = node.value, node.targets[0]
        is_claim = isinstance(call.func, ast.Attribute) and call.func.attr == "claim"
        if is_claim and isinstance(target, ast.Name) and call.args and isinstance(call.args[0], ast.Constant):
            yield target.id, str(call.args[0].value)


def _calls(tree: ast.Module, method: str) -> Iterable[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method:
            yield node


def _joined(before: str, more: str) -> str:
    return before if not more.strip(f"{VALUE} ") else f"{before} {more}".strip()
