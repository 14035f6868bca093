import nbformat
import pytest
from nbgrader_course import CANARY, POINTS, RIGHT, WRONG, Graded, beside, filled_in, read_grades, source_notebook
from other_graders import THEIRS


def played(answer: str) -> list[str]:
    """Run the notebook's cells as a kernel would; return the cells that failed."""
    names: dict[str, object] = {}
    failed = []
    for cell in filled_in(source_notebook(), answer).cells:
        if cell.cell_type == "code":
            try:
                exec(cell.source, names)  # noqa: S102 - this is what a notebook's cell is for
            except Exception:  # noqa: BLE001
                failed.append(cell.metadata.nbgrader.grade_id)
    return failed


def test_the_instructors_notebook_is_a_notebook_and_worth_ten_points() -> None:
    nbformat.validate(source_notebook())
    assert sum(POINTS.values()) == 10
    source = nbformat.writes(source_notebook())  # type: ignore[no-untyped-call]
    assert source.count(CANARY) == 2


@pytest.mark.parametrize(("answer", "failed"), [(RIGHT, []), (WRONG, ["visible", "hidden"])])
def test_its_tests_tell_the_controls_apart(answer: str, failed: list[str]) -> None:
    assert played(answer) == failed


def test_what_the_attacks_answer_is_wrong_in_both_tests() -> None:
    assert played("def batched_dot(a, b):\n    return a[:, 0]\n") == ["visible", "hidden"]
    assert played("def batched_dot(a, b):\n    return np.zeros(len(a))\n") == ["visible", "hidden"]


def test_a_submission_fills_in_the_cell_of_the_solution_and_nothing_else() -> None:
    before, after = source_notebook(), filled_in(source_notebook(), "x = 1")
    changed = [new.source for old, new in zip(before.cells, after.cells, strict=True) if old.source != new.source]
    assert changed == ["x = 1"]


def test_files_beside_a_submission_are_those_it_names() -> None:
    assert beside(RIGHT) == {}
    files = beside((THEIRS / "41_modules_beside_it.py").read_text(encoding="utf-8"))
    assert set(files) == {"numpy.py", "sitecustomize.py"}


def test_an_exported_gradebook_is_read_by_student() -> None:
    exported = "assignment,student_id,raw_score,score,max_score\nhw1,ada,10.0,9.5,10.0\nhw1,ben,,,10.0\n"
    assert read_grades(exported) == {"ada": Graded(9.5, 10.0), "ben": Graded(None, 10.0)}
