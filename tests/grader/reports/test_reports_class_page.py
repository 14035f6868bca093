"""The page on the class, what all pages have in common, and the texts for results and names."""

import base64
import hashlib
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import generated_class
import pytest
from exported import class_of, submission
from hypothesis import given
from hypothesis import strategies as st
from outline import Outline, policy

from grader import reports
from grader.course.class_commands import ClassCommands
from grader.course.results import HandIn
from grader.course.roll import Roll, folder_name
from grader.reports import class_page, leaderboard, student_page
from grader.reports.concerns import concerns, grouped


def shown(class_: Roll) -> str:
    return Outline(class_page.render(class_)).text


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


def test_every_student_stands_with_points_and_status() -> None:
    waiting = (HandIn("zoe", "01_dot", "zoe/01_dot.py", "00"),)
    class_ = class_of(submission(), submission("bob", "wrong"), waiting=waiting)
    outline = Outline(class_page.render(class_, board=True))
    links = {value for name, value in outline.attributes if name == "href" and value and not value.startswith("#")}
    assert links == {"leaderboard.html", *(f"{name}/report.html" for name in ("ada", "bob", "zoe"))}
    for part in ("ada 6 6 right nothing handed in", "bob 0 0 wrong nothing handed in", "zoe not graded yet"):
        assert part in outline.text


def test_what_needs_a_human_is_listed_with_its_reason_and_the_command_that_settles_it() -> None:
    for text, part in {
        "cheat": "broke the rules Tried to write results.json. Read the code. If it is honest, give the points by hand."
        " python -m grader grade --points N --comment WHY OUT eve 01_dot.batched",
        "beyond": "right, in an impossible time Too fast.",
        "edge": "right, close to a tier 10 of 10 points.",
    }.items():
        assert f"eve Dot: batched {part}" in shown(class_of(submission("eve", text)))
    why = "The zip is damaged."
    text = shown(class_of(submission("ada", None, refusal=why), submission("ada", None, "02_timer", refusal=why)))
    assert text.count(why) == 1, "a refusal for several lessons is one problem"
    assert "ada Dot, Timer refused The zip is damaged." in text


def test_the_same_problem_of_many_students_is_one_row_and_the_most_important_comes_first() -> None:
    refused = [submission(f"s{n}", None, refusal=f"The zip has {n} files too many.") for n in range(50)]
    undecided = [submission(f"t{n}", "edge") for n in range(30)]
    class_ = class_of(*undecided, *refused, submission("eve", "cheat"))
    groups = grouped(concerns(class_))
    assert [group.students for group in groups] == [1, 50, 30]
    assert [bool(group.command) for group in groups] == [True, False, False]
    text = shown(class_)
    assert text.index("eve Dot: batched broke the rules") < text.index("50 students Dot refused") < text.index("t29")


def test_each_page_says_which_command_made_it_and_only_the_class_page_its_folders() -> None:
    typed = "fairclock run /home/prof/hw1 --out grades --regrade bob"
    commands = ClassCommands("/home/prof/hw1", "grades", made_by=typed)
    class_ = replace(class_of(submission("ada", "cheat"), submission("bob")), commands=commands)
    assert typed in shown(class_)
    assert "fairclock grade --points N --comment WHY grades ada 01_dot.batched" in shown(class_)
    alone = next(alone for _, alone in class_.one_by_one())
    for page in (student_page.render(alone), leaderboard.render(class_, lambda name: name)):
        assert "with fairclock run." in page
        assert "/home" not in page
        assert "--regrade" not in page


NAMES = {
    **{name: name for name in ("<b>O'Neil</b>, =1+1", "{{ 7 * 7 }}", "a&amp;b", "مريم", "👩‍🔬")},
    '"><script>alert(1)</script>': '"><script>alert(1)</script>',
    "\u202egnp.exe": r"\u202egnp.exe",
    "ada\u200b": r"ada\u200b",
    "a\x1b[31mb": r"a\x1b[31mb",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_shown_as_just_that_and_what_nobody_would_see_is_seen(name: str) -> None:
    page = class_page.render(replace(class_of(submission(name, f"wrong {name}")), title=name))
    outline = Outline(page)
    assert outline.words.count(NAMES[name]) == 2
    assert outline.tags.count("script") == 1
    assert NAMES[name] == name or name not in page


@given(st.lists(st.text(st.characters(codec="utf-8")), unique=True))
def test_folders_of_students_are_safe_and_never_shared(names: list[str]) -> None:
    reserved = ["report.html", "grades.sqlite", "..", "con", "COM1", ".seed", ""]
    names = list(dict.fromkeys([*names, *reserved]))
    folders = [folder_name(name) for name in names]
    assert len({folder.casefold() for folder in folders}) == len(names)
    assert not set(reserved) & set(folders)
    for folder in folders:
        assert folder.isascii()
        assert 0 < len(folder) <= 64
        assert Path(folder).name == folder
        assert folder not in {".", "nul", reports.PAGE, reports.GRADEBOOK}
