from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from classroom import ENVIRONMENT
from hypothesis import given
from hypothesis import strategies as st
from outline import Outline
from test_reports_gradescope import roll, submission

from grader import reports
from grader.course.roll import Roll
from grader.errors import UsageError
from grader.kinds.simulated import CALLS
from grader.records import Report, Speed, Status
from grader.reports import leaderboard

NAMES = ("ada", "bob", "eve", "may", "zoe")


def measured(student: str, low: float, ratio: float, high: float, **changes: object) -> Report:
    """Return a right answer to `01_dot` with this ratio."""
    report = roll(submission("right", student)).reports[0]
    verdict = report.verdicts[0]
    attempt = replace(verdict.attempt, speed=Speed(ratio, low, high, 9, 1))
    report = replace(report, verdicts=(replace(verdict, attempt=attempt),))
    return replace(report, **changes)  # type: ignore[arg-type]  # whatever a test changes


def class_of(*reports_: Report) -> Roll:
    return replace(roll(submission("right")), students=NAMES, reports=reports_)


def themselves(student: str) -> str:
    return student


def listed(board: leaderboard.Board) -> list[tuple[str, str]]:
    return [(place, name) for place, name, _ in board.entries]


def test_whose_intervals_overlap_share_the_places_that_may_be_theirs() -> None:
    (board,) = leaderboard.boards(
        class_of(
            measured("ada", 4.9, 5, 5.1), measured("bob", 2.9, 3, 3.1), measured("eve", 3.0, 3.1, 3.2),
            measured("may", 3.15, 3.2, 3.3), measured("zoe", 1, 1.1, 1.2),
        ),
        themselves,
    )  # fmt: skip
    assert listed(board) == [("1", "ada"), ("2–3", "may"), ("2–4", "eve"), ("3–4", "bob"), ("5", "zoe")]


@given(st.lists(st.tuples(st.floats(0.1, 10), st.floats(0, 2)), min_size=1, max_size=20))
def test_some_order_gives_everybody_one_of_their_places(drawn: list[tuple[float, float]]) -> None:
    speeds = [Speed(ratio, ratio / (1 + width), ratio * (1 + width), 9, 1) for ratio, width in drawn]
    places = leaderboard.places(speeds)
    for speed, (best, last) in zip(speeds, places, strict=True):
        place = 1 + sum(other.ratio > speed.ratio for other in speeds)
        alike = sum(other.ratio == speed.ratio for other in speeds) - speeds.count(speed)
        assert 1 <= best <= place + alike
        assert place <= last <= len(speeds)
        assert best <= last


def test_equal_measurements_share_one_place_and_the_next_comes_after_all_of_them() -> None:
    (board,) = leaderboard.boards(
        class_of(
            *(measured(student, 20, 20, 20) for student in ("ada", "bob", "eve")),
            measured("may", 4.9, 5, 5.1), measured("zoe", 30, 30, 30),
        ),
        themselves,
    )  # fmt: skip
    assert listed(board) == [("1", "zoe"), ("2", "ada"), ("2", "bob"), ("2", "eve"), ("5", "may")]


def test_only_right_answers_with_a_number_stand_there() -> None:
    cheat = measured("bob", 8, 9, 10)
    verdict = cheat.verdicts[0]
    cheat = replace(cheat, verdicts=(replace(verdict, attempt=replace(verdict.attempt, status=Status.CHEATED)),))
    endless = measured("eve", 1, float("inf"), float("inf"))
    undecided = roll(submission("edge", "may")).reports[0]
    unbelieved = roll(submission("beyond", "zoe")).reports[0]
    (board,) = leaderboard.boards(
        class_of(measured("ada", 1.9, 2, 2.1), cheat, endless, undecided, unbelieved), themselves
    )
    assert listed(board) == [("1", "may"), ("2", "ada")]
    assert not leaderboard.boards(class_of(measured("ada", 1.9, 2, 2.1)), lambda _name: ""), "an empty name is left out"


@pytest.mark.parametrize(
    "other", [{"environment": replace(ENVIRONMENT, cpu="another")}, {"sandboxed": False}, {"notes": ("an estimate",)}]
)
def test_what_was_clocked_elsewhere_or_otherwise_never_stands_in_one_list(other: dict[str, object]) -> None:
    class_ = class_of(measured("ada", 1.9, 2, 2.1), measured("bob", 3.9, 4, 4.1), measured("eve", 8, 9, 10, **other))
    first, second = leaderboard.boards(class_, themselves)
    assert [name for _, name in listed(first)] == ["bob", "ada"]
    assert listed(second) == [("1", "eve")]
    assert (first.measured, first.warnings) != (second.measured, second.warnings)
    text = Outline(leaderboard.render(class_, themselves)).text
    assert "There are 2 lists, one for each machine and environment." in text
    assert text.count(ENVIRONMENT.describe()) == 2


def test_what_is_counted_and_not_clocked_is_the_same_everywhere() -> None:
    def counted(report: Report) -> Report:
        return replace(report, verdicts=tuple(replace(verdict, cost=CALLS) for verdict in report.verdicts))

    elsewhere = measured("bob", 4, 4, 4, environment=replace(ENVIRONMENT, cpu="another"))
    (board,) = leaderboard.boards(class_of(counted(measured("ada", 2, 2, 2)), counted(elsewhere)), themselves)
    assert board.measured == leaderboard.COUNTED
    assert {leaderboard.interval_text(board, speed) for _, _, speed in board.entries} == {"exact count"}


def test_a_long_list_ends_and_says_how_many_are_left() -> None:
    many = [measured(f"s{n}", n, n, n) for n in range(1, leaderboard.MOST + 8)]
    page = leaderboard.render(class_of(*many), themselves)
    assert page.count('<td class="place">') == leaderboard.MOST
    assert "7 more students are not shown." in page


def test_pseudonyms_are_stable_and_no_two_are_alike() -> None:
    everybody = [f"student{n}" for n in range(3000)]
    given_ = leaderboard.pseudonyms("key", everybody)
    assert len(set(given_.values())) == 3000
    assert leaderboard.pseudonyms("key", everybody) == given_
    few = leaderboard.pseudonyms("key", everybody[:5])
    assert few == {name: given_[name] for name in everybody[:5]}, "names stay the same in a larger class"


def test_without_the_key_a_list_of_the_class_says_nothing_of_who_is_who() -> None:
    one, other = (leaderboard.pseudonyms(key, NAMES) for key in ("one", "other"))
    assert not set(one.values()) & set(other.values())
    assert not any(name in pseudonym for name, pseudonym in one.items())


def test_a_class_without_a_ratio_has_a_page_that_says_so() -> None:
    page = leaderboard.render(roll(submission("wrong")), themselves)
    assert "There is no right answer with a measured cost yet." in page


def written(folder: Path, text: str) -> str:
    path = folder / "names.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


def shown(how: str, students: Sequence[str] = NAMES) -> dict[str, str]:
    name_of = leaderboard.names_for(how, "key", students)
    return {student: name_of(student) for student in students}


def test_the_instructor_chooses_the_names(tmp_path: Path) -> None:
    hidden = leaderboard.pseudonyms("key", NAMES)
    assert shown("pseudonyms") == hidden
    assert shown("students") == {name: name for name in NAMES}
    chosen = shown(written(tmp_path, "ada,Ada L.\nbob,\nkim,X\n"))
    assert chosen == {**hidden, "ada": "Ada L.", "bob": ""}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("kim,X\n", "has no student of this class"),
        ("ada,X\nbob,X\n", "gives two students the name 'X'"),
        (None, "read"),
    ],
)
def test_names_that_cannot_be_had_are_refused(tmp_path: Path, text: str | None, why: str) -> None:
    how = str(tmp_path / "missing.csv") if text is None else written(tmp_path, text)
    with pytest.raises(UsageError, match=why):
        leaderboard.names_for(how, "key", NAMES)


def test_it_is_written_only_when_asked_for_and_taken_away_when_not(tmp_path: Path) -> None:
    class_ = class_of(measured("ada", 1.9, 2, 2.1))
    reports.write(class_, tmp_path)
    assert not (tmp_path / reports.BOARD).exists()
    assert reports.BOARD not in (tmp_path / reports.PAGE).read_text()
    reports.write(class_, tmp_path, name_of=lambda name: f"the {name}")
    assert "the ada" in (tmp_path / reports.BOARD).read_text()
    assert f'href="{reports.BOARD}"' in (tmp_path / reports.PAGE).read_text()
    assert "the ada" in (tmp_path / "ada" / reports.PAGE).read_text()
    reports.write(class_, tmp_path)
    assert not (tmp_path / reports.BOARD).exists()
    assert "the ada" not in (tmp_path / "ada" / reports.PAGE).read_text()
