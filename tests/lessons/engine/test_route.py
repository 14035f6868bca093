"""The two paths through the lessons."""

from pathlib import Path

import pytest

from harness.errors import UsageError
from lessons.engine import route
from lessons.engine.catalogue import entries, lesson_names
from lessons.engine.listing import FIRST_SUCCESS_MIN
from lessons.engine.route import FULL, PATHS, SHORT, lessons_of, previous


def test_the_full_path_has_each_lesson_once_and_the_short_path_has_four() -> None:
    assert sorted(PATHS[FULL]) == list(lesson_names())
    assert [name[:2] for name in PATHS[SHORT]] == ["02", "04", "09", "05"]


def test_each_path_has_the_prerequisites_of_a_lesson_before_it() -> None:
    places = [(path, place, name) for path in PATHS.values() for place, name in enumerate(path)]
    entries_ = {entry.name: entry for entry in entries()}
    assert [name for path, place, name in places if not set(entries_[name].prerequisites) <= set(path[:place])] == []
    assert {name for entry in entries_.values() for name in entry.prerequisites} <= set(lesson_names())
    assert entries_[PATHS[FULL][0]].steps_within(FIRST_SUCCESS_MIN) >= 2, "the first lesson has an early success"


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


def test_without_a_readable_choice_the_path_is_full(tmp_path: Path) -> None:
    assert route.chosen(tmp_path) == FULL
    for content in (b"", b"shrot\n", b"\xff"):
        (tmp_path / route.FILE).write_bytes(content)
        assert route.chosen(tmp_path) == FULL


def test_a_choice_that_cannot_be_kept_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="FAIRCLOCK_STATE"):
        route.choose(SHORT, tmp_path / "file")
