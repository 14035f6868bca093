"""Jinja templates → a page: everything escaped, styled alike, and allowed to run nothing but our own script.

A page states in a Content-Security-Policy which style and which script it has, by their SHA-256. Whatever else might
get into it, a browser neither runs nor loads it.
"""

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from grader.reports.shown import shortened, shown
from harness import units

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True, slots=True)
class Inline:
    """Text that stands in a page's own `<style>` or `<script>`, and its hash as a policy names it."""

    text: Markup
    source: str


def render(name: str, **values: object) -> str:
    """Return the page that the template `name` makes of these values."""
    return _rooms().get_template(name).render(values)


@cache
def inline(name: str) -> Inline:
    """Read a template that is one element, `<style>` or `<script>`, for what stands in it."""
    loader = _rooms().loader
    assert loader is not None
    text = loader.get_source(_rooms(), name)[0]
    inside = text[text.index(">") + 1 : text.rindex("</")]
    digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
    return Inline(Markup(inside), f"'sha256-{digest}'")  # noqa: S704 - a file of ours, not text of anybody's


@cache
def _rooms() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - slow to import, and for pages alone

    rooms = Environment(
        loader=PackageLoader("grader", "reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    rooms.globals |= {"count": units.count, "short": shortened, "inline": inline}
    return rooms


def _shown(value: object) -> object:
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value
