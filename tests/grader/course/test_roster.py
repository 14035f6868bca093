"""The roster of a course: which student is meant by a text, a folder's name or what a learning platform writes."""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import pytest
from classroom import hand_in, points, run
from exported import CANVAS, MOODLE
from hypothesis import given
from hypothesis import strategies as st

from grader.class_run import journal, students_csv
from grader.class_run.summary import publish
from grader.course.roll import folder_name
from grader.course.roster import Person, Roster, unclear
from grader.records import Sender
from harness.errors import UsageError

TURKISH = "I\N{LATIN SMALL LETTER S WITH CEDILLA}\N{LATIN SMALL LETTER DOTLESS I}k محمد"
REN, REN2 = "Ren Ota (700123)", "Ren Ota (700124)"
ROSTER = Roster(
    (
        Person("Ren Ota", "700123", "ren@uni.example", ("tuesday",), ("Ota, Ren", "101")),
        Person("Ren Ota", "700124", "ren2@uni.example"),
        Person("José García", "00123", "jose@uni.example"),
        Person("Zoe O’Neil-Straße", "8", "zoe@uni.example", other_names=("zed",)),
        Person("Li Wei", "5"),
        Person("Wei Li", "6"),
        Person("Ann Abel", "7"),
        Person("ada", "9"),
        Person("Bob", "ada"),
        Person(TURKISH, "11"),
    )
)


@pytest.mark.parametrize(
    ("sender", "students"),
    [
        (Sender("Ren Ota"), (REN, REN2)),
        (Sender("otaren_101", "otaren", ("101",)), (REN,)),
        (Sender("otaren_999", "otaren", ("999",)), (REN, REN2)),
        (Sender("ren2"), (REN2,)),
        (Sender(REN), (REN,)),
        (Sender("123"), ()),
        (Sender("\N{FULLWIDTH DIGIT ZERO}\N{FULLWIDTH DIGIT ZERO}123"), ("José García",)),
        (Sender("García, Jose\N{COMBINING ACUTE ACCENT}"), ("José García",)),
        (Sender("ONEIL\N{NO-BREAK SPACE}STRASSE ZOE"), ("Zoe O’Neil-Straße",)),
        (Sender("zoe_o'neil\N{NON-BREAKING HYPHEN}straße"), ("Zoe O’Neil-Straße",)),
        (Sender("Zoe O'Neil"), ()),
        (Sender("Li, Wei"), ("Wei Li",)),
        (Sender("liwei"), ("Li Wei", "Wei Li")),
        (Sender("ADA"), ("Bob",)),
        (Sender("محمد IŞIK"), (TURKISH,)),
        (Sender("s1", "Bob", ("ren@uni.example",)), (REN,)),
        (Sender("s1", "Bob", ("700123",)), (REN, "Bob")),
        (Sender("s1", "Kim Ok", ("700124",)), ()),
        (Sender("s1", "Ren Ota", ("1", "r@x.example")), ()),
        (Sender("zed", "Bob", ("700123",)), ("Zoe O’Neil-Straße",)),
        (Sender("s1", "José García", ("00124", "other@uni.example")), ()),
    ],
)
def test_a_sender_is_one_student_by_number_address_login_or_name(sender: Sender, students: tuple[str, ...]) -> None:
    assert ROSTER.find(sender) == students
    assert Roster.of(ROSTER.text) == ROSTER


NAMES = st.text(st.characters(codec="utf-8", categories=("L", "M", "N", "P", "Zs"), max_codepoint=0x3000), min_size=1)
FORMS = [
    partial(unicodedata.normalize, "NFC"),
    partial(unicodedata.normalize, "NFD"),
    str.upper,
    str.lower,
    lambda text: text.replace(" ", "\N{NO-BREAK SPACE}"),
]


@given(st.lists(NAMES, min_size=1, max_size=5), st.randoms(), st.sampled_from(FORMS))
def test_each_form_of_a_name_means_the_same(names: Sequence[str], random: Random, form: Callable[[str], str]) -> None:
    people = [Person(name, str(number), f"{number}@uni.example") for number, name in enumerate(names)]
    shuffled = Roster(tuple(random.sample(people, len(people))))
    roster = Roster(tuple(people))
    assert len(roster.students) == len(people)
    for name, person in zip(names, people, strict=True):
        found = {roster.students[one] for one in roster.find(Sender(name))}
        assert found == {shuffled.students[one] for one in shuffled.find(Sender(form(name)))}
        assert not any(char.isalnum() for char in name) or found
        assert roster.find(Sender("x", name, (person.email,))) == shuffled.find(Sender("x", name, (person.email,)))


# ------------------------------------------------------------------------------------------------ students.csv

BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
LIST = "sep=;\r\nid;name;email;section;other_names;notes\r\n00123; Søren  Kováč ;s@x;tue;sk;hi\r\n;;;;;\r\n"
FILES = {
    BOM + LIST: "00123,Søren Kováč,s@x,tue,sk\n",
    "id\tname\tsection\n1\tAda\ttue\n1\tAda\twed\n": "1,Ada,,tue;wed,\n",
    "name,email\nAda,a@x\nada,b@x": ",Ada,a@x,,\n,ada,b@x,,\n",
    CANVAS: """S-1,Ada Lovelace,,Tuesday,"Lovelace, Ada;101;ada"
S-2,Björn Schmidt,,Tuesday;Thursday,"Schmidt, Björn;102;bob"
S-3,Zoë O'Neil,zoe@uni.example,Thursday,"O'Neil, Zoë;103"
S-4,'=SUM(1),,Thursday,104;eve
""",
    MOODLE: """,Ada Lovelace,ada@uni.example,,
,Björn Schmidt,bob@uni.example,,
,Zoë O'Neil,zoe@uni.example,,
""",
    "First name,Surname,ID number,Email address,Roles,Groups\nRen,Ota,7,r@x,Student,No groups\nT,T,8,,Teacher,": (
        "7,Ren Ota,r@x,,\n"
    ),
    'First Name,Last Name,SID,Email,Role,Sections\nRen,Ota,007,r@x,Student,"A, B"\nJo,Doe,2,,,A\nJi,Doe,3,,,B': (
        "007,Ren Ota,r@x,A;B,\n2,Jo Doe,,A,\n3,Ji Doe,,B,\n"
    ),
    "OrgDefinedId,Username,Last Name,First Name,Email\n#40,#rota,Ota,Ren,r@x\n": "40,Ren Ota,r@x,,rota\n",
    "id,name,email\n'007,\u200fمحمد علي,M <m@x>; mailto:n@x\nN/A,Ada,-": "007,محمد علي,m@x,,n@x\n,Ada,,,\n",
    '"Last Name"\t"First Name"\t"Username"\t"Student ID"\n"Ota"\t"Ren"\t"rota"\t"0040"\n': "0040,Ren Ota,,,rota\n",
}


def test_a_list_of_students_is_read_from_a_spreadsheet_and_from_each_platform(tmp_path: Path) -> None:
    path = tmp_path / "students.csv"
    for encoding in ("utf-8", "utf-16"):
        for text, people in FILES.items():
            path.write_bytes(text.removeprefix(BOM).encode(encoding))
            roster = students_csv.read(path)
            assert students_csv.text_of(roster).partition("\n")[2] == people
            path.write_text(students_csv.text_of(roster), encoding="utf-8")
            assert students_csv.read(path) == roster, "what is written is read again"


def test_a_wrong_list_is_refused_with_the_lines(tmp_path: Path) -> None:
    for text, says in {
        "id,name\n1,Ada\n\n1,Bob\n": "lines 2 and 4 both have the id '1'",
        "id,name,email\n1,Ada,a@x.example\n2,Ada,A@x.example\n": "lines 2 and 3 both have the e-mail address",
        "id,name\n1,Ota, Ren\n": "line 2: more cells than headings",
        "id,name\n1.23457E+11,Ada": "line 2: a spreadsheet program has changed the id",
        "id,name\n1,\n": "line 2: the student has no name",
        "a,b\n1,2\n": "line 1: no column has the students' names",
        'id,name\n1,"Ada\n2,Bob\n': "line 2: a quote is not closed",
    }.items():
        (tmp_path / "students.csv").write_text(text)
        with pytest.raises(UsageError, match=says):
            students_csv.read(tmp_path / "students.csv")
    (tmp_path / "students.csv").write_bytes("name\nSøren".encode("latin-1"))
    with pytest.raises(UsageError, match="is not UTF-8"):
        students_csv.read(tmp_path / "students.csv")


def test_a_list_made_again_keeps_what_the_instructor_added_and_is_replaced_only_with_force(tmp_path: Path) -> None:
    export, place = tmp_path / "export.csv", tmp_path / "students.csv"
    export.write_text(CANVAS)
    assert list(students_csv.write(export, place, force=False)) == [f"{place}: 4 students."]
    place.write_text(place.read_text().replace("104;eve", "104;eve;evi"))
    kept = place.read_bytes()
    list(students_csv.write(export, place, force=False))
    assert place.read_bytes() == kept
    place.write_text(place.read_text().replace("Zoë O'Neil,", "Zoe,"))
    lines = students_csv.write(export, place, force=False)
    assert next(lines).startswith("Zoe, S-3, ")
    with pytest.raises(UsageError, match="--force"):
        list(lines)
    list(students_csv.write(export, place, force=True))
    assert place.read_bytes() == kept


def test_a_roster_joins_folders_names_who_is_missing_and_a_correction_applies_without_grading(tmp_path: Path) -> None:
    folder, out = tmp_path / "hw1", tmp_path / "out"
    decomposed = unicodedata.normalize("NFD", "José García")
    for name, text in {decomposed: "wrong", "Ren Ota": "right # r", "zed2": "right # z", "5": "edge"}.items():
        hand_in(folder, name, text)
    late = "[late]\npercent_per_day = 100\n[lessons.01_dot]\ndue = 2020-01-01T00:00:00Z\n"
    more = (
        "[sections.TUESDAY]\nlessons.01_dot.due = 2099-01-01T00:00:00Z\n[extensions.zed2]\nall = 2099-01-01T00:00:00Z\n"
    )
    summary, _ = run(folder, out, roster=ROSTER, course=late + more)
    told = "\n".join(summary.lines())
    assert "Ren Ota: matches several people. It matches 2 people: Ren Ota (700123), Ren Ota (700124)." in told
    assert "zed2: not on the roster. It is not in students.csv. Similar: Zoe O’Neil-Straße." in told
    assert "8 students handed in no attempt and got 0 points: Ann Abel, Bob, " in told
    first = points(out)
    names = ("José García", "Li Wei", "zed2", "Ren Ota", "Bob", REN)
    assert [first[one] for one in names] == ["0", "0", "6", "0", "0", ""]
    more_names = {"zoe@uni.example": ("zed2",), "ren@uni.example": ("Ren Ota",)}
    people = (replace(one, other_names=(*one.other_names, *more_names.get(one.email, ()))) for one in ROSTER.people)
    for roster in (Roster(tuple(people)), ROSTER):
        with journal.read(out) as book:
            book.set(board="", course=None, roster=roster)
            roll, _ = publish(book)
        if roster is not ROSTER:
            corrected = points(out)
            assert (corrected[REN], corrected["Zoe O’Neil-Straße"], "zed2" in corrected) == ("6", "6", False)
            assert not unclear(roll.roster, roll.senders, roll.students)
        pages = {page.parent.name for page in out.glob("*/report.html")}
        assert pages == {folder_name(one) for one in roll.students}, "no page under an earlier name is left"
    assert points(out) == first, "taking the correction back"


def test_without_a_roster_forms_of_a_name_are_one_student_and_cases_are_two_with_a_warning(tmp_path: Path) -> None:
    for name in ("José", unicodedata.normalize("NFD", "José"), "Ada", "ada"):
        hand_in(tmp_path / "hw1", name, f"right # {name}")
    summary, _ = run(tmp_path / "hw1")
    assert summary.roll.students == ("Ada", "José", "ada")
    assert "Ada and ada are 2 students here." in "\n".join(summary.lines())
