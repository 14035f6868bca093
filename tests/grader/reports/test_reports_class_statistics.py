"""The statistics and the leaderboard of a class."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import small_tasks
from classroom import CALL, DOT, ENVIRONMENT, REPAIR
from exported import changed, class_of, submission
from outline import Outline

from grader.course.roll import Roll
from grader.kinds.peak_memory import PEAK_MEMORY
from grader.kinds.simulated import CALLS
from grader.kinds.timing import TIME
from grader.records import Control, Cost, Report, Speed, Status
from grader.reports import leaderboard
from grader.reports.class_statistics import control_line, mistakes, tasks, weakest
from grader.task import Tier

GUIDES = {DOT: small_tasks.negation(Path(), tiers=(Tier(2.0, 0.6), Tier(8.0, 1.0)))}


def failing(*cases: str) -> Roll:
    """Return a class in which each student fails on one of these cases. An empty string is a right answer."""
    class_ = class_of(*(submission(f"s{n}", "wrong" if case else "right") for n, case in enumerate(cases)))
    for number, case in enumerate(cases):
        if case:
            told = f"Fails 7 of 60 cases. The smallest: {case}\n  expected 1"
            class_ = changed(class_, number, rationale=told)
    return class_


def test_the_mistake_that_most_students_made_comes_first_with_its_share_and_usual_case() -> None:
    class_ = failing("one row", "empty", "one row", "", "other", "other")
    for number, (status, told) in {
        4: (Status.RAISED, "f raised KeyError: 1 (line 3). "),
        5: (Status.WRONG, ""),
    }.items():
        class_ = changed(class_, number, status=status, help="", rationale=f"{told}The smallest: other")
    found = mistakes(class_)
    assert [(one.what, one.case, one.students, one.share) for one in found] == [
        ("Sum, not mean.", "one row", 3, "50 %"),
        ("raised KeyError", "", 1, "17 %"),
        ("", "other", 1, "17 %"),
    ]


def test_a_task_has_its_points_and_ratios() -> None:
    both = class_of(submission("ada"), submission("bob"), submission("ada", "wrong", "02_timer"))
    class_ = class_of(submission("ada"), submission("bob", "wrong"), submission("eve", "beyond"))
    dot, call, _ = tasks(class_, GUIDES)
    assert [one.task for one in weakest(tasks(both, GUIDES))] == [CALL, REPAIR, DOT]
    assert (dot.graded, dot.share, dot.points) == (3, 2 / 3, "4 of 10")
    assert dot.ratio == "3.00×", "an impossible ratio is left out"
    assert dot.ends == "1 right, 1 wrong, 1 right, in an impossible time"
    assert (call.task, call.ratio, call.ends) == (CALL, "n/a", "none graded")


def test_the_controls_tell_how_exactly_the_machine_measures() -> None:
    class_ = class_of(*(submission(f"s{number}") for number in range(3)))
    for number, value in enumerate([1.001, 1.002, 0.99]):
        class_ = changed(class_, number, control=Control(value, value * 1.05, 0.05, True, 0 if number else 2))
    for fact in ("against itself 1.001×", "on purpose 1.051×", "2 duels repeated"):
        assert fact in control_line(class_)
    assert control_line(class_of(submission("ada", "wrong"))) == ""


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


def listed(board: leaderboard.Board) -> list[tuple[int, str]]:
    return [(place, name) for place, name, _ in board.entries]


@pytest.mark.parametrize(
    ("cost", "ratios", "expected"),
    [
        (CALLS, (30, 20.001, 20.002, 20, 5), [1, 2, 2, 2, 5]),
        (CALLS, (1, 1.01, 1.02, 1.03, 1.04), [1, 2, 3, 4, 5]),
        (PEAK_MEMORY, (3.0, 2.99, 2.96, 2.9, 2.9), [1, 1, 1, 4, 4]),
        (TIME, (2, 2, 2, 2, 2), [1, 1, 1, 1, 1]),
    ],
)
def test_equal_results_share_a_place(cost: Cost, ratios: Sequence[float], expected: list[int]) -> None:
    speeds = [Speed(ratio, ratio, ratio, 9, 1) for ratio in sorted(ratios, reverse=True)]
    assert leaderboard.places(speeds, cost) == expected
    clocked = ((5, 4.9, 5.1), (3.2, 3.15, 3.3), (3.1, 3.0, 3.2), (3, 2.9, 3.1), (1.1, 1, 1.2))
    assert leaderboard.places([Speed(ratio, low, high, 9, 1) for ratio, low, high in clocked], TIME) == [
        1,
        2,
        2,
        4,
        5,
    ], "overlap with the best"


def test_only_right_answers_with_a_number_stand_there() -> None:
    cheat = measured("bob", 8, 9, 10)
    verdict = cheat.verdicts[0]
    cheat = replace(cheat, verdicts=(replace(verdict, attempt=replace(verdict.attempt, status=Status.CHEATED)),))
    endless = measured("eve", 1, float("inf"), float("inf"))
    others = class_of(submission("may", "edge"), submission("zoe", "beyond")).reports
    (board,) = boards(having(measured("ada", 1.9, 2, 2.1), cheat, endless, *others))
    assert listed(board) == [(1, "may"), (2, "ada")]


@pytest.mark.parametrize(
    "other", [{"environment": replace(ENVIRONMENT, cpu="another")}, {"sandboxed": False}, {"notes": ("an estimate",)}]
)
def test_what_was_clocked_elsewhere_or_otherwise_never_stands_in_one_list(other: dict[str, object]) -> None:
    class_ = having(measured("ada", 1.9, 2, 2.1), measured("bob", 3.9, 4, 4.1), measured("eve", 8, 9, 10, **other))
    first, second = boards(class_)
    assert [name for _, name in listed(first)] == ["bob", "ada"]
    assert listed(second) == [(1, "eve")]
    assert (first.measured, first.warnings) != (second.measured, second.warnings)
    text = Outline(leaderboard.render(class_, themselves)).text
    assert "There are 2 lists, one for each machine and environment." in text
    assert text.count(ENVIRONMENT.describe()) == 2


def test_pseudonyms_are_stable_and_without_the_key_say_nothing_of_who_is_who() -> None:
    everybody = [f"student{n}" for n in range(3000)]
    given_ = leaderboard.pseudonyms("key", everybody)
    assert len(set(given_.values())) == 3000
    few = leaderboard.pseudonyms("key", everybody[:5])
    assert few == {name: given_[name] for name in everybody[:5]}, "names stay the same in a larger class"
    one, other = (leaderboard.pseudonyms(key, NAMES) for key in ("one", "other"))
    assert not set(one.values()) & set(other.values())
    assert not any(name in pseudonym for name, pseudonym in one.items())
