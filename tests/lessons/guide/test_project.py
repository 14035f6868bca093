"""The project and its rubric."""

from pathlib import Path

import pytest

from lessons.guide import project


def test_the_rubric_has_a_hundred_points_and_each_row_has_three_levels() -> None:
    loaded = project.load()
    assert loaded.points == 100
    for row in loaded.rubric:
        assert len({row.full, row.half, row.none}) == 3
    assert loaded.tasks
    assert loaded.optional


def test_an_unknown_field_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "project.toml"
    file.write_text(project.FILE.read_text(encoding="utf-8").replace("hours =", "hour ="), encoding="utf-8")
    with pytest.raises(TypeError, match="hour"):
        project.load(file)
