"""`check LESSON` grades the file that the student has changed."""

import contextlib
import os
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pytest
from student_kit import LESSON, at_a_terminal, edit, exercise_of, in_kit, notebook_of, run_and_saved, solve, student_kit

from grader import catalogue, paths
from grader.desk import exercise_notebook
from grader.desk.exercise_files import FileChoice, choose, find_files
from grader.desk.recognition import lessons_of
from grader.hand_ins import originals
from grader.hand_ins.notebooks import read_notebook

FILE, NOTEBOOK = f"lessons/exercises/{LESSON}.py", f"notebooks/{LESSON}.ipynb"


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    return student_kit(tmp_path)


def choice(kit: Path) -> FileChoice:
    """Return which file of the lesson counts, if the student calls `check` in the kit."""
    with contextlib.chdir(kit):
        return choose(LESSON, find_files([LESSON], [exercise_of(kit).parent, kit / "notebooks", kit])[LESSON])


def taken(kit: Path) -> str:
    """Return the path of the only file that counts, or "" if the student must choose."""
    file = choice(kit).taken
    return str(file.path) if file else ""


def left_out(kit: Path) -> dict[str, str]:
    """Return the reason why each other changed file does not count."""
    return {str(file.path): why for file, why in choice(kit).left_out}


def test_at_a_terminal_the_student_is_asked_which_changed_file_counts(kit: Path) -> None:
    edit(exercise_of(kit), "raise NotImplementedError", "return 1 / 0 or")
    solve(notebook_of(kit))
    child = at_a_terminal(kit, "check", "04")
    child.expect(f"1  {NOTEBOOK}")
    child.expect(f"2  {FILE}  ")
    child.expect("Which one counts")
    child.sendline("3")
    child.expect("Which one counts")
    child.sendline("1")
    child.expect("10 / 10")
    child.expect(pexpect.EOF)


def test_the_changed_file_is_graded_also_in_the_current_folder(kit: Path, tmp_path: Path) -> None:
    assert f"Checked: {FILE}, which you have not changed yet." in in_kit(kit, "check", "04").out
    here = tmp_path / "my work"
    here.mkdir()
    assert in_kit(kit, "notebook", "04", here=here).code == 0
    solve(here / f"{LESSON}.ipynb")
    ended = in_kit(kit, "check", "04", here=here)
    assert (ended.code, "10 / 10" in ended.out) == (0, True)
    assert f"Checked: {LESSON}.ipynb, which you have changed." in ended.out


def test_watching_checks_whichever_file_of_the_exercise_is_saved_until_ctrl_c(kit: Path) -> None:
    child = at_a_terminal(kit, "check", "04", "--watch")
    child.expect("not written yet")
    child.expect("Watching")
    solve(notebook_of(kit))
    child.expect("10 / 10")
    child.expect("Watching")
    (kit / "final.py").write_bytes(paths.solution(LESSON).read_bytes())
    child.expect("Checking final.py")
    child.expect("Watching")
    child.sendcontrol("c")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0, "the exit code is that of the last check"


SOLVED = paths.solution(LESSON).read_text(encoding="utf-8")
BARE = SOLVED[SOLVED.index("import math") :]
PLACES = (
    "my_solution.py",
    f"notebooks/{LESSON}-Copy1.ipynb",
    "hw/final/ex4.py",
    "Lo\u0308sung 4.IPYNB",
)


def place(path: Path, content: str) -> Path:
    """Write a solved exercise to a file: Python code, or a notebook whose metadata names the lesson."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        exercise_notebook.exported(LESSON, content) if path.suffix.lower() == ".ipynb" else content.encode()
    )
    return path


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("moved", [True, False])
def test_work_of_any_name_is_recognised_and_other_files_are_not(kit: Path, name: str, moved: bool) -> None:
    if moved:
        exercise_of(kit).unlink()
    place(kit / name, BARE if name.startswith("hw") else SOLVED)
    for other in (".venv/a.py", "node_modules/b.py", ".ipynb_checkpoints/c.py", f"grader_of_{LESSON}/a/b/c/d/e/f/g.py"):
        place(kit / other, SOLVED.replace("100", "101"))
    place(kit / "copy.py", paths.stub(LESSON).read_text(encoding="utf-8"))
    place(kit / "other.py", "def blocked_autorange(statement):\n    return 1\n")
    (kit / "broken.ipynb").write_text('{"cells": [1]}')
    (kit / "nowhere.py").symlink_to("nothing.py")
    (kit / "again.py").symlink_to(kit / name)
    (kit / "loop").symlink_to(kit)
    assert taken(kit) in {name, "again.py"}
    assert left_out(kit) == {}


def test_what_is_in_a_file_decides_about_its_lesson(tmp_path: Path) -> None:
    other = paths.stub("05_compare").read_text(encoding="utf-8")
    both = f"{BARE}\n{other[other.index('def crossover') :]}"
    notebook_04, metadata_only = exercise_notebook.exported(LESSON, other), exercise_notebook.exported(LESSON, "x = 1")
    cases: dict[str, tuple[bytes, tuple[str, ...]]] = {
        "05_compare.py": (SOLVED.encode(), ("05_compare",)),
        "a.py": (both.encode(), (LESSON, "05_compare")),
        "ex5.py": (both.encode(), ("05_compare",)),
        "b.ipynb": (notebook_04, ("05_compare",)),
        "c.ipynb": (metadata_only, (LESSON,)),
        "d.py": (SOLVED.encode("utf-16"), (LESSON,)),
        "e.py": (SOLVED.replace("return", "return (").encode(), (LESSON,)),
        "f.py": (b"def blocked_autorange(x):\n    pass", ()),
        "g.py": (
            b"async def blocked_autorange(run,  # b\n clock: 'a, b' = (1, 2), *, min_run_time):\n  pass",
            (LESSON,),
        ),
        "i.py": (b"TEXT = '''\ndef blocked_autorange(run, clock, min_run_time):\n    pass\n'''", ()),
    }
    for name, (data, lessons) in cases.items():
        assert lessons_of(tmp_path / name, data) == lessons, name


def test_a_file_named_by_the_student_is_checked_or_refused_in_one_sentence(kit: Path) -> None:
    os.mkfifo(kit / "pipe.py")
    assert "There is no file or folder pipe.py." in in_kit(kit, "check", "pipe.py").err
    place(kit / "ex4.py", SOLVED)
    ended = in_kit(kit, "check", "ex4.py")
    assert (ended.code, f"Hand in ex4.py with submit, which packs it as {LESSON}.py." in ended.out) == (0, True)
    cases = {
        "who.py": (b"x = 1", "has neither the name nor the functions of an exercise. Give it the name"),
        "all.py": (b"def convolve(signal, weights): 0\ndef is_slower(next_pair, threshold): 0", "may be 05"),
        "04_autorange.ipynb.txt": (b"{}", "the name of an exercise ends in .py, or in .ipynb for a notebook"),
        "4.py": (b" \n", "4.py is empty."),
        "4_autorange.py": (SOLVED.encode("utf-16"), "is saved as UTF-16"),
        "04.ipynb": (b'{\n<<<<<<< HEAD\n "cells": []\n}', "has marks of a merge conflict of git"),
    }
    for name, (data, says) in cases.items():
        (kit / name).write_bytes(data)
        ended = in_kit(kit, "check", name)
        assert (ended.code, says in ended.err, ended.out, ended.err.count("\n")) == (2, True, "", 1), (name, ended.err)


def test_a_notebook_with_the_same_code_is_no_question(kit: Path) -> None:
    solve(exercise_of(kit))
    run_and_saved(notebook_of(kit))
    assert (taken(kit), left_out(kit)) == (FILE, {})
    solve(notebook_of(kit))
    assert taken(kit) == FILE


def test_every_lesson_has_notebooks_whose_code_is_that_of_the_file() -> None:
    for lesson in catalogue.load().lessons:
        for path in (paths.stub(lesson), paths.solution(lesson)):
            source = path.read_text(encoding="utf-8")
            cells = str(read_notebook(exercise_notebook.exported(lesson, source), "it"))
            assert originals.code_digest(cells) == originals.code_digest(source), path
            same = originals.code_digest(cells) == originals.listed(lesson)
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
        "# mine\nget_ipython().system('ls')\n" + STUB + "\n\n# todo\n",
        "\ufeff" + STUB.replace("    ", "\t").replace("\n", "\r\n").replace('area."""', 'area.\r\n\t"""'),
        STUB.replace("(r)", "(\n    r  # the radius\n  )").replace("\n\n\n", "\n\f\n \n"),
        STUB + '\nif __name__ == "__main__":\n    print(area(3))\n',
    ):
        assert originals.code_digest(same) == originals.code_digest(STUB), same
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
