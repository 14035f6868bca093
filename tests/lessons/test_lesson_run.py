import json
import math

import pytest
import small_lesson
from sessions import Play

from lessons.engine import Choice, Lesson, Page, Standing


def test_a_lesson_shows_its_code_its_claims_and_its_key_points(prepare: Play) -> None:
    played = prepare()
    played.session.play()
    text = played.out.getvalue()
    assert "1 of 2 · Twice" in text
    assert "   1 │ def twice(number: float = 1.0) -> float:" in text
    assert "   2 │     return double(number)" in text
    assert "✓  twice one is two" in text
    assert "That was four_times." in text
    assert "· three" in text


@pytest.mark.parametrize("width", [40, 80, 300])
def test_no_line_is_wider_than_the_terminal_or_100_columns(prepare: Play, width: int) -> None:
    played = prepare(width=width)
    played.session.play()
    assert max(len(line) for line in played.out.getvalue().splitlines()) <= min(width, 100)


def test_claims_are_recorded_with_measured_value_bounds_and_verdict(prepare: Play) -> None:
    played = prepare()
    played.session.play()
    record = played.session.record()
    assert record.complete
    assert [(claim.id, claim.measured, claim.standing) for claim in record.claims] == [
        ("twice-is-two", 2.0, Standing.HELD),
        ("root", 2.0, Standing.HELD),
    ]


def test_a_fast_run_shortens_through_the_steps_own_arguments(prepare: Play) -> None:
    played = prepare(fast=True)
    played.session.play()
    claims = played.session.record().claims
    assert (claims[0].measured, claims[0].standing) == (1.0, Standing.REFUTED)


def test_noise_makes_inconclusive_only_the_claims_that_it_touches(prepare: Play) -> None:
    played = prepare(noise=0.5)
    played.session.play()
    assert [claim.standing for claim in played.session.record().claims] == [
        Standing.HELD,
        Standing.INCONCLUSIVE,
    ]
    assert "the machine was too restless" in " ".join(played.out.getvalue().split())


def test_predictions_are_compared_with_the_measurement(prepare: Play) -> None:
    played = prepare(typed=["b", "7 units"])
    played.session.play()
    text = " ".join(played.out.getvalue().split())
    assert "You said no. It was yes. It always is." in text
    assert "And four times 2?" in text
    assert "You said 7 units, near the 8 units measured." in text
    first, second = played.session.record().steps
    assert first.prophecy is not None
    assert (first.prophecy.answer, first.prophecy.truth, first.prophecy.right) == ("no", "yes", False)
    assert second.prophecy is not None
    assert second.prophecy.right


def test_a_skipped_prediction_is_recorded_as_skipped(prepare: Play) -> None:
    played = prepare(typed=["", ""])
    played.session.play()
    prophecy = played.session.record().steps[0].prophecy
    assert prophecy is not None
    assert (prophecy.answer, prophecy.truth, prophecy.right) == (None, "yes", None)


def test_leaving_at_a_prompt_keeps_the_steps_done(prepare: Play) -> None:
    played = prepare(typed=["a"])
    with pytest.raises(EOFError):
        played.session.play()
    record = played.session.record()
    assert not record.complete
    assert [step.name for step in record.steps] == ["twice"]
    assert [len(each.steps) for each in played.kept] == [1]


def test_pictures_are_saved_under_lesson_and_step_with_words_for_those_who_cannot_see(prepare: Play) -> None:
    played = prepare()
    played.session.play()
    assert list(played.saved) == ["small_lesson-twice-samples"]
    assert "<title>three samples</title>" in played.saved["small_lesson-twice-samples"]


def test_the_json_record_has_no_number_that_json_lacks(prepare: Play) -> None:
    played = prepare(noise=math.inf)
    played.session.play()
    text = json.dumps(played.session.record().to_json({"twice-is-two": "two", "root": "root"}), allow_nan=False)
    claims = json.loads(text)["claims"]
    assert claims[0]["verdict"] == "held"
    assert claims[1]["noise"] is None


def test_what_a_run_could_not_tell_is_neither_right_nor_wrong(prepare: Play) -> None:
    played = prepare()
    prediction = Choice("Yes?", {"a": "yes"})
    page = Page(played.session.screen, 0.0, {}, {}, played.saved.__setitem__, prediction, prediction.parse("a"))
    page.reveal(None, "Too loud.")
    assert page.prophecy is not None
    assert (page.prophecy.answer, page.prophecy.truth, page.prophecy.right) == ("yes", None, None)
    assert "This run could not tell. Too loud." in played.out.getvalue()


def broken(*, settle: bool, reveal: bool) -> Lesson:
    lesson = Lesson(__file__, title="Broken", objective="None.", minutes=1)

    @lesson.step("One", predict=Choice("Yes?", {"a": "yes"}), claims={"one": "one is one"})
    def one() -> int:
        return 1

    @one.observe
    def explain(page: Page, result: int) -> None:
        if settle:
            page.claim("one", result, 1, 1)
        if reveal:
            page.reveal("a")

    return lesson


def test_a_claim_that_goes_missing_is_a_fault(prepare: Play) -> None:
    with pytest.raises(RuntimeError, match=r"declares the claims \['one'\] and settled \[\]"):
        prepare(broken(settle=False, reveal=True)).session.play()


def test_a_question_never_answered_is_a_fault(prepare: Play) -> None:
    with pytest.raises(RuntimeError, match="never reveals"):
        prepare(broken(settle=True, reveal=False)).session.play()


def test_a_claim_never_declared_is_a_fault(prepare: Play) -> None:
    lesson = broken(settle=True, reveal=True)
    lesson.steps[0].claims = {}
    with pytest.raises(ValueError, match="not declared"):
        prepare(lesson).session.play()


def test_a_short_run_may_only_shorten_what_is_there() -> None:
    lesson = Lesson(__file__, title="Short", objective="None.", minutes=1)
    with pytest.raises(TypeError, match="takes no argument seconds"):
        lesson.step("One", claims={}, fast={"seconds": 1})(lambda: None)


def test_a_claims_id_is_given_once() -> None:
    with pytest.raises(TypeError, match="earlier step"):
        small_lesson.lesson.step("Again", claims={"root": "again"})(small_lesson.double)
