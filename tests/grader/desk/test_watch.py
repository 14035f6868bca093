"""`check --watch` checks a file again after it is saved: tests with simulated saves, and one with real saves."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import IO

from commanding import ROOT
from rich.console import Console

from grader.desk.watch import watch
from grader.errors import UsageError


def test_all_files_are_checked_first_and_then_those_saved() -> None:
    one, two = Path("one.py"), Path("two.py")
    checked: list[list[Path]] = []

    def check(files: Sequence[Path]) -> int:
        checked.append(list(files))
        return len(checked)

    code = watch(check, [one, two], Console(file=StringIO()), iter([{two}, {two, one}]))
    assert checked == [[one, two], [two], [one, two]]
    assert code == 3


def test_a_file_that_cannot_be_taken_just_now_is_told_of_and_waited_for() -> None:
    said = StringIO()
    verdicts: Iterator[int | UsageError] = iter([0, UsageError("one.py is empty."), 1])

    def check(_: Sequence[Path]) -> int:
        verdict = next(verdicts)
        if isinstance(verdict, UsageError):
            raise verdict
        return verdict

    one = Path("one.py")
    assert watch(check, [one], Console(file=said), iter([{one}, {one}])) == 1
    assert "one.py is empty." in said.getvalue()


def wait_for(text: str, stream: IO[str]) -> None:
    assert any(text in line for line in stream), f"{text!r} was not printed in time"


def test_a_saved_file_is_graded_again_and_ctrl_c_ends_with_the_last_verdict(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore Ctrl-C
    mine = tmp_path / "04_autorange.py"
    mine.write_bytes((ROOT / "lessons" / "exercises" / "04_autorange.py").read_bytes())
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "grader", "check", str(mine), "--watch"],
        cwd=ROOT,
        env={**os.environ, "FAIRCLOCK_STATE": str(tmp_path / "state")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        wait_for("Watching 04_autorange.py", process.stderr)
        new = tmp_path / "new.py"
        new.write_bytes((ROOT / "solutions" / "04_autorange.py").read_bytes())
        new.replace(mine)  # editors save by replacing the file
        wait_for(" 0 / 10", process.stdout)
        wait_for(" 10 / 10", process.stdout)
        wait_for("Watching 04_autorange.py", process.stderr)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        signal.signal(signal.SIGINT, before)
        process.kill()
        process.communicate()
