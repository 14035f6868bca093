import io

import pytest
from rich.console import Console

from harness.rendering.tables import Table
from lessons.engine.claim import Claim
from lessons.engine.interval import Interval
from lessons.engine.markup import plain, styled
from lessons.engine.predict import Choice
from lessons.engine.screen import Screen


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a `b * c` and *not* d", "a b * c and not d"),
        ("2*3 is 3*2", "2*3 is 3*2"),
        ("a * b * c", "a * b * c"),
        ("**kwargs and *args", "**kwargs and *args"),
        ("(*both words*), then", "(both words), then"),
        ("`*x*`", "*x*"),
    ],
)
def test_marks_are_left_out_only_where_they_are_marks(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_code_and_emphasis_have_styles() -> None:
    spans = {span.style for span in styled("a `b` and *c*").spans}
    assert spans == {"cyan", "italic"}


def test_all_parts_of_the_screen_render_marks() -> None:
    out = io.StringIO()
    screen = Screen(Console(file=out, width=100))
    text = "a `word` with *emphasis*"
    screen.header(text, "1 min", text, text, "a machine")
    screen.open_step(1, 2, text, text)
    screen.ask(text, Choice(text, {"a": text}).offer())
    screen.reveal(text, right=True)
    screen.table(Table.of(text, {text: None}, [(1.0,)]))
    screen.picture("█", text)
    screen.claim(Claim("id", text).settled(Interval.exact(1)), text)
    screen.say(text)
    screen.closing([text], [text])
    screen.note(text)
    assert "`" not in out.getvalue()
    assert "*" not in out.getvalue()
    assert out.getvalue().count("a word with emphasis") == 17
