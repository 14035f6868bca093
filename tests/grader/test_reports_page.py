from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from classroom import ENVIRONMENT, KIT, TASKS
from hypothesis import given
from hypothesis import strategies as st
from test_reports_gradescope import roll, submission

from grader import reports
from grader.reports import page
from grader.roll import HandIn, Roll, folder_name

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Outline(HTMLParser):
    """Collects the tags and text of a page, and fails on a tag that is not closed where it should be."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def test_the_page_needs_nothing_from_elsewhere_and_runs_nothing() -> None:
    outline = Outline(page.render(roll(submission("right"))))
    assert not {"script", "img", "link", "iframe"} & set(outline.tags)
    assert [value for name, value in outline.attributes if name in {"src", "href"}] == ["ada/results.json"]
    assert not any(name.startswith("on") for name, _ in outline.attributes)


def test_every_student_stands_with_points_and_status() -> None:
    waiting = (HandIn("zoe", "01_dot", "zoe/01_dot.py", "00"),)
    class_ = roll(submission("right"), submission("wrong", "bob"), waiting=waiting)
    text = Outline(page.render(class_)).text
    for part in ("ada 6 right nothing handed in 6", "bob 0 wrong nothing handed in 0", "zoe not graded yet"):
        assert part in text


@pytest.mark.parametrize(
    ("text", "part"),
    [("cheat", "broke the rules Tried to write results.json."), ("edge", "at a tier's edge 7.93")],
)
def test_what_needs_a_human_is_listed_with_its_reason(text: str, part: str) -> None:
    assert f"eve 01_dot.batched {part}" in Outline(page.render(roll(submission(text, "eve")))).text


def test_a_refusal_for_several_lessons_is_one_concern() -> None:
    why = "The zip is damaged."
    class_ = roll(submission(None, refusal=why), submission(None, lesson="02_timer", refusal=why))
    text = Outline(page.render(class_)).text
    assert text.count(why) == 1
    assert "ada 01_dot, 02_timer refused The zip is damaged." in text


def test_a_class_graded_without_a_sandbox_is_stamped() -> None:
    class_ = roll(submission("right"))
    bare = replace(class_, reports=(replace(class_.reports[0], sandboxed=False),))
    assert "no sandbox" in Outline(page.render(bare)).text
    assert "no sandbox" not in Outline(page.render(class_)).text


def test_each_layer_that_the_sandbox_lacked_is_named_once_with_how_many_hand_ins() -> None:
    class_ = roll(submission("right"), submission("wrong", lesson="02_timer"))
    named = f"lacked a layer for {len(class_.reports)} hand-ins. a layer"
    assert Outline(page.render(class_)).text.count(named) == 1
    whole = replace(class_, reports=tuple(replace(report, missing=()) for report in class_.reports))
    assert "lacked" not in Outline(page.render(whole)).text


def test_the_machine_and_what_was_left_aside_are_told() -> None:
    noted = replace(roll(submission("right")), notes=("ada: left aside <notes>.txt",))
    text = Outline(page.render(noted)).text
    assert ENVIRONMENT.describe() in text
    assert "ada: left aside <notes>.txt" in text


def test_a_class_of_which_nothing_is_graded_yet_has_a_page() -> None:
    assert "zoe" in Outline(page.render(Roll("hw1", KIT, ("zoe",), TASKS, (), (), ()))).text


NAMES = ["<b>O'Neil</b>, =1+1", '"><script>alert(1)</script>', "{{ 7 * 7 }}", "\u202egnp.exe", "x" * 300, "a&amp;b"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_shown_as_just_that(name: str) -> None:
    class_ = replace(roll(submission(f"wrong {name}", name)), title=name)
    outline = Outline(page.render(class_))
    assert outline.words.count(name) == 2
    assert "script" not in outline.tags


@given(st.text(st.characters(categories=["Cc"]), min_size=1))
def test_no_control_character_of_a_name_reaches_the_page(name: str) -> None:
    text = page.render(replace(roll(submission("right", f"a{name}b")), title="class"))
    assert not {char for char in text if not char.isprintable()} - set("\n\t \N{NO-BREAK SPACE}")
    assert "a" in text


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), unique=True))
def test_folders_of_students_are_safe_and_never_shared(names: list[str]) -> None:
    folders = [folder_name(name) for name in names]
    assert len({folder.casefold() for folder in folders}) == len(names)
    for folder in folders:
        assert folder.isascii()
        assert 0 < len(folder) <= 64
        assert Path(folder).name == folder
        assert folder not in {".", "..", "con", "nul", reports.PAGE, reports.GRADEBOOK, "grades.sqlite", ".seed"}


def test_nobody_can_be_named_like_another_students_folder() -> None:
    theirs = folder_name("Ada Lovelace")
    assert theirs.startswith("ada-lovelace-")
    assert folder_name(theirs) != theirs
    assert [folder_name(name) for name in ("ada", "ada_l-2")] == ["ada", "ada_l-2"]


@pytest.mark.parametrize("name", ["report.html", "grades.sqlite", "..", "con", "COM1", ".seed", ""])
def test_a_reserved_name_gets_a_folder_of_its_own(name: str) -> None:
    assert folder_name(name) != name


def test_writing_twice_changes_nothing(tmp_path: Path) -> None:
    class_ = roll(*(submission("right", name) for name in NAMES))
    assert reports.write(class_, tmp_path) == len(NAMES) + 2
    assert reports.write(class_, tmp_path) == 0
    assert len(list(tmp_path.glob("*/results.json"))) == len(NAMES)
