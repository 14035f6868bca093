"""The two paths through the lessons."""

from pathlib import Path

import pytest

from harness.errors import UsageError
from lessons.engine import route
from lessons.engine.catalogue import entries, lesson_names
from lessons.engine.listing import FIRST_SUCCESS_MIN
from lessons.engine.route import FULL, PATHS, SHORT, lessons_of, previous

ENTRIES = {entry.name: entry for entry in entries()}


def test_the_full_path_has_each_lesson_once_and_the_short_path_has_four() -> None:
    assert sorted(PATHS[FULL]) == list(lesson_names())
    assert [name[:2] for name in PATHS[SHORT]] == ["02", "04", "09", "05"]


def test_prerequisites_are_lessons() -> None:
    assert {name for entry in ENTRIES.values() for name in entry.prerequisites} <= set(lesson_names())


@pytest.mark.parametrize("path", list(PATHS))
def test_each_path_has_the_prerequisites_of_a_lesson_before_it(path: str) -> None:
    for place, name in enumerate(PATHS[path]):
        assert set(ENTRIES[name].prerequisites) <= set(PATHS[path][:place]), name


def test_the_full_path_begins_with_a_success_and_has_bytecode_before_compilers() -> None:
    order = PATHS[FULL]
    assert ENTRIES[order[0]].steps_within(FIRST_SUCCESS_MIN) >= 2
    assert order.index("01_correct_first") > 0
    assert order.index("13_bytecode") < order.index("12_jit_fusion")


def test_a_path_has_only_lessons_that_exist_and_new_lessons_are_last() -> None:
    existing = ["01_correct_first", "05_compare", "09_cprofile", "20_new"]
    assert lessons_of(SHORT, existing) == ("09_cprofile", "05_compare")
    assert lessons_of(FULL, existing) == ("01_correct_first", "05_compare", "09_cprofile", "20_new")
    assert lessons_of(SHORT, ["13_bytecode", "20_new"]) == ("13_bytecode", "20_new")


def test_the_previous_lesson_is_the_last_one_that_the_student_took() -> None:
    path = ("a", "b", "c", "d")
    assert previous("d", path, {"a", "b", "d"}) == "b"
    assert previous("a", path, {"a", "b"}) is None
    assert previous("b", path, {"c"}) is None
    assert previous("x", path, {"a"}) is None


@pytest.mark.parametrize("content", [b"", b"shrot\n", b"\xff"])
def test_without_a_readable_choice_the_path_is_full(tmp_path: Path, content: bytes) -> None:
    assert route.chosen(tmp_path) == FULL
    (tmp_path / route.FILE).write_bytes(content)
    assert route.chosen(tmp_path) == FULL


def test_a_choice_that_cannot_be_kept_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="FAIRCLOCK_STATE"):
        route.choose(SHORT, tmp_path / "file")
