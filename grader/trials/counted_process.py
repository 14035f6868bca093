"""One process that calls plain Python on secret inputs, alone with a few modules: what it took, and what it answered.

Its instructions are counted by valgrind, its opcodes by the interpreter's own events, or neither. The kernel notes its
CPU time in each case. Why that is believed is said in `counted.py` and `cpu_time.py`.
"""

import marshal
import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from grader.errors import WorkerFault
from grader.inside import protocol
from grader.isolation import confined
from grader.isolation.confined import Ended
from grader.records import Cost, Status
from grader.settings import Settings
from grader.task import CountedExam, Mismatch, Scenario, Task
from grader.trials import valgrind
from grader.trials.faults import untrusted
from grader.trials.plain_imports import beforehand

FLAGS: Final = ("-S", "-s", "-P", "-B")
"""No packages, no user's packages, nothing from where it starts, nothing written. (`-E` would forget the hash seed.)"""

COUNT_S: Final = 60.0
"""A count that takes longer is ended: one takes two seconds, and more on a crowded machine."""

SUBMISSION, BASELINE, NOTHING = "<submission>", "<baseline>", ""
"""What a counted process may run, by the name it goes by in tracebacks."""

UNCOUNTED: Final = {
    -1: (
        "The opcodes are unknown, because a recursion reached its limit or the memory ran out.",
        "Python 3.11 stops counting there, so this is refused on every Python. Stay well below both limits.",
    ),
    -2: (
        "A class cannot be counted if its namespace is not a plain dict, or if it is inside a class and uses super().",
        "Do without it in this file.",
    ),
}
"""What stands for no sum (`grader/inside/opcode_counter.py`), and what a student reads then."""


@dataclass(frozen=True, slots=True)
class Count:
    """What one process took from its beginning to its end, in the task's cost, and what it answered.

    `taken` is 0 where nothing was counted, and `cpu_s` is its CPU time up to the end of its answers.
    """

    taken: int
    answers: Sequence[Any]
    cpu_s: float


def given(task: Task, exam: CountedExam, source: str, worlds: Sequence[Scenario]) -> dict[str, Any]:
    """Return what the driver is told, the same for whatever it is to run."""
    return {
        "sources": {SUBMISSION: source, BASELINE: task.baseline},
        "modules": beforehand(f"{source}\n{task.baseline}", exam.modules),
        "allowed": ", ".join(name for name in exam.modules if name != "__future__"),
        "function": worlds[0].function,
        "calls": [world.arguments for world in worlds],
        "answers": [],
        "counter": "",
        "key": secrets.token_hex(8),
    }


def mismatch(worlds: Sequence[Scenario], answers: Sequence[Any]) -> Mismatch | None:
    """The first wrong answer of as many as there should be."""
    if len(answers) != len(worlds):
        return Mismatch(f"{len(worlds)} answers", str(len(answers)))
    return next(filter(None, (world.judge(answer) for world, answer in zip(worlds, answers, strict=True))), None)


def count(task: Task, settings: Settings, given: Mapping[str, Any], *, by_valgrind: bool = False) -> Count:
    """Run the driver. Raises `WorkerFault` where it ends otherwise than with answers and whatever was to be counted."""

    def command(answer: int, log: int, gate: int) -> list[str]:
        descriptors = map(valgrind.padded, (log, answer, gate))
        program = [sys.executable, *FLAGS, "-c", confined.program("counted_driver"), *descriptors]
        return valgrind.command(program, log) if by_valgrind else program

    trees = settings.pool
    ended = confined.run(
        command, marshal.dumps(dict(given)), task.limits, COUNT_S, sandboxed=trees.sandboxed, hidden=trees.hidden
    )
    if ended.status is None:
        said = f"No answer within {COUNT_S:g} s while its {task.cost} were counted, which takes many times as long."
        raise WorkerFault(Status.TIMED_OUT, said, "Look for what grows faster than its input.")
    with untrusted(task.name):
        return _read(task, ended, given["key"] if given["counter"] else "", by_valgrind=by_valgrind)


def _read(task: Task, ended: Ended, key: str, *, by_valgrind: bool) -> Count:
    """Return what a process left behind: its sum comes with the `key`, or from valgrind's log, or there is none."""
    try:
        if ended.status:
            raise WorkerFault(*_broken(ended, f"ended with exit status {ended.status}"))
        told = protocol.parse(ended.answer)
        answers = _answers(task, told)
        taken = _opcodes(told, key) if key else 0
        if by_valgrind:
            taken = valgrind.total(ended.log.decode(errors="replace"))
    except (valgrind.LogError, protocol.ProtocolError) as error:
        raise WorkerFault(*_broken(ended, f"left no count behind: {error}")) from None
    if ended.cpu_s is None:
        raise WorkerFault(*_broken(ended, "ended before its CPU time was read"))
    return Count(taken, answers, ended.cpu_s)


def _opcodes(said: Mapping[str, Any], key: str) -> int:
    """The sum that came with the key."""
    taken = said.get("opcodes")
    if said.get("key") != key or not isinstance(taken, int):
        raise protocol.ProtocolError("the sum does not come from the counter")
    if taken in UNCOUNTED:
        raise WorkerFault(Status.RAISED, *UNCOUNTED[taken])
    return taken


def _broken(ended: Ended, how: str) -> tuple[Status, str, str]:
    """A process that cannot be believed; what valgrind last said belongs to ours, and what it printed to theirs."""
    last = ended.log.decode(errors="replace").strip()[-200:]
    return Status.CRASHED, f"The process {how}. {last}", "Return the answer, and leave the process as it is."


def _answers(task: Task, said: Mapping[str, Any]) -> Sequence[Any]:
    if refused := said.get("refused"):
        event, about = (str(part)[:60] for part in (*refused, "", "")[:2])
        if task.cost is Cost.OPCODES and event == "sys.settrace":  # it has no name: the interpreter itself did
            raise WorkerFault(Status.RAISED, *UNCOUNTED[-1])
        what = f"{event} {about}".rstrip()
        raise WorkerFault(
            Status.RAISED,
            f"{task.name} did something while its {task.cost} were counted that is no computing: {what}.",
            f"There it is alone with the language, its builtins and {', '.join(task.exam.modules)}."
            if isinstance(task.exam, CountedExam)
            else "",
        )
    if raised := said.get("raised"):
        kind, message = (str(part)[:300] for part in (*raised, "", "")[:2])
        raise WorkerFault(Status.RAISED, f"{task.name} raised {kind} while its {task.cost} were counted: {message}.")
    answers = said.get("answers")
    return answers if isinstance(answers, list) else []
