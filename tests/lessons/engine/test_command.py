"""The command of a lesson: at a terminal, with typed input, with its options, and with wrong ones."""

import gc
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pexpect  # type: ignore[import-untyped]
import pytest
import small_lesson

from harness.errors import MachineError
from lessons.engine import recall
from lessons.engine.command import run_command
from lessons.engine.progress import LessonProgress, ProgressFile

ROOT = Path(__file__).parents[3]


def at_a_terminal(state: Path, *options: str) -> Any:  # pexpect has no types
    """Start the small lesson in a pseudo-terminal of 80 columns and 24 lines."""
    settings = {"FAIRCLOCK_STATE": str(state), "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "80"}
    command, environment = [small_lesson.__file__, *options], {**os.environ, **settings}
    return pexpect.spawn(sys.executable, command, env=environment, encoding="utf-8", timeout=60, dimensions=(24, 80))


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


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_student_can_leave_with_ctrl_c_or_ctrl_d_and_continue_with_the_next_step(state: Path) -> None:
    child = at_a_terminal(state)
    passes(child, "a")
    child.expect("Enter skips")
    leaves(child, "c", "To continue with step 2:  fairclock lessons small_lesson")
    assert ended(child) == 130
    assert (kept(state).complete, kept(state).steps_done) == (False, 1)
    child = at_a_terminal(state)
    child.expect("You left after step 1 of 2. Enter continues with step 2, s starts at step 1")
    leaves(child, "d", "To continue with step 2:  fairclock lessons small_lesson")
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


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_keys_pressed_before_a_question_do_not_answer_it(state: Path) -> None:
    child = at_a_terminal(state)
    child.send("b\r\rb\r")  # before the lesson has started
    passes(child, "a")
    assert "Your answer: yes" in child.before
    child.close(force=True)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_run_from_a_later_step_continues_with_from(state: Path) -> None:
    child = at_a_terminal(state, "--from", "2")
    child.expect("Enter skips")
    leaves(child, "c", "To continue with step 2:  fairclock lessons small_lesson --from 2")


def test_garbage_collection_is_on_and_no_object_stays_frozen_after_a_lesson() -> None:
    gc.disable()
    assert run_command(small_lesson.lesson, ["--no-input", "--fast"]) == 0
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_the_option_record_runs_the_lesson_and_its_recorder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def failing(folder: Path) -> list[Path]:
        raise MachineError(f"no browser for {folder.name}")

    shutil.copy(small_lesson.__file__, tmp_path)
    lesson = replace(small_lesson.lesson, file=tmp_path / "small_lesson.py", recorder=failing)
    folder = tmp_path / "recorded" / "small_lesson"
    assert run_command(lesson, ["--record", "--fast"]) == MachineError.exit_code
    assert "no browser for small_lesson" in capsys.readouterr().err
    assert (folder / "run.json").is_file()
    lesson = replace(lesson, recorder=lambda folder: [folder / "b.png"])
    assert run_command(lesson, ["--record", "--fast"]) == 0
    written = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Wrote ")]
    assert written == [f"Wrote {folder / name}." for name in ("b.png", "run.json")]


Answer = Callable[..., tuple[int, str]]


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Answer:
    """Return a function that runs the small lesson as at a terminal.

    Its arguments are the lines that the student types, before Ctrl-D ends the input, and the options of the command.
    It returns the exit code and the printed text.
    """

    def run(*lines: str, options: Sequence[str] = ()) -> tuple[int, str]:
        typed = io.StringIO("".join(f"{line}\n" for line in lines))
        monkeypatch.setattr(typed, "isatty", lambda: True)
        monkeypatch.setattr(sys, "stdin", typed)
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("TERM", "dumb")
        code = run_command(small_lesson.lesson, options)
        return code, " ".join(capsys.readouterr().out.split())

    return run


def test_leaving_after_the_last_result_completes_the_lesson(answer: Answer, state: Path) -> None:
    code, out = answer("a", "", "")
    assert code == 0
    assert "You left after the last step" in out
    assert kept(state).complete


def test_without_input_or_with_json_all_steps_run(answer: Answer, state: Path, tmp_path: Path) -> None:
    answer("a", "")
    file = tmp_path / "claims.json"
    code, out = answer("a", options=["--json", str(file)])
    assert code == 0
    assert "With --json or --plots, all steps run again" in out
    assert [claim["id"] for claim in json.loads(file.read_text())["claims"]] == ["twice-is-two"]
    code, out = answer(options=["--no-input"])
    assert code == 0
    assert "1 of 2" in out
    assert "Your turn" in out
    assert kept(state).left is None
    assert "default" in kept(state).durations_s


def test_recall_questions_come_first_uncounted(answer: Answer, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("02_timeit_vs_timer", recall.load()["02_timeit_vs_timer"])
    monkeypatch.setattr(recall, "about_last_lesson", lambda _lesson, _done: asked)
    code, out = answer("a", "c", "", "a", "", "", "")
    assert code == 0
    assert out.index("Questions about lesson 02_timeit_vs_timer") < out.index("1 of 2 · Twice")
    assert list(kept(state).predictions) == ["twice"]
    for options in (["--no-input"], ["--from", "2"]):
        assert "Questions about lesson" not in answer("", "", options=options)[1]


def test_the_steps_are_listed_with_their_claims(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(small_lesson.lesson, ["--list-steps"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"1 +Twice +\(twice\)\n +twice-is-two: twice one is two\n2 +Four times", out)


def test_a_wrong_command_line_is_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, sentence in (
        (["--fats"], "There is no option --fats. Did you mean --fast?"),
        (["--json", "/nowhere/claims.json"], "/nowhere/claims.json cannot be written"),
        (["--json", "."], ". cannot be written"),
        (["--notebook", "/nowhere/lesson.ipynb"], "/nowhere/lesson.ipynb cannot be written"),
        (["--plots", os.devnull], "cannot be written"),
        (["surplus"], "surplus"),
        (["--from", "3"], "There is no step '3'"),
        (["--from", "five"], "twice, four_times"),
    ):
        assert run_command(small_lesson.lesson, arguments) == 2
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1)
        assert sentence in said.err


def test_without_a_terminal_a_run_never_waits(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(small_lesson.lesson, []) == 0
    out = capsys.readouterr().out
    assert "runs up to 20 s" in out
    assert "lessons/exercises/small_lesson.py" in out
    assert "fairclock check small_lesson" in out
    run_command(small_lesson.lesson, [])
    assert "up to" not in capsys.readouterr().out
    run_command(small_lesson.lesson, ["--fast"])
    assert "runs up to 5 s" in capsys.readouterr().out


def test_unsaved_progress_does_not_stop_the_lesson(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state.write_text("a file where the folder should be")
    assert run_command(small_lesson.lesson, []) == 0
    assert capsys.readouterr().out.count("FAIRCLOCK_STATE") == 1


def test_only_force_overwrites_edited_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(small_lesson.lesson, ["--no-input", "--plots", str(tmp_path)]) == 0
    (picture,) = tmp_path.glob("small_lesson-*.svg")
    (tmp_path / "another-lesson.svg").write_text("not in the way")
    for option, path, given in (
        ("--json", tmp_path / "mine.json", tmp_path / "mine.json"),
        ("--notebook", tmp_path / "mine.ipynb", tmp_path / "mine.ipynb"),
        ("--plots", picture, tmp_path),
    ):
        path.write_text("mine")
        capsys.readouterr()
        assert run_command(small_lesson.lesson, ["--no-input", option, str(given)]) == 2
        said = capsys.readouterr()
        assert said.out == "", "nothing was measured"
        assert f"{path.name} is there already" in said.err
        assert "--force" in said.err
        assert path.read_text() == "mine"
        assert run_command(small_lesson.lesson, ["--no-input", "--force", option, str(given)]) == 0
        assert path.read_text() != "mine"


def test_a_run_can_start_at_a_step(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(small_lesson.lesson, ["--no-input", "--from", "2"]) == 0
    out = capsys.readouterr().out
    assert "1 of 2" not in out
    assert "Step 1 runs again because this step uses the result of step 1" in out
    assert "fairclock check small_lesson" in out
    assert (kept(state).complete, kept(state).claims) == (False, {})
    assert run_command(small_lesson.lesson, ["--no-input", "--from", "four"]) == 0
    assert "2 of 2" in capsys.readouterr().out
