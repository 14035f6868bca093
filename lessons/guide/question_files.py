"""The question bank as files: CSV, Moodle XML, and a QTI 1.2 package for Canvas."""

import csv
import io
import zipfile
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from lessons.engine.markup import plain
from lessons.engine.predict import LETTERS
from lessons.guide.bank import KINDS, OPTIONS, Question
from lessons.guide.rendering import render

COLUMNS: Final = (
    *("id", "lesson", "kind", "points", "minutes", "question", "code"),
    *(f"option {letter}" for letter in LETTERS[:OPTIONS]),
    *("right", "explanation"),
)
_MOMENT: Final = (1980, 1, 1, 0, 0, 0)
"""The time of each file in the package, so that equal questions make an equal package."""


def as_csv(questions: Iterable[Question]) -> str:
    """Return the questions as CSV, one row for each. Code and texts have no marks of emphasis."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for each in questions:
        options = [plain(option) for option in each.options] + [""] * (OPTIONS - len(each.options))
        facts = (each.id, each.lesson, each.kind, each.points, f"{each.minutes:g}")
        writer.writerow([*facts, plain(each.text), each.code, *options, each.letter, plain(each.because)])
    return out.getvalue()


def as_moodle_xml(questions: Sequence[Question], *, category: str = "fairclock") -> str:
    """Return the questions as Moodle XML, with one category for each lesson and kind."""
    by_place = groupby(questions, key=lambda each: f"{each.lesson}/{each.kind}")
    groups = [(place, list(group)) for place, group in by_place]
    return render("moodle.xml", groups=groups, category=category, kinds=KINDS)


def as_qti(questions: Sequence[Question], *, title: str, bank: bool) -> bytes:
    """Return the questions as a QTI 1.2 package (zip). Canvas imports a bank, or a quiz if `bank` is false."""
    assert title.isascii()
    name = "bank" if bank else "quiz"
    texts = {
        "imsmanifest.xml": render("qti_manifest.xml", name=name, title=title),
        f"{name}/{name}.xml": render("qti.xml", questions=questions, title=title, name=name, bank=bank),
    }
    if not bank:
        total = sum(each.points for each in questions)
        texts["quiz/assessment_meta.xml"] = render("canvas_quiz.xml", title=title, points=total)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for path, text in texts.items():
            package.writestr(zipfile.ZipInfo(path, _MOMENT), text, zipfile.ZIP_DEFLATED)
    return out.getvalue()
