"""A run of a lesson in this process."""

import pytest
import small_lesson
from sessions import Play

from harness.errors import UsageError
from lessons.engine import Choice, Lesson, Page, Standing, conditions
from lessons.engine.conditions import TOO_BUSY, Conditions
from lessons.engine.predict import PredictionResult


def test_a_lesson_shows_its_code_its_claims_and_its_key_points(prepare: Play) -> None:
    played = prepare()
    played.session.play()
    record, text = played.session.record(), played.out.getvalue()
    assert record.complete
    assert [(claim.id, claim.measured.middle, claim.standing) for claim in record.claims] == [
        ("twice-is-two", 2.0, Standing.HELD),
        ("root", 2.0, Standing.HELD),
    ]
    assert "1 of 2 · Twice" in text
    assert "   1 │ def double(number: float):" in text
    assert "   6 │     return double(number)" in text
    assert "   1 │ import math" in text
    assert "✓  twice one is two" in text
    assert "It is two." in text
    assert "That was four_times." in text
    assert "· three" in text
    assert "`" not in text
    assert "<title>three samples</title>" in played.saved["small_lesson-twice-samples"]


def test_a_fast_run_calls_the_step_with_its_fast_arguments(prepare: Play) -> None:
    played = prepare(fast=True)
    played.session.play()
    claims = played.session.record().claims
    assert (claims[0].measured.middle, claims[0].standing) == (1.0, Standing.REFUTED)


def test_noise_makes_only_the_claims_inconclusive_that_use_it(prepare: Play) -> None:
    played = prepare(noise=0.5)
    played.session.play()
    assert [claim.standing for claim in played.session.record().claims] == [
        Standing.HELD,
        Standing.INCONCLUSIVE,
    ]
    assert "the machine was too noisy" in " ".join(played.out.getvalue().split())


def test_predictions_are_compared_with_the_measurement(prepare: Play) -> None:
    played = prepare(typed=["b", "7 units"])
    played.session.play()
    text = " ".join(played.out.getvalue().split())
    assert "Your answer: no. The right answer: yes. It always is." in text
    assert "And four times 2?" in text
    assert "Your answer: 7 units. It is close to 8 units." in text
    first, second = played.session.record().steps
    assert first.prediction == PredictionResult("Is `twice` more than once?", "no", "yes", right=False)
    assert second.prediction is not None
    assert second.prediction.right


def broken(*, settle: bool, reveal: bool) -> Lesson:
    lesson = Lesson(__file__, objective="None.")

    @lesson.step("One", predict=Choice("Yes?", {"a": "yes"}), expected="a")
    def one() -> int:
        return 1

    is_one = one.claim("one", "one is one", equals=1)

    @one.explain
    def _(page: Page, result: int) -> None:
        if settle:
            page.settle(is_one, result)
        if reveal:
            page.reveal("a")

    return lesson


def test_an_explanation_must_settle_each_claim_reveal_the_answer_and_know_its_claims(prepare: Play) -> None:
    with pytest.raises(RuntimeError, match=r"declares the claims \['one'\], but it settled \[\]"):
        prepare(broken(settle=False, reveal=True)).session.play()
    with pytest.raises(RuntimeError, match="does not reveal"):
        prepare(broken(settle=True, reveal=False)).session.play()
    lesson = broken(settle=True, reveal=True)
    lesson.steps[0].claims = {}
    with pytest.raises(ValueError, match="not declared"):
        prepare(lesson).session.play()


def test_fast_arguments_expected_answers_and_ids_of_claims_are_checked() -> None:
    def one() -> int:
        return 1

    lesson = Lesson(__file__, objective="None.")
    with pytest.raises(TypeError, match="has no parameter seconds"):
        lesson.step("One", fast={"seconds": 1})(one)
    for expected in ("", "c"):
        with pytest.raises(TypeError, match=r"one asks a question\. Set `expected`"):
            lesson.step("One", predict=Choice("Yes?", {"a": "yes"}), expected=expected)(one)
    with pytest.raises(TypeError, match="another claim of this lesson has the id root"):
        small_lesson.twice.claim("root", "again")


def test_a_machine_that_is_too_busy_for_the_control_still_runs_the_lesson(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_busy(**_: float) -> None:
        raise UsageError("Each block was interrupted.")

    monkeypatch.setattr(conditions, "aa_control", too_busy)
    measured = Conditions.measure(fast=True)
    assert measured.noise == TOO_BUSY
    assert "too busy" in measured.describe()
