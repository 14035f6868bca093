"""The command `submit`: which files the zip contains, which it lacks, and the points that `submit` prints."""

import re
import shutil
import zipfile
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pytest
from classroom import KIT, hand_in, notebook
from student_kit import LESSON, at_a_terminal, edit, exercise_of, in_kit, notebook_of, solve, student_kit

from grader import catalogue, paths
from grader.desk.submit import is_submission, write_zip
from grader.hand_ins.manifest import Manifest, ManifestEntry
from grader.hand_ins.refusal import digest

FILE, NOTEBOOK = f"lessons/exercises/{LESSON}.py", f"notebooks/{LESSON}.ipynb"
LESSONS = catalogue.load().lessons


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    return student_kit(tmp_path)


def packed(kit: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(kit / "submission.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def row(out: str, lesson: str) -> str:
    (line,) = (line for line in out.splitlines() if line.startswith(f"  {lesson}."))
    return re.sub(r"saved \d\d \w+ \d\d:\d\d", "saved", " ".join(line.split()))


def test_a_solved_notebook_is_packed_and_listed_with_its_points(kit: Path) -> None:
    solve(notebook_of(kit))
    ended = in_kit(kit, "submit")
    assert ended.code == 0, ended.err
    files = packed(kit)
    assert files[f"{LESSON}.ipynb"] == notebook_of(kit).read_bytes()
    assert f"{LESSON}.py" not in files
    assert len(files) == 2
    assert row(ended.out, LESSON) == f"{LESSON}.ipynb 10 / 10 ← {NOTEBOOK}, saved"
    assert "Total: 10 of 10 points in 1 exercise." in ended.out
    others = ", ".join(lesson for lesson in LESSONS if lesson != LESSON)
    assert f"Not in the zip, because you have not changed them: {others}." in " ".join(ended.out.split())
    assert "Now your files are graded on this machine." in ended.out


def test_without_a_change_there_is_nothing_to_hand_in_unless_a_file_is_named(kit: Path) -> None:
    ended = in_kit(kit, "submit", "--no-grade")
    assert (ended.code, (kit / "submission.zip").exists()) == (2, False)
    assert ended.err.startswith("You have not changed any exercise")
    _, _, named = ended.err.strip().partition("fairclock submit ")
    assert in_kit(kit, "submit", "--no-grade", named).code == 0
    assert packed(kit).keys() == {Path(named).name, "manifest.json"}


def test_of_two_changed_files_without_a_terminal_nothing_is_written_until_one_is_named(kit: Path) -> None:
    edit(exercise_of(kit), "raise NotImplementedError", "return 1 / 0 or")
    solve(notebook_of(kit))
    ended = in_kit(kit, "submit")
    assert ended.code == 2
    assert f"fairclock submit --take {NOTEBOOK} or fairclock submit --take {FILE}" in ended.err
    assert not (kit / "submission.zip").exists()
    taken = in_kit(kit, "submit", "--no-grade", "--take", NOTEBOOK)
    assert taken.code == 0
    assert f"Not used: {FILE}: you chose {NOTEBOOK}." in taken.out
    assert packed(kit).keys() == {f"{LESSON}.ipynb", "manifest.json"}


def test_what_is_not_python_is_packed_and_shown_as_python_shows_it(kit: Path) -> None:
    edit(notebook_of(kit), "def blocked_autorange(", "def blocked_autorange(:")
    exercise_of(kit).unlink()
    exercise_of(kit, "13_bytecode").write_text("x = 1\ndef f(:\n    pass\n")
    for ended in (in_kit(kit, "submit", "--no-grade"), in_kit(kit, "submit")):
        assert (ended.code, "13_bytecode.py" in packed(kit)) == (1, True)
        assert re.search(r"13_bytecode.py is not Python: .* \(line 2\)\.\n +def f\(:\n +\^\n", ended.out)
        assert re.search(rf"{NOTEBOOK}, cell .* is not Python: .*\n +def blocked.*\n +\^\n", ended.out)
    assert re.search(r"Total: 0 of \d+ points in 2 exercises\.", ended.out)


def test_submit_packs_renamed_work_under_its_name_and_one_lesson_if_it_is_named(kit: Path) -> None:
    place = kit / "hw" / "my solution.PY"
    place.parent.mkdir()
    place.write_bytes(paths.solution(LESSON).read_bytes())
    exercise_of(kit, "13_bytecode").write_text("x = 1")
    for word in ("4", LESSON, "autorange", "hw"):
        ended = in_kit(kit, "submit", word, "--no-grade")
        assert (ended.code, set(packed(kit))) == (0, {f"{LESSON}.py", "manifest.json"}), word
        assert row(ended.out, LESSON) == f"{LESSON}.py – / 10 ← hw/my solution.PY, saved"
    assert in_kit(kit, "submit", "4", "13", "--no-grade").code == 0
    assert packed(kit).keys() == {f"{LESSON}.py", "13_bytecode.py", "manifest.json"}
    assert "There is no exercise, file or folder 'autorangee'. Did you mean" in in_kit(kit, "submit", "autorangee").err


def test_submit_stops_where_an_unchanged_exercise_would_replace_better_work(kit: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "far away" / "ex4.py"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(paths.solution(LESSON).read_bytes())
    exercise_of(kit, "13_bytecode").write_text("x = 1")
    assert in_kit(kit, "check", elsewhere).code == 0
    assert in_kit(kit, "check", LESSON).code == 1, "fewer points do not hide the better file"
    takes = f"fairclock submit --take '{elsewhere}'"
    for words in ((), ("4",), (FILE,)):
        ended = in_kit(kit, "submit", *words)
        assert (ended.code, ended.out, (kit / "submission.zip").exists()) == (1, "", False), words
        assert f"`check` gave 10 points to {elsewhere}. To hand it in: {takes}." in ended.err
        assert f"the unchanged exercise (fairclock submit --take {FILE})." in ended.err
    for allowed in (("13",), ("--take", elsewhere)):
        assert in_kit(kit, "submit", "--no-grade", *allowed).code == 0, allowed
    edit(exercise_of(kit), "    raise NotImplementedError", "    return 1")
    ended = in_kit(kit, "submit", "4", "--no-grade")
    assert (ended.code, f"{elsewhere} (saved" in ended.err, FILE in ended.err) == (2, True, True), "both are changed"
    shutil.copy(paths.stub(LESSON), exercise_of(kit))
    elsewhere.unlink()
    assert f"your work was in {elsewhere}, which is gone or unchanged" in in_kit(kit, "submit").err
    place = kit / "found again.py"
    place.write_bytes(paths.solution(LESSON).read_bytes())
    assert "you changed found again.py. To hand it in: " in in_kit(kit, "submit", "lessons/exercises").err


def test_ctrl_c_while_grading_leaves_the_zip(kit: Path) -> None:
    endless = "    while True:\n        pass\n    raise NotImplementedError"
    edit(exercise_of(kit), "    raise NotImplementedError", endless)
    child = at_a_terminal(kit, "submit")
    child.expect("Checking 04_autorange")
    child.sendcontrol("c")
    child.expect("Grading stopped. submission.zip is complete and has all")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert "Traceback" not in child.before
    assert packed(kit)[f"{LESSON}.py"] == exercise_of(kit).read_bytes()


def test_the_zip_holds_the_exercises_and_a_manifest_and_is_known_until_it_is_changed(tmp_path: Path) -> None:
    out, copy = tmp_path / "new" / "out.zip", tmp_path / "02_timer (1).ipynb"
    copy.write_bytes(notebook("y = 2"))
    files = {"01_dot": hand_in(tmp_path, "kit", "x = 1"), "02_timer": copy}
    assert not write_zip(files, out, kit=KIT)
    with zipfile.ZipFile(out) as archive:
        assert archive.namelist() == ["01_dot.py", "02_timer.ipynb", "manifest.json"]
        manifest = Manifest.from_json(archive.read("manifest.json"))
    entries = (("01_dot", "01_dot.py", b"x = 1"), ("02_timer", "02_timer.ipynb", notebook("y = 2")))
    assert manifest == Manifest(KIT, tuple(ManifestEntry(lesson, name, digest(data)) for lesson, name, data in entries))
    assert is_submission(out)
    assert write_zip(files, out, kit=KIT), "an older zip is replaced"
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr(".notes", "mine")
    assert not is_submission(out)
