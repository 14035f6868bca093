"""Make the pack's HTML and XML from Jinja templates. All values are escaped."""

from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from harness.rendering import units
from lessons.engine.catalogue import FOLDER
from lessons.engine.markup import pieces, plain
from lessons.guide.pictures import image, photo

TEMPLATES: Final = Path(__file__).parent / "templates"
REPORTS: Final = FOLDER.parent / "grader" / "reports"
"""The folder with the style of the grader's pages, which the pack's pages share."""

_TAGS: Final = {"code": "code", "emphasis": "em"}


def render(name: str, /, **values: object) -> str:
    """Return the text that the template `name` makes from `values`."""
    return _environment().get_template(name).render(values)


def html(text: str) -> Markup:
    """Return a lesson's text as HTML: its code and its emphasis have elements instead of backticks and asterisks.

    A value that the results do not have becomes "…".
    """
    return Markup().join(
        Markup("<{0}>{1}</{0}>").format(_TAGS[kind], piece) if kind else escape(piece) for piece, kind in pieces(text)
    )


def highlighted(code: str) -> Markup:
    """Return Python code as HTML with a class for each kind of token. `code_style` has the colours."""
    return Markup(highlight(code, PythonLexer(), HtmlFormatter(nowrap=True)).rstrip("\n"))  # noqa: S704 - it escapes


@cache
def code_style() -> Markup:
    """Return the CSS rules for the colours of code, in a light and in a dark browser and on paper."""
    light, dark = (HtmlFormatter(style=name).get_style_defs("pre.code") for name in ("default", "github-dark"))
    return Markup(f"{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}")  # noqa: S704 - CSS of pygments


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"html": html, "code": highlighted, "plain": plain, "points": "{:g}".format}
    environment.filters |= {"image": image, "photo": photo}
    shared = Markup((REPORTS / "style.html").read_text(encoding="utf-8"))  # noqa: S704 - a file of this kit
    environment.globals |= {"count": units.count, "ratio": units.ratio, "style": shared, "code_style": code_style}
    return environment
