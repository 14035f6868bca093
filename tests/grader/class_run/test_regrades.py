import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from classroom import DOT, KIT, TASKS, collected, grade, hand_in, run
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.class_run import journal
from grader.class_run.journal import Journal
from grader.class_run.regrades import HeldGradings
from grader.class_run.standing import Graded
from grader.course.by_hand import HandEntry
from grader.course.roll import Roll
from grader.records import Submission

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
POINTS = {"right": 6.0, "edge": 10.0, "wrong": 0.0, "boom": None}
COURSE = """
attempts = "{}"
[late]
percent_per_day = 50
[lessons]
01_dot.due = 2026-05-04T23:59:59Z
02_timer.weight = 3
"""


@contextmanager
def open_class(which: str = "latest") -> Iterator[tuple[Journal, dict[str, Submission]]]:
    """Yield the journal of a class, and its submissions by their text. Ada and Bob handed in the same file."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "hw1"
        for student, time, text in (
            ("ada", "2026-05-04T09-00-00", "right"),
            ("ada", "2026-05-06T09-00-00", "right again"),
            ("bob", "2026-05-04T09-00-00", "right"),
            ("zoe", "2026-05-04T09-00-00", "wrong"),
        ):
            hand_in(folder / student, time, text)
        found = collected(folder)
        with journal.claim(Path(place) / "out", folder, kit=KIT) as book:
            book.enrol(found, TASKS)
            book.keep({"course": COURSE.format(which)})
            yield book, {str(one.source): one for one in found.submissions}


def again(book: Journal, one: Submission, result: str, *, held: bool, regrade: bool = True) -> None:
    """Grade a submission with this result: a word of `POINTS`."""
    if result == "boom":
        (verdict,) = (report := grade(replace(one, source="noisy"))).verdicts
        report = replace(report, verdicts=(verdict,), submission=one)
    else:
        report = replace(grade(replace(one, source=result)), submission=one)
    book.add(Graded(report, NOON, NOON + timedelta(seconds=1)), again=regrade, held=held)


def points(roll: Roll, student: str) -> float | None:
    return roll.grades()[student].get("01_dot")


def test_a_held_regrade_changes_nothing_until_it_is_published() -> None:
    with open_class() as (book, of):
        for text, one in of.items():
            again(book, one, text.split()[0], held=True, regrade=False)
        assert book.held() == HeldGradings(), "a first grade is not held"
        before = book.roll()
        assert [points(before, one) for one in ("ada", "bob", "zoe")] == [0.0, 6.0, 0.0]
        again(book, of["right"], "edge", held=True)
        again(book, of["wrong"], "boom", held=True)
        assert replace(book.roll(), at=None) == replace(before, at=None)
        held = book.held()
        (change,) = held.changes
        assert (change.student, change.task, len(held.gradings)) == ("bob", DOT, 2), "Ada's later attempt counts"
        assert change.before
        assert change.after
        assert [change.before.points, change.after.points] == [6.0, 10.0]
        assert (change.counted_before, change.counted_after) == (6.0, 10.0)
        assert (change.total_before, change.total_after) == (15.0, 25.0), "of a lesson with weight 1 and one with 3"
        assert book.discard_held(held.gradings[:1]) == 1
        assert (book.held().changes, book.publish_held(), book.publish_held()) == ((), 1, 0)
        assert replace(book.roll(), at=None) == replace(before, at=None)


def test_the_list_of_changes_has_other_choices_of_an_attempt_and_points_by_hand() -> None:
    with open_class("best") as (book, of):
        for text, one in of.items():
            again(book, one, text.split()[0], held=False, regrade=False)
        book.give(HandEntry("bob", DOT, 7.0, "", "grace", NOON))
        again(book, of["right"], "wrong", held=True)
        again(book, of["right again"], "edge", held=True)
        found = {one.student: one for one in book.held().changes}
        assert {who: (one.counted_before, one.counted_after) for who, one in found.items()} == {
            "ada": (6.0, 0.0),  # the edge of 10 points is two days late
            "bob": (7.0, 7.0),
        }
        book.publish_held()
        assert [points(book.roll(), one) for one in ("ada", "bob")] == [0.0, 7.0]


Step = tuple[str, str, bool]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["right", "right again", "wrong"]), st.sampled_from([*POINTS]), st.booleans()),
        st.tuples(st.sampled_from(["publish", "discard"]), st.just(""), st.booleans()),
    ),
    max_size=8,
)


@settings(max_examples=30)
@given(which=st.sampled_from(["latest", "best", "first"]), steps=STEPS)
def test_the_newest_published_grade_counts_and_the_list_foretells_publishing(which: str, steps: list[Step]) -> None:
    with open_class(which) as (book, of):
        counting: dict[str, list[tuple[int, str]]] = {text: [] for text in of}
        held: list[tuple[int, str, str]] = []
        number = 0
        for what, result, flag in [*steps, ("publish", "", False)]:
            if what in of:
                number += 1
                hold = flag and any(was != "boom" for _, was in counting[what])
                again(book, of[what], result, held=flag)
                if hold:
                    held.append((number, what, result))
                else:
                    counting[what].append((number, result))
                continue
            before, listed = book.roll(), book.held()
            assert listed.gradings == tuple(one for one, _, _ in held)
            chosen = held[:1] if flag else held
            settle = book.publish_held if what == "publish" else book.discard_held
            assert settle([one for one, _, _ in chosen] if flag else None) == len(chosen)
            held = held[len(chosen) :]
            after = book.roll()
            if what == "discard":
                assert replace(after, at=None) == replace(before, at=None)
                continue
            for one, text, was in chosen:
                counting[text].append((one, was))
            if not flag:
                expected = {who: points(before, who) for who in before.students}
                expected |= {one.student: one.counted_after for one in listed.changes}
                assert {who: points(after, who) for who in after.students} == expected
            for lesson in book.student_lessons():
                for attempt in lesson.may_count:
                    text = next(text for text, one in of.items() if one.content == attempt.hand_in.content)
                    real = [was for _, was in sorted(counting[text]) if was != "boom"]
                    assert attempt.points == (POINTS[real[-1]] if real else None)


def test_regrading_with_run_publishes_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "hw1"
    hand_in(folder, "ada")
    run(folder)
    summary, _ = run(folder, grade_one=lambda one, seed: grade(replace(one, source="edge"), seed), regrade=["ada"])
    assert points(summary.roll, "ada") == 10.0
    with journal.read(tmp_path / "out") as book:
        assert book.held().gradings == ()
