"""The texts about claims that are read from the source of a lesson."""

import ast
from pathlib import Path

import pytest
import small_lesson

from lessons.guide.claim_texts import VALUE, AskedLater, Said, asked_later, filled, joined, said_about_claims, text_of

FILE = Path(small_lesson.__file__)


def test_a_claim_has_the_texts_of_all_its_words() -> None:
    said = said_about_claims(FILE)
    assert said["twice-is-two"] == [
        Said("It always is."),
        Said("It is two.", "It is not two.", "Two or not: unclear."),
    ]
    assert "root" not in said


def test_texts_are_joined_without_those_that_only_a_run_knows() -> None:
    assert joined(["It always is.", "", VALUE, f"It takes {VALUE} s."]) == f"It always is. It takes {VALUE} s."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It takes … s.", "It takes 2.5 s."),
        ("… functions are fast.", "3 functions are fast."),
        ("In …, … is first.", "In step 2, `a` is first."),
        ("It takes … minutes.", "It takes … minutes."),
        ("It is fast.", "It is fast."),
        ("…", "…"),
    ],
)
def test_a_recorded_paragraph_supplies_the_values_of_a_text(text: str, found: str) -> None:
    paragraphs = [
        "Two calls. It takes 2.5 s. Then it ends.",
        "There are 4. 3 functions are fast. In step 2, `a` is first.",
    ]
    assert filled(text.replace("…", VALUE), paragraphs) == found.replace("…", VALUE)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("'plain'", "plain"),
        ("'one ' 'two'", "one two"),
        ("f'it took {seconds} s'", f"it took {VALUE} s"),
        ("'f(…)' + name", f"f(…){VALUE}"),
        ("'fast' if quick else 'slow'", "fast / slow"),
        ("about(turns)", VALUE),
    ],
)
def test_a_value_that_only_a_run_knows_becomes_a_mark(source: str, text: str) -> None:
    assert text_of(ast.parse(source, mode="eval").body) == text


def test_a_question_made_by_a_function_has_no_measured_values() -> None:
    assert asked_later(FILE, "how_much") == AskedLater(f"And four times {VALUE}?")


def test_a_question_with_options_made_by_a_function_keeps_its_options(tmp_path: Path) -> None:
    file = tmp_path / "lesson.py"
    file.write_text("def ask(page):\n    return Choice(f'Is it {page}?', {'a': 'yes', 'b': 'no'})\n", encoding="utf-8")
    assert asked_later(file, "ask") == AskedLater(f"Is it {VALUE}?", ("yes", "no"))


def test_a_function_without_a_question_is_an_error() -> None:
    with pytest.raises(ValueError, match="does not return a question"):
        asked_later(FILE, "main")
