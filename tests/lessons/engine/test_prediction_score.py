import io

import pytest
from rich.console import Console

from lessons.engine.predict import PredictionResult
from lessons.engine.score import Score
from lessons.engine.screen import Screen

RIGHT = PredictionResult("How `many`?", "two", "two", right=True)
WRONG = PredictionResult("How long?", "2 s", "30 s", right=False)
UNDECIDED = PredictionResult("Which?", "the first", None, None)
SKIPPED = PredictionResult("Why?", None, "because", None)


@pytest.mark.parametrize(
    ("predictions", "sentence"),
    [
        ([RIGHT, RIGHT, WRONG], "2 of 3 predictions right."),
        ([WRONG, UNDECIDED, SKIPPED], "0 of 1 prediction right. 1 answer could not be decided."),
        ([UNDECIDED, UNDECIDED], "2 answers could not be decided."),
        ([SKIPPED], ""),
    ],
)
def test_only_decided_answers_count(predictions: list[PredictionResult], sentence: str) -> None:
    assert Score.of(predictions).sentence() == sentence


def test_wrong_predictions_are_shown_with_the_right_answers_and_without_answers_nothing() -> None:
    out = io.StringIO()
    Screen(Console(file=out, width=80)).score(Score.of([SKIPPED]))
    assert out.getvalue() == ""
    Screen(Console(file=out, width=80)).score(Score.of([RIGHT, WRONG]))
    printed = " ".join(out.getvalue().split())
    assert "1 of 2 predictions right. ✗ How long? your answer: 2 s; right: 30 s" in printed
    assert "many" not in printed
    total = sum([Score.of([RIGHT]), Score.of([WRONG, UNDECIDED])], Score())
    assert (total.right, total.decided, total.undecided) == (1, 2, 1)
