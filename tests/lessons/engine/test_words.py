from harness.rendering import units
from lessons.engine.words import change, followed, part_of, signed, things, yes_no


def test_a_signed_value_has_one_sign() -> None:
    assert [signed(units.percent)(value) for value in (0.03, 0.0, -0.03)] == ["+3 %", "0 %", "-3 %"]


def test_words_are_added_after_the_value() -> None:
    assert followed("of 5")(4) == "4 of 5"
    assert followed("of the rows", units.percent)(0.28) == "28 % of the rows"


def test_one_thing_has_no_plural() -> None:
    assert [things("row")(number) for number in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]


def test_a_truth_value_is_yes_or_no() -> None:
    assert [yes_no(value) for value in (1.0, 0.0)] == ["yes", "no"]


def test_a_tiny_change_is_shown_as_zero() -> None:
    assert [change(value) for value in (0.03, -1e-9, -0.0002)] == ["+3 %", "0 %", "-0.02 %"]


def test_a_part_has_words_for_none_some_and_all() -> None:
    words = [part_of(count, 3, none="none", some="some", every="all") for count in (0, 1, 3)]
    assert words == ["none", "some", "all"]
