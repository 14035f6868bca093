import json
import os
import sys
from pathlib import Path
from typing import Any

import pexpect  # type: ignore[import-untyped]
import pytest
import small_lesson

from lessons.engine.progress import LessonProgress, ProgressFile

ROOT = Path(__file__).parents[3]

needs_a_terminal = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")


def at_a_terminal(state: Path, *arguments: str, file: str = small_lesson.__file__) -> Any:  # pexpect has no types
    """Start the small lesson, or the lesson in `file`, in a pseudo-terminal of 80 columns and 24 lines."""
    environment = {
        **os.environ,
        "FAIRCLOCK_STATE": str(state),
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm",
        "COLUMNS": "80",
    }
    return pexpect.spawn(
        sys.executable,
        [str(Path(file)), *arguments],
        env=environment,
        encoding="utf-8",
        timeout=60,
        dimensions=(24, 80),
    )


def passes(child: Any, *answers: str) -> None:
    """Type one answer per step, and press Enter after each result."""
    for answer in answers:
        child.expect("Enter skips")
        child.sendline(answer)
        child.expect("Enter continues")
        child.sendline("")


def leaves(child: Any, key: str, told: str) -> None:
    """Press Ctrl and a key at a prompt, and wait until the lesson prints `told`.

    If a signal arrives between the prompt and the first read of the terminal, CPython acts on it only after the next
    signal. This time is longest with readline, which pdb loads from Python 3.13 on. So press again after ten seconds.
    """
    for _ in range(4):
        child.sendcontrol(key)
        if child.expect([told, pexpect.TIMEOUT], timeout=10) == 0:
            return
    pytest.fail(f"Ctrl-{key} at the prompt did not end the lesson: {child.before}")


def ended(child: Any) -> int:
    """Wait for the end of the lesson and return its exit code."""
    child.expect(pexpect.EOF)
    child.close()
    assert "Traceback" not in child.before
    return int(child.exitstatus)


def kept(state: Path) -> LessonProgress:
    return ProgressFile(state).load()["small_lesson"]


@needs_a_terminal
def test_a_student_at_a_terminal_answers_and_the_lesson_waits_after_each_result(state: Path) -> None:
    child = at_a_terminal(state)
    child.expect("Enter skips")
    child.sendline("what?")
    child.expect("not one of the answers")
    child.expect("Enter skips")
    child.sendline("b")
    child.expect("Your answer: no. The right answer: yes.")
    child.expect("Enter continues")
    assert child.expect(["2 of 2", pexpect.TIMEOUT], timeout=1) == 1, "the next step must wait for Enter"
    child.sendline("")
    passes(child, "")
    child.expect("Your turn")
    assert ended(child) == 0
    assert kept(state).predictions["twice"].answer == "no"


@needs_a_terminal
def test_a_student_can_leave_with_ctrl_c_or_ctrl_d_and_continue_with_the_next_step(state: Path) -> None:
    child = at_a_terminal(state)
    passes(child, "a")
    child.expect("Enter skips")
    leaves(child, "c", "To continue with step 2:  python -m lessons.small_lesson")
    assert ended(child) == 130
    assert (kept(state).complete, kept(state).steps_done) == (False, 1)
    child = at_a_terminal(state)
    child.expect("You left after step 1 of 2. Enter continues with step 2, s starts at step 1")
    leaves(child, "d", "To continue with step 2:  python -m lessons.small_lesson")
    assert ended(child) == 0
    child = at_a_terminal(state)
    child.expect("s starts at step 1")
    child.sendline("")
    child.expect("2 of 2")
    assert "1 of 2" not in child.before
    child.expect("Step 1 runs again because this step uses the result of step 1")
    passes(child, "")
    assert ended(child) == 0
    assert kept(state).complete
    assert kept(state).durations_s == {}, "the duration of an incomplete session is not saved"


@pytest.mark.long
@needs_a_terminal
def test_a_lesson_begins_with_questions_about_the_previous_lesson_which_do_not_count(state: Path) -> None:
    state.mkdir()
    taken = {"last_run_utc": "2026-01-02T03:04:05+00:00", "complete": True, "steps_done": 8}
    taken |= {"claims": {}, "predictions": {}, "durations_s": {}}
    (state / "progress.json").write_text(json.dumps({"format": 1, "lessons": {"02_timeit_vs_timer": taken}}))
    lesson = str(ROOT / "lessons" / "04_autorange.py")
    child = at_a_terminal(state, "--fast", file=lesson)
    child.expect(r"on its own\. It is easier after 02_timeit_vs_timer\.")
    child.expect("Questions about lesson 02_timeit_vs_timer")
    for answer in ("a", "c", ""):
        child.expect("Enter skips")
        child.sendline(answer)
    child.expect(r"1 of \d")
    assert "The right answer: the time of all" in child.before or "They sort a list" in child.before
    passes(child, "a")
    child.expect("Enter skips")
    child.sendcontrol("d")
    assert ended(child) == 0
    (counted,) = ProgressFile(state).load()["04_autorange"].predictions.values()
    assert "timeit.timeit" not in counted.question
    for arguments, first in ((("--no-input",), r"1 of \d"), (("--from", "3"), r"3 of \d")):
        child = at_a_terminal(state, "--fast", *arguments, file=lesson)
        child.expect(first)
        assert "Questions about lesson" not in child.before
        child.close(force=True)
