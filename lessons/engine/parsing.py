"""Read the document of a lesson. Each mistake is a `DocumentError` that names the file and the line."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

import yaml  # type: ignore[import-untyped]
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from lessons.engine.document import (
    Block,
    ClaimBlock,
    Document,
    DocumentStep,
    QuestionBlock,
    RecallBlock,
    Shown,
    Words,
)
from lessons.engine.predict import LETTERS, Choice
from lessons.engine.templates import ClaimCondition, DocumentError, Place, Template, formatter

__all__ = ["DocumentError", "load", "parse"]

KEY_POINTS: Final = "Key points"
REFERENCES: Final = "References"
RECALL: Final = "Recall"
SHOWN: Final = ("table", "histogram", "drawing", "output", "photo")

_STEP: Final = re.compile(r"(?P<title>.*?)\s*\{#(?P<name>\w+)(?P<optional>\s+\.optional)?\}$")
_DIRECTIVE: Final = re.compile(r"\{(?P<kind>[\w-]+)\}\s*(?P<argument>.*)$")
_OPTION: Final = re.compile(r":(?P<name>[\w-]+):\s?(?P<value>.*)$")
_ITEM: Final = re.compile(r"(?:^|\s)- ")

_IN_CHINESE: Final = re.compile(
    r"(?<=[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]) (?=[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef])"
)

T = TypeVar("T")


def load(file: Path) -> Document:
    """Read the document in `file`. Raise `DocumentError` if it has a mistake."""
    return parse(file, file.read_text(encoding="utf-8"))


@cache
def parse(file: Path, text: str) -> Document:
    """Return the document with this text. Errors name `file`. Raise `DocumentError` if the text has a mistake."""
    tokens = MarkdownIt("commonmark").use(front_matter_plugin).use(colon_fence_plugin).parse(text)
    header: Mapping[str, object] = {}
    if tokens and tokens[0].type == "front_matter":
        header = yaml.safe_load(tokens[0].content)
        tokens = tokens[1:]
    steps, ending = [], dict[str, list[Token]]()
    for title, place, body in _sections(file, tokens):
        if title in {KEY_POINTS, REFERENCES, RECALL}:
            ending[title] = body
        else:
            steps.append(_step(title, place, _parts(file, body)))
    return Document(
        file,
        {name: _flowed(str(value)) for name, value in header.items()},
        tuple(steps),
        tuple(_items(ending.get(KEY_POINTS, []))),
        tuple(_items(ending.get(REFERENCES, []))),
        tuple(_recall(each) for each in _parts(file, ending.get(RECALL, [])) if isinstance(each, Directive)),
    )


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive `:::{kind} argument` with its options and its text."""

    kind: str
    argument: str
    options: dict[str, str]
    text: str
    place: Place

    @classmethod
    def of(cls, token: Token, place: Place) -> "Directive":
        """Return the directive of a token. Its options are the first lines; indented lines continue an option."""
        named = _DIRECTIVE.match(token.info.strip())
        if not named:
            raise place.error(f"`:::{token.info}` is not a directive. Write `:::{{kind}} argument`.")
        options, name = dict[str, str](), ""
        lines = token.content.splitlines()
        while lines and ((found := _OPTION.match(lines[0])) or (name and lines[0].startswith("  "))):
            name = found["name"] if found else name
            options[name] = _flowed(f"{options.get(name, '')} {found['value'] if found else lines[0]}")
            lines.pop(0)
        return cls(named["kind"], named["argument"], options, _flowed(" ".join(lines)), place)

    def take(self, name: str, default: str = "") -> str:
        """Return an option and remove it, so that `finish` can report options that do not exist."""
        return self.options.pop(name, default)

    def template(self, name: str) -> Template | None:
        """Return an option as a template, or None if it is missing."""
        return Template(self.take(name), self.place) if name in self.options else None

    def items(self, name: str) -> tuple[str, ...]:
        """Return the items `- text` of an option."""
        text = self.take(name)
        return tuple(part.strip() for part in _ITEM.split(text) if part.strip()) if text else ()

    def numbers(self, name: str) -> tuple[float, ...]:
        """Return the numbers of an option, separated by commas."""
        try:
            return tuple(float(each) for each in self.take(name).split(",") if each.strip())
        except ValueError as error:
            raise self.place.error(f":{name}: must be numbers with commas between them.") from error

    def finish(self, made: T) -> T:
        """Return `made`. Raise `DocumentError` if an option is left."""
        if self.options:
            raise self.place.error(f"{{{self.kind}}} has no option {', '.join(map(repr, self.options))}.")
        return made


Part = Words | Directive


def _sections(file: Path, tokens: Sequence[Token]) -> Iterator[tuple[str, Place, list[Token]]]:
    """Yield the title, the place and the tokens of each section. A section begins with a heading of level 2."""
    starts = [at for at, token in enumerate(tokens) if token.type == "heading_open"]
    if tokens and (not starts or starts[0]):
        raise _place(file, tokens[0]).error("A text is before the first heading. Move it into the header or a step.")
    for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        place = _place(file, tokens[start])
        if tokens[start].tag != "h2":
            raise place.error("A heading begins with `##`.")
        yield tokens[start + 1].content, place, list(tokens[start + 3 : end])


def _place(file: Path, token: Token) -> Place:
    return Place(file, (token.map or [0])[0] + 1)


def _parts(file: Path, tokens: Sequence[Token]) -> list[Part]:
    """Return the paragraphs and directives of a section."""
    parts: list[Part] = []
    for token in tokens:
        place = _place(file, token)
        if token.type == "colon_fence":
            parts.append(Directive.of(token, place))
        elif token.type == "inline":
            parts.append(Words(Template(_flowed(token.content), place)))
        elif not token.type.startswith("paragraph_"):
            raise place.error(f"A step has paragraphs and directives, but not {token.type.removesuffix('_open')}.")
    return parts


def _flowed(text: str) -> str:
    """Return a text on one line. Between two Chinese characters, the end of a line is no space."""
    return _IN_CHINESE.sub("", " ".join(text.split()))


def _items(tokens: Sequence[Token]) -> Iterator[str]:
    return (_flowed(token.content) for token in tokens if token.type == "inline")


def _step(heading: str, place: Place, parts: Sequence[Part]) -> DocumentStep:
    named = _STEP.match(heading)
    if not named:
        raise place.error(f"The heading {heading!r} does not end with the name of its step, such as {{#one_call}}.")
    runs = [at for at, part in enumerate(parts) if isinstance(part, Directive) and part.kind == "run"]
    if len(runs) != 1:
        raise place.error(f"The step {named['name']} has {len(runs)} directives {{run}}. A step has one.")
    before, run, after = parts[: runs[0]], parts[runs[0]], parts[runs[0] + 1 :]
    assert isinstance(run, Directive)
    if misplaced := next((part for part in before if isinstance(part, Directive)), None):
        raise misplaced.place.error("Only paragraphs can be above the code of a step.")
    code = tuple(name.strip() for name in run.argument.split(",")) if run.argument else (named["name"],)
    if code[-1] != named["name"]:
        raise run.place.error(f"{{run}} must name the step's own function {named['name']} last.")
    questions = [part for part in after if isinstance(part, Directive) and part.kind == "question"]
    if len(questions) > 1 or (questions and after[0] is not questions[0]):
        raise questions[-1].place.error("A step has at most one question, directly after {run}.")
    return DocumentStep(
        name=named["name"],
        title=named["title"],
        optional=bool(named["optional"]),
        introduction=tuple(part.text.text for part in before if isinstance(part, Words)),
        code=code,
        fast=dict(_arguments(run)),
        needs=run.take("needs"),
        question=_question(questions[0]) if questions else None,
        blocks=tuple(_block(part) for part in after if part not in questions),
        place=run.finish(place),
    )


def _arguments(run: Directive) -> Iterator[tuple[str, float]]:
    for each in filter(None, run.take("fast").split(",")):
        name, _, value = each.partition("=")
        try:
            yield name.strip(), float(value) if "." in value or "e" in value else int(value)
        except ValueError as error:
            raise run.place.error(":fast: must be arguments such as `calls=1000, seconds=0.2`.") from error


def _block(part: Part) -> Block:
    if isinstance(part, Words):
        return part
    if part.kind == "claim":
        return _claim(part)
    if part.kind in SHOWN:
        return _shown(part)
    raise part.place.error(f"There is no directive {{{part.kind}}} here. Directives: claim, {', '.join(SHOWN)}.")


def _claim(given: Directive) -> ClaimBlock:
    if not given.argument or not given.text:
        raise given.place.error("A claim needs an id and a sentence.")
    condition = ClaimCondition.parse(given.take("holds"), given.place)
    unit = given.take("unit", "number" if condition.at_least != condition.at_most else "count")
    formatter(unit, given.place)
    return given.finish(
        ClaimBlock(
            given.argument,
            given.text,
            condition,
            unit,
            held=given.template("held"),
            refuted=given.template("refuted"),
            unclear=given.template("unclear"),
            value=given.template("value"),
            remark=given.template("remark"),
            disturbed=given.take("disturbed"),
            place=given.place,
        )
    )


def _question(given: Directive) -> QuestionBlock:
    is_guess = "guess" in given.options
    made = QuestionBlock(
        given.argument,
        Template(given.text, given.place),
        choices=given.items("choices"),
        limits=given.numbers("limits"),
        unit=given.take("unit", "number"),
        guess=given.take("guess") if is_guess else None,
        near=float(given.take("near", "2")),
        expected=given.take("expected"),
        depends_on=given.take("depends-on"),
        wrong_reasoning=given.take("wrong-reasoning"),
        place=given.place,
    )
    if not made.figure or not given.text or not made.expected:
        raise given.place.error("A question needs the figure that answers it, a text and :expected:.")
    if is_guess + bool(made.choices or made.limits) != 1:
        raise given.place.error("A question has either :guess: with a unit, or :choices:, or :limits: with a :unit:.")
    return given.finish(made)


def _shown(given: Directive) -> Shown:
    columns = [each.rpartition("|") for each in given.items("columns")]
    heads = tuple((head.strip() or unit.strip(), unit.strip() if sign else "") for head, sign, unit in columns)
    if (given.kind == "table") != bool(heads):
        raise given.place.error(f"{{{given.kind}}} needs :columns:" if not heads else ":columns: belongs to {table}.")
    if len(dict(heads)) < len(heads):
        raise given.place.error("Two columns have the same head.")
    of_samples = given.take("unit", "seconds") if given.kind == "histogram" else ""
    for unit in filter(None, (of_samples, *(unit for _, unit in heads))):
        formatter(unit, given.place)
    caption = Template(given.text, given.place)
    labels = given.items("labels")
    return given.finish(Shown(given.kind, given.argument, caption, heads, labels, of_samples, given.place))


def _recall(given: Directive) -> RecallBlock:
    choices, right = given.items("choices"), given.take("right")
    if given.kind != "recall" or right not in LETTERS[: len(choices)] or not right:
        raise given.place.error("A {recall} needs :choices: and the letter of the right one as :right:.")
    choice = Choice.of(given.text, choices)
    return given.finish(RecallBlock(choice, right, given.take("because"), given.take("key-point")))
