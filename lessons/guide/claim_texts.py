"""The texts that a lesson prints about each result of a claim, read from the lesson's source without a run.

A text can contain values that only a run can measure. A recorded paragraph can supply them.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

VALUE: Final = "\N{OBJECT REPLACEMENT CHARACTER}"
"""The replacement for a value that the lesson measures. The pages show it as "…"."""

_SENTENCE_STARTS: Final = re.compile(r"^|(?<=[.:?!] )")


@dataclass(frozen=True, slots=True)
class Said:
    """The texts of a lesson for the results of one claim. A text is empty if the lesson has none."""

    held: str = ""
    refuted: str = ""
    unclear: str = ""


@dataclass(frozen=True, slots=True)
class AskedLater:
    """A question that a lesson makes from earlier results, with `VALUE` for each measured value.

    A guess has no options.
    """

    question: str
    options: tuple[str, ...] = ()


def said_about_claims(file: Path) -> dict[str, list[Said]]:
    """Return the texts of a lesson's file about each claim, by the claim's id. A claim can have several texts."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    ids = dict(_claims(tree))
    found: dict[str, list[Said]] = {}
    for call in _calls(tree, "words"):
        variable = ast.unparse(call.func).rpartition(".")[0]
        if variable in ids:
            texts = {each.arg: text_of(each.value) for each in call.keywords if each.arg}
            said = Said(*(texts.get(name, "") for name in ("held", "refuted", "unclear")))
            found.setdefault(ids[variable], []).append(said)
    return found


def joined(texts: Iterable[str]) -> str:
    """Return texts as one paragraph, without those that consist of measured values alone."""
    return " ".join(text.strip() for text in texts if text.strip(f"{VALUE} "))


def filled(text: str, paragraphs: Sequence[str]) -> str:
    """Return a text with its values from the recorded paragraph that contains it.

    If there is no such paragraph, return the text unchanged.
    """
    if VALUE not in text or not text.strip(f"{VALUE} "):
        return text
    pattern = re.compile(".+?".join(map(re.escape, text.strip().split(VALUE))) + r"(?= |$)")
    starts = ((paragraph, start.start()) for paragraph in paragraphs for start in _SENTENCE_STARTS.finditer(paragraph))
    found = [match[0] for paragraph, start in starts if (match := pattern.match(paragraph, start))]
    return min(found, key=len, default=text)


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
    """Return the text of an expression. Parts that only a run can compute become `VALUE`."""
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
