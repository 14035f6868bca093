"""The texts of lessons as HTML."""

from lessons.guide.claim_texts import VALUE
from lessons.guide.rendering import highlighted, html, render


def test_marks_become_elements_and_everything_else_is_escaped() -> None:
    assert html("a `b < c` and *not* <d> & 2*3") == "a <code>b &lt; c</code> and <em>not</em> &lt;d&gt; &amp; 2*3"
    assert html(f"`{VALUE}` s") == "<code>…</code> s"


def test_code_is_escaped_and_has_classes() -> None:
    shown = highlighted("if a < 2:\n    pass")
    assert "&lt;" in shown
    assert '<span class="k">if</span>' in shown


def test_a_question_is_html_with_its_code() -> None:
    each = {"text": "Is `a` 1?", "code": "a < 1"}
    assert render("question.html", each=each).strip() == "<p>Is <code>a</code> 1?</p><pre>a &lt; 1</pre>"
