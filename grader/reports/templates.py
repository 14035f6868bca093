"""Make HTML pages from Jinja templates. All values are escaped, and shown by `harness.rendering.texts.shown`.

The Content-Security-Policy of a page lists the SHA-256 of its own style and script, so nothing else runs.
"""

import base64
import hashlib
import html
import re
from functools import cache
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from grader.paths import KIT
from grader.reports import grade_texts
from harness import glossary
from harness.rendering import measured, units
from harness.rendering.texts import shown

if TYPE_CHECKING:
    from jinja2 import Environment

GLOSSARY: Final = KIT / "lessons" / "glossary.toml"
_TAG: Final = re.compile(r"<[^>]*>")
MOST: Final = 300
"""The maximum number of characters of a student's text in a table. The student's page has the whole text."""


def render(name: str, **values: object) -> str:
    """Return the HTML page that the template `name` makes from `values`."""
    return _environment().get_template(name).render(values)


def source_of(element: str) -> Markup:
    """Return the hash of the text in a `<style>` or `<script>` element, as the Content-Security-Policy names it."""
    inside = element[element.index(">") + 1 : element.rindex("</")]
    digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
    return Markup(f"'sha256-{digest}'")  # noqa: S704 - a hash needs no escaping


def terms(markup: str) -> tuple[glossary.Term, ...]:
    """Return the terms of the glossary that occur in the text of this HTML."""
    return _glossary().used_in(html.unescape(_TAG.sub(" ", markup)))


@cache
def _glossary() -> glossary.Glossary:
    return glossary.parse(GLOSSARY.read_text(encoding="utf-8"))


@cache
def _environment() -> "Environment":
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - slow to import, and only pages need it

    environment = Environment(
        loader=ChoiceLoader([PackageLoader("grader", place) for place in ("reports", "server/pages")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finished,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"units": units, "count": units.count, "interval": measured.interval}
    environment.globals |= {"ratio": measured.ratio, "short": shortened, "source_of": source_of, "terms": terms}
    texts = ("css_class", "ended", "hand_entry", "lesson_result", "link", "percent", "points", "precision", "sealed")
    for name in (*texts, "task_title", "title"):
        environment.globals[name] = getattr(grade_texts, name)
    return environment


def shortened(text: str, most: int = MOST) -> str:
    """Return the text, cut to at most `most` characters. A cut text ends in an ellipsis."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _finished(value: object) -> object:
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value
