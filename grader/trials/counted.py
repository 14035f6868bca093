"""Plain Python on trial for its instructions, or its opcodes: right on every case first, then counted.

Instructions are counted by valgrind, opcodes by the interpreter's own events (`grader/inside/opcode_counter.py`).

A count is of whole processes, from exec to exit. The submission's, less one that imports and compiles the very same but
is given the right answers instead of calling anything, is what the submission cost; the baseline's, likewise, what the
baseline did. So all that a submission does counts, at import too: there is no region outside which work is free, and
nothing to switch on or off. A count is not moved by what else the machine does, and two of them differ by some ten
instructions in a million at most, so each process runs once, all three side by side. What the baseline cost is
known from then on: whoever is graded on the very same inputs, as the rows of a truth table are, is compared with that.

What is trusted, and why:

- *The sum* of instructions is valgrind's own, on a pipe that valgrind has copied for itself to a descriptor which it
  lets no program close, replace or write to. The driver has closed the program's end before the submission runs. No
  file is read.
- *That it is the only one.* A submission could at most add words to that log; valgrind's own still follow, as long as
  it is not killed. So a log with two sums, or an exit status that is not 0, counts nothing.
- *That nothing else did the work.* The program can neither fork nor execute another: the driver takes the system calls
  away, an audit hook refuses what is left, and the kernel's limit on processes would. It holds no files and no network.
- *That the work was done.* Its answers to secret inputs, new for this count, are judged here like all others. They come
  on a second pipe which the submission may well write to: a right answer has to be worked out, and that is counted.
- *The sum of opcodes* comes with the answers, and with a key that the process was given before the submission ran and
  that nothing in it can be asked for. `grader/inside/opcode_counter.py` says what keeps the counter on.
- *The difference.* What writes the answers down costs the same in all three processes, since a submission cannot
  replace it. One that takes less than the process that only gives the answers is refused all the same.
- *Valgrind itself*, which shares its memory with the program. Only native code could reach it, so none can be had: no
  ctypes, no extension module but those named by the exam, no code object that Python has not compiled itself. A flaw of
  the interpreter that lets plain Python write anywhere would get through; the sandbox around it would still hold.
"""

import marshal
import secrets
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final

from grader.errors import GraderFault, WorkerFault
from grader.inside import protocol
from grader.isolation import confined
from grader.isolation.confined import Ended
from grader.records import Attempt, Cost, Speed, Status
from grader.settings import Settings
from grader.task import CountedExam, MeteredExam, Mismatch, Scenario, Task
from grader.trials import metered, valgrind
from grader.trials.faults import ours, untrusted
from grader.trials.inputs import generator
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
    """What one process took from its beginning to its end, in the task's cost, and what it answered."""

    taken: int
    answers: Sequence[Any]


def examine(task: Task, exam: CountedExam, source: str, settings: Settings, seed: Sequence[str]) -> Attempt:
    """Check all cases in a worker; when all are right, count."""
    plain = MeteredExam(exam.scenarios, worlds="cases")
    attempt = metered.examine(replace(task, tiers=()), plain, source, settings, (*seed, "cases"))
    if attempt.status is not Status.PASSED:
        return attempt
    if task.cost is Cost.INSTRUCTIONS:
        valgrind.require()
    worlds = exam.counted(generator(*seed, "counted"))
    given: dict[str, Any] = {
        "sources": {SUBMISSION: source, BASELINE: task.baseline},
        "modules": beforehand(f"{source}\n{task.baseline}", exam.modules),
        "allowed": ", ".join(name for name in exam.modules if name != "__future__"),
        "function": worlds[0].function,
        "calls": [world.arguments for world in worlds],
        "answers": [],
        "counter": confined.program("opcode_counter") if task.cost is Cost.OPCODES else "",
        "key": secrets.token_hex(8),
    }
    inputs = tuple(seed)
    with ThreadPoolExecutor(3) as side_by_side:
        mine = side_by_side.submit(_count, task, settings, {**given, "run": SUBMISSION})
        of_ours = {"answer": {**given, "run": NOTHING, "answers": [exam.answer(world) for world in worlds]}}
        if inputs not in settings.counted:
            of_ours["baseline"] = {**given, "run": BASELINE}
        counts = {whose: side_by_side.submit(_count, task, settings, each) for whose, each in of_ours.items()}
        counted = mine.result()
        with ours(f"Counting the baseline of {task.full_name}"):
            known = {whose: count.result() for whose, count in counts.items()}
    for whose, count in known.items():
        if wrong := _mismatch(worlds, count.answers):
            raise GraderFault(f"The {whose} of {task.full_name} is wrong: {wrong.expected}, got {wrong.got}.")
    empty = known["answer"].taken
    if "baseline" in known:
        settings.counted[inputs] = known["baseline"].taken - empty
    with untrusted(task.name):
        wrong = _mismatch(worlds, counted.answers)
    if wrong:
        said = ["Right until it was counted, and wrong then.", *wrong.lines]
        return replace(attempt, status=Status.WRONG, speed=None, rationale="\n".join(said))
    if counted.taken < empty:
        raise WorkerFault(
            Status.CRASHED,
            f"{task.name} took fewer {task.cost} than a program that only returns the answers.",
            "Return the answers, and leave the program around your function as it is.",
        )
    return replace(attempt, speed=speed(task, counted.taken, empty + settings.counted[inputs], empty))


def speed(task: Task, mine: int, baseline: int, empty: int) -> Speed:
    """How many times the submission's cost the baseline took, both without what everybody takes. Exact."""
    ratio = max(baseline - empty, 1) / max(mine - empty, 1)
    return Speed(ratio, ratio, ratio, rounds=1, tier=sum(ratio >= tier.ratio for tier in task.tiers))


def _mismatch(worlds: Sequence[Scenario], answers: Sequence[Any]) -> Mismatch | None:
    """The first wrong answer of as many as there should be."""
    if len(answers) != len(worlds):
        return Mismatch(f"{len(worlds)} answers", str(len(answers)))
    return next(filter(None, (world.judge(answer) for world, answer in zip(worlds, answers, strict=True))), None)


def _count(task: Task, settings: Settings, given: Mapping[str, Any]) -> Count:
    """Run the driver and have it counted. Raises `WorkerFault` where it ends otherwise than with answers and a sum."""
    by_valgrind = task.cost is Cost.INSTRUCTIONS

    def command(answer: int, log: int) -> list[str]:
        descriptors = map(valgrind.padded, (log, answer))
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
        return _read(task, ended, "" if by_valgrind else given["key"])


def _read(task: Task, ended: Ended, key: str) -> Count:
    """Return what a process left behind: its sum comes with the `key`, or from valgrind's log without one."""
    try:
        if ended.status:
            raise WorkerFault(*_broken(ended, f"ended with exit status {ended.status}"))
        told = protocol.parse(ended.answer)
        answers = _answers(task, told)
        taken = _opcodes(told, key) if key else valgrind.total(ended.log.decode(errors="replace"))
    except (valgrind.LogError, protocol.ProtocolError) as error:
        raise WorkerFault(*_broken(ended, f"left no count behind: {error}")) from None
    return Count(taken, answers)


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
