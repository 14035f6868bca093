"""Slip days, quotas, teams, chosen attempts, hidden results and opening dates, from the course file to the pages."""

import hashlib
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from classroom import LESSONS, grade, points
from classroom import run as graded
from hypothesis import given
from hypothesis import strategies as st

from grader import reports
from grader.class_run import journal
from grader.class_run.dry_run import lines
from grader.class_run.feedback import Form, return_pages
from grader.class_run.graded_on import HandIns
from grader.class_run.hand_grading import give
from grader.class_run.standing import student_lessons
from grader.class_run.stored_attempts import StoredAttempt
from grader.class_run.summary import Summary, publish
from grader.course.course_file import parse
from grader.course.policy import Slip
from grader.course.results import HandIn
from grader.course.roll import Roll
from grader.course.roster import NO_ROSTER
from grader.records import Report, Submission

DATES = """
timezone = "UTC"
[late]
percent_per_day = 10
[lessons.01_dot]
due = 2026-11-20
[lessons.02_timer]
due = 2026-11-27
"""
TEAM = '[teams.alpha]\nstudents = ["ada", "bob"]\n'


def attempt(folder: Path, student: str, when: str, text: str = "right", lesson: str = "01_dot") -> None:
    """Write an attempt at a time such as "22T14-00"."""
    place = folder / student / f"2026-11-{when}-00"
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{lesson}.py").write_text(text)


def run(folder: Path, course: str, seen: list[str] | None = None, regrade: tuple[str, ...] = ()) -> Summary:
    def remembering(submission: Submission, seed: str) -> Report:
        if seen is not None:
            seen.append(submission.path)
        return grade(submission, seed)

    return graded(folder, None, remembering, course=course, regrade=regrade, jobs=1)[0]


def report(out: Path, course: str) -> Roll:
    """Write the reports by another course file, without grading."""
    with journal.change(out) as book:
        book.set(board="", course=parse(course, "course.toml", LESSONS))
        return publish(book)[0]


def page(out: Path, student: str) -> str:
    """Return the text of a student's page."""
    text = (out / student / reports.PAGE).read_text()
    return " ".join(re.sub(r"<[^>]+>", " ", text).replace("&#39;", "'").split())


def reason(roll: Roll, student: str = "ada", lesson: str = "01_dot") -> str:
    return roll.standings_of(student)[lesson].reason


def test_slip_days_are_spent_where_they_save_most_and_the_page_shows_the_arithmetic(tmp_path: Path) -> None:
    folder, out = tmp_path / "hw1", tmp_path / "out"
    attempt(folder, "ada", "23T12-00")
    attempt(folder, "ada", "29T12-00", "edge", "02_timer")
    roll = run(folder, DATES + "[slip_days]\nbudget = 3\nper_lesson = 2\n").roll
    spent = {lesson: one.slip for lesson, one in roll.standings_of("ada").items()}
    assert spent == {"01_dot": Slip(1, 0, 3), "02_timer": Slip(2, 0, 3)}, "1 point a day there, 0.6 here"
    assert roll.grades()["ada"] == {"01_dot": 4.8, "02_timer": 10.0}
    days = (
        "Due Fri 20 Nov 2026 23:59:59 UTC, handed in Mon 23 Nov 2026 12:00 UTC: 3 days begun. Slip days pay for 1 of "
    )
    after = "3 days, and 0 of 3 are left in the course. 2 days late: 20 % are taken off, so 4.8 of the 6 earned points"
    assert reason(roll) == f"{days}{after} count."
    assert reason(roll, lesson="02_timer").endswith(
        "Slip days pay for 2 of 2 days, and 0 of 3 are left in the course. Nothing is taken off."
    )
    shown = page(out, "ada")
    assert "0 of 3 slip days are left." in shown
    assert "before the lowest lessons are dropped" in shown
    assert "Dot 3 1 Timer 2 2" in shown
    weighted = DATES.replace("[lessons.01_dot]", "[lessons.01_dot]\nweight = 9") + "[slip_days]\nbudget = 2\n"
    assert report(out, weighted).standings_of("ada")["01_dot"].slip.days == 2, "worth more there"
    chosen = DATES + '[slip_days]\nbudget = 3\nspend = "chosen"\n[slip_days.chosen.ada]\n02_timer = 1\n'
    assert report(out, chosen).grades()["ada"] == {"01_dot": 4.2, "02_timer": 9.0}
    give(out, "ada", "02_timer.per_call", 6)
    by_hand = report(out, DATES + "[slip_days]\nbudget = 3\n")
    assert by_hand.standings_of("ada")["01_dot"].slip.days == 3, "points by hand are never late"


def test_an_attempt_over_the_quota_is_not_graded_unless_the_machine_caused_it(tmp_path: Path) -> None:
    folder, seen = tmp_path / "hw1", list[str]()
    for minute, text in ((0, "boom"), (5, "wrong"), (10, "edge"), (15, "right")):
        attempt(folder, "ada", f"20T12-{minute:02}", text)
    course = f'attempts = "best"\n[quota]\nattempts = 2\nrefill_hours = 4\n{DATES.replace("timezone", "#")}'.replace(
        "due = 2026-11-20", "due = 2026-11-20T23:00:00Z"
    ).replace("due = 2026-11-27", "due = 2026-11-27T23:00:00Z")
    roll = run(folder, course, seen).roll
    assert len(seen) == 2, "the first two"
    says = "The quota is 2 attempts, and one more every 4 hours. This attempt came 3 hours 45 minutes too early."
    assert [one.why for one in roll.set_aside] == [says]
    roll = run(folder, course, seen).roll
    assert seen[2:] == ["ada/2026-11-20T12-00-00/01_dot.py", "ada/2026-11-20T12-10-00/01_dot.py"], "an internal error"
    assert [one.path for one in roll.set_aside] == ["ada/2026-11-20T12-15-00/01_dot.py"]
    assert says in page(tmp_path / "out", "ada")
    assert says in (tmp_path / "out" / reports.PAGE).read_text()
    assert says in json.loads((tmp_path / "out" / "ada" / reports.RESULTS).read_text())["output"]
    for hour, minute, tokens, late in ((12, 20, 0, ""), (16, 0, 1, ""), (23, 30, 2, "1 day late")):
        with journal.read(tmp_path / "out") as book:
            now = book.hand_in_now("ada", "01_dot", datetime(2026, 11, 20, hour, minute, tzinfo=UTC))
        assert (now.tokens, bool(now.why_not), now.lateness.startswith(late)) == (tokens, not tokens, True)
        assert now.next_token == (datetime(2026, 11, 20, 16 if hour == 12 else 20, tzinfo=UTC) if tokens < 2 else None)


def test_one_hand_in_counts_for_all_members_of_a_team(tmp_path: Path) -> None:
    folder, out, seen = tmp_path / "hw1", tmp_path / "out", list[str]()
    attempt(folder, "ada", "22T12-00", "edge")
    attempt(folder, "eve", "20T12-00", "edge")
    attempt(folder, "eve", "20T12-00", "right", "02_timer")
    people = 'students = ["ada", "bob", "eve"]\n'
    roll = run(folder, people + DATES, seen).roll
    assert roll.grades()["bob"] == {}
    later = '[extensions.bob]\nall = "1 day"\n'
    roll = report(out, people + DATES + TEAM + later)
    assert (roll.grades()["ada"]["01_dot"], roll.grades()["bob"]["01_dot"]) == (8.0, 9.0), "dates are a member's own"
    assert reason(roll, "bob").startswith("ada handed in for team alpha.")
    assert points(out)["bob"] == "9"
    assert json.loads((out / "bob" / reports.RESULTS).read_text())["score"] == 9.0
    assert "bob" not in {name for name, lessons in roll.missing().items() if "01_dot" in lessons}
    assert [one.students for one in roll.same_content] == [("ada", "eve")]
    both = people + DATES + TEAM.replace('"bob"]', '"bob", "eve"]\nlessons = ["01_dot"]\nslip_days = 2')
    roll = report(out, both)
    assert (roll.same_content, roll.grades()["eve"]["01_dot"]) == ((), 10.0), (
        "equal content is one attempt, the earlier"
    )
    assert "2 of 2 slip days are left" in page(out, "bob")
    roll = report(out, people + DATES + TEAM + "slip_days = 2\n")
    assert reason(roll, "bob").endswith(
        "Slip days pay for 2 of 2 days, and 0 of 2 are left of team alpha. Nothing is taken off."
    )
    with journal.read(out) as book:
        said, code = return_pages(book, Form.FOLDER)
    assert (code, (out / "_feedback" / "bob" / reports.PAGE).is_file()) == (0, True), said
    seen.clear()
    run(folder, "", seen, regrade=("bob",))
    assert seen == ["ada/2026-11-22T12-00-00/01_dot.py"]


def test_the_attempt_that_the_student_chose_counts(tmp_path: Path) -> None:
    folder, out, seen = tmp_path / "hw1", tmp_path / "out", list[str]()
    for hour, text in ((10, "right"), (11, "edge"), (12, "wrong")):
        attempt(folder, "ada", f"20T{hour}-00", text)
    course = f'attempts = "chosen"\n{DATES}[chosen.ada]\n01_dot = "{{}}"\n'
    first = hashlib.sha256(b"right").hexdigest()
    roll = run(folder, course.format(first[:8].upper()), seen).roll
    assert (len(seen), roll.grades()["ada"]["01_dot"]) == (3, 6.0)
    assert reason(roll) == "Attempt 1 of 3 counts: the chosen one."
    roll = report(out, course.format("00000000"))
    assert roll.unmatched == ("ada, 01_dot: attempt to be chosen, but not found (SHA-256 00000000…)",)
    assert (roll.grades()["ada"]["01_dot"], reason(roll)[-36:]) == (0.0, "the latest, because none was chosen.")
    closed = course.replace("due = 2026-11-20\n", "due = 2026-11-20T10:30:00\ncloses = 2026-11-20T11:30:00\n")
    roll = report(out, closed.format(hashlib.sha256(b"wrong").hexdigest()))
    assert "the latest, because the chosen one may not count. Due" in reason(roll)
    assert roll.grades()["ada"]["01_dot"] == 9.0


@pytest.mark.parametrize("which", ["best", "latest"])
def test_nothing_on_a_students_page_tells_a_hidden_result(which: str, tmp_path: Path) -> None:
    """The pages of a right and of a wrong hand-in are the same, apart from the digests of the files."""
    pages = list[str]()
    course = f'attempts = "{which}"\n' + DATES.replace("[lessons.01_dot]", '[lessons.01_dot]\nresults = "hidden"')
    course += "[slip_days]\nbudget = 4\n"
    for first, second in (("right", "wrong"), ("wrong", "right"), ("noisy", "boom")):
        folder = tmp_path / f"{first} {second}" / "hw1"
        out = folder.with_name("out")
        attempt(folder, "ada", "21T12-00", first)
        attempt(folder, "ada", "22T12-00", second)
        attempt(folder, "ada", "29T12-00", "right", "02_timer")
        run(folder, course)
        give(out, "ada", "01_dot.batched", 3 if first == "right" else 1, comment="secret")
        result = json.loads((out / "ada" / reports.RESULTS).read_text())
        for text in (page(out, "ada"), json.dumps(result)):
            assert "result is hidden at present" in text
            assert "secret" not in text
            assert "22 Nov 2026 12:00 UTC" in text
        pages.append(re.sub(r"[0-9a-f]{12}|\d\d:\d\d:\d\d UTC|, in [\d.]+ m?s", "", page(out, "ada")))
        assert result["score"] == 6.0
        assert [one["name"].partition(".")[0] for one in result["tests"]] == ["02_timer", "02_timer"]
        class_page = (out / reports.PAGE).read_text()
        assert "hidden from students" in class_page
        assert "secret" in class_page
    assert pages[0] == pages[1] == pages[2]
    shown = report(out, course.replace('results = "hidden"', ""))
    assert shown.grades()["ada"]["01_dot"] == 1.0
    assert "secret" in page(out, "ada")


def test_an_attempt_before_the_opening_date_does_not_count(tmp_path: Path) -> None:
    folder, out = tmp_path / "hw1", tmp_path / "out"
    attempt(folder, "ada", "10T12-00", "edge")
    attempt(folder, "ada", "20T12-00")
    attempt(folder, "bob", "10T12-00")
    course = DATES.replace("[lessons.01_dot]", "[lessons.01_dot]\nopens = 2026-11-15T08:00:00")
    course = f'attempts = "best"\nstudents = ["ada", "bob"]\n{course}'
    says = "The lesson opens Sun 15 Nov 2026 08:00 UTC. This file was handed in Tue 10 Nov 2026 12:00 UTC."
    roll = run(folder, course).roll
    assert (roll.grades(), len(roll.set_aside)) == ({"ada": {"01_dot": 6.0}, "bob": {}}, 2)
    assert says in page(out, "bob")
    section = '[sections.early]\nstudents = ["bob"]\nlessons.01_dot.opens = 2026-11-09\n'
    assert run(folder, course + section).roll.grades()["bob"] == {"01_dot": 6.0}
    with journal.read(out) as book:
        now = book.hand_in_now("ada", "01_dot", datetime(2026, 11, 14, tzinfo=UTC))
    assert now.why_not == "The lesson opens Sun 15 Nov 2026 08:00 UTC."
    found = HandIns(parse(course, "course.toml", LESSONS), NO_ROSTER, (), "")
    listed = [line for line in lines(folder, [*roll.tasks], found) if "does not count" in line]
    assert len(listed) == 2
    assert says in listed[0]


handed = st.builds(
    lambda who, content, hour, earned, refused, there, faulted: StoredAttempt(
        at=None if hour is None else datetime(2026, 11, 20, tzinfo=UTC) + timedelta(hours=hour),
        points=None if faulted == 2 else earned,
        refused=refused,
        there=there,
        grading=1,
        was_faulted=faulted > 0,
        hand_in=HandIn(who, "01_dot", f"{who}/{content}", content * 16, content),
    ),
    st.sampled_from(["ada", "bob", "eve"]),
    st.sampled_from(["0123abcd", "4567abcd", "89abcdef"]),
    st.none() | st.integers(0, 60),
    st.sampled_from([0.0, 5.0, 10.0]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 2),
)


@given(
    st.lists(handed, max_size=8, unique_by=lambda row: (row.hand_in.student, row.hand_in.content)),
    st.sampled_from(["latest", "best", "first", "chosen"]),
    st.sampled_from(["", "slip_days = 2"]),
)
def test_all_members_of_a_team_get_equal_points(rows: list[StoredAttempt], which: str, slip: str) -> None:
    rules = f'attempts = "{which}"\n{DATES}[quota]\nattempts = 2\nrefill_hours = 5\n[chosen.bob]\n01_dot = "0123abcd"\n'
    course = parse(f'{rules}[teams.alpha]\nstudents = ["ada", "bob", "eve"]\n{slip}', "course.toml")
    found = list(student_lessons(rows, course))
    assert len(found) in {0, 3}
    stands = {(one.standing.raw, one.standing.points, one.standing.reason) if one.standing else None for one in found}
    assert len(stands) <= 1
    assert len({tuple(aside.sha256 for aside in one.set_aside) for one in found}) <= 1
