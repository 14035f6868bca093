import socket
from pathlib import Path

import pytest
from attacks import Attack, Control, Got, first_paragraph, markdown, pairs, summary
from listener import listening
from other_graders import THEIRS
from promises import EXPLOITS, HANDED_IN, promised

WRONG = Got(0, 10, "wrong")


@pytest.mark.parametrize(
    ("got", "succeeded", "told"),
    [
        (Got(0, 10), False, "0 of 10"),
        (Got(None, 10), False, "no grade"),
        (Got(0.5, 10), True, "0.5 of 10"),
        (Got(0, 10, "wrong", leaked=True), True, "0 of 10, wrong, the secret came out"),
    ],
)
def test_any_point_and_any_secret_is_a_success_and_no_grade_is_none(got: Got, succeeded: bool, told: str) -> None:
    assert (got.succeeded, str(got)) == (succeeded, told)


def test_controls_must_get_what_they_are_worth_from_both() -> None:
    right = Got(10, 10)
    assert Control("right", 10, right, right).as_it_should
    assert not Control("right", 10, right, WRONG).as_it_should
    assert not Control("wrong", 0, Got(None, 10), WRONG).as_it_should


def test_the_table_says_of_each_what_came_of_it_and_the_last_line_counts() -> None:
    tried = [Attack("2_b_c", "Tries b.", Got(10, 10), WRONG), Attack("1_a", "Tries a.", WRONG, WRONG)]
    versions = "other 1", "ours 2"
    lines = markdown(versions, tried, [Control("right", 10, Got(10, 10), Got(9, 10, "passed"))]).splitlines()
    assert lines[2:] == [
        "| 1 a | Tries a. | fails: 0 of 10, wrong | fails: 0 of 10, wrong |",
        "| 2 b c | Tries b. | **succeeds**: 10 of 10 | fails: 0 of 10, wrong |",
        "| right | honest, worth 10 points | 10 of 10 | 9 of 10, passed |",
    ]
    assert summary(versions, tried) == "Of 2 attacks 1 succeed with other 1, 0 with ours 2."


def test_an_attack_without_a_namesake_is_no_comparison(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    ours.mkdir()
    (theirs / "1_a.py").touch()
    with pytest.raises(LookupError, match=r"1_a\.py has no namesake"):
        pairs(theirs, [ours])
    (ours / "1_a.py").touch()
    assert pairs(theirs, [tmp_path, ours]) == [(theirs / "1_a.py", ours / "1_a.py")]


def test_ten_attacks_whose_honest_work_is_worth_nothing_have_namesakes_and_say_what_they_try() -> None:
    found = pairs(THEIRS, (EXPLOITS, HANDED_IN))
    assert len(found) == 10
    assert [ours.name for _, ours in found if promised(ours).points] == []
    for theirs, ours in found:
        assert all(first_paragraph(path.read_text(encoding="utf-8")) for path in (theirs, ours))


def test_the_listener_hears_all_that_is_said_on_both_ways() -> None:
    with socket.create_server(("127.0.0.1", 0)) as some:
        port = some.getsockname()[1]
    name = f"\0fairclock-listener-{port}"
    with listening(port, name) as heard:
        with socket.create_connection(("127.0.0.1", port)) as out:
            out.sendall(b"x" * 200_000)
        with socket.socket(socket.AF_UNIX) as unnamed:
            unnamed.connect(name)
            unnamed.sendall(b"y")
    assert sorted(heard) == [b"x" * 200_000, b"y"]
