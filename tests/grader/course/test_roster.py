"""The roster of a course: which student is meant by a text, a folder's name or what a learning platform writes."""

import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.course.roster import Person, Roster, student_named
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
        (Sender("Li Wei"), ("Li Wei",)),
        (Sender("Li, Wei"), ("Wei Li",)),
        (Sender("liwei"), ("Li Wei", "Wei Li")),
        (Sender("abelann"), ("Ann Abel",)),
        (Sender("Anna Bel"), ()),
        (Sender("ADA"), ("Bob",)),
        (Sender("محمد IŞIK"), (TURKISH,)),
        (Sender("s1", "Bob", ("ren@uni.example",)), (REN,)),
        (Sender("s1", "Bob", ("700123",)), (REN, "Bob")),
        (Sender("zed", "Bob", ("700123",)), ("Zoe O’Neil-Straße",)),
        (Sender("s1", "José García", ("00124", "other@uni.example")), ()),
    ],
)
def test_a_sender_is_a_student_by_number_address_login_or_name_and_two_people_are_never_one(
    sender: Sender, students: tuple[str, ...]
) -> None:
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
def test_a_name_means_the_same_people_in_each_form_and_order_of_rows(
    names: Sequence[str], random: Random, form: Callable[[str], str]
) -> None:
    people = [Person(name, str(number), f"{number}@uni.example") for number, name in enumerate(names)]
    shuffled = Roster(tuple(random.sample(people, len(people))))
    roster = Roster(tuple(people))
    assert len(roster.students) == len(people)
    for name, person in zip(names, people, strict=True):
        found = {roster.students[one] for one in roster.find(Sender(name))}
        assert found == {shuffled.students[one] for one in shuffled.find(Sender(form(name)))}
        assert not any(char.isalnum() for char in name) or found
        assert roster.find(Sender("x", name, (person.email,))) == shuffled.find(Sender("x", name, (person.email,)))


def test_an_instructor_names_a_student_and_sees_the_right_spelling_after_a_mistake() -> None:
    for text, student in {
        "ren2": REN2,
        "garcía": "",
        "mallory": "mallory",
        "wei, li": "Li Wei",
        "700124": REN2,
    }.items():
        if student:
            assert student_named(text, ["mallory"], ROSTER) == student
    for text, says in {
        "jose garcia": "no student 'jose garcia' in this class. Did you mean José García",
        "Ren Ota": r"'Ren Ota' can mean Ren Ota \(700123\) or Ren Ota \(700124\)",
        "xyz": "Students: mallory, Ren Ota",
    }.items():
        with pytest.raises(UsageError, match=says):
            student_named(text, ["mallory"], ROSTER)
