"""`fairclock practise` at a terminal and in a pipe, as a student types."""

import os
import subprocess
import time
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pytest
from commanding import command, nothing_left_running
from student_kit import LESSON, at_a_terminal, exercise_of, notebook_of, solve, student_kit

from grader.desk import student_state

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
