"""The question files: CSV, Moodle XML, and QTI 1.2 as Canvas imports it, checked against the published rules."""

import csv
import html
import io
import re
import zipfile
from functools import cache
from xml.etree import ElementTree as ET

import pytest
from teachers_pack import pages, parsed, small_page

from lessons.engine.markup import plain
from lessons.guide import bank, question_files
from lessons.guide.bank import Question
from lessons.guide.question_files import as_csv, as_moodle_xml, as_qti

QTI = "{http://www.imsglobal.org/xsd/ims_qtiasiv1p2}"
PACKAGE = "{http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1}"
CHILDREN = {
    "questestinterop": r"objectbank |assessment ",
    "objectbank": r"(qtimetadata )*((section|item) )+",
    "assessment": r"(qtimetadata )*(section )+",
    "section": r"(qtimetadata )*((item|section) )*",
    "qtimetadata": r"(qtimetadatafield )+",
    "qtimetadatafield": r"fieldlabel fieldentry ",
    "item": r"(itemmetadata )?(presentation )?(resprocessing )*(itemfeedback )*",
    "itemmetadata": r"(qtimetadata )*",
    "presentation": r"((material|response_lid) )+",
    "material": r"(mattext )+",
    "response_lid": r"(material )?render_choice ",
    "render_choice": r"(material )*(response_label )*",
    "response_label": r"((material|flow_mat) )*",
    "resprocessing": r"outcomes (respcondition )+",
    "outcomes": r"(decvar )+",
    "respcondition": r"conditionvar (setvar )*(displayfeedback )*",
    "conditionvar": r"((other|varequal) )+",
    "itemfeedback": r"((material|flow_mat) )+",
    "flow_mat": r"((flow_mat|material) )+",
    **dict.fromkeys(["fieldlabel", "fieldentry", "mattext", "decvar", "setvar", "displayfeedback"], ""),
    **dict.fromkeys(["other", "varequal"], ""),
}
"""The elements that each element of QTI 1.2 may contain, of those that the pack uses.

Source: IMS Question and Test Interoperability, ASI XML binding, version 1.2, January 2002.
"""

REQUIRED = {
    "objectbank": {"ident"},
    "assessment": {"ident"},
    "section": {"ident"},
    "item": {"ident"},
    "response_lid": {"ident"},
    "response_label": {"ident"},
    "itemfeedback": {"ident"},
    "displayfeedback": {"linkrefid"},
    "varequal": {"respident"},
}


@cache
def questions() -> tuple[Question, ...]:
    """Return the questions of all lessons."""
    return tuple(question for page in pages().values() for question in bank.questions_of(page))


def members(package: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(package)) as opened:
        assert opened.testzip() is None
        return {name: opened.read(name).decode() for name in opened.namelist()}


def rules_broken(root: ET.Element) -> list[str]:
    """Return each element that breaks a rule of QTI 1.2."""
    broken = []
    for element in root.iter():
        tag = element.tag.removeprefix(QTI)
        inside = "".join(f"{child.tag.removeprefix(QTI)} " for child in element)
        if tag not in CHILDREN or not re.fullmatch(CHILDREN[tag], inside):
            broken.append(f"{tag}: {inside}")
        broken += [f"{tag} has no {name}" for name in REQUIRED.get(tag, set()) - set(element.keys())]
    return broken


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
    assert rules_broken(root) == []
    items = list(root.iter(f"{QTI}item"))
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
