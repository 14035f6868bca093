from dataclasses import replace
from pathlib import Path

import pytest
from classroom import ENVIRONMENT
from exported import changed, class_of, submission
from outline import Outline

from grader.course.roll import Roll
from grader.errors import UsageError
from grader.kinds.simulated import CALLS
from grader.records import Report, Speed, Status
from grader.reports import leaderboard

NAMES = ("ada", "bob", "eve", "may", "zoe")


def measured(student: str, low: float, ratio: float, high: float, **changes: object) -> Report:
    """Return a right answer to `01_dot` with this ratio."""
    (report,) = changed(class_of(submission(student)), speed=Speed(ratio, low, high, 9, 1)).reports
    return replace(report, **changes)  # type: ignore[arg-type]  # whatever a test changes


def having(*reports_: Report) -> Roll:
    return replace(class_of(submission()), students=NAMES, reports=reports_)


def themselves(student: str) -> str:
    return student


def boards(class_: Roll, name_of: leaderboard.NameOf = themselves) -> list[leaderboard.Board]:
    return [board for lists in leaderboard.boards(class_, name_of).values() for board in lists]


def listed(board: leaderboard.Board) -> list[tuple[str, str]]:
    return [(place, name) for place, name, _ in board.entries]


def test_students_share_the_places_that_their_intervals_allow() -> None:
    (board,) = boards(
        having(
            measured("ada", 4.9, 5, 5.1), measured("bob", 2.9, 3, 3.1), measured("eve", 3.0, 3.1, 3.2),
            measured("may", 3.15, 3.2, 3.3), measured("zoe", 1, 1.1, 1.2),
        ),
    )  # fmt: skip
    assert listed(board) == [("1", "ada"), ("2–3", "may"), ("2–4", "eve"), ("3–4", "bob"), ("5", "zoe")]
    equal = (measured(student, 20, 20, 20) for student in ("ada", "bob", "eve"))
    (board,) = boards(having(*equal, measured("may", 4.9, 5, 5.1), measured("zoe", 30, 30, 30)), themselves)
    assert listed(board) == [("1", "zoe"), ("2", "ada"), ("2", "bob"), ("2", "eve"), ("5", "may")]


def test_only_right_answers_with_a_number_stand_there() -> None:
    cheat = measured("bob", 8, 9, 10)
    verdict = cheat.verdicts[0]
    cheat = replace(cheat, verdicts=(replace(verdict, attempt=replace(verdict.attempt, status=Status.CHEATED)),))
    endless = measured("eve", 1, float("inf"), float("inf"))
    others = class_of(submission("may", "edge"), submission("zoe", "beyond")).reports
    (board,) = boards(having(measured("ada", 1.9, 2, 2.1), cheat, endless, *others))
    assert listed(board) == [("1", "may"), ("2", "ada")]
    assert not boards(having(measured("ada", 1.9, 2, 2.1)), lambda _name: ""), "an empty name is left out"
    page = leaderboard.render(class_of(submission("ada", "wrong")), themselves)
    assert "There is no right answer with a measured cost yet." in page


@pytest.mark.parametrize(
    "other", [{"environment": replace(ENVIRONMENT, cpu="another")}, {"sandboxed": False}, {"notes": ("an estimate",)}]
)
def test_what_was_clocked_elsewhere_or_otherwise_never_stands_in_one_list(other: dict[str, object]) -> None:
    class_ = having(measured("ada", 1.9, 2, 2.1), measured("bob", 3.9, 4, 4.1), measured("eve", 8, 9, 10, **other))
    first, second = boards(class_)
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
    (board,) = boards(having(counted(measured("ada", 2, 2, 2)), counted(elsewhere)))
    assert board.measured == leaderboard.COUNTED
    assert {leaderboard.interval_text(board, speed) for _, _, speed in board.entries} == {"exact count"}


def test_a_long_list_ends_and_says_how_many_are_left() -> None:
    many = [measured(f"s{n}", n, n, n) for n in range(1, leaderboard.MOST + 8)]
    page = leaderboard.render(having(*many), themselves)
    assert page.count('<td class="place">') == leaderboard.MOST
    assert "7 more students are not shown." in page


def test_pseudonyms_are_stable_and_without_the_key_say_nothing_of_who_is_who() -> None:
    everybody = [f"student{n}" for n in range(3000)]
    given_ = leaderboard.pseudonyms("key", everybody)
    assert len(set(given_.values())) == 3000
    few = leaderboard.pseudonyms("key", everybody[:5])
    assert few == {name: given_[name] for name in everybody[:5]}, "names stay the same in a larger class"
    one, other = (leaderboard.pseudonyms(key, NAMES) for key in ("one", "other"))
    assert not set(one.values()) & set(other.values())
    assert not any(name in pseudonym for name, pseudonym in one.items())


def test_the_instructor_chooses_the_names(tmp_path: Path) -> None:
    def shown(how: str) -> dict[str, str]:
        name_of = leaderboard.names_for(how, "key", NAMES)
        return {student: name_of(student) for student in NAMES}

    names = tmp_path / "names.csv"
    names.write_text("ada,Ada L.\nbob,\nkim,X\n")
    hidden = leaderboard.pseudonyms("key", NAMES)
    assert shown("pseudonyms") == hidden
    assert shown("students") == {name: name for name in NAMES}
    assert shown(str(names)) == {**hidden, "ada": "Ada L.", "bob": ""}
    refused = {"kim,X\n": "has no student of this class", "ada,X\nbob,X\n": "gives two students the name 'X'"}
    for text, why in refused.items():
        names.write_text(text)
        with pytest.raises(UsageError, match=why):
            shown(str(names))
    with pytest.raises(UsageError, match="cannot be read"):
        shown(str(tmp_path / "missing.csv"))
