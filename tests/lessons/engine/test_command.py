import gc
import json
import os
import sys
from pathlib import Path
from typing import Any

import pexpect  # type: ignore[import-untyped]
import pytest
import small_lesson

from harness.errors import MachineError
from harness.machine import environment
from lessons.engine.command import run_command
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


def test_garbage_collection_is_on_while_a_lesson_runs() -> None:
    gc.disable()
    assert run_command(small_lesson.lesson, ["--no-input", "--fast"]) == 0
    assert gc.isenabled()


def test_the_option_record_runs_the_lesson_and_its_recorder(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = []

    def recorder(folder: Path) -> list[Path]:
        asked.append(folder)
        return [folder / "b.png"]

    monkeypatch.setattr(small_lesson.lesson, "recorder", recorder)
    monkeypatch.setattr(small_lesson.lesson, "file", str(tmp_path / "small_lesson.py"))
    folder = tmp_path / "recorded" / "small_lesson"
    assert run_command(small_lesson.lesson, ["--record", "--fast"]) == 0
    assert asked == [folder]
    written = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Wrote ")]
    assert written == [f"Wrote {folder / name}." for name in ("b.png", "twice-samples.svg", "run.json")]


def test_a_recorder_that_lacks_something_does_not_prevent_the_record_of_the_steps(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def recorder(folder: Path) -> list[Path]:
        raise MachineError(f"no browser for {folder.name}")

    monkeypatch.setattr(small_lesson.lesson, "recorder", recorder)
    monkeypatch.setattr(small_lesson.lesson, "file", str(tmp_path / "small_lesson.py"))
    assert run_command(small_lesson.lesson, ["--record", "--fast"]) == MachineError.exit_code
    assert "no browser for small_lesson" in capsys.readouterr().err
    assert (tmp_path / "recorded" / "small_lesson" / "run.json").is_file()


def test_no_object_stays_frozen_after_a_lesson() -> None:
    assert run_command(small_lesson.lesson, ["--no-input", "--fast"]) == 0
    assert gc.get_freeze_count() == 0


@needs_a_terminal
def test_a_student_at_a_terminal_answers_and_sees_the_right_answer(state: Path) -> None:
    child = at_a_terminal(state)
    child.expect("Enter skips")
    child.sendline("what?")
    child.expect("not one of the answers")
    child.expect("Enter skips")
    child.sendline("b")
    child.expect("Your answer: no. The right answer: yes.")
    child.expect("Enter continues")
    child.sendline("")
    passes(child, "")
    child.expect("Your turn")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert ProgressFile(state).load()["small_lesson"].predictions["twice"].answer == "no"


@needs_a_terminal
@pytest.mark.parametrize(("key", "code"), [("d", 0), ("c", 130)])
def test_a_student_can_leave_at_a_prompt_and_keeps_the_finished_steps(state: Path, key: str, code: int) -> None:
    child = at_a_terminal(state)
    passes(child, "a")
    child.expect("four times")
    child.expect("Enter skips")
    leaves(child, key, "You left the lesson")
    child.expect(pexpect.EOF)
    child.close()
    assert "Traceback" not in child.before
    assert child.exitstatus == code
    standings = ProgressFile(state).load()["small_lesson"]
    assert (standings.complete, standings.steps_done) == (False, 1)


@needs_a_terminal
def test_the_lesson_waits_after_the_result_of_each_step(state: Path) -> None:
    child = at_a_terminal(state)
    child.expect("Enter skips")
    child.sendline("a")
    child.expect("twice one is two")
    child.expect("Enter continues")
    assert child.expect(["2 of 2", pexpect.TIMEOUT], timeout=1) == 1, "the next step must wait for Enter"
    child.sendline("")
    child.expect("2 of 2")
    child.expect("Enter skips")
    child.sendline("")
    child.expect("the square root")
    child.expect("Enter continues")
    assert child.expect(["Key points", pexpect.TIMEOUT], timeout=1) == 1, "the closing words must wait for Enter"
    child.sendline("")
    child.expect("Your turn")
    assert ended(child) == 0


@needs_a_terminal
def test_a_lesson_that_was_left_continues_with_the_next_step_on_enter(state: Path) -> None:
    child = at_a_terminal(state)
    passes(child, "a")
    child.expect("Enter skips")
    leaves(child, "c", "To continue with step 2:  python -m lessons.small_lesson")
    assert ended(child) == 130
    child = at_a_terminal(state)
    child.expect("You left after step 1 of 2. Enter continues with step 2, s starts at step 1")
    child.sendline("")
    child.expect("2 of 2")
    assert "1 of 2" not in child.before
    child.expect("Step 1 runs again because this step uses the result of step 1")
    child.expect("four times 2")
    passes(child, "")
    child.expect("Your turn")
    assert ended(child) == 0
    assert kept(state).complete
    assert kept(state).held + len([one for one in kept(state).claims.values() if one == "inconclusive"]) == 2
    assert kept(state).durations_s == {}, "the duration of an incomplete session is not saved"
    child = at_a_terminal(state)
    child.expect("1 of 2")
    assert "You left after" not in child.before
    child.close(force=True)


@needs_a_terminal
def test_a_student_can_start_again(state: Path) -> None:
    child = at_a_terminal(state)
    passes(child, "a")
    child.close(force=True)
    child = at_a_terminal(state)
    child.expect("s starts at step 1")
    child.sendline("what?")
    child.expect("not one of the answers")
    child.expect("s starts at step 1")
    child.sendline("s")
    passes(child, "b", "")
    assert ended(child) == 0
    assert kept(state).predictions["twice"].answer == "no"


@needs_a_terminal
@pytest.mark.parametrize(("key", "code"), [("d", 0), ("c", 130)])
def test_leaving_at_the_question_whether_to_continue_keeps_the_unfinished_run(state: Path, key: str, code: int) -> None:
    child = at_a_terminal(state)
    passes(child, "a")
    child.close(force=True)
    for _ in range(2):
        child = at_a_terminal(state)
        child.expect("s starts at step 1")
        leaves(child, key, "To continue with step 2:  python -m lessons.small_lesson")
        assert ended(child) == code


@needs_a_terminal
def test_leaving_before_the_first_new_result_keeps_the_unfinished_run(state: Path) -> None:
    child = at_a_terminal(state)
    passes(child, "a")
    child.close(force=True)
    child = at_a_terminal(state)
    child.expect("s starts at step 1")
    child.sendline("s")
    child.expect("Enter skips")
    leaves(
        child, "c", "To continue with step 2:  python -m lessons.small_lesson"
    )  # the new run has no finished step yet
    assert ended(child) == 130


@needs_a_terminal
def test_leaving_after_the_last_result_completes_the_lesson(state: Path) -> None:
    child = at_a_terminal(state)
    passes(child, "a")
    child.expect("Enter skips")
    child.sendline("")
    child.expect("Enter continues")
    child.sendcontrol("d")
    child.expect("You left after the last step")
    assert ended(child) == 0
    assert kept(state).complete


@needs_a_terminal
def test_without_input_all_steps_of_an_unfinished_lesson_run(state: Path) -> None:
    child = at_a_terminal(state)
    passes(child, "a")
    child.close(force=True)
    child = at_a_terminal(state, "--no-input")
    child.expect("1 of 2")
    child.expect("Your turn")
    assert ended(child) == 0
    assert kept(state).left is None
    assert "default" in kept(state).durations_s


@needs_a_terminal
def test_a_json_file_needs_a_run_of_all_steps(state: Path, tmp_path: Path) -> None:
    child = at_a_terminal(state)
    passes(child, "a")
    child.close(force=True)
    child = at_a_terminal(state, "--json", str(tmp_path / "claims.json"))
    child.expect("With --json or --plots, all steps run again")
    passes(child, "a", "")
    assert ended(child) == 0
    assert len(json.loads((tmp_path / "claims.json").read_text())["claims"]) == 2


@needs_a_terminal
def test_a_complete_lesson_that_is_left_in_a_second_run_keeps_its_result(state: Path) -> None:
    assert run_command(small_lesson.lesson, ["--no-input"]) == 0
    before = kept(state)
    child = at_a_terminal(state)
    passes(child, "a")
    child.close(force=True)
    after = kept(state)
    assert (after.complete, after.claims) == (True, before.claims)
    assert after.left is not None
    assert after.left.steps == 1


@needs_a_terminal
def test_no_input_never_waits_at_a_terminal(state: Path) -> None:
    child = at_a_terminal(state, "--no-input")
    child.expect("Your turn")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_a_run_without_a_terminal_never_waits(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(small_lesson.lesson, []) == 0
    out = capsys.readouterr().out
    assert "runs up to 20 s" in out
    assert "lessons/exercises/small_lesson.py" in out
    assert "python -m grader check small_lesson" in out


def test_the_header_shows_the_time_of_the_last_run(capsys: pytest.CaptureFixture[str]) -> None:
    run_command(small_lesson.lesson, [])
    capsys.readouterr()
    run_command(small_lesson.lesson, [])
    assert "up to" not in capsys.readouterr().out
    run_command(small_lesson.lesson, ["--fast"])
    assert "runs up to 5 s" in capsys.readouterr().out


def test_a_note_below_the_header_warns_of_a_free_threaded_build(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "gil", lambda: environment.GIL_OFF)
    run_command(small_lesson.lesson, ["--fast"])
    out = " ".join(capsys.readouterr().out.split())
    assert "(free-threaded, GIL off)" in out
    assert "Compare its times only with times of such a build." in out
    monkeypatch.setattr(environment, "gil", lambda: environment.GIL_ON)
    run_command(small_lesson.lesson, ["--fast"])
    assert "free-threaded" not in capsys.readouterr().out


def test_progress_that_cannot_be_saved_does_not_stop_the_lesson(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state.write_text("a file where the folder should be")
    assert run_command(small_lesson.lesson, []) == 0
    assert capsys.readouterr().out.count("FAIRCLOCK_STATE") == 1


def test_an_error_in_the_lesson_is_one_line_and_with_debug_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(number: float = 1.0) -> float:
        return number / 0

    monkeypatch.setattr(small_lesson.lesson.steps[0], "function", fail)
    assert run_command(small_lesson.lesson, []) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert run_command(small_lesson.lesson, ["--debug"]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--json", "--notebook"])
def test_a_file_that_may_be_edited_is_overwritten_only_with_force(
    tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.json"
    path.write_text("mine")
    assert run_command(small_lesson.lesson, ["--no-input", option, str(path)]) == 2
    said = capsys.readouterr()
    assert said.out == "", "nothing was measured"
    assert "mine.json is there already" in said.err
    assert "--force" in said.err
    assert path.read_text() == "mine"
    assert run_command(small_lesson.lesson, ["--no-input", "--force", option, str(path)]) == 0
    assert path.read_text() != "mine"


def test_pictures_that_may_be_edited_are_overwritten_only_with_force(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--no-input", "--plots", str(tmp_path)]
    (tmp_path / "another-lesson.svg").write_text("not in the way")
    assert run_command(small_lesson.lesson, arguments) == 0
    (picture,) = tmp_path.glob("small_lesson-*.svg")
    picture.write_text("mine")
    capsys.readouterr()
    assert run_command(small_lesson.lesson, arguments) == 2
    assert f"{picture} is there already" in capsys.readouterr().err
    assert picture.read_text() == "mine"
    assert run_command(small_lesson.lesson, [*arguments, "--force"]) == 0
    assert picture.read_text().startswith("<svg")


def test_an_error_in_the_lesson_leaves_no_empty_json_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(small_lesson.lesson.steps[0], "function", lambda number: number / 0)
    assert run_command(small_lesson.lesson, ["--json", str(tmp_path / "claims.json")]) == 1
    assert list(tmp_path.glob("*.json")) == []
    assert capsys.readouterr().err


def test_a_run_can_start_at_a_step(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(small_lesson.lesson, ["--no-input", "--from", "2"]) == 0
    out = capsys.readouterr().out
    assert "1 of 2" not in out
    assert "Step 1 runs again because this step uses the result of step 1" in out
    assert "python -m grader check small_lesson" in out
    assert (kept(state).complete, kept(state).claims) == (False, {})
    assert run_command(small_lesson.lesson, ["--no-input", "--from", "four"]) == 0
    assert "2 of 2" in capsys.readouterr().out


def test_a_step_that_does_not_exist_is_one_sentence_with_the_steps(capsys: pytest.CaptureFixture[str]) -> None:
    for step in ("3", "0", "five"):
        assert run_command(small_lesson.lesson, ["--from", step]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert f"There is no step '{step}'" in said.err
        assert "twice, four_times" in said.err


@needs_a_terminal
def test_starting_at_the_next_step_completes_a_lesson_that_was_left(state: Path) -> None:
    child = at_a_terminal(state)
    passes(child, "b")
    child.close(force=True)
    child = at_a_terminal(state, "--from", "four_times")
    child.expect("2 of 2")
    passes(child, "8")
    child.expect("1 of 2 predictions right")
    child.expect("more than once")
    child.expect("your answer: no; right: yes")
    assert ended(child) == 0
    assert kept(state).complete


@needs_a_terminal
def test_a_lesson_begins_with_questions_about_the_previous_lesson_which_do_not_count(state: Path) -> None:
    state.mkdir()
    taken = {"last_run_utc": "2026-01-02T03:04:05+00:00", "complete": True, "steps_done": 8}
    taken |= {"claims": {}, "predictions": {}, "durations_s": {}}
    (state / "progress.json").write_text(json.dumps({"format": 1, "lessons": {"02_timeit_vs_timer": taken}}))
    lesson = str(ROOT / "lessons" / "04_autorange.py")
    child = at_a_terminal(state, "--fast", file=lesson)
    child.expect("Take first: 02_timeit_vs_timer")
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
