"""The texts of lessons as HTML."""

from lessons.guide.claim_texts import VALUE
from lessons.guide.rendering import code_style, highlighted, html, render


def test_marks_become_elements_and_everything_else_is_escaped() -> None:
    assert html("a `b < c` and *not* <d> & 2*3") == "a <code>b &lt; c</code> and <em>not</em> &lt;d&gt; &amp; 2*3"


def test_a_value_that_no_run_has_measured_becomes_an_ellipsis() -> None:
    assert html(f"`{VALUE}` s") == "<code>…</code> s"


def test_code_is_escaped_and_has_classes() -> None:
    shown = highlighted("if a < 2:\n    pass")
    assert "&lt;" in shown
    assert '<span class="k">if</span>' in shown


def test_code_has_colours_for_a_dark_screen_but_not_on_dark_paper() -> None:
    assert "@media screen and (prefers-color-scheme: dark)" in code_style()


def test_a_question_is_html_with_its_code() -> None:
    each = {"text": "Is `a` 1?", "code": "a < 1"}
    assert render("question.html", each=each).strip() == "<p>Is <code>a</code> 1?</p><pre>a &lt; 1</pre>"
