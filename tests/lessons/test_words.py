from harness import units
from lessons.engine.words import change, followed, signed, things, yes_no


def test_a_gain_has_its_sign_and_a_loss_no_second_one() -> None:
    assert [signed(units.percent)(value) for value in (0.03, 0.0, -0.03)] == ["+3 %", "0 %", "-3 %"]


def test_words_follow_the_value_in_its_unit() -> None:
    assert followed("of 5")(4) == "4 of 5"
    assert followed("of the rows", units.percent)(0.28) == "28 % of the rows"


def test_one_thing_is_no_plural() -> None:
    assert [things("row")(number) for number in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]


def test_a_truth_value_is_a_yes_or_a_no() -> None:
    assert [yes_no(value) for value in (1.0, 0.0)] == ["yes", "no"]


def test_a_change_that_only_rounding_made_is_none() -> None:
    assert [change(value) for value in (0.03, -1e-9, -0.0002)] == ["+3 %", "0 %", "-0.02 %"]
