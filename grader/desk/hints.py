"""Show the hints of a task one at a time."""

from collections.abc import Iterator

from grader import catalogue
from grader.desk import student_state
from grader.task import Task


def next_hint(task: Task) -> Iterator[str]:
    """Yield the next hint of a task. After the last hint, yield it again, with the command that shows all hints."""
    read = student_state.hints_read()
    before = read.get(task.full_name, 0)
    number = min(before + 1, len(task.hints))
    student_state.keep_hints({**read, task.full_name: number})
    yield hint_line(task, number)
    if number == len(task.hints):
        yield f"This {'was' if before >= number else 'is'} the last hint. To read all hints again: {_all_again(task)}"


def hints_read(task: Task) -> Iterator[str]:
    """Yield the hints of a task that the student has read. If there are none, yield the command for the first hint."""
    number = min(student_state.hints_read().get(task.full_name, 0), len(task.hints))
    if not number:
        yield f"You have not read a hint for this task yet. First hint: {command(task)}"
    yield from (hint_line(task, each + 1) for each in range(number))


def offer(task: Task) -> str:
    """Return a line with the command for the next hint, or for all hints if the student has read all of them."""
    number = student_state.hints_read().get(task.full_name, 0)
    if number >= len(task.hints):
        return f"You have read all hints. To read all hints again: {_all_again(task)}"
    return f"{'Next' if number else 'First'} hint: {command(task)}"


def command(task: Task) -> str:
    """Return the command that shows the next hint of a task. It names the task only if the lesson has several tasks."""
    alone = len(catalogue.load().tasks(task.lesson)) == 1
    return f"python -m grader check {task.lesson} --hint{'' if alone else f' {task.name}'}"


def hint_line(task: Task, number: int) -> str:
    """Return hint `number` of a task as one line. The first hint has the number 1."""
    return f"Hint {number} of {len(task.hints)}: {task.hints[number - 1]}"


def _all_again(task: Task) -> str:
    return f"python -m grader check {task.full_name} --hints"
