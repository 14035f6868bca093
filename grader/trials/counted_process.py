"""Run a submission's function on secret inputs in a new process, and return its cost and its answers.

The function can import only the modules that the exercise allows. Valgrind counts its instructions, or the interpreter
reports its opcodes, or neither is counted. The kernel records the CPU time in each case. `counted.py` and `cpu_time.py`
explain why these figures are trusted.
"""

import marshal
import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Barrier
from typing import Any, Final

from grader.errors import WorkerFault
from grader.inside import protocol
from grader.isolation import confined_program
from grader.isolation.confined_program import ProgramResult
from grader.records import Status
from grader.session import Session
from grader.task import CountedExam, Mismatch, Scenario, Task
from grader.trials import valgrind
from grader.trials.faults import untrusted
from grader.trials.plain_imports import beforehand
from grader.values import Value

FLAGS: Final = ("-S", "-s", "-P", "-B")
"""Options of Python: no site packages, no imports from the current folder, no bytecode files.

`-E` is not used, because it would ignore PYTHONHASHSEED.
"""

COUNT_S: Final = 60.0
"""Wall seconds after which a process is killed. It usually takes 2 s, and more on a busy machine."""

SUBMISSION, BASELINE, NOTHING = "<submission>", "<baseline>", ""
"""Names for the code that a process runs, which tracebacks show. With NOTHING, it only returns the right answers."""

UNCOUNTED: Final = {
    -1: (
        "The number of opcodes is unknown, because a recursion reached its limit or the memory was used up.",
        "Python 3.11 stops counting then, so no version of Python accepts this. Stay well below both limits.",
    ),
    -2: (
        "A class cannot be counted if its namespace is not a plain dict, or if it is in a class and uses super().",
        "Write the file without this class.",
    ),
}
"""The reason and the advice for the student if opcodes could not be counted, by the number that replaces the count."""


@dataclass(frozen=True, slots=True)
class Count:
    """The cost and the answers of one process.

    `taken` is the number of instructions or opcodes from start to end, or 0 if they were not counted. `cpu_s` is the
    CPU time until the answers were written.
    """

    taken: int
    answers: Sequence[Any]
    cpu_s: float


def requests(
    task: Task,
    exam: CountedExam,
    source: str,
    scenarios: Sequence[Scenario],
    known: Sequence[Value],
    *,
    opcodes: bool,
) -> dict[str, dict[str, Any]]:
    """Return, for SUBMISSION, BASELINE and NOTHING, what `count` shall run. With `opcodes`, it also counts opcodes.

    `known` are the right answers. Only the process that runs no source gets them.
    """
    request: dict[str, Any] = {
        "sources": {SUBMISSION: source, BASELINE: task.baseline},
        "modules": beforehand(f"{source}\n{task.baseline}", exam.modules),
        "allowed": ", ".join(name for name in exam.modules if name != "__future__"),
        "function": scenarios[0].function,
        "calls": [scenario.arguments for scenario in scenarios],
        "answers": [],
        "counter": confined_program.program("opcode_counter") if opcodes else "",
        "key": secrets.token_hex(8),
    }
    runs = {whose: {**request, "run": whose} for whose in (SUBMISSION, BASELINE, NOTHING)}
    runs[NOTHING]["answers"] = list(known)
    return runs


def mismatch(scenarios: Sequence[Scenario], answers: Sequence[Any]) -> Mismatch | None:
    """Return the first wrong answer, or the wrong number of answers, as a mismatch. Return None if all are right."""
    if len(answers) != len(scenarios):
        return Mismatch(f"{len(scenarios)} answers", str(len(answers)))
    return next(
        filter(None, (scenario.judge(answer) for scenario, answer in zip(scenarios, answers, strict=True))), None
    )


def require_right(task: Task, scenarios: Sequence[Scenario], answers: Sequence[Any], when: str) -> None:
    """Raise `WorkerFault` with the first wrong answer. `when` names the measurement for the student."""
    with untrusted(task.name):
        wrong = mismatch(scenarios, answers)
    if wrong:
        said = [f"The answers were right in the correctness cases and wrong when {when}.", *wrong.lines]
        raise WorkerFault(Status.WRONG, "\n".join(said))


def count(
    task: Task,
    session: Session,
    given: Mapping[str, Any],
    *,
    by_valgrind: bool = False,
    together: Barrier | None = None,
) -> Count:
    """Run the function that `given` describes in a new process. Return its cost and its answers.

    Instructions are counted if `by_valgrind`. Processes with the same barrier `together` begin at the same time. Raise
    `WorkerFault` if the process ends without answers, or without the requested count.
    """

    def command(answer: int, log: int, gate: int) -> list[str]:
        descriptors = map(valgrind.padded, (log, answer, gate))
        program = [sys.executable, *FLAGS, "-c", confined_program.program("counted_driver"), *descriptors]
        return valgrind.command(program, log) if by_valgrind else program

    trees = session.pool
    ended = confined_program.run(
        command,
        marshal.dumps(dict(given)),
        task.limits,
        COUNT_S,
        sandboxed=trees.sandboxed,
        hidden=trees.hidden,
        together=together,
    )
    if ended.status is None:
        said = f"No answer within {COUNT_S:g} s while the {task.cost} were counted. Counting slows the code down a lot."
        raise WorkerFault(Status.TIMED_OUT, said, "Look for work that grows faster than the input.")
    with untrusted(task.name):
        return _read(task, ended, given, by_valgrind=by_valgrind)


def _read(task: Task, ended: ProgramResult, given: Mapping[str, Any], *, by_valgrind: bool) -> Count:
    try:
        if ended.status:
            raise _broken(Status.CRASHED, ended, f"ended with exit status {ended.status}")
        received = protocol.parse(ended.answer)
        answers = _answers(task, received, given)
        taken = _opcodes(received, given["key"]) if given["counter"] else 0
        if by_valgrind:
            taken = valgrind.total(ended.log.decode(errors="replace"))
    except (valgrind.LogError, protocol.ProtocolError) as error:
        raise _broken(Status.PROTOCOL_VIOLATION, ended, f"left no valid count: {error}") from None
    if ended.cpu_s is None:
        raise _broken(Status.CRASHED, ended, "ended before its CPU time was read")
    return Count(taken, answers, ended.cpu_s)


def _opcodes(said: Mapping[str, Any], key: str) -> int:
    taken = said.get("opcodes")
    if said.get("key") != key or not isinstance(taken, int):
        raise protocol.ProtocolError("the sum does not come from the counter")
    if taken in UNCOUNTED:
        raise WorkerFault(Status.RAISED, *UNCOUNTED[taken])
    return taken


def _broken(status: Status, ended: ProgramResult, how: str) -> WorkerFault:
    last = ended.log.decode(errors="replace").strip()[-200:]
    return WorkerFault(status, f"The process {how}. {last}", "Return the answer, and leave the process as it is.")


def _answers(task: Task, said: Mapping[str, Any], given: Mapping[str, Any]) -> Sequence[Any]:
    if refused := said.get("refused"):
        event, about = (str(part)[:60] for part in (*refused, "", "")[:2])
        if given["counter"] and event == "sys.settrace":  # Python itself has removed the tracer
            raise WorkerFault(Status.RAISED, *UNCOUNTED[-1])
        what = f"{event} {about}".rstrip()
        raise WorkerFault(
            Status.RAISED,
            f"{task.name} used a forbidden operation while its {task.cost} were counted: {what}.",
            f"It may use only the language, its builtins and {given['allowed']}.",
        )
    if raised := said.get("raised"):
        kind, message = (str(part)[:300] for part in (*raised, "", "")[:2])
        raise WorkerFault(Status.RAISED, f"{task.name} raised {kind} while its {task.cost} were counted: {message}.")
    answers = said.get("answers")
    return answers if isinstance(answers, list) else []
