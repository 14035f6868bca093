"""Staff change the roster on pages: who is on it, what the list on the disk keeps, and whose hand-ins these are."""

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from exported import CANVAS, MOODLE
from hypothesis import given, settings
from hypothesis import strategies as st
from served_course import STUDENTS, Served

from grader import paths
from grader.class_run import students_csv
from grader.course.roster import FILE, Person, Roster
from grader.errors import UsageError
from grader.server import intake, roster_edits, staff_edits
from grader.server.edits import Edit, spelled_value

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
LISTS = {
    "own": 'id,name,email,section,other_names,phone\n1,Ada,a@x,tue,,11\n\n2,Ren Ota,,wed,rota,\'22\n,Zoë,,,,"3\n3"\n',
    "semicolons": '\ufeffsep=;\r\nid;name;notes\r\n1;Ada;"a;b"\r\n2;Ren Ota;c',
    "two lines": "id\tname\tsection\tnotes\n1\tAda\ttue\tx\n2\tRen Ota\ttue\ty\n1\tAda\twed\tz\n",
    "names only": "name\nAda\nRen Ota\n",
    "split names": "OrgDefinedId,Username,Last Name,First Name,Email\n#1,#al,,Ada,a@x\n#2,#rota,Ota,Ren,r@x\n",
    "canvas": CANVAS,
    "moodle": MOODLE,
}
TEXTS = st.one_of(
    st.sampled_from(["Ada", "Ren Ota", "1", "2", "a@x", "=1+1", 'q"x', "Ota, Ren", "x;y", "مريم", "-", "1.0", " a "]),
    st.text(max_size=4),
)
PEOPLE = st.builds(
    Person,
    TEXTS.filter(bool),
    st.one_of(st.just(""), TEXTS),
    st.one_of(st.just(""), TEXTS, st.just("new@x")),
    st.lists(TEXTS, max_size=2).map(tuple),
    st.lists(TEXTS, max_size=2).map(tuple),
)
CHANGES = st.lists(st.tuples(st.integers(0, 4), st.one_of(st.none(), PEOPLE), st.sets(st.integers(0, 4))), max_size=4)


@settings(max_examples=30)
@given(name=st.sampled_from([*LISTS]), steps=CHANGES)
def test_a_changed_list_is_read_from_its_file_as_it_holds(
    name: str, steps: list[tuple[int, Person | None, set[int]]]
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / FILE
        path.write_text(LISTS[name], encoding="utf-8", newline="")
        changes: list[Edit] = []
        for at, drawn, fields in steps:
            people = roster_edits.read(path, changes).people
            old = people[at] if at < len(people) else None
            new = _mixed(old, drawn, fields) if old and drawn else drawn
            key = (FILE, *roster_edits.key_of(old)) if old else roster_edits.ADDED
            value = spelled_value(roster_edits.new_fields(old, new, people)) if new else None
            if not (old or new) or (wanted := _holding(path, made := [*changes, Edit(key, value, "g", NOW)])) is None:
                continue
            changes = made
            if old and not new:
                assert wanted.people == tuple(one for one in people if one != old)
            if data := _written(path, changes):
                (again := path.with_name("again.csv")).write_bytes(data)
                assert students_csv.read(again) == wanted
                if len(changes) == 1:
                    assert roster_edits.read(again, changes) == wanted, "as after a crash while they were written"
        assert path.read_bytes().decode() == LISTS[name]


def _mixed(old: Person, new: Person, fields: set[int]) -> Person:
    """Return `old` with some of the fields of `new`, given by their numbers."""
    values = ((getattr(old, one), getattr(new, one)) for one in Person.__slots__)
    return Person(*(pair[number in fields] for number, pair in enumerate(values)))


def _holding(path: Path, changes: list[Edit]) -> Roster | None:
    """Return the roster with these changes, or None if one of them is refused."""
    try:
        return roster_edits.read(path, changes)
    except UsageError:
        return None


def _written(path: Path, changes: list[Edit]) -> bytes | None:
    """Return the list with these changes, or None if its columns cannot hold them."""
    try:
        return roster_edits.written(path, changes)
    except UsageError as error:
        if "cannot hold the changes" in str(error):
            return None
        raise


def test_the_other_columns_and_the_order_of_the_list_are_kept(tmp_path: Path) -> None:
    path = tmp_path / FILE
    path.write_text(LISTS["own"], encoding="utf-8", newline="")
    values: list[tuple[tuple[str, ...], Mapping[str, str | list[str]] | None]] = [
        ((FILE, "id", "1"), {"email": "=ada@x"}),
        ((FILE, "name", "Zoë"), None),
        ((FILE, "id", "2"), {"sections": ["wed", "fri"]}),
        (roster_edits.ADDED, {"name": "Jo, the 3rd"}),
    ]
    changes = [Edit(key, spelled_value(value), "grace", NOW) for key, value in values]
    assert roster_edits.written(path, changes).decode() == (
        "id,name,email,section,other_names,phone\n1,Ada,'=ada@x,tue,,11\n\n2,Ren Ota,,wed;fri,rota,'22\n"
        ',"Jo, the 3rd",,,,\n'
    )


def _change(served: Served, student: str, person: Person | None) -> None:
    with served.course.opened() as opened:
        staff_edits.change_person(served.course, opened, student, person, "grace", NOW)


def _add(served: Served, person: Person) -> None:
    with served.course.opened() as opened:
        staff_edits.add_person(served.course, opened, person, "grace", NOW)


def _points_of(served: Served, name: str) -> list[str]:
    """Return the paths of a student's hand-ins, as the journal has them."""
    with served.course.opened() as opened:
        roll = opened.book.roll(name)
        return [one.path for one in roll.waiting]


def _hand_in(served: Served, student: str) -> intake.Receipt:
    with served.course.opened() as opened:
        data = io.BytesIO(paths.solution("04_autorange").read_bytes() + f"# {student}\n".encode())
        receipt = intake.store(served.course, opened, student, data, "04_autorange.py", "", NOW)
    intake.read(served.course, receipt.number)
    return receipt


@pytest.mark.parametrize("student", ["Ren Ota", "Ada <b>L</b>", "Noor"])
def test_a_renamed_student_keeps_hand_ins_receipts_and_login(served: Served, student: str) -> None:
    if student == "Noor":  # known by nothing but the name
        _add(served, Person("Noor"))
    receipt = _hand_in(served, student)
    browser = served.browser(student)
    with served.course.opened() as opened:
        person = opened.book.roster().students[student]
    _change(served, student, replace(person, name="Ren O'Tá & Co", email="new@uni.example"))
    assert _points_of(served, "Ren O'Tá & Co") == [receipt.path]
    assert _points_of(served, student) == []
    with served.course.opened() as opened:
        assert [one.path for one in intake.receipts(opened.db, "Ren O'Tá & Co")] == [receipt.path]
        assert intake.receipts(opened.db, student) == []
    page = browser.get("/")
    assert page.status_code == 200
    assert "Ren O&#39;Tá &amp; Co" in page.text


def test_changes_win_over_a_replaced_list_and_go_into_it(served: Served) -> None:
    _add(served, Person("Noor Aziz", email="noor@uni.example"))
    _change(served, "José García", None)
    with served.course.opened() as opened:
        ren = opened.book.roster().students["Ren Ota"]
    _change(served, "Ren Ota", replace(ren, email="ota@uni.example"))
    served.course.roster_file.write_text(
        "id,name,email,section,team\n700124,José García,jose@uni.example,,red\n9,Noor Aziz,Noor@uni.example,friday,\n"
        "700123,Ren K. Ota,ren@uni.example,monday,blue\n",
        encoding="utf-8",
    )
    served.course.prepare()
    with served.course.opened() as opened:
        now = opened.book.roster().people
        assert now == (
            Person("Noor Aziz", "9", "noor@uni.example", ("friday",)),
            Person("Ren K. Ota", "700123", "ota@uni.example", ("monday",), ("ren@uni.example",)),
        )
        assert staff_edits.write_back(served.course, opened, "grace", NOW) == (FILE,)
        assert served.course.roster_file.read_text(encoding="utf-8") == (
            "id,name,email,section,team,other_names\n9,Noor Aziz,noor@uni.example,friday,\n"
            "700123,Ren K. Ota,ota@uni.example,monday,blue,ren@uni.example\n"
        )
        served.course.refresh(opened)
        assert opened.book.roster().people == now


def test_a_removed_student_keeps_the_hand_ins_and_cannot_log_in(served: Served) -> None:
    receipt = _hand_in(served, "Ren Ota")
    browser = served.browser("Ren Ota")
    _change(served, "Ren Ota", None)
    assert _points_of(served, "Ren Ota") == [receipt.path]
    assert browser.get("/").url.path == "/login" or browser.get("/").status_code == 401


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda served: _add(served, Person("Someone", "700123")), "Ren Ota is on the roster already"),
        (lambda served: _add(served, Person("ren ota")), "Ren Ota is on the roster already"),
        (lambda served: _change(served, "Ren Ota", Person("Ren Ota", "700124")), "both have the id '700124'"),
        (lambda served: _change(served, "Ren Ota", Person("")), "the student has no name"),
        (lambda served: _change(served, "Ren Ota", Person("Ren\nOta")), "cannot hold"),
        (lambda served: _change(served, "Eve", None), "Eve is not on the roster"),
    ],
)
def test_a_wrong_change_of_the_roster_is_refused(served: Served, make: Callable[[Served], None], says: str) -> None:
    with pytest.raises(UsageError, match=re.escape(says)):
        make(served)
    with served.course.opened() as opened:
        assert opened.book.roster() == students_csv.read(served.course.roster_file)
        assert len(opened.book.roster().people) == STUDENTS.count("@")
