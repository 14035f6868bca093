"""`check LESSON` grades the file that the student has changed."""

import contextlib
import json
import shutil
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pytest
from student_kit import LESSON, at_a_terminal, edit, exercise_of, in_kit, notebook_of, run_and_saved, solve, student_kit

from grader import catalogue, paths
from grader.desk import exercise_notebook
from grader.desk.exercise_files import FileChoice, choose, find_files
from grader.hand_ins import originals
from grader.hand_ins.notebooks import read_notebook

FILE, NOTEBOOK = f"lessons/exercises/{LESSON}.py", f"notebooks/{LESSON}.ipynb"


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    return student_kit(tmp_path)


def choice(kit: Path) -> FileChoice:
    """Return which file of the lesson counts, if the student calls `check` in the kit."""
    with contextlib.chdir(kit):
        folders = (kit / "lessons" / "exercises", kit / "notebooks", kit)
        return choose(LESSON, find_files([LESSON], folders)[LESSON])


def taken(kit: Path) -> str:
    """Return the path of the only file that counts, or "" if the student must choose."""
    file = choice(kit).taken
    return str(file.path) if file else ""


def left_out(kit: Path) -> dict[str, str]:
    """Return the reason why each other changed file does not count."""
    return {str(file.path): why for file, why in choice(kit).left_out}


def both_changed(kit: Path) -> None:
    edit(exercise_of(kit), "raise NotImplementedError", "return 1 / 0 or")
    solve(notebook_of(kit))


def test_the_file_that_the_student_changed_is_graded_and_named_also_in_the_current_folder(
    kit: Path, tmp_path: Path
) -> None:
    assert f"Checked: {FILE}, which you have not changed yet." in in_kit(kit, "check", "04").out
    here = tmp_path / "my work"
    here.mkdir()
    assert in_kit(kit, "notebook", "04", here=here).code == 0
    solve(here / f"{LESSON}.ipynb")
    ended = in_kit(kit, "check", "04", here=here)
    assert (ended.code, "10 / 10" in ended.out) == (0, True)
    assert f"Checked: {LESSON}.ipynb, which you have changed." in ended.out


def test_two_changed_files_and_no_terminal_end_with_both_names_and_the_commands(kit: Path) -> None:
    both_changed(kit)
    ended = in_kit(kit, "check", "04")
    assert (ended.code, ended.out) == (2, "")
    assert f"You have changed {FILE} and {NOTEBOOK}" in ended.err
    assert f"fairclock check {FILE} or fairclock check {NOTEBOOK}" in ended.err
    assert in_kit(kit, "check", NOTEBOOK).code == 0


def test_at_a_terminal_the_student_is_asked_which_file_counts(kit: Path) -> None:
    both_changed(kit)
    child = at_a_terminal(kit, "check", "04")
    child.expect("Which one counts")
    child.sendeof()
    child.expect("Choose one: fairclock check ")
    child.expect(pexpect.EOF)
    child = at_a_terminal(kit, "check", "04")
    child.expect(f"1  {FILE}")
    child.expect(f"2  {NOTEBOOK}")
    child.expect("Which one counts")
    child.sendline("3")
    child.expect("Which one counts")
    child.sendline("2")
    child.expect("10 / 10")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_watching_checks_whichever_file_of_the_exercise_is_saved_until_ctrl_c(kit: Path) -> None:
    child = at_a_terminal(kit, "check", "04", "--watch")
    child.expect("not written yet")
    child.expect("Watching")
    solve(notebook_of(kit))
    child.expect("10 / 10")
    child.expect("Watching")
    notebook_of(kit).write_bytes(b"not json")
    child.expect("is not a notebook")
    child.expect("Watching")
    new = exercise_of(kit).with_name("new")
    new.write_text(exercise_of(kit).read_text() + "\nx = 1\n")
    new.replace(exercise_of(kit))  # editors save by replacing the file
    child.expect("not written yet")
    child.expect("Watching")
    child.sendcontrol("c")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 1, "the exit code is that of the last check"


def test_json_is_written_over_a_file_of_the_student_with_force_alone(kit: Path) -> None:
    (kit / "v.json").write_text("mine")
    ended = in_kit(kit, "check", "04", "--json", "v.json")
    assert (ended.code, ended.out) == (2, "")
    assert "v.json is there already" in ended.err
    assert (kit / "v.json").read_text() == "mine"
    assert in_kit(kit, "check", "04", "--json", "v.json", "--force").code == 1
    assert json.loads((kit / "v.json").read_text())["tasks"]


def test_a_changed_copy_under_another_name_is_named_and_does_not_count(kit: Path) -> None:
    names = [f"{LESSON} (1).ipynb", f"{LESSON}-Copy1.ipynb", f"{LESSON} final.py"]
    for name in names:
        copy = kit / "notebooks" / name
        shutil.copy(notebook_of(kit) if name.endswith(".ipynb") else exercise_of(kit), copy)
        solve(copy)
    ended = in_kit(kit, "check", "04")
    assert "not written yet" in ended.out
    for name in names:
        assert f"Not used: notebooks/{name}. Its name must be {LESSON}.py or {LESSON}.ipynb." in ended.out
    assert in_kit(kit, "check", f"notebooks/{names[0]}").code == 0
    exercise_of(kit).unlink()
    notebook_of(kit).unlink()
    ended = in_kit(kit, "check", "04")
    assert (ended.code, f"check 'notebooks/{names[0]}', or submit --take" in ended.err) == (2, True)
    shutil.rmtree(kit / "notebooks")
    assert f"There is no file of {LESSON}" in in_kit(kit, "check", "04").err


def test_a_notebook_that_was_only_run_or_has_the_same_code_is_no_question(
    kit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve(exercise_of(kit))
    run_and_saved(notebook_of(kit))
    assert (taken(kit), left_out(kit)) == (FILE, {})
    solve(notebook_of(kit))
    assert taken(kit) == FILE
    (kit / "notebooks.json").write_text("{")
    monkeypatch.setattr(originals, "LISTING", kit / "notebooks.json")
    found = choice(kit).taken
    assert found
    assert found.changed, "without a readable list of originals"


def test_of_a_file_and_its_export_the_one_that_went_on_counts(kit: Path) -> None:
    edit(exercise_of(kit), "raise NotImplementedError", "return 1 / 0 or")
    assert in_kit(kit, "notebook", "04").code == 0
    begun = exercise_of(kit).read_text()
    solve(exercise_of(kit))
    assert taken(kit) == FILE
    assert "has a newer version of this exercise" in left_out(kit)[f"{LESSON}.ipynb"]
    exercise_of(kit).write_text(begun)
    solve(kit / f"{LESSON}.ipynb")
    assert taken(kit) == f"{LESSON}.ipynb"
    assert "has a newer version of this exercise" in left_out(kit)[FILE]


def test_a_notebook_that_cannot_be_read_is_named_and_the_other_file_counts(kit: Path) -> None:
    solve(notebook_of(kit))
    edit(notebook_of(kit), "# Try one small case", "%timeit 3\\n# Try one small case")
    assert taken(kit) == NOTEBOOK
    solve(exercise_of(kit))
    notebook_of(kit).write_bytes(b"not json")
    assert taken(kit) == FILE
    assert "is not a notebook" in left_out(kit)[NOTEBOOK]
    shutil.rmtree(kit / "notebooks")
    (kit / "notebooks").write_text("a file where the folder should be")
    assert taken(kit) == FILE


def test_every_lesson_has_notebooks_whose_code_is_that_of_the_file() -> None:
    for lesson in catalogue.load().lessons:
        for path in (paths.stub(lesson), paths.solution(lesson)):
            source = path.read_text(encoding="utf-8")
            cells = str(read_notebook(exercise_notebook.exported(lesson, source), "it"))
            assert originals.code_digest(cells) == originals.code_digest(source), path
            same = originals.code_digest(cells) == originals.listed(lesson)[originals.CODE]
            assert same == (path == paths.stub(lesson)), path


STUB = '''"""About it."""

import math


def area(r):
    """Return the area."""
    raise NotImplementedError
'''


def test_only_a_change_of_the_code_changes_an_exercise() -> None:
    for same in (
        STUB.replace("\n", "\r\n"),
        STUB.replace('"""About it."""', '"""Something else."""'),
        "# mine\nget_ipython().system('ls')\n" + STUB + "\n\n# todo\n",
        "\ufeff" + STUB.replace("    ", "\t").replace("\n", "\r\n").replace('area."""', 'area.\r\n\t"""'),
        STUB.replace("(r)", "(\n    r  # the radius\n  )").replace("\n\n\n", "\n\f\n \n"),
        STUB + '\nif __name__ == "__main__":\n    print(area(3))\n',
    ):
        assert originals.code_digest(same) == originals.code_digest(STUB), same
    assert originals.code_digest("x = 1if y else 2") == originals.code_digest("x = 1 if y else 2"), "no warning"
    for other in (
        STUB.replace("raise NotImplementedError", "return math.pi * r**2"),
        STUB.replace("raise", "  raise"),
        STUB + '\nif __name__ == "__main__":\n    pass\nelse:\n    area = abs\n',
        "def f(:\n",
        "x = '\0'",
        "(" * 10_000,
    ):
        assert originals.code_digest(other) != originals.code_digest(STUB), other
    with_c = 'SOURCE = """\n#define N 3\n\nint f;\n"""\n'
    assert originals.code_digest(with_c) != originals.code_digest(with_c.replace("#define N 3\n", ""))
    assert originals.code_digest(with_c) != originals.code_digest(with_c.replace("N 3\n\n", "N 3\n"))
