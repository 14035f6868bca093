"""The texts about claims that are read from the source of a lesson."""

import ast
from pathlib import Path

import pytest
import small_lesson

from lessons.guide.claim_texts import AskedLater, Said, asked_later, said_about_claims, text_of

FILE = Path(small_lesson.__file__)


def test_the_texts_of_all_words_about_a_claim_are_joined() -> None:
    said = said_about_claims(FILE)
    assert said["twice-is-two"] == Said("It always is. It is two.", "It is not two.", "Two or not: unclear.")
    assert "root" not in said


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("'plain'", "plain"),
        ("'one ' 'two'", "one two"),
        ("f'it took {seconds} s'", "it took … s"),
        ("'a' + name", "a…"),
        ("'fast' if quick else 'slow'", "fast / slow"),
        ("about(turns)", "…"),
    ],
)
def test_a_value_that_only_a_run_knows_becomes_an_ellipsis(source: str, text: str) -> None:
    assert text_of(ast.parse(source, mode="eval").body) == text


def test_a_question_made_by_a_function_has_no_measured_values() -> None:
    assert asked_later(FILE, "how_much") == AskedLater("And four times …?")


def test_a_question_with_options_made_by_a_function_keeps_its_options(tmp_path: Path) -> None:
    file = tmp_path / "lesson.py"
    file.write_text("def ask(page):\n    return Choice(f'Is it {page}?', {'a': 'yes', 'b': 'no'})\n", encoding="utf-8")
    assert asked_later(file, "ask") == AskedLater("Is it …?", ("yes", "no"))


def test_a_function_without_a_question_is_an_error() -> None:
    with pytest.raises(ValueError, match="does not return a question"):
        asked_later(FILE, "main")
