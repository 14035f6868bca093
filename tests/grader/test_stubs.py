"""From solutions to stubs, and what becomes of a stub that somebody has edited."""

import json
import shutil
from pathlib import Path

import pytest

from grader import catalogue, originals
from grader.errors import UsageError
from grader.stubs import SolutionError, stub_of, write_all


def test_what_stands_outside_the_marks_is_kept_and_what_is_between_is_not() -> None:
    solution = "import math\n# BEGIN SOLUTION\nSECRET = 3\n# END SOLUTION\nprint(math.pi)\n"
    assert stub_of(solution) == "import math\nprint(math.pi)\n"


def test_a_function_without_lines_for_the_stub_raises_and_names_itself() -> None:
    solution = "def double(x):\n    # BEGIN SOLUTION\n    return 2 * x\n    # END SOLUTION\n"
    assert stub_of(solution) == 'def double(x):\n    raise NotImplementedError("Write double.")\n'


def test_lines_for_the_stub_keep_their_indentation() -> None:
    solution = (
        "def f(xs):\n    # BEGIN SOLUTION\n    # STUB: for x in xs:\n    # STUB:     print(x)\n"
        "    return sum(xs)\n    # END SOLUTION\n"
    )
    assert stub_of(solution) == "def f(xs):\n    for x in xs:\n        print(x)\n"


@pytest.mark.parametrize(
    ("solution", "message"),
    [
        ("# BEGIN SOLUTION\n", "line 1 never ends"),
        ("x = 1\n# END SOLUTION\n", "Line 2 ends a solution that did not begin"),
        ("# BEGIN SOLUTION\n# BEGIN SOLUTION\n# END SOLUTION\n", "inside that of line 1"),
        ("if True:\n# BEGIN SOLUTION\n    x = 1\n# END SOLUTION\n", "would not be Python"),
    ],
)
def test_marks_that_do_not_fit_are_one_clear_sentence(solution: str, message: str) -> None:
    with pytest.raises(SolutionError, match=message):
        stub_of(solution)


@pytest.mark.parametrize("lesson", catalogue.load().lessons)
def test_the_committed_stub_is_the_one_generated_from_the_solution(lesson: str) -> None:
    solution = catalogue.solution(lesson).read_text(encoding="utf-8")
    assert catalogue.stub(lesson).read_text(encoding="utf-8") == stub_of(solution)


@pytest.fixture
def exercises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copies of the exercises and solutions, in place of ours."""
    folder = tmp_path / "lessons" / "exercises"
    shutil.copytree(catalogue.EXERCISES, folder)
    shutil.copytree(catalogue.SOLUTIONS, tmp_path / "solutions")
    monkeypatch.setattr(catalogue, "KIT", tmp_path)
    monkeypatch.setattr(catalogue, "EXERCISES", folder)
    monkeypatch.setattr(catalogue, "SOLUTIONS", tmp_path / "solutions")
    monkeypatch.setattr(originals, "LISTING", folder / "notebooks.json")
    return folder


def listed(exercises: Path, lesson: str) -> dict[str, object]:
    rows = json.loads((exercises / "notebooks.json").read_text())
    (row,) = (dict(row) for row in rows if row["lesson"] == lesson)
    return row


def test_a_stub_that_somebody_solved_is_left_and_all_others_are_written(exercises: Path) -> None:
    edited, other = exercises / "04_autorange.py", exercises / "13_bytecode.py"
    before = listed(exercises, "04_autorange")
    edited.write_text("def blocked_autorange(): return 3\n")
    other.unlink()
    for _ in range(2):  # the refusal is remembered
        with pytest.raises(UsageError, match=r"lessons/exercises/04_autorange\.py differs.* --force"):
            list(write_all())
    assert edited.read_text() == "def blocked_autorange(): return 3\n"
    assert other.is_file()
    assert listed(exercises, "04_autorange") == before
    list(write_all(force=True))
    assert "NotImplementedError" in edited.read_text()


def test_a_stub_that_nobody_edited_follows_its_solution(exercises: Path) -> None:
    solution = catalogue.solution("04_autorange")
    solution.write_text(solution.read_text() + "\nLIMIT = 3\n")
    list(write_all())
    assert "LIMIT = 3" in (exercises / "04_autorange.py").read_text()
    assert originals.is_original("04_autorange", (exercises / "04_autorange.py").read_text())


def test_a_kit_without_solutions_says_so(exercises: Path) -> None:
    catalogue.solution("04_autorange").unlink()
    before = (exercises / "notebooks.json").read_bytes()
    with pytest.raises(UsageError, match="no solutions"):
        list(write_all())
    assert (exercises / "notebooks.json").read_bytes() == before
