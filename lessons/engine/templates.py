"""The templates in a lesson's document: `{{ figure | unit }}`, and conditions on claims and figures.

Templates are Jinja's, in its sandbox. A name that does not exist is an error, which names the file and the line.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

from jinja2 import StrictUndefined, TemplateError, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from harness.errors import UsageError
from harness.rendering import units
from lessons.engine.figures import Lacking
from lessons.engine.interval import Interval


def signed(value: float, unit: str = "number") -> str:
    """Return a number in `unit`, with a plus sign if it is positive. In "percent", 0.03 is "+3 %"."""
    return f"{'+' if value > 0 else ''}{UNITS[unit](value)}"


UNITS: Final[Mapping[str, Callable[..., str]]] = {
    "seconds": units.seconds,
    "ratio": units.ratio,
    "percent": units.percent,
    "size": units.size,
    "count": units.count,
    "number": units.number,
    "some": units.some,
    "signed": signed,
    "change": lambda fraction: signed(round(fraction, 6), "percent"),
    "followed": lambda value, after, unit="count": f"{UNITS[unit](value)} {after}",
    "yes_no": lambda value: "yes" if value else "no",
}
"""The filters that turn a number, or the middle of an interval, into text.

`change` is a relative change in percent with its sign. Changes of less than a millionth are "0 %". `followed` adds
words after the value: with "of 5", 4 is "4 of 5".
"""


class LackingFigureError(Exception):
    """A template uses a figure that is lacking, or not a number. Such a text is left out."""


class DocumentError(UsageError):
    """A mistake in a lesson's document, with its file and line."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a document. Errors name it."""

    file: Path
    line: int

    def error(self, mistake: str) -> DocumentError:
        """Return an error that names this place."""
        return DocumentError(f"{self.file.name}, line {self.line}: {mistake}")


def _shown(unit: Callable[..., str]) -> Callable[..., str]:
    def show(value: Interval | float | Lacking, *more: Any, **options: Any) -> str:
        known = _known(value)
        return unit(known.middle if isinstance(known, Interval) else known, *more, **options)

    return show


def _known(value: Any) -> Any:
    if isinstance(value, Lacking):
        raise LackingFigureError(value.reason)
    if math.isnan(value.middle if isinstance(value, Interval) else value if isinstance(value, float) else 0.0):
        raise LackingFigureError("nothing could be measured")
    return value


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    made = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False)
    made.filters = {name: _shown(unit) for name, unit in UNITS.items()}
    made.globals.clear()
    made.finalize = _known
    return made


@dataclass(frozen=True, slots=True)
class Template:
    """A text of a document with values and conditions."""

    text: str
    place: Place

    @property
    def names(self) -> frozenset[str]:
        """The names of the figures, claims and steps that the template uses."""
        return _names(self)

    @property
    def is_fixed(self) -> bool:
        """Whether the text contains no value and no condition."""
        return "{{" not in self.text and "{%" not in self.text

    def without_values(self, unknown: str) -> str:
        """Return the text with `unknown` for each value, and without conditions."""
        return " ".join(re.sub(r"\{%.*?%\}", " ", re.sub(r"\{\{.*?\}\}", unknown, self.text)).split())

    def render(self, values: Mapping[str, object]) -> str:
        """Return the text with its values. Raise `DocumentError` if a value does not exist or has the wrong type.

        Raise `LackingFigureError` if a value is lacking.
        """
        if self.is_fixed:
            return self.text
        try:
            return " ".join(_environment().from_string(self.text).render(values).split())
        except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
            raise self.place.error(f"{error} In: {self.text!r}") from error


def parsed(template: Template) -> nodes.Template:
    """Return the syntax tree of a template. Raise `DocumentError` if its syntax is wrong."""
    try:
        return _environment().parse(template.text)
    except TemplateError as error:
        raise template.place.error(str(error)) from error


@cache
def _names(template: Template) -> frozenset[str]:
    try:
        return frozenset(meta.find_undeclared_variables(parsed(template)))
    except TemplateError as error:
        raise template.place.error(f"{error.message} Units: {', '.join(UNITS)}.") from error


def formatter(unit: str, place: Place) -> Callable[[float], str]:
    """Return the function that formats a number with `unit`, a filter such as `seconds` or `some("warning")`."""
    template = Template("{{ value | " + unit + " }}", place)
    template.names  # noqa: B018 - it reports a filter that does not exist

    def show(value: float) -> str:
        try:
            return template.render({"value": value})
        except LackingFigureError:
            return units.UNKNOWN

    return show


@dataclass(frozen=True, slots=True)
class ClaimCondition:
    """What a claim says: the figure is within two bounds. A bound is a number or the name of another figure."""

    figure: str
    at_least: float | str | None = None
    at_most: float | str | None = None

    @property
    def names(self) -> frozenset[str]:
        """The figures that the condition compares."""
        return frozenset(each for each in (self.figure, self.at_least, self.at_most) if isinstance(each, str))

    @property
    def fixed(self) -> tuple[float, float]:
        """The lower and the upper bound, infinite where there is none or where it depends on a figure."""
        low, high = self.at_least, self.at_most
        return (low if isinstance(low, float) else -math.inf, high if isinstance(high, float) else math.inf)

    @classmethod
    def parse(cls, text: str, place: Place) -> "ClaimCondition":
        """Return a condition such as `x >= 1.5`, `0.7 <= x <= 1`, `x <= y`, `x == 0` or `x` (x is true)."""
        found = _CONDITION.fullmatch(text)
        if not found:
            raise place.error(_WANTED.format(text))
        figure, sign = found["figure"], found["sign"]
        low, bound = (_bound(each) if each else None for each in found.group("low", "bound"))
        if not sign:
            return cls(figure, 1.0, 1.0)
        return cls(figure, low if sign == "<=" else bound, None if sign == ">=" else bound)


def _bound(text: str) -> float | str:
    return text if text[0].isalpha() or text[0] == "_" else float(text)


_FIGURE: Final = r"[^\W\d]\w*(?:\.\w+)?"
_BOUND: Final = rf"{_FIGURE}|-?\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?"
_CONDITION: Final = re.compile(
    rf"(?:(?P<low>{_BOUND}) *<= *(?={_FIGURE} *<=))?(?P<figure>{_FIGURE})(?: *(?P<sign><=|>=|==) *(?P<bound>{_BOUND}))?"
)
_WANTED: Final = (
    "{!r} is not a condition. Write a figure and its bounds: `x >= 1.5`, `x <= y`, `0.7 <= x <= 1`, `x == 0`, or `x` "
    "for a figure that must be true."
)


def value_of(name: str, values: Mapping[str, object]) -> object:
    """Return the value of a name such as `x` or `step.x`."""
    found: object = values
    for part in name.split("."):
        found = cast("Mapping[str, object]", found)[part]
        if isinstance(found, Lacking):
            return found
    return found
