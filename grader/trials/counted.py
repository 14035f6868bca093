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
- *The counters themselves*, which share their memory with the program. Only native code should reach them, so none can
  be had: no ctypes, no extension module but those named by the exam, no code object that Python has not compiled
  itself. But flaws of the interpreter are known that let plain Python write anywhere, and no list of what is forbidden
  names the last one. So there is a second meter outside the process, its CPU time (`cpu_time.py`).
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from grader.errors import GraderFault, WorkerFault
from grader.isolation import confined
from grader.records import Attempt, Cost, Speed, Status
from grader.settings import Settings
from grader.task import CountedExam, MeteredExam, Task
from grader.trials import counted_process, cpu_time, metered, valgrind
from grader.trials.counted_process import BASELINE, NOTHING, SUBMISSION, Count, count, mismatch
from grader.trials.faults import ours, untrusted
from grader.trials.inputs import generator


def examine(task: Task, exam: CountedExam, source: str, settings: Settings, seed: Sequence[str]) -> Attempt:
    """Check all cases in a worker; when all are right, count."""
    plain = MeteredExam(exam.scenarios, worlds="cases")
    attempt = metered.examine(replace(task, tiers=()), plain, source, settings, (*seed, "cases"))
    if attempt.status is not Status.PASSED:
        return attempt
    by_valgrind = task.cost is Cost.INSTRUCTIONS
    if by_valgrind:
        valgrind.require()
    worlds = exam.counted(generator(*seed, "counted"))
    told = counted_process.given(task, exam, source, worlds)
    if not by_valgrind:
        told["counter"] = confined.program("opcode_counter")
    inputs = tuple(seed)
    with ThreadPoolExecutor(3) as side_by_side:

        def begin(whose: Mapping[str, Any]) -> Future[Count]:
            return side_by_side.submit(count, task, settings, whose, by_valgrind=by_valgrind)

        mine = begin({**told, "run": SUBMISSION})
        of_ours = {"answer": {**told, "run": NOTHING, "answers": [exam.answer(world) for world in worlds]}}
        if inputs not in settings.counted:
            of_ours["baseline"] = {**told, "run": BASELINE}
        counts = {whose: begin(each) for whose, each in of_ours.items()}
        counted = mine.result()
        with ours(f"Counting the baseline of {task.full_name}"):
            known = {whose: one.result() for whose, one in counts.items()}
    for whose, one in known.items():
        if wrong := mismatch(worlds, one.answers):
            raise GraderFault(f"The {whose} of {task.full_name} is wrong: {wrong.expected}, got {wrong.got}.")
    empty = known["answer"].taken
    if "baseline" in known:
        settings.counted[inputs] = known["baseline"].taken - empty
    with untrusted(task.name):
        wrong = mismatch(worlds, counted.answers)
    if wrong:
        said = ["Right until it was counted, and wrong then.", *wrong.lines]
        return replace(attempt, status=Status.WRONG, speed=None, rationale="\n".join(said))
    if counted.taken < empty:
        raise WorkerFault(
            Status.CRASHED,
            f"{task.name} took fewer {task.cost} than a program that only returns the answers.",
            "Return the answers, and leave the program around your function as it is.",
        )
    found = speed(task, counted.taken, empty + settings.counted[inputs], empty)
    believed, doubt = cpu_time.believed(task, exam, source, settings, seed, found)
    return replace(attempt, speed=believed, rationale=doubt)


def speed(task: Task, mine: int, baseline: int, empty: int) -> Speed:
    """How many times the submission's cost the baseline took, both without what everybody takes. Exact."""
    ratio = max(baseline - empty, 1) / max(mine - empty, 1)
    return Speed(ratio, ratio, ratio, rounds=1, tier=sum(ratio >= tier.ratio for tier in task.tiers))
