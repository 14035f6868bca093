"""Make HTML pages from Jinja templates. All values are escaped.

The Content-Security-Policy of a page lists the SHA-256 of its own style and script. A browser neither runs nor loads
anything else.
"""

import base64
import hashlib
import html
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from grader.paths import KIT
from grader.reports.sanitize import sanitize, shortened
from harness import glossary
from harness.rendering import units

if TYPE_CHECKING:
    from jinja2 import Environment

GLOSSARY: Final = KIT / "lessons" / "glossary.toml"
_TAG: Final = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True)
class Inline:
    """The text of a page's own `<style>` or `<script>`, and its hash for the Content-Security-Policy."""

    text: Markup
    source: str


def render(name: str, **values: object) -> str:
    """Return the HTML page that the template `name` makes from `values`."""
    return _environment().get_template(name).render(values)


@cache
def inline(name: str) -> Inline:
    """Return the content of a template that is one `<style>` or `<script>` element, and its hash."""
    loader = _environment().loader
    assert loader is not None
    text = loader.get_source(_environment(), name)[0]
    inside = text[text.index(">") + 1 : text.rindex("</")]
    digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
    return Inline(Markup(inside), f"'sha256-{digest}'")  # noqa: S704 - the text is a file of this kit


def terms(markup: str) -> tuple[glossary.Term, ...]:
    """Return the terms of the glossary that occur in the text of this HTML."""
    return _glossary().used_in(html.unescape(_TAG.sub(" ", markup)))


@cache
def _glossary() -> glossary.Glossary:
    return glossary.load(GLOSSARY)


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - slow to import, and only pages need it

    environment = Environment(
        loader=PackageLoader("grader", "reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_sanitized,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"count": units.count, "short": shortened, "inline": inline, "terms": terms}
    return environment


def _sanitized(value: object) -> object:
    return sanitize(value) if isinstance(value, str) and not isinstance(value, Markup) else value
