from harness.rendering import units
from lessons.engine.words import change, followed, part_of, signed, things, yes_no


def test_values_become_words() -> None:
    assert [signed(units.percent)(value) for value in (0.03, 0.0, -0.03)] == ["+3 %", "0 %", "-3 %"]
    assert [followed("of 5")(4), followed("of the rows", units.percent)(0.28)] == ["4 of 5", "28 % of the rows"]
    assert [things("row")(number) for number in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert [yes_no(value) for value in (1.0, 0.0)] == ["yes", "no"]
    assert [change(value) for value in (0.03, -1e-9, -0.0002)] == ["+3 %", "0 %", "-0.02 %"]
    words = [part_of(count, 3, none="none", some="some", every="all") for count in (0, 1, 3)]
    assert words == ["none", "some", "all"]
