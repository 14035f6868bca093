"""`fairclock practise` at a terminal and in a pipe, as a student types."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pytest
from commanding import command, nothing_left_running
from student_kit import LESSON, at_a_terminal, exercise_of, notebook_of, solve, student_kit

from grader.desk import practise, student_state
from grader.desk.file_watch import FileWatch

ENDLESS = "def blocked_autorange(*arguments, **names):\n    while True:\n        pass\n"


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAIRCLOCK_STATE", str(tmp_path / "state"))
    return student_kit(tmp_path)


def ended(child: pexpect.spawn) -> int:
    """Wait for the end of the command, and return its exit code. No traceback may be on the screen."""
    child.expect(pexpect.EOF)
    assert "Traceback" not in child.before
    child.close()
    assert isinstance(child.exitstatus, int)
    return child.exitstatus


def test_each_save_is_checked_and_enter_goes_on_after_full_marks(kit: Path) -> None:
    child = at_a_terminal(kit, "practise", "4")
    child.expect(rf"{LESSON}\s.*blocked_autorange \(10 points\).*{LESSON}.py.*Save to check")
    solve(notebook_of(kit))
    child.expect("10 / 10.*Full marks.*05_compare.*quit")
    child.sendline("v")
    child.expect("How the reference solution works")
    child.sendline("")
    child.expect(r"05_compare\s.*crossover .*Save to check")
    child.sendline("q")
    assert ended(child) == 0
    assert student_state.points_by_lesson() == {LESSON: (10, 10)}


def test_keys_come_from_a_pipe_too(kit: Path) -> None:
    def piped(typed: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(kit)}
        words = command("practise", "4")
        return subprocess.run(words, cwd=kit, env=environment, input=typed, capture_output=True, text=True, check=False)

    done = piped("h\nwhat?\nn\nQuit\n")
    assert (done.returncode, done.stderr) == (0, "")
    for said in ("Hint 1 of 3", "crossover (10 points)", "To go on: fairclock practise"):
        assert said in done.stdout
    assert piped("").returncode == 0


def test_the_next_exercise_is_the_first_unfinished_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRCLOCK_STATE", str(tmp_path))
    assert practise.unfinished_after("") == "02_timeit_vs_timer"
    full = {"02_timeit_vs_timer": {"points": 20, "possible": 20}, "04_autorange": {"points": 6, "possible": 10}}
    (tmp_path / student_state.POINTS).write_text(json.dumps({"format": 1, "lessons": full}))
    assert practise.unfinished_after("") == "01_correct_first"
    (tmp_path / "lesson_path.txt").write_text("short\n")
    assert practise.unfinished_after("") == "04_autorange"
    assert practise.unfinished_after("05_compare") == "04_autorange"


def test_a_saved_or_deleted_file_is_reported_once_and_only_when_it_no_longer_changes(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    watch = FileWatch([file])
    assert watch.changed() == []
    for text in ("a", "ab"):
        file.write_text(text)
        assert watch.changed() == [], "it changed since the last look"
    assert (watch.changed(), watch.changed()) == ([file], [])
    file.unlink()
    assert (watch.changed(), watch.changed(), watch.changed()) == ([], [file], [])


@pytest.mark.long
def test_a_deleted_half_written_or_endless_file_waits_for_the_next_save(kit: Path) -> None:
    file = exercise_of(kit)
    child = at_a_terminal(kit, "practise", "4")
    child.expect("Save to check")
    file.unlink()
    file.write_text("def blocked_autorange(:\n")
    child.expect("syntax error.*Save to check")
    file.write_text(ENDLESS)
    child.expect("timed out.*Save to check")
    new = file.rename(file.with_name("backup~")).with_name(f"{LESSON}.new.py")  # as vim saves
    solve(new)
    new.replace(file)
    child.expect("10 / 10.*Full marks")
    child.sendeof()
    assert ended(child) == 0


@pytest.mark.long
def test_ctrl_c_and_a_closed_terminal_end_a_check_cleanly(kit: Path) -> None:
    exercise_of(kit).write_text(ENDLESS)
    with nothing_left_running():
        child = at_a_terminal(kit, "practise", "4")
        child.expect("Checking")
        time.sleep(1)
        child.sendcontrol("c")
        child.expect("To go on: fairclock practise")
        assert ended(child) == 130
        child = at_a_terminal(kit, "practise", "4")
        child.expect("Checking")
        time.sleep(1)
        child.close(force=False)
        assert child.exitstatus or child.signalstatus, "the command ended"
        child = at_a_terminal(kit, "practise", "4")
        child.expect("Checking")
        child.kill(signal.SIGTERM)
        child.expect(pexpect.EOF)
        child.close()


@pytest.mark.long
def test_a_moved_kit_is_followed_and_a_deleted_one_is_named(kit: Path) -> None:
    child = at_a_terminal(kit, "practise", "4")
    child.expect("Save to check")
    moved = kit.rename(kit.with_name("renamed kit"))
    child.expect("The folder of the kit is now .*renamed kit.*Save to check")
    solve(exercise_of(moved))
    child.expect("10 / 10.*Full marks")
    moved.rename(kit)
    child.expect("The folder of the kit is now .*Full marks")
    for path in sorted(kit.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    kit.rmdir()
    child.expect("was deleted or replaced")
    assert ended(child) == 2
