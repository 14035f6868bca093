import base64
import hashlib
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import generated_class
import pytest
from classroom import ENVIRONMENT, KIT, TASKS
from hypothesis import given
from hypothesis import strategies as st
from outline import Outline, policy
from test_reports_gradescope import roll, submission

from grader import reports
from grader.course.roll import HandIn, Roll, folder_name
from grader.reports import class_page, leaderboard, student_page
from grader.reports.class_page import student_rows


def render(class_: Roll) -> str:
    return class_page.render(class_)


def pages() -> dict[str, str]:
    """Return a page of each kind for a generated class, by name."""
    class_ = generated_class.roll(12, rounds=20)
    alone = next(alone for _, alone in class_.one_by_one())
    return {
        "class": class_page.render(class_, reports.known_tasks(class_)),
        "leaderboard": leaderboard.render(class_, lambda name: name),
        "student": student_page.render(alone),
    }


def test_a_page_needs_nothing_from_elsewhere_and_runs_at_most_our_script() -> None:
    for name, page in pages().items():
        outline = Outline(page)
        assert not {"img", "link", "iframe", "object", "form"} & set(outline.tags)
        assert outline.tags.count("script") == (name != "student")
        assert not any(each.startswith("on") or each in {"src", "style"} for each, _ in outline.attributes)
        stated = policy(page)
        assert stated["default-src"] == "'none'"
        for tag, source in (("style", "style-src"), ("script", "script-src")):
            inside = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
            digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inside]
            assert stated[source] == ("".join(f"'sha256-{digest}'" for digest in digests) or "'none'")


def test_a_screen_reader_finds_headings_captions_scopes_and_words_for_every_chart() -> None:
    for page in pages().values():
        outline = Outline(page)
        levels = [int(tag[1]) for tag in outline.tags if re.fullmatch("h[1-6]", tag)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        assert outline.tags.count("table") == outline.tags.count("caption")
        assert all(head.get("scope") in {"col", "row"} for head in outline.all("th"))
        charts = [chart for chart in outline.all("svg") if "aria-hidden" not in chart]
        assert all(chart["role"] == "img" and len(chart["aria-label"] or "") > 20 for chart in charts)
        assert len({chart["aria-label"] for chart in charts}) == len(charts)
        ids = [attributes["id"] for _, attributes in outline.elements if "id" in attributes]
        assert len(ids) == len(set(ids))
        aims = {value for name, value in outline.attributes if name in {"aria-labelledby", "data-for"}}
        aims |= {value[1:] for name, value in outline.attributes if name == "href" and value and value.startswith("#")}
        assert aims <= set(ids)


def test_what_the_class_lacked_is_told() -> None:
    class_ = roll(submission("right"), submission("wrong", lesson="02_timer"))
    class_ = replace(class_, notes=("ada: left <notes>.txt",))
    text = Outline(render(class_)).text
    assert ENVIRONMENT.describe() in text
    assert "ada: left <notes>.txt" in text
    assert text.count("For 2 submissions, a layer of the sandbox was missing: a layer") == 1
    assert "No sandbox" not in text
    bare = replace(class_, reports=tuple(replace(report, sandboxed=False, missing=()) for report in class_.reports))
    text = Outline(render(bare)).text
    assert "No sandbox" in text
    assert "was missing" not in text
    assert "zoe" in Outline(render(Roll("hw1", KIT, ("zoe",), TASKS, (), (), ()))).text, "nothing is graded yet"


def test_every_student_stands_with_points_and_status() -> None:
    waiting = (HandIn("zoe", "01_dot", "zoe/01_dot.py", "00"),)
    class_ = roll(submission("right"), submission("wrong", "bob"), waiting=waiting)
    outline = Outline(render(class_))
    links = {value for name, value in outline.attributes if name == "href" and value and not value.startswith("#")}
    assert links == {f"{name}/report.html" for name in ("ada", "bob", "zoe")}
    text = outline.text
    for part in ("ada 6 6 right nothing handed in", "bob 0 0 wrong nothing handed in", "zoe not graded yet"):
        assert part in text


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("cheat", "broke the rules Tried to write results.json."),
        ("beyond", "right, in an impossible time Too fast."),
        ("edge", "7.93× 7.71× to 8.14× 212 10 of 10"),
    ],
)
def test_what_needs_a_human_is_listed_with_its_reason(text: str, part: str) -> None:
    assert f"eve 01_dot.batched {part}" in Outline(render(roll(submission(text, "eve")))).text


def test_an_impossible_time_is_shown_among_results_to_check_and_not_among_wrong_answers() -> None:
    (row,) = student_rows(roll(submission("beyond", "eve")))
    assert {"human", "short"} <= set(row.kinds)
    assert "wrong" not in row.kinds
    assert row.results[0].css_class == "alarm"


def test_a_refusal_for_several_lessons_is_one_concern() -> None:
    why = "The zip is damaged."
    class_ = roll(submission(None, refusal=why), submission(None, lesson="02_timer", refusal=why))
    text = Outline(render(class_)).text
    assert text.count(why) == 1
    assert "ada 01_dot, 02_timer refused The zip is damaged." in text


NAMES = ["<b>O'Neil</b>, =1+1", '"><script>alert(1)</script>', "{{ 7 * 7 }}", "x" * 300, "a&amp;b", "مريم", "👩‍🔬"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_shown_as_just_that(name: str) -> None:
    class_ = replace(roll(submission(f"wrong {name}", name)), title=name)
    outline = Outline(render(class_))
    assert outline.words.count(name) == 2
    assert outline.tags.count("script") == 1


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("\u202egnp.exe", "[U+202E]gnp.exe"),
        ("\u2066ada\u2069\u2069bob", "[U+2066]ada[U+2069][U+2069]bob"),
        ("ada\u200b", "ada[U+200B]"),
        ("a\u2028b", "a[U+2028]b"),
        ("a\x1b[31mb", "a␛[31mb"),
    ],
)
def test_what_nobody_would_see_in_a_name_is_seen(name: str, shown: str) -> None:
    class_ = replace(roll(submission("right", name)), title=name)
    outline = Outline(render(class_))
    assert outline.words.count(shown) == 2
    assert name not in render(class_)


def test_a_name_of_ten_thousand_characters_is_cut_short_in_tables() -> None:
    page = render(roll(submission("cheat", "y" * 10_000), submission("edge", "y" * 10_000, "02_timer")))
    assert "y" * 299 + "…" in page
    assert "y" * 301 not in page


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), unique=True))
def test_folders_of_students_are_safe_and_never_shared(names: list[str]) -> None:
    folders = [folder_name(name) for name in names]
    assert len({folder.casefold() for folder in folders}) == len(names)
    for folder in folders:
        assert folder.isascii()
        assert 0 < len(folder) <= 64
        assert Path(folder).name == folder
        assert folder not in {".", "..", "con", "nul", reports.PAGE, reports.GRADEBOOK, "grades.sqlite", ".seed"}


@pytest.mark.parametrize("name", ["report.html", "grades.sqlite", "..", "con", "COM1", ".seed", ""])
def test_a_reserved_name_gets_a_folder_of_its_own(name: str) -> None:
    assert folder_name(name) != name
