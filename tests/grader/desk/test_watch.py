"""`check --watch` checks a file again after it is saved. `test_desk_check` has a test with real saves."""

from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

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
