"""Making stubs from solutions, keeping stubs that a person has edited, and the texts for the teacher's pack."""

import json
import shutil
from pathlib import Path

import pytest

from grader import catalogue, paths
from grader.authoring import task_texts
from grader.authoring.stubs import SolutionError, stub_of, write_all
from grader.desk import originals
from grader.errors import UsageError


def test_what_stands_outside_the_marks_is_kept_and_what_is_between_is_not() -> None:
    solution = "import math\n# BEGIN SOLUTION\nSECRET = 3\n# END SOLUTION\nprint(math.pi)\n"
    assert stub_of(solution) == "import math\nprint(math.pi)\n"
    double = "def double(x):\n    # BEGIN SOLUTION\n    return 2 * x\n    # END SOLUTION\n"
    assert stub_of(double) == 'def double(x):\n    raise NotImplementedError("Write double.")\n'
    lines = double.replace("    return", "    # STUB: for x in xs:\n    # STUB:     print(x)\n    return")
    assert stub_of(lines) == "def double(x):\n    for x in xs:\n        print(x)\n"


def test_marks_that_do_not_fit_are_one_clear_sentence() -> None:
    for solution, message in (
        ("# BEGIN SOLUTION\n", "line 1 never ends"),
        ("x = 1\n# END SOLUTION\n", "Line 2 is '# END SOLUTION', but the mark before it must be '# BEGIN SOLUTION'"),
        ("# BEGIN SOLUTION\n# BEGIN SOLUTION\n# END SOLUTION\n", "Line 2 is '# BEGIN SOLUTION', but"),
        ("if True:\n# BEGIN SOLUTION\n    x = 1\n# END SOLUTION\n", "would not be valid Python"),
    ):
        with pytest.raises(SolutionError, match=message):
            stub_of(solution)


def test_the_committed_stub_is_the_one_generated_from_the_solution() -> None:
    for lesson in catalogue.load().lessons:
        solution = paths.solution(lesson).read_text(encoding="utf-8")
        stub = stub_of(solution)
        assert paths.stub(lesson).read_text(encoding="utf-8") == stub, lesson
        assert originals.listed(lesson) == originals.row(stub), f"{lesson}: run `python -m grader stubs`"


@pytest.fixture
def exercises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use copies of the exercises and solutions instead of the real ones."""
    folder = tmp_path / "lessons" / "exercises"
    shutil.copytree(paths.EXERCISES, folder)
    shutil.copytree(paths.SOLUTIONS, tmp_path / "solutions")
    monkeypatch.setattr(paths, "KIT", tmp_path)
    monkeypatch.setattr(paths, "EXERCISES", folder)
    monkeypatch.setattr(paths, "SOLUTIONS", tmp_path / "solutions")
    monkeypatch.setattr(originals, "LISTING", folder / "notebooks.json")
    return folder


def test_a_stub_that_somebody_solved_is_left_and_all_others_are_written(exercises: Path) -> None:
    edited, other = exercises / "04_autorange.py", exercises / "13_bytecode.py"
    before = originals.listed("04_autorange")
    edited.write_text("def blocked_autorange(): return 3\n")
    other.unlink()
    for _ in range(2):  # the second call refuses as well
        with pytest.raises(UsageError, match=r"lessons/exercises/04_autorange\.py was edited.* --force"):
            list(write_all())
    assert edited.read_text() == "def blocked_autorange(): return 3\n"
    assert other.is_file()
    assert originals.listed("04_autorange") == before
    list(write_all(force=True))
    assert "NotImplementedError" in edited.read_text()


def test_a_stub_that_nobody_edited_follows_its_solution_and_a_kit_without_solutions_says_so(exercises: Path) -> None:
    solution = paths.solution("04_autorange")
    solution.write_text(solution.read_text() + "\nLIMIT = 3\n")
    list(write_all())
    stub = (exercises / "04_autorange.py").read_text()
    assert "LIMIT = 3" in stub
    assert originals.code_digest(stub) == originals.listed("04_autorange")[originals.CODE]
    solution.unlink()
    with pytest.raises(UsageError, match="no solutions"):
        list(write_all())
    assert originals.code_digest(stub) == originals.listed("04_autorange")[originals.CODE]


def test_every_task_is_printed_with_its_wrong_answers(capsys: pytest.CaptureFixture[str]) -> None:
    task_texts.main()
    printed = json.loads(capsys.readouterr().out)
    tasks = list(catalogue.all_tasks())
    assert [(each["lesson"], each["name"]) for each in printed["tasks"]] == [(task.lesson, task.name) for task in tasks]
    for each, task in zip(printed["tasks"], tasks, strict=True):
        assert len(each["wrong_answers"]) == len(task.wrong_answers)
        assert len(each["thresholds"]) == len(task.tiers)
        assert max(row["points"] for row in [*each["thresholds"], {"points": each["points_if_right"]}]) == task.points
        for wrong in each["wrong_answers"]:
            assert wrong["explanation"]
            compile(wrong["code"], wrong["name"], "exec")
