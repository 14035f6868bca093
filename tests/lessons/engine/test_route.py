"""The list of lessons, and the two paths through them."""

import importlib
from pathlib import Path

import pytest

from harness.errors import UsageError
from lessons.engine import route
from lessons.engine.catalogue import FOLDER, listed
from lessons.engine.listing import FIRST_SUCCESS_MIN
from lessons.engine.route import FULL, SHORT, lessons_of, previous


def test_the_list_has_each_lesson_once_with_its_minutes_and_after_its_prerequisites() -> None:
    assert sorted(listed()) == sorted(path.stem for path in FOLDER.glob("[0-9][0-9]_*.py"))
    for path in (lessons_of(FULL), lessons_of(SHORT)):
        places = list(enumerate(path))
        assert [name for place, name in places if not set(listed()[name].prerequisites) <= set(path[:place])] == []
    for name, entry in listed().items():
        assert len(entry.step_minutes) == len(importlib.import_module(f"lessons.{name}").lesson.steps), name
        assert all((entry.title, entry.exercise_minutes, entry.tasks)), name
    assert listed()[lessons_of(FULL)[0]].steps_within(FIRST_SUCCESS_MIN) >= 2, "the first lesson has an early success"


def test_a_kit_has_only_the_lessons_whose_files_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for names, short in (
        (["13_bytecode"], ["13_bytecode"]),
        (["05_compare", "09_cprofile"], ["09_cprofile", "05_compare"]),
    ):
        folder = tmp_path / names[0]
        folder.mkdir()
        for name in names:
            (folder / f"{name}.py").touch()
        monkeypatch.setattr(route, "listed", lambda folder=folder: listed(folder))
        assert lessons_of(SHORT) == tuple(short)
        assert lessons_of(FULL) == tuple(names)


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
