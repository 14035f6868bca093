"""The question bank, the midterm, and their files: CSV, Moodle XML, and QTI 1.2 by its published rules."""

import csv
import html
import io
import re
import zipfile
from functools import cache

import pytest
from teachers_pack import pages, parsed, small_page

from lessons.engine.markup import plain
from lessons.guide import bank, question_files
from lessons.guide.bank import MISTAKE, RECALL, WORD, Question
from lessons.guide.question_files import as_csv, as_moodle_xml, as_qti

ITEM = ("itemmetadata", "presentation", "resprocessing", "itemfeedback")
"""The parts of a question in the order of QTI 1.2 (IMS Question and Test Interoperability, January 2002)."""

QTI = "{http://www.imsglobal.org/xsd/ims_qtiasiv1p2}"
PACKAGE = "{http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1}"


@cache
def questions() -> tuple[Question, ...]:
    """Return the questions of all lessons."""
    return tuple(question for page in pages().values() for question in bank.questions_of(page))


def test_each_task_has_a_question_about_a_mistake() -> None:
    asked = {question.id.rpartition("-")[0] for question in questions() if question.kind == MISTAKE}
    tasks = [f"{page.name}-{task.name}" for page in pages().values() for task in page.tasks]
    assert [task for task in tasks if task not in asked] == []


def members(package: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(package)) as opened:
        assert opened.testzip() is None
        return {name: opened.read(name).decode() for name in opened.namelist()}


@pytest.mark.parametrize(("is_bank", "name"), [(True, "bank"), (False, "quiz")])
def test_the_package_for_canvas_follows_the_rules_of_qti(is_bank: bool, name: str) -> None:
    package = as_qti(questions(), title="all questions", bank=is_bank)
    assert package == as_qti(questions(), title="all questions", bank=is_bank)
    files = members(package)
    manifest = parsed(files["imsmanifest.xml"])
    assert {file.get("href") for file in manifest.iter(f"{PACKAGE}file")} == set(files) - {"imsmanifest.xml"}
    (resource, *_) = manifest.iter(f"{PACKAGE}resource")
    assert resource.get("type") == "imsqti_xmlv1p2"
    identifiers = {each.get("identifier") for each in manifest.iter(f"{PACKAGE}resource")}
    assert {each.get("identifierref") for each in manifest.iter(f"{PACKAGE}dependency")} <= identifiers
    root = parsed(files[f"{name}/{name}.xml"])
    items = list(root.iter(f"{QTI}item"))
    assert {tuple(child.tag.removeprefix(QTI) for child in item) for item in items} == {ITEM}
    assert [item.get("ident") for item in items] == [question.id for question in questions()]


def test_canvas_gives_all_points_for_the_right_option_alone() -> None:
    text = members(as_qti(questions(), title="all questions", bank=True))["bank/bank.xml"]
    for item, question in zip(parsed(text).iter(f"{QTI}item"), questions(), strict=True):
        labels = {each.get("ident"): each for each in item.iter(f"{QTI}response_label")}
        scored = [each for each in item.iter(f"{QTI}respcondition") if each.find(f"{QTI}setvar") is not None]
        (right,) = (each.findtext(f"{QTI}conditionvar/{QTI}varequal") for each in scored)
        shown = labels[right].findtext(f"{QTI}material/{QTI}mattext") or ""
        assert as_text(shown) == plain(question.options[question.right]), question.id
        assert len(labels) == len(question.options)


def as_text(markup: str) -> str:
    """Return the text of HTML."""
    return html.unescape(re.sub(r"<[^>]+>", "", markup))


def test_moodle_gets_each_question_with_one_right_answer() -> None:
    text = as_moodle_xml(questions(), category="all questions")
    assert text.startswith("<?xml")
    places, found = [], []
    for element in parsed(text):
        assert element.tag == "question"
        if element.get("type") == "category":
            places.append(element.findtext("category/text"))
        else:
            found.append(element)
    assert "$course$/top/all questions/04_autorange/recall" in places
    for element, question in zip(found, questions(), strict=True):
        assert element.get("type") == "multichoice"
        fractions = [answer.attrib["fraction"] for answer in element.iter("answer")]
        assert sorted(fractions) == ["0"] * (len(fractions) - 1) + ["100"]
        right = element.findall("answer")[question.right]
        assert right.get("fraction") == "100"
        assert as_text(right.findtext("text") or "") == plain(question.options[question.right])
        assert [each.tag for each in element][:2] == ["name", "questiontext"]


def test_code_and_marks_survive_in_html() -> None:
    (question, *_) = (each for each in bank.questions_of(small_page()) if each.kind == bank.MISTAKE)
    (asked,) = (
        each for each in parsed(as_moodle_xml([question])).iter("question") if each.get("type") == "multichoice"
    )
    shown = asked.findtext("questiontext/text") or ""
    assert "<code>double</code>" in shown
    assert "<pre>def f():\n    return 0 &lt; 3</pre>" in shown


def test_the_spreadsheet_has_each_question_and_no_formula() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(questions()))))
    assert tuple(rows[0]) == question_files.COLUMNS
    assert [row["id"] for row in rows] == [question.id for question in questions()]
    for row, question in zip(rows, questions(), strict=True):
        assert row[f"option {row['right']}"] == plain(question.options[question.right])
        assert not [cell for cell in row.values() if cell.startswith(("=", "+", "-", "@"))], question.id


def test_the_questions_of_all_lessons_have_different_ids_and_one_right_option() -> None:
    questions = [question for page in pages().values() for question in bank.questions_of(page)]
    assert len({question.id for question in questions}) == len(questions)
    for question in questions:
        assert question.options.count(question.options[question.right]) == 1, question.id
        assert 2 <= len(question.options) <= bank.OPTIONS, question.id
        assert question.id.isascii()
    for name, page in pages().items():
        assert {question.kind for question in bank.questions_of(page)} >= {RECALL, MISTAKE}, name


def test_an_exam_has_one_question_of_each_kind_for_each_lesson() -> None:
    drawn = bank.draw_exam([small_page(), small_page()], seed=1)
    assert [each.kind for each in drawn.questions] == [RECALL, MISTAKE, WORD] * 2
    assert drawn.points == 14
    assert drawn.minutes == 15
    assert drawn == bank.draw_exam([small_page(), small_page()], seed=1)
    assert len({bank.draw_exam([small_page()], seed).questions for seed in range(9)}) > 1
